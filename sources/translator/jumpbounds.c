/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How big a register can be where it is the index of a table: what was
 * compared with it on the way there, by which mask or width it was made. Where
 * several ways meet, the biggest of what is known counts: compilers let ways on
 * which the value is known jump behind the comparison.
 */
#include "sources/translator/flowwork.h"

#define PARTS_MAX 48u            /* that one search looks at */
#define BOUND_MAX 65536
#define ALIAS_MAX 24u            /* instructions before a comparison */

/* What is looked for: a register, or what a memory operand holds; the index is that plus `plus`. */
struct tracked {
	struct effect memory;        /* valid if reg < 0 */
	int reg;
	int64_t plus;
	uint64_t width_bound;        /* by types on the way; 0: none */
	/* A comparison that the way has passed, and what it says: the operand is below `bound`, or not below `floor`; 0: nothing. */
	uint32_t compared;
	uint64_t bound, floor;
};

struct search {
	struct flow_work *w;
	unsigned parts;
	uint64_t least, best;
	bool exact;                  /* best is a comparison's */
};

/* On one way it is not below `least`, and below `bound`. */
static void note(struct search *s, uint64_t least, uint64_t bound, bool exact)
{
	if (!s->best || least < s->least)
		s->least = least;
	if (bound > s->best) {
		s->best = bound;
		s->exact = exact;
	}
}

static void give_up(struct search *s, const struct tracked *t)
{
	if (t->width_bound)
		note(s, 0, t->width_bound, false);
}

/* What an operand is below, when control goes that way behind its comparison with `constant`; 0: nothing. */
static uint64_t bound_by(unsigned condition, bool taken, uint64_t constant)
{
	switch (condition) {
	case 0x7:                /* above */
	case 0xf:                /* greater */
		return taken ? 0 : constant + 1;
	case 0x6:
	case 0xe:
		return taken ? constant + 1 : 0;
	case 0x3:                /* above or equal */
	case 0xd:
		return taken ? 0 : constant;
	case 0x2:
	case 0xc:
		return taken ? constant : 0;
	default:
		return 0;
	}
}

/* What it is not below. */
static uint64_t floor_by(unsigned condition, bool taken, uint64_t constant)
{
	return (condition == 0x2 && !taken) || (condition == 0x3 && taken) ? constant : 0;
}

/* Notes what the branch at the end of a part says, for the way along a link. */
static void pass_branch(struct flow_work *w, const struct flow_link *l, struct tracked *t)
{
	const struct flow_part *p = &w->part[l->from];
	uint32_t last = p->first + p->count - 1;
	const struct flow_link *first = &w->link[p->edges];

	t->compared = FLOW_NONE;
	if (w->instruction[last].kind != FLOW_BRANCH || p[1].edges - p->edges != 2 || first[0].to == first[1].to)
		return;
	for (uint32_t at = last; at > p->first;) {
		struct effect e = effect_of(w, --at);
		unsigned condition = w->instruction[last].condition;

		if (e.kind == EFFECT_COMPARE || e.kind == EFFECT_COMPARE_LOADED || e.compares) {
			uint64_t constant = (uint64_t)(e.compares ? -e.value : e.constant);

			t->compared = at;
			t->bound = bound_by(condition, l->way == SLOPE_WAY_TAKEN, constant);
			t->floor = floor_by(condition, l->way == SLOPE_WAY_TAKEN, constant);
			return;
		}
		if (e.sets_flags)
			return;
	}
}

/* One instruction back; over the start of a part to its only predecessor. False: there is none. */
static bool go_back(const struct flow_work *w, uint32_t *part, uint32_t *at)
{
	while (*at == w->part[*part].first) {
		const struct flow_part *p = &w->part[*part];

		if (p[1].comes_from - p->comes_from != 1 || w->instruction[p->first].pc == w->entry)
			return false;
		*part = w->link[w->pred[p->comes_from]].from;
		*at = w->part[*part].first + w->part[*part].count;
	}
	--*at;
	return true;
}

/* The compared register is another than the tracked one: is it that plus something, or the other way round? */
static bool is_alias(struct flow_work *w, const struct tracked *t, int other, uint32_t part, uint32_t at, int64_t *plus)
{
	for (unsigned n = 0; n < ALIAS_MAX && go_back(w, &part, &at); n++) {
		struct effect e = effect_of(w, at);
		int source = e.kind == EFFECT_COPY ? e.from : e.kind == EFFECT_ADDRESS && e.index < 0 ? e.base : -1;
		int64_t by = e.kind == EFFECT_ADDRESS ? e.value : 0;

		if (e.to == other && source == t->reg && !(e.writes >> t->reg & 1)) {
			*plus = -by;
			return true;
		}
		if (e.to == t->reg && source == other && !(e.writes >> other & 1)) {
			*plus = by;
			return true;
		}
		if ((e.writes >> other | e.writes >> t->reg) & 1)
			return false;
	}
	return false;
}

/* Does the tracked memory hold what the compared register does, plus something? */
static bool is_stored(struct flow_work *w, const struct tracked *t, int reg, uint32_t part, uint32_t at, int64_t *plus)
{
	for (unsigned n = 0; n < ALIAS_MAX && go_back(w, &part, &at); n++) {
		struct effect e = effect_of(w, at);

		if (e.kind == EFFECT_STORE && effect_same_operand(&e, &t->memory)) {
			struct tracked stored = { .reg = e.from };

			*plus = 0;
			return e.from == reg || is_alias(w, &stored, reg, part, at, plus);
		}
		if (e.kind == EFFECT_LOAD && e.to == reg && effect_same_operand(&e, &t->memory))
			return true;
		if (e.writes >> reg & 1)
			return false;
	}
	return false;
}

