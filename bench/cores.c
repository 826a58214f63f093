/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "cores.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define PROCESSORS_MAX 256
#define LOOPS 2000000u       /* of the loop, a millisecond or two */
#define TRIES 15             /* the least of so many counts: neighbours can only add to a time */
#define SHARED 1.3           /* times what it takes alone: what shares a core takes up to twice that, what does not nothing more */

struct spinner {
	pthread_t thread;
	int processor;
	bool stop;
};

static bool move_to(int processor)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(processor, &set);
	return sched_setaffinity(0, sizeof set, &set) == 0;
}

/* Four chains of additions. */
static void spin(void)
{
	uint64_t a = 1, b = 2, c = 3, d = 4;

	for (unsigned i = 0; i < LOOPS; i++)
		__asm__ volatile("add $1, %0; add $3, %1; add $5, %2; add $7, %3; add $9, %0; add $11, %1; add $13, %2; add $15, %3"
				 : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
}

static double spin_seconds(void)
{
	struct timespec from, to;

	clock_gettime(CLOCK_MONOTONIC, &from);
	spin();
	clock_gettime(CLOCK_MONOTONIC, &to);
	return (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9;
}

static double least(void)
{
	double best = spin_seconds();

	for (int i = 1; i < TRIES; i++) {
		double taken = spin_seconds();

		best = taken < best ? taken : best;
	}
	return best;
}

static void *keep_busy(void *arg)
{
	struct spinner *s = arg;

	move_to(s->processor);
	while (!__atomic_load_n(&s->stop, __ATOMIC_ACQUIRE))
		spin();
	return NULL;
}

/* On the processor where this runs, while another one is busy. */
static bool disturbed_by(int other, double alone)
{
	struct spinner s = { .processor = other };

	if (pthread_create(&s.thread, NULL, keep_busy, &s))
		return false;
	spin();                      /* it comes to its processor meanwhile */
	double together = least();

	__atomic_store_n(&s.stop, true, __ATOMIC_RELEASE);
	pthread_join(s.thread, NULL);
	return together > SHARED * alone;
}

long cores_keep_one_each(void)
{
	cpu_set_t all, kept;
	bool taken[PROCESSORS_MAX] = { false };

	if (sched_getaffinity(0, sizeof all, &all) != 0)
		return -1;
	CPU_ZERO(&kept);
	for (int i = 0; i < PROCESSORS_MAX; i++) {
		if (!CPU_ISSET(i, &all) || taken[i] || !move_to(i))
			continue;
		double alone = least();

		CPU_SET(i, &kept);
		for (int k = i + 1; k < PROCESSORS_MAX; k++)
			if (CPU_ISSET(k, &all) && !taken[k])
				taken[k] = disturbed_by(k, alone);
	}
	return sched_setaffinity(0, sizeof kept, &kept) == 0 ? CPU_COUNT(&kept) : -1;
}
