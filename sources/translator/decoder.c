/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sources/translator/decoder.h"

#include <elf.h>
#include <linux/fcntl.h>
#include <linux/mman.h>

#include "sources/translator/system.h"

#define SEGMENTS_MAX 16u

/* ---- what the library calls ---- */

static void assertion_failed(void)
{
	system_stop("the decoder has failed; record this program with --source=valgrind", NULL);
}

static uint64_t provided(const char *name)
{
	static const struct { const char *name; uint64_t address; } list[] = {
		{ "memcpy", (uint64_t)memcpy }, { "memset", (uint64_t)memset }, { "strlen", (uint64_t)slope_length },
		{ "__assert_fail", (uint64_t)assertion_failed }, { "__stack_chk_fail", (uint64_t)assertion_failed },
	};

	for (size_t i = 0; i < sizeof list / sizeof *list; i++)
		if (system_same(list[i].name, name))
			return list[i].address;
	return 0;
}

/* ---- the library in memory ---- */

struct library {
	uint64_t base;
	const Elf64_Sym *symbol;
	const char *names;
	const Elf64_Rela *rela, *plt_rela;
	size_t rela_bytes, plt_rela_bytes;
	const uint32_t *gnu_hash;
};

/* One segment, over the room that is reserved for all of them; what lies behind the file's part of it is 0 already. */
static bool map_segment(long fd, uint64_t base, const Elf64_Phdr *s)
{
	uint64_t start = s->p_vaddr & ~(uint64_t)(SLOPE_PAGE_BYTES - 1), before = s->p_vaddr - start;

	/* Read where it is written to, by relocations first of all. */
	if (s->p_flags & PF_W)
		return system_read_at(fd, (void *)(base + s->p_vaddr), s->p_offset, s->p_filesz);
	return !system_failed(system_call(__NR_mmap, (long)(base + start), (long)(before + s->p_filesz),
					  PROT_READ | (s->p_flags & PF_X ? PROT_EXEC : 0), MAP_PRIVATE | MAP_FIXED, fd,
					  (long)(s->p_offset - before)));
}

