/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is added to loads and stores:
 *
 *   - for loads, a comparison of the cells' shadow words with the topmost
 *     activation's stamp, and a call that is made only if a word is stale
 *     (core/stamp.h says why one subtraction decides);
 *   - for stores, the new stamps; once there are several stacks, a check first
 *     whether the cells are this fiber's own.
 *
 * Addresses that derive from the stack pointer are taken to be aligned as their offset is.
 */
#include "sources/valgrind/irblock.h"

/* ---- small pieces of IR ---- */

static IRExpr *u32(UInt value)
{
	return IRExpr_Const(IRConst_U32(value));
}

static IRExpr *binop32(struct block *b, IROp op, IRExpr *x, IRExpr *y)
{
	return ir_assign(b, Ity_I32, IRExpr_Binop(op, x, y));
}

static IRExpr *low_half(struct block *b, IRExpr *x)
{
	return ir_assign(b, Ity_I32, IRExpr_Unop(Iop_64to32, x));
}

static IRExpr *shift(struct block *b, IROp op, IRExpr *x, Int by)
{
	return by ? ir_assign(b, Ity_I64, IRExpr_Binop(op, x, IRExpr_Const(IRConst_U8((UChar)by)))) : x;
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

	ir_slot(b, &b->window_8th, SLOT(window_8th));
	if (address->tag == Iex_Const) {
		scaled = ir_u64(address->Iex.Const.con->Ico.U64 >> cell_log2() << 2);
	} else if (cell_log2() == 2) {
		if (!begins_cell)
			scaled = ir_binop(b, Iop_And64, address, ir_u64(~3ull));
	} else {
		scaled = shift(b, Iop_Shl64, shift(b, Iop_Shr64, address, (Int)cell_log2()), 2);
	}
	/* A fresh shift each time: instruction selection folds it into the addressing mode. */
	window = shift(b, Iop_Shl64, b->window_8th, 3);
	return scaled->tag == Iex_Const ? ir_binop(b, Iop_Add64, window, scaled) : ir_binop(b, Iop_Add64, scaled, window);
}

static IRExpr *plus(struct block *b, IRExpr *address, Long offset)
{
	if (address->tag == Iex_Const)
		return ir_u64(address->Iex.Const.con->Ico.U64 + (ULong)offset);
	return offset ? ir_binop(b, Iop_Add64, address, ir_u64((ULong)offset)) : address;
}

static IRExpr *load_words(struct block *b, IRExpr *at, Int cells)
{
	IRType type = cells > 1 ? Ity_I64 : Ity_I32;

	return ir_assign(b, type, IRExpr_Load(Iend_LE, type, at));
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
	return unsafeIRDirty_0_N(2, "tool_read", VG_(fnptr_to_fnentry)(tool_read), mkIRExprVec_2(address, ir_u64(bytes)));
}

void block_access_call(struct block *b, const HChar *name, void *helper, IRExpr *address, Int bytes, IRExpr *guard)
{
	IRDirty *d = unsafeIRDirty_0_N(2, name, VG_(fnptr_to_fnentry)(helper), mkIRExprVec_2(address, ir_u64((ULong)bytes)));

	if (guard)
		d->guard = guard;
	ir_emit(b, d);
}

/* Bits of the stale mask (of 32 or 64 bits) if the address is not aligned for the access. */
static IRExpr *misaligned(struct block *b, IRExpr *address, Int bytes, Bool wide)
{
	Int log2 = align_log2(bytes);

	if (log2 <= 2 && wide)
		return shift(b, Iop_Shl64, address, 64 - log2);
	if (log2 <= 2)
		return binop32(b, Iop_Shl32, low_half(b, address), IRExpr_Const(IRConst_U8((UChar)(32 - log2))));
	IRExpr *low = ir_binop(b, Iop_And64, address, ir_u64((1ull << log2) - 1));
	IRExpr *any = ir_assign(b, Ity_I1, IRExpr_Binop(Iop_CmpNE64, low, ir_u64(0)));

	return wide ? ir_assign(b, Ity_I64, IRExpr_Unop(Iop_1Sto64, any)) : ir_assign(b, Ity_I32, IRExpr_Unop(Iop_1Sto32, any));
}

/*
 * Is one of the words stale, or the access misaligned? Written so that few
 * instructions come of it: stamps and masks are operands in memory, and the
 * last operation leaves the flags that are asked for.
 */
