/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads that are most often stale: what becomes of them lies in the block, and
 * a fresh word jumps over it. For rms, and for trms where vectors are ours or a
 * register is free, that is all of what misses.S does: the word goes into the log, and the cell
 * becomes the top's. Whatever is not usual (a word that is no ordinary stamp, two that are not alike, a full log)
 * goes to misses.S with nothing done.
 */
#include "sources/translator/checkparts.h"
#include "sources/translator/rates.h"
#include "sources/translator/vectors.h"

bool stalereads_can_count(const struct access *a)
{
	return a->at.base != REG_RSP && a->bytes <= 8 && !(a->bytes & (a->bytes - 1));
}

/* In a loop: does the register at the access's step come from one that only constants are added to, each time round? */
static bool is_strided(const struct maker *m, unsigned step, int reg)
{
	const struct step *s = m->trace.step;
	uint16_t id = reg == NO_REGISTER ? 0 : s[step].origin[reg].id;

	for (unsigned r = 0; r < REGISTERS; r++)
		if (s[0].origin[r].id == id)
			return s[m->trace.steps - 1].origin[r].id == id;
	return reg == NO_REGISTER;
}

/* Going through memory in steps, stale ones come in a rhythm that processors find out, unless each time is short. */
bool stalereads_are_either(const struct maker *m, const struct access *a)
{
	enum rate rate = stalereads_can_count(a) ? rates_of(m->trace.step[a->step].pc, a->write) : RATE_UNKNOWN;
	bool strided = m->loops && is_strided(m, a->step, a->at.base) && is_strided(m, a->step, a->at.index);

	return rate == RATE_EITHER || (rate == RATE_STEPS && !strided);
}

/* As far as nobody knows: off the stack and not in a loop, six reads of ten are the first ones of their activation. */
bool stalereads_are_often(const struct maker *m, const struct access *a)
{
	if (a->write || m->trace.doubt || !stalereads_can_count(a))
		return false;
	enum rate rate = rates_of(m->trace.step[a->step].pc, a->write);

	return rate == RATE_UNKNOWN ? !m->loops : rate != RATE_FRESH;
}

/* A register that nobody needs, or NO_REGISTER. */
static int dead_register(const struct maker *m, const struct stale_read *r)
{
	uint16_t live = runtime.precise ? UINT16_MAX : m->trace.step[r->step].live;
	int reg = 0;

	while (reg < (int)REGISTERS && (live | r->taken) >> reg & 1)
		reg++;
	return reg < (int)REGISTERS ? reg : NO_REGISTER;
}

/* Where registers are kept: of words, and of the log's end. */
#define WORD_HOME 0
#define END_HOME 1

/* The same; else the spare one, or any, which is kept at `home` if it is the program's now. */
static unsigned take_register(struct maker *m, struct stale_read *r, unsigned home, int *kept, bool may_be_stamp)
{
	int dead = dead_register(m, r);
	unsigned reg = (unsigned)dead;
	bool own = dead == NO_REGISTER;

	*kept = NO_REGISTER;
	if (own && may_be_stamp && observer.vectors)
		return (unsigned)m->stamp;                        /* which can be had again */
	if (own && !(r->taken >> m->spare & 1)) {
		reg = (unsigned)m->spare;
		own = r->step < m->borrow_from || r->step > m->borrow_to;
	} else if (own) {
		for (reg = 0; r->taken >> reg & 1;)
			reg++;
	}
	if (own && observer.vectors)
		vectors_put(&m->e, home, reg);
	else if (own)
		emit_save(&m->e, reg, CTX_KEPT + 8 * home);
	if (own)
		*kept = (int)reg;
	r->taken |= (uint16_t)(1u << reg);
	return reg;
}

void stalereads_give_back(struct maker *m, const struct cold *c)
{
	for (unsigned n = 0; n < 2; n++) {
		if (c->kept[n] != NO_REGISTER && observer.vectors)
			vectors_get(&m->e, n, (unsigned)c->kept[n]);
		else if (c->kept[n] != NO_REGISTER)
			emit_restore(&m->e, (unsigned)c->kept[n], CTX_KEPT + 8 * n);
	}
}

/* Those that the address is made of, and the borrowed one. */
static void spare_address(const struct maker *m, struct stale_read *r)
{
	r->taken |= (uint16_t)(1u << REG_RSP | 1u << m->stamp);
	if (r->at.base != NO_REGISTER)
		r->taken |= (uint16_t)(1u << r->at.base);
	if (r->at.index != NO_REGISTER)
		r->taken |= (uint16_t)(1u << r->at.index);
}

