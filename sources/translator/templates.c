/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sources/translator/templates.h"

#define SLOTS (1u << TEMPLATES_LOG2)
#define FORM_PREFIXES 0x7fu

/* So many bits at `code`, as a number with or without a sign. */
static uint64_t number_at(const uint8_t *code, unsigned bits, bool is_signed)
{
	int8_t one;
	int16_t two;
	int32_t four;
	uint64_t eight;

	switch (bits) {
	case 8:
		one = (int8_t)*code;
		return is_signed ? (uint64_t)one : (uint8_t)one;
	case 16:
		__builtin_memcpy(&two, code, sizeof two);
		return is_signed ? (uint64_t)two : (uint16_t)two;
	case 32:
		__builtin_memcpy(&four, code, sizeof four);
		return is_signed ? (uint64_t)four : (uint32_t)four;
	default:
		__builtin_memcpy(&eight, code, sizeof eight);
		return eight;
	}
}

static void put_constants(struct template *t, const uint8_t *code)
{
	if (t->i.raw.disp.size) {
		t->i.raw.disp.value = (int64_t)number_at(code + t->i.raw.disp.offset, t->i.raw.disp.size, true);
		if (t->displaced >= 0)
			t->operand[t->displaced].mem.disp.value = t->i.raw.disp.value;
	}
	for (unsigned n = 0; n < 2 && t->i.raw.imm[n].size; n++) {
		t->i.raw.imm[n].value.u = number_at(code + t->i.raw.imm[n].offset, t->i.raw.imm[n].size, t->i.raw.imm[n].is_signed);
		if (t->constant[n] >= 0)
			t->operand[t->constant[n]].imm.value.u = t->i.raw.imm[n].value.u;
	}
}

/* Which operands have constants. False: a constant says something else, as the register of a blend does. */
static bool find_constants(struct template *t)
{
	unsigned constants = 0;

	t->displaced = t->constant[0] = t->constant[1] = -1;
	for (unsigned n = 0; n < t->i.operand_count; n++) {
		const ZydisDecodedOperand *o = &t->operand[n];

		if (o->encoding == ZYDIS_OPERAND_ENCODING_IS4)
			return false;
		if (o->type == ZYDIS_OPERAND_TYPE_MEMORY && o->mem.disp.has_displacement)
			t->displaced = (int8_t)n;
		if (o->type != ZYDIS_OPERAND_TYPE_IMMEDIATE || o->encoding == ZYDIS_OPERAND_ENCODING_NONE)
			continue;
		if (constants == 2 || o->imm.value.u != t->i.raw.imm[constants].value.u)
			return false;
		t->constant[constants++] = (int8_t)n;
	}
	return true;
}

static struct template_slot *slot_of(struct templates *known, uint64_t form)
{
	unsigned n = (unsigned)(form * UINT64_C(0x9e3779b97f4a7c15) >> (64 - TEMPLATES_LOG2));

	while (known->slot[n].form && known->slot[n].form != form)
		n = (n + 1) % SLOTS;
	return &known->slot[n];
}

static void keep(struct templates *known, uint64_t form, const ZydisDecodedInstruction *i)
{
	size_t operands = i->operand_count * sizeof *known->other, bytes = (sizeof(struct template) + operands + 15) & ~(size_t)15;

	if (known->count == SLOTS / 4 * 3 || known->used + bytes > sizeof known->room) {
		__builtin_memset(known->slot, 0, sizeof known->slot);
		known->count = 0;
		known->used = 0;
	}
	struct template *t = (struct template *)(known->room + known->used);

	__builtin_memcpy(&t->i, i, sizeof *i);
	__builtin_memcpy(t->operand, known->other, operands);
	if (!find_constants(t))
		return;
	*slot_of(known, form) = (struct template_slot){ .form = form, .at = (uint32_t)known->used };
	known->used += bytes;
	known->count++;
}

const ZydisDecodedOperand *templates_find(struct templates *known, const void *code, size_t bytes, const struct outline *o,
					  templates_decode *decode, void *data, ZydisDecodedInstruction *i)
{
	/* The decoder also says in which order prefixes come, and some count only as the last one of several. */
	bool plain = o->form && !(o->form & FORM_PREFIXES & ((o->form & FORM_PREFIXES) - 1));
	const struct template_slot *slot = plain ? slot_of(known, o->form) : NULL;

	if (SLOPE_LIKELY(slot && slot->form)) {
		struct template *t = (struct template *)(known->room + slot->at);

		put_constants(t, code);
		__builtin_memcpy(i, &t->i, sizeof *i);
		return t->operand;
	}
	if (!decode(data, code, bytes, i, known->other))
		return NULL;
	if (plain)
		keep(known, o->form, i);
	return known->other;
}
