/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which indirect jumps leave the function: those where the stack is as it was
 * at the entry, nothing of the function's own being left on it. That is looked
 * at along one way from the entry, a shortest one; code of compilers has the
 * same stack on all. A function that keeps nothing on the stack and goes from
 * one place of its own to the next by pointers alone would be wrong here.
 */
#include "sources/translator/flowwork.h"

#define RSP 4
#define RBP 5
#define NO_PARENT UINT32_MAX

/* Where pointers into the stack stand, from the entry's stack pointer on. */
struct stack {
	int64_t sp, bp;
	bool sp_known, bp_known;
};

static bool is_register(const ZydisDecodedOperand *o, int reg)
{
	return o->type == ZYDIS_OPERAND_TYPE_REGISTER && decoder_register(o->reg.value) == reg;
}

/* An address that is a constant away from one of the two. */
static bool find_address(const struct stack *s, const ZydisDecodedOperand *o, int64_t *to)
{
	int base = decoder_register(o->mem.base);

	if (o->mem.index != ZYDIS_REGISTER_NONE || !((base == RSP && s->sp_known) || (base == RBP && s->bp_known)))
		return false;
	*to = (base == RSP ? s->sp : s->bp) + (o->mem.disp.has_displacement ? o->mem.disp.value : 0);
	return true;
}

static void pop_to(struct stack *s, const ZydisDecodedOperand *o)
{
	s->sp += 8;
	if (is_register(o, RBP))
		s->bp_known = false;
	if (is_register(o, RSP))
		s->sp_known = false;
}

/* An instruction that writes one of the two registers. */
static void move(struct stack *s, const ZydisDecodedInstruction *i, const ZydisDecodedOperand *o)
{
	bool to_sp = is_register(&o[0], RSP), to_bp = is_register(&o[0], RBP), known = false;
	int64_t to = 0;

	if (!(to_sp || to_bp) || !(o[0].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
		return;
	if (i->mnemonic == ZYDIS_MNEMONIC_LEA) {
		known = find_address(s, &o[1], &to);
	} else if (i->mnemonic == ZYDIS_MNEMONIC_MOV && is_register(&o[1], to_sp ? RBP : RSP)) {
		known = to_sp ? s->bp_known : s->sp_known;
		to = to_sp ? s->bp : s->sp;
	} else if ((i->mnemonic == ZYDIS_MNEMONIC_ADD || i->mnemonic == ZYDIS_MNEMONIC_SUB) && o[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
		known = to_sp ? s->sp_known : s->bp_known;
		to = (to_sp ? s->sp : s->bp) + (i->mnemonic == ZYDIS_MNEMONIC_ADD ? o[1].imm.value.s : -o[1].imm.value.s);
	}
	*(to_sp ? &s->sp : &s->bp) = to;
	*(to_sp ? &s->sp_known : &s->bp_known) = known;
}

static void pass(struct stack *s, const ZydisDecodedInstruction *i, const ZydisDecodedOperand *o)
{
	switch (i->mnemonic) {
	case ZYDIS_MNEMONIC_PUSH:
	case ZYDIS_MNEMONIC_PUSHFQ:
		s->sp -= 8;
		return;
	case ZYDIS_MNEMONIC_POP:
	case ZYDIS_MNEMONIC_POPFQ:
		pop_to(s, &o[0]);
		return;
	case ZYDIS_MNEMONIC_LEAVE:
		s->sp = s->bp + 8;
		s->sp_known = s->bp_known;
		s->bp_known = false;
		return;
	default:
		if (i->operand_count_visible)
			move(s, i, o);
		return;
	}
}

static bool pass_part(struct flow_work *w, uint32_t part, struct stack *s)
{
	ZydisDecodedOperand operand[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction i;

	for (uint32_t n = 0; n < w->part[part].count; n++) {
		if (!w->source->decode(w->source->data, w->instruction[w->part[part].first + n].pc, &i, operand))
			return false;
		pass(s, &i, operand);
	}
	return true;
}

/* A shortest way from the entry to each part: where it comes from. */
static void find_ways(struct flow_work *w, uint32_t entry, uint32_t *parent, uint32_t *queue)
{
	size_t head = 0, tail = 0;

	for (size_t n = 0; n < w->parts; n++)
		parent[n] = NO_PARENT;
	parent[entry] = entry;
	for (queue[tail++] = entry; head < tail; head++)
		for (uint32_t n = w->part[queue[head]].edges; n < w->part[queue[head] + 1].edges; n++) {
			uint32_t to = w->link[n].to;

			if (to == SLOPE_PATH_OUT || parent[to] != NO_PARENT)
				continue;
			parent[to] = queue[head];
			queue[tail++] = to;
		}
}

/* Follows the way to the part; `way` has room for it. */
static bool leaves_at(struct flow_work *w, uint32_t part, uint32_t entry, const uint32_t *parent, uint32_t *way)
{
	struct stack s = { .sp_known = true };
	size_t length = 0;

	if (parent[part] == NO_PARENT)
		return false;
	for (way[length++] = part; part != entry; way[length++] = part)
		part = parent[part];
	while (length--)
		if (!pass_part(w, way[length], &s))
			return false;
	return s.sp_known && s.sp == 0;
}

bool flowstack_find_tails(struct flow_work *w)
{
	uint32_t *parent = slope_arena_alloc(w->arena, w->parts * sizeof *parent);
	uint32_t *way = slope_arena_alloc(w->arena, w->parts * sizeof *way), entry = flow_part_at(w, w->entry);

	w->failed = !parent || !way;
	if (!w->failed)
		find_ways(w, entry, parent, way);
	for (uint32_t n = 0; n < w->parts && !w->failed; n++) {
		const struct flow_instruction *last = &w->instruction[w->part[n].first + w->part[n].count - 1];

		if (last->kind != FLOW_JUMP_INDIRECT || w->jump[last->jump].resolved || !leaves_at(w, n, entry, parent, way))
			continue;
		w->jump[last->jump].leaves = true;
		w->link[w->part[n].edges].way = SLOPE_WAY_TAIL;
	}
	slope_arena_free(w->arena, parent, w->parts * sizeof *parent);
	slope_arena_free(w->arena, way, w->parts * sizeof *way);
	return !w->failed;
}
