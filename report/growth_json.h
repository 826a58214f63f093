/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A growth and a curve as every JSON of ours writes them. */
#ifndef SLOPE_REPORT_GROWTH_JSON_H
#define SLOPE_REPORT_GROWTH_JSON_H

#include "analysis/growth.h"
#include "report/json.h"

/*
 * Keys verdict, model, least, most, exponent, low, high, r2, error, evidence, n
 * (from, to), reason. What is not known is null; an infinite exponent too.
 */
void slope_growth_json(struct slope_json *j, const char *key, const struct slope_growth *g);

/* An array of [n, calls, cost]: the points of one statistic. */
void slope_curve_json(struct slope_json *j, const char *key, const struct slope_curve *curve, enum slope_statistic of);

/* "mean", "max", "min". */
const char *slope_statistic_name(enum slope_statistic of);

#endif
