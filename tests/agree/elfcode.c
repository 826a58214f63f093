/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "tests/agree/elfcode.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sources/translator/framerange.h"

#define INSTRUCTION_BYTES 15u
#define IMPORT_BYTES 16u

static const Elf64_Ehdr *head_of(const struct elfcode *c)
{
	return c->file;
}

static const void *at_offset(const struct elfcode *c, uint64_t offset)
{
	return (const char *)c->file + offset;
}

static const Elf64_Shdr *section_at(const struct elfcode *c, unsigned n)
{
	return (const Elf64_Shdr *)at_offset(c, head_of(c)->e_shoff) + n;
}

static const char *section_name(const struct elfcode *c, const Elf64_Shdr *s)
{
	return (const char *)at_offset(c, section_at(c, head_of(c)->e_shstrndx)->sh_offset) + s->sh_name;
}

static void *in_image(const struct elfcode *c, uint64_t address, uint64_t bytes)
{
	return address >= c->low && address <= c->high && bytes <= c->high - address ? c->image + (address - c->low) : NULL;
}

static bool within(const struct elfcode_range *r, size_t count, uint64_t address, uint64_t bytes)
{
	for (size_t n = 0; n < count; n++)
		if (address >= r[n].start && address + bytes <= r[n].end)
			return true;
	return false;
}

/* ---- segments and sections ---- */

static bool load(struct elfcode *c)
{
	const Elf64_Phdr *p = at_offset(c, head_of(c)->e_phoff);
	unsigned count = head_of(c)->e_phnum;

	c->low = UINT64_MAX;
	for (unsigned n = 0; n < count; n++)
		if (p[n].p_type == PT_LOAD) {
			c->low = p[n].p_vaddr < c->low ? p[n].p_vaddr : c->low;
			c->high = p[n].p_vaddr + p[n].p_memsz > c->high ? p[n].p_vaddr + p[n].p_memsz : c->high;
		}
	if (c->low >= c->high || !(c->image = calloc(1, c->high - c->low + INSTRUCTION_BYTES)))
		return false;
	for (unsigned n = 0; n < count; n++)
		if (p[n].p_type == PT_LOAD && p[n].p_offset + p[n].p_filesz <= c->file_bytes)
			memcpy(c->image + (p[n].p_vaddr - c->low), at_offset(c, p[n].p_offset), p[n].p_filesz);
	return true;
}

static void note_sections(struct elfcode *c)
{
	for (unsigned n = 0; n < head_of(c)->e_shnum; n++) {
		const Elf64_Shdr *s = section_at(c, n);
		struct elfcode_range range = { s->sh_addr, s->sh_addr + s->sh_size };
		const char *name = section_name(c, s);
		bool constant = !(s->sh_flags & SHF_WRITE) || !strncmp(name, ".data.rel.ro", 12) || !strcmp(name, ".got");

		if (!(s->sh_flags & SHF_ALLOC) || s->sh_flags & SHF_TLS)
			continue;
		if (!strncmp(name, ".plt", 4) && c->stubs < 8)
			c->stub[c->stubs++] = range;
		else if (s->sh_flags & SHF_EXECINSTR && c->codes < 16)
			c->code[c->codes++] = range;
		if (constant && c->constants < 32)
			c->constant[c->constants++] = range;
	}
}

/* ---- relocations ---- */

static uint64_t import_address(struct elfcode *c, const char *name)
{
	c->import = realloc(c->import, (c->imports + 1) * sizeof *c->import);
	if (!c->import)
		abort();
	c->import[c->imports] = name;
	return c->high + IMPORT_BYTES * c->imports++;
}

static void relocate(struct elfcode *c, const Elf64_Shdr *s)
{
	const Elf64_Rela *r = at_offset(c, s->sh_offset);
	const Elf64_Shdr *table = section_at(c, s->sh_link);
	const Elf64_Sym *symbol = at_offset(c, table->sh_offset);
	const char *names = at_offset(c, section_at(c, table->sh_link)->sh_offset);

	for (size_t n = 0; n < s->sh_size / sizeof *r; n++) {
		uint64_t *to = in_image(c, r[n].r_offset, 8), value = 0;
		const Elf64_Sym *y = &symbol[ELF64_R_SYM(r[n].r_info)];
		unsigned type = ELF64_R_TYPE(r[n].r_info);

		if (!to)
			continue;
		if (type == R_X86_64_64 || type == R_X86_64_GLOB_DAT || type == R_X86_64_JUMP_SLOT)
			value = y->st_shndx == SHN_UNDEF ? import_address(c, names + y->st_name) : y->st_value;
		else if (type != R_X86_64_RELATIVE)
			continue;
		*to = value + (type == R_X86_64_64 || type == R_X86_64_RELATIVE ? (uint64_t)r[n].r_addend : 0);
	}
}

