/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One function in full: what `slope show` knows about it, gathered once, and
 * shown as text, as JSON (schema "slope-show/1"), or as a picture
 * (report/gnuplot.h).
 */
#ifndef SLOPE_REPORT_SHOW_H
#define SLOPE_REPORT_SHOW_H

#include "analysis/guess.h"
#include "analysis/contrast.h"
#include "report/axis.h"
#include "report/listing.h"

struct slope_show_options {
	uint32_t function;
	uint32_t unit, metric;       /* position of the cost unit in the profile; SLOPE_METRIC_* */
	const struct slope_order *guess;   /* orders to divide by; NULL: the usual ones near the model */
	size_t guesses;              /* at most SLOPE_SHOW_GUESSES */
	enum slope_axes axes;
	bool color, ascii;
	unsigned width;              /* columns; 0: 80 */
	time_t recorded;             /* when the profile was written; 0: not known */
};

#define SLOPE_SHOW_GUESSES 8u
#define SLOPE_SHOW_NEIGHBOURS 5u     /* callers and callees that a text shows */

struct slope_show_thread {
	uint32_t thread;             /* position in the profile */
	uint64_t calls, total, self;
	struct slope_growth growth;  /* of the mean cost; it has the sizes too */
};

/* A caller or a callee. */
struct slope_show_neighbour {
	uint32_t function;
	uint64_t calls, cost;
};

struct slope_show {
	const struct slope_profile *p;
	struct slope_show_options o;
	const struct slope_profile_function *f;
	uint64_t calls, total, self, program;      /* program: cost of all threads together */
	uint64_t rms, trms, thread_input, external;
	struct slope_curve curve;
	struct slope_growth growth[SLOPE_STATISTICS];
	double scatter;              /* relative standard deviation of calls of one size; NaN: none was called twice */
	const struct slope_curve_point *widest;    /* the size whose calls differ most; NULL: none by much */
	struct slope_guess guess[SLOPE_SHOW_GUESSES];
	size_t guesses;
	bool has_below, has_above;
	struct slope_order below, above;           /* nearest usual orders around the model of the mean cost */
	struct slope_show_thread *thread;          /* in which it ran, the most costly first */
	size_t threads;
	struct slope_show_neighbour *caller, *callee;   /* the most costly first */
	size_t callers, callees;
	struct slope_contrast contrast;            /* by its callers, where points were recorded by context */
	struct slope_listing listing;
};

/* False when memory runs out; `s` then holds nothing. The profile must outlive it. O(points + edges of the profile). */
bool slope_show_init(struct slope_show *s, const struct slope_profile *p, const struct slope_show_options *o);
void slope_show_fini(struct slope_show *s);

/* The axes that text and picture use, with all points in them. Only where the curve has points. */
struct slope_axis slope_show_x(const struct slope_show *s);
struct slope_axis slope_show_y(const struct slope_show *s);

/* The value of an order at n, scaled to meet the model in the middle of the model's sizes (on a log scale). */
double slope_show_reference(const struct slope_show *s, struct slope_order order, double n);

/* "n^2, exponent 1.98 (1.93..2.02), grade A"; "inconclusive: too few sizes". Returns `text`. */
#define SLOPE_SHOW_TEXT 160u
char *slope_show_growth(const struct slope_growth *g, char text[SLOPE_SHOW_TEXT]);

/* Both are false when memory runs out. */
bool slope_show_text(const struct slope_show *s, FILE *out);
bool slope_show_json(const struct slope_show *s, FILE *out);

/* Of that the keys scatter, growth, guesses, threads, by_context and source_lines alone. */
bool slope_show_analysis_json(const struct slope_show *s, FILE *out);

#endif
