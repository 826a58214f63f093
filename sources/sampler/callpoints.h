/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Functions of the C library that are watched while a program calls them:
 * allocations.c, filebytes.c and lockwaits.c stand before them. They are part
 * of a second library (slope-sampler-calls.so) that has all of the first one;
 * who measures time alone does not pay for them.
 *
 * Each has a meter. So much of what it measures is a sample, on average: what
 * is at least a period long is always one, and counts as it is. Of what is
 * shorter, samples are taken at distances that vary at random around the period
 * (lest a program that repeats itself is always met at the same place), and
 * each counts as a whole period. A period of 1 is exact.
 */
#ifndef SLOPE_SAMPLER_CALLPOINTS_H
#define SLOPE_SAMPLER_CALLPOINTS_H

#include "sources/sampler/sampler.h"

#define SLOPE_VISIBLE __attribute__((visibility("default")))

/*
 * The function of this name behind us, looked up on first use and kept in
 * `*kept`. The process ends when there is none. Not while one is being looked
 * up: slope_callpoints_finding().
 */
void *slope_callpoints_next(void **kept, const char *name);
/* Is the calling thread in there? ld.so may call functions that we stand before. */
bool slope_callpoints_finding(void);

/* The real function that this one stands before. */
#define SLOPE_NEXT(name) \
	({ static void *kept; (__typeof__(&name))slope_callpoints_next(&kept, #name); })

/* The rest of slope_callpoints_weight: what is shorter than a period. */
uint64_t slope_callpoints_short(struct slope_sampled *t, int column, uint64_t amount);

/* How much the sample of this amount counts; 0: there is none to take. */
static inline uint64_t slope_callpoints_weight(enum slope_meter_kind kind, uint64_t amount)
{
	struct slope_sampled *t = slope_sampled;
	int column = slope_sampler.meters.column[kind];

	if (!t || column < 0 || !amount)
		return 0;
	if (amount >= slope_sampler.meters.meter[column].period)
		return amount;
	t->left[column] -= (int64_t)amount;
	return SLOPE_LIKELY(t->left[column] > 0) ? 0 : slope_callpoints_short(t, column, amount);
}

/* Takes a sample, if it is due, where the program has called us. */
static inline void slope_callpoints_note(enum slope_meter_kind kind, uint64_t amount)
{
	uint64_t weight = slope_callpoints_weight(kind, amount);

	if (SLOPE_UNLIKELY(weight))
		slope_sampling_here(slope_sampler.meters.column[kind], weight);
}

#endif
