/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Hot contexts shown: for each function, the callers, and theirs, along which
 * most of it comes. The profile must have contexts.
 */
#ifndef SLOPE_REPORT_CONTEXTS_VIEW_H
#define SLOPE_REPORT_CONTEXTS_VIEW_H

#include "analysis/census.h"
#include "analysis/forest.h"
#include "report/report.h"

#define SLOPE_CONTEXTS_FAR 1000u         /* callers that statistics look at: deep recursions take their time */

struct slope_contexts_options {
	struct slope_report_options report;  /* unit, top (functions), color, ascii, width */
	uint32_t function;           /* SLOPE_CALLERS_ALL: all, the heaviest first */
	uint32_t k;                  /* callers at most */
	bool far;                    /* nobody has asked for that k: it is said where there are more */
	double similar;              /* callers with this part of their function's weight, 0..1 */
	enum slope_callers_weight by;
	bool sites;                  /* tell calls from different places in one function apart */
	bool statistics;             /* how many contexts there are, by k */
};

/* What is shown, worked out once. */
struct slope_contexts_view {
	const struct slope_profile *p;
	const struct slope_contexts_options *o;
	struct slope_callers c;
	struct slope_forest f;
	struct slope_census s;
	struct slope_census_contexts contexts;   /* nodes of a tree; of slabs, paths of as many callers as they know */
	uint64_t cost;               /* of the run */
	uint64_t whole;              /* what shares are parts of: all self costs, all calls, or the cost of the run */
	enum slope_callers_weight hot_by;    /* totals of callers and callees overlap: then hot is by self cost */
	size_t functions;            /* trees that weigh anything */
};

/* False when memory runs out; `v` then holds nothing. */
bool slope_contexts_view_init(struct slope_contexts_view *v, const struct slope_profile *p,
			      const struct slope_contexts_options *o);
void slope_contexts_view_fini(struct slope_contexts_view *v);

/* The tree of the terminal, and with `statistics` a table by k. */
bool slope_contexts_text(const struct slope_contexts_view *v, FILE *out);

/* The same as JSON, schema "slope-contexts/1". */
bool slope_contexts_json(const struct slope_contexts_view *v, FILE *out);

/* One line of the statistics. */
struct slope_contexts_sizes {
	uint32_t k;                  /* SLOPE_CALLERS_ALL for the last */
	uint64_t forest, pruned;
	struct slope_census_contexts contexts;
	uint64_t slabs;              /* 0: not known */
};

/* The numbers for some k from 0 on; `nth` from 0. False when there are no more, or with `*failed` when memory runs out. */
bool slope_contexts_sizes(const struct slope_contexts_view *v, size_t nth, struct slope_contexts_sizes *sizes, bool *failed);

/* Limits of similarity for which statistics are given, ascending parts. */
#define SLOPE_CONTEXTS_LIMITS { 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95 }

#endif
