/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sources/translator/trace.h"

#include <linux/mman.h>

#include "sources/translator/observing.h"
#include "sources/translator/runtime.h"

#define BLOCK_MAX 60u            /* instructions, as Valgrind's blocks have: only there it sees that code runs into a function */
#define BRANCHES_MAX 6u
#define SPARE_REGISTERS 2u       /* so many, besides the stack pointer, a trace leaves unmentioned */
#define LOOK_AHEAD 10u
#define ACCESSES_OF_ONE 8u       /* no instruction has more */

/* ---- flags ---- */

/* Can the count be zero? Then the flags stay as they are. */
static bool may_shift_by_zero(const ZydisDecodedInstruction *i)
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
		if (i->raw.imm[0].size)
			return !(i->raw.imm[0].value.u & (i->operand_width == 64 ? 63u : 31u));
		return i->opcode != 0xd0 && i->opcode != 0xd1;
	default:
		return false;
	}
}

static bool is_repeated(const ZydisDecodedInstruction *i)
{
	return i->attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE);
}

static void flags_of(const ZydisDecodedInstruction *i, uint16_t *uses, uint16_t *kills)
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
	if (!may_shift_by_zero(i) && !is_repeated(i))
		*kills = (uint16_t)((f->modified | f->set_0 | f->set_1 | f->undefined) & ARITHMETIC_FLAGS);
}

/* ---- registers ---- */

/* Those that the instruction needs, or changes in part; those that it overwrites. */
static void registers_of(const ZydisDecodedInstruction *i, const ZydisDecodedOperand *operand, uint16_t *uses, uint16_t *kills)
{
	*uses = *kills = 0;
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
}

/* ---- code that may be looked at ---- */

/* How many bytes from the program's address on. */
static size_t readable_code(uint64_t pc)
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
	dispatch_depends_on(pc + bytes - 1);
	return bytes;
}

/* The same for code that the trace is not made of, but of which something is to be known: nothing is of what is doubted. */
static size_t code_ahead(uint64_t pc)
{
	return doubts_at(pc) ? 0 : readable_code(pc);
}

static bool is_call_or_return(const ZydisDecodedInstruction *i)
{
	return i->meta.category == ZYDIS_CATEGORY_CALL || i->meta.category == ZYDIS_CATEGORY_RET;
}

/* Nothing is known of what comes behind it. */
static bool ends_look(const ZydisDecodedInstruction *i)
{
	return is_call_or_return(i) || i->meta.category == ZYDIS_CATEGORY_COND_BR || i->meta.category == ZYDIS_CATEGORY_UNCOND_BR ||
	       i->meta.category == ZYDIS_CATEGORY_SYSCALL || i->meta.category == ZYDIS_CATEGORY_INTERRUPT;
}

/*
 * That of the code at pc. Across calls and
 * returns no flags are wanted, by the rules of the ABI; code that breaks them is
 * seen by looking ahead at each call (wants_flags).
 */
static struct wanted look_ahead(uint64_t pc)
{
	ZydisDecodedOperand operand[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction i;
	struct wanted wanted = { 0 }, open = { ARITHMETIC_FLAGS, UINT16_MAX };
	uint16_t uses, kills;

	for (unsigned n = 0; n < LOOK_AHEAD; n++) {
		size_t bytes = code_ahead(pc);

		if (!bytes || !decoder_decode(&runtime.decoder, (const void *)pc, bytes, &i) ||
		    !decoder_operands(&runtime.decoder, &i, operand))
			break;
		flags_of(&i, &uses, &kills);
		wanted.flags |= uses & open.flags;
		open.flags &= (uint16_t)~kills;
		registers_of(&i, operand, &uses, &kills);
		wanted.registers |= uses & open.registers;
		open.registers &= (uint16_t)~(kills & ~uses);
		pc += i.length;
		if (is_call_or_return(&i) && !runtime.flags_cross_calls)
			open.flags = 0;
		if (i.mnemonic == ZYDIS_MNEMONIC_JMP && i.raw.imm[0].is_relative)
			pc += (uint64_t)i.raw.imm[0].value.s;
		else if (ends_look(&i))
			break;
	}
	return (struct wanted){ wanted.flags | open.flags, wanted.registers | open.registers };
}

/*
 * Does the code begin with a use of flags that somebody else has left? Only
 * its first instruction tells: behind a call that never returns there may be
 * any code, which others jump to with flags of their own.
 */
static bool wants_flags(uint64_t pc)
{
	ZydisDecodedInstruction i;
	uint16_t uses, kills;
	size_t bytes = code_ahead(pc);

	if (!bytes || !decoder_decode(&runtime.decoder, (const void *)pc, bytes, &i))
		return false;
	flags_of(&i, &uses, &kills);
	return uses != 0 && i.mnemonic != ZYDIS_MNEMONIC_SYSCALL;
}

struct wanted trace_wanted(uint64_t pc)
{
	return look_ahead(pc);
}

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

static enum step_kind kind_of(const struct trace *t, const struct step *s)
{
	switch (s->i.mnemonic) {
	case ZYDIS_MNEMONIC_CALL:
	case ZYDIS_MNEMONIC_JMP:
	case ZYDIS_MNEMONIC_RET:
	case ZYDIS_MNEMONIC_SYSCALL:
	case ZYDIS_MNEMONIC_XBEGIN:
	case ZYDIS_MNEMONIC_INT:
	case ZYDIS_MNEMONIC_SYSENTER:
	case ZYDIS_MNEMONIC_IRET:
	case ZYDIS_MNEMONIC_IRETD:
	case ZYDIS_MNEMONIC_IRETQ:
	case ZYDIS_MNEMONIC_RDGSBASE:
	case ZYDIS_MNEMONIC_WRGSBASE:
	case ZYDIS_MNEMONIC_WRFSBASE:
		return STEP_LAST;
	case ZYDIS_MNEMONIC_XCHG:
		return observer.on && is_request(t, s->pc) ? STEP_REQUEST : STEP_PLAIN;
	default:
		break;
	}
	if (s->i.meta.category == ZYDIS_CATEGORY_COND_BR)
		return s->i.opcode >= 0xe0 && s->i.opcode <= 0xe3 ? STEP_LAST : STEP_BRANCH;
	return is_repeated(&s->i) ? STEP_REPEATED : STEP_PLAIN;
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
		return !s->taken && ++*branches < BRANCHES_MAX && !is_border(s->next) ? s->next : 0;
	}
	if (s->i.mnemonic != ZYDIS_MNEMONIC_JMP || !s->i.raw.imm[0].is_relative || s->i.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR)
		return 0;
	if (t->doubt || has(t, target) || is_border(target) || !code_ahead(target))
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
	if (wants_flags(s->next) || (s->i.raw.imm[0].is_relative && wants_flags(target_of(s))))
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
	    !codeplaces_is_stub(pc) || (observer.paths && !codeplaces_in_linkage(pc)) || code_ahead(pc) < TRACE_INSTRUCTION_BYTES)
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
	if (target >> 31 || !code_ahead(target) || codeplaces_function(target) >= CODEPLACES_STUB)
		return none;
	return (struct stub){ slot, target, instructions };
}