/* What an instruction with a constant does, as its code has it. */
#define WITH_OR 1u
#define WITH_AND 4u
#define WITH_COMPARE 7u

/* One of these, with a register of 32 bits. */
static void emit_with_constant(struct emit *e, unsigned what, unsigned reg, uint32_t value)
{
	bool little = (int32_t)value == (int8_t)value;

	if (reg >= 8)
		emit_byte(e, 0x41);
	emit_byte(e, little ? 0x83 : 0x81);
	emit_byte(e, 0xc0 | what << 3 | (reg & 7));
	emit_bytes(e, &value, little ? 1 : 4);
}

/* A comparison, and the jump to misses.S. */
static void emit_unless(struct maker *m, struct cold *c, unsigned reg, uint32_t value, int condition)
{
	emit_with_constant(&m->e, WITH_COMPARE, reg, value);
	making_jump(m, c, condition);
}

/* Not an address beyond the window. */
static void emit_range(struct maker *m, struct cold *c, const struct address *at, unsigned reg)
{
	load_address(&m->e, reg, at, -(int64_t)PLAN_LOWEST);
	emit_context(&m->e, 0x3b, reg, CTX_SPAN);
	making_jump(m, c, CONDITION_NOT_BELOW);
}

/* One or two words, all of which are read, as far as words go. */
static bool is_whole(const struct stale_read *r)
{
	return r->bytes == 4 || (r->bytes == 8 && r->read == 8);
}

bool stalereads_can_take(const struct stale_read *r)
{
	return (!observer.trms || observer.vectors) && is_whole(r);
}

/* For trms, what words become that were `word`: the stamp, or the one behind it if the last write was, or may be, somebody else's. */
static void make_seen(struct maker *m, const struct stale_read *r, unsigned word, unsigned other)
{
	struct emit *e = &m->e;
	struct address behind = { .base = m->stamp, .index = NO_REGISTER, .displacement = 1 };

	if (!m->checked_writes) {
		if (word >= 8)
			emit_byte(e, 0x41);
		emit_byte(e, 0xf7);                               /* not */
		emit_byte(e, 0xd0 | (word & 7));
		emit_with_constant(e, WITH_AND, word, 1);
		behind = (struct address){ .base = m->stamp, .index = (int)word };
	}
	emit_memory(e, 0x8d, word, (struct operand){ &behind, OPERAND_ITSELF, false }, 0);
	emit_with_constant(e, WITH_OR, word, STAMP_MARKS);
	if (r->bytes == 4)
		return;
	emit_rotate(e, other, word, 32);
	emit_byte(e, 0x48 | (other >> 3) << 2 | word >> 3);       /* or %other, %word */
	emit_byte(e, 0x09);
	emit_byte(e, 0xc0 | (other & 7) << 3 | (word & 7));
}

/* Where the log ends, which is looked at only where the log of some stack may be closed: then `c`. */
static void load_end(struct maker *m, struct cold *c, unsigned end)
{
	if (observer.vectors)
		vectors_log_end(&m->e, end);
	else
		emit_log_end(&m->e, 0x8b, end);
	if (observer.apart && observer.vectors)
		emit_unless(m, c, end, (uint32_t)(CTX_LOG_AT + CTX_LOG_BYTES), CONDITION_NOT_LESS);
	else if (observer.apart)
		emit_unless(m, c, end, CTX_LOG_BYTES, CONDITION_NOT_BELOW);
}

/* What is in `word` becomes the log's last entry, and the cells the top's. If there is no room, the processor says so (faults_log_full). */
static void append(struct maker *m, const struct stale_read *r, struct cold *c, unsigned word, unsigned end)
{
	struct emit *e = &m->e;
	bool wide = r->bytes > 4;
	struct address entry = { .base = (int)end, .index = NO_REGISTER, .displacement = (observer.vectors ? 0 : CTX_LOG_AT) - GS_BIAS };
	struct address behind = { .base = (int)end, .index = NO_REGISTER, .displacement = wide ? 8 : 4 };

	load_end(m, c, end);
	emit_memory(e, 0x89, word, (struct operand){ &entry, OPERAND_SHADOW, wide }, 0);
	if (end == (unsigned)m->stamp)
		emit_restore(e, end, CTX_TOP);
	if (observer.trms)
		make_seen(m, r, word, end);
	emit_memory(e, 0x89, observer.trms ? word : (unsigned)m->stamp, (struct operand){ &r->words, OPERAND_SHADOW, wide }, 0);
	if (observer.trms && wide && end == (unsigned)m->stamp)
		emit_restore(e, end, CTX_TOP);
	if (observer.vectors) {
		vectors_log_more(e, wide ? 2 : 1);
	} else {
		emit_memory(e, 0x8d, end, (struct operand){ &behind, OPERAND_ITSELF, false }, 0);
		emit_log_end(e, 0x89, end);
	}
	stalereads_give_back(m, c);
	c->back = e->at;
}