/* The comparison is reached: does it speak of what is tracked? */
static bool compares(struct search *s, const struct tracked *t, uint32_t part, uint32_t at)
{
	struct effect e = effect_of(s->w, at);
	int64_t plus = 0;

	if (t->bound == 0 && t->floor == 0)
		return false;
	if (e.kind == EFFECT_COMPARE_LOADED) {
		if (t->reg >= 0 || !effect_same_operand(&e, &t->memory))
			return false;
	} else if (t->reg < 0) {
		if (!is_stored(s->w, t, e.to, part, at, &plus))
			return false;
	} else if (e.to != t->reg && !is_alias(s->w, t, e.to, part, at, &plus)) {
		return false;
	}
	int64_t bound = (int64_t)t->bound + plus + t->plus;

	/* Not below a number that goes to zero with what is added: there are as many as are left up to the end. */
	if (!t->bound)
		bound = e.bytes == 4 && (uint32_t)(t->floor + (uint64_t)(plus + t->plus)) == 0 ? (uint32_t)-t->floor : 0;
	if (bound <= 0 || bound > BOUND_MAX)
		return false;
	bool narrower = t->width_bound && t->width_bound < (uint64_t)bound;

	/* What was compared is not negative. */
	note(s, !narrower && plus + t->plus > 0 && t->bound ? (uint64_t)(plus + t->plus) : 0,
	     narrower ? t->width_bound : (uint64_t)bound, !narrower);
	return true;
}

static void limit(struct tracked *t, uint64_t bound)
{
	if (!t->width_bound || bound < t->width_bound)
		t->width_bound = bound;
}

static void limit_bits(struct tracked *t, unsigned bits)
{
	if (bits <= 16 && !t->plus)
		limit(t, UINT64_C(1) << bits);
}

/* The instruction writes the tracked register: on with what it is made of. False: that is the end. */
static bool made_of(struct search *s, struct tracked *t, const struct effect *e)
{
	if (e->to != t->reg)
		return false;
	switch ((enum effect_kind)e->kind) {
	case EFFECT_CONSTANT:
		if (e->value + t->plus >= 0 && e->value + t->plus < BOUND_MAX)
			note(s, (uint64_t)(e->value + t->plus), (uint64_t)(e->value + t->plus) + 1, false);
		t->width_bound = 0;
		return false;
	case EFFECT_COPY:
		if (!e->has_sign)
			limit_bits(t, e->bytes * 8u);
		t->reg = e->from;
		return true;
	case EFFECT_AND:
		if (e->value >= 0 && !t->plus)
			limit(t, (uint64_t)e->value + 1);
		return true;
	case EFFECT_SHIFT_RIGHT:
		if (e->value < e->width * 8)
			limit_bits(t, e->width * 8u - (unsigned)e->value);
		return false;
	case EFFECT_ADD_CONSTANT:
		t->plus += e->value;
		return true;
	case EFFECT_ADDRESS:
		if (e->index >= 0 || e->base < 0)
			return false;
		t->plus += e->value;
		t->reg = e->base;
		return true;
	case EFFECT_LOAD:
		if (!e->has_sign)
			limit_bits(t, e->bytes * 8u);
		t->memory = *e;
		t->reg = -1;
		return true;
	default:
		return false;
	}
}

/* One instruction back. False: that is the end. */
static bool step_back(struct search *s, struct tracked *t, uint32_t part, uint32_t at)
{
	struct effect e = effect_of(s->w, at);

	/* What a subtraction compares is what was there before. */
	if (at == t->compared && e.compares && t->reg == e.to)
		t->plus += e.value;
	if (at == t->compared && compares(s, t, part, at)) {
		t->width_bound = 0;
		return false;
	}
	if (at == t->compared && e.compares && t->reg == e.to)
		return true;
	if (t->reg >= 0)
		return !(e.writes >> t->reg & 1) || made_of(s, t, &e);
	if (e.kind == EFFECT_STORE && effect_same_operand(&e, &t->memory)) {
		t->reg = e.from;
		return true;
	}
	return !(t->memory.base >= 0 && e.writes >> t->memory.base & 1) && !(t->memory.index >= 0 && e.writes >> t->memory.index & 1);
}

/* All ways back from an instruction of a part. */
static void search_back(struct search *s, struct tracked t, uint32_t part, uint32_t at)
{
	const struct flow_part *p = &s->w->part[part];

	while (at > p->first)
		if (!step_back(s, &t, part, --at)) {
			give_up(s, &t);
			return;
		}
	if (p->comes_from == p[1].comes_from || s->parts >= PARTS_MAX)
		give_up(s, &t);
	for (uint32_t n = p->comes_from; n < p[1].comes_from && s->parts < PARTS_MAX; n++) {
		const struct flow_link *l = &s->w->link[s->w->pred[n]];
		struct tracked before = t;

		s->parts++;
		pass_branch(s->w, l, &before);
		search_back(s, before, l->from, s->w->part[l->from].first + s->w->part[l->from].count);
	}
}

uint64_t bound_of(struct flow_work *w, int reg, uint32_t part, uint32_t at, uint64_t *least, bool *exact)
{
	struct search s = { .w = w };
	struct tracked t = { .reg = reg, .compared = FLOW_NONE };

	search_back(&s, t, part, at);
	*exact = s.exact;
	*least = s.exact ? s.least : 0;
	return s.best;
}
