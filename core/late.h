/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Counted activations on their way into the points of their function. What they touch there is seldom in the processor's first
 * caches: so each waits until a few more have come, while first its slot and then its row are fetched.
 */
#ifndef SLOPE_CORE_LATE_H
#define SLOPE_CORE_LATE_H

#include "core/points.h"

#define SLOPE_LATE 8u            /* wait at once, */
#define SLOPE_LATE_SLOT 4u       /* and so many of them for their slot */

struct slope_late_point {
	struct slope_points *points;
	uint64_t n, cost;
	uint64_t times;              /* so many activations of this size and cost; 0: none waits here */
	const uint32_t *slot;        /* where its row may be found, as the table was; and what was there */
	uint64_t row;
};

struct slope_late {
	struct slope_late_point point[SLOPE_LATE];
	uint32_t next;               /* where the next one goes, and the oldest is */
};

/* It goes into its points. False when memory runs out. */
SLOPE_INLINE bool slope_late_finish(const struct slope_late_point *p)
{
	struct slope_points *points = p->points;
	struct slope_point *row = SLOPE_LIKELY(p->row - 1 < points->count) ? slope_points_row(points, p->row - 1) : NULL;

	if (SLOPE_UNLIKELY(!row || row->n != p->n))
		return slope_points_add_alike(points, p->n, p->cost, p->times);
	points->last = row;
	slope_point_count(row, p->n, p->cost, p->times);
	return true;
}

/* Its slot has been fetched: the row is next. The table may be another by now, and the row nobody's; that is seen at the end. */
SLOPE_INLINE void slope_late_fetch_row(struct slope_late_point *p)
{
	const char *row;

	p->row = p->slot ? *p->slot : 0;
	if (SLOPE_UNLIKELY(!p->row))
		return;
	row = (const char *)slope_points_row(p->points, p->row - 1);
	__builtin_prefetch(row, 1);
	__builtin_prefetch(row + p->points->stride - 1, 1);
}

/* One more; the oldest one goes into its points. How many activations are lost because memory ran out. O(1). */
SLOPE_INLINE uint64_t slope_late_put(struct slope_late *late, struct slope_points *points, uint64_t n, uint64_t cost, uint64_t times)
{
	uint32_t next = late->next++;
	struct slope_late_point *p = &late->point[next % SLOPE_LATE];
	uint64_t lost = SLOPE_UNLIKELY(p->times && !slope_late_finish(p)) ? p->times : 0;
	const uint32_t *slot = SLOPE_LIKELY(points->slots) ? &points->slot[slope_points_slot(points, n)] : NULL;

	if (slot)
		__builtin_prefetch(slot);
	*p = (struct slope_late_point){ .points = points, .n = n, .cost = cost, .times = times, .slot = slot };
	slope_late_fetch_row(&late->point[(next - SLOPE_LATE_SLOT) % SLOPE_LATE]);
	return lost;
}

/* Nobody waits any more. How many activations are lost. */
uint64_t slope_late_settle(struct slope_late *late);

/* Those that wait are forgotten. */
void slope_late_drop(struct slope_late *late);

#endif
