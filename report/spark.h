/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A cost plot in one line of text: n from its least to its greatest, cost from 0 to its greatest. */
#ifndef SLOPE_REPORT_SPARK_H
#define SLOPE_REPORT_SPARK_H

#include "analysis/curve.h"

#define SLOPE_SPARK_COLUMNS 8u
#define SLOPE_SPARK_BYTES (3 * SLOPE_SPARK_COLUMNS + 1)

/*
 * Both axes are linear: a straight rise is linear growth, a bent one is steeper.
 * Where no size was seen, the line between its neighbours counts. "" for fewer
 * than two sizes. Returns `text`.
 */
char *slope_spark(const struct slope_curve *curve, enum slope_statistic of, bool ascii, char text[SLOPE_SPARK_BYTES]);

#endif
