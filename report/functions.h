/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rows of a report: the ranked functions, chosen and sorted as the options say. */
#ifndef SLOPE_REPORT_FUNCTIONS_H
#define SLOPE_REPORT_FUNCTIONS_H

#include "analysis/rank.h"
#include "report/report.h"

struct slope_report_rows {
	struct slope_rank rank;      /* all functions; `row` and `count` are what passes the filter, in the order asked for */
	struct slope_rank_row *row;
	size_t count;
	uint64_t thread, external;   /* input of these rows; 0 where a column would be empty */
};

/* False when memory runs out; `r` then holds nothing. O(points log points). */
bool slope_report_rows_init(struct slope_report_rows *r, const struct slope_profile *p,
			    const struct slope_report_options *o);
void slope_report_rows_fini(struct slope_report_rows *r);

/* How many of the rows a view with these options shows. */
static inline size_t slope_report_rows_shown(const struct slope_report_rows *r, const struct slope_report_options *o)
{
	return o->top && o->top < r->count ? o->top : r->count;
}

/* A function's file, without the directory where the program ran if it lies below. NULL: unknown. */
const char *slope_report_file(const struct slope_profile *p, const struct slope_profile_function *f);

/* The same, without any folder where it lies elsewhere. */
const char *slope_report_short_file(const struct slope_profile *p, const struct slope_profile_function *f);

/* By the name that is shown, or by the one in the symbol table. */
bool slope_report_is_named(const struct slope_profile_function *f, const char *name);

/* "trms" or "rms". */
const char *slope_report_metric_name(uint32_t metric);

/*
 * Is the thread at this position a coroutine: something with a stack that is no
 * thread to the system? Made by a thread and running on it, it has the system's
 * number of that thread.
 */
bool slope_report_is_coroutine(const struct slope_profile *p, size_t at);

/* How many of the profile's threads are. */
size_t slope_report_coroutines(const struct slope_profile *p);

#endif
