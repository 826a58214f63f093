/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Curve bounding by guess ratio (the first paper's second way to look at a
 * curve): the cost over a guessed order g, T(n) / g(n), and where it goes for
 * large n. If it falls to 0, g grows faster than the cost; if it levels off, g
 * is right, and the level is its constant; if it rises, g is too small.
 *
 * What is judged is the tail: the upper half of the sizes on a log scale. A
 * ratio may still move there and come to rest later (lower-order terms fade),
 * so its slope is compared between the two halves of the tail: where it fades
 * quickly, the ratio levels off beyond the sizes that were seen. A tail that is
 * too short, too narrow or too scattered to tell is called unclear, and so is
 * one that moves less than a logarithm would: n log n + c n over n log n does.
 * What it gets wrong: with a c so large that the lower term still matters as
 * much as a logarithm does, the right order is called too small or too large.
 */
#ifndef SLOPE_ANALYSIS_GUESS_H
#define SLOPE_ANALYSIS_GUESS_H

#include "analysis/bins.h"

/* X(id, name in JSON, what it says about g) */
#define SLOPE_TREND_LIST(X)                        \
	X(UNCLEAR, "unclear", "open")              \
	X(FALLS, "falls", "grows faster")          \
	X(LEVELS, "levels_off", "fits")            \
	X(RISES, "rises", "grows slower")

enum slope_trend {
#define X(id, name, meaning) SLOPE_TREND_##id,
	SLOPE_TREND_LIST(X)
#undef X
};

struct slope_guess {
	struct slope_order order;
	enum slope_trend trend;
	size_t count;                /* bins with n of 1 or more */
	double n[SLOPE_BINS_MAX], ratio[SLOPE_BINS_MAX];
	size_t tail;                 /* position of the first bin of the tail */
	double slope, low, high;     /* of log ratio over log n in the tail, with a 95 % interval; NaN: no tail */
	double level, least, most;   /* where it levels off, and between what; NaN unless it does */
};

/* No memory is allocated. O(sizes + bins^2). */
void slope_guess_of(struct slope_guess *guess, const struct slope_curve *curve, enum slope_statistic of,
		    struct slope_order order);

/*
 * The nearest of the usual orders (1, log n, sqrt n, n, n log n, n^1.5, n^2, ...
 * 2^n) that grow visibly slower and faster than the growth's model over the
 * sizes it describes. False where there is none on that side, or no model.
 */
bool slope_guess_below(const struct slope_growth *g, struct slope_order *order);
bool slope_guess_above(const struct slope_growth *g, struct slope_order *order);

/*
 * The guesses to try where nobody names one: nearest below, the model's own
 * order, nearest above. Returns how many, 0 without a model.
 */
#define SLOPE_GUESSES_STANDARD 3u
size_t slope_guess_standard(const struct slope_growth *g, struct slope_order order[SLOPE_GUESSES_STANDARD]);

const char *slope_trend_name(enum slope_trend trend);
const char *slope_trend_meaning(enum slope_trend trend);

#endif
