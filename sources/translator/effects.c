/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What instructions use and overwrite, and so what the code at an address may want from before. */
#include "sources/translator/trace.h"

#include <linux/mman.h>

#include "sources/translator/outline.h"
#include "sources/translator/runtime.h"
#include "sources/translator/templates.h"

#define LOOK_AHEAD 10u
#define FUNCTION_AHEAD 100u
#define KNOWN 8192u
#define FORMS_LOG2 11u
#define LOOKS 4096u

/* Where the look ahead goes on. */
enum way_on {
	WAY_NEXT,
	WAY_JUMPS,                   /* to `target` */
	WAY_CALL_OR_RETURN,
	WAY_OPEN,                    /* nothing is known of what comes behind it */
	WAY_NOT_KNOWN,               /* is it an instruction at all? */
};

struct effect {
	uint64_t pc;
	uint64_t changes;            /* of the program's regions, when it was found */
	uint64_t target;
	uint16_t uses, kills, flag_uses, flag_kills;
	uint8_t length;
	uint8_t way;                 /* enum way_on */
};

/* What all instructions of a form do (outline.h). */
struct form {
	uint64_t form;
	uint16_t uses, kills, flag_uses, flag_kills;
};

/* What the code at pc wants; all that was looked at lies in its page, and does not change. */
struct look {
	uint64_t pc;
	uint64_t changes;            /* of the program's regions, and whether flags cross calls */
	struct wanted wanted;
};

/* With the lock held. */
static struct {
	struct look look[LOOKS];
	struct effect effect[KNOWN]; /* of code that nobody may write */
	struct form form[1u << FORMS_LOG2][2];
	struct outlines outlines;
	struct templates templates;
} known;

static bool decode(void *data, const void *code, size_t bytes, ZydisDecodedInstruction *i)
{
	(void)data;
	return decoder_decode(&runtime.decoder, code, bytes, i);
}

bool effects_outline(const void *code, size_t bytes, struct outline *o)
{
	return outline_find(&known.outlines, code, bytes, decode, NULL, o);
}

/* ---- flags ---- */

static bool shifts(const ZydisDecodedInstruction *i)
{
	switch (i->mnemonic) {
	case ZYDIS_MNEMONIC_SHL:
	case ZYDIS_MNEMONIC_SHR:
	case ZYDIS_MNEMONIC_SAR:
	case ZYDIS_MNEMONIC_SALC:
	case ZYDIS_MNEMONIC_ROL:
	case ZYDIS_MNEMONIC_ROR:
	case ZYDIS_MNEMONIC_RCL:
	case ZYDIS_MNEMONIC_RCR:
	case ZYDIS_MNEMONIC_SHLD:
	case ZYDIS_MNEMONIC_SHRD:
		return true;
	default:
		return false;
	}
}

/* Can the count be zero? Then the flags stay as they are. */
static bool may_shift_by_zero(const ZydisDecodedInstruction *i)
{
	if (!shifts(i))
		return false;
	if (i->raw.imm[0].size)
		return !(i->raw.imm[0].value.u & (i->operand_width == 64 ? 63u : 31u));
	return i->opcode != 0xd0 && i->opcode != 0xd1;
}

bool effects_is_repeated(const ZydisDecodedInstruction *i)
{
	return i->attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE);
}

void effects_flags(const ZydisDecodedInstruction *i, uint16_t *uses, uint16_t *kills)
{
	const ZydisAccessedFlags *f = i->cpu_flags;

	*uses = *kills = 0;
	switch (i->mnemonic) {
	case ZYDIS_MNEMONIC_PUSHF:
	case ZYDIS_MNEMONIC_PUSHFD:
	case ZYDIS_MNEMONIC_PUSHFQ:
	case ZYDIS_MNEMONIC_LAHF:
	case ZYDIS_MNEMONIC_SYSCALL:             /* leaves them in r11 */
		*uses = ARITHMETIC_FLAGS;
		return;
	default:
		break;
	}
	if (!f)
		return;
	*uses = (uint16_t)(f->tested & ARITHMETIC_FLAGS);
	if (!may_shift_by_zero(i) && !effects_is_repeated(i))
		*kills = (uint16_t)((f->modified | f->set_0 | f->set_1 | f->undefined) & ARITHMETIC_FLAGS);
}

