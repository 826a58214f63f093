/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sources/valgrind/inserted.h"
#include "sources/valgrind/checkcode.h"
#include "pub_tool_vkiscnums.h"
#include "libvex.h"

#define SET_GS 0x1001            /* of arch_prctl */
#define INSERTED_MAX 1024        /* in one block */
#define MARK 0x5c0be000u         /* of our instructions: the test of a register for MARK ^ number, which nobody else needs */

/* ---- VEX's instructions for this host, as far as we look at them ---- */

struct operand {
	UInt tag;
	union {
		UInt value;              /* a register or a constant */
		void *memory;
	};
};

struct instruction {
	UInt tag;
	union {
		struct { ULong value; UInt to; } constant;
		struct { UInt op; const struct operand *from; UInt to; } move;
		struct { UInt bits, of; } test;
		struct { UInt condition; ULong target; Int arguments; } call;
	};
};

struct instructions {
	struct instruction **item;
	Int capacity, count;
};

struct universe {
	UInt count, allocated;       /* the first ones are allocated */
	UInt reg[];
};

struct allocation {
	const struct universe *universe;
};

#define MOVE_OP 1u

struct instructions *__wrap_doRegisterAllocation_v3(struct instructions *code, const struct allocation *how);
Int __wrap_emit_AMD64Instr(Bool *counts, UChar *to, Int room, const struct instruction *i, Bool wide, VexEndness endness,
			   const void *a, const void *b, const void *c, const void *d);

/* Missing where VEX has them no more. */
#define IN_VEX extern __attribute__((weak))
IN_VEX struct instructions *__real_doRegisterAllocation_v3(struct instructions *code, const struct allocation *how);
IN_VEX Int __real_emit_AMD64Instr(Bool *counts, UChar *to, Int room, const struct instruction *i, Bool wide, VexEndness endness,
				  const void *a, const void *b, const void *c, const void *d);
IN_VEX struct instruction *AMD64Instr_Test64(UInt bits, UInt reg);
IN_VEX struct instruction *AMD64Instr_Alu64R(UInt op, const struct operand *from, UInt to);
IN_VEX struct instruction *AMD64Instr_Imm64(ULong value, UInt to);
IN_VEX struct operand *AMD64RMI_Reg(UInt reg);

/* ---- helpers, for where a call stays a call ---- */

static VG_REGPARM(2) void add_cost(void *guest_state, UWord add)
{
	slots_of(guest_state)->counter += add;
}

static Addr stack_pointer_of(const void *guest_state)
{
	return *(const Addr *)((const HChar *)guest_state + STACK_POINTER);
}

static VG_REGPARM(2) void entry(void *guest_state, struct callee *callee)
{
	if (slots_of(guest_state)->top_fn != callee->fn)
		tool_jump(guest_state, callee, stack_pointer_of(guest_state));
}

static VG_REGPARM(1) void stub_call(void *guest_state)
{
	tool_call_stub(guest_state, stack_pointer_of(guest_state));
}

static VG_REGPARM(3) void jump(void *guest_state, Addr target, UWord range)
{
	if (target - (UInt)range >= range >> 32)
		tool_jump_address(guest_state, target, stack_pointer_of(guest_state));
}

#define HELPERS(bytes)                                                                              \
	static VG_REGPARM(1) void read_##bytes(Addr a) { tool_read(a, bytes); }                             \
	static VG_REGPARM(1) void write_##bytes(Addr a) { tool_write(a, bytes); }                           \
	static VG_REGPARM(1) void write_aligned_##bytes(Addr a) { write_##bytes(a); }

HELPERS(1)
HELPERS(2)
HELPERS(4)
HELPERS(8)
HELPERS(16)
HELPERS(32)