static bool map_library(const char *path, struct library *l, uint64_t *dynamic)
{
	long fd = system_open(path, O_RDONLY | O_CLOEXEC, 0), at;
	Elf64_Ehdr head;
	Elf64_Phdr segment[SEGMENTS_MAX];
	uint64_t end = 0;
	bool good = fd >= 0 && system_read_at(fd, &head, 0, sizeof head) && head.e_phnum <= SEGMENTS_MAX &&
		    system_read_at(fd, segment, head.e_phoff, head.e_phnum * sizeof *segment);

	for (unsigned i = 0; good && i < head.e_phnum; i++)
		if (segment[i].p_type == PT_LOAD && segment[i].p_vaddr + segment[i].p_memsz > end)
			end = segment[i].p_vaddr + segment[i].p_memsz;
	at = good ? system_call(__NR_mmap, 0, (long)slope_page_round(end), PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : -1;
	good = good && !system_failed(at);
	l->base = (uint64_t)at;
	for (unsigned i = 0; good && i < head.e_phnum; i++) {
		if (segment[i].p_type == PT_LOAD)
			good = map_segment(fd, l->base, &segment[i]);
		if (segment[i].p_type == PT_DYNAMIC)
			*dynamic = l->base + segment[i].p_vaddr;
	}
	if (fd >= 0)
		system_close(fd);
	return good && *dynamic;
}

static void read_dynamic(struct library *l, const Elf64_Dyn *d)
{
	for (; d->d_tag != DT_NULL; d++) {
		uint64_t at = l->base + d->d_un.d_ptr;

		switch (d->d_tag) {
		case DT_SYMTAB:
			l->symbol = (const Elf64_Sym *)at;
			break;
		case DT_STRTAB:
			l->names = (const char *)at;
			break;
		case DT_RELA:
			l->rela = (const Elf64_Rela *)at;
			break;
		case DT_RELASZ:
			l->rela_bytes = d->d_un.d_val;
			break;
		case DT_JMPREL:
			l->plt_rela = (const Elf64_Rela *)at;
			break;
		case DT_PLTRELSZ:
			l->plt_rela_bytes = d->d_un.d_val;
			break;
		case DT_GNU_HASH:
			l->gnu_hash = (const uint32_t *)at;
			break;
		default:
			break;
		}
	}
}

static bool relocate(const struct library *l, const Elf64_Rela *r, size_t bytes)
{
	for (const Elf64_Rela *end = r + bytes / sizeof *r; r < end; r++) {
		uint64_t *to = (uint64_t *)(l->base + r->r_offset);
		const Elf64_Sym *symbol = &l->symbol[ELF64_R_SYM(r->r_info)];
		uint64_t address = l->base + symbol->st_value;

		if (ELF64_R_TYPE(r->r_info) == R_X86_64_RELATIVE) {
			*to = l->base + (uint64_t)r->r_addend;
			continue;
		}
		if (symbol->st_shndx == SHN_UNDEF)
			address = provided(l->names + symbol->st_name);
		if (!address && ELF64_ST_BIND(symbol->st_info) != STB_WEAK)
			return false;
		switch (ELF64_R_TYPE(r->r_info)) {
		case R_X86_64_64:
			*to = address + (uint64_t)r->r_addend;
			break;
		case R_X86_64_GLOB_DAT:
		case R_X86_64_JUMP_SLOT:
			*to = address;
			break;
		default:
			return false;
		}
	}
	return true;
}

/* An exported function, found along the chains of the hash table. */
static void *exported(const struct library *l, const char *name)
{
	uint32_t buckets = l->gnu_hash[0], first = l->gnu_hash[1], bloom_words = l->gnu_hash[2], hash = 5381;
	const uint32_t *bucket = l->gnu_hash + 4 + 2 * bloom_words, *chain = bucket + buckets;

	for (const char *c = name; *c; c++)
		hash = hash * 33 + (unsigned char)*c;
	for (uint32_t i = bucket[hash % buckets]; i >= first; i++) {
		if ((chain[i - first] | 1) == (hash | 1) && system_same(l->names + l->symbol[i].st_name, name))
			return (void *)(l->base + l->symbol[i].st_value);
		if (chain[i - first] & 1)
			break;
	}
	return NULL;
}

static void lend(struct decoder *d)
{
	if (d->lent)
		return;
	d->lent = true;
	__asm__ volatile("rdfsbase %0" : "=r"(d->program_fs));
	__asm__ volatile("wrfsbase %0" : : "r"(d->guard) : "memory");
	__asm__ volatile("fxsave64 %0" : "=m"(d->vectors));
}

bool decoder_init(struct decoder *d, const char *path)
{
	struct library l = { 0 };
	uint64_t dynamic = 0;
	ZyanStatus (*init)(ZydisDecoder *decoder, ZydisMachineMode mode, ZydisStackWidth width);

	if (!map_library(path, &l, &dynamic))
		return false;
	read_dynamic(&l, (const Elf64_Dyn *)dynamic);
	if (!l.symbol || !l.names || !l.gnu_hash || !relocate(&l, l.rela, l.rela_bytes) ||
	    !relocate(&l, l.plt_rela, l.plt_rela_bytes))
		return false;
	init = (__typeof__(init))exported(&l, "ZydisDecoderInit");
	d->decode = (__typeof__(d->decode))exported(&l, "ZydisDecoderDecodeInstruction");
	d->operands = (__typeof__(d->operands))exported(&l, "ZydisDecoderDecodeOperands");
	if (!init || !d->decode || !d->operands)
		return false;
	decoder_begin(d);
	lend(d);
	bool good = ZYAN_SUCCESS(init(&d->zydis, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64));

	decoder_end(d);
	return good;
}

void decoder_begin(struct decoder *d)
{
	d->open++;
}

void decoder_end(struct decoder *d)
{
	if (--d->open || !d->lent)
		return;
	d->lent = false;
	__asm__ volatile("fxrstor64 %0" : : "m"(d->vectors));
	__asm__ volatile("wrfsbase %0" : : "r"(d->program_fs) : "memory");
}

bool decoder_decode(struct decoder *d, const void *code, size_t length, ZydisDecodedInstruction *instruction)
{
	lend(d);
	return ZYAN_SUCCESS(d->decode(&d->zydis, &d->context, code, length, instruction));
}

bool decoder_operands(struct decoder *d, const ZydisDecodedInstruction *instruction, ZydisDecodedOperand *operand)
{
	return ZYAN_SUCCESS(d->operands(&d->zydis, &d->context, instruction, operand, instruction->operand_count));
}
