/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Axes, and small plots compared with what a person has looked at and found good. */
#define _GNU_SOURCE
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/plot.h"
#include "tests/unit/failing.h"

/* ---- axes ---- */

static void test_logarithmic_where_it_helps(void **state)
{
	(void)state;
	assert_true(slope_axis_of(1, 1, 1000, SLOPE_AXES_AUTO, true).log);
	assert_false(slope_axis_of(10, 10, 200, SLOPE_AXES_AUTO, true).log);
	assert_false(slope_axis_of(1, 1, 1000, SLOPE_AXES_LINEAR, true).log);
	assert_true(slope_axis_of(10, 10, 20, SLOPE_AXES_LOG, true).log);
	assert_false(slope_axis_of(0, 0, 0, SLOPE_AXES_LOG, true).log);      /* nothing above 0 */
}

static void test_ends_of_an_axis(void **state)
{
	(void)state;
	struct slope_axis a = slope_axis_of(30, 30, 60, SLOPE_AXES_LINEAR, true);

	assert_true(a.low == 0 && a.high == 60);
	a = slope_axis_of(40, 40, 60, SLOPE_AXES_LINEAR, false);             /* far from 0 */
	assert_true(a.low == 40);
	a = slope_axis_of(0, 2, 6000, SLOPE_AXES_AUTO, true);
	assert_true(a.log && a.low == 2);
	assert_true(slope_axis_place(&a, 0) == 0);
	a = slope_axis_of(5, 5, 5, SLOPE_AXES_LINEAR, false);                /* a single value lies inside */
	assert_true(slope_axis_place(&a, 5) > 0.2 && slope_axis_place(&a, 5) < 0.8);
	a = slope_axis_of(0, 0, 0, SLOPE_AXES_AUTO, true);
	assert_true(a.low == 0 && a.high == 1);
}

static void test_places_and_values_are_inverse(void **state)
{
	(void)state;
	for (enum slope_axes axes = SLOPE_AXES_LINEAR; axes <= SLOPE_AXES_LOG; axes++) {
		struct slope_axis a = slope_axis_of(3, 3, 700, axes, true);

		for (double place = 0; place <= 1; place += 0.125)
			assert_true(fabs(slope_axis_place(&a, slope_axis_value(&a, place)) - place) < 1e-9);
	}
}