/* What is needed behind the trace. */
static struct wanted wanted_behind(const struct trace *t)
{
	const struct step *last = &t->step[t->steps - 1];
	struct wanted all = { ARITHMETIC_FLAGS, UINT16_MAX };

	if (t->next)
		return look_ahead(t->next);
	if (last->kind == STEP_BRANCH)
		return look_ahead(last->taken ? target_of(last) : last->next);
	if (last->i.mnemonic == ZYDIS_MNEMONIC_JMP && last->i.raw.imm[0].is_relative)
		return look_ahead(target_of(last));
	/* A stub of the linkage table jumps to a function. */
	if (!runtime.flags_cross_calls && (is_call_or_return(&last->i) ||
	    (last->i.mnemonic == ZYDIS_MNEMONIC_JMP && codeplaces_is_stub(t->start))))
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
			leaving = look_ahead(s->taken ? s->next : target_of(s));
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

/* One more step at pc. False: there is none. */
static bool add_step(struct trace *t, uint64_t pc, ZydisDecodedOperand *operand)
{
	struct step *s = &t->step[t->steps];
	size_t bytes = readable_code(pc);

	*s = (struct step){ .pc = pc };
	if (bytes && decoder_decode(&runtime.decoder, (const void *)pc, bytes, &s->i)) {
		s->next = pc + s->i.length;
		s->far = far_operand(s);
	}
	if (!s->next || ((observer.looks || s->far || t->doubt) && !decoder_operands(&runtime.decoder, &s->i, operand))) {
		if (!t->steps && bytes)
			dispatch_refuse("an instruction that the decoder does not know", pc);
		return false;            /* it may never come to this */
	}
	s->kind = kind_of(t, s);
	flags_of(&s->i, &s->flag_uses, &s->flag_kills);
	if (observer.looks || s->far)
		registers_of(&s->i, operand, &s->uses, &s->kills);
	s->moves_stack = observer.looks && accesses_sets_stack(&s->i, operand);
	return true;
}

bool trace_make(struct trace *t, uint64_t pc)
{
	ZydisDecodedOperand operand[ZYDIS_MAX_OPERAND_COUNT];
	struct origin origin[REGISTERS];
	unsigned branches = 0, in_block = 0;
	uint32_t instructions = 0, blocks = 1;
	bool ended = false;

	t->start = t->next = pc;
	t->steps = t->accesses = 0;
	t->mentioned = 0;
	t->origins = 0;
	t->entry_flags = false;
	t->stub = (struct stub){ 0 };
	doubts_begin(t, pc, readable_code(pc));
	for (unsigned r = 0; r < REGISTERS; r++)
		origin[r] = unknown(t);
	while (!ended && t->steps < TRACE_STEPS && t->accesses + ACCESSES_OF_ONE < TRACE_ACCESSES) {
		struct step *s = &t->step[t->steps];
		uint64_t here = t->next;

		if ((in_block == BLOCK_MAX && is_border(here)) || (t->steps && doubts_at(here) != t->doubt))
			break;
		if (!add_step(t, here, operand) || (observer.on && mentions_too_many(t, s)))
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
			ended = doubts_end(t, s, operand);
			t->steps++;
			continue;
		}
		t->next = s->kind == STEP_BRANCH || s->kind == STEP_LAST ? way_on(t, s, &branches) : 0;
		look_across_call(t, s);
		if (observer.on && s->kind == STEP_LAST && (t->stub = see_through(s)).target)
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
