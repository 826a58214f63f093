/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What becomes of an access that its check has not let pass. A read goes to
 * misses.S, as does a write that others may have seen; other writes are stored
 * here. Apart from the block, since most come here rarely.
 */
#include "sources/translator/checkparts.h"

/* A register that the piece may use: one that is dead, or one that is saved first. Never the address's. */
static unsigned take_scratch(struct maker *m, const struct cold *c, uint16_t *taken)
{
	uint16_t no = *taken | 1u << REG_RSP | (uint16_t)(1u << m->stamp);
	unsigned reg = 0;

	if (c->at.base != NO_REGISTER)
		no |= (uint16_t)(1u << c->at.base);
	if (c->at.index != NO_REGISTER)
		no |= (uint16_t)(1u << c->at.index);
	while (reg < REGISTERS && (no | c->live) >> reg & 1)
		reg++;
	if (reg == REGISTERS) {
		for (reg = 0; no >> reg & 1;)
			reg++;
		emit_save(&m->e, reg, CTX_REG(reg));
	}
	*taken |= (uint16_t)(1u << reg);
	return reg;
}

/* Those that were saved come back. */
static void give_scratch(struct maker *m, const struct cold *c, uint16_t taken)
{
	for (unsigned reg = 0; reg < REGISTERS; reg++)
		if (taken & c->live & 1u << reg)
			emit_restore(&m->e, reg, CTX_REG(reg));
}

/* A routine of misses.S with the address in rax and the number of bytes in ecx. */
static void call_routine(struct maker *m, const struct cold *c, void (*routine)(void))
{
	struct emit *e = &m->e;

	emit_save(e, REG_RAX, CTX_REG(REG_RAX));
	load_address(e, REG_RAX, &c->at, 0);
	emit_save(e, REG_RCX, CTX_REG(REG_RCX));
	emit_constant(e, REG_RCX, c->bytes);
	emit_save(e, REG_RSP, CTX_REG(REG_RSP));
	emit_restore(e, REG_RSP, CTX_HOST_RSP);
	emit_near(e, 0xe8, (uint64_t)routine);
	emit_restore(e, REG_RSP, CTX_REG(REG_RSP));
	emit_restore(e, REG_RCX, CTX_REG(REG_RCX));
	emit_restore(e, REG_RAX, CTX_REG(REG_RAX));
}

/* Then that's all: the routine for this many bytes, if there is one. */
static void call_and_go_back(struct maker *m, const struct cold *c, const gate_routine *routine, void (*any)(void))
{
	/* A stack that such code runs on may end right below the stack pointer (Erlang). */
	if (m->trace.doubt || c->bytes & (c->bytes - 1) || c->bytes > 8)
		call_routine(m, c, any);
	else
		call_for_access(m, &c->at, routine[__builtin_ctz(c->bytes)]);
	emit_near(&m->e, 0xe9, (uint64_t)c->back);
}

/* Back if a cell that was guessed is another, and fresh. */
static void look_again(struct maker *m, const struct cold *c)
{
	uint8_t *fresh = emit_look_again(m, &c->stale);
	uint32_t distance = (uint32_t)(c->back - (fresh + 4));

	slope_copy(fresh, &distance, 4);
}

/* Two words that were compared as one: back if neither is stale. */
static void compare_both(struct maker *m, const struct cold *c)
{
	const struct address *words = &c->stale.words;

	emit_memory(&m->e, 0x3b, (unsigned)m->stamp, (struct operand){ words, OPERAND_SHADOW, false }, 0);
	uint8_t *stale = emit_short_jump_ahead(&m->e, CONDITION_GREATER);

	emit_memory(&m->e, 0x3b, (unsigned)m->stamp, (struct operand){ words, OPERAND_SHADOW, false }, 4);
	emit_back(&m->e, CONDITION_NOT_GREATER, c->back);
	emit_short_land(&m->e, stale);
}

static void cold_read(struct maker *m, struct cold *c)
{
	if (c->alike)
		compare_both(m, c);
	emit_count_one(&m->e, c->stale.counter);
	if (stalereads_can_take(&c->stale)) {
		stalereads_take(m, &c->stale);
		emit_near(&m->e, 0xe9, (uint64_t)c->back);
		return;
	}
	if (c->stale.guessed)
		look_again(m, c);
	call_and_go_back(m, c, reads_of(m), observer.trms ? slope_gate_read_any_kept : slope_gate_read_any);
}

