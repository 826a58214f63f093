/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sources/valgrind/origins.h"

struct origin *origins_new(Int count)
{
	struct origin *origins = VG_(malloc)("slope.origins", (SizeT)(count + 1) * sizeof *origins);

	for (Int t = 0; t < count; t++)
		origins[t] = (struct origin){ (IRTemp)t, 0, UNRELATED };
	return origins;
}

struct origin origin_of(const struct origin *origins, const IRExpr *atom)
{
	if (atom->tag == Iex_Const)
		return (struct origin){ IRTemp_INVALID, (Long)atom->Iex.Const.con->Ico.U64, UNRELATED };
	return origins[atom->Iex.RdTmp.tmp];
}

static void note_sum(struct origin *origins, struct origin *o, const IRExpr *e)
{
	const IRExpr *x = e->Iex.Binop.arg1, *y = e->Iex.Binop.arg2;

	if (x->tag != Iex_RdTmp)
		return;
	if (y->tag == Iex_Const) {
		Long c = (Long)y->Iex.Const.con->Ico.U64;

		*o = origins[x->Iex.RdTmp.tmp];
		o->offset += e->Iex.Binop.op == Iop_Add64 ? c : -c;
	} else {
		o->sp = origins[x->Iex.RdTmp.tmp].sp ? SP_DERIVED : UNRELATED;
	}
}

void origin_note(struct origin *origins, IRTemp t, const IRExpr *e)
{
	struct origin *o = &origins[t];

	if (e->tag == Iex_Get && e->Iex.Get.offset == STACK_POINTER && e->Iex.Get.ty == Ity_I64)
		o->sp = SP_PLUS_OFFSET;
	else if (e->tag == Iex_RdTmp)
		*o = origins[e->Iex.RdTmp.tmp];
	else if (e->tag == Iex_Binop && (e->Iex.Binop.op == Iop_Add64 || e->Iex.Binop.op == Iop_Sub64))
		note_sum(origins, o, e);
	else if (e->tag == Iex_Binop && e->Iex.Binop.op == Iop_And64 && e->Iex.Binop.arg1->tag == Iex_RdTmp)
		o->sp = origins[e->Iex.Binop.arg1->Iex.RdTmp.tmp].sp ? SP_DERIVED : UNRELATED;
}

void places_empty(struct places *places)
{
	places->count = places->next = 0;
}

void places_add(struct places *places, const struct origin *origin, Int bytes)
{
	places->item[places->next].origin = *origin;
	places->item[places->next].bytes = bytes;
	places->next = (places->next + 1) % PLACES_MAX;
	if (places->count < PLACES_MAX)
		places->count++;
}

Bool places_have(const struct places *places, const struct origin *origin, Int bytes)
{
	for (Int i = 0; i < places->count; i++) {
		const struct origin *o = &places->item[i].origin;

		if (o->base == origin->base && o->offset <= origin->offset &&
		    origin->offset + bytes <= o->offset + places->item[i].bytes)
			return True;
	}
	return False;
}
