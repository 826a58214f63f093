/* SPDX-License-Identifier: GPL-3.0-or-later */
/* analysis/statistics.c: numbers worked out by hand, see statistics_sample.h. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analysis/statistics.h"
#include "tests/unit/failing.h"
#include "tests/unit/statistics_sample.h"

static struct slope_statistics statistics_of(const struct slope_profile *p)
{
	struct slope_statistics s;

	assert_true(slope_statistics_init(&s, p, 0));
	return s;
}

static double measure(const struct slope_statistics *s, uint32_t function, enum slope_measure m)
{
	const struct slope_function_statistics *f = slope_statistics_find(s, function);

	assert_non_null(f);
	return slope_measure_of(s, f, m);
}

static void near(double value, double wanted)
{
	if (!(fabs(value - wanted) < 1e-12))
		fail_msg("%.15g, expected %.15g", value, wanted);
}

static void threads_of_a_function_are_one(void **state)
{
	struct slope_statistics s = statistics_of(sample_profile());
	const struct slope_function_statistics *reader = slope_statistics_find(&s, FN_READER);

	(void)state;
	assert_int_equal(s.functions, 3);
	assert_int_equal(reader->calls, 14);
	assert_int_equal(reader->self, 85);
	assert_int_equal(reader->trms, 100);
	assert_int_equal(reader->thread, 30);
	assert_int_equal(reader->costliest, 13);
	assert_int_equal(reader->sizes[SLOPE_METRIC_TRMS].points, 13);  /* 1..12, 12..13 */
	assert_int_equal(reader->sizes[SLOPE_METRIC_RMS].points, 5);    /* 1..4, 4..5 */
	assert_int_equal(reader->sizes[SLOPE_METRIC_RMS].n_max, 5);
	assert_null(slope_statistics_find(&s, FN_ROOT));
	assert_null(slope_statistics_find(&s, FN_COUNT));
	slope_statistics_fini(&s);
}

static void measures_of_a_function(void **state)
{
	struct slope_statistics s = statistics_of(sample_profile());

	(void)state;
	near(measure(&s, FN_READER, SLOPE_MEASURE_POINTS), 13);
	near(measure(&s, FN_READER, SLOPE_MEASURE_RICHNESS), (13.0 - 5) / 5);
	near(measure(&s, FN_READER, SLOPE_MEASURE_VOLUME), 1 - 40.0 / 100);
	near(measure(&s, FN_READER, SLOPE_MEASURE_THREAD_OF_INPUT), 0.3);
	near(measure(&s, FN_READER, SLOPE_MEASURE_EXTERNAL_OF_INPUT), 0.2);
	near(measure(&s, FN_READER, SLOPE_MEASURE_THREAD_OF_INDUCED), 0.6);
	near(measure(&s, FN_READER, SLOPE_MEASURE_EXTERNAL_OF_INDUCED), 0.4);
	assert_true(isnan(measure(&s, FN_READER, SLOPE_MEASURE_POOR_COST)));
	near(measure(&s, FN_MAIN, SLOPE_MEASURE_POOR_COST), 20);
	near(measure(&s, FN_MAIN, SLOPE_MEASURE_EXTERNAL_OF_INDUCED), 1);
	near(measure(&s, FN_QUIET, SLOPE_MEASURE_RICHNESS), -0.5);      /* trms may have fewer points */
	near(measure(&s, FN_QUIET, SLOPE_MEASURE_VOLUME), 0);
	near(measure(&s, FN_QUIET, SLOPE_MEASURE_THREAD_OF_INDUCED), 0);
	slope_statistics_fini(&s);
}

static void at_least(const struct slope_statistics *s, enum slope_measure m, double limit, size_t functions, size_t of,
		     uint64_t self)
{
	struct slope_at_least found = slope_statistics_at_least(s, m, limit);

	assert_int_equal(found.functions, functions);
	assert_int_equal(found.of, of);
	assert_int_equal(found.self, self);
}

static void curves_over_all_functions(void **state)
{
	struct slope_statistics s = statistics_of(sample_profile());

	(void)state;
	at_least(&s, SLOPE_MEASURE_POINTS, 1, 3, 3, 100);
	at_least(&s, SLOPE_MEASURE_POINTS, 2, 2, 3, 90);
	at_least(&s, SLOPE_MEASURE_POINTS, 13, 1, 3, 85);
	at_least(&s, SLOPE_MEASURE_POINTS, 14, 0, 3, 0);
	at_least(&s, SLOPE_MEASURE_POOR_COST, 10, 1, 2, 10);            /* main and quiet are poor */
	at_least(&s, SLOPE_MEASURE_RICHNESS, 0, 2, 3, 95);
	at_least(&s, SLOPE_MEASURE_VOLUME, 0.5, 1, 3, 85);
	slope_statistics_fini(&s);
}

