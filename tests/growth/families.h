/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The families of the corpus: which laws meet which workloads. */
#ifndef SLOPE_TESTS_GROWTH_FAMILIES_H
#define SLOPE_TESTS_GROWTH_FAMILIES_H

#include "tests/growth/workload.h"

/*
 * X(name, cases)
 *
 * plain      every candidate, without an intercept
 * linear     a + b n under all workloads: what must not be called superlinear
 * intercept  every candidate, with one of up to the growth at the middle of the range
 * power      a + b n^c, c from 0.5 to 3
 * exact      steps of real algorithms, as they are or with little noise
 * skewed     thousands of small calls and single large ones, or the same large call again and again
 * regimes    one law for small sizes, another for large ones
 * bimodal    some calls cost 5 to 20 times as much
 * late       flat, or linear, for most sizes; the growth that is looked for begins late
 * spikes     single sizes 3 to 50 times off, as when a table grows or a cache is filled
 * wavy       the law within 15 %, up and down slowly: sizes that are near each other err alike
 */
#define FAMILY_LIST(X)       \
	X(plain, 800)        \
	X(linear, 600)       \
	X(intercept, 800)    \
	X(power, 600)        \
	X(exact, 660)        \
	X(skewed, 600)       \
	X(regimes, 300)      \
	X(bimodal, 300)      \
	X(late, 300)         \
	X(spikes, 300)       \
	X(wavy, 300)

enum family {
#define X(name, cases) FAMILY_##name,
	FAMILY_LIST(X)
#undef X
	FAMILIES
};

/* 1, log n, sqrt n, n, n log n, n^1.5, n^2, n^2 log n, n^3, 2^n */
#define CANDIDATES 10u
extern const struct slope_order candidates[CANDIDATES];

struct specimen {
	struct law law;
	struct workload workload;
};

const char *family_name(enum family family);
unsigned family_cases(enum family family);

/* The `number`th case of a family: numbers decide on the class, so that all get their share. */
void family_draw(struct specimen *s, enum family family, unsigned number, struct random *r);

#endif
