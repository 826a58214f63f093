/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What `slope diff` and `slope check` print. All of these write to `out` as they
 * go; whether it took everything is the caller's to ask (ferror). False means
 * that memory ran out.
 */
#ifndef SLOPE_REPORT_DIFF_H
#define SLOPE_REPORT_DIFF_H

#include <stdio.h>

#include "analysis/compare.h"
#include "analysis/rules.h"
#include "report/table.h"

struct slope_diff_view {
	const struct slope_profile *old, *now;
	const char *old_path, *now_path;
	const struct slope_compare_options *options;
	const struct slope_comparison *comparison;
	const char *result;          /* what a gate says: "pass", "fail", "inconclusive"; NULL: nobody asked */
	size_t top;                  /* text: functions of each kind of news; 0: all */
	bool points;                 /* text: every point of the curves that changed, not some sizes of them */
	bool color;
};

/* Sentences, the most costly news first; and what could not be compared. */
bool slope_diff_text(const struct slope_diff_view *v, FILE *out);

/* Schema "slope-diff/1", with both point sets of every function that is news. */
bool slope_diff_json(const struct slope_diff_view *v, FILE *out);

struct slope_check_view {
	const struct slope_profile *profile;
	const char *path, *baseline;     /* baseline: the other profile's name, or NULL */
	const struct slope_rules_options *options;
	const struct slope_checks *checks;
	const char *result;          /* what it comes to: "pass", "fail", "inconclusive", "error" */
	bool inconclusive_fails;     /* for JUnit: failures instead of skipped cases */
	bool missing_passes;         /* a rule without a function is no error */
	bool quiet;                  /* text: without the checks that passed */
	bool color;
};

/* One line for each check, the passed ones of a glob together; then a summary. */
bool slope_check_text(const struct slope_check_view *v, FILE *out);

/* Schema "slope-check/1". */
bool slope_check_json(const struct slope_check_view *v, FILE *out);

/* JUnit's XML: one suite, one case for each check. */
bool slope_check_junit(const struct slope_check_view *v, FILE *out);

#endif
