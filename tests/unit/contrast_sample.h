/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A profile with points by context: what a function costs along certain callers, by a law. */
#ifndef SLOPE_TESTS_CONTRAST_SAMPLE_H
#define SLOPE_TESTS_CONTRAST_SAMPLE_H

#include "tests/unit/calls_sample.h"

/* Sizes from 10 to 1000, as many calls of each as wanted, for factor * n^power. */
struct variant_law {
	const char *callers;         /* functions by their letter, the nearest first; 'r' is the thread */
	double factor;
	int power;
	uint64_t calls;
	bool rest;
};

static inline uint32_t variant_function(char letter)
{
	return letter == 'r' ? 0 : (uint32_t)(letter - 'a' + 1);
}

/* Function f by these laws, called in thread 0; a, b, ... are callers. The rows have the same points. */
static inline struct slope_profile *variants_profile(const struct variant_law *law, size_t laws, uint32_t k)
{
	struct calls *c = calls_new();
	struct slope_profile *p = c->p;
	uint32_t f = variant_function('f');

	for (char name[2] = "a"; name[0] <= 'f'; name[0]++)
		calls_function(c, name);
	p->variant = calloc(laws + 1, sizeof(*p->variant));
	assert_non_null(p->variant);
	p->variant_k = k;
	for (size_t i = 0; i < laws; i++) {
		struct slope_profile_variant *v = &p->variant[p->variant_count++];

		*v = (struct slope_profile_variant){ .callers = (uint32_t)strlen(law[i].callers), .rest = law[i].rest };
		v->row = (struct slope_profile_row){
			.function = f, .points = { { .bits = SLOPE_POINTS_EXACT }, { .bits = SLOPE_POINTS_EXACT } },
		};
		v->caller = calloc(v->callers + 1, sizeof(*v->caller));
		for (uint32_t q = 0; q < v->callers; q++)
			v->caller[q] = variant_function(law[i].callers[q]);
		for (uint64_t n = 10; n <= 1000; n += n / 8 + 1)
			for (uint64_t calls = 0; calls < law[i].calls; calls++) {
				double cost = law[i].factor;

				for (int power = 0; power < law[i].power; power++)
					cost *= (double)n;
				v->row.calls++;
				v->row.total[0] += (uint64_t)cost;
				v->row.self[0] += (uint64_t)cost;
				calls_add_point(&v->row.points[SLOPE_METRIC_TRMS], n, (uint64_t)cost);
				calls_leaf(c, f, n, (uint64_t)cost);
			}
	}
	return calls_end(c);
}

#endif
