/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a register holds at a place, found by going back over the code: through
 * the block, the only predecessor, or all of them where there are several. Of
 * those, ways on which nothing is known do not count, since most of them are
 * not taken with a jump ahead; what comes out is only ever used as the address
 * of a table whose entries are looked at.
 */
#include "sources/translator/flowwork.h"

#define DEPTH_MAX 12u
#define SEARCH_MAX 4096u         /* parts that one search looks at */
#define DEFINITIONS_MAX 32u      /* that one search finds */
#define SCRATCHED 0x0fc7u        /* what a call may change: rax, rcx, rdx, rsi, rdi, r8 to r11 */
#define RSP 4
#define RBP 5

/* ---- effects ---- */

static uint16_t written_by(const ZydisDecodedInstruction *i, const ZydisDecodedOperand *operand)
{
	uint16_t writes = i->meta.category == ZYDIS_CATEGORY_CALL ? SCRATCHED : decoder_unlisted(i);

	for (unsigned n = 0; n < i->operand_count; n++) {
		int number;

		if (operand[n].type == ZYDIS_OPERAND_TYPE_REGISTER && operand[n].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE &&
		    (number = decoder_register(operand[n].reg.value)) >= 0)
			writes |= (uint16_t)(1u << number);
	}
	/* The stack pointer comes and goes: slots are named by where it is in most of the function. */
	return writes;
}

static void set_memory(struct effect *e, const ZydisDecodedInstruction *i, const ZydisDecodedOperand *o, uint64_t pc)
{
	e->base = (int8_t)decoder_register(o->mem.base);
	e->index = (int8_t)decoder_register(o->mem.index);
	e->scale = o->mem.scale;
	e->value = o->mem.disp.has_displacement ? o->mem.disp.value : 0;
	if (o->mem.base == ZYDIS_REGISTER_RIP)
		e->value += (int64_t)(pc + i->length);
	if (o->mem.segment == ZYDIS_REGISTER_FS || o->mem.segment == ZYDIS_REGISTER_GS)
		e->kind = EFFECT_OTHER;
}

