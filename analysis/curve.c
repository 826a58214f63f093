/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/curve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RAMP_PARTS 8             /* equal parts of the sizes; the lowest, where everything is called, does not count */
#define RAMP_SIZES 32            /* different sizes at least */
#define RAMP_CALLS 8             /* in each part */
#define RAMP_EVEN 3.0            /* the most of a part over the least */

const struct slope_profile_row *slope_curve_rows(const struct slope_profile *p, uint32_t function, size_t *count)
{
	size_t low = 0, high = p->row_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (p->row[middle].function < function)
			low = middle + 1;
		else
			high = middle;
	}
	for (high = low; high < p->row_count && p->row[high].function == function; high++)
		;
	*count = high - low;
	return p->row + low;
}

static bool reserve(struct slope_curve *curve, size_t count)
{
	if (count <= curve->capacity)
		return true;
	size_t capacity = count < 64 ? 64 : count + count / 2;
	struct slope_curve_point *point = capacity > SIZE_MAX / sizeof(*point) ? NULL : malloc(capacity * sizeof(*point));

	if (!point)
		return false;
	free(curve->point);
	curve->point = point;
	curve->capacity = capacity;
	return true;
}

/* Sums of squares reach 128 bits: their difference to the squared mean is taken before anything is rounded away. */
static double variance(const struct slope_stat *s, uint64_t calls)
{
	if (calls < 2 || s->min == s->max)
		return 0;
	long double squares = (long double)s->sq_hi * 18446744073709551616.0L + (long double)s->sq_lo;
	long double mean = (long double)s->sum / (long double)calls;
	long double rest = squares - mean * (long double)s->sum;

	return rest > 0 ? (double)(rest / (long double)(calls - 1)) : 0;
}

static struct slope_curve_point convert(const struct slope_point *from, uint32_t unit, uint32_t bits)
{
	const struct slope_stat *s = &from->cost[unit];

	return (struct slope_curve_point){
		.n = (double)slope_points_edge(from->n, bits),
		.calls = (double)from->calls,
		.cost = {
			[SLOPE_COST_MEAN] = from->calls ? (double)s->sum / (double)from->calls : 0,
			[SLOPE_COST_MAX] = (double)s->max,
			[SLOPE_COST_MIN] = (double)s->min,
		},
		.variance = variance(s, from->calls),
	};
}

static int by_size(const void *a, const void *b)
{
	const struct slope_curve_point *x = a, *y = b;

	return (x->n > y->n) - (x->n < y->n);
}

/* Two groups of calls of one size as one. */
static void unite(struct slope_curve_point *to, const struct slope_curve_point *from)
{
	double calls = to->calls + from->calls, apart = from->cost[SLOPE_COST_MEAN] - to->cost[SLOPE_COST_MEAN];
	double squares = to->variance * (to->calls - 1) + from->variance * (from->calls - 1) +
			 apart * apart * to->calls * from->calls / calls;

	to->cost[SLOPE_COST_MEAN] += apart * from->calls / calls;
	if (from->cost[SLOPE_COST_MAX] > to->cost[SLOPE_COST_MAX])
		to->cost[SLOPE_COST_MAX] = from->cost[SLOPE_COST_MAX];
	if (from->cost[SLOPE_COST_MIN] < to->cost[SLOPE_COST_MIN])
		to->cost[SLOPE_COST_MIN] = from->cost[SLOPE_COST_MIN];
	to->variance = squares / (calls - 1);
	to->calls = calls;
}

static void unite_sizes(struct slope_curve *curve)
{
	size_t kept = 0;

	qsort(curve->point, curve->count, sizeof(*curve->point), by_size);
	for (size_t i = 1; i < curve->count; i++)
		if (curve->point[i].n == curve->point[kept].n)
			unite(&curve->point[kept], &curve->point[i]);
		else
			curve->point[++kept] = curve->point[i];
	curve->count = kept + 1;
}

/* A curve grows from tables in two rounds: how much there is and how coarse, then the points. */
struct tables {
	size_t count, points;
};

