/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The rows of a report: each function's numbers over all threads, chosen and
 * sorted as the options say.
 */
#ifndef SLOPE_REPORT_FUNCTIONS_H
#define SLOPE_REPORT_FUNCTIONS_H

#include "report/report.h"

struct slope_report_row {
	uint32_t function;
	const char *name;            /* the profile's */
	uint64_t calls, total, self; /* costs in the chosen unit; total counts outermost activations only */
	uint64_t rms, trms, thread, external;
	size_t points;               /* distinct sizes over all threads, by the chosen metric */
	uint64_t n_min, n_max;       /* only where points > 0 */
	uint32_t bits;               /* SLOPE_POINTS_EXACT, or the coarsest of the tables that are folded */
	uint32_t threads;            /* in how many it ran */
};

struct slope_report_rows {
	struct slope_report_row *row;
	size_t count;                /* all that pass the filter; a view shows the first of them */
	uint64_t program;            /* cost of all threads together */
	uint64_t root_self;          /* what of it belongs to no function */
	uint64_t thread, external;   /* of all rows; 0 where a column would be empty */
};

/*
 * Function 0, the threads themselves, is not among the rows: its total is
 * `program`. False when memory runs out; `r` then holds nothing.
 * O(rows + points log points).
 */
bool slope_report_rows_init(struct slope_report_rows *r, const struct slope_profile *p,
			    const struct slope_report_options *o);
void slope_report_rows_fini(struct slope_report_rows *r);

/* How many of the rows a view with these options shows. */
static inline size_t slope_report_rows_shown(const struct slope_report_rows *r, const struct slope_report_options *o)
{
	return o->top && o->top < r->count ? o->top : r->count;
}

/* Part of whole, 0 to 1 whatever the numbers are. */
static inline double slope_report_share(uint64_t part, uint64_t whole)
{
	return slope_share_of(part, whole);
}

/* The last component of a module's path; "" for code in no file. */
const char *slope_report_module(const struct slope_profile *p, const struct slope_profile_function *f);

/* A function's file, without the directory where the program ran if it lies below. NULL: unknown. */
const char *slope_report_file(const struct slope_profile *p, const struct slope_profile_function *f);

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
