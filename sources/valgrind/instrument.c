/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is added to each block of client code:
 *
 *   - one addition to the cost counter before each exit;
 *   - for loads and stores, what shadowcode.c says;
 *   - at calls, returns and jumps to functions, a report to calls.c;
 *   - a report to stacks.c when the stack pointer leaves its frame.
 *
 * Loads and stores come before their checks, so that one which faults, faults
 * first. The load of a return address and
 * the store of one are not data and not checked.
 */
#include "sources/valgrind/irblock.h"

/* A helper that looks at and changes the slots. */
static IRDirty *slots_call(const HChar *name, void *helper, Int regparms, IRExpr **args)
{
	IRDirty *d = unsafeIRDirty_0_N(regparms, name, VG_(fnptr_to_fnentry)(helper), args);

	d->nFxState = 1;
	VG_(memset)(&d->fxState, 0, sizeof d->fxState);
	d->fxState[0].fx = Ifx_Modify;
	d->fxState[0].offset = SLOTS_OFFSET;
	d->fxState[0].size = sizeof(struct slots);
	return d;
}

/* ---- costs ---- */

static void bring_counter_up_to_date(struct block *b)
{
	ULong add = tool.count_ir ? (ULong)b->instructions : 0;
	IRExpr *counter = NULL;

	if (tool.count_bb && !b->block_counted)
		add += tool.count_ir ? 1ull << 32 : 1;
	b->instructions = 0;
	b->block_counted = True;
	if (!add)
		return;
	if (b->inserted && add < 1ull << 31) {
		ir_emit(b, inserted_cost(add));
		return;
	}
	ir_slot(b, &counter, SLOT(counter));
	addStmtToIRSB(b->out, IRStmt_Put(SLOT(counter), ir_binop(b, Iop_Add64, counter, ir_u64(add))));
}

/* Other exits are faults, as of what is not aligned, and another try of an atomic instruction. */
static Bool is_branch(const IRStmt *st, Addr at)
{
	return st->tag == Ist_Exit && st->Ist.Exit.jk == Ijk_Boring && st->Ist.Exit.dst->Ico.U64 != at;
}

static void begin_basic_block(struct block *b)
{
	b->branches -= b->branched;
	b->branched = False;
	b->block_counted = b->cut && !b->branches;
}

static void forget_places(struct block *b)
{
	places_empty(&b->seen);
	places_empty(&b->own);
	b->window_8th = b->top_stamps = NULL;
}

/* ---- calls, returns, stack switches ---- */

static IRExpr *stack_pointer(struct block *b)
{
	return ir_assign(b, Ity_I64, IRExpr_Get(STACK_POINTER, Ity_I64));
}

/* The stub will jump to a function; frames at or below its return address were left without a return that we saw. */
static void on_stub_call(struct block *b, IRExpr *sp)
{
	IRExpr *top = NULL;
	IRDirty *d = slots_call("tool_call_stub", tool_call_stub, 2, mkIRExprVec_2(IRExpr_GSPTR(), sp));

	if (b->inserted) {
		ir_emit(b, inserted_stub_call());
		return;
	}
	ir_slot(b, &top, SLOT(top_sp));
	d->guard = ir_assign(b, Ity_I1, IRExpr_Binop(Iop_CmpLE64U, top, sp));
	ir_emit(b, d);
}

static void on_call(struct block *b, IRExpr *next)
{
	IRExpr *sp = stack_pointer(b);

	if (next->tag == Iex_Const) {
		const struct callee *callee = tool_callee_at((Addr)next->Iex.Const.con->Ico.U64);

		if (callee->fn != TOOL_FN_STUB)
			ir_emit(b, slots_call("tool_call", tool_call, 3, mkIRExprVec_3(IRExpr_GSPTR(), ir_u64((Addr)callee), sp)));
		else
			on_stub_call(b, sp);
		return;
	}
	ir_emit(b, slots_call("tool_call_address", tool_call_address, 3, mkIRExprVec_3(IRExpr_GSPTR(), next, sp)));
}

