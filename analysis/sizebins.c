/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/sizebins.h"

#include <math.h>

#define BITS 3u                  /* as those of the core */
#define ENDS 0.25                /* of the range of sizes, on a log scale: what "smallest" and "largest" sizes are */

size_t slope_sizebins_find(const struct slope_sizebins *s, uint64_t edge)
{
	size_t low = 0, high = s->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->edge[middle] < edge)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void gather(struct slope_sizebins *s, const struct slope_curve *curve)
{
	s->count = 0;
	s->bits = curve->bits < BITS ? curve->bits : BITS;
	for (size_t i = 0; i < curve->count; i++) {
		const struct slope_curve_point *point = &curve->point[i];
		uint64_t edge = slope_points_edge((uint64_t)point->n, s->bits);

		if (!s->count || s->edge[s->count - 1] != edge) {
			if (s->count == SLOPE_SIZEBINS_MAX)
				return;
			s->edge[s->count] = edge;
			s->n[s->count] = s->activations[s->count] = s->cost[s->count] = 0;
			s->count++;
		}
		size_t at = s->count - 1;

		s->n[at] += point->n * point->calls;
		s->activations[at] += point->calls;
		s->cost[at] += point->cost[SLOPE_COST_MEAN] * point->calls;
	}
}

static void find_ends(struct slope_sizebins *s)
{
	double first = log(fmax(s->n[0], 1)), last = log(fmax(s->n[s->count - 1], 1));

	for (s->low = 1; s->low < s->count && log(fmax(s->n[s->low], 1)) <= first + (last - first) * ENDS; s->low++)
		;
	for (s->high = s->count - 1; s->high > 0 && log(fmax(s->n[s->high - 1], 1)) >= last - (last - first) * ENDS; s->high--)
		;
}

void slope_sizebins_init(struct slope_sizebins *s, const struct slope_curve *curve)
{
	gather(s, curve);
	for (size_t i = 0; i < s->count; i++)
		s->n[i] /= s->activations[i];
	s->low = s->high = 0;
	if (s->count)
		find_ends(s);
}

static double ratio(const double *value, const double *per, size_t from, size_t to)
{
	double top = 0, bottom = 0;

	for (size_t i = from; i < to; i++) {
		top += value[i];
		bottom += per[i];
	}
	return bottom > 0 ? top / bottom : NAN;
}

double slope_sizebins_end(const struct slope_sizebins *s, const double *value, const double *per, bool largest)
{
	return largest ? ratio(value, per, s->high, s->count) : ratio(value, per, 0, s->low);
}

double slope_sizebins_rise(const struct slope_sizebins *s, const double *value, const double *per)
{
	double weighted[SLOPE_SIZEBINS_MAX];

	for (size_t i = 0; i < s->count; i++)
		weighted[i] = s->n[i] * s->activations[i];
	double low = slope_sizebins_end(s, value, per, false), high = slope_sizebins_end(s, value, per, true);
	double from = slope_sizebins_end(s, weighted, s->activations, false), to = slope_sizebins_end(s, weighted, s->activations, true);

	return low > 0 && high > 0 && to >= SLOPE_SIZEBINS_RANGE * fmax(from, 1) ? log(high / low) / log(to / fmax(from, 1)) : NAN;
}

/* Scaled, because a fit takes costs below one half for nothing. */
void slope_sizebins_fit(const struct slope_sizebins *s, const double *value, const double *per, struct slope_curve *room,
			struct slope_growth *g)
{
	double most = 0;

	room->count = 0;
	for (size_t i = 0; i < s->count; i++)
		if (per[i] > 0)
			most = fmax(most, value[i] / per[i]);
	for (size_t i = 0; i < s->count; i++) {
		double at = per[i] > 0 && most > 0 ? value[i] / per[i] * (1e6 / most) : 0;

		if (per[i] > 0)
			room->point[room->count++] = (struct slope_curve_point){
				.n = s->n[i], .calls = s->activations[i], .cost = { at, at, at } };
	}
	slope_growth_of(g, room, SLOPE_COST_MEAN, false);
}
