/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What checks (checks.c) and their cold parts (coldchecks.c) are both made of.
 */
#ifndef SLOPE_SOURCES_TRANSLATOR_CHECKPARTS_H
#define SLOPE_SOURCES_TRANSLATOR_CHECKPARTS_H

#include "sources/translator/making.h"
#include "sources/translator/observing.h"

static inline void add_fs(struct emit *e, unsigned reg)
{
	emit_context(e, 0x03, reg, CTX_FS);
}

static inline void and_constant(struct emit *e, unsigned reg, unsigned byte)
{
	emit_byte(e, 0x48 | reg >> 3);
	emit_byte(e, 0x83);
	emit_byte(e, 0xe0 | (reg & 7));
	emit_byte(e, byte);
}

/* The address into a register. */
static inline void load_address(struct emit *e, unsigned reg, const struct address *a, int64_t plus)
{
	if (a->in_fs && a->base == NO_REGISTER && a->index == NO_REGISTER) {
		emit_restore(e, reg, CTX_FS);
		struct address with = { .base = (int)reg, .index = NO_REGISTER, .displacement = a->displacement };

		emit_address(e, reg, &with, plus);
	} else {
		emit_address(e, reg, a, plus);
		if (a->in_fs)
			add_fs(e, reg);
	}
}

/* The stamp into every word. */
static inline void emit_stamps(struct maker *m, const struct address *a, uint32_t bytes, int64_t plus)
{
	for (uint32_t k = 0; k < bytes;) {
		bool wide = bytes - k >= 8;

		emit_memory(&m->e, 0x89, (unsigned)m->stamp, (struct operand){ a, OPERAND_SHADOW, wide }, plus + k);
		k += wide ? 8 : 4;
	}
}

/* Must it be asked whether the address is in the window? A program that has handlers for faults may try any. */
static inline bool may_be_beyond(const struct stale_read *r)
{
	return runtime.precise && !r->near;
}

/* Do the words of `c`'s place lie in the window, if that must be asked, and is each a stamp? Else `c`. */
static inline void emit_touched_test(struct maker *m, struct cold *c, const struct address *words, uint32_t bytes)
{
	struct emit *e = &m->e;
	const uint32_t least = STAMP_LEAST;

	if (may_be_beyond(&c->stale)) {
		load_address(e, (unsigned)m->stamp, &c->at, -(int64_t)PLAN_LOWEST);
		emit_context(e, 0x3b, (unsigned)m->stamp, CTX_SPAN);
		emit_restore(e, (unsigned)m->stamp, CTX_TOP);
		making_jump(m, c, CONDITION_NOT_BELOW);
	}
	for (uint32_t k = 0; k < bytes; k += 4) {
		emit_memory(e, 0x81, 7, (struct operand){ words, OPERAND_SHADOW, false }, k);       /* cmpl */
		emit_bytes(e, &least, 4);
		making_jump(m, c, CONDITION_LESS);
	}
}

typedef void (*gate_routine)(void);

/* The routines of misses.S for reads of 1, 2, 4 and 8 bytes. */
static inline const gate_routine *reads_of(const struct maker *m)
{
	unsigned kind = !observer.trms ? GATE_RMS : m->checked_writes ? GATE_SHARED : GATE_ALONE;

	return slope_gate_reads[observer.vectors][kind][m->stamp];
}

/* A routine of misses.S with the address in the stamp's register, below the program's red zone. */
static inline void call_for_access(struct maker *m, const struct address *at, gate_routine routine)
{
	load_address(&m->e, (unsigned)m->stamp, at, 0);
	emit_bytes(&m->e, "\x48\x8d\x64\x24\x80", 5);            /* lea -128(%rsp), %rsp */
	emit_near(&m->e, 0xe8, (uint64_t)routine);
	emit_bytes(&m->e, "\x48\x83\xec\x80", 4);                /* sub $-128, %rsp */
}

/*
 * A word of a cell that was guessed: is it that of the cell, and is the cell stale? If not, the jump that is returned is taken. The stamp's
 * register is changed for a moment.
 */
static inline uint8_t *emit_look_again(struct maker *m, const struct stale_read *r)
{
	const struct address *at = &r->at;
	struct emit *e = &m->e;
	unsigned reg = (unsigned)m->stamp;
	struct address word = { .base = (int)reg, .index = NO_REGISTER };
	struct address top = { .base = NO_REGISTER, .index = NO_REGISTER, .displacement = CTX_TOP - GS_BIAS };
	uint8_t *beyond = NULL, *fresh;

	if (may_be_beyond(r)) {
		load_address(e, reg, at, -(int64_t)PLAN_LOWEST);
		emit_context(e, 0x3b, reg, CTX_SPAN);
		beyond = emit_jump_ahead(e, CONDITION_NOT_BELOW);
	}
	load_address(e, reg, at, 0);
	and_constant(e, reg, 0xfc);
	emit_memory(e, 0x8b, reg, (struct operand){ &word, OPERAND_SHADOW, false }, 0);
	emit_memory(e, 0x3b, reg, (struct operand){ &top, OPERAND_SHADOW, false }, 0);
	emit_restore(e, reg, CTX_TOP);
	fresh = emit_jump_ahead(e, CONDITION_NOT_LESS);
	if (beyond)
		emit_land(e, beyond);
	return fresh;
}

/* `opcode` between a 32-bit register and the place where the log ends, which is read as it is written. */
static inline void emit_log_end(struct emit *e, unsigned opcode, unsigned reg)
{
	struct address end = { .base = NO_REGISTER, .index = NO_REGISTER, .displacement = CTX_LOG - GS_BIAS };

	emit_memory(e, opcode, reg, (struct operand){ &end, OPERAND_SHADOW, false }, 0);
}

/* ---- stalereads.c ---- */

/* Is it one whose rate is worth to be known? */
bool stalereads_can_count(const struct access *a);
/* Is it one of which nobody can say beforehand whether it is stale? */
bool stalereads_are_either(const struct maker *m, const struct access *a);
/* Is it one that is most often stale? */
bool stalereads_are_often(const struct maker *m, const struct access *a);
void stalereads_emit(struct maker *m, struct stale_read *r);
/* One that is stale, where that is found out elsewhere: can its words be taken, */
bool stalereads_can_take(const struct stale_read *r);
/* and so they are. */
void stalereads_take(struct maker *m, struct stale_read *r);
/* The program's registers come back. */
void stalereads_give_back(struct maker *m, const struct cold *c);

/* The flags that emit_kept_check in checks.c has kept. */
static inline void bring_flags(struct emit *e)
{
	emit_restore(e, REG_RAX, CTX_FLAGS_HOME);
	emit_bytes(e, "\x04\x7f\x9e", 3);                         /* add $127, %al; sahf */
	emit_restore(e, REG_RAX, CTX_RAX_HOME);
}

#endif
