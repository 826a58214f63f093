/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is added to each block of client code:
 *
 *   - one addition to the cost counter before each exit;
 *   - for loads, a comparison of the cells' shadow words with the topmost
 *     activation's stamp, and a call that is made only if a word is stale
 *     (core/stamp.h says why one subtraction decides);
 *   - for stores, the new stamps; once there are several stacks, a check first
 *     whether the cells are this fiber's own;
 *   - at calls, returns and jumps to functions, a report to calls.c;
 *   - a report to stacks.c when the stack pointer leaves its frame.
 *
 * Loads and stores come before their checks, so that one which faults, faults
 * first. The load of a return address and
 * the store of one are not data and not checked. Addresses that derive from
 * the stack pointer are taken to be aligned as their offset is.
 */
#include "sources/valgrind/tool.h"
#include "sources/valgrind/inserted.h"
#include "sources/valgrind/origins.h"

#define SLOT(field) ((Int)(SLOTS_OFFSET + offsetof(struct slots, field)))

struct block {
	IRSB *out;
	struct origin *origin;       /* of each temporary; base is itself when nothing is known */
	IRExpr *window_8th, *top_stamps;   /* fetched on first use */

	struct places seen;          /* cells that are up to date for the rest of the block */
	struct places own;           /* cells stored to in this block */

	Addr address_of_block;
	Bool inserted;               /* checks are machine code (inserted.h) instead of IR */
	Int instructions;            /* since the counter was last brought up to date */
	Bool block_counted;          /* or not to be counted here */
};

/* ---- small pieces of IR ---- */

static IRExpr *assign(struct block *b, IRType type, IRExpr *e)
{
	IRTemp t = newIRTemp(b->out->tyenv, type);

	addStmtToIRSB(b->out, IRStmt_WrTmp(t, e));
	return IRExpr_RdTmp(t);
}

static IRExpr *u64(ULong value)
{
	return IRExpr_Const(IRConst_U64(value));
}

static IRExpr *u32(UInt value)
{
	return IRExpr_Const(IRConst_U32(value));
}

static IRExpr *binop32(struct block *b, IROp op, IRExpr *x, IRExpr *y)
{
	return assign(b, Ity_I32, IRExpr_Binop(op, x, y));
}

static IRExpr *low_half(struct block *b, IRExpr *x)
{
	return assign(b, Ity_I32, IRExpr_Unop(Iop_64to32, x));
}

static IRExpr *binop(struct block *b, IROp op, IRExpr *x, IRExpr *y)
{
	return assign(b, Ity_I64, IRExpr_Binop(op, x, y));
}

static IRExpr *shift(struct block *b, IROp op, IRExpr *x, Int by)
{
	return by ? assign(b, Ity_I64, IRExpr_Binop(op, x, IRExpr_Const(IRConst_U8((UChar)by)))) : x;
}

static IRExpr *slot(struct block *b, IRExpr **kept, Int offset)
{
	if (!*kept)
		*kept = assign(b, Ity_I64, IRExpr_Get(offset, Ity_I64));
	return *kept;
}

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

static void emit(struct block *b, IRDirty *d)
{
	addStmtToIRSB(b->out, IRStmt_Dirty(d));
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
		emit(b, inserted_cost(add));
		return;
	}
	slot(b, &counter, SLOT(counter));
	addStmtToIRSB(b->out, IRStmt_Put(SLOT(counter), binop(b, Iop_Add64, counter, u64(add))));
}

static void forget_places(struct block *b)
{
	places_empty(&b->seen);
	places_empty(&b->own);
	b->window_8th = b->top_stamps = NULL;
}

/* ---- shadow words ---- */

static UInt cell_log2(void)
{
	return tool.session.config.cell_log2;
}

/* Cells that an access touches if it is aligned. */
static Int cells_of(Int bytes)
{
	return bytes > tool.options.cell_bytes ? bytes / tool.options.cell_bytes : 1;
}

/* Low bits of the address that must be zero for that, as log2. */
static Int align_log2(Int bytes)
{
	Int limit = bytes < tool.options.cell_bytes ? bytes : tool.options.cell_bytes, log2 = 0;

	while ((2 << log2) <= limit)
		log2++;
	return log2;
}