static IRExpr *stale_cell(struct block *b, IRExpr *at, IRExpr *misaligned)
{
	IRExpr *word = load_words(b, at, 1), *top = ir_assign(b, Ity_I32, IRExpr_Get(SLOT(top_stamps), Ity_I32));

	if (!misaligned)
		return ir_assign(b, Ity_I1, IRExpr_Binop(Iop_CmpLT32S, word, top));
	IRExpr *stale = binop32(b, Iop_Or32, binop32(b, Iop_Sub32, word, top), misaligned);

	stale = binop32(b, Iop_And32, stale, u32(SLOPE_STALE_MASK));
	return ir_assign(b, Ity_I1, IRExpr_Unop(Iop_CmpNEZ32, stale));
}

static IRExpr *stale_cells(struct block *b, IRExpr *at, Int cells, IRExpr *misaligned)
{
	IRExpr *stale = misaligned;

	for (Int i = 0; i < cells; i += 2) {
		IRExpr *words = load_words(b, plus(b, at, i * 4), 2);
		IRExpr *age = ir_binop(b, Iop_Sub64, words, ir_assign(b, Ity_I64, IRExpr_Get(SLOT(top_stamps), Ity_I64)));

		stale = stale ? ir_binop(b, Iop_Or64, age, stale) : age;
	}
	stale = ir_binop(b, Iop_And64, stale, ir_assign(b, Ity_I64, IRExpr_Get(SLOT(stale_masks), Ity_I64)));
	return ir_assign(b, Ity_I1, IRExpr_Unop(Iop_CmpNEZ64, stale));
}

/* Whole cells at an odd address have odd words, which look stale where stamps are marked. */
static Bool shows_when_odd(Int bytes)
{
	return tool.session.config.marked && bytes >= tool.options.cell_bytes;
}

void block_read(struct block *b, IRExpr *address, Int bytes)
{
	struct origin o = origin_of(b->origin, address);

	if (places_have(&b->seen, &o, bytes))
		return;
	places_add(&b->seen, &o, bytes);
	if (!tool.inlined || !inline_size(bytes)) {
		block_access_call(b, "tool_read", tool_read, address, bytes, NULL);
		return;
	}
	if (b->inserted) {
		ir_emit(b, inserted_read(address, bytes));
		return;
	}
	/* A misaligned access of whole cells goes to the helper, wherever its words are. */
	Int cells = cells_of(bytes);
	IRExpr *at = word_address(b, address, bytes >= tool.options.cell_bytes), *odd = NULL;
	IRDirty *d = read_call(address, (ULong)bytes);

	if (align_log2(bytes) && !surely_aligned(&o, bytes) && !shows_when_odd(bytes))
		odd = misaligned(b, address, bytes, cells > 1);
	d->guard = cells > 1 ? stale_cells(b, at, cells, odd) : stale_cell(b, at, odd);
	ir_emit(b, d);
}

/* ---- writes ---- */

/* Stamps the aligned run of cells, and where the access may be misaligned, the cell of its last byte. */
static void stamp_inline(struct block *b, IRExpr *address, Int bytes, Bool aligned)
{
	Int cells = cells_of(bytes);
	IRExpr *at = word_address(b, address, aligned && bytes >= tool.options.cell_bytes), *one;

	ir_slot(b, &b->top_stamps, SLOT(top_stamps));
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
		all = all ? ir_binop(b, Iop_And64, all, words) : words;
	}
	/* Both halves of the pairs count. */
	if (cells > 1)
		all = low_half(b, ir_binop(b, Iop_And64, all, shift(b, Iop_Shr64, all, 32)));
	if (!aligned) {
		one = load_words(b, word_address(b, plus(b, address, bytes - 1), False), 1);
		all = binop32(b, Iop_And32, all, one);
	}
	/* The lowest bit: SLOPE_STAMP_OWN. */
	all = ir_assign(b, Ity_I1, IRExpr_Unop(Iop_32to1, all));
	block_access_call(b, "tool_write", tool_write, address, bytes, ir_assign(b, Ity_I1, IRExpr_Unop(Iop_Not1, all)));
}

void block_write(struct block *b, IRExpr *address, Int bytes)
{
	struct origin o = origin_of(b->origin, address);

	if (places_have(&b->own, &o, bytes))
		return;
	places_add(&b->own, &o, bytes);
	places_add(&b->seen, &o, bytes);
	if (!tool.inlined || !inline_size(bytes)) {
		block_access_call(b, "tool_write", tool_write, address, bytes, NULL);
		return;
	}
	Bool aligned = align_log2(bytes) == 0 || surely_aligned(&o, bytes);

	if (b->inserted && !tool.check_writes) {
		ir_emit(b, inserted_write(address, bytes, aligned));
		return;
	}
	if (tool.check_writes)
		check_own(b, address, bytes, aligned);
	stamp_inline(b, address, bytes, aligned);
}
