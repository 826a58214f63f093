/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "cli/mangled.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/match.h"
#include "cli/messages.h"
#include "profile/demangle.h"

#define DEBUG_FOLDER "/usr/lib/debug/.build-id"
#define BUILD_ID_BYTES 20u

struct search {
	struct slope_list *const *lists;
	size_t count;
	size_t *patterns;            /* of each list, before anything was added */
	void *seen;                  /* a tree of symbols that were looked at */
	bool full;
};

/* ---- one symbol ---- */

static bool is_mangled(const char *name)
{
	return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R' || name[1] == 'D');
}

static int by_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* False: it was there before, or there is no memory to know. */
static bool is_new(struct search *s, const char *name)
{
	char *copy = strdup(name);
	char **node = copy ? tsearch(copy, &s->seen, by_text) : NULL;

	if (node && *node == copy)
		return true;
	free(copy);
	return false;
}

static void look_at(struct search *s, const char *name)
{
	char *shown = is_mangled(name) && is_new(s, name) ? slope_demangle(name) : NULL;

	for (size_t i = 0; shown && i < s->count; i++) {
		struct slope_list *list = s->lists[i];
		bool fits = false;

		for (size_t k = 0; k < s->patterns[i] && !fits; k++)
			fits = slope_match_text(list->text[k], shown);
		if (fits && list->count < SLOPE_MANGLED_MOST)
			slope_list_add(list, "%s", name);
		else
			s->full |= fits;
	}
	free(shown);
}

/* ---- one file ---- */

static void look_at_table(struct search *s, Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t count = data && header->sh_entsize ? header->sh_size / header->sh_entsize : 0;

	for (size_t i = 0; i < count; i++) {
		GElf_Sym symbol;
		const char *name = gelf_getsym(data, (int)i, &symbol) && GELF_ST_TYPE(symbol.st_info) == STT_FUNC
					   ? elf_strptr(elf, header->sh_link, symbol.st_name) : NULL;

		if (name)
			look_at(s, name);
	}
}

/* The name of the separate debug file, for free(); NULL without a build id. */
static char *debug_file(Elf *elf, Elf_Scn *section)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t at = 0, name_at, desc_at;
	GElf_Nhdr note;

	while (data && (at = gelf_getnote(data, at, &note, &name_at, &desc_at))) {
		const unsigned char *id = (const unsigned char *)data->d_buf + desc_at;
		char text[2 * BUILD_ID_BYTES + 1] = "";

		if (note.n_type != NT_GNU_BUILD_ID || note.n_descsz < 2 || note.n_descsz > BUILD_ID_BYTES)
			continue;
		for (size_t i = 1; i < note.n_descsz; i++)
			snprintf(text + 2 * (i - 1), 3, "%02x", id[i]);
		return slope_text("%s/%02x/%s.debug", DEBUG_FOLDER, id[0], text);
	}
	(void)elf;
	return NULL;
}

/* Looks at its symbols; what else it names comes back: its debug file and its interpreter, NULL where there is none. */
static void look_at_file(struct search *s, const char *path, char **debug, char **interpreter)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf *elf = fd >= 0 ? elf_begin(fd, ELF_C_READ_MMAP, NULL) : NULL;
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while (elf && (section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &header))
			continue;
		if (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM)
			look_at_table(s, elf, section, &header);
		else if (header.sh_type == SHT_NOTE && debug && !*debug)
			*debug = debug_file(elf, section);
	}
	for (size_t i = 0, count = 0; elf && interpreter && elf_getphdrnum(elf, &count) == 0 && i < count; i++) {
		GElf_Phdr segment;
		size_t bytes;
		const char *image = elf_rawfile(elf, &bytes);

		if (gelf_getphdr(elf, (int)i, &segment) && segment.p_type == PT_INTERP && image && segment.p_offset < bytes &&
		    segment.p_filesz < bytes - segment.p_offset)
			*interpreter = slope_text("%.*s", (int)segment.p_filesz, image + segment.p_offset);
	}
	if (elf)
		elf_end(elf);
	if (fd >= 0)
		close(fd);
}

static void look_at_module(struct search *s, const char *path, char **interpreter)
{
	char *debug = NULL;

	look_at_file(s, path, &debug, interpreter);
	if (debug)
		look_at_file(s, debug, NULL, NULL);
	free(debug);
}

/* ---- what it is linked with ---- */

/* "\tlibm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x...)" */
static char *path_in(char *line)
{
	char *path = strstr(line, " => /"), *end;

	if (!path)
		return NULL;
	path += 4;
	end = strstr(path, " (0x");
	if (end)
		*end = '\0';
	return path;
}

/* The dynamic linker lists them without running the program. */
static void look_at_libraries(struct search *s, const char *interpreter, const char *file)
{
	char *argv[] = { (char *)interpreter, "--list", (char *)file, NULL }, *line = NULL;
	size_t room = 0;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) != 0)
		return;
	pid_t pid = fork();

	if (pid == 0) {
		int nowhere = open("/dev/null", O_WRONLY);

		dup2(ends[1], STDOUT_FILENO);
		dup2(nowhere, STDERR_FILENO);
		execv(interpreter, argv);
		_exit(SLOPE_EXIT_NOT_FOUND);
	}
	close(ends[1]);
	FILE *in = fdopen(ends[0], "r");

	while (in && getline(&line, &room, in) > 0) {
		char *path = path_in(line);

		if (path)
			look_at_module(s, path, NULL);
	}
	free(line);
	if (in)
		fclose(in);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

void slope_mangled_add(struct slope_list *const *lists, size_t count, const char *file)
{
	struct search s = { .lists = lists, .count = count, .patterns = calloc(count, sizeof *s.patterns) };
	char *interpreter = NULL;
	size_t patterns = 0;

	for (size_t i = 0; s.patterns && i < count; i++)
		patterns += s.patterns[i] = lists[i]->count;
	if (patterns && elf_version(EV_CURRENT) != EV_NONE) {
		look_at_module(&s, file, &interpreter);
		if (interpreter)
			look_at_libraries(&s, interpreter, file);
	}
	if (s.full)
		slope_say("more than %u functions fit the patterns, more than the translator takes; --source=valgrind has no such limit",
			  SLOPE_MANGLED_MOST);
	tdestroy(s.seen, free);
	free(interpreter);
	free(s.patterns);
}
