/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every function of a profile with its numbers over all threads, its growth,
 * and what that growth will cost: the rows of a report, sorted into three
 * groups. docs/growth.md has the formula.
 */
#ifndef SLOPE_ANALYSIS_RANK_H
#define SLOPE_ANALYSIS_RANK_H

#include "analysis/growth.h"

/* X(id, name in JSON, title) */
#define SLOPE_GROUP_LIST(X)                      \
	X(HURTS, "will_hurt", "will hurt")       \
	X(HOT, "hot", "hot today")               \
	X(UNCLEAR, "unclear", "unclear")         \
	X(REST, "rest", "the rest")

enum slope_group {
#define X(id, name, title) SLOPE_GROUP_##id,
	SLOPE_GROUP_LIST(X)
#undef X
	SLOPE_GROUPS
};

struct slope_rank_row {
	uint32_t function;
	const char *name;            /* the profile's */
	uint64_t calls, total, self; /* costs in the chosen unit; total counts outermost activations only */
	uint64_t rms, trms, thread, external;
	size_t points;               /* distinct sizes over all threads, by the chosen metric */
	uint64_t n_min, n_max;       /* only where points > 0 */
	uint32_t bits;               /* SLOPE_POINTS_EXACT, or the coarsest of the tables that are folded */
	uint32_t threads;            /* in how many it ran */

	struct slope_growth growth;
	double share;                /* of the program's cost */
	double factor;               /* cost with inputs `times` as large, over the cost now; NaN: not known */
	double later;                /* its share then; NaN: not known */
	double score;                /* what rows are sorted by within their group */
	enum slope_group group;
	bool ramp;                   /* called for every size up to the largest: all calls together are one order steeper */
	uint32_t via;                /* the callee that makes it grow, which has a row of its own; SLOPE_FN_NONE */
};

struct slope_rank {
	struct slope_rank_row *row;  /* by group, then score */
	size_t count;
	uint64_t program;            /* cost of all threads together */
	uint64_t root_self;          /* what of it belongs to no function */
};

struct slope_rank_options {
	uint32_t unit, metric;       /* positions in the profile; SLOPE_METRIC_* */
	enum slope_statistic of;     /* which cost makes the curve */
	double times;                /* how much larger inputs may get */
};

/*
 * Function 0, the threads themselves, has no row: its total is `program`.
 * False when memory runs out; `r` then holds nothing. O(points + edges).
 */
bool slope_rank_init(struct slope_rank *r, const struct slope_profile *p, const struct slope_rank_options *o);

/*
 * The same rows for inputs that grow by another factor: only `times` may differ
 * from the options that they were made with. Nothing is fitted again. False when
 * memory runs out; the rows are then in no order that means anything. O(points + edges).
 */
bool slope_rank_again(struct slope_rank *r, const struct slope_profile *p, const struct slope_rank_options *o);

void slope_rank_fini(struct slope_rank *r);

const char *slope_group_name(enum slope_group group);
const char *slope_group_title(enum slope_group group);

#endif
