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
#include "core/log.h"
#include "core/tally.h"

/* The rare parts, in thread.c. */

/* Makes room for twice as many frames. False when memory runs out; nothing changes then. */
bool slope_frames_grow(struct slope_thread *t);
/* The record that an activation counts in, made on first use; NULL for one that is part of its caller. */
struct slope_record *slope_frames_record(struct slope_thread *t, uint32_t fn);

/* Any call: the first one, folded ones, when there is no room left, and as long as collecting may be off. */
void slope_frames_push_any(struct slope_thread *t, uint32_t fn, uint64_t sp, uint32_t flags, const uint64_t *cost);

/* A new frame on top; record, fn, sp, flags, tally_base and stamp are given. */
SLOPE_INLINE void slope_frames_put(struct slope_thread *t, const struct slope_frame *with, const uint64_t *cost, uint32_t units)
{
	struct slope_frame *f = ++t->top;

	f->record = with->record;
	f->sp = with->sp;
	f->stamp = f->stamp_again = with->stamp;
	if (!with->record)
		f->fn = with->fn;
	f->flags = with->flags;
	f->log = with->log;
	f->tally_base = with->tally_base;
	for (uint32_t u = 0; u < units; u++) {
		f->entry[u] = cost[u];
		f->child[u] = 0;
	}
}

/*
 * The usual call: while everything is collected, of a function that has a
 * record and no flags. `log`: where the log ends. False, with nothing changed, when it is not one.
 */
SLOPE_INLINE bool slope_frames_push_usual(struct slope_thread *t, struct slope_record *record, uint64_t sp, const uint64_t *cost,
					   uint32_t units, uint64_t log)
{
	uint32_t stamp = slope_stamp_next(t->clock, t->marks);

	if (SLOPE_UNLIKELY(t->top >= t->last || stamp >= t->stamp_limit))
		return false;
	record->active++;
	slope_thread_set_clock(t, stamp);
	slope_frames_put(t, &(struct slope_frame){
		.record = record, .sp = sp, .tally_base = t->tallies, .stamp = stamp, .log = (uint16_t)log,
	}, cost, units);
	return true;
}

SLOPE_INLINE void slope_frames_push(struct slope_thread *t, uint32_t fn, uint64_t sp, uint32_t flags,
				     const uint64_t *cost, uint32_t units, uint64_t log)
{
	struct slope_record *record = slope_thread_record(t, fn);

	if (SLOPE_UNLIKELY(!t->plain || !record || record->flags || flags ||
			   !slope_frames_push_usual(t, record, sp, cost, units, log)))
		slope_frames_push_any(t, fn, sp, flags, cost);
}

/* An activation of size n, with nothing induced, that is not as one of the last. One unit. */
void slope_frames_point(struct slope_thread *t, struct slope_record *r, uint64_t n, uint64_t cost);

/* The topmost activation, of `r`, is about to end: its tally where there is no room for one more. One unit. */
void slope_frames_tally(struct slope_thread *t, struct slope_record *r, uint64_t cost);

/* Any activation, whatever its size and cost. */
void slope_frames_points(struct slope_thread *t, struct slope_record *r, const struct slope_frame *f, const uint64_t *spent,
			 uint32_t units);

/* What every activation leaves in its record but points: it is no longer active, and had this cost. */
SLOPE_INLINE void slope_frames_spend(struct slope_record *r, const uint64_t *spent, uint32_t units)
{
	r->active--;
	if (SLOPE_UNLIKELY(r->active))
		for (uint32_t u = 0; u < units; u++)
			r->nested[u] += spent[u];
}

/* Whatever the topmost frame is: it ends and gives what it has to the one below. */
void slope_frames_pop_any(struct slope_thread *t, const uint64_t *cost);

/* The usual return, when tallies are flushed: true if the activation was as one of the last of its function, and so is counted. */
SLOPE_INLINE bool slope_frames_pop_usual(struct slope_thread *t, struct slope_frame *f, uint64_t n, uint64_t spent)
{
	struct slope_record *r = f->record;
	struct slope_frame *below = f - 1;
	struct slope_again *a = slope_record_again(r, n, spent);
	uint64_t like = slope_again_like(n, spent);
	bool again = like == a->like && like != SLOPE_AGAIN_NONE;

	slope_frames_spend(r, &spent, 1);
	slope_tally_put(t, below->tally_base, r, &spent, 1);
	if (SLOPE_UNLIKELY(f->flags & SLOPE_FRAME_SUMS))
		slope_frame_add(below, f->rms);
	if (SLOPE_UNLIKELY(t->contexts))
		below->child[0] += spent;
	t->top = below;
	if (SLOPE_LIKELY(again))
		a->count++;
	return again;
}

/*
 * The topmost frame ends and gives what it has to the one below. It is usual
 * to have one unit, a function without flags and nothing induced.
 */
SLOPE_INLINE void slope_frames_pop(struct slope_thread *t, const uint64_t *cost, uint32_t units)
{
	struct slope_frame *f = t->top;

	if (SLOPE_UNLIKELY(units != 1 || f->flags & ~SLOPE_FRAME_SUMS || t->tallies == t->tally_capacity)) {
		slope_frames_pop_any(t, cost);
		return;
	}
	uint64_t spent = cost[0] - f->entry[0], n = (uint64_t)slope_frame_rms(f);

	if (t->tallies != f->tally_base)
		slope_tally_flush(t, f, n, 1);
	if (!slope_frames_pop_usual(t, f, n, spent))
		slope_frames_point(t, f->record, n, spent);
}

#endif