#define KINDS(bytes)                                                                                \
	{ "read", read_##bytes, { CHECK_READ, bytes, False, kept_read_##bytes } },                          \
	{ "write", write_##bytes, { CHECK_WRITE, bytes, False, NULL } },                                    \
	{ "write_aligned", write_aligned_##bytes, { CHECK_WRITE, bytes, True, NULL } }

static const struct kind {
	const HChar *name;
	void *helper;
	struct check check;
} kinds[] = {
	KINDS(1), KINDS(2), KINDS(4), KINDS(8), KINDS(16), KINDS(32),
	{ "add_cost", add_cost, { CHECK_COST, 0, False, NULL } },
	{ "entry", entry, { CHECK_ENTRY, 0, False, NULL } },
	{ "stub_call", stub_call, { CHECK_STUB_CALL, 0, False, NULL } },
	{ "jump", jump, { CHECK_JUMP, 0, False, kept_jump } },
};

#define KINDS_MAX (sizeof kinds / sizeof kinds[0])

static IRDirty *call_of(UInt what, Int bytes, Bool aligned, IRExpr *address)
{
	UInt i = 0;

	while (kinds[i].check.what != what || kinds[i].check.bytes != bytes || kinds[i].check.aligned != aligned)
		i++;
	return unsafeIRDirty_0_N(1, kinds[i].name, VG_(fnptr_to_fnentry)(kinds[i].helper), mkIRExprVec_1(address));
}

IRDirty *inserted_read(IRExpr *address, Int bytes)
{
	return call_of(CHECK_READ, bytes, False, address);
}

IRDirty *inserted_write(IRExpr *address, Int bytes, Bool aligned)
{
	return call_of(CHECK_WRITE, bytes, aligned, address);
}

/* One that looks at and changes slots, and may look at the stack pointer. */
static IRDirty *with_slots(const HChar *name, void *helper, Int regparms, IRExpr **args)
{
	IRDirty *d = unsafeIRDirty_0_N(regparms, name, VG_(fnptr_to_fnentry)(helper), args);

	d->nFxState = 2;
	VG_(memset)(&d->fxState, 0, sizeof d->fxState);
	d->fxState[0].fx = Ifx_Modify;
	d->fxState[0].offset = (UShort)SLOTS_OFFSET;
	d->fxState[0].size = sizeof(struct slots);
	d->fxState[1].fx = Ifx_Read;
	d->fxState[1].offset = (UShort)STACK_POINTER;
	d->fxState[1].size = sizeof(Addr);
	return d;
}

static IRExpr *constant(ULong value)
{
	return IRExpr_Const(IRConst_U64(value));
}

IRDirty *inserted_cost(ULong add)
{
	return with_slots("add_cost", add_cost, 2, mkIRExprVec_2(IRExpr_GSPTR(), constant(add)));
}

IRDirty *inserted_entry(const struct callee *callee)
{
	return with_slots("entry", entry, 2, mkIRExprVec_2(IRExpr_GSPTR(), constant((Addr)callee)));
}

IRDirty *inserted_stub_call(void)
{
	return with_slots("stub_call", stub_call, 1, mkIRExprVec_1(IRExpr_GSPTR()));
}

IRDirty *inserted_jump(IRExpr *address, Addr start, SizeT bytes)
{
	return with_slots("jump", jump, 3, mkIRExprVec_3(IRExpr_GSPTR(), address, constant(start | bytes << 32)));
}

/* ---- the block in work ---- */

static struct {
	Bool known, refused;         /* what VEX's instructions look like has been looked at, and was not as expected */
	UInt call_tag, move_tag, register_tag, constant_tag, test_tag;
	UInt rdi;

	UInt count;
	struct inserted {
		const struct instruction *instruction;
		const struct check *check;
		ULong value;
	} item[INSERTED_MAX];
} work;

Bool inserted_possible(void)
{
	return !work.refused && !tool.options.access_by_ir && tool.session.config.marked &&
	       __real_doRegisterAllocation_v3 && __real_emit_AMD64Instr && AMD64Instr_Test64 && AMD64Instr_Alu64R &&
	       AMD64Instr_Imm64 && AMD64RMI_Reg && VG_(clo_vex_control).regalloc_version == 3;
}

void inserted_window(struct tool_thread *t, Addr window)
{
	if (t->gs == window)
		return;
	t->gs = window;
	tool_syscall(__NR_arch_prctl, SET_GS, window, 0, 0, 0, 0);
}

/* ---- is VEX as expected? ---- */

static Bool is_written_as(const struct instruction *i, const UChar *expected, Int count)
{
	UChar bytes[2 * CHECK_BYTES];
	Bool counts = False;
	Int written = __real_emit_AMD64Instr(&counts, bytes, sizeof bytes, i, True, VexEndnessLE, NULL, NULL, NULL, NULL);

	return written == count && VG_(memcmp)(bytes, expected, (SizeT)count) == 0;
}

static UInt number_of(UInt reg)
{
	return reg >> 20 & 0x7f;
}

static UInt index_of(UInt reg)
{
	return reg & 0xfffff;
}

/* Those that we change must not be allocated, and those that are must be saved by kept.c. False, or rdi is known. */
static Bool look_at_registers(const struct universe *u)
{
	if (u->count > 64 || u->allocated > u->count)
		return False;
	for (UInt i = 0; i < u->allocated; i++) {
		UInt n = number_of(u->reg[i]);
		Bool general = u->reg[i] >> 27 == u->reg[0] >> 27;

		if (index_of(u->reg[i]) != i || (general ? n <= 2 || n == 4 || n == 5 || n == 11 : n < 3 || n > 12))
			return False;
		if (general && n == 7)
			work.rdi = u->reg[i];
	}
	return work.rdi != 0;
}

/* What we make and look for: moves, constants, tests. */
static Bool look_at_instructions(void)
{
	static const UChar move_bytes[] = { 0x48, 0x89, 0xff };
	static const UChar test_bytes[] = { 0x48, 0xf7, 0xc7, 0x44, 0x33, 0x22, 0x11 };
	static const UChar constant_bytes[] = { 0x48, 0xbf, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11 };
	const struct operand *from = AMD64RMI_Reg(work.rdi);
	const struct instruction *move = AMD64Instr_Alu64R(MOVE_OP, from, work.rdi);
	const struct instruction *test = AMD64Instr_Test64(0x11223344, work.rdi);
	const struct instruction *constant = AMD64Instr_Imm64(0x1122334455667788, work.rdi);

	work.register_tag = from->tag;
	work.move_tag = move->tag;
	work.test_tag = test->tag;
	work.constant_tag = constant->tag;
	return from->value == work.rdi && move->move.op == MOVE_OP && move->move.from == from && move->move.to == work.rdi &&
	       test->test.bits == 0x11223344 && test->test.of == work.rdi && constant->constant.to == work.rdi &&
	       is_written_as(move, move_bytes, sizeof move_bytes) && is_written_as(test, test_bytes, sizeof test_bytes) &&
	       is_written_as(constant, constant_bytes, sizeof constant_bytes);
}

static Bool look_at_call(const struct instruction *call)
{
	ULong target = call->call.target;
	UChar bytes[] = {
		0x49, 0xc7, 0xc3, (UChar)target, (UChar)(target >> 8), (UChar)(target >> 16), (UChar)(target >> 24), 0x41, 0xff, 0xd3,
	};

	work.call_tag = call->tag;
	return target >> 31 == 0 && is_written_as(call, bytes, sizeof bytes);
}

static const struct kind *kind_of(const struct instruction *i)
{
	for (UInt k = 0; k < KINDS_MAX; k++)
		if (i->call.target == (Addr)kinds[k].helper)
			return &kinds[k];
	return NULL;
}

/* With the first of our calls. */
static void get_to_know(const struct instructions *code, const struct allocation *how)
{
	for (Int i = 0; i < code->count && !work.known; i++)
		if (kind_of(code->item[i])) {
			work.known = True;
			work.refused = !look_at_registers(how->universe) || !look_at_instructions() || !look_at_call(code->item[i]);
		}
}

/* ---- from calls to instructions of our own ---- */

static Bool is_move(const struct instruction *i, Bool from_register)
{
	return i->tag == work.move_tag && i->move.op == MOVE_OP && (i->move.from->tag == work.register_tag) == from_register;
}

/* One of ours that reads this register. */
static struct instruction *new_inserted(const struct check *check, ULong value, UInt reg)
{
	struct instruction *i = AMD64Instr_Test64(MARK ^ work.count, reg);

	work.item[work.count++] = (struct inserted){ .instruction = i, .check = check, .value = value };
	return i;
}

/* The guest state, an address if it has one, and a constant are moved to the arguments. */
static Int insert_with_constant(struct instruction **code, Int count, const struct check *check)
{
	Int moves = check->what == CHECK_JUMP ? 2 : 1;
	const struct instruction *last = code[count - 1];
	ULong value = last->tag == work.constant_tag ? last->constant.value : last->move.from->value;

	if (count <= moves || (last->tag != work.constant_tag && !is_move(last, False)))
		return 0;
	for (Int i = 0; i < moves; i++)
		if (!is_move(code[count - 2 - i], True))
			return 0;
	code[count - 1 - moves] = new_inserted(check, value, code[count - 2]->move.from->value);
	return count - moves;
}

/* Puts an instruction of ours in the place of the call that comes behind `count` ones. How many there are then; 0: the call stays. */
static Int insert(struct instruction **code, Int count, const struct instruction *call)
{
	const struct kind *kind = call->tag == work.call_tag ? kind_of(call) : NULL;
	struct instruction *last;

	if (!kind || work.count == INSERTED_MAX || !count)
		return 0;
	if (kind->check.what == CHECK_COST || kind->check.what == CHECK_ENTRY || kind->check.what == CHECK_JUMP)
		return insert_with_constant(code, count, &kind->check);
	last = code[count - 1];
	if (is_move(last, True)) {
		code[count - 1] = new_inserted(&kind->check, 0, last->move.from->value);
		return count;
	}
	/* A constant, or what is in memory, has to be moved to a register: rdi will do. */
	if (!is_move(last, False) && last->tag != work.constant_tag)
		return 0;
	code[count] = new_inserted(&kind->check, 0, work.rdi);
	return count + 1;
}

struct instructions *__wrap_doRegisterAllocation_v3(struct instructions *code, const struct allocation *how)
{
	Int count = 0;

	work.count = 0;
	if (!work.known)
		get_to_know(code, how);
	if (!work.known || work.refused)
		return __real_doRegisterAllocation_v3(code, how);
	for (Int i = 0; i < code->count; i++) {
		Int inserted = insert(code->item, count, code->item[i]);

		if (inserted)
			count = inserted;
		else
			code->item[count++] = code->item[i];
	}
	code->count = count;
	return __real_doRegisterAllocation_v3(code, how);
}

/* ---- from instructions to bytes ---- */

Int __wrap_emit_AMD64Instr(Bool *counts, UChar *to, Int room, const struct instruction *i, Bool wide, VexEndness endness,
			   const void *a, const void *b, const void *c, const void *d)
{
	Int written = __real_emit_AMD64Instr(counts, to, room, i, wide, endness, a, b, c, d);
	UInt number = i->test.bits ^ MARK;

	if (i->tag == work.test_tag && number < work.count && work.item[number].instruction == i) {
		const struct inserted *inserted = &work.item[number];
		UInt reg = (to[0] & 1u) << 3 | (to[2] & 7u);

		tl_assert(room >= CHECK_BYTES);
		written = check_write(to, inserted->check, reg, inserted->value);
	}
	return written;
}
