/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sources/translator/symbols.h"

#include <elf.h>

#include "sources/translator/system.h"

#define PATH_BYTES 256
#define BUILD_ID_NOTE 3u

struct file {
	const uint8_t *bytes;
	size_t size;
	const Elf64_Ehdr *head;
};

/* `count` things of `size` bytes at an offset of the file, or NULL. */
static const void *part(const struct file *f, uint64_t offset, uint64_t count, uint64_t size)
{
	if (offset > f->size || count > (f->size - offset) / size)
		return NULL;
	return f->bytes + offset;
}

static bool open_elf(struct file *f, const char *path)
{
	f->bytes = system_map_file(path, &f->size);
	if (!f->bytes)
		return false;
	f->head = part(f, 0, 1, sizeof *f->head);
	if (f->head && f->head->e_ident[0] == ELFMAG0 && f->head->e_ident[1] == ELFMAG1 &&
	    f->head->e_ident[2] == ELFMAG2 && f->head->e_ident[3] == ELFMAG3 && f->head->e_ident[EI_CLASS] == ELFCLASS64)
		return true;
	system_release((void *)f->bytes, f->size);
	return false;
}

/* ---- segments and the build id ---- */

static void find_build_id(struct symbols *s, const uint8_t *note, uint64_t bytes)
{
	uint64_t at = 0;

	while (at + 12 <= bytes) {
		const uint32_t *head = (const uint32_t *)(note + at);
		uint64_t id_at = at + 12 + ((head[0] + 3u) & ~3u);

		if (head[0] > bytes || head[1] > bytes || id_at + head[1] > bytes)
			return;
		if (head[2] == BUILD_ID_NOTE && head[0] == 4 && head[1] <= sizeof s->build_id && note[at + 12] == 'G') {
			for (uint32_t i = 0; i < head[1]; i++)
				s->build_id[s->build_id_bytes++] = note[id_at + i];
			return;
		}
		at = id_at + ((head[1] + 3u) & ~3u);
	}
}

/* .eh_frame_hdr, where it has the usual encodings. */
static void read_frames(struct symbols *s, const struct file *f, const Elf64_Phdr *segment)
{
	const uint8_t *head = part(f, segment->p_offset, segment->p_filesz, 1);
	uint32_t count;

	if (!head || segment->p_filesz < 12 || head[0] != 1 || head[1] != 0x1b || head[2] != 0x03 || head[3] != 0x3b)
		return;
	slope_copy(&count, head + 8, sizeof count);
	if (count > (segment->p_filesz - 12) / sizeof *s->frame)
		return;
	s->frame = (const struct symbols_frame *)(head + 12);
	s->frames = count;
	s->frames_at = segment->p_vaddr;
}

static void read_segments(struct symbols *s, const struct file *f)
{
	const Elf64_Phdr *segment = part(f, f->head->e_phoff, f->head->e_phnum, sizeof *segment);

	for (unsigned i = 0; segment && i < f->head->e_phnum; i++) {
		const uint8_t *note = part(f, segment[i].p_offset, segment[i].p_filesz, 1);

		if (segment[i].p_type == PT_NOTE && note && !s->build_id_bytes)
			find_build_id(s, note, segment[i].p_filesz);
		if (segment[i].p_type == PT_GNU_EH_FRAME)
			read_frames(s, f, &segment[i]);
		if (segment[i].p_type == PT_LOAD && s->segments < SYMBOLS_SEGMENTS_MAX)
			s->segment[s->segments++] = (struct symbols_range){
				segment[i].p_vaddr, segment[i].p_vaddr + segment[i].p_filesz, segment[i].p_offset,
				segment[i].p_flags & PF_X,
			};
	}
}

/* ---- functions ---- */

static void add_function(struct symbols *s, struct slope_arena *arena, const Elf64_Sym *symbol, const char *name)
{
	if (!slope_arena_grow(arena, (void **)&s->function, &s->capacity, s->count + 1, sizeof *s->function))
		return;
	s->function[s->count++] = (struct symbols_function){
		symbol->st_value, symbol->st_value + symbol->st_size, name,
	};
}