/* At a function's first instruction: were we called, or did somebody jump here? */
static void on_entry(struct block *b, Addr address)
{
	const struct callee *callee = tool_callee_at(address);
	IRExpr *top = NULL;
	IRDirty *d;

	if (callee->fn == TOOL_FN_STUB)
		return;
	if (b->inserted) {
		ir_emit(b, inserted_entry(callee));
		return;
	}
	ir_slot(b, &top, SLOT(top_fn));
	d = slots_call("tool_jump", tool_jump, 3, mkIRExprVec_3(IRExpr_GSPTR(), ir_u64((Addr)callee), stack_pointer(b)));
	d->guard = ir_assign(b, Ity_I1, IRExpr_Binop(Iop_CmpNE64, top, ir_u64(callee->fn)));
	ir_emit(b, d);
}

/* The stack pointer is about to get a value of unknown descent. */
static void on_stack_pointer(struct block *b, IRExpr *value)
{
	IRExpr *old = stack_pointer(b), *top = NULL, *below, *above, *either;
	IRDirty *d;

	bring_counter_up_to_date(b);
	ir_slot(b, &top, SLOT(top_sp));
	below = ir_assign(b, Ity_I64, IRExpr_Unop(Iop_1Uto64, ir_assign(b, Ity_I1, IRExpr_Binop(Iop_CmpLT64U, value, old))));
	above = ir_assign(b, Ity_I64, IRExpr_Unop(Iop_1Uto64, ir_assign(b, Ity_I1, IRExpr_Binop(Iop_CmpLT64U, top, value))));
	either = ir_binop(b, Iop_Or64, below, above);
	d = slots_call("tool_stack_moved", tool_stack_moved, 3, mkIRExprVec_3(IRExpr_GSPTR(), value, old));
	d->guard = ir_assign(b, Ity_I1, IRExpr_Binop(Iop_CmpNE64, either, ir_u64(0)));
	ir_emit(b, d);
	forget_places(b);
	/* What is computed from it from here on is computed from the stack pointer. */
	if (value->tag == Iex_RdTmp)
		b->origin[value->Iex.RdTmp.tmp].sp = SP_DERIVED;
}

static Bool derives_from_sp(const struct block *b, const IRExpr *e)
{
	return e->tag == Iex_RdTmp && b->origin[e->Iex.RdTmp.tmp].sp != UNRELATED;
}

/* ---- statements ---- */

static void on_dirty(struct block *b, const IRDirty *d)
{
	if (d->mFx == Ifx_None)
		return;
	if (d->mFx == Ifx_Read || d->mFx == Ifx_Modify)
		block_access_call(b, "tool_read", tool_read, d->mAddr, d->mSize, d->guard);
	if (d->mFx == Ifx_Write || d->mFx == Ifx_Modify)
		block_access_call(b, "tool_write", tool_write, d->mAddr, d->mSize, d->guard);
	if (d->guard->tag != Iex_Const)
		places_empty(&b->own);
}

static Int bytes_of(const struct block *b, const IRExpr *e)
{
	return sizeofIRType(typeOfIRExpr(b->out->tyenv, e));
}

static void on_cas(struct block *b, const IRCAS *cas)
{
	Int bytes = bytes_of(b, cas->dataLo) * (cas->dataHi ? 2 : 1);

	block_access_call(b, "tool_read", tool_read, cas->addr, bytes, NULL);
	block_access_call(b, "tool_write", tool_write, cas->addr, bytes, NULL);
}

static void on_guarded_load(struct block *b, const IRLoadG *load)
{
	IRType result, loaded;

	typeOfIRLoadGOp(load->cvt, &result, &loaded);
	block_access_call(b, "tool_read", tool_read, load->addr, sizeofIRType(loaded), load->guard);
}

static void on_guarded_store(struct block *b, const IRStoreG *store)
{
	block_access_call(b, "tool_write", tool_write, store->addr, bytes_of(b, store->data), store->guard);
}

/* What a block ends with that is not data: the return address that it pushes or pops. */
struct linkage {
	const IRStmt *push, *pop;
};

static struct linkage find_linkage(const IRSB *in)
{
	struct linkage l = { NULL, NULL };

