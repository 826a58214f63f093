/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Instructions into memory, byte by byte. None of them changes the flags but
 * those that say so.
 */
#ifndef SLOPE_SOURCES_TRANSLATOR_EMIT_H
#define SLOPE_SOURCES_TRANSLATOR_EMIT_H

#include "core/base.h"
#include "sources/translator/context.h"
#include "sources/translator/trace.h"

struct emit {
	uint8_t *at;
};

static inline void emit_byte(struct emit *e, unsigned byte)
{
	*e->at++ = (uint8_t)byte;
}

static inline void emit_bytes(struct emit *e, const void *bytes, size_t count)
{
	slope_copy(e->at, bytes, count);
	e->at += count;
}

static inline void emit_32(struct emit *e, uint32_t value)
{
	emit_bytes(e, &value, 4);
}

static inline void emit_64(struct emit *e, uint64_t value)
{
	emit_bytes(e, &value, 8);
}

/* `opcode` between a 64-bit register and the context's word at `offset`. */
static inline void emit_context(struct emit *e, unsigned opcode, unsigned reg, uint32_t offset)
{
	emit_byte(e, 0x65);
	emit_byte(e, 0x48 | (reg >> 3 & 1) << 2);
	emit_byte(e, opcode);
	emit_byte(e, 0x04 | (reg & 7) << 3);
	emit_byte(e, 0x25);
	emit_32(e, offset);
}

/* The same with the word at a place in the window. */
static inline void emit_in_window(struct emit *e, unsigned opcode, unsigned reg, uint32_t place)
{
	emit_context(e, opcode, reg, place - (uint32_t)GS_PLACE);
}

static inline void emit_save(struct emit *e, unsigned reg, uint32_t offset)
{
	emit_context(e, 0x89, reg, offset);
}

static inline void emit_restore(struct emit *e, unsigned reg, uint32_t offset)
{
	emit_context(e, 0x8b, reg, offset);
}

/* mov $value, %reg, in the shortest way that keeps flags. */
static inline void emit_constant(struct emit *e, unsigned reg, uint64_t value)
{
	if (value >> 32) {
		emit_byte(e, 0x48 | (reg >> 3 & 1));
		emit_byte(e, 0xb8 | (reg & 7));
		emit_64(e, value);
		return;
	}
	if (reg >= 8)
		emit_byte(e, 0x41);
	emit_byte(e, 0xb8 | (reg & 7));
	emit_32(e, (uint32_t)value);
}

static inline void emit_move(struct emit *e, unsigned to, unsigned from)
{
	emit_byte(e, 0x48 | (from >> 3 & 1) << 2 | (to >> 3 & 1));
	emit_byte(e, 0x89);
	emit_byte(e, 0xc0 | (from & 7) << 3 | (to & 7));
}

/* rorx $by, %from, %to: to the right; flags are kept. */
static inline void emit_rotate(struct emit *e, unsigned to, unsigned from, unsigned by)
{
	emit_byte(e, 0xc4);
	emit_byte(e, (unsigned)(to < 8) << 7 | 0x43 | (unsigned)(from < 8) << 5);
	emit_bytes(e, "\xfb\xf0", 2);
	emit_byte(e, 0xc0 | (to & 7) << 3 | (from & 7));
	emit_byte(e, by);
}

/* A call or jump to a place within reach. */
static inline void emit_near(struct emit *e, unsigned opcode, uint64_t target)
{
	emit_byte(e, opcode);
	emit_32(e, (uint32_t)(target - ((uint64_t)e->at + 4)));
}

/* One more in a counter, which lies below 2 GB; flags are not kept. No counter: nothing. */
static inline void emit_count_one(struct emit *e, const uint16_t *counter)
{
	if (!counter)
		return;
	emit_bytes(e, "\x66\xff\x04\x25", 4);                    /* incw */
	emit_32(e, (uint32_t)(uint64_t)counter);
}

/* A conditional jump, or with condition -1 `jmp`, to a place that is not known yet: the displacement's place. */
static inline uint8_t *emit_jump_ahead(struct emit *e, int condition)
{
	if (condition < 0) {
		emit_byte(e, 0xe9);
	} else {
		emit_byte(e, 0x0f);
		emit_byte(e, 0x80 | (unsigned)condition);
	}
	emit_32(e, 0);
	return e->at - 4;
}

