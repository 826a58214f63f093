/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What each activation has called: one tally per callee with the calls and
 * their cost, kept while the activation is pending. When it returns and its
 * input size n is known, the tallies go into the edges caller -> callee, at n.
 * So a total is the self cost and the costs of the tallies, for every single
 * activation, and the work per call stays O(1).
 *
 * The tallies of all pending activations of a thread are one stack. Those of
 * the topmost activation lie above all others, from its tally_base on: what it
 * has called has returned and taken its own ones away. A record knows the
 * highest tally in which it is the callee, and that tally the next one further
 * down; hence one comparison finds a tally or says that there is none.
 *
 * Folded frames have no tallies: they add to those of their caller.
 */
#ifndef SLOPE_CORE_TALLY_H
#define SLOPE_CORE_TALLY_H

#include "core/thread.h"

/* `cost` has as many entries as the session has units. */
struct slope_tally {
	struct slope_record *callee;
	uint32_t outer;              /* the callee's tally further down, as slope_record has it */
	uint64_t calls;
	uint64_t cost[];             /* inclusive, activations inside another one of the callee too */
};

/* Makes room for twice as many tallies. False when memory runs out; nothing changes then. */
bool slope_tally_grow(struct slope_thread *t);
/* All counts of an edge become 0. */
void slope_edge_empty(struct slope_edge *edge, uint32_t units);
/* Gives the stack of tallies back; what is on it is forgotten. */
void slope_tally_release(struct slope_thread *t);

/* The activation `f` ends with size n, and still counts as active: its tallies go into the edges. O(callees). */
__attribute__((noinline))
void slope_tally_flush(struct slope_thread *t, const struct slope_frame *f, uint64_t n, uint32_t units);
/* The same for those that slope_tally_flush_known has left. */
__attribute__((noinline))
void slope_tally_flush_any(struct slope_thread *t, const struct slope_frame *f, uint64_t n);

/* The number of the bin of edges that holds n: below 2^SLOPE_EDGE_BITS each size has one, above so many share a power of 2. */
SLOPE_INLINE uint32_t slope_tally_bin(uint64_t n)
{
	if (n >> SLOPE_EDGE_BITS == 0)
		return (uint32_t)n;
	uint32_t cut = 63u - SLOPE_EDGE_BITS - (uint32_t)__builtin_clzll(n);

	return (cut << SLOPE_EDGE_BITS) + (uint32_t)(n >> cut);
}

/* The least n of a bin. */
SLOPE_INLINE uint64_t slope_tally_least(uint32_t bin)
{
	uint32_t cut = bin >> SLOPE_EDGE_BITS ? (bin >> SLOPE_EDGE_BITS) - 1 : 0;

	return (uint64_t)(bin - (cut << SLOPE_EDGE_BITS)) << cut;
}

SLOPE_INLINE struct slope_tally *slope_tally_at(const struct slope_thread *t, uint32_t i, uint32_t units)
{
	return (struct slope_tally *)(t->tally + i * (sizeof(struct slope_tally) + units * sizeof(uint64_t)));
}

/* A tally goes into its edge, which has a row for the bin. */
SLOPE_INLINE void slope_tally_count(struct slope_edge *e, uint32_t bin, const struct slope_tally *tally, uint32_t units)
{
	struct slope_edge_row *row = slope_edge_row(e, bin - e->first, units);

	row->activations++;
	row->calls += tally->calls;
	for (uint32_t u = 0; u < units; u++)
		row->cost[u] += tally->cost[u];
	/* Activations further down do not change while this one is pending: nested are all of its calls, or none. */
	if (SLOPE_UNLIKELY(tally->callee->active))
		for (uint32_t u = 0; u < units; u++)
			e->nested[u] += tally->cost[u];
	tally->callee->tally = tally->outer;
}

/* The edge caller -> callee if it is at hand and has the row, else NULL. */
SLOPE_INLINE struct slope_edge *slope_tally_known(struct slope_record *callee, uint32_t caller, uint32_t bin)
{
	struct slope_edge *const *pair = slope_record_pair(callee, caller), *e = pair[0];

	if (e->caller != caller)
		e = pair[SLOPE_EDGE_PAIRS];
	return SLOPE_LIKELY(e->caller == caller && bin - e->first < e->rows) ? e : NULL;
}

/* As slope_tally_flush while the edges are at hand and have the row, as nearly always. False when some are left. */
SLOPE_INLINE bool slope_tally_flush_known(struct slope_thread *t, const struct slope_frame *f, uint64_t n, uint32_t units)
{
	uint32_t bin = slope_tally_bin(n), caller = f->record->fn, base = f->tally_base, i = t->tallies;

	for (; i > base; i--) {
		const struct slope_tally *tally = slope_tally_at(t, i - 1, units);
		struct slope_edge *e = slope_tally_known(tally->callee, caller, bin);

		if (!e)
			break;
		slope_tally_count(e, bin, tally, units);
	}
	t->tallies = i;
	return SLOPE_LIKELY(i == base);
}

/* As slope_tally_add, with room for one more. */
SLOPE_INLINE void slope_tally_put(struct slope_thread *t, uint32_t base, struct slope_record *callee, const uint64_t *cost,
				  uint32_t units)
{
	struct slope_tally *tally;

	if (SLOPE_LIKELY(callee->tally > base)) {
		tally = slope_tally_at(t, callee->tally - 1, units);
		tally->calls++;
		for (uint32_t u = 0; u < units; u++)
			tally->cost[u] += cost[u];
		return;
	}
	tally = slope_tally_at(t, t->tallies, units);
	tally->callee = callee;
	tally->outer = callee->tally;
	tally->calls = 1;
	for (uint32_t u = 0; u < units; u++)
		tally->cost[u] = cost[u];
	callee->tally = ++t->tallies;
}

/* An activation of `callee` has returned to the one whose tallies begin at `base`, now the topmost. */
SLOPE_INLINE void slope_tally_add(struct slope_thread *t, uint32_t base, struct slope_record *callee, const uint64_t *cost,
				  uint32_t units)
{
	if (SLOPE_UNLIKELY(t->tallies == t->tally_capacity) && !slope_tally_grow(t)) {
		slope_session_lose(t->session, SLOPE_LOST_EDGES, 1);
		return;
	}
	slope_tally_put(t, base, callee, cost, units);
}

#endif