static Bool surely_aligned(const struct origin *o, Int bytes)
{
	Int low = (1 << align_log2(bytes)) - 1;

	return (o->offset & low) == 0 && (o->base == IRTemp_INVALID || (o->sp == SP_PLUS_OFFSET && low <= 3));
}

static Bool inline_size(Int bytes)
{
	return (bytes & (bytes - 1)) == 0 && bytes <= 32 && cells_of(bytes) <= 8;
}

/* Address of the shadow word of the cell that holds `address`, which may be known to begin a cell. */
static IRExpr *word_address(struct block *b, IRExpr *address, Bool begins_cell)
{
	IRExpr *window, *scaled = address;

	slot(b, &b->window_8th, SLOT(window_8th));
	if (address->tag == Iex_Const) {
		scaled = u64(address->Iex.Const.con->Ico.U64 >> cell_log2() << 2);
	} else if (cell_log2() == 2) {
		if (!begins_cell)
			scaled = binop(b, Iop_And64, address, u64(~3ull));
	} else {
		scaled = shift(b, Iop_Shl64, shift(b, Iop_Shr64, address, (Int)cell_log2()), 2);
	}
	/* A fresh shift each time: instruction selection folds it into the addressing mode. */
	window = shift(b, Iop_Shl64, b->window_8th, 3);
	return scaled->tag == Iex_Const ? binop(b, Iop_Add64, window, scaled) : binop(b, Iop_Add64, scaled, window);
}

static IRExpr *plus(struct block *b, IRExpr *address, Long offset)
{
	if (address->tag == Iex_Const)
		return u64(address->Iex.Const.con->Ico.U64 + (ULong)offset);
	return offset ? binop(b, Iop_Add64, address, u64((ULong)offset)) : address;
}

static IRExpr *load_words(struct block *b, IRExpr *at, Int cells)
{
	IRType type = cells > 1 ? Ity_I64 : Ity_I32;

	return assign(b, type, IRExpr_Load(Iend_LE, type, at));
}

/* ---- reads ---- */

/* The helper for stale words; one argument costs less than two, also when it is not called. */
static IRDirty *read_call(IRExpr *address, ULong bytes)
{
	static const struct { ULong bytes; const HChar *name; void (*helper)(Addr) VG_REGPARM(1); } direct[] = {
		{ 8, "tool_read_8", tool_read_8 }, { 4, "tool_read_4", tool_read_4 }, { 1, "tool_read_1", tool_read_1 },
	};

	for (UInt i = 0; cell_log2() == 2 && i < 3; i++)
		if (direct[i].bytes == bytes)
			return unsafeIRDirty_0_N(1, direct[i].name, VG_(fnptr_to_fnentry)(direct[i].helper), mkIRExprVec_1(address));
	return unsafeIRDirty_0_N(2, "tool_read", VG_(fnptr_to_fnentry)(tool_read), mkIRExprVec_2(address, u64(bytes)));
}

static void access_call(struct block *b, const HChar *name, void *helper, IRExpr *address, Int bytes, IRExpr *guard)
{
	IRDirty *d = unsafeIRDirty_0_N(2, name, VG_(fnptr_to_fnentry)(helper), mkIRExprVec_2(address, u64((ULong)bytes)));

	if (guard)
		d->guard = guard;
	emit(b, d);
}

/* Bits of the stale mask (of 32 or 64 bits) if the address is not aligned for the access. */
static IRExpr *misaligned(struct block *b, IRExpr *address, Int bytes, Bool wide)
{
	Int log2 = align_log2(bytes);

	if (log2 <= 2 && wide)
		return shift(b, Iop_Shl64, address, 64 - log2);
	if (log2 <= 2)
		return binop32(b, Iop_Shl32, low_half(b, address), IRExpr_Const(IRConst_U8((UChar)(32 - log2))));
	IRExpr *low = binop(b, Iop_And64, address, u64((1ull << log2) - 1));
	IRExpr *any = assign(b, Ity_I1, IRExpr_Binop(Iop_CmpNE64, low, u64(0)));

	return wide ? assign(b, Ity_I64, IRExpr_Unop(Iop_1Sto64, any)) : assign(b, Ity_I32, IRExpr_Unop(Iop_1Sto32, any));
}

/*
 * Is one of the words stale, or the access misaligned? Written so that few
 * instructions come of it: stamps and masks are operands in memory, and the
 * last operation leaves the flags that are asked for.
 */