static void the_run(void **state)
{
	struct slope_statistics s = statistics_of(sample_profile());

	(void)state;
	assert_int_equal(s.cost, 100);
	assert_int_equal(s.input, 50);           /* of the threads, where every read counts once */
	assert_int_equal(s.thread_input, 12);
	assert_int_equal(s.external, 11);
	near(slope_statistics_volume(&s), 1 - 62.0 / 130);
	slope_statistics_fini(&s);
}

static void threads(void **state)
{
	struct slope_statistics s = statistics_of(sample_profile());

	(void)state;
	assert_int_equal(s.threads, 2);
	assert_true(s.thread[1].known);
	assert_int_equal(s.thread[1].cost, 15);
	assert_int_equal(s.thread[1].trms, 30);
	assert_int_equal(s.thread[1].thread, 12);
	assert_int_equal(s.thread[0].busiest, FN_READER);
	assert_int_equal(s.thread[0].busiest_self, 70);
	slope_statistics_fini(&s);
}

/* A damaged file may lack the threads' own rows, the first or all of them. */
static void lost_threads(void **state)
{
	struct slope_profile *p = sample_profile();
	struct slope_statistics s;

	(void)state;
	p->row += ROW_ROOT_2;
	p->row_count -= ROW_ROOT_2;
	s = statistics_of(p);
	assert_false(s.thread[0].known);
	assert_true(s.thread[1].known);
	assert_ptr_equal(slope_thread_row(p, 1), p->row);
	assert_null(slope_thread_row(p, 0));
	assert_int_equal(s.cost, 100);           /* from the self costs */
	assert_int_equal(s.input, 30);
	slope_statistics_fini(&s);
}

static void without_rms_there_is_no_richness(void **state)
{
	struct slope_statistics s = statistics_of(sample_without_rms());

	(void)state;
	assert_true(isnan(measure(&s, FN_READER, SLOPE_MEASURE_RICHNESS)));
	at_least(&s, SLOPE_MEASURE_RICHNESS, 0, 0, 0, 0);
	near(measure(&s, FN_READER, SLOPE_MEASURE_VOLUME), 0.6);        /* sums by rms are always there */
	slope_statistics_fini(&s);
}

static void without_trms_nothing_is_known_of_threads(void **state)
{
	struct slope_statistics s = statistics_of(sample_without_trms());

	(void)state;
	near(measure(&s, FN_READER, SLOPE_MEASURE_POINTS), 5);
	for (int m = SLOPE_MEASURE_RICHNESS; m < SLOPE_MEASURES; m++)
		assert_true(isnan(measure(&s, FN_READER, (enum slope_measure)m)));
	assert_true(isnan(slope_statistics_volume(&s)));
	slope_statistics_fini(&s);
}

static void limits_ascend(void **state)
{
	(void)state;
	for (int m = 0; m < SLOPE_MEASURES; m++) {
		size_t count;
		const double *limit = slope_measure_limits((enum slope_measure)m, &count);

		assert_true(count > 1);
		assert_true(slope_measure_name((enum slope_measure)m)[0]);
		for (size_t i = 1; i < count; i++)
			assert_true(limit[i - 1] < limit[i]);
	}
}

static void nothing_ran(void **state)
{
	struct slope_profile *p = sample_profile();
	struct slope_statistics s;

	(void)state;
	p->row_count = p->thread_count = 0;
	s = statistics_of(p);
	assert_int_equal(s.functions, 0);
	near(slope_statistics_volume(&s), 0);
	at_least(&s, SLOPE_MEASURE_POINTS, 1, 0, 0, 0);
	slope_statistics_fini(&s);
}

static void memory_may_run_out(void **state)
{
	const struct slope_profile *p = sample_profile();
	size_t failures = 0;
	bool good = false;

	(void)state;
	while (!good) {
		struct slope_statistics s;

		failing_after(failures);
		good = slope_statistics_init(&s, p, 0);
		failing_never();
		assert_true(good || (!s.function && !s.thread && !s.functions));
		if (good)
			slope_statistics_fini(&s);
		else
			failures++;
	}
	assert_int_equal(failures, 2 + 1);   /* two tables, and a curve that serves all functions */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_of_a_function_are_one),
		cmocka_unit_test(measures_of_a_function),
		cmocka_unit_test(curves_over_all_functions),
		cmocka_unit_test(the_run),
		cmocka_unit_test(threads),
		cmocka_unit_test(lost_threads),
		cmocka_unit_test(without_rms_there_is_no_richness),
		cmocka_unit_test(without_trms_nothing_is_known_of_threads),
		cmocka_unit_test(limits_ascend),
		cmocka_unit_test(nothing_ran),
		cmocka_unit_test(memory_may_run_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
