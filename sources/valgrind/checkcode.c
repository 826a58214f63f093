/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sources/valgrind/checkcode.h"

enum { RAX, RCX, RDX, RBP = 5, RSI = 6, RDI = 7, R11 = 11 };
enum { BELOW = 2, ZERO = 4, NOT_LESS = 13 };   /* conditions of jumps */

#define MOV_TO_REG 0x8b
#define MOV_FROM_REG 0x89
#define CMP_TO_MEMORY 0x3b       /* reg - memory */
#define SUB_MEMORY 0x2b
#define TEST_MEMORY 0x85

/* ---- instructions ---- */

static UChar *put32(UChar *p, UInt value)
{
	for (Int i = 0; i < 4; i++)
		*p++ = (UChar)(value >> 8 * i);
	return p;
}

static UChar *rex(UChar *p, Bool wide, UInt reg, UInt base)
{
	UInt bits = (wide ? 8u : 0u) | (reg >> 3 & 1) << 2 | (base >> 3 & 1);

	if (bits)
		*p++ = (UChar)(0x40 | bits);
	return p;
}

/* An operation with a register and the shadow word of the address in another one, plus an offset. */
static UChar *with_word(UChar *p, Bool wide, UInt operation, UInt reg, UInt base, Int offset)
{
	Bool displaced = offset || (base & 7) == 5;

	*p++ = 0x65;                 /* %gs */
	p = rex(p, wide, reg, base);
	*p++ = (UChar)operation;
	*p++ = (UChar)((displaced ? 0x40 : 0) | (reg & 7) << 3 | (base & 7));
	if ((base & 7) == 4)
		*p++ = 0x24;             /* no index */
	if (displaced)
		*p++ = (UChar)offset;
	return p;
}

static UChar *with_state(UChar *p, Bool wide, UInt operation, UInt reg, UInt offset)
{
	p = rex(p, wide, reg, 0);
	*p++ = (UChar)operation;
	*p++ = (UChar)(0x85 | (reg & 7) << 3);   /* %rbp + 32 bits */
	return put32(p, offset);
}

static UChar *with_slot(UChar *p, Bool wide, UInt operation, UInt reg, UInt slot)
{
	return with_state(p, wide, operation, reg, SLOTS_OFFSET + slot);
}

#define SLOT(field) ((UInt)offsetof(struct slots, field))

static UChar *move(UChar *p, UInt to, UInt from)
{
	p = rex(p, True, from, to);
	*p++ = MOV_FROM_REG;
	*p++ = (UChar)(0xc0 | (from & 7) << 3 | (to & 7));
	return p;
}

/* The address of the cell's first byte, which is also that of its word in the window. */
static UChar *cell_of(UChar *p, UInt to, UInt address, Int offset)
{
	if (offset) {
		p = rex(p, True, to, address);
		*p++ = 0x8d;         /* lea */
		*p++ = (UChar)(0x40 | (to & 7) << 3 | (address & 7));
		if ((address & 7) == 4)
			*p++ = 0x24;
		*p++ = (UChar)offset;
	} else {
		p = move(p, to, address);
	}
	p = rex(p, True, 0, to);
	*p++ = 0x83;
	*p++ = (UChar)(0xe0 | (to & 7));
	*p++ = 0xfc;                 /* and $-4 */
	return p;
}

/* Is it the last byte of its cell? Changes rcx. */
static UChar *test_last(UChar *p, UInt reg)
{
	static const UChar code[] = { 0x83, 0xe1, 0x03, 0x83, 0xf9, 0x03 };      /* and $3, %ecx; cmp $3, %ecx */

	p = move(p, RCX, reg);
	for (UInt i = 0; i < sizeof code; i++)
		*p++ = code[i];
	return p;
}

/* ---- checks ---- */

/* One word: signed, less than the stamp is stale. Leaves the flags. */
static UChar *compare_word(UChar *p, UInt address)
{
	p = with_word(p, False, MOV_TO_REG, RAX, address, 0);
	return with_slot(p, False, CMP_TO_MEMORY, RAX, SLOT(top_stamps));
}

/* Pairs of words: see core/stamp.h. */
static UChar *compare_pairs(UChar *p, UInt address, Int bytes)
{
	for (Int i = 0; i < bytes; i += 8) {
		UInt reg = i ? RCX : RAX;

		p = with_word(p, True, MOV_TO_REG, reg, address, i);
		p = with_slot(p, True, SUB_MEMORY, reg, SLOT(top_stamps));
		if (i) {
			*p++ = 0x48;
			*p++ = 0x09;     /* or %rcx, %rax */
			*p++ = 0xc8;
		}
	}
	return with_slot(p, True, TEST_MEMORY, RAX, SLOT(stale_masks));
}

static UChar *call(UChar *p, Addr function)
{
	*p++ = 0x41;
	*p++ = 0xb8 | (R11 & 7);
	p = put32(p, (UInt)function);
	*p++ = 0x41;
	*p++ = 0xff;
	*p++ = 0xd0 | (R11 & 7);
	return p;
}

/* The address in rdx, the call, which keeps the other registers. */
static UChar *call_kept(UChar *p, UInt reg, const struct check *check)
{
	return call(move(p, RDX, reg), (Addr)check->kept);
}