static void expect_ticks(double low, double high, bool log, size_t wanted, const char *expected)
{
	const struct slope_axis a = { low, high, log };
	double tick[SLOPE_AXIS_TICKS];
	char text[200] = "", label[SLOPE_AXIS_LABEL];
	size_t count = slope_axis_ticks(&a, wanted, tick);

	for (size_t i = 0; i < count; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s ", slope_axis_label(tick[i], label));
	assert_string_equal(text, expected);
}

static void test_ticks_are_round(void **state)
{
	(void)state;
	expect_ticks(0, 100, false, 5, "0 20 40 60 80 100 ");
	expect_ticks(0, 770, false, 4, "0 200 400 600 ");
	expect_ticks(0, 0.3, false, 4, "0 0.1 0.2 0.3 ");
	expect_ticks(19, 911, true, 8, "20 50 100 200 500 ");
	expect_ticks(1, 1e6, true, 5, "1 100 10k 1M ");
	expect_ticks(1, 1e6, true, 7, "1 10 100 1k 10k 100k 1M ");
	expect_ticks(2.2e6, 2.9e6, true, 5, "2.2M 2.4M 2.6M 2.8M ");  /* between two round numbers */
	expect_ticks(1, 1e300, true, 4, "1 1e+57E 1e+132E 1e+207E 1e+282E ");
}

static void test_labels(void **state)
{
	(void)state;
	char text[SLOPE_AXIS_LABEL];

	assert_string_equal(slope_axis_label(0, text), "0");
	assert_string_equal(slope_axis_label(0.05, text), "0.05");
	assert_string_equal(slope_axis_label(999.4, text), "999");
	assert_string_equal(slope_axis_label(999.6, text), "1k");
	assert_string_equal(slope_axis_label(2.5e6, text), "2.5M");
	assert_string_equal(slope_axis_label(1e40, text), "1e+22E");
}

/* ---- plots ---- */

static const double x[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
static const double worst[] = { 2, 6, 12, 20, 30, 42, 56, 72 };
static const double mean[] = { 1, 4, 9, 16, 25, 36, 49, 64 };
static const double squares[] = { 1, 4, 9, 16, 25, 36, 49, 64 };
static const double steps[] = { 8, 16, 24, 32, 40, 48, 56, 64 };

static const struct slope_plot_series series[] = {
	{ "n", SLOPE_PLOT_DASHES, "⠤ ⠤", '-', SLOPE_STYLE_DIM, x, steps, 8 },
	{ "fit n^2", SLOPE_PLOT_LINE, "⠤⠤⠤", '*', SLOPE_STYLE_WARM, x, squares, 8 },
	{ "worst", SLOPE_PLOT_MARKS, "△", '^', SLOPE_STYLE_HOT, x, worst, 8 },
	{ "mean", SLOPE_PLOT_MARKS, "●", 'o', SLOPE_STYLE_BOLD, x, mean, 8 },
};

static struct slope_plot small_plot(void)
{
	return (struct slope_plot){
		.x_title = "n", .y_title = "cost (ir)", .x = { 0, 8, false }, .y = { 0, 72, false },
		.columns = 40, .rows = 9, .series = series, .count = 4,
	};
}

static char *printed(const struct slope_plot *plot, const double *bars)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	assert_non_null(out);
	assert_true(bars ? slope_plot_bars(plot, bars, out) : slope_plot_print(plot, out));
	fclose(out);
	return text;
}

static void expect_plot(const struct slope_plot *plot, const double *bars, const char *expected)
{
	char *text = printed(plot, bars);

	assert_string_equal(text, expected);
	free(text);
}

static void test_braille(void **state)
{
	(void)state;
	struct slope_plot plot = small_plot();

	expect_plot(&plot, NULL,
		    "cost (ir)  ⠤ ⠤ n  ⠤⠤⠤ fit n^2  △ worst  ● mean\n"
		    "       │                                       △\n"
		    "       │                                   ⣀ ⣐⠖●\n"
		    "    50 ┤                               ⠠⠔ △⠤⠊\n"
		    "       │                         ⢀⠤ ⠈△ ⢀⠤⠊●\n"
		    "       │                    ⣀⡀ ⠒⠁   ⣀●⠊⠁\n"
		    "       │               ⡀ ⠔⠂     ●⠤⠒⠉\n"
		    "       │           ⠤⠄ ⠉     ●⠤⠒⠊⠁\n"
		    "       │     ⣀⠄ ⠊⠁△  ⢀⣀●⠤⠒⠊⠉\n"
		    "     0 ┤     ●⠤⠤⠔⠒●⠊⠉⠁\n"
		    "       └┬─────────┬─────────┬────────┬─────────┬\n"
		    "        0         2         4        6         n\n");
}

static void test_ascii(void **state)
{
	(void)state;
	struct slope_plot plot = small_plot();

	plot.ascii = true;
	expect_plot(&plot, NULL,
		    "cost (ir)  - n  * fit n^2  ^ worst  o mean\n"
		    "       |                                       ^\n"
		    "       |                                   - **o\n"
		    "    50 +                               -- ^**\n"
		    "       |                         -- -^ ***o\n"
		    "       |                    -- --   *o**\n"
		    "       |               - --     o***\n"
		    "       |           -- -     o****\n"
		    "       |     -- --^  **o****\n"
		    "     0 +     o****o***\n"
		    "       ++---------+---------+--------+---------+\n"
		    "        0         2         4        6         n\n");
}

static void test_log_axes_make_powers_straight(void **state)
{
	(void)state;
	struct slope_plot plot = small_plot();

	plot.ascii = true;
	plot.x = (struct slope_axis){ 1, 8, true };
	plot.y = (struct slope_axis){ 1, 64, true };
	plot.series = &series[3];
	plot.count = 1;
	expect_plot(&plot, NULL,
		    "cost (ir)  o mean\n"
		    "       |                                       o\n"
		    "       |                                  o o\n"
		    "       |                              o\n"
		    "       |                          o\n"
		    "    10 +                     o\n"
		    "       |             o\n"
		    "       |\n"
		    "       |\n"
		    "     1 +o\n"
		    "       ++------------+----------------+---------\n"
		    "        1            2                5        n\n");
}

static void test_outside_is_left_out(void **state)
{
	(void)state;
	static const double far[] = { -50, 1e300, INFINITY, NAN, -INFINITY, 500, 1, 2 };
	const struct slope_plot_series wild[] = {
		{ "far", SLOPE_PLOT_LINE, "-", '*', SLOPE_STYLE_PLAIN, x, far, 8 },
		{ "mark", SLOPE_PLOT_MARKS, "o", 'o', SLOPE_STYLE_PLAIN, far, x, 8 },
	};
	struct slope_plot plot = small_plot();

	plot.series = wild;
	plot.count = 2;
	free(printed(&plot, NULL));
	plot.y = (struct slope_axis){ 1, 64, true };
	free(printed(&plot, NULL));
}

static void test_colour_ends_with_each_mark(void **state)
{
	(void)state;
	struct slope_plot plot = small_plot();
	size_t on = 0, off = 0;

	plot.color = true;
	char *text = printed(&plot, NULL);

	for (const char *c = strstr(text, "\033["); c; c = strstr(c + 2, "\033[")) {
		bool end = !strncmp(c, "\033[0m", 4);

		on += !end;
		off += end;
	}
	free(text);
	assert_true(on > 20);
	assert_int_equal(on, off);
}

static void test_bars(void **state)
{
	(void)state;
	double calls[40] = { [0] = 4, [5] = 1, [20] = 8, [39] = 2 };
	struct slope_plot plot = small_plot();

	plot.rows = 3;
	plot.y_title = "calls";
	expect_plot(&plot, calls,
		    "calls\n"
		    "     8 ┤                    █\n"
		    "       │▄                   █\n"
		    "       │█    ▃              █                  ▆\n"
		    "       └┬─────────┬─────────┬────────┬─────────┬\n"
		    "        0         2         4        6         n\n");
	plot.ascii = true;
	calls[20] = 5000;                    /* the others are still seen */
	expect_plot(&plot, calls,
		    "calls (log)\n"
		    "    5k +                    #\n"
		    "       |                    #\n"
		    "       |#    .              #                  .\n"
		    "       ++---------+---------+--------+---------+\n"
		    "        0         2         4        6         n\n");
}

static void test_memory_may_run_out(void **state)
{
	(void)state;
	struct slope_plot plot = small_plot();
	double calls[40] = { 1 };
	FILE *out = fopen("/dev/null", "w");

	assert_non_null(out);
	fputc('x', out);                     /* the stream has its buffer */
	failing_after(0);
	bool curve = slope_plot_print(&plot, out), bars = slope_plot_bars(&plot, calls, out);

	failing_never();
	fclose(out);
	assert_false(curve);
	assert_false(bars);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_logarithmic_where_it_helps),
		cmocka_unit_test(test_ends_of_an_axis),
		cmocka_unit_test(test_places_and_values_are_inverse),
		cmocka_unit_test(test_ticks_are_round),
		cmocka_unit_test(test_labels),
		cmocka_unit_test(test_braille),
		cmocka_unit_test(test_ascii),
		cmocka_unit_test(test_log_axes_make_powers_straight),
		cmocka_unit_test(test_outside_is_left_out),
		cmocka_unit_test(test_colour_ends_with_each_mark),
		cmocka_unit_test(test_bars),
		cmocka_unit_test(test_memory_may_run_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
