/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A growth, a model and an order as JSON, in the same words wherever they stand. */
#ifndef SLOPE_REPORT_GROWTH_JSON_H
#define SLOPE_REPORT_GROWTH_JSON_H

#include "analysis/growth.h"
#include "report/json.h"

/*
 * An object: verdict, text, sizes, bins, model, exponent, low, high, r2, reason;
 * where something was fitted, range (least, most), error, top_slope, holdout, n
 * (from, to), coefficients, below (the lower of two regimes, or null); evidence,
 * grade, outlier_count, outliers, advice. An infinite exponent is null.
 */
void slope_growth_json(struct slope_json *j, const char *key, const struct slope_growth *g);

/* An object: order, constant, linear, factor. */
void slope_model_json(struct slope_json *j, const char *key, const struct slope_model *m);

/* An array of [n, calls, cost]: the points of one statistic. */
void slope_curve_json(struct slope_json *j, const char *key, const struct slope_curve *curve, enum slope_statistic of);

/* "mean", "max" or "min". */
const char *slope_statistic_name(enum slope_statistic of);

#endif
