/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the programs of known growth share. Each calls its functions with many
 * sizes in one run; its top comment says how they grow and why, in terms of
 * the cells they read, and tests/growth/truth/<name> says the same for the test.
 */
#ifndef GROWTH_H
#define GROWTH_H

#include <stdint.h>
#include <string.h>

#include "../guest.h"

/* Sizes from `from` to `to`, five or six to a doubling. */
#define EACH_SIZE(n, from, to) for (size_t n = (from); n <= (to); n += n / 8 + 1)

/* Numbers without an order, the same in every run. */
struct dice {
	uint64_t state;
};

static inline uint32_t roll(struct dice *d)
{
	d->state = d->state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(d->state >> 33);
}

#endif