/* ---- functions ---- */

static void add_function(struct elfcode *c, uint64_t start, uint64_t bytes, const char *name, bool cold)
{
	if (!bytes || !within(c->code, c->codes, start, 1))
		return;
	if ((c->functions & (c->functions - 1)) == 0) {
		c->function = realloc(c->function, (c->functions ? c->functions * 2 : 1) * sizeof *c->function);
		if (!c->function)
			abort();
	}
	c->function[c->functions++] = (struct elfcode_function){ start, start + bytes, name, cold };
}

static void add_symbols(struct elfcode *c, const Elf64_Shdr *s)
{
	const Elf64_Sym *y = at_offset(c, s->sh_offset);
	const char *names = at_offset(c, section_at(c, s->sh_link)->sh_offset);

	for (size_t n = 0; n < s->sh_size / sizeof *y; n++) {
		const char *name = names + y[n].st_name;

		if (ELF64_ST_TYPE(y[n].st_info) == STT_FUNC && y[n].st_shndx != SHN_UNDEF)
			add_function(c, y[n].st_value, y[n].st_size, name, strstr(name, ".cold"));
	}
}

/* What .eh_frame covers. */
static void add_frames(struct elfcode *c, const Elf64_Shdr *s)
{
	struct framerange_table table;
	struct framerange range;

	if (!framerange_open(&table, c->image, c->low, c->high, s->sh_addr))
		return;
	for (uint32_t n = 0; n < table.count; n++)
		if (framerange_at(&table, n, &range))
			add_function(c, range.start, range.end - range.start, NULL, range.late);
}

static int by_start(const void *a, const void *b)
{
	const struct elfcode_function *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return !!y->name - !!x->name;        /* names first */
}

/* One for each start, none beyond the next one's. */
static void settle_functions(struct elfcode *c)
{
	size_t kept = 0;

	qsort(c->function, c->functions, sizeof *c->function, by_start);
	for (size_t n = 0; n < c->functions; n++) {
		struct elfcode_function *last = kept ? &c->function[kept - 1] : NULL, *f = &c->function[n];

		if (last && last->start == f->start) {
			last->end = f->end > last->end ? f->end : last->end;
			continue;
		}
		if (last && last->end > f->start)
			last->end = f->start;
		c->function[kept++] = *f;
	}
	c->functions = kept;
}

static const struct elfcode_function *around(const struct elfcode *c, uint64_t pc)
{
	size_t low = 0, high = c->functions;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (c->function[middle].start <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	return low && pc < c->function[low - 1].end ? &c->function[low - 1] : NULL;
}

/* ---- the source ---- */

static bool decode(void *data, uint64_t pc, ZydisDecodedInstruction *i, ZydisDecodedOperand *operand)
{
	struct elfcode *c = data;
	ZydisDecoderContext context;

	return in_image(c, pc, 1) &&
	       ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&c->zydis, &context, c->image + (pc - c->low), INSTRUCTION_BYTES, i)) &&
	       (!operand || ZYAN_SUCCESS(ZydisDecoderDecodeOperands(&c->zydis, &context, i, operand, i->operand_count)));
}

static bool decode_alone(void *data, const void *code, size_t bytes, ZydisDecodedInstruction *i)
{
	return ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&((struct elfcode *)data)->zydis, NULL, code, bytes, i));
}

static bool is_same(const struct outline *a, const struct outline *b)
{
	return a->mnemonic == b->mnemonic && a->category == b->category && a->length == b->length && a->opcode == b->opcode &&
	       a->width == b->width && a->relative == b->relative && a->fixed == b->fixed && a->distance == b->distance;
}

/* In outline, as the translator sees it; that must be what the decoder would say. */
static bool outline(void *data, uint64_t pc, struct outline *o)
{
	struct elfcode *c = data;
	ZydisDecodedInstruction i;
	bool good = in_image(c, pc, 1) &&
		    outline_find(&c->outlines, c->image + (pc - c->low), INSTRUCTION_BYTES, decode_alone, c, o);
	struct outline whole = { 0 };

	if (decode(c, pc, &i, NULL))
		whole = outline_of(&i);
	if (good != (whole.length != 0) || (good && !is_same(o, &whole))) {
		fprintf(stderr, "%#llx: in outline it is another instruction\n", (unsigned long long)pc);
		exit(1);
	}
	c->decoded++;
	c->undecodable += !good;
	return good;
}

