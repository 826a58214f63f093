/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Cost points: for each distinct input size n of a function, how often it was
 * called with that size and what that cost (the tuples of the first paper).
 *
 * A table keeps every size apart until it holds `max` of them. Then it folds
 * them into geometric bins: a size keeps its `bits` highest binary digits
 * after the first, so a bin is at most 2^-bits of its size wide. `bits` is
 * SLOPE_POINTS_EXACT while nothing is folded.
 */
#ifndef SLOPE_CORE_POINTS_H
#define SLOPE_CORE_POINTS_H

#include "core/arena.h"

#define SLOPE_POINTS_EXACT 64u
#define SLOPE_POINTS_MAX_DEFAULT 100000u

/* Sums of squares take 128 bits: they must not wrap. */
struct slope_stat {
	uint64_t min, max, sum, sq_lo, sq_hi;
};

/* One row; `cost` has as many entries as the session has units. */
struct slope_point {
	uint64_t n;                  /* the size, or the lower edge of its bin */
	uint64_t calls;
	uint64_t rms;                /* sums over the calls of this row */
	uint64_t thread;
	uint64_t external;
	struct slope_stat cost[];
};

struct slope_points {
	struct slope_arena *arena;
	unsigned char *rows;         /* `count` rows of `stride` bytes, in order of first use */
	uint32_t *slot;              /* hash of n -> row + 1; NULL while there is none */
	size_t count, capacity, slots;
	struct slope_point *last;    /* the row used last; NULL while there is none */
	uint64_t residue;            /* what folding has cut off: the sum of n - edge over all calls */
	uint32_t stride, units, max;
	uint32_t bits;               /* SLOPE_POINTS_EXACT, or binary digits that a size keeps */
};

/* What one activation contributes to its row. */
struct slope_sample {
	uint64_t n, rms, thread, external;
	const uint64_t *cost;        /* one per unit */
};

void slope_points_init(struct slope_points *points, struct slope_arena *arena, uint32_t units, uint32_t max);
void slope_points_fini(struct slope_points *points);

/* Makes the row for size n the last one used. NULL when memory runs out. O(1). */
struct slope_point *slope_points_turn_to(struct slope_points *points, uint64_t n);

SLOPE_INLINE void slope_stat_add(struct slope_stat *stat, uint64_t cost)
{
	unsigned __int128 square = (unsigned __int128)cost * cost;
	uint64_t low = stat->sq_lo + (uint64_t)square;

	if (cost < stat->min)
		stat->min = cost;
	if (cost > stat->max)
		stat->max = cost;
	stat->sum += cost;
	stat->sq_hi += (uint64_t)(square >> 64) + (low < (uint64_t)square);
	stat->sq_lo = low;
}

/* O(1). False when memory runs out; the activation is then not in the table. */
SLOPE_INLINE bool slope_points_add(struct slope_points *points, const struct slope_sample *sample, uint32_t units)
{
	struct slope_point *row = points->last;

	if (SLOPE_UNLIKELY(!row || row->n != sample->n)) {
		row = slope_points_turn_to(points, sample->n);
		if (SLOPE_UNLIKELY(!row))
			return false;
		points->residue += sample->n - row->n;
	}
	row->calls++;
	row->rms += sample->rms;
	if (sample->thread | sample->external) {
		row->thread += sample->thread;
		row->external += sample->external;
	}
	for (uint32_t u = 0; u < units; u++)
		slope_stat_add(&row->cost[u], sample->cost[u]);
	return true;
}

/* The row at position i < count. */
static inline struct slope_point *slope_points_row(const struct slope_points *points, size_t i)
{
	return (struct slope_point *)(points->rows + i * points->stride);
}

/*
 * The first slot in which the row for n may be; there are some. Sizes are small numbers, often neighbours: as many as there are slots
 * in a row have a slot each, so that most are found at the first look. Others are shifted by where their row begins.
 */
SLOPE_INLINE size_t slope_points_slot(const struct slope_points *points, uint64_t n)
{
	uint64_t row = n >> __builtin_ctzll(points->slots);

	return (n + (row * UINT64_C(0x9e3779b97f4a7c15) >> 32)) & (points->slots - 1);
}

/* The row becomes that of `times` more activations of size n, with nothing induced, and this cost in the only unit. */
SLOPE_INLINE void slope_point_count(struct slope_point *row, uint64_t n, uint64_t cost, uint64_t times)
{
	struct slope_stat *stat = &row->cost[0];
	unsigned __int128 squares = (unsigned __int128)cost * cost * times;
	uint64_t low = stat->sq_lo + (uint64_t)squares;

	row->calls += times;
	row->rms += n * times;
	if (cost < stat->min)
		stat->min = cost;
	if (cost > stat->max)
		stat->max = cost;
	stat->sum += cost * times;
	stat->sq_hi += (uint64_t)(squares >> 64) + (low < (uint64_t)squares);
	stat->sq_lo = low;
}

/* So many activations. As slope_points_add. */
bool slope_points_add_alike(struct slope_points *points, uint64_t n, uint64_t cost, uint64_t times);

/* Bytes of a row with `units` cost units. */
static inline uint32_t slope_point_bytes(uint32_t units)
{
	return (uint32_t)(sizeof(struct slope_point) + units * sizeof(struct slope_stat));
}

/* The lower edge of the bin that holds n when sizes keep `bits` digits. */
uint64_t slope_points_edge(uint64_t n, uint32_t bits);

/* Adds the row `from` (of any table with the same units) to its place here. */
bool slope_points_merge(struct slope_points *points, const struct slope_point *from);

/* Folds sizes to at most `bits` digits; nothing when they are as coarse already. */
bool slope_points_fold(struct slope_points *points, uint32_t bits);

#endif
