/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Random numbers that are the same on every machine: SplitMix64, and what is drawn from it. */
#ifndef SLOPE_TESTS_GROWTH_RANDOM_H
#define SLOPE_TESTS_GROWTH_RANDOM_H

#include <math.h>
#include <stdint.h>

struct random {
	uint64_t state;
};

static inline uint64_t random_bits(struct random *r)
{
	uint64_t x = r->state += UINT64_C(0x9E3779B97F4A7C15);

	x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
	return x ^ x >> 31;
}

static inline unsigned random_below(struct random *r, unsigned below)
{
	return (unsigned)(random_bits(r) % below);
}

/* From a up to, but not, b. */
static inline double random_between(struct random *r, double a, double b)
{
	return a + (b - a) * ((double)(random_bits(r) >> 11) * 0x1p-53);
}

/* The same for magnitudes: every factor of two is as likely as any other. */
static inline double random_magnitude(struct random *r, double a, double b)
{
	return exp(random_between(r, log(a), log(b)));
}

/* Mean 0, standard deviation 1. */
static inline double random_normal(struct random *r)
{
	double radius = sqrt(-2 * log(1 - random_between(r, 0, 1)));

	return radius * cos(random_between(r, 0, 6.283185307179586));
}

#endif
