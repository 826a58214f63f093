/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Cost functions whose growth is known: an order with an intercept, counted
 * steps of real algorithms with all their lower-order terms, and two laws one
 * above the other.
 */
#ifndef SLOPE_TESTS_GROWTH_LAW_H
#define SLOPE_TESTS_GROWTH_LAW_H

#include "analysis/order.h"

/* An algorithm with an exact count of its steps, for n from `least` to `most`. */
struct exact_law {
	const char *text;
	struct slope_order truth;
	double (*steps)(double n);
	double least, most;
};

extern const struct exact_law exact_laws[];
extern const size_t exact_laws_count;

struct law {
	struct slope_order truth;    /* for two regimes, that of the upper one */
	double constant, factor;
	const struct exact_law *exact;     /* its steps, `factor` each; NULL: the order itself */
	double broken_at;            /* 0, or where the upper regime begins */
	struct slope_order below;    /* the lower one, with its own factor */
	double factor_below;
};

/* n^p log2(n)^q or b^n, computed here and not by what is tested. */
double law_order_at(struct slope_order order, double n);

double law_at(const struct law *law, double n);

/* Nobody can see the growth: over these sizes it is less than 5 % of the cost. */
bool law_looks_constant(const struct law *law, double from, double to);

#define LAW_TEXT 120u
char *law_text(const struct law *law, char text[LAW_TEXT]);

#endif
