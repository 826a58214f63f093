/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Calls of a function, simulated: which sizes it was given, how often each, and
 * how far the cost of a call lies off its law. What comes out is the curve that
 * a profile of these calls would have.
 */
#ifndef SLOPE_TESTS_GROWTH_WORKLOAD_H
#define SLOPE_TESTS_GROWTH_WORKLOAD_H

#include "analysis/curve.h"
#include "tests/growth/law.h"
#include "tests/growth/random.h"

/* X(id, name) How sizes lie between the smallest and the largest. */
#define LAYOUT_LIST(X)               \
	X(EVEN, "even steps")        \
	X(RATIO, "even ratios")      \
	X(DRAWN, "random")           \
	X(DRAWN_RATIO, "random ratios")

/* X(id, name) How many calls a size gets. */
#define CALLS_LIST(X)                \
	X(ONCE, "one call each")     \
	X(SEVERAL, "1 to 20 calls")  \
	X(ZIPF, "Zipf")              \
	X(FADING, "fading")          \
	X(TAIL, "repeated tail")

enum layout {
#define X(id, name) LAYOUT_##id,
	LAYOUT_LIST(X)
#undef X
	LAYOUTS
};

enum calls {
#define X(id, name) CALLS_##id,
	CALLS_LIST(X)
#undef X
	CALLS_LAWS
};

struct workload {
	enum layout layout;
	double from, to;
	size_t sizes;                /* at most; sizes that fall together are one */
	enum calls calls;
	double noise;                /* of a call, relative to its cost; a standard deviation */
	bool lognormal;              /* or uniform */
	double slow_share, slow_times;     /* which part of the calls costs how many times as much */
	double spike_share, spike_times;   /* the same for sizes, all calls of them */
	double wave, wave_octaves;         /* height, relative, and length of a slow wave over log n */
};

#define WORKLOAD_SIZES_MAX 5000u

/* The curve of the workload; `curve` has room for WORKLOAD_SIZES_MAX points. Costs are whole numbers from 1 on. */
void workload_play(struct slope_curve *curve, const struct workload *w, const struct law *law, struct random *r);

#define WORKLOAD_TEXT 160u
char *workload_text(const struct workload *w, char text[WORKLOAD_TEXT]);

#endif