static IRExpr *stale_cell(struct block *b, IRExpr *at, IRExpr *misaligned)
{
	IRExpr *word = load_words(b, at, 1), *top = assign(b, Ity_I32, IRExpr_Get(SLOT(top_stamps), Ity_I32));

	if (!misaligned)
		return assign(b, Ity_I1, IRExpr_Binop(Iop_CmpLT32S, word, top));
	IRExpr *stale = binop32(b, Iop_Or32, binop32(b, Iop_Sub32, word, top), misaligned);

	stale = binop32(b, Iop_And32, stale, u32(SLOPE_STALE_MASK));
	return assign(b, Ity_I1, IRExpr_Unop(Iop_CmpNEZ32, stale));
}

static IRExpr *stale_cells(struct block *b, IRExpr *at, Int cells, IRExpr *misaligned)
{
	IRExpr *stale = misaligned;

	for (Int i = 0; i < cells; i += 2) {
		IRExpr *words = load_words(b, plus(b, at, i * 4), 2);
		IRExpr *age = binop(b, Iop_Sub64, words, assign(b, Ity_I64, IRExpr_Get(SLOT(top_stamps), Ity_I64)));

		stale = stale ? binop(b, Iop_Or64, age, stale) : age;
	}
	stale = binop(b, Iop_And64, stale, assign(b, Ity_I64, IRExpr_Get(SLOT(stale_masks), Ity_I64)));
	return assign(b, Ity_I1, IRExpr_Unop(Iop_CmpNEZ64, stale));
}

/* Whole cells at an odd address have odd words, which look stale where stamps are marked. */
static Bool shows_when_odd(Int bytes)
{
	return tool.session.config.marked && bytes >= tool.options.cell_bytes;
}

static void on_read(struct block *b, IRExpr *address, Int bytes)
{
	struct origin o = origin_of(b->origin, address);

	if (places_have(&b->seen, &o, bytes))
		return;
	places_add(&b->seen, &o, bytes);
	if (!tool.inlined || !inline_size(bytes)) {
		access_call(b, "tool_read", tool_read, address, bytes, NULL);
		return;
	}
	if (b->inserted) {
		emit(b, inserted_read(address, bytes));
		return;
	}
	/* A misaligned access of whole cells goes to the helper, wherever its words are. */
	Int cells = cells_of(bytes);
	IRExpr *at = word_address(b, address, bytes >= tool.options.cell_bytes), *odd = NULL;
	IRDirty *d = read_call(address, (ULong)bytes);

	if (align_log2(bytes) && !surely_aligned(&o, bytes) && !shows_when_odd(bytes))
		odd = misaligned(b, address, bytes, cells > 1);
	d->guard = cells > 1 ? stale_cells(b, at, cells, odd) : stale_cell(b, at, odd);
	emit(b, d);
}

/* ---- writes ---- */

/* Stamps the aligned run of cells, and where the access may be misaligned, the cell of its last byte. */
static void stamp_inline(struct block *b, IRExpr *address, Int bytes, Bool aligned)
{
	Int cells = cells_of(bytes);
	IRExpr *at = word_address(b, address, aligned && bytes >= tool.options.cell_bytes), *one;

	slot(b, &b->top_stamps, SLOT(top_stamps));
	one = low_half(b, b->top_stamps);
	if (cells == 1)
		addStmtToIRSB(b->out, IRStmt_Store(Iend_LE, at, one));
	for (Int i = 0; cells > 1 && i < cells; i += 2)
		addStmtToIRSB(b->out, IRStmt_Store(Iend_LE, plus(b, at, i * 4), b->top_stamps));
	if (!aligned)
		addStmtToIRSB(b->out, IRStmt_Store(Iend_LE, word_address(b, plus(b, address, bytes - 1), False), one));
}