/* ---- registers ---- */

/* May its result stay what it was? Of zero no bit is found, and without a shadow stack there is no pointer to it. */
static bool may_leave_result(const ZydisDecodedInstruction *i)
{
	switch (i->mnemonic) {
	case ZYDIS_MNEMONIC_BSF:
	case ZYDIS_MNEMONIC_BSR:
	case ZYDIS_MNEMONIC_RDSSPD:
	case ZYDIS_MNEMONIC_RDSSPQ:
		return true;
	default:
		return false;
	}
}

void effects_registers(const ZydisDecodedInstruction *i, const ZydisDecodedOperand *operand, uint16_t *uses, uint16_t *kills)
{
	*uses = 0;
	*kills = decoder_unlisted(i);
	for (unsigned n = 0; n < i->operand_count; n++) {
		const ZydisDecodedOperand *o = &operand[n];
		int number;

		if (o->type == ZYDIS_OPERAND_TYPE_MEMORY) {
			if ((number = accesses_register(o->mem.base)) >= 0)
				*uses |= (uint16_t)(1u << number);
			if ((number = accesses_register(o->mem.index)) >= 0)
				*uses |= (uint16_t)(1u << number);
		}
		if (o->type != ZYDIS_OPERAND_TYPE_REGISTER || (number = accesses_register(o->reg.value)) < 0)
			continue;
		if (o->actions & ZYDIS_OPERAND_ACTION_MASK_READ || o->actions & ZYDIS_OPERAND_ACTION_CONDWRITE || o->size < 32)
			*uses |= (uint16_t)(1u << number);
		if (o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
			*kills |= (uint16_t)(1u << number);
	}
	if (may_leave_result(i))
		*uses |= *kills;
}

/* ---- code that may be looked at ---- */

size_t effects_readable(uint64_t pc)
{
	struct space_region *region = space_at(&runtime.space, pc);
	size_t bytes;

	if (!region || !(region->prot & PROT_EXEC))
		return 0;
	bytes = region->end - pc;
	if (bytes < TRACE_INSTRUCTION_BYTES && space_allows(&runtime.space, region->end, 1, PROT_READ | PROT_EXEC))
		bytes = TRACE_INSTRUCTION_BYTES;
	bytes = bytes < TRACE_INSTRUCTION_BYTES ? bytes : TRACE_INSTRUCTION_BYTES;
	dispatch_depends_on(pc);
	if ((pc ^ (pc + bytes - 1)) / SLOPE_PAGE_BYTES)
		dispatch_depends_on(pc + bytes - 1);
	return bytes;
}

size_t effects_ahead(uint64_t pc)
{
	return doubts_at(pc) ? 0 : effects_readable(pc);
}

bool effects_is_call_or_return(const ZydisDecodedInstruction *i)
{
	return i->meta.category == ZYDIS_CATEGORY_CALL || i->meta.category == ZYDIS_CATEGORY_RET;
}

/* ---- one instruction ---- */

static enum way_on way_of(const struct outline *o)
{
	if (o->mnemonic == ZYDIS_MNEMONIC_JMP && o->relative)
		return WAY_JUMPS;
	switch (o->category) {
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_RET:
		return WAY_CALL_OR_RETURN;
	case ZYDIS_CATEGORY_COND_BR:
	case ZYDIS_CATEGORY_UNCOND_BR:
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_INTERRUPT:
		return WAY_OPEN;
	default:
		return WAY_NEXT;
	}
}

static void find_form(struct form *f, const ZydisDecodedInstruction *i, const ZydisDecodedOperand *operand)
{
	effects_flags(i, &f->flag_uses, &f->flag_kills);
	effects_registers(i, operand, &f->uses, &f->kills);
}

static struct form *known_form(uint64_t form)
{
	struct form *f = known.form[form * UINT64_C(0x9e3779b97f4a7c15) >> (64 - FORMS_LOG2)], other;

	if (f->form == form)
		return f;
	other = f[0];
	f[0] = f[1];
	f[1] = other;
	return f;
}

/* What the instruction does, and so all others of its form; in `own` where its constants matter. NULL: it is none. */
static const struct form *form_of(const void *code, size_t bytes, uint64_t form, struct form *own)
{
	ZydisDecodedOperand operand[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction i;
	struct form *f = form ? known_form(form) : own;

	if (form && f->form == form)
		return f;
	if (!decoder_decode(&runtime.decoder, code, bytes, &i) || !decoder_operands(&runtime.decoder, &i, operand))
		return NULL;
	if (shifts(&i) && i.raw.imm[0].size)
		f = own;
	f->form = form;
	find_form(f, &i, operand);
	return f;
}

static void find_effect(struct effect *e, uint64_t pc, size_t bytes)
{
	const void *code = (const void *)pc;
	struct outline o;
	struct form own;
	const struct form *f = bytes && effects_outline(code, bytes, &o) ? form_of(code, bytes, o.form, &own) : NULL;

	*e = (struct effect){ .pc = pc, .changes = runtime.space.changes, .way = WAY_NOT_KNOWN };
	if (!f)
		return;
	e->uses = f->uses;
	e->kills = f->kills;
	e->flag_uses = f->flag_uses;
	e->flag_kills = f->flag_kills;
	e->length = o.length;
	e->way = (uint8_t)way_of(&o);
	e->target = pc + o.length + (uint64_t)o.distance;
}

/* Is code there that does not change unless the map of regions does, for as long as an instruction can be? */
static bool is_lasting(uint64_t pc)
{
	const struct space_region *region = space_at(&runtime.space, pc);

	return region && !(region->prot & PROT_WRITE) && !region->shared && region->end - pc >= TRACE_INSTRUCTION_BYTES && !doubts_at(pc);
}

/*
 * What the instruction at pc does; the answer may be in `own`. `*page`: the one that was looked at last, of which the block in
 * the making is known to depend.
 */
static const struct effect *effect_at(uint64_t pc, struct effect *own, uint64_t *page)
{
	struct effect *e = &known.effect[(pc ^ pc >> 13) % KNOWN];

	if (e->pc == pc && e->changes == runtime.space.changes && pc / SLOPE_PAGE_BYTES == *page &&
	    (pc + TRACE_INSTRUCTION_BYTES - 1) / SLOPE_PAGE_BYTES == *page)
		return e;
	size_t bytes = effects_ahead(pc);

	*page = pc / SLOPE_PAGE_BYTES;
	if (!is_lasting(pc)) {
		find_effect(own, pc, bytes);
		return own;
	}
	if (e->pc != pc || e->changes != runtime.space.changes)
		find_effect(e, pc, bytes);
	return e;
}

static bool decode_all(void *data, const void *code, size_t bytes, ZydisDecodedInstruction *i, ZydisDecodedOperand *operand)
{
	(void)data;
	return decoder_decode(&runtime.decoder, code, bytes, i) && decoder_operands(&runtime.decoder, i, operand);
}

const ZydisDecodedOperand *effects_decode(struct step *s, size_t bytes)
{
	const void *code = (const void *)s->pc;
	struct outline o;
	const ZydisDecodedOperand *operand = effects_outline(code, bytes, &o) ?
					     templates_find(&known.templates, code, bytes, &o, decode_all, NULL, &s->i) : NULL;

	if (!operand)
		return NULL;
	struct form own, *f = o.form ? known_form(o.form) : &own;

	if (f == &own || f->form != o.form) {
		if (shifts(&s->i) && s->i.raw.imm[0].size)
			f = &own;
		f->form = o.form;
		find_form(f, &s->i, operand);
	}
	s->uses = f->uses;
	s->kills = f->kills;
	s->flag_uses = f->flag_uses;
	s->flag_kills = f->flag_kills;
	return operand;
}

/* ---- what comes behind ---- */

/*
 * Across calls and returns no flags are wanted, by the rules of the ABI; code
 * that breaks them is seen by looking ahead at each call (effects_begins_with_flags).
 */
static struct wanted look_ahead(uint64_t pc, bool *lasting)
{
	struct wanted wanted = { 0 }, open = { .flags = ARITHMETIC_FLAGS, .registers = UINT16_MAX };
	enum way_on way = WAY_NEXT;
	uint64_t page = 0, first = pc / SLOPE_PAGE_BYTES;

	*lasting = true;
	for (unsigned n = 0; n < LOOK_AHEAD && way <= WAY_JUMPS; n++) {
		struct effect own;
		const struct effect *e = effect_at(pc, &own, &page);

		*lasting = *lasting && e != &own && page == first && (pc + TRACE_INSTRUCTION_BYTES - 1) / SLOPE_PAGE_BYTES == first;
		way = (enum way_on)e->way;
		wanted.flags |= e->flag_uses & open.flags;
		open.flags &= (uint16_t)~e->flag_kills;
		wanted.registers |= e->uses & open.registers;
		open.registers &= (uint16_t)~(e->kills & ~e->uses);
		pc = way == WAY_JUMPS ? e->target : pc + e->length;
		if (way == WAY_CALL_OR_RETURN && !runtime.flags_cross_calls)
			open.flags = 0;
	}
	return (struct wanted){ wanted.flags | open.flags, wanted.registers | open.registers, wanted.flags };
}

struct wanted effects_wanted(uint64_t pc)
{
	struct look *l = &known.look[(pc ^ pc >> 12) % LOOKS];
	uint64_t changes = runtime.space.changes << 1 | runtime.flags_cross_calls;
	bool lasting;

	if (l->pc == pc && l->changes == changes) {
		dispatch_depends_on(pc);
		return l->wanted;
	}
	struct wanted wanted = look_ahead(pc, &lasting);

	if (lasting)
		*l = (struct look){ pc, changes, wanted };
	return wanted;
}

bool effects_begins_with_flags(uint64_t pc)
{
	const void *code = (const void *)pc;
	size_t bytes = effects_ahead(pc);
	struct outline o;
	struct form own;
	const struct form *f = bytes && effects_outline(code, bytes, &o) ? form_of(code, bytes, o.form, &own) : NULL;

	return f && f->flag_uses && o.mnemonic != ZYDIS_MNEMONIC_SYSCALL;
}

/* Up to the next branch, is a flag used that has not been set before? */
static bool wants_flags(uint64_t pc)
{
	uint16_t open = ARITHMETIC_FLAGS;
	uint64_t page = 0;

	for (unsigned n = 0; n < LOOK_AHEAD && open; n++) {
		struct effect own;
		const struct effect *e = effect_at(pc, &own, &page);

		if (e->flag_uses & open && e->way != WAY_NOT_KNOWN)
			return true;
		if (e->way > WAY_JUMPS)
			return false;
		open &= (uint16_t)~e->flag_kills;
		pc = e->way == WAY_JUMPS ? e->target : pc + e->length;
	}
	return false;
}

static bool keeps_flags(uint64_t pc)
{
	uint64_t page = 0;

	for (unsigned n = 0; n < FUNCTION_AHEAD; n++) {
		struct effect own;
		const struct effect *e = effect_at(pc, &own, &page);
		struct outline o;

		if (e->flag_kills || e->way >= WAY_OPEN)
			return false;
		if (e->way == WAY_CALL_OR_RETURN)
			return effects_outline((const void *)pc, effects_ahead(pc), &o) && o.category == ZYDIS_CATEGORY_RET;
		pc = e->way == WAY_JUMPS ? e->target : pc + e->length;
	}
	return false;
}

bool effects_flags_pass(uint64_t function, uint64_t behind)
{
	return wants_flags(behind) && keeps_flags(function);
}
