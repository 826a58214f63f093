/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A block of client code that is being added to: what both files that do it
 * share. instrument.c has the block itself, its cost and its calls; shadowcode.c its loads and stores.
 */
#ifndef SLOPE_SOURCES_VALGRIND_IRBLOCK_H
#define SLOPE_SOURCES_VALGRIND_IRBLOCK_H

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
	Addr at;                     /* the instruction at hand, */
	Bool branched;               /* which is a branch */
	Int branches;                /* in the midst, from here on: jrcxz and loop do not end Valgrind's blocks, but basic ones */
	Bool cut;                    /* the last basic block goes on in Valgrind's next */
};

/* ---- shadowcode.c: behind the load or store itself ---- */

void block_read(struct block *b, IRExpr *address, Int bytes);
void block_write(struct block *b, IRExpr *address, Int bytes);
/* A call of tool_read or tool_write, if `guard` (NULL: always). */
void block_access_call(struct block *b, const HChar *name, void *helper, IRExpr *address, Int bytes, IRExpr *guard);

/* ---- small pieces of IR ---- */

static inline IRExpr *ir_assign(struct block *b, IRType type, IRExpr *e)
{
	IRTemp t = newIRTemp(b->out->tyenv, type);

	addStmtToIRSB(b->out, IRStmt_WrTmp(t, e));
	return IRExpr_RdTmp(t);
}

static inline IRExpr *ir_u64(ULong value)
{
	return IRExpr_Const(IRConst_U64(value));
}

static inline IRExpr *ir_binop(struct block *b, IROp op, IRExpr *x, IRExpr *y)
{
	return ir_assign(b, Ity_I64, IRExpr_Binop(op, x, y));
}

/* A slot of the guest state, as it was when the block first asked for it. */
static inline IRExpr *ir_slot(struct block *b, IRExpr **kept, Int offset)
{
	if (!*kept)
		*kept = ir_assign(b, Ity_I64, IRExpr_Get(offset, Ity_I64));
	return *kept;
}

static inline void ir_emit(struct block *b, IRDirty *d)
{
	addStmtToIRSB(b->out, IRStmt_Dirty(d));
}

#endif