/* Words that begin with the first byte and end with the last, where the address is a multiple of 4: by the operand itself. */
static uint8_t *store_words(struct maker *m, const struct cold *c, unsigned first, uint16_t taken)
{
	struct emit *e = &m->e;
	uint8_t *odd;

	if (c->bytes % 4 || c->at.in_fs || c->far)
		return NULL;
	emit_byte(e, 0x40 | first >> 3);                          /* test $3, %first */
	emit_byte(e, 0xf6);
	emit_byte(e, 0xc0 | (first & 7));
	emit_byte(e, 3);
	odd = emit_jump_ahead(e, CONDITION_NOT_EQUAL);
	emit_stamps(m, &c->at, c->bytes, 0);
	give_scratch(m, c, taken);
	emit_near(e, 0xe9, (uint64_t)c->back);
	return odd;
}

/*
 * In the window, and above what no program has: then the words are stored here, from that of the first
 * byte to that of the last, which is one more at an odd address.
 */
static void cold_write(struct maker *m, const struct cold *c)
{
	uint16_t taken = 0;
	struct emit *e = &m->e;
	uint8_t *far, *odd;

	emit_count_one(&m->e, c->stale.counter);
	if (m->checked_writes) {
		call_and_go_back(m, c, slope_gate_writes[m->stamp], slope_gate_write_any);
		return;
	}
	unsigned first = take_scratch(m, c, &taken);
	uint16_t only_first = taken;
	struct address word = { .base = (int)first, .index = NO_REGISTER, .displacement = PLAN_LOWEST };
	struct address end = { .base = (int)first, .index = NO_REGISTER, .displacement = c->bytes - 1 };

	load_address(e, first, &c->at, -(int64_t)PLAN_LOWEST);
	emit_context(e, 0x3b, first, CTX_SPAN);                   /* cmp */
	far = emit_jump_ahead(e, CONDITION_NOT_BELOW);
	odd = store_words(m, c, first, taken);
	if (odd)
		emit_land(e, odd);
	unsigned last = first;

	if (c->bytes > 1) {
		last = take_scratch(m, c, &taken);
		emit_address(e, last, &end, 0);
		and_constant(e, last, 0xfc);
	}
	and_constant(e, first, 0xfc);
	emit_stamps(m, &word, c->bytes < 4 ? 4 : c->bytes, 0);
	if (c->bytes > 1) {
		word.base = (int)last;
		emit_stamps(m, &word, 4, 0);
	}
	give_scratch(m, c, taken);
	emit_near(e, 0xe9, (uint64_t)c->back);
	emit_land(e, far);
	give_scratch(m, c, only_first);
	call_routine(m, c, slope_gate_write_any);
	emit_near(e, 0xe9, (uint64_t)c->back);
}

void checks_cold(struct maker *m, struct cold *c)
{
	const struct step *s = &m->trace.step[c->step];

	making_land(m, c);
	if (c->kind == COLD_READ) {
		cold_read(m, c);
	} else if (c->kind == COLD_STALE_READ) {
		if (c->alike)
			compare_both(m, c);
		stalereads_give_back(m, c);
		if (c->stale.guessed)
			look_again(m, c);
		call_and_go_back(m, c, reads_of(m), slope_gate_read_any);
	} else if (c->kind == COLD_WRITE) {
		cold_write(m, c);
	} else if (c->kind == COLD_COUNTED) {
		emit_save(&m->e, REG_RAX, CTX_REG(REG_RAX));
		emit_constant(&m->e, REG_RAX, (uint64_t)m->counted);
		emit_near(&m->e, 0xe9, (uint64_t)slope_gate_counted);
	} else {
		/* The block that comes instead begins with this step, and counts it as a block. */
		int32_t before = c->step ? (int32_t)s[-1].instructions : 0, all = c->step >= m->counted_at;

		if (c->keep_flags)
			bring_flags(&m->e);
		exits_count(m, before - (all ? m->trace.instructions : 0),
				(int32_t)s->blocks - 1 - (all ? m->trace.blocks : 0), true);
		if (c->borrowed)
			emit_restore(&m->e, (unsigned)m->spare, CTX_SPARE_HOME);
		exits_give_back(m);
		exits_site(m, SITE_ODD_STACK, s->pc, NULL);
	}
}
