/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The activations of a function by size, in the bins of the core, and how
 * something that is counted in them (calls of a callee, their cost, executions of
 * a path) grows with the size.
 */
#ifndef SLOPE_ANALYSIS_SIZEBINS_H
#define SLOPE_ANALYSIS_SIZEBINS_H

#include "analysis/growth.h"

#define SLOPE_SIZEBINS_MAX 512u  /* 64 binary orders of 8 bins each */
#define SLOPE_SIZEBINS_RANGE 2.0 /* largest over smallest size, to speak of growth */

struct slope_sizebins {
	size_t count;
	uint32_t bits;               /* binary digits that bins keep after the first: those of the core, or fewer where points have fewer */
	uint64_t edge[SLOPE_SIZEBINS_MAX];   /* lower edges of the bins, ascending */
	double n[SLOPE_SIZEBINS_MAX];        /* mean size */
	double activations[SLOPE_SIZEBINS_MAX], cost[SLOPE_SIZEBINS_MAX];
	size_t low, high;            /* bins below `low` have the smallest sizes, from `high` on the largest */
};

/* The bins of a curve's points. */
void slope_sizebins_init(struct slope_sizebins *s, const struct slope_curve *curve);

/* The bin with this lower edge, or the one before which it would stand. O(log bins). */
size_t slope_sizebins_find(const struct slope_sizebins *s, uint64_t edge);

/* The sum of `value` over the sum of `per`, of the smallest or the largest sizes; both have a number for each bin. NaN: no `per`. */
double slope_sizebins_end(const struct slope_sizebins *s, const double *value, const double *per, bool largest);

/* The log-log slope of value / per between the ends; NaN where sizes are too near one another. */
double slope_sizebins_rise(const struct slope_sizebins *s, const double *value, const double *per);

/*
 * The growth of value / per over n. `room` is a curve that has had as many points as there are bins or more; its points
 * are lost.
 */
void slope_sizebins_fit(const struct slope_sizebins *s, const double *value, const double *per, struct slope_curve *room,
			struct slope_growth *g);

#endif
