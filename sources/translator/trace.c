/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sources/translator/trace.h"

#include <linux/mman.h>

#include "sources/translator/observing.h"
#include "sources/translator/rates.h"
#include "sources/translator/vectors.h"
#include "sources/translator/runtime.h"

#define BLOCK_MAX 60u            /* instructions, as Valgrind's blocks have: only there it sees that code runs into a function */
#define BRANCHES_MAX 3u
#define SPARE_REGISTERS 2u       /* so many, besides the stack pointer, a trace leaves unmentioned */
#define ACCESSES_OF_ONE 8u       /* no instruction has more */
#define GS_NUMBER 5              /* among segment registers */

/* ---- origins ---- */

static struct origin unknown(struct trace *t)
{
	return (struct origin){ .id = ++t->origins };
}

/* origin + value, when that can be told. */
static struct origin moved_by(struct trace *t, struct origin from, int64_t value)
{
	int64_t sum = from.plus + value;

	if (sum != (int32_t)sum)
		return unknown(t);
	from.plus = (int32_t)sum;
	return from;
}

static bool is_whole(const ZydisDecodedOperand *o)
{
	return o->type == ZYDIS_OPERAND_TYPE_REGISTER && o->reg.value >= ZYDIS_REGISTER_RAX && o->reg.value <= ZYDIS_REGISTER_R15;
}