/* A call if one of the words is not this fiber's own. */
static void check_own(struct block *b, IRExpr *address, Int bytes, Bool aligned)
{
	Int cells = cells_of(bytes);
	IRExpr *at = word_address(b, address, aligned && bytes >= tool.options.cell_bytes), *all = NULL, *words, *one = NULL;

	for (Int i = 0; i < cells; i += 2) {
		words = load_words(b, plus(b, at, i * 4), cells);
		all = all ? binop(b, Iop_And64, all, words) : words;
	}
	/* Both halves of the pairs count. */
	if (cells > 1)
		all = low_half(b, binop(b, Iop_And64, all, shift(b, Iop_Shr64, all, 32)));
	if (!aligned) {
		one = load_words(b, word_address(b, plus(b, address, bytes - 1), False), 1);
		all = binop32(b, Iop_And32, all, one);
	}
	/* The lowest bit: SLOPE_STAMP_OWN. */
	all = assign(b, Ity_I1, IRExpr_Unop(Iop_32to1, all));
	access_call(b, "tool_write", tool_write, address, bytes, assign(b, Ity_I1, IRExpr_Unop(Iop_Not1, all)));
}

static void on_write(struct block *b, IRExpr *address, Int bytes)
{
	struct origin o = origin_of(b->origin, address);

	if (places_have(&b->own, &o, bytes))
		return;
	places_add(&b->own, &o, bytes);
	places_add(&b->seen, &o, bytes);
	if (!tool.inlined || !inline_size(bytes)) {
		access_call(b, "tool_write", tool_write, address, bytes, NULL);
		return;
	}
	Bool aligned = align_log2(bytes) == 0 || surely_aligned(&o, bytes);

	if (b->inserted && !tool.check_writes) {
		emit(b, inserted_write(address, bytes, aligned));
		return;
	}
	if (tool.check_writes)
		check_own(b, address, bytes, aligned);
	stamp_inline(b, address, bytes, aligned);
}

/* ---- calls, returns, stack switches ---- */

static IRExpr *stack_pointer(struct block *b)
{
	return assign(b, Ity_I64, IRExpr_Get(STACK_POINTER, Ity_I64));
}

/* The stub will jump to a function; frames at or below its return address were left without a return that we saw. */
static void on_stub_call(struct block *b, IRExpr *sp)
{
	IRExpr *top = NULL;
	IRDirty *d = slots_call("tool_call_stub", tool_call_stub, 2, mkIRExprVec_2(IRExpr_GSPTR(), sp));

	if (b->inserted) {
		emit(b, inserted_stub_call());
		return;
	}
	slot(b, &top, SLOT(top_sp));
	d->guard = assign(b, Ity_I1, IRExpr_Binop(Iop_CmpLE64U, top, sp));
	emit(b, d);
}

static void on_call(struct block *b, IRExpr *next)
{
	IRExpr *sp = stack_pointer(b);

	if (next->tag == Iex_Const) {
		const struct callee *callee = tool_callee_at((Addr)next->Iex.Const.con->Ico.U64);

		if (callee->fn != TOOL_FN_STUB)
			emit(b, slots_call("tool_call", tool_call, 3, mkIRExprVec_3(IRExpr_GSPTR(), u64((Addr)callee), sp)));
		else
			on_stub_call(b, sp);
		return;
	}
	emit(b, slots_call("tool_call_address", tool_call_address, 3, mkIRExprVec_3(IRExpr_GSPTR(), next, sp)));
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
		emit(b, inserted_entry(callee));
		return;
	}
	slot(b, &top, SLOT(top_fn));
	d = slots_call("tool_jump", tool_jump, 3, mkIRExprVec_3(IRExpr_GSPTR(), u64((Addr)callee), stack_pointer(b)));
	d->guard = assign(b, Ity_I1, IRExpr_Binop(Iop_CmpNE64, top, u64(callee->fn)));
	emit(b, d);
}

/* The stack pointer is about to get a value of unknown descent. */
static void on_stack_pointer(struct block *b, IRExpr *value)
{
	IRExpr *old = stack_pointer(b), *top = NULL, *below, *above, *either;
	IRDirty *d;

	bring_counter_up_to_date(b);
	slot(b, &top, SLOT(top_sp));
	below = assign(b, Ity_I64, IRExpr_Unop(Iop_1Uto64, assign(b, Ity_I1, IRExpr_Binop(Iop_CmpLT64U, value, old))));
	above = assign(b, Ity_I64, IRExpr_Unop(Iop_1Uto64, assign(b, Ity_I1, IRExpr_Binop(Iop_CmpLT64U, top, value))));
	either = binop(b, Iop_Or64, below, above);
	d = slots_call("tool_stack_moved", tool_stack_moved, 3, mkIRExprVec_3(IRExpr_GSPTR(), value, old));
	d->guard = assign(b, Ity_I1, IRExpr_Binop(Iop_CmpNE64, either, u64(0)));
	emit(b, d);
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
		access_call(b, "tool_read", tool_read, d->mAddr, d->mSize, d->guard);
	if (d->mFx == Ifx_Write || d->mFx == Ifx_Modify)
		access_call(b, "tool_write", tool_write, d->mAddr, d->mSize, d->guard);
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

	access_call(b, "tool_read", tool_read, cas->addr, bytes, NULL);
	access_call(b, "tool_write", tool_write, cas->addr, bytes, NULL);
}