/* A short jump over what is written next, or to there; jump_here says where that ends. */
static UChar *jump(UChar *p, UInt condition)
{
	*p++ = (UChar)(0x70 | condition);
	*p++ = 0;
	return p;
}

static void jump_here(UChar *end_of_jump, const UChar *here)
{
	end_of_jump[-1] = (UChar)(here - end_of_jump);
}

/* Of 2 bytes that lie in two cells the function looks at both. */
static UChar *write_read(UChar *p, const struct check *check, UInt reg)
{
	UChar *across = NULL, *fresh;

	if (check->bytes == 2)
		p = across = jump(test_last(p, reg), ZERO);
	if (check->bytes >= 8)
		p = compare_pairs(p, reg, check->bytes);
	else if (check->bytes == 4)
		p = compare_word(p, reg);
	else
		p = compare_word(cell_of(p, RAX, reg, 0), RAX);
	p = fresh = jump(p, check->bytes >= 8 ? ZERO : NOT_LESS);
	if (across)
		jump_here(across, p);
	p = call_kept(p, reg, check);
	jump_here(fresh, p);
	return p;
}

/* Stamps whole cells from an address on. */
static UChar *stamp_cells(UChar *p, UInt address, Int bytes)
{
	Bool wide = bytes >= 8;

	p = with_slot(p, wide, MOV_TO_REG, RCX, SLOT(top_stamps));
	for (Int i = 0; i < bytes; i += 8)
		p = with_word(p, wide, MOV_FROM_REG, RCX, address, i);
	return p;
}

/* The aligned run of cells; of a write that may be misaligned, from that of its first byte on, and that of its last. */
static UChar *write_stamps(UChar *p, const struct check *check, UInt reg)
{
	Bool aligned = check->aligned || check->bytes == 1;

	if (aligned && check->bytes >= 4)
		return stamp_cells(p, reg, check->bytes);
	p = stamp_cells(cell_of(p, RAX, reg, 0), RAX, check->bytes);
	if (!aligned)
		p = with_word(cell_of(p, RAX, reg, check->bytes - 1), False, MOV_FROM_REG, RCX, RAX, 0);
	return p;
}

static UChar *write_cost(UChar *p, UInt add)
{
	Bool small = add < 128;

	*p++ = 0x48;
	*p++ = small ? 0x83 : 0x81;
	*p++ = 0x85;                 /* add, %rbp + 32 bits */
	p = put32(p, SLOTS_OFFSET + SLOT(counter));
	if (!small)
		return put32(p, add);
	*p++ = (UChar)add;
	return p;
}

/* Is another function on top? Then somebody jumped here. */
static UChar *write_entry(UChar *p, const struct callee *callee)
{
	UChar *called;

	*p++ = 0x81;
	*p++ = 0xbd;                 /* cmp, 32 bits of %rbp + 32 bits */
	p = put32(put32(p, SLOTS_OFFSET + SLOT(top_fn)), (UInt)callee->fn);
	p = called = jump(p, ZERO);
	p = move(p, RDI, RBP);
	*p++ = 0x48;
	*p++ = 0xb8 | RSI;
	p = put32(put32(p, (UInt)(Addr)callee), (UInt)((Addr)callee >> 32));
	p = call(with_state(p, True, MOV_TO_REG, RDX, STACK_POINTER), (Addr)tool_jump);
	jump_here(called, p);
	return p;
}

/* Are there frames at or below the stack pointer? */
static UChar *write_stub_call(UChar *p)
{
	UChar *none;

	p = with_state(p, True, MOV_TO_REG, RSI, STACK_POINTER);
	p = none = jump(with_slot(p, True, CMP_TO_MEMORY, RSI, SLOT(top_sp)), BELOW);
	p = call(move(p, RDI, RBP), (Addr)tool_call_stub);
	jump_here(none, p);
	return p;
}

/* Is the address in a register outside of the range? */
static UChar *write_jump(UChar *p, const struct check *check, UInt reg, ULong range)
{
	UChar *within;

	p = move(p, RAX, reg);
	*p++ = 0x48;
	*p++ = 0x2d;                 /* sub, of rax */
	p = put32(p, (UInt)range);
	*p++ = 0x48;
	*p++ = 0x3d;                 /* cmp, of rax */
	p = within = jump(put32(p, (UInt)(range >> 32)), BELOW);
	p = call_kept(p, reg, check);
	jump_here(within, p);
	return p;
}

Int check_write(UChar *to, const struct check *check, UInt reg, ULong value)
{
	switch (check->what) {
	case CHECK_READ:
		return (Int)(write_read(to, check, reg) - to);
	case CHECK_WRITE:
		return (Int)(write_stamps(to, check, reg) - to);
	case CHECK_ENTRY:
		return (Int)(write_entry(to, (const struct callee *)value) - to);
	case CHECK_STUB_CALL:
		return (Int)(write_stub_call(to) - to);
	case CHECK_JUMP:
		return (Int)(write_jump(to, check, reg, value) - to);
	default:
		return (Int)(write_cost(to, (UInt)value) - to);
	}
}
