/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which path of a function its own instructions are on, and which one is taken
 * more and more often as its input grows: the place in a steep function to look
 * at. For profiles that have both input sizes and paths.
 */
#ifndef SLOPE_ANALYSIS_PATHGROWTH_H
#define SLOPE_ANALYSIS_PATHGROWTH_H

#include "analysis/growth.h"

struct slope_pathgrowth {
	bool found;                  /* the function has paths; else nothing below has a value */
	uint32_t graph;
	uint64_t number;
	uint64_t each;               /* instructions of one execution */
	double share;                /* of the instructions of all its paths, in all activations */
	double per_call;             /* executions for each activation; NaN: activations are not known */

	/*
	 * Where paths were counted by input size, and its own instructions grow with it, the path is the one that grows most: the
	 * rise of its instructions between the smallest and the largest sizes is the largest. Else the one with the most.
	 */
	bool by_size;
	double of_growth;            /* part of the rises of all paths that rise */
	struct slope_growth growth;  /* of executions for each activation, over n */
	double rise;                 /* the plain slope between smallest and largest sizes; NaN */
	double top;                  /* executions for each activation at the largest sizes */
};

/* False when memory runs out. O(paths of the function log paths + points). */
bool slope_pathgrowth_of(struct slope_pathgrowth *g, const struct slope_profile *p, uint32_t function, uint32_t metric,
			 uint32_t unit);

#endif
