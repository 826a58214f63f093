/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Programs that gcc or clang has built with a sanitizer which wants memory at addresses of its own. Each calls its sanitizer's
 * beginning by name: among the symbols that it shares, or among all where the sanitizer is in the program itself.
 */
#include "sources/translator/runtime.h"

#include <elf.h>

struct file {
	const char *bytes;
	uint64_t size;
};

static enum loading sanitizer_named(const char *name)
{
	static const struct { const char *name; enum loading what; } list[] = {
		{ "__asan_init", LOADING_ADDRESS_SANITIZED }, { "__hwasan_init", LOADING_ADDRESS_SANITIZED },
		{ "__tsan_init", LOADING_SANITIZED }, { "__msan_init", LOADING_SANITIZED }, { "__lsan_init", LOADING_LEAK_SANITIZED },
	};

	for (size_t i = 0; i < sizeof list / sizeof *list; i++)
		if (system_same(name, list[i].name))
			return list[i].what;
	return LOADING_DONE;
}

/* Looks through a table of names. `mentions`: is there one that all sanitizers have? */
static enum loading look_through(const char *text, uint64_t bytes, bool *mentions)
{
	uint64_t at = 0;

	while (at < bytes && text[bytes - 1] == 0) {
		const char *name = text + at;
		enum loading what = name[0] == '_' && name[1] == '_' ? sanitizer_named(name) : LOADING_DONE;

		if (what != LOADING_DONE)
			return what;
		*mentions = *mentions || system_after(name, "__sanitizer_");
		at += slope_length(name) + 1;
	}
	return LOADING_DONE;
}

/* Names of the symbols in a section of this type, if there are any. */
static enum loading names_of(const struct file *f, uint32_t type, bool *mentions)
{
	const Elf64_Ehdr *head = (const Elf64_Ehdr *)f->bytes;
	const Elf64_Shdr *section = (const Elf64_Shdr *)(f->bytes + head->e_shoff);

	for (unsigned i = 0; i < head->e_shnum; i++) {
		const Elf64_Shdr *names = section[i].sh_link < head->e_shnum ? &section[section[i].sh_link] : NULL;

		if (section[i].sh_type != type || !names || names->sh_offset > f->size || names->sh_size > f->size - names->sh_offset)
			continue;
		return look_through(f->bytes + names->sh_offset, names->sh_size, mentions);
	}
	return LOADING_DONE;
}

static bool has_sections(const struct file *f)
{
	const Elf64_Ehdr *head = (const Elf64_Ehdr *)f->bytes;

	return f->size >= sizeof *head && head->e_shoff % 8 == 0 && head->e_shoff <= f->size && head->e_shentsize == sizeof(Elf64_Shdr) &&
	       head->e_shnum <= (f->size - head->e_shoff) / sizeof(Elf64_Shdr);
}

enum loading sanitizers_in(const char *path)
{
	size_t bytes;
	const char *text = system_map_file(path, &bytes);
	struct file f = { text, text ? bytes : 0 };
	enum loading what = LOADING_DONE;
	bool mentions = false;

	if (has_sections(&f))
		what = names_of(&f, SHT_DYNSYM, &mentions);
	if (what == LOADING_DONE && mentions)
		what = names_of(&f, SHT_SYMTAB, &mentions);
	if (text)
		system_release((void *)text, bytes);
	return what;
}
