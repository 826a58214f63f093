/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which orders of growth describe the bins. All candidates are fitted: the plain
 * orders, those above linear also with a linear term, a power and an exponential
 * that are searched for. One of them is the best; those that the points do not
 * rule out stand beside it. docs/growth.md says why it is done like this.
 */
#ifndef SLOPE_ANALYSIS_CONTEST_H
#define SLOPE_ANALYSIS_CONTEST_H

#include "analysis/fit.h"

#define SLOPE_CANDIDATES 16u
#define SLOPE_CANDIDATE_CONSTANT 0u  /* its position; it can always be fitted */

#define SLOPE_POWER_SAME 0.051   /* a searched power this near to a plain one is the same for people */
#define SLOPE_POWER_CONVEX 2.5   /* above, a power and an exponential are steep either way */

struct slope_contest {
	struct slope_fit fit[SLOPE_CANDIDATES];
	bool there[SLOPE_CANDIDATES];        /* could be fitted */
	bool stands[SLOPE_CANDIDATES];       /* not ruled out */
	unsigned power, exponential;         /* positions of those that were searched for */
	unsigned best;                       /* always one that stands */
};

/*
 * Fits, chooses and rules out. Linear is what is expected of a function, and a
 * logarithm is not said where the power alone will do: the best is not always
 * the one with the least error. O(bins) for each candidate.
 */
void slope_contest_hold(struct slope_contest *c, const struct slope_bins *b);

/* The slowest and the fastest order among those that stand; a plain one next to a searched one counts, too. */
void slope_contest_range(const struct slope_contest *c, struct slope_order *least, struct slope_order *most);

#endif
