/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Orders of growth, n^p * log(n)^q or b^n: how they are written, read and
 * compared. "n log n" is power 1 with one logarithm; "2^n" has base 2.
 */
#ifndef SLOPE_ANALYSIS_ORDER_H
#define SLOPE_ANALYSIS_ORDER_H

#include <stdbool.h>
#include <stddef.h>

struct slope_order {
	double power;                /* p; 0 for exponentials */
	unsigned logs;               /* q */
	double base;                 /* b of b^n; 0: not exponential */
};

#define SLOPE_ORDER_TEXT 24u     /* bytes that are enough for slope_order_text */

/* "1", "log n", "sqrt n", "n", "n log n", "n^1.5", "n^2 log n", "2^n". Returns `text`. */
char *slope_order_text(struct slope_order order, char text[SLOPE_ORDER_TEXT]);

/*
 * Reads what slope_order_text writes and what people write: "O(n^2)", "n*log(n)",
 * "nlogn", "n²", "constant", "linear", "quadratic", "exponential", any case, any
 * blanks. False when it is none of these.
 */
bool slope_order_parse(const char *text, struct slope_order *order);

/* Below, equal to or above 0 as a grows slower than, like or faster than b. */
int slope_order_compare(struct slope_order a, struct slope_order b);

/* The value at n: n^p log2(n)^q, or b^n. log2(n) counts as log2(n + 1) - so it is never 0 for n > 0. */
double slope_order_at(struct slope_order order, double n);

/*
 * The power law that comes nearest to the order for sizes `from` to `to`: the
 * mean slope of its curve on log-log axes. Equal to p where there is no
 * logarithm and no exponential.
 */
double slope_order_slope(struct slope_order order, double from, double to);

#endif