/* The same where no register is free: by way of the stamp's, which can be had again, and a vector. */
static void append_by_vector(struct maker *m, const struct stale_read *r, struct cold *c)
{
	struct emit *e = &m->e;
	bool wide = r->bytes > 4;
	unsigned reg = (unsigned)m->stamp;

	vectors_put(e, VECTORS_FREE, reg);
	load_end(m, c, reg);
	vectors_log_entry(e, reg, wide);
	emit_restore(e, reg, CTX_TOP);
	if (observer.trms)
		vectors_seen_words(e, reg, &r->words, wide, m->checked_writes);
	else
		emit_memory(e, 0x89, reg, (struct operand){ &r->words, OPERAND_SHADOW, wide }, 0);
	vectors_log_more(e, wide ? 2 : 1);
	c->back = e->at;
}

/* What is in the cold part for a read. */
static struct cold cold_of(const struct stale_read *r)
{
	return (struct cold){
		.kind = COLD_STALE_READ, .at = r->at, .bytes = r->read, .stale = *r, .kept = { NO_REGISTER, NO_REGISTER },
	};
}

static struct cold *add_cold(struct maker *m, const struct cold *c)
{
	struct cold *there = making_cold(m, c->kind);

	*there = *c;
	return there;
}

void stalereads_take(struct maker *m, struct stale_read *r)
{
	struct cold of = cold_of(r), *c = add_cold(m, &of);
	struct emit *e = &m->e;
	bool wide = r->bytes > 4;

	spare_address(m, r);
	bool by_vector = observer.vectors && dead_register(m, r) == NO_REGISTER;
	unsigned word = by_vector ? (unsigned)m->stamp : take_register(m, r, WORD_HOME, &c->kept[WORD_HOME], false);
	unsigned end = by_vector ? word : take_register(m, r, END_HOME, &c->kept[END_HOME], true);

	if (may_be_beyond(r))
		emit_range(m, c, &r->at, word);
	emit_memory(e, 0x8b, word, (struct operand){ &r->words, OPERAND_SHADOW, wide }, 0);
	if (wide) {
		emit_memory(e, 0x3b, word, (struct operand){ &r->words, OPERAND_SHADOW, false }, 4);
		making_jump(m, c, CONDITION_NOT_EQUAL);
	}
	emit_unless(m, c, word, STAMP_LEAST, CONDITION_LESS);
	if (by_vector)
		append_by_vector(m, r, c);
	else
		append(m, r, c, word, end);
}

/* What becomes of a stale word is less than 128 bytes where nothing else is asked, but for two words for trms without a register. */
static bool is_far(const struct stale_read *r, bool by_vector)
{
	return may_be_beyond(r) || observer.apart || !observer.vectors || (by_vector && observer.trms && r->bytes > 4);
}

/* A jump over that. */
static uint8_t *jump_over(struct emit *e, bool far, unsigned condition)
{
	return far ? emit_jump_ahead(e, (int)condition) : emit_short_jump_ahead(e, condition);
}

static void land_over(struct emit *e, bool far, uint8_t *jump)
{
	if (far)
		emit_land(e, jump);
	else
		emit_short_land(e, jump);
}

/* cmp %b, %a, of 32 or 64 bits. */
static void emit_compare(struct emit *e, unsigned a, unsigned b, bool wide)
{
	emit_byte(e, 0x40 | (unsigned)wide << 3 | (b >> 3) << 2 | a >> 3);
	emit_byte(e, 0x39);
	emit_byte(e, 0xc0 | (b & 7) << 3 | (a & 7));
}

/*
 * With a register that nobody needs: the words are loaded once, and two that are alike are compared as one number. Those that are
 * not, or no stamps, are for the cold part, which finds out whether they are stale at all.
 */
