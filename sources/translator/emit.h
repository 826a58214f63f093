/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Instructions into memory, byte by byte; none of them changes the flags. */
#ifndef SLOPE_SOURCES_TRANSLATOR_EMIT_H
#define SLOPE_SOURCES_TRANSLATOR_EMIT_H

#include "core/base.h"
#include "sources/translator/context.h"

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

/* A call or jump to a place within reach. */
static inline void emit_near(struct emit *e, unsigned opcode, uint64_t target)
{
	emit_byte(e, opcode);
	emit_32(e, (uint32_t)(target - ((uint64_t)e->at + 4)));
}

/* nops, until `ahead` bytes from here a multiple of 4 begins. */
static inline void emit_align(struct emit *e, unsigned ahead)
{
	static const uint8_t nop[3][3] = { { 0x90 }, { 0x66, 0x90 }, { 0x0f, 0x1f, 0x00 } };
	unsigned missing = (unsigned)(-((uint64_t)e->at + ahead) & 3);

	if (missing)
		emit_bytes(e, nop[missing - 1], missing);
}

#endif
