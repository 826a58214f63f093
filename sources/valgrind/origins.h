/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a block of code shows of the addresses in it: the temporary that each
 * is computed from, and how far away. From that follows which accesses touch
 * cells that an earlier one in the same block has brought up to date, and
 * which addresses derive from the stack pointer.
 */
#ifndef SLOPE_SOURCES_VALGRIND_ORIGINS_H
#define SLOPE_SOURCES_VALGRIND_ORIGINS_H

#include "sources/valgrind/tool.h"

#define PLACES_MAX 24

struct origin {
	IRTemp base;                 /* IRTemp_INVALID: the offset is the address */
	Long offset;
	enum { UNRELATED, SP_PLUS_OFFSET, SP_DERIVED } sp;
};

/* One for each of `count` temporaries, known to be itself only. VG_(free) it. */
struct origin *origins_new(Int count);

/* Temporary t is given the value of e. */
void origin_note(struct origin *origins, IRTemp t, const IRExpr *e);

struct origin origin_of(const struct origin *origins, const IRExpr *atom);

/* The last PLACES_MAX ranges of memory that were added. */
struct places {
	struct { struct origin origin; Int bytes; } item[PLACES_MAX];
	Int count, next;
};

void places_empty(struct places *places);
void places_add(struct places *places, const struct origin *origin, Int bytes);

/* Does one of them hold the whole range? */
Bool places_have(const struct places *places, const struct origin *origin, Int bytes);

#endif
