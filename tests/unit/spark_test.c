/* SPDX-License-Identifier: GPL-3.0-or-later */
/* report/spark.c: a curve in eight columns. */
#include "report/spark.h"
#include "tests/unit/curve_sample.h"

/* The plot of a law at n = 1, 1 + step, ... 81. */
static void expect(double (*law)(double), double step, const char *plot)
{
	struct slope_curve curve = slope_curve_none();
	char text[SLOPE_SPARK_BYTES];

	for (double n = 1; n <= 81; n += step)
		curve_add(&curve, n, 1, law(n));
	assert_string_equal(slope_spark(&curve, SLOPE_COST_MEAN, true, text), plot);
	slope_curve_fini(&curve);
}

static double line(double n)
{
	return 100 * n;
}

static double bend(double n)
{
	return n * n * n;
}

static double level(double n)
{
	(void)n;
	return 55;
}

static double nothing(double n)
{
	(void)n;
	return 0;
}

static double fall(double n)
{
	return 82 - n;
}

static void shapes_are_seen(void **state)
{
	(void)state;
	expect(line, 1, "_.-~=+*#");
	expect(level, 1, "########");
	expect(nothing, 1, "________");
	expect(fall, 1, "#*+=~-._");
	expect(bend, 1, "____.~+#");
}

/* Columns without a size lie on the line between their neighbours: two points draw it, too. */
static void gaps_are_bridged(void **state)
{
	(void)state;
	expect(line, 80, "_.-~=+*#");
	expect(line, 20, "_--==**#");        /* a size stands for its column, wherever it lies in it */
}

static void blocks_are_utf8(void **state)
{
	struct slope_curve curve = slope_curve_none();
	char text[SLOPE_SPARK_BYTES];

	(void)state;
	curve_add(&curve, 0, 1, 0);
	curve_add(&curve, 800, 1, 8000);
	slope_spark(&curve, SLOPE_COST_MEAN, false, text);
	assert_int_equal(strlen(text), SLOPE_SPARK_BYTES - 1);
	assert_memory_equal(text, "\u2581", 3);
	assert_memory_equal(text + 3 * (SLOPE_SPARK_COLUMNS - 1), "\u2588", 3);
	slope_curve_fini(&curve);
}

static void each_statistic_has_its_plot(void **state)
{
	struct slope_curve curve = slope_curve_none();
	char mean[SLOPE_SPARK_BYTES], worst[SLOPE_SPARK_BYTES];

	(void)state;
	for (double n = 1; n <= 81; n++) {
		curve_add(&curve, n, 1, 5);
		curve.point[curve.count - 1].cost[SLOPE_COST_MAX] = n;
	}
	assert_string_equal(slope_spark(&curve, SLOPE_COST_MEAN, true, mean), "########");
	assert_string_equal(slope_spark(&curve, SLOPE_COST_MAX, true, worst), "_.-~=+*#");
	slope_curve_fini(&curve);
}

static void one_size_is_no_plot(void **state)
{
	struct slope_curve curve = slope_curve_none();
	char text[SLOPE_SPARK_BYTES] = "x";

	(void)state;
	assert_string_equal(slope_spark(&curve, SLOPE_COST_MEAN, true, text), "");
	curve_add(&curve, 5, 1, 5);
	assert_string_equal(slope_spark(&curve, SLOPE_COST_MEAN, true, text), "");
	slope_curve_fini(&curve);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shapes_are_seen),
		cmocka_unit_test(gaps_are_bridged),
		cmocka_unit_test(blocks_are_utf8),
		cmocka_unit_test(each_statistic_has_its_plot),
		cmocka_unit_test(one_size_is_no_plot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