static void read_table(struct symbols *s, struct slope_arena *arena, const struct file *f, const Elf64_Shdr *all,
		       const Elf64_Shdr *table)
{
	const Elf64_Sym *symbol = part(f, table->sh_offset, table->sh_size / sizeof *symbol, sizeof *symbol);
	const Elf64_Shdr *names = table->sh_link < f->head->e_shnum ? &all[table->sh_link] : NULL;
	const char *text = names ? part(f, names->sh_offset, names->sh_size, 1) : NULL;

	if (!symbol || !text || !names->sh_size || text[names->sh_size - 1])
		return;
	for (size_t i = 0; i < table->sh_size / sizeof *symbol; i++) {
		unsigned type = ELF64_ST_TYPE(symbol[i].st_info);

		if ((type == STT_FUNC || type == STT_GNU_IFUNC) && symbol[i].st_shndx != SHN_UNDEF && symbol[i].st_value &&
		    symbol[i].st_size && symbol[i].st_name < names->sh_size)
			add_function(s, arena, &symbol[i], text + symbol[i].st_name);
	}
}

static void note_stubs(struct symbols *s, const Elf64_Shdr *section, const char *name)
{
	const char *rest = system_after(name, ".plt");

	if (rest && (!*rest || *rest == '.') && section->sh_flags & SHF_EXECINSTR && s->stubs < SYMBOLS_STUBS_MAX)
		s->stub[s->stubs++] = (struct symbols_range){ section->sh_addr, section->sh_addr + section->sh_size, 0, true };
}

/* Which functions the linkage table is for. */
static void note_slots(struct symbols *s, const struct file *f, const Elf64_Shdr *all, const Elf64_Shdr *section, const char *name)
{
	const Elf64_Shdr *symbols = section->sh_link < f->head->e_shnum ? &all[section->sh_link] : NULL, *text;

	if (!system_same(name, ".rela.plt") || section->sh_type != SHT_RELA || !symbols || symbols->sh_link >= f->head->e_shnum)
		return;
	text = &all[symbols->sh_link];
	s->slot_text = part(f, text->sh_offset, text->sh_size, 1);
	s->slot_text_bytes = text->sh_size;
	s->slot_symbols = symbols->sh_size / sizeof *s->slot_symbol;
	s->slot_symbol = part(f, symbols->sh_offset, s->slot_symbols, sizeof *s->slot_symbol);
	s->slots = section->sh_size / sizeof *s->slot;
	s->slot = part(f, section->sh_offset, s->slots, sizeof *s->slot);
	if (!s->slot_text || !text->sh_size || s->slot_text[text->sh_size - 1] || !s->slot_symbol || !s->slot)
		s->slots = 0;
}

static void read_sections(struct symbols *s, struct slope_arena *arena, const struct file *f, bool stubs)
{
	const Elf64_Shdr *all = part(f, f->head->e_shoff, f->head->e_shnum, sizeof *all), *names;
	const char *text = NULL;

	if (!all || f->head->e_shentsize != sizeof *all || f->head->e_shstrndx >= f->head->e_shnum)
		return;
	names = &all[f->head->e_shstrndx];
	if (names->sh_size)
		text = part(f, names->sh_offset, names->sh_size, 1);
	if (text && text[names->sh_size - 1])
		text = NULL;
	for (unsigned i = 0; i < f->head->e_shnum; i++) {
		if (all[i].sh_type == SHT_SYMTAB || all[i].sh_type == SHT_DYNSYM)
			read_table(s, arena, f, all, &all[i]);
		if (stubs && text && all[i].sh_name < names->sh_size)
			note_stubs(s, &all[i], text + all[i].sh_name);
		if (stubs && text && all[i].sh_name < names->sh_size)
			note_slots(s, f, all, &all[i], text + all[i].sh_name);
	}
}

static bool before(const struct symbols_function *a, const struct symbols_function *b)
{
	return a->start != b->start ? a->start < b->start : a->end > b->end;
}

