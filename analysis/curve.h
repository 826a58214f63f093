/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The curve of one function: its points over all threads (or one), for one
 * cost unit and one input metric, sorted by n. This is what everything in
 * analysis/ looks at; the profile's own tables stay behind it.
 */
#ifndef SLOPE_ANALYSIS_CURVE_H
#define SLOPE_ANALYSIS_CURVE_H

#include "profile/profile.h"

/* Which cost of a size: what the calls of that size took on average, at worst, at best. */
enum slope_statistic {
	SLOPE_COST_MEAN,
	SLOPE_COST_MAX,
	SLOPE_COST_MIN,
	SLOPE_STATISTICS
};

struct slope_curve_point {
	double n;
	double calls;
	double cost[SLOPE_STATISTICS];
	double variance;             /* of the cost of single calls of this size; 0 with one call */
};

struct slope_curve {
	struct slope_curve_point *point;   /* sorted, every n once */
	size_t count, capacity;
	uint32_t bits;               /* SLOPE_POINTS_EXACT, or how coarse the coarsest table was */
};

#define SLOPE_CURVE_ALL_THREADS UINT32_MAX

/* An empty curve, ready for slope_curve_load. Needs no _fini while nothing was loaded. */
static inline struct slope_curve slope_curve_none(void)
{
	return (struct slope_curve){ .bits = SLOPE_POINTS_EXACT };
}

/*
 * Replaces the curve's points by those of a function; memory is used again.
 * `thread` is a position in the profile's threads. False when memory runs out;
 * the curve is then empty. O(points), times log threads where it ran in several.
 */
bool slope_curve_load(struct slope_curve *curve, const struct slope_profile *p, uint32_t function, uint32_t thread,
		      uint32_t metric, uint32_t unit);

/* The same of any rows of the profile, added up. */
bool slope_curve_load_rows(struct slope_curve *curve, const struct slope_profile *p,
			   const struct slope_profile_row *const *row, size_t rows, uint32_t metric, uint32_t unit);
void slope_curve_fini(struct slope_curve *curve);

#define SLOPE_LEAST_COST 0.5             /* what a cost of nothing counts as: that has no logarithm */
#define SLOPE_VARIATION_UNKNOWN 0.01     /* where no size was called twice */

/* The relative variance of single calls, squared, over all sizes that were called twice or more. */
double slope_curve_variation(const struct slope_curve *curve);

/* The bin of a size when each octave has `per_octave` of them; half a bin is one for two octaves. */
long slope_curve_bin(double n, double per_octave);

/*
 * Are the calls spread evenly over all sizes up to the largest, as when a loop
 * calls the function once for each element of a structure that grows? Then all
 * calls together grow one order faster than one of them. O(points).
 */
bool slope_curve_ramps(const struct slope_curve *curve);

/* The profile's rows of one function, `count` of them from the returned one on. O(log rows). */
const struct slope_profile_row *slope_curve_rows(const struct slope_profile *p, uint32_t function, size_t *count);

#endif
