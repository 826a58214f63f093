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

/* ---- entries ---- */

static bool read_entry(struct flow_work *w, const struct flow_table *t, uint64_t number, uint64_t *target)
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

/* Can an instruction of the function begin there? `outside`: or of another one. */
static bool is_possible(struct flow_work *w, uint64_t target, bool outside)
{
	enum flow_place place;
	struct outline o;
	uint32_t before;

	if (flow_is_start(w, target))
		return true;
	before = flow_instruction_before(w, target);
	if (before != FLOW_NONE && w->instruction[before].pc + w->instruction[before].length > target)
		return false;
	place = flow_place_of(w, target);
	return (place == FLOW_INSIDE || (outside && place != FLOW_NO_CODE)) &&
	       w->source->outline(w->source->data, target, &o);
}

static bool add_target(struct flow_work *w, struct flow_jump *jump, uint64_t target)
{
	for (uint32_t n = jump->count; n-- > 0;)
		if (w->target[jump->first + n] == target)
			return true;
	if (!FLOW_GROW(w, target, w->targets + jump->count + 1))
		return false;
	if (jump->count && jump->first + jump->count != w->targets) {
		/* They are another jump's too (read_before): from here on it has its own. */
		slope_copy(&w->target[w->targets], &w->target[jump->first], jump->count * sizeof *w->target);
		jump->first = (uint32_t)w->targets;
		w->targets += jump->count;
	}
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

/* The dispatches of an interpreter have one table. */
static bool read_before(struct flow_work *w, struct flow_jump *jump, const struct flow_table *t)
{
	for (size_t n = 0; n < w->jumps; n++) {
		const struct flow_jump *j = &w->jump[n];

		if (j->resolved && !j->several && j->table.stride == t->stride && j->table.start == t->start && j->table.base == t->base &&
		    j->table.first == t->first && j->table.entries == t->entries && j->table.exact == t->exact &&
		    j->table.bytes == t->bytes) {
			jump->first = j->first;
			jump->count = j->count;
			jump->table = j->table;
			return true;
		}
	}
	return false;
}

static bool read_table(struct flow_work *w, struct flow_jump *jump, struct flow_table *t)
{
	uint64_t most = t->entries ? t->entries : ENTRIES_OPEN, number, target;
	bool any_inside = false;

	if (most > ENTRIES_MAX)
		most = ENTRIES_OPEN;
	if (!jump->count && read_before(w, jump, t))
		return true;
	for (number = t->first; number < most && !w->failed; number++) {
		if (!t->exact && number && is_mark(w, t->start + number * t->stride))
			break;
		if (!read_entry(w, t, number, &target))
			break;
		/* Parts that were moved away may look like other functions; a comparison's bound is true all the same. */
		if (!is_possible(w, target, t->exact))
			break;
		any_inside = any_inside || flow_place_of(w, target) == FLOW_INSIDE;
		add_target(w, jump, target);
	}
	t->end = t->start + number * t->stride;
	jump->several = jump->table.stride != 0;
	jump->table = *t;
	if (t->exact)
		return number == most && any_inside;
	return number >= 2 || (number && t->entries == 1);
}

/* ---- the jump ---- */

/* The table that an instruction reads at a place of its part. */
static bool find_table(struct flow_work *w, uint32_t part, uint32_t load, struct flow_table *t)
{
	struct effect e = effect_of(w, load);
	struct value address = value_address(w, &e, part, load, 0);

	/* One entry of it, always the same. */
	if (address.kind == VALUE_CONSTANT) {
		*t = (struct flow_table){
			.start = address.constant, .base = t->base, .entries = 1, .exact = true, .has_sign = t->has_sign,
			.bytes = t->bytes, .stride = t->bytes,
		};
		return true;
	}
	if (address.kind != VALUE_OPAQUE || !address.scale || !address.constant || address.scale < t->bytes)
		return false;
	t->start = address.constant;
	t->stride = address.scale;
	t->entries = bound_of(w, address.reg, address.part, address.at, &t->first, &t->exact);
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

static bool resolve_table(struct flow_work *w, struct flow_jump *jump, const struct value *v)
{
	struct flow_table t = { .base = v->constant, .bytes = v->bytes, .has_sign = v->has_sign };
	struct flow_jump before = *jump;
	size_t targets = w->targets;

	if (!find_table(w, part_of(w, v->at), v->at, &t))
		return false;
	if (read_table(w, jump, &t))
		return true;
	if (!t.exact)
		return false;
	/* The comparison was about something else, or something else has come between; what makes sense counts. */
	*jump = before;
	w->targets = targets;
	t.exact = false;
	t.first = 0;
	return read_table(w, jump, &t);
}

static bool resolve_register(struct flow_work *w, struct flow_jump *jump, int reg, uint32_t part, uint32_t at, unsigned merges);

/* The target comes from a word of the stack: whatever is written there, as far as the code is known. */
static bool resolve_slot(struct flow_work *w, struct flow_jump *jump, const struct effect *load, unsigned merges)
{
	bool any = false;

	for (uint32_t p = 0; p < w->parts; p++)
		for (uint32_t at = w->part[p].first; at < w->part[p].first + w->part[p].count; at++) {
			struct effect e = w->instruction[at].stores ? effect_of(w, at) : (struct effect){ 0 };

			if (e.kind != EFFECT_STORE || e.bytes != 8 || !effect_same_operand(&e, load))
				continue;
			if (!resolve_register(w, jump, e.from, p, at, merges + 1))
				return false;
			any = true;
		}
	return any;
}

static bool resolve_value(struct flow_work *w, struct flow_jump *jump, const struct value *v, unsigned merges)
{
	struct effect load;

	if (v->kind == VALUE_CONSTANT)
		return is_possible(w, v->constant, false) && add_target(w, jump, v->constant);
	if (v->kind != VALUE_LOADED)
		return false;
	load = effect_of(w, v->at);
	if (effect_is_slot(&load) && !v->constant)
		return merges < MERGES_MAX && resolve_slot(w, jump, &load, merges);
	return resolve_table(w, jump, v);
}

/* The register holds the target before an instruction; where ways meet before it is made, each has one of its own. */
static bool resolve_register(struct flow_work *w, struct flow_jump *jump, int reg, uint32_t part, uint32_t at, unsigned merges)
{
	struct value v = value_before(w, reg, part, at, 0);
	const struct flow_part *p = &w->part[part];
	uint32_t ways = p[1].comes_from - p->comes_from;

	if (v.kind != VALUE_OPAQUE)
		return resolve_value(w, jump, &v, merges);
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
	uint32_t targets = (uint32_t)w->targets;
	bool good = false;

	jump->first = targets;
	jump->count = 0;
	jump->several = false;
	jump->table = (struct flow_table){ 0 };
	if (e.kind == EFFECT_LOAD) {
		struct value v = { .kind = VALUE_LOADED, .bytes = 8, .at = at };

		good = resolve_value(w, jump, &v, 0);
	} else if (e.kind == EFFECT_COPY) {
		good = resolve_register(w, jump, e.from, part, at, 0);
	}
	if (!good || w->failed || !jump->count) {
		w->targets = targets;
		jump->count = 0;
		return false;
	}
	return true;
}

bool jumptables_overrun(const struct flow_work *w)
{
	for (size_t n = 0; n < w->jumps; n++) {
		const struct flow_jump *j = &w->jump[n];

		for (size_t k = 0; k < w->marks && j->resolved && !j->table.exact; k++)
			if (w->mark[k] > j->table.start && w->mark[k] < j->table.end)
				return true;
	}
	return false;
}
