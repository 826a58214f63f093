/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How a curve grows: the model that describes it best, the range of orders that
 * the points do not rule out, the exponent with its interval, and how good the
 * evidence is. docs/growth.md says how it is found; the short form:
 *
 * Sizes are gathered in geometric bins. Every candidate (an order with an
 * intercept, above linear also with a linear term) is fitted by relative
 * error. AICc and leave-one-out error must agree on what is ruled out; what
 * remains is a range. Where it is too wide, or nothing fits, the verdict is
 * `inconclusive` and says why.
 */
#ifndef SLOPE_ANALYSIS_GROWTH_H
#define SLOPE_ANALYSIS_GROWTH_H

#include "analysis/curve.h"
#include "analysis/order.h"

/* X(id, name in JSON and text) */
#define SLOPE_VERDICT_LIST(X)              \
	X(CONSTANT, "constant")            \
	X(SUBLINEAR, "sublinear")          \
	X(LINEAR, "linear")                \
	X(LINEARITHMIC, "linearithmic")    \
	X(SUPERLINEAR, "superlinear")      \
	X(EXPONENTIAL, "exponential")      \
	X(INCONCLUSIVE, "inconclusive")

enum slope_verdict {
#define X(id, name) SLOPE_VERDICT_##id,
	SLOPE_VERDICT_LIST(X)
#undef X
};

/* Why a curve has no verdict. X(id, short reason) */
#define SLOPE_REASON_LIST(X)                                    \
	X(NONE, "")                                             \
	X(NO_POINTS, "no points")                               \
	X(FIXED, "n hardly varies")                             \
	X(FEW_SIZES, "too few sizes")                           \
	X(NARROW, "too narrow a range")                         \
	X(NO_FIT, "no model fits")                              \
	X(FALLING, "cost falls with n")                         \
	X(GAP, "a gap in the sizes")                            \
	X(UNRELATED, "cost does not follow n")                  \
	X(SEVERAL, "several models fit")                        \
	X(WEAK, "too little evidence")                          \
	X(SCATTERED, "too much scatter")                        \
	X(LATE, "growth only at the end")

enum slope_reason {
#define X(id, text) SLOPE_REASON_##id,
	SLOPE_REASON_LIST(X)
#undef X
};

/* cost(n) = constant + linear * n + factor * order(n) */
struct slope_model {
	struct slope_order order;
	double constant, linear, factor;
};

#define SLOPE_OUTLIERS_KEPT 16u

/* A size whose cost lies off the curve; it counts with `weight` instead of 1. */
struct slope_outlier {
	double n, cost, expected, weight;
};

struct slope_growth {
	enum slope_verdict verdict;
	enum slope_reason reason;    /* SLOPE_REASON_NONE unless inconclusive */
	size_t sizes, bins;          /* distinct sizes of the curve, and bins they were gathered in */
	double n_min, n_max;

	bool fitted;                 /* what follows has values (an inconclusive curve may have a best model too) */
	struct slope_model model;
	struct slope_order least, most;   /* orders that the points do not rule out; equal when one stands alone */
	double exponent, low, high;  /* of n on the whole, with a 95 % interval; infinite for exponentials */
	double r2;                   /* of log cost */
	double error;                /* typical relative error of the model, 0.02 is 2 % */
	double top_slope;            /* log-log slope over the top decade of n; NaN where it has too few bins */
	double holdout;              /* relative error for the upper sizes of a fit to the lower ones; NaN: not possible */
	double from, to;             /* sizes that the model describes */
	double gap_from, gap_to;     /* the widest gap between two bins */
	bool broken;                 /* two regimes: `model` is the upper one, from `from` on */
	struct slope_model below;    /* and this the lower one */

	double evidence;             /* 0 (none) to 1 */
	char grade;                  /* A good .. D poor; '-' without a verdict */

	struct slope_outlier outlier[SLOPE_OUTLIERS_KEPT];
	size_t outliers;             /* all of them, kept or not */
};

double slope_model_at(const struct slope_model *model, double n);

/*
 * Analyses one statistic of a curve. No memory is allocated; the same curve
 * gives the same answer every time. `thorough` adds the full number of
 * bootstrap rounds, for where one function is looked at.
 */
void slope_growth_of(struct slope_growth *g, const struct slope_curve *curve, enum slope_statistic of, bool thorough);

/* Does the cost outgrow its input, so far as the points can tell? n log n does not. */
bool slope_growth_is_steep(const struct slope_growth *g);

const char *slope_verdict_name(enum slope_verdict verdict);
const char *slope_reason_text(enum slope_reason reason);

/* "n^2", or "n .. n log n" for a range; "inconclusive". Returns `text`. */
#define SLOPE_GROWTH_TEXT 64u
char *slope_growth_text(const struct slope_growth *g, char text[SLOPE_GROWTH_TEXT]);

/* "1.83..2.21", the interval of the exponent as people read it, from 0 on; "" where there is none. Returns `text`. */
#define SLOPE_INTERVAL_TEXT 32u
char *slope_growth_interval(const struct slope_growth *g, char text[SLOPE_INTERVAL_TEXT]);

/*
 * What input would settle an inconclusive curve, as a sentence without its full
 * stop: "run inputs with n up to 4000 or more". Returns `text`.
 */
#define SLOPE_ADVICE_TEXT 160u
char *slope_growth_advice(const struct slope_growth *g, char text[SLOPE_ADVICE_TEXT]);

#endif