/* The origins behind the step, into `to`. */
static void follow_origins(struct trace *t, const struct step *s, const ZydisDecodedOperand *operand, struct origin *to)
{
	const struct origin *from = s->origin;
	int first = is_whole(&operand[0]) ? accesses_register(operand[0].reg.value) : NO_REGISTER;
	int64_t by = 0;

	for (unsigned r = 0; r < REGISTERS; r++)
		to[r] = s->kills >> r & 1 ? unknown(t) : from[r];
	switch (s->i.mnemonic) {
	case ZYDIS_MNEMONIC_PUSH:
	case ZYDIS_MNEMONIC_PUSHFQ:
		to[REG_RSP] = moved_by(t, from[REG_RSP], -(int64_t)(s->i.operand_width / 8));
		return;
	case ZYDIS_MNEMONIC_POP:
	case ZYDIS_MNEMONIC_POPFQ:
		if (first != REG_RSP)
			to[REG_RSP] = moved_by(t, from[REG_RSP], s->i.operand_width / 8);
		return;
	case ZYDIS_MNEMONIC_LEAVE:
		to[REG_RSP] = moved_by(t, from[REG_RBP], 8);
		return;
	default:
		break;
	}
	if (first < 0)
		return;
	switch (s->i.mnemonic) {
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_SUB:
		if (operand[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
			return;
		by = operand[1].imm.value.s;
		to[first] = moved_by(t, from[first], s->i.mnemonic == ZYDIS_MNEMONIC_ADD ? by : -by);
		return;
	case ZYDIS_MNEMONIC_INC:
	case ZYDIS_MNEMONIC_DEC:
		to[first] = moved_by(t, from[first], s->i.mnemonic == ZYDIS_MNEMONIC_INC ? 1 : -1);
		return;
	case ZYDIS_MNEMONIC_MOV:
		if (is_whole(&operand[1]))
			to[first] = from[accesses_register(operand[1].reg.value)];
		return;
	case ZYDIS_MNEMONIC_LEA:
		if (operand[1].mem.index == ZYDIS_REGISTER_NONE && operand[1].mem.base >= ZYDIS_REGISTER_RAX &&
		    operand[1].mem.base <= ZYDIS_REGISTER_R15)
			to[first] = moved_by(t, from[accesses_register(operand[1].mem.base)], operand[1].mem.disp.value);
		return;
	default:
		return;
	}
}

/* ---- the way ---- */

/* The mark of include/slope.h: four rotations, and an exchange of a register with itself. */
static bool is_request(const struct trace *t, uint64_t pc)
{
	static const uint8_t mark[] = {
		0x48, 0xc1, 0xc7, 3, 0x48, 0xc1, 0xc7, 13, 0x48, 0xc1, 0xc7, 61, 0x48, 0xc1, 0xc7, 51, 0x48, 0x87, 0xdb,
	};

	if (t->steps < 4 || t->step[t->steps - 4].pc != pc - 16)
		return false;
	for (unsigned i = 0; i < sizeof mark; i++)
		if (((const uint8_t *)(pc - 16))[i] != mark[i])
			return false;
	return true;
}

bool trace_is_foreign(const ZydisDecodedInstruction *i)
{
	switch (i->mnemonic) {
	case ZYDIS_MNEMONIC_SYSENTER:
	case ZYDIS_MNEMONIC_IRET:
	case ZYDIS_MNEMONIC_IRETD:
	case ZYDIS_MNEMONIC_IRETQ:
	case ZYDIS_MNEMONIC_RDGSBASE:
	case ZYDIS_MNEMONIC_WRGSBASE:
		return true;
	default:
		return false;
	}
}

bool trace_sets_all_flags(const ZydisDecodedInstruction *i)
{
	return i->mnemonic == ZYDIS_MNEMONIC_POPFQ || i->mnemonic == ZYDIS_MNEMONIC_POPF;
}

bool trace_uses_gs(const ZydisDecodedInstruction *i)
{
	bool loads = (i->mnemonic == ZYDIS_MNEMONIC_MOV && i->opcode == 0x8e && i->raw.modrm.reg == GS_NUMBER) ||
		     (i->mnemonic == ZYDIS_MNEMONIC_POP && i->opcode == 0xa9 && i->opcode_map == ZYDIS_OPCODE_MAP_0F) ||
		     i->mnemonic == ZYDIS_MNEMONIC_LGS;

	return loads || i->attributes & ZYDIS_ATTRIB_HAS_SEGMENT_GS;
}

static enum step_kind kind_of(const struct trace *t, const struct step *s)
{
	if (trace_is_foreign(&s->i))
		return STEP_LAST;
	switch (s->i.mnemonic) {
	case ZYDIS_MNEMONIC_CALL:
	case ZYDIS_MNEMONIC_JMP:
	case ZYDIS_MNEMONIC_RET:
	case ZYDIS_MNEMONIC_SYSCALL:
	case ZYDIS_MNEMONIC_XBEGIN:
	case ZYDIS_MNEMONIC_WRFSBASE:
		return STEP_LAST;
	case ZYDIS_MNEMONIC_XCHG:
		return observer.on && is_request(t, s->pc) ? STEP_REQUEST : STEP_PLAIN;
	default:
		break;
	}
	/* The end of a transaction counts as one to the decoder. */
	if (s->i.meta.category == ZYDIS_CATEGORY_COND_BR && s->i.raw.imm[0].is_relative)
		return s->i.opcode >= 0xe0 && s->i.opcode <= 0xe3 ? STEP_LAST : STEP_BRANCH;
	return effects_is_repeated(&s->i) ? STEP_REPEATED : STEP_PLAIN;
}

static bool has(const struct trace *t, uint64_t pc)
{
	for (unsigned n = 0; n < t->steps; n++)
		if (t->step[n].pc == pc)
			return true;
	return false;
}

/* Somebody may count a call here, so the trace that gets here by itself must not go on. */
static bool is_border(uint64_t pc)
{
	return observer.looks && (codeplaces_is_entry(pc) || codeplaces_is_stub(pc));
}

static uint64_t target_of(const struct step *s)
{
	return s->next + (uint64_t)s->i.raw.imm[0].value.s;
}

/* Where the trace goes on behind a branch or jump; 0: it ends with it. */
static uint64_t way_on(const struct trace *t, struct step *s, unsigned *branches)
{
	uint64_t target = target_of(s);

	if (s->kind == STEP_BRANCH) {
		s->taken = target <= s->pc;
		if (s->taken || ++*branches >= BRANCHES_MAX)
			return 0;
		if (t->known && !t->doubt && rates_lead(s->pc, target) && !has(t, target) &&
		    !is_border(target) && effects_ahead(target)) {
			s->taken = true;
			return target;
		}
		return is_border(s->next) ? 0 : s->next;
	}
	if (s->i.mnemonic != ZYDIS_MNEMONIC_JMP || !s->i.raw.imm[0].is_relative || s->i.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR)
		return 0;
	if (t->doubt || has(t, target) || is_border(target) || !effects_ahead(target))
		return 0;
	s->kind = STEP_FOLLOWED;
	return target;
}

/* Too few registers would be left for what is added. */
static bool mentions_too_many(const struct trace *t, const struct step *s)
{
	uint16_t all = t->mentioned | s->uses | s->kills | 1u << REG_RSP;
	unsigned left = 0;

	for (unsigned r = 0; r < REGISTERS; r++)
		left += !(all >> r & 1);
	return t->steps && left < SPARE_REGISTERS;
}

static void look_across_call(struct trace *t, const struct step *s)
{
	if (s->i.mnemonic != ZYDIS_MNEMONIC_CALL || runtime.flags_cross_calls)
		return;
	/* Nobody may look behind a call there; and Erlang, whose code is shared memory, does pass flags back. */
	if (t->doubt || (effects_begins_with_flags(s->next) && flagreturns_may(s)) || (s->i.raw.imm[0].is_relative &&
	    (effects_begins_with_flags(target_of(s)) || effects_flags_pass(target_of(s), s->next))))
		t->entry_flags = true;
}

/*
 * A call through the linkage table is a call of what the slot holds, as long
 * as it holds that: the stub reads the slot in the caller's name, and has an
 * instruction or two.
 */
static struct stub see_through(const struct step *s)
{
	uint64_t pc = target_of(s), slot, target;
	struct stub none = { 0 };
	uint32_t instructions = 1;
	const uint8_t *code = (const uint8_t *)pc;

	if (s->i.mnemonic != ZYDIS_MNEMONIC_CALL || !s->i.raw.imm[0].is_relative || runtime.flags_cross_calls ||
	    !codeplaces_is_stub(pc) || (observer.paths && !codeplaces_in_linkage(pc)) || effects_ahead(pc) < TRACE_INSTRUCTION_BYTES)
		return none;
	if (code[0] == 0xf3 && code[1] == 0x0f && code[2] == 0x1e && code[3] == 0xfa) {
		code += 4;
		instructions++;
	}
	if (code[0] == 0xf2)
		code++;
	if (code[0] != 0xff || code[1] != 0x25)
		return none;
	int32_t displacement;

	slope_copy(&displacement, code + 2, sizeof displacement);
	slot = (uint64_t)code + 6 + (uint64_t)(int64_t)displacement;
	if (slot >> 31 || !space_allows(&runtime.space, slot, 8, PROT_READ))
		return none;
	slope_copy(&target, (const void *)slot, sizeof target);
	if (target >> 31 || !effects_ahead(target) || codeplaces_function(target) >= CODEPLACES_STUB)
		return none;
	return (struct stub){ slot, target, instructions };
}

/* What is needed behind the trace. */
static struct wanted wanted_behind(const struct trace *t)
{
	const struct step *last = &t->step[t->steps - 1];
	struct wanted all = { .flags = ARITHMETIC_FLAGS, .registers = UINT16_MAX };

	if (t->next)
		return effects_wanted(t->next);
	if (last->kind == STEP_BRANCH)
		return effects_wanted(last->taken ? target_of(last) : last->next);
	if (last->i.mnemonic == ZYDIS_MNEMONIC_JMP && last->i.raw.imm[0].is_relative)
		return effects_wanted(target_of(last));
	/* A stub of the linkage table jumps to a function. */
	if (!runtime.flags_cross_calls && (effects_is_call_or_return(&last->i) ||
	    (last->i.mnemonic == ZYDIS_MNEMONIC_JMP && codeplaces_is_stub(t->start))))
		all.flags = 0;
	else if (last->i.mnemonic == ZYDIS_MNEMONIC_JMP && tablejumps_flags_are_dead(t))
		all.flags = 0;
	return all;
}

static void find_live(struct trace *t)
{
	struct wanted live = wanted_behind(t), leaving;

	t->live_flags = live.flags;
	for (unsigned n = t->steps; n--;) {
		struct step *s = &t->step[n];

		if (s->kind == STEP_BRANCH) {
			leaving = effects_wanted(s->taken ? s->next : target_of(s));
			s->leaving_flags = leaving.flags;
			live.flags |= leaving.flags;
			live.registers |= leaving.registers;
		}
		live.registers = (uint16_t)((live.registers & ~s->kills) | s->uses);
		live.flags = (uint16_t)((live.flags & ~s->flag_kills) | s->flag_uses);
		s->live = live.registers;
		s->live_flags = live.flags;
	}
}

/* The address of an operand relative to rip, if that is beyond the reach of the code cache, and so above 2 GB; or 0. */
static uint64_t far_operand(const struct step *s)
{
	uint64_t address = s->next + (uint64_t)s->i.raw.disp.value;
	bool relative = s->i.attributes & ZYDIS_ATTRIB_HAS_MODRM && s->i.raw.modrm.mod == 0 && s->i.raw.modrm.rm == 5;

	return relative && address >> 31 ? address : 0;
}

/* Might the stack pointer be among what the instruction writes? At a glance, since it hardly ever is. */
static bool may_set_stack(const ZydisDecodedInstruction *i)
{
	if (i->mnemonic == ZYDIS_MNEMONIC_LEAVE)
		return true;
	if (i->attributes & ZYDIS_ATTRIB_HAS_MODRM)
		return i->raw.modrm.reg == REG_RSP || (i->raw.modrm.mod == 3 && i->raw.modrm.rm == REG_RSP);
	return (i->opcode & 7) == REG_RSP;
}

/* What dispatch_refuse() is for, when it is come to. */
static bool is_refused(const ZydisDecodedInstruction *i)
{
	return trace_is_foreign(i) || i->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR || trace_uses_gs(i);
}

/* One more step at pc: its operands. NULL: there is none. */
static const ZydisDecodedOperand *add_step(struct trace *t, uint64_t pc)
{
	struct step *s = &t->step[t->steps];
	size_t bytes = effects_readable(pc);
	const ZydisDecodedOperand *operand;

	/* The decoder's part is copied whole, and the origins come later: most of it. */
	memset(&s->pc, 0, offsetof(struct step, origin) - offsetof(struct step, pc));
	s->pc = pc;
	operand = bytes ? effects_decode(s, bytes) : NULL;
	if (!operand || s->i.mnemonic == ZYDIS_MNEMONIC_INT || s->i.mnemonic == ZYDIS_MNEMONIC_INT1)
		return NULL;             /* it may never come to this; what then comes of it raising.c knows */
	if (t->steps && is_refused(&s->i))
		return NULL;             /* nor to this: data behind a trap, in SBCL's code */
	s->next = pc + s->i.length;
	s->far = far_operand(s);
	s->kind = kind_of(t, s);
	bool looks = observer.on || s->far || (observer.looks && may_set_stack(&s->i));

	if (!looks)
		s->uses = s->kills = 0;
	if (observer.vectors)
		s->vectors = (uint16_t)vectors_named(&s->i, operand);
	s->moves_stack = looks && observer.looks && accesses_sets_stack(&s->i, operand);
	return operand;
}

bool trace_make(struct trace *t, uint64_t pc)
{
	const ZydisDecodedOperand *operand;
	struct origin origin[REGISTERS];
	unsigned branches = 0, in_block = 0;
	uint32_t instructions = 0, blocks = 1;
	bool ended = false;

	t->start = t->next = pc;
	t->steps = t->accesses = 0;
	t->mentioned = 0;
	t->origins = 0;
	t->entry_flags = false;
	t->known = observer.on && !observer.paths && rates_are_known(pc);
	t->stub = (struct stub){ 0 };
	doubts_begin(t, pc, effects_readable(pc));
	for (unsigned r = 0; r < REGISTERS; r++)
		origin[r] = unknown(t);
	while (!ended && t->steps < (t->alone ? 1 : TRACE_STEPS) && t->accesses + ACCESSES_OF_ONE < TRACE_ACCESSES) {
		struct step *s = &t->step[t->steps];
		uint64_t here = t->next;

		if ((in_block == BLOCK_MAX && is_border(here)) || (t->steps && doubts_at(here) != t->doubt))
			break;
		operand = add_step(t, here);
		if (!operand || (observer.on && mentions_too_many(t, s)))
			break;
		/* Then a signal can be delivered in the middle of it: the block's start is where it goes on. */
		if (!observer.on && s->kind == STEP_REPEATED && t->steps)
			break;
		if (in_block == BLOCK_MAX)
			in_block = 0;
		in_block++;
		s->instructions = ++instructions;
		s->blocks = blocks;
		slope_copy(s->origin, origin, sizeof origin);
		if (observer.on) {
			if (s->kind != STEP_REPEATED)
				accesses_add(t, &s->i, operand, here);
			follow_origins(t, s, operand, origin);
		}
		t->mentioned |= s->uses | s->kills;
		t->next = s->next;
		if (s->kind == STEP_PLAIN) {
			/* What lies behind a trap need not be code (SBCL keeps a number there). */
			ended = doubts_end(t, s, operand) || s->i.mnemonic == ZYDIS_MNEMONIC_INT3 || s->i.mnemonic == ZYDIS_MNEMONIC_UD2 ||
				trace_sets_all_flags(&s->i);
			t->steps++;
			continue;
		}
		t->next = s->kind == STEP_BRANCH || s->kind == STEP_LAST ? way_on(t, s, &branches) : 0;
		look_across_call(t, s);
		if (observer.looks && !t->alone && s->kind == STEP_LAST && (t->stub = see_through(s)).target && observer.on)
			accesses_add_word(t, t->stub.slot);
		t->steps++;
		ended = !t->next || doubts_end(t, s, operand);
		in_block = 0;
		blocks++;
	}
	if (!t->steps)
		return false;
	const struct step *last = &t->step[t->steps - 1];

	/* A request is one instruction, to the Valgrind source. */
	t->instructions = (int32_t)last->instructions - (last->kind == STEP_REQUEST ? 4 : 0);
	/* What follows in the middle of a block will be counted as one. */
	t->blocks = (int32_t)last->blocks - (last->kind == STEP_PLAIN);
	if (observer.on)
		find_live(t);
	return true;
}
