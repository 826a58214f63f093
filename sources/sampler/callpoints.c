/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "sources/sampler/callpoints.h"

#include <unistd.h>

struct slope_callpoints slope_callpoints;
static __thread bool finding __attribute__((tls_model("initial-exec")));

static void give_up(const char *name)
{
	static const char text[] = "slope: the C library has no function ";

	if (write(2, text, sizeof text - 1) < 0 || write(2, name, slope_length(name)) < 0 || write(2, "\n", 1) < 0)
		__builtin_trap();
	__builtin_trap();
}

void *slope_callpoints_find(void **kept, const char *name)
{
	if (finding)
		return NULL;
	finding = true;
	void *function = slope_sampler_next(name);

	finding = false;
	if (!function)
		give_up(name);
	__atomic_store_n(kept, function, __ATOMIC_RELAXED);
	return function;
}

/* Later ones may come in a signal handler, where ld.so must not be asked. */
__attribute__((constructor)) static void find_all(void)
{
#define X(name) slope_callpoints_find(&slope_callpoints.name, #name);
	SLOPE_ALLOCATION_LIST(X)
	SLOPE_TRANSFER_LIST(X)
	SLOPE_LOCK_LIST(X)
#undef X
}

/* From 1 to twice the period less 1; the period on average. */
static int64_t next_distance(struct slope_sampled *t, uint64_t period)
{
	if (!t->random)
		t->random = (uint64_t)t->tid * UINT64_C(0x9e3779b97f4a7c15) | 1;
	t->random ^= t->random << 13;
	t->random ^= t->random >> 7;
	t->random ^= t->random << 17;
	return 1 + (int64_t)((t->random >> 11) % (2 * period - 1));
}

uint64_t slope_callpoints_short(struct slope_sampled *t, int column, uint64_t amount)
{
	uint64_t period = slope_sampler.meters.meter[column].period, weight = 0;

	/* The first distance of a thread begins here, not at a sample. */
	if (t->left[column] == -(int64_t)amount && !t->begun[column]) {
		t->begun[column] = true;
		t->left[column] += next_distance(t, period);
	}
	while (t->left[column] <= 0) {
		t->left[column] += next_distance(t, period);
		weight += period;
	}
	return weight;
}
