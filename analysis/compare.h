/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two profiles compared, function by function: what grows otherwise, what costs
 * more or less at the same size, what got other input, what came and went.
 *
 * A difference is news when it is no accident and when it is large enough:
 *
 * - growth: the ratio of the costs tilts with n (analysis/ratio.h), and the two
 *   fits agree that the growth is another one: ranges of orders, or intervals
 *   of the exponent, that do not touch. Without enough common sizes the
 *   intervals alone decide;
 * - cost: the ratio is not 1, on the whole or at one end of the sizes;
 * - workload: calls in a run, or their distribution over n.
 *
 * The p values of each of the three kinds go through Benjamini-Hochberg, over
 * all functions of both profiles. Functions of too little cost are compared,
 * but are no news.
 */
#ifndef SLOPE_ANALYSIS_COMPARE_H
#define SLOPE_ANALYSIS_COMPARE_H

#include "analysis/growth.h"
#include "analysis/ratio.h"

struct slope_compare_options {
	uint32_t metric;             /* SLOPE_METRIC_*, that both have */
	uint32_t old_unit, now_unit; /* the same unit by name, at its place in each profile */
	enum slope_statistic of;
	double level;                /* of false discoveries that are accepted, 0.05 */
	double least_factor;         /* a cost ratio nearer to 1 is no news, 1.05 */
	double least_exponent;       /* a smaller change of the exponent is no news, 0.1 */
	double least_workload;       /* a smaller part of calls added, gone or moved to other sizes is no news, 0.1 */
	double share;                /* of the program's cost, now or at ten times the sizes: less is no news, 0.01 */
};

/* One function in one of the profiles. */
struct slope_side {
	uint32_t function;           /* SLOPE_PAIRING_NONE: not in this profile; the rest is then 0 */
	uint64_t calls, total, self; /* total: cost with callees, outermost activations */
	double share;                /* of the program's cost */
	struct slope_growth growth;
};

struct slope_difference {
	struct slope_side old, now;
	struct slope_ratio ratio;    /* only where both have it */
	double runs;                 /* of the new profile for each of the old one */
	double p_growth, p_calls;    /* besides those in `ratio`; NaN: no test */
	double cross;                /* the size where the fitted curves cross, near the measured ones; NaN: none */
	double in_callees;           /* part of the change of cost that is not its own; NaN: the calls differ */
	double impact;               /* cost added or saved at ten times the sizes, as a share of the program's then */

	bool matters;                /* cost enough to be news */
	int growth, cost;            /* 1 worse, -1 better, 0 no news */
	bool workload, appeared, gone;
	bool rising;                 /* no news of growth, but the cost pulls away from the old one at the top sizes */
	bool unclear;                /* had a verdict, has none now, and was not seen to keep pace */
};

struct slope_comparison {
	struct slope_difference *entry;  /* by impact, the largest first, whatever its sign */
	size_t count;
	size_t compared;             /* functions with enough common sizes for a test */
	size_t nameless;             /* functions without a symbol that have no partner */
	size_t worse, better, costlier, cheaper, workload, appeared, gone, unclear;  /* how many of each are news */
	uint64_t old_program, now_program;   /* cost of all threads */
};

/*
 * Options for two profiles; `unit` and `metric` as the user named them, NULL and
 * SLOPE_METRICS for the first that both have. False, with a sentence in
 * `error`, when they have no unit, input size or cell size in common.
 */
bool slope_compare_defaults(struct slope_compare_options *o, const struct slope_profile *old,
			    const struct slope_profile *now, const char *unit, uint32_t metric, char *error,
			    size_t error_bytes);

/* False when memory runs out; `c` then holds nothing. */
bool slope_comparison_init(struct slope_comparison *c, const struct slope_profile *old, const struct slope_profile *now,
			   const struct slope_compare_options *o);
void slope_comparison_fini(struct slope_comparison *c);

/* Is there anything to tell about this function? */
static inline bool slope_difference_is_news(const struct slope_difference *d)
{
	return d->growth || d->cost || d->workload || d->appeared || d->gone;
}

#endif
