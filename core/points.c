/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/points.h"

#define SLOTS_FIRST 16u          /* one cache line */
#define FIRST_FOLD_BITS 10u

void slope_points_init(struct slope_points *points, struct slope_arena *arena, uint32_t units, uint32_t max)
{
	*points = (struct slope_points){
		.arena = arena, .units = units, .max = max ? max : 1,
		.stride = slope_point_bytes(units), .bits = SLOPE_POINTS_EXACT,
	};
}

void slope_points_fini(struct slope_points *points)
{
	slope_arena_free(points->arena, points->rows, points->capacity * points->stride);
	slope_arena_free(points->arena, points->slot, points->slots * sizeof *points->slot);
	points->rows = NULL;
	points->slot = NULL;
	points->count = points->capacity = points->slots = 0;
	points->last = NULL;
	points->residue = 0;
}

uint64_t slope_points_edge(uint64_t n, uint32_t bits)
{
	if (bits >= 63 || n >> bits == 0)
		return n;
	unsigned top = 63u - (unsigned)__builtin_clzll(n);

	return top <= bits ? n : n >> (top - bits) << (top - bits);
}

static size_t find_slot(const struct slope_points *points, uint64_t n)
{
	size_t i = slope_points_slot(points, n);

	while (points->slot[i] && slope_points_row(points, points->slot[i] - 1)->n != n)
		i = (i + 1) & (points->slots - 1);
	return i;
}

static bool rehash(struct slope_points *points, size_t slots)
{
	uint32_t *slot = slope_arena_alloc(points->arena, slots * sizeof *slot);

	if (!slot)
		return false;
	slope_arena_free(points->arena, points->slot, points->slots * sizeof *slot);
	points->slot = slot;
	points->slots = slots;
	for (size_t i = 0; i < points->count; i++)
		slot[find_slot(points, slope_points_row(points, i)->n)] = (uint32_t)i + 1;
	return true;
}

static struct slope_point *find_row(struct slope_points *points, uint64_t n)
{
	uint32_t s = points->slots ? points->slot[find_slot(points, n)] : 0;

	return s ? slope_points_row(points, s - 1) : NULL;
}

static struct slope_point *append_row(struct slope_points *points, uint64_t n)
{
	void *rows = points->rows;

	if (points->count * 2 >= points->slots && !rehash(points, points->slots ? points->slots * 2 : SLOTS_FIRST))
		return NULL;
	if (!slope_arena_grow(points->arena, &rows, &points->capacity, points->count + 1, points->stride))
		return NULL;
	points->rows = rows;
	struct slope_point *row = slope_points_row(points, points->count++);

	row->n = n;
	for (uint32_t u = 0; u < points->units; u++)
		row->cost[u].min = UINT64_MAX;
	points->slot[find_slot(points, n)] = (uint32_t)points->count;
	return row;
}

/* A table that would pass its maximum becomes coarser first. */
struct slope_point *slope_points_turn_to(struct slope_points *points, uint64_t n)
{
	for (;;) {
		uint64_t edge = slope_points_edge(n, points->bits);
		struct slope_point *row = find_row(points, edge);

		if (!row && (points->count < points->max || points->bits == 0)) {
			row = append_row(points, edge);
			if (!row)
				return NULL;
		}
		if (row)
			return points->last = row;
		if (!slope_points_fold(points, points->bits == SLOPE_POINTS_EXACT ? FIRST_FOLD_BITS : points->bits - 1))
			return NULL;
	}
}

static void add_square(struct slope_stat *stat, uint64_t lo, uint64_t hi)
{
	stat->sq_lo += lo;
	stat->sq_hi += hi + (stat->sq_lo < lo);
}

bool slope_points_add_alike(struct slope_points *points, uint64_t n, uint64_t cost, uint64_t times)
{
	struct slope_point *row = slope_points_turn_to(points, n);

	if (!row)
		return false;
	points->residue += (n - row->n) * times;
	slope_point_count(row, n, cost, times);
	return true;
}

bool slope_points_merge(struct slope_points *points, const struct slope_point *from)
{
	struct slope_point *row = slope_points_turn_to(points, from->n);

	if (!row)
		return false;
	points->residue += (from->n - row->n) * from->calls;
	row->calls += from->calls;
	row->rms += from->rms;
	row->thread += from->thread;
	row->external += from->external;
	for (uint32_t u = 0; u < points->units; u++) {
		struct slope_stat *to = &row->cost[u];
		const struct slope_stat *add = &from->cost[u];

		if (add->min < to->min)
			to->min = add->min;
		if (add->max > to->max)
			to->max = add->max;
		to->sum += add->sum;
		add_square(to, add->sq_lo, add->sq_hi);
	}
	return true;
}

bool slope_points_fold(struct slope_points *points, uint32_t bits)
{
	if (bits >= points->bits)
		return true;
	struct slope_points folded;

	slope_points_init(&folded, points->arena, points->units, UINT32_MAX);
	folded.bits = bits;
	folded.residue = points->residue;
	for (size_t i = 0; i < points->count; i++)
		if (!slope_points_merge(&folded, slope_points_row(points, i))) {
			slope_points_fini(&folded);
			return false;
		}
	folded.max = points->max;
	slope_points_fini(points);
	*points = folded;
	return true;
}
