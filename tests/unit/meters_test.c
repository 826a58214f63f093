/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sources/sampler/meters.h"
#include "tests/unit/scarce.h"

static void time_alone_without_words(void **state)
{
	struct slope_meters m;

	(void)state;
	slope_meters_read(&m, NULL, false);
	assert_int_equal(m.count, 1);
	assert_string_equal(m.meter[0].name, "cpu-time");
	assert_int_equal(m.column[SLOPE_METER_TIME], 0);
	assert_int_equal(m.column[SLOPE_METER_LIVE], -1);
	assert_int_equal(slope_meters_samples(&m), 1);
	assert_int_equal(slope_meters_units(&m), 2);
	slope_meters_read(&m, "time", true);
	assert_string_equal(m.meter[0].name, "wall-time");
}

static void columns_are_in_the_order_of_the_words(void **state)
{
	struct slope_meters m;

	(void)state;
	slope_meters_read(&m, "alloc-bytes/65536,perf/1/2/10/1/page-faults:u,lock-wait/1000 main=5", false);
	assert_int_equal(m.count, 3);
	assert_int_equal(m.column[SLOPE_METER_ALLOCATED], 0);
	assert_int_equal(m.meter[0].period, 65536);
	assert_int_equal(m.column[SLOPE_METER_PERF], 1);
	assert_string_equal(m.meter[1].name, "page-faults:u");
	assert_int_equal(m.meter[1].type, 1);
	assert_int_equal(m.meter[1].config, 2);
	assert_int_equal(m.meter[1].period, 10);
	assert_true(m.meter[1].own);
	assert_string_equal(m.meter[2].name, "lock-wait");
	assert_int_equal(m.column[SLOPE_METER_TIME], -1);
}

/* An environment is anybody's to write. */
static void words_without_sense_are_passed_over(void **state)
{
	struct slope_meters m;

	(void)state;
	slope_meters_read(&m, "", false);
	assert_int_equal(m.count, 0);
	slope_meters_read(&m, ",,nonsense,alloc,perf,perf/1/2,perf/1/2/0/0/name,perf/1/2/3/0/,live-bytes", false);
	assert_int_equal(m.count, 1);
	assert_string_equal(m.meter[0].name, "live-bytes");
	assert_int_equal(m.meter[0].period, 1);
	slope_meters_read(&m, "read-bytes/1,write-bytes/1,time,lock-wait/1", false);
	assert_int_equal(m.count, SLOPE_METERS_MAX);
	slope_meters_read(&m, "perf/1/2/3/0/a-name-that-is-much-longer-than-any-profile-has-them", false);
	assert_int_equal(m.count, 1);
	assert_int_equal(strlen(m.meter[0].name), SLOPE_METER_NAME - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_alone_without_words),
		cmocka_unit_test(columns_are_in_the_order_of_the_words),
		cmocka_unit_test(words_without_sense_are_passed_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
