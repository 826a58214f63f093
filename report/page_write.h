/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The report page: one HTML file with everything in it. All numbers in it come
 * from the code that prints them elsewhere: a block holds what `slope report
 * --json` prints, another what `slope threads --json` does, and so on;
 * docs/page.md has the list. The page shows them and fits nothing.
 */
#ifndef SLOPE_REPORT_PAGE_WRITE_H
#define SLOPE_REPORT_PAGE_WRITE_H

#include <time.h>

#include "analysis/rank.h"
#include "report/diff.h"
#include "report/report.h"

/* Inputs so many times as large can be chosen in the page; the one that the options name as well. */
#define SLOPE_PAGE_TIMES { 2, 3, 5, 10, 20, 50, 100, 300, 1000 }

struct slope_page {
	const struct slope_profile *p;
	struct slope_report_options o;       /* unit, metric, of and times count */
	time_t recorded;             /* when the profile was written; 0: not known */
	const char *file;            /* its name, for commands to copy */
	const struct slope_diff_view *diff;  /* what it is compared with; NULL: nothing */
	void (*progress)(const char *text);  /* may be NULL */
};

/* NULL, or a sentence on why this slope has no page. */
const char *slope_page_missing(void);

/* False when memory runs out. Whether `out` took everything is the caller's to ask (ferror). */
bool slope_page_write(const struct slope_page *page, FILE *out);

/* ---- its blocks, in files of their own ---- */

/* The order of the functions for each of the factors; `r` has the report's rows and is changed. */
bool slope_page_ranks(const struct slope_page *page, struct slope_rank *r, FILE *out);

/* What show and explain know of the functions that matter. */
bool slope_page_details(const struct slope_page *page, const struct slope_rank *r, FILE *out);

#endif
