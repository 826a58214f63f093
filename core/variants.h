/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Functions by context: what a function's record has, once more for each list
 * of its nearest callers, as many as the config's variant_k says. A list ends
 * early where the stack begins.
 *
 * There are at most variants_max of them in a session. When there would be
 * more, a thread folds the rarer half of its own: each gives what it has to
 * the variant with one caller fewer, which is a `rest` from then on, and its
 * calls to come count there. With no caller left it is the function alone,
 * which is always kept. So the variants of a function add up to its record,
 * whatever is folded. What remains of a folded variant is a mark.
 *
 * Points of variants are a second set beside those of the functions.
 */
#ifndef SLOPE_CORE_VARIANTS_H
#define SLOPE_CORE_VARIANTS_H

#include "core/slabs.h"
#include "core/thread.h"

struct slope_variant {
	struct slope_variant *shorter;     /* one caller fewer; NULL: this is the function itself */
	struct slope_variant *next;        /* by number */
	struct slope_record *counts;       /* of these only the costs and points; NULL: nothing counts here, or not yet */
	uint64_t calls;
	uint32_t number;
	uint32_t fn;                       /* the farthest caller; the function itself where there is none */
	uint32_t callers;
	bool folded;                       /* all of it counts in `shorter` */
	bool rest;                         /* some that are longer count here */
};

struct slope_variants {
	struct slope_session *session;
	struct slope_arena *arena;
	struct slope_map by_callers;       /* (the shorter one's number + 1, fn) -> variant */
	struct slope_variant *first, *newest;
	uint32_t numbers;
	uint64_t kept;                     /* with callers and counts: its part of session->variants */
};

/* NULL when memory runs out. All memory is the arena's. */
struct slope_variants *slope_variants_new(struct slope_session *s, struct slope_arena *arena);

/* Its part of session->variants; 0 for NULL. */
SLOPE_INLINE uint64_t slope_variants_kept(const struct slope_variants *v)
{
	return v ? v->kept : 0;
}

/* NULL is fine. */
void slope_variants_free(struct slope_variants *v);

/* slope_record_settle of all; NULL is fine. */
void slope_variants_settle(const struct slope_variants *v);

/* The rest of slope_variants_at. */
struct slope_variant *slope_variants_find(struct slope_variants *v, struct slope_context *node);

/*
 * Where an activation at `node` counts, made on first use. NULL when memory
 * runs out. O(1) but for the first time and for folding.
 */
SLOPE_INLINE struct slope_variant *slope_variants_at(struct slope_variants *v, struct slope_context *node)
{
	struct slope_variant *variant = node->variant;

	return SLOPE_LIKELY(variant && variant->counts) ? variant : slope_variants_find(v, node);
}

#endif