/* The same to a place that is. */
static inline void emit_back(struct emit *e, int condition, const uint8_t *target)
{
	uint8_t *displacement = emit_jump_ahead(e, condition);
	uint32_t distance = (uint32_t)(target - e->at);

	slope_copy(displacement, &distance, 4);
}

/* The jump whose displacement is there goes to where emission is now. */
static inline void emit_land(struct emit *e, uint8_t *displacement)
{
	uint32_t distance = (uint32_t)(e->at - (displacement + 4));

	slope_copy(displacement, &distance, 4);
}

#define CONDITION_NONE (-1)
#define CONDITION_BELOW 2
#define CONDITION_NOT_BELOW 3
#define CONDITION_EQUAL 4
#define CONDITION_NOT_EQUAL 5
#define CONDITION_ABOVE 7
#define CONDITION_LESS 12
#define CONDITION_NOT_LESS 13
#define CONDITION_NOT_GREATER 14
#define CONDITION_GREATER 15

/* The same over less than 128 bytes. */
static inline uint8_t *emit_short_jump_ahead(struct emit *e, unsigned condition)
{
	emit_byte(e, 0x70 | condition);
	emit_byte(e, 0);
	return e->at;
}

static inline void emit_short_land(struct emit *e, uint8_t *behind)
{
	SLOPE_ASSERT(e->at - behind < 128);
	behind[-1] = (uint8_t)(e->at - behind);
}

/*
 * A jump that is changed while others run: its displacement lies within a multiple of 8 bytes, so that
 * one store is seen whole by all. What is missing are prefixes without a meaning, not nops: those would be instructions.
 */
static inline uint8_t *emit_link(struct emit *e, int condition)
{
	unsigned opcode_bytes = condition < 0 ? 1 : 2;

	while (((uint64_t)e->at + opcode_bytes) % 8 > 4)
		emit_byte(e, 0x2e);
	return emit_jump_ahead(e, condition);
}

/* An operand in memory: what of that address, and how wide the instruction's other operand is. */
struct operand {
	const struct address *at;
	enum { OPERAND_ITSELF, OPERAND_SHADOW, OPERAND_IN_WINDOW } what;      /* the cell, its shadow word, that place in the window */
	bool wide;                   /* 64 bits, or 32 */
};

/* `opcode` with this register and an operand in memory at + plus; the operand's own segment does not count. */
static inline void emit_memory(struct emit *e, unsigned opcode, unsigned reg, struct operand o, int64_t plus)
{
	const struct address *a = o.at;
	const int64_t bias[] = { [OPERAND_SHADOW] = GS_BIAS, [OPERAND_IN_WINDOW] = -GS_PLACE };
	int64_t displacement = a->displacement + plus + bias[o.what];
	unsigned base = a->base == NO_REGISTER ? 5 : (unsigned)a->base, index = a->index == NO_REGISTER ? 4 : (unsigned)a->index;
	unsigned rex = (unsigned)o.wide << 3 | (reg >> 3) << 2 | (index >> 3) << 1 | (a->base == NO_REGISTER ? 0 : base >> 3);
	bool sib = a->base == NO_REGISTER || a->index != NO_REGISTER || (base & 7) == 4;
	unsigned mode = a->base == NO_REGISTER ? 0 : displacement == 0 && (base & 7) != 5 ? 0 :
			displacement == (int8_t)displacement ? 1 : 2;

	if (a->short_registers)
		emit_byte(e, 0x67);
	if (o.what != OPERAND_ITSELF)
		emit_byte(e, 0x65);
	if (rex)
		emit_byte(e, 0x40 | rex);
	emit_byte(e, opcode);
	emit_byte(e, mode << 6 | (reg & 7) << 3 | (sib ? 4 : base & 7));
	if (sib)
		emit_byte(e, a->scale_log2 << 6 | (index & 7) << 3 | (base & 7));
	if (mode == 1)
		emit_byte(e, (unsigned)displacement & 0xff);
	else if (mode == 2 || a->base == NO_REGISTER)
		emit_32(e, (uint32_t)displacement);
}

/* lea address + plus, %reg */
static inline void emit_address(struct emit *e, unsigned reg, const struct address *a, int64_t plus)
{
	if (a->base == NO_REGISTER && a->index == NO_REGISTER)
		emit_constant(e, reg, (uint64_t)(a->displacement + plus));
	else
		emit_memory(e, 0x8d, reg, (struct operand){ a, OPERAND_ITSELF, true }, plus);
}

#endif
