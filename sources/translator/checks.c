/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The checks that spare most accesses the way into C. A read is done when the
 * shadow words of its cells are not older than the topmost activation
 * (core/stamp.h); a write stores the stamps itself as long as there is only
 * one stack, and nobody else can have seen the cells.
 *
 * The program's flags are alive anywhere, so nothing here touches them: rorx
 * divides the address by the size of a cell and puts the odd bits on top, shrx
 * takes the deciding bits of a difference, and jrcxz decides on their sum.
 * Only for cells of 4 bytes, and processors with BMI2.
 */
#include "sources/translator/observing.h"

#define WORDS_MAX 8u
#define SAVES 5u

static const unsigned saves[SAVES] = { REG_RAX, REG_RCX, REG_RDX, REG_RSI, REG_RDI };

bool checks_possible(void)
{
	uint32_t a = 7, b, c = 0, d;

	__asm__("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
	return b >> 8 & 1 && observer.cell_bytes == 4;
}

bool checks_size(uint64_t bytes)
{
	return bytes <= 2 || (bytes % 4 == 0 && bytes <= 4 * WORDS_MAX);
}

/* The word at rax * 4 + offset is looked at: rdx becomes the sum of what decides. */
static void emit_look(struct emit *e, uint32_t offset)
{
	emit_bytes(e, "\x65\x8b\x0c\x85", 4);             /* mov %gs:offset(,%rax,4), %ecx */
	emit_32(e, offset);
	emit_bytes(e, "\x8d\x0c\x39", 3);                 /* lea (%rcx,%rdi), %ecx */
	emit_bytes(e, "\xc4\xe2\x4b\xf7\xc9", 5);         /* shrx %esi, %ecx, %ecx */
	emit_bytes(e, "\x48\x8d\x14\x0a", 4);             /* lea (%rdx,%rcx), %rdx */
}

/* The word there becomes edi. */
static void emit_stamp(struct emit *e, uint32_t offset)
{
	emit_bytes(e, "\x65\x89\x3c\x85", 4);             /* mov %edi, %gs:offset(,%rax,4) */
	emit_32(e, offset);
}

static void emit_rotated(struct emit *e)
{
	emit_bytes(e, "\xc4\xe3\xfb\xf0\xc1\x02", 6);     /* rorx $2, %rcx, %rax */
}

void checks_begin(struct emit *e)
{
	for (unsigned i = 0; i < SAVES; i++)
		emit_save(e, saves[i], CTX_REG(saves[i]));
}

/* All registers are the program's again. */
static void restore_all(struct emit *e)
{
	for (unsigned i = 0; i < SAVES; i++)
		emit_restore(e, saves[i], CTX_REG(saves[i]));
}

/* rdx becomes the odd bits of the address, which must be zero for accesses of whole words. */
static void emit_odd_bits(struct emit *e)
{
	emit_constant(e, REG_RSI, 62);
	emit_bytes(e, "\xc4\xe2\xcb\xf7\xd0", 5);          /* shrx %rsi, %rax, %rdx */
}

/* rcx holds the address. */
static void emit_read(struct emit *e, uint64_t bytes)
{
	emit_restore(e, REG_RDI, CTX_MINUS_TOP);
	if (bytes == 2)
		emit_save(e, REG_RCX, CTX_SPARE + 16);
	emit_rotated(e);
	if (bytes > 2)
		emit_odd_bits(e);
	else
		emit_constant(e, REG_RDX, 0);
	emit_constant(e, REG_RSI, 30);
	for (uint32_t k = 0; k < bytes; k += 4)
		emit_look(e, k);
	if (bytes == 2) {
		/* The last byte may lie in the next cell. */
		emit_restore(e, REG_RCX, CTX_SPARE + 16);
		emit_bytes(e, "\x48\x8d\x49\x01", 4);         /* lea 1(%rcx), %rcx */
		emit_rotated(e);
		emit_look(e, 0);
	}
}

static void emit_write(struct emit *e, uint64_t bytes)
{
	emit_rotated(e);
	if (bytes > 1)
		emit_odd_bits(e);
	else
		emit_constant(e, REG_RDX, 0);
	emit_restore(e, REG_RDI, CTX_SLOW_WRITES);
	emit_bytes(e, "\x48\x8d\x14\x3a", 4);             /* lea (%rdx,%rdi), %rdx */
}

struct checks_jump checks_emit(struct emit *e, uint64_t bytes, bool write)
{
	struct checks_jump jump;
	uint32_t distance;
	uint8_t *slow;

	if (write)
		emit_write(e, bytes);
	else
		emit_read(e, bytes);
	emit_bytes(e, "\x48\x89\xd1\xe3\x05\xe9", 6);      /* mov %rdx, %rcx; jrcxz over the next; jmp slow */
	slow = e->at;
	emit_32(e, 0);
	if (write)
		emit_restore(e, REG_RDI, CTX_OWN);
	for (uint32_t k = 0; write && k < bytes; k += 4)
		emit_stamp(e, k);
	restore_all(e);
	emit_byte(e, 0xe9);
	jump.done = e->at;
	emit_32(e, 0);
	distance = (uint32_t)(e->at - (slow + 4));
	slope_copy(slow, &distance, 4);
	restore_all(e);
	return jump;
}

struct checks_jump checks_top_fn(struct emit *e, uint32_t fn)
{
	struct checks_jump jump;

	emit_save(e, REG_RCX, CTX_REG(REG_RCX));
	emit_restore(e, REG_RCX, CTX_TOP_FN);
	emit_bytes(e, "\x8d\x89", 2);                     /* lea -fn(%rcx), %ecx */
	emit_32(e, -fn);
	emit_bytes(e, "\xe3\x0b", 2);                     /* jrcxz over the next two */
	emit_restore(e, REG_RCX, CTX_REG(REG_RCX));
	emit_bytes(e, "\xeb\x0e", 2);                     /* jmp over the two behind them */
	emit_restore(e, REG_RCX, CTX_REG(REG_RCX));
	emit_byte(e, 0xe9);
	jump.done = e->at;
	emit_32(e, 0);
	return jump;
}

void checks_end(struct emit *e, struct checks_jump jump)
{
	uint32_t distance = (uint32_t)(e->at - (jump.done + 4));

	slope_copy(jump.done, &distance, 4);
}