/* mov, movzx, movsx, movsxd */
static void set_move(struct effect *e, const ZydisDecodedInstruction *i, const ZydisDecodedOperand *o, uint64_t pc)
{
	e->bytes = (uint8_t)(o[1].size / 8);
	e->has_sign = i->mnemonic == ZYDIS_MNEMONIC_MOVSX || i->mnemonic == ZYDIS_MNEMONIC_MOVSXD;
	if (o[0].type == ZYDIS_OPERAND_TYPE_MEMORY && o[1].type == ZYDIS_OPERAND_TYPE_REGISTER) {
		e->kind = EFFECT_STORE;
		e->from = (int8_t)decoder_register(o[1].reg.value);
		set_memory(e, i, &o[0], pc);
	} else if (e->to < 0 || e->width < 4) {
		return;
	} else if (o[1].type == ZYDIS_OPERAND_TYPE_MEMORY) {
		e->kind = EFFECT_LOAD;
		set_memory(e, i, &o[1], pc);
	} else if (o[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
		e->kind = EFFECT_CONSTANT;
		e->value = e->width == 4 ? (int64_t)(uint32_t)o[1].imm.value.u : o[1].imm.value.s;
	} else if (o[1].type == ZYDIS_OPERAND_TYPE_REGISTER && (e->from = (int8_t)decoder_register(o[1].reg.value)) >= 0) {
		e->kind = EFFECT_COPY;
	}
}

static void set_sum(struct effect *e, const ZydisDecodedInstruction *i, const ZydisDecodedOperand *o, uint64_t pc)
{
	bool add = i->mnemonic == ZYDIS_MNEMONIC_ADD;

	if (e->to < 0 || e->width < 4)
		return;
	if (o[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
		e->kind = EFFECT_ADD_CONSTANT;
		e->value = add ? o[1].imm.value.s : -o[1].imm.value.s;
		e->compares = !add;
	} else if (add && o[1].type == ZYDIS_OPERAND_TYPE_REGISTER) {
		e->kind = EFFECT_ADD;
		e->from = (int8_t)decoder_register(o[1].reg.value);
	} else if (add && o[1].type == ZYDIS_OPERAND_TYPE_MEMORY) {
		e->kind = EFFECT_ADD_LOADED;
		e->bytes = (uint8_t)(o[1].size / 8);
		set_memory(e, i, &o[1], pc);
	}
}

static void set_comparison(struct effect *e, const ZydisDecodedInstruction *i, const ZydisDecodedOperand *o, uint64_t pc)
{
	uint64_t mask;

	if (o[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
		return;
	e->bytes = (uint8_t)(o[0].size / 8);
	mask = e->bytes < 8 ? (UINT64_C(1) << e->bytes * 8) - 1 : UINT64_MAX;
	e->constant = (int64_t)(o[1].imm.value.u & mask);
	if (o[0].type == ZYDIS_OPERAND_TYPE_MEMORY) {
		e->kind = EFFECT_COMPARE_LOADED;
		set_memory(e, i, &o[0], pc);
	} else if (e->to >= 0) {
		e->kind = EFFECT_COMPARE;
	}
}

static void set_kind(struct effect *e, const ZydisDecodedInstruction *i, const ZydisDecodedOperand *o, uint64_t pc)
{
	bool constant = o[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && e->to >= 0;

	switch (i->mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
	case ZYDIS_MNEMONIC_MOVZX:
	case ZYDIS_MNEMONIC_MOVSX:
	case ZYDIS_MNEMONIC_MOVSXD:
		set_move(e, i, o, pc);
		return;
	case ZYDIS_MNEMONIC_CDQE:
		*e = (struct effect){
			.writes = e->writes, .kind = EFFECT_COPY, .bytes = 4, .width = 8, .base = -1, .index = -1, .has_sign = true,
		};
		return;
	case ZYDIS_MNEMONIC_LEA:
		e->kind = EFFECT_ADDRESS;
		set_memory(e, i, &o[1], pc);
		return;
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_SUB:
		set_sum(e, i, o, pc);
		return;
	case ZYDIS_MNEMONIC_CMP:
		set_comparison(e, i, o, pc);
		return;
	case ZYDIS_MNEMONIC_SHL:
	case ZYDIS_MNEMONIC_SHR:
	case ZYDIS_MNEMONIC_AND:
		if (!constant)
			return;
		e->kind = i->mnemonic == ZYDIS_MNEMONIC_AND ? EFFECT_AND :
			  i->mnemonic == ZYDIS_MNEMONIC_SHL ? EFFECT_SHIFT_LEFT : EFFECT_SHIFT_RIGHT;
		e->value = o[1].imm.value.s;
		return;
	case ZYDIS_MNEMONIC_XOR:
		if (e->to >= 0 && o[1].type == ZYDIS_OPERAND_TYPE_REGISTER && o[0].reg.value == o[1].reg.value)
			e->kind = EFFECT_CONSTANT;
		return;
	case ZYDIS_MNEMONIC_JMP:
		if (o[0].type == ZYDIS_OPERAND_TYPE_MEMORY) {
			e->kind = EFFECT_LOAD;
			e->bytes = 8;
			set_memory(e, i, &o[0], pc);
		} else if (o[0].type == ZYDIS_OPERAND_TYPE_REGISTER) {
			e->kind = EFFECT_COPY;
			e->from = (int8_t)decoder_register(o[0].reg.value);
		}
		return;
	default:
		return;
	}
}

static struct effect look_at(struct flow_work *w, uint64_t pc)
{
	ZydisDecodedOperand operand[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction i;
	struct effect e = { .writes = UINT16_MAX, .to = -1, .from = -1, .base = -1, .index = -1 };

	if (!w->source->decode(w->source->data, pc, &i, operand))
		return e;
	e.writes = written_by(&i, operand);
	e.sets_flags = i.cpu_flags && (i.cpu_flags->modified | i.cpu_flags->set_0 | i.cpu_flags->set_1 | i.cpu_flags->undefined);
	if (i.operand_count && operand[0].type == ZYDIS_OPERAND_TYPE_REGISTER) {
		e.to = (int8_t)decoder_register(operand[0].reg.value);
		e.width = (uint8_t)(operand[0].size / 8);
	}
	if (i.operand_count)
		set_kind(&e, &i, operand, pc);
	return e;
}

struct effect effect_of(struct flow_work *w, uint32_t instruction)
{
	struct flow_instruction *f = &w->instruction[instruction];

	if (!f->effect) {
		struct effect e = look_at(w, f->pc);

		if (!FLOW_GROW(w, effect, w->effects + 1))
			return e;
		w->effect[w->effects++] = e;
		f->effect = (uint32_t)w->effects;
	}
	return w->effect[f->effect - 1];
}

/* Registers that a part writes. */
static uint16_t writes_of(struct flow_work *w, uint32_t part)
{
	struct flow_part *p = &w->part[part];

	if (!p->looked) {
		for (uint32_t n = 0; n < p->count; n++)
			p->writes |= effect_of(w, p->first + n).writes;
		p->looked = true;
	}
	return p->writes;
}

/* ---- values ---- */

static struct value opaque(int reg, uint32_t part, uint32_t at)
{
	return (struct value){ .kind = VALUE_OPAQUE, .scale = 1, .reg = (int8_t)reg, .part = part, .at = at };
}

static struct value constant(uint64_t number)
{
	return (struct value){ .kind = VALUE_CONSTANT, .constant = number };
}

/* The sum, where it is a constant and one thing more; its scale is 0 otherwise. */
static struct value sum(struct value a, struct value b)
{
	struct value *rest = a.kind == VALUE_CONSTANT ? &b : &a;

	if (a.kind != VALUE_CONSTANT && b.kind != VALUE_CONSTANT)
		return (struct value){ .kind = VALUE_OPAQUE };
	rest->constant = a.constant + b.constant;
	return *rest;
}

static struct value product(struct value a, unsigned scale)
{
	a.constant *= scale;
	a.scale = a.kind == VALUE_OPAQUE ? (uint8_t)(a.scale * scale) : a.scale;
	if (a.kind == VALUE_LOADED && scale != 1)
		return (struct value){ .kind = VALUE_OPAQUE };
	return a;
}

/* The same as part of an address: whatever is neither a constant nor a multiple is just a register's value here. */
static struct value index_value(struct flow_work *w, int reg, uint32_t part, uint32_t at, unsigned depth)
{
	struct value v = value_before(w, reg, part, at, depth);

	return v.kind == VALUE_LOADED || (v.kind == VALUE_OPAQUE && v.scale < 2) ? opaque(reg, part, at) : v;
}

struct value value_address(struct flow_work *w, const struct effect *e, uint32_t part, uint32_t at, unsigned depth)
{
	struct value base = constant(0), index = constant(0);

	if (e->base >= 0)
		base = index_value(w, e->base, part, at, depth + 1);
	if (e->index >= 0)
		index = index_value(w, e->index, part, at, depth + 1);
	/* A table is at the bigger constant; the other one is what is known of an index on some ways. */
	if (e->index >= 0 && index.kind == VALUE_CONSTANT &&
	    (e->scale > 1 || (base.kind == VALUE_CONSTANT && base.constant >= index.constant)))
		index = opaque(e->index, part, at);
	else if (e->base >= 0 && e->index >= 0 && base.kind == VALUE_CONSTANT && index.kind == VALUE_CONSTANT)
		base = opaque(e->base, part, at);
	if (base.kind != VALUE_CONSTANT && index.kind != VALUE_CONSTANT)
		return (struct value){ .kind = VALUE_OPAQUE };
	return sum(sum(base, product(index, e->scale ? e->scale : 1)), constant((uint64_t)e->value));
}

/* lea: also the sum of constants and of what was read. */
static struct value address_sum(struct flow_work *w, const struct effect *e, uint32_t part, uint32_t at, unsigned depth)
{
	struct value v = constant((uint64_t)e->value);

	if (e->index >= 0 && e->scale > 1)
		return value_address(w, e, part, at, depth);
	if (e->base >= 0)
		v = sum(v, value_before(w, e->base, part, at, depth + 1));
	return e->index >= 0 ? sum(v, value_before(w, e->index, part, at, depth + 1)) : v;
}

bool effect_same_operand(const struct effect *a, const struct effect *b)
{
	return a->base == b->base && a->index == b->index && a->value == b->value && (a->index < 0 || a->scale == b->scale);
}

bool effect_is_slot(const struct effect *e)
{
	return (e->base == RSP || e->base == RBP) && e->index < 0 && e->bytes == 8;
}

/* The constants that a word of the stack is set to: one that data is at, if it is the only such one. */
static struct value find_slot(struct flow_work *w, const struct effect *load, unsigned depth)
{
	struct value found = { .kind = VALUE_OPAQUE };
	uint64_t data;

	for (uint32_t p = 0; p < w->parts; p++)
		for (uint32_t n = 0; n < w->part[p].count; n++) {
			uint32_t at = w->part[p].first + n;

			if (!w->instruction[at].stores)
				continue;
			struct effect e = effect_of(w, at);

			if (e.kind != EFFECT_STORE || e.bytes != 8 || !effect_same_operand(&e, load))
				continue;
			struct value v = value_before(w, e.from, p, at, depth + 1);

			if (v.kind != VALUE_CONSTANT || !w->source->read(w->source->data, v.constant, &data, sizeof data))
				continue;
			if (found.kind == VALUE_CONSTANT && v.constant != found.constant)
				return (struct value){ .kind = VALUE_OPAQUE };
			found = v;
		}
	return found;
}

/* What a register had no room for lies on the stack. Interpreters ask again and again for the same. */
static struct value slot_value(struct flow_work *w, const struct effect *load, unsigned depth)
{
	if (!effect_is_slot(load) || depth > DEPTH_MAX)
		return (struct value){ .kind = VALUE_OPAQUE };
	if (w->slot_base != load->base || w->slot_place != load->value || w->slot_instructions != w->instructions) {
		struct value v = find_slot(w, load, depth + 4);

		w->slot_base = load->base;
		w->slot_place = load->value;
		w->slot_instructions = w->instructions;
		w->slot_known = v.kind == VALUE_CONSTANT;
		w->slot = v.constant;
	}
	return w->slot_known ? constant(w->slot) : (struct value){ .kind = VALUE_OPAQUE };
}

static struct value loaded(struct flow_work *w, const struct effect *e, uint32_t at, unsigned depth)
{
	struct value v = slot_value(w, e, depth);

	if (v.kind == VALUE_CONSTANT)
		return v;
	return (struct value){ .kind = VALUE_LOADED, .scale = 1, .has_sign = e->has_sign, .bytes = e->bytes, .at = at };
}

static struct value narrowed(struct value v, const struct effect *e)
{
	uint64_t mask = e->bytes < 8 ? (UINT64_C(1) << e->bytes * 8) - 1 : UINT64_MAX;

	if (v.kind == VALUE_CONSTANT)
		return constant(e->has_sign && e->bytes == 4 ? (uint64_t)(int32_t)v.constant : v.constant & mask);
	if (v.kind == VALUE_LOADED && v.bytes == e->bytes)
		v.has_sign = v.has_sign || e->has_sign;
	return v;
}

/* What the instruction, which writes the register, leaves in it. */
static struct value value_made(struct flow_work *w, int reg, uint32_t part, uint32_t at, unsigned depth)
{
	struct effect e = effect_of(w, at);
	struct value v = { .kind = VALUE_OPAQUE };

	if (e.to != reg || depth > DEPTH_MAX)
		return opaque(reg, part, at + 1);
	switch ((enum effect_kind)e.kind) {
	case EFFECT_CONSTANT:
		return constant((uint64_t)e.value);
	case EFFECT_COPY:
		v = narrowed(value_before(w, e.from, part, at, depth + 1), &e);
		break;
	case EFFECT_ADDRESS:
		v = address_sum(w, &e, part, at, depth + 1);
		break;
	case EFFECT_ADD:
		v = sum(value_before(w, reg, part, at, depth + 1), value_before(w, e.from, part, at, depth + 1));
		break;
	case EFFECT_ADD_CONSTANT:
		v = sum(value_before(w, reg, part, at, depth + 1), constant((uint64_t)e.value));
		break;
	case EFFECT_ADD_LOADED:
		v = sum(value_before(w, reg, part, at, depth + 1), loaded(w, &e, at, depth + 1));
		break;
	case EFFECT_SHIFT_LEFT:
		v = e.value < 5 ? product(value_before(w, reg, part, at, depth + 1), 1u << e.value) : v;
		break;
	case EFFECT_LOAD:
		return loaded(w, &e, at, depth + 1);
	default:
		break;
	}
	return v.kind == VALUE_OPAQUE && !v.scale ? opaque(reg, part, at + 1) : v;
}

uint32_t value_definition(struct flow_work *w, int reg, uint32_t part, uint32_t at)
{
	const struct flow_part *p = &w->part[part];

	if (at == p->first + p->count && !(writes_of(w, part) >> reg & 1))
		return FLOW_NONE;
	while (at > p->first)
		if (effect_of(w, --at).writes >> reg & 1)
			return at;
	return FLOW_NONE;
}

/* An instruction that gives a register its value. */
struct definition {
	uint32_t part, at;
};

/* Those whose value reaches the start of a part; how many of them. */
static unsigned find_definitions(struct flow_work *w, int reg, uint32_t part, struct definition *found)
{
	uint32_t search = ++w->searches;
	size_t count = 0;
	unsigned definitions = 0;

	if (!FLOW_GROW(w, stack, w->parts + 1))
		return 0;
	w->stack[count++] = part;
	for (unsigned looked = 0; count && looked < SEARCH_MAX; looked++) {
		const struct flow_part *p = &w->part[w->stack[--count]];

		for (uint32_t n = p->comes_from; n < p[1].comes_from; n++) {
			uint32_t from = w->link[w->pred[n]].from, at;

			if (w->seen[from] == search)
				continue;
			w->seen[from] = search;
			at = value_definition(w, reg, from, w->part[from].first + w->part[from].count);
			if (at == FLOW_NONE)
				w->stack[count++] = from;
			else if (definitions < DEFINITIONS_MAX)
				found[definitions++] = (struct definition){ from, at };
		}
	}
	return definitions;
}

/* The constant that reaches the start of a part on all ways of which something is known. */
static struct value agreed(struct flow_work *w, int reg, uint32_t part, unsigned depth)
{
	struct definition definition[DEFINITIONS_MAX];
	unsigned count = find_definitions(w, reg, part, definition);
	struct value found = opaque(reg, part, w->part[part].first);

	for (unsigned n = 0; n < count; n++) {
		struct value v = value_made(w, reg, definition[n].part, definition[n].at, depth + 4);

		if (v.kind != VALUE_CONSTANT)
			continue;
		if (found.kind == VALUE_CONSTANT && found.constant != v.constant)
			return opaque(reg, part, w->part[part].first);
		found = v;
	}
	return found;
}

struct value value_before(struct flow_work *w, int reg, uint32_t part, uint32_t at, unsigned depth)
{
	struct value unknown = opaque(reg, part, at);

	if (reg < 0 || depth > DEPTH_MAX || w->failed)
		return unknown;
	for (unsigned steps = 0; steps < 64; steps++) {
		const struct flow_part *p = &w->part[part];
		uint32_t made = value_definition(w, reg, part, at);

		if (made != FLOW_NONE)
			return value_made(w, reg, part, made, depth);
		if (p[1].comes_from - p->comes_from != 1 || w->instruction[p->first].pc == w->entry)
			break;
		part = w->link[w->pred[p->comes_from]].from;
		at = w->part[part].first + w->part[part].count;
	}
	struct value v = agreed(w, reg, part, depth);

	return v.kind == VALUE_CONSTANT ? v : unknown;
}