static void emit_loaded(struct maker *m, struct stale_read *r, unsigned word)
{
	struct emit *e = &m->e;
	bool wide = r->bytes > 4, far = is_far(r, false);
	struct cold of = cold_of(r), *unlike = add_cold(m, &of), *full = observer.apart ? add_cold(m, &of) : &of;

	r->taken |= (uint16_t)(1u << word);
	int other = wide ? dead_register(m, r) : NO_REGISTER;

	unlike->alike = wide;
	emit_memory(e, 0x8b, word, (struct operand){ &r->words, OPERAND_SHADOW, wide }, 0);
	if (wide && other != NO_REGISTER) {
		emit_rotate(e, (unsigned)other, word, 32);
		emit_compare(e, word, (unsigned)other, true);
		making_jump(m, unlike, CONDITION_NOT_EQUAL);
	} else if (wide) {
		emit_memory(e, 0x3b, word, (struct operand){ &r->words, OPERAND_SHADOW, false }, 4);
		making_jump(m, unlike, CONDITION_NOT_EQUAL);
	}
	emit_compare(e, word, (unsigned)m->stamp, wide);
	uint8_t *fresh = jump_over(e, far, CONDITION_NOT_LESS);

	emit_count_one(&m->e, r->counter);
	emit_unless(m, unlike, word, STAMP_LEAST, CONDITION_LESS);
	unsigned end = take_register(m, r, END_HOME, &full->kept[END_HOME], true);

	append(m, r, full, word, end);
	land_over(e, far, fresh);
	unlike->back = e->at;
}

/*
 * Without a branch: the word becomes an entry of the log, which counts only if it is stale, and the greater of
 * it and the stamp becomes the word.
 */
static void emit_either(struct maker *m, struct stale_read *r)
{
	struct cold of = cold_of(r), *c = add_cold(m, &of);
	struct emit *e = &m->e;
	int dead = r->by_register ? r->words.base : dead_register(m, r);
	unsigned end = dead == NO_REGISTER ? (unsigned)m->stamp : (unsigned)dead;

	emit_touched_test(m, c, &r->words, r->bytes);
	vectors_word(e, &r->words);
	vectors_fresh_word(e, (unsigned)m->stamp, &r->words, observer.trms);
	load_end(m, c, end);
	vectors_log_entry(e, end, false);
	vectors_log_more_if_stale(e);
	if (end == (unsigned)m->stamp)
		emit_restore(e, end, CTX_TOP);
	c->back = e->at;
}

/* For trms there is more to do without a branch: a register that is free is better. Other threads may change a word that is fresh. */
static bool can_be_either(const struct maker *m, const struct stale_read *r, int dead)
{
	return observer.vectors && !observer.apart && r->bytes == 4 && !(observer.trms && (m->checked_writes || dead != NO_REGISTER));
}

void stalereads_emit(struct maker *m, struct stale_read *r)
{
	bool far = is_far(r, true);
	uint8_t *stale = NULL;
	struct emit *e = &m->e;
	int dead = NO_REGISTER;

	spare_address(m, r);
	if (stalereads_can_take(r) || (is_whole(r) && observer.vectors))
		dead = dead_register(m, r);
	if (r->either && can_be_either(m, r, dead)) {
		emit_either(m, r);
		return;
	}
	if (dead != NO_REGISTER) {
		emit_loaded(m, r, (unsigned)dead);
		return;
	}
	if (r->bytes > 4) {
		emit_memory(e, 0x3b, (unsigned)m->stamp, (struct operand){ &r->words, OPERAND_SHADOW, false }, 0);
		stale = emit_short_jump_ahead(e, CONDITION_GREATER);
	}
	emit_memory(e, 0x3b, (unsigned)m->stamp, (struct operand){ &r->words, OPERAND_SHADOW, false }, r->bytes - 4);
	uint8_t *fresh = jump_over(e, far, CONDITION_NOT_GREATER);

	if (stale)
		emit_short_land(e, stale);
	emit_count_one(&m->e, r->counter);
	if (stalereads_can_take(r)) {
		stalereads_take(m, r);
	} else {
		uint8_t *again = r->guessed ? emit_look_again(m, r) : NULL;

		call_for_access(m, &r->at, reads_of(m)[__builtin_ctz(r->read)]);
		if (again)
			emit_land(e, again);
	}
	land_over(e, far, fresh);
}