	for (Int i = in->stmts_used - 1; i >= 0; i--) {
		const IRStmt *st = in->stmts[i];

		if (in->jumpkind == Ijk_Call && st->tag == Ist_Store) {
			if (st->Ist.Store.data->tag == Iex_Const)
				l.push = st;
			break;
		}
		if (in->jumpkind == Ijk_Ret && st->tag == Ist_WrTmp && in->next->tag == Iex_RdTmp &&
		    st->Ist.WrTmp.tmp == in->next->Iex.RdTmp.tmp) {
			if (st->Ist.WrTmp.data->tag == Iex_Load)
				l.pop = st;
			break;
		}
	}
	return l;
}

static void on_statement(struct block *b, IRStmt *st, const struct linkage *linkage)
{
	switch (st->tag) {
	case Ist_IMark:
		if (b->branched)
			begin_basic_block(b);
		b->instructions++;
		b->at = st->Ist.IMark.addr;
		break;
	case Ist_Exit:
		bring_counter_up_to_date(b);
		b->branched |= is_branch(st, b->at);
		break;
	case Ist_Put:
		if (st->Ist.Put.offset == STACK_POINTER && !derives_from_sp(b, st->Ist.Put.data))
			on_stack_pointer(b, st->Ist.Put.data);
		break;
	default:
		break;
	}
	addStmtToIRSB(b->out, st);
	switch (st->tag) {
	case Ist_WrTmp:
		if (st->Ist.WrTmp.data->tag == Iex_Load) {
			if (st != linkage->pop)
				block_read(b, st->Ist.WrTmp.data->Iex.Load.addr, sizeofIRType(st->Ist.WrTmp.data->Iex.Load.ty));
		} else {
			origin_note(b->origin, st->Ist.WrTmp.tmp, st->Ist.WrTmp.data);
		}
		break;
	case Ist_Store:
		if (st != linkage->push)
			block_write(b, st->Ist.Store.addr, bytes_of(b, st->Ist.Store.data));
		break;
	case Ist_Dirty:
		on_dirty(b, st->Ist.Dirty.details);
		break;
	case Ist_CAS:
		on_cas(b, st->Ist.CAS.details);
		break;
	case Ist_LoadG:
		on_guarded_load(b, st->Ist.LoadG.details);
		break;
	case Ist_StoreG:
		on_guarded_store(b, st->Ist.StoreG.details);
		break;
	default:
		break;
	}
}

/* What a stub will jump to: its slot is filled by now and hardly ever changes. 0 when that cannot be told. */
static Addr target_of_stub(const IRSB *in)
{
	for (Int i = 0; i < in->stmts_used; i++) {
		const IRStmt *st = in->stmts[i];

		if (st->tag == Ist_WrTmp && st->Ist.WrTmp.tmp == in->next->Iex.RdTmp.tmp && st->Ist.WrTmp.data->tag == Iex_Load &&
		    st->Ist.WrTmp.data->Iex.Load.addr->tag == Iex_Const) {
			Addr slot = (Addr)st->Ist.WrTmp.data->Iex.Load.addr->Iex.Const.con->Ico.U64;

			return VG_(am_is_valid_for_client)(slot, sizeof(Addr), VKI_PROT_READ) ? *(const Addr *)slot : 0;
		}
	}
	return 0;
}

/* A stub's jump ends in a function: as long as it is the one we know, with a jump that needs no look-up. */
static void on_stub_jump(struct block *b, const IRSB *in)
{
	Addr target = target_of_stub(in);
	const struct callee *callee = target ? tool_stub_target(target) : NULL;

	if (callee) {
		IRDirty *d = slots_call("tool_jump", tool_jump, 3, mkIRExprVec_3(IRExpr_GSPTR(), ir_u64((Addr)callee), stack_pointer(b)));

		d->guard = ir_assign(b, Ity_I1, IRExpr_Binop(Iop_CmpEQ64, in->next, ir_u64(target)));
		ir_emit(b, d);
		addStmtToIRSB(b->out, IRStmt_Exit(ir_assign(b, Ity_I1, IRExpr_Binop(Iop_CmpEQ64, in->next, ir_u64(target))), Ijk_Boring,
						  IRConst_U64(target), in->offsIP));
	}
	ir_emit(b, slots_call("tool_jump_from_stub", tool_jump_from_stub, 3,
			   mkIRExprVec_3(IRExpr_GSPTR(), in->next, stack_pointer(b))));
}

