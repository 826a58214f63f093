/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Calls and returns, open to the compiler: a source that reports millions of
 * them a second makes them part of its own helpers, with `units` a constant
 * where that is worth it. All others call slope_thread_enter and _leave, which
 * are these two.
 */
#ifndef SLOPE_CORE_FRAMES_H
#define SLOPE_CORE_FRAMES_H

#include "core/access.h"
#include "core/tally.h"

/* The rare parts, in thread.c. */

/* Makes room for twice as many frames. False when memory runs out; nothing changes then. */
bool slope_frames_grow(struct slope_thread *t);
/* The record that an activation counts in, made on first use; NULL for one that is part of its caller. */
struct slope_record *slope_frames_record(struct slope_thread *t, uint32_t fn);

/* Any call: the first one, folded ones, when there is no room left, and as long as collecting may be off. */
void slope_frames_push_any(struct slope_thread *t, uint32_t fn, uint64_t sp, uint32_t flags, const uint64_t *cost);

/* The rest of a return, where the function is not plain: toggles and contexts. */
void slope_frames_pop_any(struct slope_thread *t, const struct slope_frame *f, const uint64_t *spent);

SLOPE_INLINE void slope_frames_push(struct slope_thread *t, uint32_t fn, uint64_t sp, uint32_t flags,
				     const uint64_t *cost, uint32_t units)
{
	struct slope_record *record = slope_thread_record(t, fn);
	uint32_t stamp = slope_stamp_next(t->clock, t->marks);

	if (SLOPE_UNLIKELY(!t->plain || !record || record->flags || t->depth == t->capacity || stamp >= t->stamp_limit)) {
		slope_frames_push_any(t, fn, sp, flags, cost);
		return;
	}
	if (t->from_caller | t->from_hint)
		slope_thread_settle(t);
	record->active++;
	t->below_stamp = t->top_stamp;
	t->clock = t->top_stamp = t->stamp[t->depth] = stamp;
	if (SLOPE_UNLIKELY(++t->depth > t->max_depth))
		t->max_depth = t->depth;
	t->calls++;
	struct slope_frame *f = ++t->top;

	f->record = record;
	f->fn = fn;
	f->flags = flags;
	f->tally_base = t->tallies;
	f->sp = sp;
	f->rms = f->extra = 0;
	f->thread = f->external = 0;
	for (uint32_t u = 0; u < units; u++) {
		f->entry[u] = cost[u];
		f->child[u] = 0;
	}
}

/* There is no memory for a point: the next one has none to be compared with. */
SLOPE_INLINE void slope_frames_lose_point(struct slope_thread *t, struct slope_record *r)
{
	slope_session_lose(t->session, SLOPE_LOST_POINTS, 1);
	r->again_n = UINT64_MAX;
}

/* A finished activation goes into its function's tables. */
SLOPE_INLINE void slope_frames_collect(struct slope_thread *t, const struct slope_frame *f, const uint64_t *cost,
				       uint32_t units)
{
	uint32_t metrics = t->metrics;
	struct slope_record *r = f->record;
	uint64_t rms = (uint64_t)f->rms, trms = (uint64_t)(f->rms + f->extra);
	struct slope_sample sample = { .n = trms, .rms = rms, .thread = f->thread, .external = f->external, .cost = cost };

	if (t->tallies != f->tally_base)
		slope_tally_flush(t, f, metrics & 1u << SLOPE_METRIC_TRMS ? trms : rms, units);
	r->active--;
	for (uint32_t u = 0; u < units; u++) {
		r->self[u] += cost[u] - f->child[u];
		if (SLOPE_UNLIKELY(r->active))
			r->nested[u] += cost[u];
	}
	/* As the one before, and nothing induced: then n is rms, by either metric. */
	if (SLOPE_LIKELY(trms == r->again_n && units == 1 && cost[0] == r->again_cost && trms == rms &&
			 !(f->thread | f->external))) {
		r->again++;
		return;
	}
	if (r->again)
		slope_record_settle(r);
	bool comparable = units == 1 && !(metrics & (metrics - 1)) && trms == rms && !(f->thread | f->external);

	r->again_n = comparable ? trms : UINT64_MAX;
	r->again_cost = cost[0];
	if (metrics & 1u << SLOPE_METRIC_TRMS && !slope_points_add(&r->points[SLOPE_METRIC_TRMS], &sample, units))
		slope_frames_lose_point(t, r);
	sample.n = rms;
	if (metrics & 1u << SLOPE_METRIC_RMS && !slope_points_add(&r->points[SLOPE_METRIC_RMS], &sample, units))
		slope_frames_lose_point(t, r);
}

/* The topmost frame ends and gives what it has to the one below. */
SLOPE_INLINE void slope_frames_pop(struct slope_thread *t, const uint64_t *cost, uint32_t units)
{
	if (t->from_caller | t->from_hint)
		slope_thread_settle(t);
	struct slope_frame *f = t->top--, *below = f - 1;
	struct slope_record *r = f->record;
	uint64_t spent[SLOPE_UNITS_MAX];

	t->depth--;
	for (uint32_t u = 0; u < units; u++)
		spent[u] = cost[u] - f->entry[u];
	if (SLOPE_LIKELY(r != NULL))
		slope_frames_collect(t, f, spent, units);
	if (SLOPE_UNLIKELY(!r || r->flags))
		slope_frames_pop_any(t, f, spent);
	if (SLOPE_UNLIKELY(!t->depth))
		return;
	if (SLOPE_LIKELY(r != NULL))
		slope_tally_add(t, below->tally_base, r, spent, units);
	for (uint32_t u = 0; u < units; u++)
		below->child[u] += r ? spent[u] : f->child[u];
	below->rms += f->rms;
	if (f->extra | (int64_t)(f->thread | f->external)) {
		below->extra += f->extra;
		below->thread += f->thread;
		below->external += f->external;
	}
	t->top_stamp = t->below_stamp;
	if (SLOPE_LIKELY(t->depth > 1))
		t->below_stamp = t->stamp[t->depth - 2];
	if (t->hint >= t->depth)
		t->hint_span = 0;
}

#endif
