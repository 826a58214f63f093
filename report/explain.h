/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What makes a function grow, shown: as text that names the culprit, and as JSON (schema "slope-explain/1"). */
#ifndef SLOPE_REPORT_EXPLAIN_H
#define SLOPE_REPORT_EXPLAIN_H

#include <stdio.h>

#include "analysis/explanation.h"
#include "report/report.h"

/* False when memory runs out. Of the options, unit, metric, color and width count. */
bool slope_explain_text(const struct slope_explanation *e, const struct slope_profile *p,
			const struct slope_report_options *o, FILE *out);
bool slope_explain_json(const struct slope_explanation *e, const struct slope_profile *p,
			const struct slope_report_options *o, FILE *out);

/*
 * The growth of calls or of a cost per call as people say it: "n", "1", "about
 * n^0.8" where only the slope between smallest and largest sizes is known; "?"
 * where nothing is. Returns `text`.
 */
#define SLOPE_RISE_TEXT 32u
char *slope_explain_rise(const struct slope_growth *g, double rise, char text[SLOPE_RISE_TEXT]);

/* Is there a growth to speak of? */
bool slope_explain_grows(const struct slope_growth *g, double rise);

/* "self", "often", "both", "large", "deep" or "nobody". */
const char *slope_blame_name(enum slope_blame blame);

#endif
