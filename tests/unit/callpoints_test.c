/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "sources/sampler/callpoints.h"

#include <dlfcn.h>

#include "tests/unit/scarce.h"

#define PERIOD 1000u

struct slope_sampler slope_sampler;
__thread struct slope_sampled *slope_sampled;

void *slope_sampler_next(const char *name)
{
	return dlsym(RTLD_DEFAULT, name);
}

struct slope_context *slope_sampling_here(int column, uint64_t weight)
{
	(void)column;
	(void)weight;
	return NULL;
}

static struct slope_sampled *fresh(uint64_t period)
{
	static struct slope_sampled thread;

	memset(&thread, 0, sizeof thread);
	thread.tid = 4711;
	slope_sampled = &thread;
	slope_meters_read(&slope_sampler.meters, "read-bytes/1", false);
	slope_sampler.meters.meter[0].period = period;
	return &thread;
}

static void nothing_where_nothing_is_measured(void **state)
{
	(void)state;
	fresh(1);
	assert_int_equal(slope_callpoints_weight(SLOPE_METER_WRITTEN, 100), 0);
	assert_int_equal(slope_callpoints_weight(SLOPE_METER_READ, 0), 0);
	slope_sampled = NULL;
	assert_int_equal(slope_callpoints_weight(SLOPE_METER_READ, 100), 0);
}

static void a_period_of_one_is_exact(void **state)
{
	(void)state;
	fresh(1);
	for (uint64_t amount = 1; amount < 1000; amount++)
		assert_int_equal(slope_callpoints_weight(SLOPE_METER_READ, amount), amount);
}

static void what_is_longer_than_a_period_counts_as_it_is(void **state)
{
	(void)state;
	fresh(PERIOD);
	assert_int_equal(slope_callpoints_weight(SLOPE_METER_READ, PERIOD), PERIOD);
	assert_int_equal(slope_callpoints_weight(SLOPE_METER_READ, 12345), 12345);
}

/* Two amounts in turn, which together are a period: a fixed distance would always meet the same one. */
static void neither_of_two_in_turn_is_preferred(void **state)
{
	uint64_t small = 0, large = 0, turns = 200000;

	(void)state;
	fresh(PERIOD);
	for (uint64_t i = 0; i < turns; i++) {
		small += slope_callpoints_weight(SLOPE_METER_READ, 100);
		large += slope_callpoints_weight(SLOPE_METER_READ, 900);
	}
	assert_in_range(small, turns * 100 * 95 / 100, turns * 100 * 105 / 100);
	assert_in_range(large, turns * 900 * 98 / 100, turns * 900 * 102 / 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_where_nothing_is_measured),
		cmocka_unit_test(a_period_of_one_is_exact),
		cmocka_unit_test(what_is_longer_than_a_period_counts_as_it_is),
		cmocka_unit_test(neither_of_two_in_turn_is_preferred),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