static bool read_constant(void *data, uint64_t address, void *to, size_t bytes)
{
	struct elfcode *c = data;

	if (!within(c->constant, c->constants, address, bytes) || !in_image(c, address, bytes))
		return false;
	memcpy(to, c->image + (address - c->low), bytes);
	return true;
}

static enum flow_place place(void *data, uint64_t entry, uint64_t pc, uint64_t *until)
{
	struct elfcode *c = data;
	const struct elfcode_function *f = around(c, pc);

	*until = f ? f->end : pc + 1;
	if (c->loose && within(c->code, c->codes, pc, 1) && (!f || !f->name))
		return FLOW_INSIDE;
	if (f)
		return f->cold || f->start == entry ? FLOW_INSIDE : FLOW_BORDER;
	return within(c->code, c->codes, pc, 1) || within(c->stub, c->stubs, pc, 1) ? FLOW_BORDER : FLOW_NO_CODE;
}

/* The slot that a stub jumps by holds what it is for. */
static uint64_t behind_stub(struct elfcode *c, uint64_t pc)
{
	ZydisDecodedInstruction i;

	for (unsigned n = 0; n < 3 && within(c->stub, c->stubs, pc, 1) && decode(c, pc, &i, NULL); n++, pc += i.length)
		if (i.mnemonic == ZYDIS_MNEMONIC_JMP && i.raw.modrm.mod == 0 && i.raw.modrm.rm == 5) {
			const uint64_t *slot = in_image(c, pc + i.length + (uint64_t)i.raw.disp.value, 8);

			return slot ? *slot : pc;
		}
	return pc;
}

static bool returns(void *data, uint64_t target)
{
	struct elfcode *c = data;
	const char *name = NULL;

	target = behind_stub(c, target);
	if (target >= c->high && (target - c->high) / IMPORT_BYTES < c->imports)
		name = c->import[(target - c->high) / IMPORT_BYTES];
	else if (around(c, target) && around(c, target)->start == target)
		name = around(c, target)->name;
	return !name || !flow_never_returns(name);
}

/* ---- the file ---- */

static bool map_file(struct elfcode *c, const char *path)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool good = fd >= 0 && fstat(fd, &st) == 0 && st.st_size >= (off_t)sizeof(Elf64_Ehdr);

	c->file = good ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
	if (fd >= 0)
		close(fd);
	if (c->file == MAP_FAILED) {
		c->file = NULL;
		return false;
	}
	c->file_bytes = (size_t)st.st_size;
	return !memcmp(c->file, ELFMAG, SELFMAG) && head_of(c)->e_machine == EM_X86_64 &&
	       head_of(c)->e_shoff + (uint64_t)head_of(c)->e_shnum * sizeof(Elf64_Shdr) <= c->file_bytes && head_of(c)->e_shnum;
}

bool elfcode_open(struct elfcode *c, const char *path)
{
	*c = (struct elfcode){ .source = { c, decode, outline, read_constant, place, returns } };
	if (!map_file(c, path) || !load(c)) {
		fprintf(stderr, "%s: cannot be read, or is no ELF file for x86-64\n", path);
		elfcode_close(c);
		return false;
	}
	note_sections(c);
	for (unsigned n = 0; n < head_of(c)->e_shnum; n++) {
		const Elf64_Shdr *s = section_at(c, n);

		if (s->sh_type == SHT_RELA && s->sh_flags & SHF_ALLOC)
			relocate(c, s);
		if (s->sh_type == SHT_SYMTAB || s->sh_type == SHT_DYNSYM)
			add_symbols(c, s);
		if (!strcmp(section_name(c, s), ".eh_frame_hdr"))
			add_frames(c, s);
	}
	settle_functions(c);
	return ZYAN_SUCCESS(ZydisDecoderInit(&c->zydis, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64));
}

void elfcode_close(struct elfcode *c)
{
	if (c->file)
		munmap(c->file, c->file_bytes);
	free(c->image);
	free(c->function);
	free(c->import);
	*c = (struct elfcode){ 0 };
}
