/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads that are most often stale: what becomes of them lies in the block, and
 * a fresh word jumps over it. For rms that is all of what gate.S does: the
 * word goes into the log, and the cell becomes the top's. Whatever is not
 * usual (a word that is no ordinary stamp, two that are not alike, a full log)
 * goes to gate.S with nothing done.
 */
#include "sources/translator/checkparts.h"

/* Off the stack and not in a loop, six reads of ten are the first ones of their activation. */
bool stalereads_are_often(const struct maker *m, const struct access *a)
{
	return !a->write && a->at.base != REG_RSP && a->bytes <= 8 && !(a->bytes & (a->bytes - 1)) && !m->loops;
}

/* A register that nobody needs; else the spare one, or any, which is kept at `home` if it is the program's now. */
static unsigned take_register(struct maker *m, struct stale_read *r, uint32_t home, int *kept)
{
	uint16_t live = runtime.precise ? UINT16_MAX : m->trace.step[r->step].live;
	unsigned reg = 0;
	bool own;

	while (reg < REGISTERS && (live | r->taken) >> reg & 1)
		reg++;
	own = reg == REGISTERS;
	if (own && !(r->taken >> m->spare & 1)) {
		reg = (unsigned)m->spare;
		own = r->step < m->borrow_from || r->step > m->borrow_to;
	} else if (own) {
		for (reg = 0; r->taken >> reg & 1;)
			reg++;
	}
	if (own)
		emit_save(&m->e, reg, home);
	*kept = own ? (int)reg : NO_REGISTER;
	r->taken |= (uint16_t)(1u << reg);
	return reg;
}

/* cmp $value, %reg, of 32 bits, and the jump to gate.S. */
static void emit_unless(struct maker *m, struct cold *c, unsigned reg, uint32_t value, int condition)
{
	if (reg >= 8)
		emit_byte(&m->e, 0x41);
	emit_byte(&m->e, 0x81);
	emit_byte(&m->e, 0xf8 | (reg & 7));
	emit_32(&m->e, value);
	making_jump(m, c, condition);
}

/* A program that has handlers for faults may try any address: not one beyond the window. */
static void emit_range(struct maker *m, struct cold *c, const struct address *at, unsigned reg)
{
	load_address(&m->e, reg, at, -(int64_t)PLAN_LOWEST);
	emit_context(&m->e, 0x3b, reg, CTX_SPAN);
	making_jump(m, c, CONDITION_NOT_BELOW);
}

bool stalereads_can_take(const struct stale_read *r)
{
	return !observer.trms && (r->bytes == 4 || (r->bytes == 8 && r->read == 8));
}

void stalereads_take(struct maker *m, struct stale_read *r)
{
	struct cold *c = making_cold(m, COLD_STALE_READ);
	struct emit *e = &m->e;
	bool wide = r->bytes > 4;

	c->at = r->at;
	c->bytes = r->read;
	r->taken |= (uint16_t)(1u << REG_RSP | 1u << m->stamp);
	if (r->at.base != NO_REGISTER)
		r->taken |= (uint16_t)(1u << r->at.base);
	if (r->at.index != NO_REGISTER)
		r->taken |= (uint16_t)(1u << r->at.index);
	unsigned word = take_register(m, r, CTX_KEPT, &c->kept[0]), end = take_register(m, r, CTX_KEPT + 8, &c->kept[1]);
	struct operand cells = { &r->words, true, wide };

	if (runtime.precise)
		emit_range(m, c, &r->at, word);
	emit_memory(e, 0x8b, word, cells, 0);
	if (wide) {
		emit_memory(e, 0x3b, word, (struct operand){ &r->words, true, false }, 4);
		making_jump(m, c, CONDITION_NOT_EQUAL);
	}
	emit_unless(m, c, word, STAMP_LEAST, CONDITION_LESS);
	emit_log_end(e, 0x8b, end);
	emit_unless(m, c, end, CTX_LOG_BYTES, CONDITION_NOT_BELOW);
	struct address entry = { .base = (int)end, .index = NO_REGISTER, .displacement = CTX_LOG_PLACE };
	struct address behind = { .base = (int)end, .index = NO_REGISTER, .displacement = wide ? 8 : 4 };

	emit_memory(e, 0x89, word, (struct operand){ &entry, true, wide }, 0);
	emit_memory(e, 0x89, (unsigned)m->stamp, cells, 0);
	emit_memory(e, 0x8d, end, (struct operand){ &behind, false, false }, 0);
	emit_log_end(e, 0x89, end);
	stalereads_give_back(m, c);
	c->back = e->at;
}

void stalereads_give_back(struct maker *m, const struct cold *c)
{
	for (unsigned n = 0; n < 2; n++)
		if (c->kept[n] != NO_REGISTER)
			emit_restore(&m->e, (unsigned)c->kept[n], CTX_KEPT + 8 * n);
}

void stalereads_emit(struct maker *m, struct stale_read *r)
{
	uint8_t *stale = NULL;
	struct emit *e = &m->e;

	if (r->bytes > 4) {
		emit_memory(e, 0x3b, (unsigned)m->stamp, (struct operand){ &r->words, true, false }, 0);
		stale = emit_short_jump_ahead(e, CONDITION_GREATER);
	}
	emit_memory(e, 0x3b, (unsigned)m->stamp, (struct operand){ &r->words, true, false }, r->bytes - 4);
	uint8_t *fresh = emit_jump_ahead(e, CONDITION_NOT_GREATER);

	if (stale)
		emit_short_land(e, stale);
	if (stalereads_can_take(r))
		stalereads_take(m, r);
	else
		call_for_access(m, &r->at, reads_of(m)[__builtin_ctz(r->read)]);
	emit_land(e, fresh);
}
