/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where indirect jumps go. Compilers make them of a table: of addresses, or of
 * distances from a base, which is mostly the table itself. The place of the
 * jump says which (jumpvalues.c), comparisons say how long it is
 * (jumpbounds.c), and each entry must be a place where an instruction of the
 * function can begin.
 */
#include "sources/translator/flowwork.h"

#define ENTRIES_MAX 65536u
#define ENTRIES_OPEN 4096u       /* of a table without a bound */
#define MERGES_MAX 4u            /* blocks that one jump was moved behind */
#define WAYS_MAX 64u

struct table {
	uint64_t start, base;
	uint64_t entries;            /* 0: not known */
	bool exact;                  /* that many, by a comparison */
	bool has_sign;
	uint8_t bytes, stride;
};

/* ---- entries ---- */

static bool read_entry(struct flow_work *w, const struct table *t, uint64_t number, uint64_t *target)
{
	uint64_t raw = 0;

	if (!w->source->read(w->source->data, t->start + number * t->stride, &raw, t->bytes))
		return false;
	if (t->has_sign && t->bytes == 4)
		raw = (uint64_t)(int32_t)raw;
	if (t->has_sign && t->bytes == 2)
		raw = (uint64_t)(int16_t)raw;
	if (t->has_sign && t->bytes == 1)
		raw = (uint64_t)(int8_t)raw;
	*target = t->base + raw;
	return true;
}

/* Can an instruction of the function begin there? */
static bool is_possible(struct flow_work *w, uint64_t target)
{
	ZydisDecodedInstruction i;
	uint32_t before;

	if (flow_is_start(w, target))
		return true;
	before = flow_instruction_before(w, target);
	if (before != FLOW_NONE && w->instruction[before].pc + w->instruction[before].length > target)
		return false;
	return flow_place_of(w, target) == FLOW_INSIDE && w->source->decode(w->source->data, target, &i, NULL);
}

static bool add_target(struct flow_work *w, struct flow_jump *jump, uint64_t target)
{
	for (uint32_t n = jump->count; n-- > 0;)
		if (w->target[jump->first + n] == target)
			return true;
	if (!FLOW_GROW(w, target, w->targets + 1))
		return false;
	w->target[w->targets++] = target;
	jump->count++;
	return true;
}

/* Another table begins there, as far as is known. */
static bool is_mark(const struct flow_work *w, uint64_t address)
{
	for (size_t n = 0; n < w->marks; n++)
		if (w->mark[n] == address)
			return true;
	return false;
}

static bool read_table(struct flow_work *w, struct flow_jump *jump, const struct table *t)
{
	uint64_t most = t->entries ? t->entries : ENTRIES_OPEN, number, target;
	uint32_t impossible = 0;

	if (most > ENTRIES_MAX)
		most = ENTRIES_OPEN;
	for (number = 0; number < most && !w->failed; number++) {
		if (!t->exact && number && is_mark(w, t->start + number * t->stride))
			break;
		if (!read_entry(w, t, number, &target))
			break;
		if (is_possible(w, target)) {
			add_target(w, jump, target);
			continue;
		}
		if (!t->exact)
			break;
		impossible++;
	}
	if (t->exact)
		return number == most && number > impossible * 2;
	return number >= 2 || (number && t->entries == 1);
}

/* ---- the jump ---- */

/* The table that an instruction reads at a place of its part. */
static bool find_table(struct flow_work *w, uint32_t part, uint32_t load, struct table *t)
{
	struct effect e = effect_of(w, load);
	struct value address = value_address(w, &e, part, load, 0);

	if (address.kind != VALUE_OPAQUE || !address.scale || !address.constant || address.scale < t->bytes)
		return false;
	t->start = address.constant;
	t->stride = address.scale;
	t->entries = bound_of(w, address.reg, address.part, address.at, &t->exact);
	return true;
}

static uint32_t part_of(const struct flow_work *w, uint32_t instruction)
{
	size_t low = 0, high = w->parts;

	while (low + 1 < high) {
		size_t middle = (low + high) / 2;

		if (w->part[middle].first <= instruction)
			low = middle;
		else
			high = middle;
	}
	return (uint32_t)low;
}

static bool resolve_value(struct flow_work *w, struct flow_jump *jump, const struct value *v)
{
	struct table t = { .base = v->constant, .bytes = v->bytes, .has_sign = v->has_sign };

	if (v->kind == VALUE_CONSTANT)
		return is_possible(w, v->constant) && add_target(w, jump, v->constant);
	return v->kind == VALUE_LOADED && find_table(w, part_of(w, v->at), v->at, &t) && read_table(w, jump, &t);
}

/* The register holds the target before an instruction; where ways meet before it is made, each has one of its own. */
static bool resolve_register(struct flow_work *w, struct flow_jump *jump, int reg, uint32_t part, uint32_t at, unsigned merges)
{
	struct value v = value_before(w, reg, part, at, 0);
	const struct flow_part *p = &w->part[part];
	uint32_t ways = p[1].comes_from - p->comes_from;

	if (v.kind != VALUE_OPAQUE)
		return resolve_value(w, jump, &v);
	if (value_definition(w, reg, part, at) != FLOW_NONE || merges == MERGES_MAX || !ways || ways > WAYS_MAX ||
	    w->instruction[p->first].pc == w->entry)
		return false;
	for (uint32_t n = p->comes_from; n < p[1].comes_from; n++) {
		uint32_t from = w->link[w->pred[n]].from;

		if (!resolve_register(w, jump, reg, from, w->part[from].first + w->part[from].count, merges + 1))
			return false;
	}
	return true;
}

bool jumptables_resolve(struct flow_work *w, struct flow_jump *jump)
{
	uint32_t at = flow_instruction_before(w, jump->pc), part = part_of(w, at);
	struct effect e = effect_of(w, at);
	bool good = false;

	jump->first = (uint32_t)w->targets;
	jump->count = 0;
	if (e.kind == EFFECT_LOAD) {
		struct value v = { .kind = VALUE_LOADED, .bytes = 8, .at = at };

		good = resolve_value(w, jump, &v);
	} else if (e.kind == EFFECT_COPY) {
		good = resolve_register(w, jump, e.from, part, at, 0);
	}
	if (!good || w->failed || !jump->count) {
		w->targets = jump->first;
		jump->count = 0;
		return false;
	}
	return true;
}