static void on_guarded_load(struct block *b, const IRLoadG *load)
{
	IRType result, loaded;

	typeOfIRLoadGOp(load->cvt, &result, &loaded);
	access_call(b, "tool_read", tool_read, load->addr, sizeofIRType(loaded), load->guard);
}

static void on_guarded_store(struct block *b, const IRStoreG *store)
{
	access_call(b, "tool_write", tool_write, store->addr, bytes_of(b, store->data), store->guard);
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
		b->instructions++;
		break;
	case Ist_Exit:
		bring_counter_up_to_date(b);
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
				on_read(b, st->Ist.WrTmp.data->Iex.Load.addr, sizeofIRType(st->Ist.WrTmp.data->Iex.Load.ty));
		} else {
			origin_note(b->origin, st->Ist.WrTmp.tmp, st->Ist.WrTmp.data);
		}
		break;
	case Ist_Store:
		if (st != linkage->push)
			on_write(b, st->Ist.Store.addr, bytes_of(b, st->Ist.Store.data));
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
		IRDirty *d = slots_call("tool_jump", tool_jump, 3, mkIRExprVec_3(IRExpr_GSPTR(), u64((Addr)callee), stack_pointer(b)));

		d->guard = assign(b, Ity_I1, IRExpr_Binop(Iop_CmpEQ64, in->next, u64(target)));
		emit(b, d);
		addStmtToIRSB(b->out, IRStmt_Exit(assign(b, Ity_I1, IRExpr_Binop(Iop_CmpEQ64, in->next, u64(target))), Ijk_Boring,
						  IRConst_U64(target), in->offsIP));
	}
	emit(b, slots_call("tool_jump_from_stub", tool_jump_from_stub, 3,
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
		emit(b, inserted_jump(next, start, bytes));
		return;
	}
	distance = binop(b, Iop_Sub64, next, u64(start));
	d = slots_call("tool_jump_address", tool_jump_address, 3, mkIRExprVec_3(IRExpr_GSPTR(), next, stack_pointer(b)));
	d->guard = assign(b, Ity_I1, IRExpr_Binop(Iop_CmpLE64U, u64(bytes), distance));
	emit(b, d);
}

static void on_block_end(struct block *b, const IRSB *in, const struct linkage *linkage, Bool stub)
{
	bring_counter_up_to_date(b);
	if (in->jumpkind == Ijk_Call)
		on_call(b, in->next);
	else if (in->jumpkind == Ijk_Ret && linkage->pop)
		emit(b, slots_call("tool_return", tool_return, 2,
				   mkIRExprVec_2(IRExpr_GSPTR(), linkage->pop->Ist.WrTmp.data->Iex.Load.addr)));
	else if (in->jumpkind == Ijk_Boring && in->next->tag == Iex_RdTmp && stub)
		on_stub_jump(b, in);
	else if (in->jumpkind == Ijk_Boring && in->next->tag == Iex_RdTmp)
		on_jump(b, in->next);
}

/* Does the block end only because Valgrind's do not get longer? What follows is still the same one, and counts there. */
static Bool is_cut(const IRSB *in)
{
	const IRStmt *last = NULL;
	Int instructions = 0;

	for (Int i = 0; i < in->stmts_used; i++) {
		if (in->stmts[i]->tag == Ist_IMark) {
			last = in->stmts[i];
			instructions++;
		} else if (in->stmts[i]->tag == Ist_Exit) {
			last = NULL;
		}
	}
	return last && instructions == VG_(clo_vex_control).guest_max_insns && in->jumpkind == Ijk_Boring &&
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
	b.block_counted = is_cut(in);
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