/* Heap sort: no memory, no recursion, no bad case. */
static void sift(struct symbols_function *f, size_t at, size_t count)
{
	for (size_t child; (child = 2 * at + 1) < count; at = child) {
		if (child + 1 < count && before(&f[child], &f[child + 1]))
			child++;
		if (!before(&f[at], &f[child]))
			return;
		struct symbols_function keep = f[at];

		f[at] = f[child];
		f[child] = keep;
	}
}

/* Sorted, and of those with one start the longest. */
static void put_in_order(struct symbols *s)
{
	struct symbols_function *f = s->function;
	size_t kept = 0;

	for (size_t i = s->count / 2; i-- > 0;)
		sift(f, i, s->count);
	for (size_t left = s->count; left > 1; left--) {
		struct symbols_function keep = f[0];

		f[0] = f[left - 1];
		f[left - 1] = keep;
		sift(f, 0, left - 1);
	}
	for (size_t i = 0; i < s->count; i++)
		if (!kept || f[kept - 1].start != f[i].start)
			f[kept++] = f[i];
	s->count = kept;
}

/* /usr/lib/debug/.build-id/xx/yyyy.debug */
static void debug_path(const struct symbols *s, char *path)
{
	size_t n = system_append(path, 0, PATH_BYTES, "/usr/lib/debug/.build-id/");

	for (uint32_t i = 0; i < s->build_id_bytes; i++) {
		char hex[4] = { "0123456789abcdef"[s->build_id[i] >> 4], "0123456789abcdef"[s->build_id[i] & 15], i ? 0 : '/', 0 };

		n = system_append(path, n, PATH_BYTES, hex);
	}
	system_append(path, n, PATH_BYTES, ".debug");
}

void symbols_read(struct symbols *s, struct slope_arena *arena, const char *path)
{
	char debug[PATH_BYTES];
	struct file f, d;

	s->elf = open_elf(&f, path);
	if (!s->elf)
		return;
	read_segments(s, &f);
	read_sections(s, arena, &f, true);
	debug_path(s, debug);
	if (s->build_id_bytes && open_elf(&d, debug))
		read_sections(s, arena, &d, false);
	put_in_order(s);
}

const struct symbols_function *symbols_around(const struct symbols *s, uint64_t address)
{
	size_t low = 0, high = s->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (s->function[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && address < s->function[low - 1].end ? &s->function[low - 1] : NULL;
}

/* How many of them begin at or before the address. */
static size_t frames_up_to(const struct symbols *s, uint64_t address)
{
	size_t low = 0, high = s->frames;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (s->frames_at + (uint64_t)(int64_t)s->frame[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool symbols_begins_frame(const struct symbols *s, uint64_t address)
{
	size_t n = frames_up_to(s, address);

	return n && s->frames_at + (uint64_t)(int64_t)s->frame[n - 1].start == address;
}

uint64_t symbols_next_frame(const struct symbols *s, uint64_t address)
{
	size_t n = frames_up_to(s, address);

	return n < s->frames ? s->frames_at + (uint64_t)(int64_t)s->frame[n].start : UINT64_MAX;
}

const char *symbols_slot_name(const struct symbols *s, uint64_t slot)
{
	for (size_t i = 0; i < s->slots; i++) {
		uint64_t symbol = s->slot[i].info >> 32;

		if (s->slot[i].address != slot)
			continue;
		if (symbol >= s->slot_symbols || s->slot_symbol[symbol].name >= s->slot_text_bytes)
			return NULL;
		return s->slot_text + s->slot_symbol[symbol].name;
	}
	return NULL;
}

bool symbols_in_stub(const struct symbols *s, uint64_t address)
{
	for (unsigned i = 0; i < s->stubs; i++)
		if (address >= s->stub[i].start && address < s->stub[i].end)
			return true;
	return false;
}

uint64_t symbols_address(const struct symbols *s, uint64_t file_offset)
{
	for (unsigned i = 0; i < s->segments; i++)
		if (file_offset - s->segment[i].offset < s->segment[i].end - s->segment[i].start)
			return file_offset - s->segment[i].offset + s->segment[i].start;
	return file_offset;
}
