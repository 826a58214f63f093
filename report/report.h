/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A profile shown: to people as a table, to programs as JSON, CSV and in the
 * formats of other tools. All of these write to `out` as they go; whether it
 * took everything is the caller's to ask (ferror). False means that memory ran
 * out.
 */
#ifndef SLOPE_REPORT_REPORT_H
#define SLOPE_REPORT_REPORT_H

#include <stdio.h>

#include "analysis/curve.h"
#include "analysis/statistics.h"

#define SLOPE_REPORT_TOP 25u     /* rows of a table, where nobody asks for another number */

enum slope_report_sort {
	SLOPE_SORT_RANK,             /* by what growth will cost, in groups */
	SLOPE_SORT_TOTAL,
	SLOPE_SORT_SELF,
	SLOPE_SORT_CALLS,
	SLOPE_SORT_NAME,
	SLOPE_SORT_INDUCED           /* most input from threads and outside; of the same, least other input */
};

struct slope_report_options {
	uint32_t unit;               /* position of the cost unit in the profile */
	uint32_t metric;             /* SLOPE_METRIC_*: by which input size points count */
	enum slope_statistic of;     /* which cost of a size makes the curve */
	double times;                /* shares are foretold for inputs so many times as large */
	size_t top;                  /* at most so many functions; 0: all */
	enum slope_report_sort sort;
	const char *filter;          /* glob on the shown name; one without * ? [ may stand anywhere in it; NULL: all */
	bool color;
	bool ascii;                  /* no characters beyond ASCII of our own */
	unsigned width;              /* columns of the terminal; 0: as wide as it gets */
};

/* The first unit, trms if the profile has it, SLOPE_REPORT_TOP rows by rank for ten times the input, plain text of any width. */
struct slope_report_options slope_report_defaults(const struct slope_profile *p);

/* The table of `slope report`. */
bool slope_report_text(const struct slope_profile *p, const struct slope_report_options *o, FILE *out);

/* The same for a profile without input sizes; slope_report_text passes those on. By self cost unless told otherwise. */
bool slope_report_sampled_text(const struct slope_profile *p, const struct slope_report_options *o, FILE *out);

/* The same facts as JSON, schema "slope-report/1". Set top to 0 unless the user has asked for another number. */
bool slope_report_json(const struct slope_profile *p, const struct slope_report_options *o, FILE *out);

/*
 * The tables of `slope threads`: threads by cost, then functions by what other threads and the
 * outside fed them, `top` rows each. `sort` does not count.
 */
bool slope_threads_text(const struct slope_profile *p, const struct slope_report_options *o, FILE *out);

/* The same, and the statistics of the run, as JSON, schema "slope-threads/1". */
bool slope_threads_json(const struct slope_profile *p, const struct slope_report_options *o, FILE *out);

/* A few lines about the run, each behind a label of so many columns; nothing where no function ran. */
void slope_statistics_text(const struct slope_statistics *s, const char *unit, unsigned label_columns, FILE *out);

/* Every point: one line for each function, thread, metric, unit and size. */
bool slope_export_csv(const struct slope_profile *p, FILE *out);

/* All that the profile holds, schema "slope-profile/1". */
bool slope_export_json(const struct slope_profile *p, FILE *out);

/* What of a profile goes into those formats that do not take all of it. */
struct slope_export_options {
	uint32_t unit;               /* folded: position of the cost unit */
	uint32_t metric;             /* pprof, extrap: SLOPE_METRIC_*, by which input size points count */
	bool threads;                /* folded: threads apart */
	uint32_t k;                  /* callgrind, pprof, folded, speedscope: callers at most; 0: functions alone */
	const char *function;        /* extrap: only functions of this name, shown or in the symbol table; NULL: all */
};

/*
 * The first unit, trms if the profile has it, all functions, threads added up;
 * all callers where the profile has calling context trees, else none.
 */
struct slope_export_options slope_export_defaults(const struct slope_profile *p);

/*
 * For callgrind_annotate and KCachegrind; input sizes have no place there. With
 * k callers, which takes calling context trees, each context is a function: f'caller'caller.
 */
bool slope_export_callgrind(const struct slope_profile *p, const struct slope_export_options *o, FILE *out);

/* For pprof: binary, in a gzip stream. Self and total cost, and what calls of each input size cost. */
bool slope_export_pprof(const struct slope_profile *p, const struct slope_export_options *o, FILE *out);

/* For flame graphs: "module;function self-cost", a line each; with contexts "unit;main;caller;function self-cost". */
bool slope_export_folded(const struct slope_profile *p, const struct slope_export_options *o, FILE *out);

/* For speedscope: self costs, a profile for each unit, and for each thread where there are several. */
bool slope_export_speedscope(const struct slope_profile *p, const struct slope_export_options *o, FILE *out);

struct slope_extrap_notes {
	size_t functions;            /* how many had points and are in the output */
	bool sizes_differ;           /* Extra-P refuses the file: it wants the same sizes of every function in it */
};

/* For Extra-P: the mean cost for each function and input size, as JSON Lines. */
bool slope_export_extrap(const struct slope_profile *p, const struct slope_export_options *o, FILE *out,
			 struct slope_extrap_notes *notes);

#endif
