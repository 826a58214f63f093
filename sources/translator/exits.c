/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Direct ways out of a block: they go to a site that fetches the next block,
 * and are linked to it by one store. Costs are counted once on the main way,
 * where flags are dead, and on each way out of it by the difference.
 */
#include "sources/translator/making.h"
#include "sources/translator/observing.h"
#include "sources/translator/following.h"
#include "sources/translator/vectors.h"

/* ---- costs ---- */

static void count_unit(struct emit *e, int unit, int32_t add, int scratch)
{
	uint32_t offset = CTX_COST + 8 * (uint32_t)unit;

	if (unit < 0 || !add)
		return;
	if (unit == 0 && observer.vectors) {
		vectors_cost_more(e, add);
		return;
	}
	if (scratch == NO_REGISTER) {
		bool little = add == (int8_t)add;

		emit_bytes(e, little ? "\x65\x48\x83\x04\x25" : "\x65\x48\x81\x04\x25", 5);   /* addq $add, %gs:COST */
		emit_32(e, offset);
		emit_bytes(e, &add, little ? 1 : 4);
		return;
	}
	struct address sum = { .base = scratch, .index = NO_REGISTER, .displacement = add };

	emit_restore(e, (unsigned)scratch, offset);
	emit_address(e, (unsigned)scratch, &sum, 0);
	emit_save(e, (unsigned)scratch, offset);
}

void exits_count(struct maker *m, int32_t instructions, int32_t blocks, bool keep_flags)
{
	int scratch = !keep_flags ? NO_REGISTER : m->stamp != NO_REGISTER ? m->stamp : REG_R11;

	if (!observer.on || (!instructions && !blocks))
		return;
	if (observer.vectors && observer.units == 1)
		keep_flags = false;                               /* they are kept anyway */
	if (keep_flags && m->stamp == NO_REGISTER)
		emit_save(&m->e, REG_R11, CTX_STAMP_HOME);
	count_unit(&m->e, observer.unit_ir, instructions, scratch);
	count_unit(&m->e, observer.unit_bb, blocks, scratch);
	if (keep_flags)
		emit_restore(&m->e, (unsigned)scratch, m->stamp == NO_REGISTER ? CTX_STAMP_HOME : CTX_TOP);
}

void exits_count_apart(struct maker *m, int32_t instructions, int32_t blocks, bool keep_flags)
{
	int stamp = m->stamp;

	m->stamp = NO_REGISTER;
	exits_count(m, instructions, blocks, keep_flags);
	m->stamp = stamp;
}

void exits_give_back(struct maker *m)
{
	if (m->stamp != NO_REGISTER)
		emit_restore(&m->e, (unsigned)m->stamp, CTX_STAMP_HOME);
}

/* ---- sites and exits ---- */

void exits_site(struct maker *m, uint32_t kind, uint64_t target, const struct codecache_branch *branch)
{
	struct site site = { target, kind, branch ? *branch : (struct codecache_branch){ 0 } };

	emit_save(&m->e, REG_RSP, CTX_REG(REG_RSP));
	emit_restore(&m->e, REG_RSP, CTX_HOST_RSP);
	emit_near(&m->e, 0xe8, (uint64_t)slope_gate_leave);
	emit_bytes(&m->e, &site, sizeof site);
}

static void add_exit(struct maker *m, int condition, struct exit exit)
{
	exit.patch = emit_link(&m->e, condition);
	m->exit[m->exits++] = exit;
}

void exits_add(struct maker *m, int condition, uint64_t target)
{
	add_exit(m, condition, (struct exit){ .target = target, .handed = m->stamp });
}

void exits_add_plain(struct maker *m, uint64_t target)
{
	add_exit(m, CONDITION_NONE, (struct exit){ .target = target, .handed = NO_REGISTER });
}

void exits_add_call(struct maker *m, uint64_t target)
{
	add_exit(m, CONDITION_NONE, (struct exit){ .target = target, .handed = m->stamp, .way = CODECACHE_CALL });
}

void exits_add_return(struct maker *m, uint64_t target)
{
	add_exit(m, CONDITION_NONE, (struct exit){ .target = target, .handed = REG_R11, .way = CODECACHE_RETURN });
}

void exits_finish(struct maker *m)
{
	for (unsigned i = 0; i < m->exits; i++) {
		const struct exit *x = &m->exit[i];
		struct codecache_branch branch = {
			.patch = (uint32_t)(uint64_t)x->patch, .way = x->way, .from = codecache_next(&runtime.cache),
		};

		emit_land(&m->e, x->patch);
		if (x->handed != NO_REGISTER) {
			uint8_t *patch;

			emit_restore(&m->e, (unsigned)x->handed, CTX_STAMP_HOME);
			patch = emit_link(&m->e, CONDITION_NONE);
			emit_land(&m->e, patch);
			branch.handed = branch.patch;
			branch.patch = (uint32_t)(uint64_t)patch;
		}
		exits_site(m, SITE_DIRECT, x->target, &branch);
	}
}

void exits_on(struct maker *m, int condition, uint64_t target)
{
	if (target == m->trace.start && !m->trace.alone && !m->facts.entry && !m->facts.doubted)
		emit_back(&m->e, condition, m->start + m->facts.inner);
	else
		exits_add(m, condition, target);
}

struct exit_costs exits_costs(const struct maker *m, unsigned step)
{
	const struct step *s = &m->trace.step[step];
	bool counted = step >= m->counted_at;

	return (struct exit_costs){
		(int32_t)s->instructions - (counted ? m->trace.instructions : 0), (int32_t)s->blocks - (counted ? m->trace.blocks : 0),
	};
}

void exits_branch(struct maker *m, unsigned step)
{
	const struct step *s = &m->trace.step[step];
	struct exit_costs more = exits_costs(m, step);
	int condition = (s->i.opcode & 15) ^ s->taken;
	bool last = step + 1 == m->trace.steps && making_branches_last(m);
	struct cold *c;

	if (observer.paths && (last || !observer.on)) {
		pathcode_branch(m, step, last);
		return;
	}
	/* At the end, where both ways are counted: the target first, which loops most often go to. */
	if (last) {
		exits_on(m, s->i.opcode & 15, making_target(s));
		exits_on(m, CONDITION_NONE, s->next);
		return;
	}
	if (!observer.paths && (!observer.on || (!more.instructions && !more.blocks && !making_is_spared(m, step)))) {
		exits_add(m, condition, s->taken ? s->next : making_target(s));
		return;
	}
	c = making_cold(m, COLD_BRANCH);
	c->step = step;
	making_jump(m, c, condition);
	if (observer.paths)
		pathcode_on(m, s, s->taken ? making_target(s) : s->next);
}
