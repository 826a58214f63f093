/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What `slope check` and `slope diff` share: the exit statuses of a gate, the
 * thresholds, and which of a profile's costs and sizes count.
 */
#ifndef SLOPE_CLI_JUDGING_H
#define SLOPE_CLI_JUDGING_H

#include "analysis/compare.h"
#include "cli/options.h"
#include "cli/view.h"

/* Exit statuses of a gate; SLOPE_EXIT_WRONG besides. */
#define SLOPE_EXIT_REGRESSION 1
#define SLOPE_EXIT_INCONCLUSIVE 3

/* The order of the words is that of enum slope_statistic. */
#define SLOPE_OF_CHOICES "mean|max|min"

/* What the user has given; NULL, and SLOPE_VIEW_INPUT_NOT_GIVEN for the input, where nothing was. */
struct slope_judging {
	const char *unit, *level, *cost, *exponent, *workload, *share;
	unsigned of, input;
};

#define SLOPE_JUDGING_NONE { .input = SLOPE_VIEW_INPUT_NOT_GIVEN }

/* Are the thresholds numbers, each in its range? False after one line was said. */
bool slope_judging_sensible(const struct slope_judging *given);

/*
 * Options of a comparison: what the profiles have in common, and the user's
 * thresholds. False after one line was said.
 */
bool slope_judging_options(const struct slope_judging *given, struct slope_compare_options *o,
			   const struct slope_profile *old, const struct slope_profile *now);

/* Has it points of this metric (SLOPE_METRICS: of any)? False after one line was said. */
bool slope_judging_has_points(const struct slope_profile *p, const char *path, uint32_t metric);

/* A profile that a gate may rely on: whole, and with points. False after one line was said. */
bool slope_judging_usable(const struct slope_profile *p, const char *path, uint32_t metric);

#endif