static void survey(struct slope_curve *curve, struct tables *tables, const struct slope_profile_points *points)
{
	if (!points->count)
		return;
	tables->count++;
	tables->points += points->count;
	if (points->bits < curve->bits)
		curve->bits = points->bits;
}

static void add_points(struct slope_curve *curve, const struct slope_profile *p, const struct slope_profile_points *points,
		       uint32_t unit)
{
	for (size_t k = 0; k < points->count; k++)
		curve->point[curve->count++] = convert(slope_profile_point(p, points, k), unit, curve->bits);
}

static bool is_wanted(const struct slope_profile_row *row, uint32_t thread)
{
	return thread == SLOPE_CURVE_ALL_THREADS || row->thread == thread;
}

static void empty(struct slope_curve *curve)
{
	curve->count = 0;
	curve->bits = SLOPE_POINTS_EXACT;
}

bool slope_curve_load(struct slope_curve *curve, const struct slope_profile *p, uint32_t function, uint32_t thread,
		      uint32_t metric, uint32_t unit)
{
	size_t rows;
	const struct slope_profile_row *row = slope_curve_rows(p, function, &rows);
	struct tables tables = { 0 };

	empty(curve);
	for (size_t i = 0; i < rows; i++)
		if (is_wanted(&row[i], thread))
			survey(curve, &tables, &row[i].points[metric]);
	if (!reserve(curve, tables.points))
		return false;
	for (size_t i = 0; i < rows; i++)
		if (is_wanted(&row[i], thread))
			add_points(curve, p, &row[i].points[metric], unit);
	if (tables.count > 1)
		unite_sizes(curve);
	return true;
}

bool slope_curve_load_rows(struct slope_curve *curve, const struct slope_profile *p,
			   const struct slope_profile_row *const *row, size_t rows, uint32_t metric, uint32_t unit)
{
	struct tables tables = { 0 };

	empty(curve);
	for (size_t i = 0; i < rows; i++)
		survey(curve, &tables, &row[i]->points[metric]);
	if (!reserve(curve, tables.points))
		return false;
	for (size_t i = 0; i < rows; i++)
		add_points(curve, p, &row[i]->points[metric], unit);
	if (tables.count > 1)
		unite_sizes(curve);
	return true;
}

bool slope_curve_ramps(const struct slope_curve *curve)
{
	double calls[RAMP_PARTS] = { 0 }, cost = 0, upper = 0, least = INFINITY, most = 0;

	if (curve->count < RAMP_SIZES)
		return false;
	double top = curve->point[curve->count - 1].n;

	for (size_t i = 0; i < curve->count; i++) {
		const struct slope_curve_point *point = &curve->point[i];
		size_t part = (size_t)(point->n / top * (RAMP_PARTS - 0.001));

		calls[part] += point->calls;
		cost += point->calls * point->cost[SLOPE_COST_MEAN];
		upper += part ? point->calls * point->cost[SLOPE_COST_MEAN] : 0;
	}
	for (size_t k = 1; k < RAMP_PARTS; k++) {
		least = fmin(least, calls[k]);
		most = fmax(most, calls[k]);
	}
	return least >= RAMP_CALLS && most <= RAMP_EVEN * least && upper >= cost / 2;
}

double slope_curve_variation(const struct slope_curve *curve)
{
	double sum = 0, calls = 0;

	for (size_t i = 0; i < curve->count; i++) {
		const struct slope_curve_point *point = &curve->point[i];
		double mean = fmax(point->cost[SLOPE_COST_MEAN], SLOPE_LEAST_COST);

		if (point->calls < 2)
			continue;
		sum += point->variance / (mean * mean) * (point->calls - 1);
		calls += point->calls - 1;
	}
	return calls > 0 ? sum / calls : SLOPE_VARIATION_UNKNOWN;
}

long slope_curve_bin(double n, double per_octave)
{
	return lround(floor(log2(n + 1) * per_octave + 1e-9));
}

void slope_curve_fini(struct slope_curve *curve)
{
	free(curve->point);
	*curve = slope_curve_none();
}
