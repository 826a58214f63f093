/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What was measured of paths (`record --contexts --event=...`), by calling context.
 *
 * A context has of a metric what the paths that were taken in it have. Where a path was not measured in a context, its mean
 * in all others stands for it; one that was never measured has nothing, and how many executions that concerns is told.
 */
#ifndef SLOPE_ANALYSIS_CONTEXTMETRICS_H
#define SLOPE_ANALYSIS_CONTEXTMETRICS_H

#include "profile/profile.h"

/*
 * The metric takes the place of all cost units in the profile's contexts, which then have this unit alone; what else the
 * profile has stays as it is. `metric`: below p->path_metrics. `*measured`, 0..1: which part of all executions is of paths that
 * were measured. False when memory runs out, and nothing is changed. O(paths * log paths + contexts).
 */
bool slope_contextmetric_show(struct slope_profile *p, uint32_t metric, double *measured);

#endif