/* A jump to an address that is computed. It ends in a function if it leaves the module, be its symbol known or not. */
static void on_jump(struct block *b, IRExpr *next)
{
	IRExpr *distance;
	IRDirty *d;
	Addr start;
	SizeT bytes;

	if (!tool_code_range(b->address_of_block, &start, &bytes))
		return;
	if (b->inserted && (start | bytes) < 1u << 31) {
		ir_emit(b, inserted_jump(next, start, bytes));
		return;
	}
	distance = ir_binop(b, Iop_Sub64, next, ir_u64(start));
	d = slots_call("tool_jump_address", tool_jump_address, 3, mkIRExprVec_3(IRExpr_GSPTR(), next, stack_pointer(b)));
	d->guard = ir_assign(b, Ity_I1, IRExpr_Binop(Iop_CmpLE64U, ir_u64(bytes), distance));
	ir_emit(b, d);
}

static void on_block_end(struct block *b, const IRSB *in, const struct linkage *linkage, Bool stub)
{
	bring_counter_up_to_date(b);
	if (in->jumpkind == Ijk_Call)
		on_call(b, in->next);
	else if (in->jumpkind == Ijk_Ret && linkage->pop)
		ir_emit(b, slots_call("tool_return", tool_return, 2,
				   mkIRExprVec_2(IRExpr_GSPTR(), linkage->pop->Ist.WrTmp.data->Iex.Load.addr)));
	else if (in->jumpkind == Ijk_Boring && in->next->tag == Iex_RdTmp && stub)
		on_stub_jump(b, in);
	else if (in->jumpkind == Ijk_Boring && in->next->tag == Iex_RdTmp)
		on_jump(b, in->next);
}

/*
 * Where basic blocks end. Does the last one end only because Valgrind's do not get longer? What follows is still the same one,
 * and counts there.
 */
static void find_basic_blocks(struct block *b, const IRSB *in)
{
	const IRStmt *last = NULL;
	Int instructions = 0;
	Addr at = 0;

	for (Int i = 0; i < in->stmts_used; i++) {
		if (in->stmts[i]->tag == Ist_IMark) {
			b->branches += instructions && !last;
			last = in->stmts[i];
			at = last->Ist.IMark.addr;
			instructions++;
		} else if (is_branch(in->stmts[i], at)) {
			last = NULL;
		}
	}
	b->cut = last && instructions == VG_(clo_vex_control).guest_max_insns && in->jumpkind == Ijk_Boring &&
	       in->next->tag == Iex_Const && in->next->Iex.Const.con->Ico.U64 == last->Ist.IMark.addr + last->Ist.IMark.len;
}

IRSB *tool_instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout,
		      const VexGuestExtents *extents, const VexArchInfo *archinfo, IRType guest_word, IRType host_word)
{
	Addr address = closure->nraddr;
	struct block b = { .out = deepCopyIRSBExceptStmts(in), .address_of_block = address, .inserted = inserted_possible() };
	struct linkage linkage = find_linkage(in);
	Bool stub = tool_is_stub(address);
	Int i = 0;

	b.origin = origins_new(in->tyenv->types_used);
	find_basic_blocks(&b, in);
	begin_basic_block(&b);
	while (i < in->stmts_used && in->stmts[i]->tag != Ist_IMark)
		addStmtToIRSB(b.out, in->stmts[i++]);
	if (!stub && tool_is_entry(address))
		on_entry(&b, address);
	for (; i < in->stmts_used; i++)
		if (in->stmts[i]->tag != Ist_NoOp)
			on_statement(&b, in->stmts[i], &linkage);
	on_block_end(&b, in, &linkage, stub);
	VG_(free)(b.origin);
	return b.out;
}
