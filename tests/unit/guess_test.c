/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Guess ratios of curves whose order is known. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/guess.h"

#define SIZES 60u

static const struct slope_order constant = { 0, 0, 0 }, logarithm = { 0, 1, 0 }, linear = { 1, 0, 0 },
				linearithmic = { 1, 1, 0 }, quadratic = { 2, 0, 0 }, doubling = { 0, 0, 2 };

/* A curve of SIZES sizes from `from` to `to`, even on a log scale; each cost is off by up to `noise`. */
static struct slope_curve curve_of(double (*cost)(double), double from, double to, double noise)
{
	struct slope_curve c = slope_curve_none();
	unsigned seed = 7;

	c.point = calloc(SIZES, sizeof(*c.point));
	assert_non_null(c.point);
	for (unsigned i = 0; i < SIZES; i++) {
		double n = floor(from * pow(to / from, i / (SIZES - 1.0)));

		if (c.count && c.point[c.count - 1].n >= n)
			continue;
		seed = seed * 1103515245u + 12345u;
		double y = cost(n) * (1 + noise * ((seed >> 16 & 1023) / 511.5 - 1));

		c.point[c.count++] = (struct slope_curve_point){ .n = n, .calls = 1, .cost = { y, y, y } };
	}
	return c;
}

static struct slope_guess guess(double (*cost)(double), double from, double to, double noise, struct slope_order order)
{
	struct slope_curve c = curve_of(cost, from, to, noise);
	struct slope_guess g;

	slope_guess_of(&g, &c, SLOPE_COST_MEAN, order);
	slope_curve_fini(&c);
	return g;
}

static double squares(double n) { return 7 * n * n; }
static double squares_and_more(double n) { return 3 * n * n + 40 * n + 500; }
static double n_log_n(double n) { return 5 * n * log2(n + 1); }
static double n_log_n_less_n(double n) { return 25 * n * log2(n + 1) - 60 * n; }
static double line(double n) { return 30 * n; }
static double late_line(double n) { return 4 * n - 3; }
static double flat(double n) { (void)n; return 25; }
static double zero(double n) { (void)n; return 0; }
static double doubles(double n) { return exp2(n); }

static void test_the_right_order_levels_off_at_its_constant(void **state)
{
	(void)state;
	struct slope_guess g = guess(squares, 10, 5000, 0, quadratic);

	assert_int_equal(g.trend, SLOPE_TREND_LEVELS);
	assert_true(fabs(g.level - 7) < 0.07);      /* bins hold several sizes */
	assert_true(fabs(g.slope) < 0.01);
	assert_true(g.least <= g.level && g.level <= g.most);
	g = guess(n_log_n, 10, 5000, 0, linearithmic);
	assert_int_equal(g.trend, SLOPE_TREND_LEVELS);
	assert_true(fabs(g.level - 5) < 0.05);
	assert_int_equal(guess(flat, 10, 5000, 0, constant).trend, SLOPE_TREND_LEVELS);
}

static void test_a_smaller_order_rises(void **state)
{
	(void)state;
	struct slope_guess g = guess(squares, 10, 5000, 0, linear);

	assert_int_equal(g.trend, SLOPE_TREND_RISES);
	assert_true(fabs(g.slope - 1) < 0.02);
	assert_true(isnan(g.level));
	assert_int_equal(guess(n_log_n, 10, 5000, 0, linear).trend, SLOPE_TREND_RISES);
	assert_int_equal(guess(line, 10, 5000, 0, logarithm).trend, SLOPE_TREND_RISES);
}

static void test_a_larger_order_falls(void **state)
{
	(void)state;
	struct slope_guess g = guess(squares, 10, 5000, 0, (struct slope_order){ 3, 0, 0 });

	assert_int_equal(g.trend, SLOPE_TREND_FALLS);
	assert_true(fabs(g.slope + 1) < 0.02);
	assert_int_equal(guess(line, 10, 5000, 0, linearithmic).trend, SLOPE_TREND_FALLS);
	assert_int_equal(guess(flat, 10, 5000, 0, logarithm).trend, SLOPE_TREND_FALLS);
}

/* n^99 is beyond any floating-point number from n = 1300 on; its logarithm is not. */
static void test_an_order_beyond_all_numbers_falls(void **state)
{
	(void)state;
	struct slope_guess g = guess(squares, 10, 1e6, 0, (struct slope_order){ 99, 0, 0 });

	assert_int_equal(g.trend, SLOPE_TREND_FALLS);
	assert_true(fabs(g.slope + 97) < 0.1);
	assert_true(isnan(g.level));
}

/* Lower-order terms let the ratio fall all the way; it ends at the constant all the same. */
static void test_lower_terms_fade(void **state)
{
	(void)state;
	struct slope_guess g = guess(squares_and_more, 10, 1500, 0, quadratic);

	assert_int_equal(g.trend, SLOPE_TREND_LEVELS);
	assert_true(g.slope < -0.03);
	assert_true(fabs(g.level - 3) < 0.15);
	assert_true(g.least <= g.level && g.most > g.level);
	g = guess(late_line, 2, 400, 0, linear);
	assert_int_equal(g.trend, SLOPE_TREND_LEVELS);
	assert_true(fabs(g.level - 4) < 0.05);
}

/* n fades next to n log n as slowly as anything does: the right order is not called wrong for that. */
static void test_slow_ratios_are_not_called_wrong(void **state)
{
	(void)state;
	for (double to = 2000; to < 1e6; to *= 2) {
		struct slope_guess g = guess(n_log_n_less_n, 100, to, 0, linearithmic);

		assert_true(g.slope > 0);
		assert_true(g.trend == SLOPE_TREND_UNCLEAR || g.trend == SLOPE_TREND_LEVELS);
	}
	assert_int_equal(guess(n_log_n_less_n, 100, 20000, 0, linear).trend, SLOPE_TREND_RISES);
}

static void test_noise_makes_it_wider_then_unclear(void **state)
{
	(void)state;
	struct slope_guess g = guess(squares, 10, 5000, 0.05, quadratic);

	assert_int_equal(g.trend, SLOPE_TREND_LEVELS);
	assert_true(g.high - g.low > 0.005);
	assert_int_equal(guess(squares, 10, 5000, 0.9, quadratic).trend, SLOPE_TREND_UNCLEAR);
	assert_int_equal(guess(squares, 10, 5000, 0.3, linear).trend, SLOPE_TREND_RISES);
}

static void test_too_little_is_unclear(void **state)
{
	(void)state;
	struct slope_curve none = slope_curve_none();
	struct slope_guess g = guess(squares, 1000, 2000, 0, quadratic);

	assert_int_equal(g.trend, SLOPE_TREND_UNCLEAR);          /* too narrow */
	assert_true(g.count > 5);
	assert_true(isnan(g.slope));
	g = guess(squares, 1, 4, 0, quadratic);                  /* too few */
	assert_int_equal(g.trend, SLOPE_TREND_UNCLEAR);
	slope_guess_of(&g, &none, SLOPE_COST_MEAN, linear);
	assert_int_equal(g.trend, SLOPE_TREND_UNCLEAR);
	assert_int_equal(g.count, 0);
}

/* n = 0 has no ratio, a cost of nothing no logarithm, 2^n no room in a number: none of them ends in NaN. */
static void test_extreme_values(void **state)
{
	(void)state;
	struct slope_guess g = guess(doubles, 1, 60, 0, doubling);

	assert_int_equal(g.trend, SLOPE_TREND_LEVELS);
	assert_true(fabs(g.level - 1) < 0.1);
	g = guess(squares, 10, 100000, 0, doubling);
	assert_int_equal(g.trend, SLOPE_TREND_FALLS);
	assert_true(g.ratio[g.count - 1] == 0);
	g = guess(zero, 1, 1000, 0, constant);
	assert_int_equal(g.trend, SLOPE_TREND_LEVELS);
	struct slope_curve c = curve_of(squares, 1, 1000, 0);

	c.point[0].n = 0;
	slope_guess_of(&g, &c, SLOPE_COST_MEAN, quadratic);
	slope_curve_fini(&c);
	assert_int_equal(g.trend, SLOPE_TREND_LEVELS);
	for (size_t i = 0; i < g.count; i++)
		assert_true(g.n[i] >= 1 && isfinite(g.ratio[i]));
}

/* ---- which guesses ---- */

static struct slope_growth growth_of(struct slope_order order)
{
	struct slope_growth g;

	memset(&g, 0, sizeof(g));
	g.fitted = true;
	g.model.order = order;
	g.from = 10;
	g.to = 1000;
	return g;
}

static void expect_neighbours(struct slope_order order, const char *below, const char *above)
{
	struct slope_growth g = growth_of(order);
	struct slope_order found;
	char text[SLOPE_ORDER_TEXT];

	assert_int_equal(slope_guess_below(&g, &found), below != NULL);
	if (below)
		assert_string_equal(slope_order_text(found, text), below);
	assert_int_equal(slope_guess_above(&g, &found), above != NULL);
	if (above)
		assert_string_equal(slope_order_text(found, text), above);
}

static void test_nearest_orders(void **state)
{
	(void)state;
	expect_neighbours(constant, NULL, "log n");
	expect_neighbours(linear, "sqrt n", "n log n");
	expect_neighbours(linearithmic, "n", "n^1.5");
	expect_neighbours(quadratic, "n^1.5", "n^2 log n");
	expect_neighbours((struct slope_order){ 1.98, 0, 0 }, "n^1.5", "n^2 log n");    /* n^2 would look the same */
	expect_neighbours((struct slope_order){ 1.37, 0, 0 }, "n log n", "n^1.5");
	expect_neighbours(doubling, "n^4", NULL);
}

static void test_standard_guesses(void **state)
{
	(void)state;
	struct slope_order order[SLOPE_GUESSES_STANDARD];
	struct slope_growth g = growth_of(quadratic);

	assert_int_equal(slope_guess_standard(&g, order), 3);
	assert_true(slope_order_compare(order[0], order[1]) < 0 && slope_order_compare(order[1], order[2]) < 0);
	g = growth_of(constant);
	assert_int_equal(slope_guess_standard(&g, order), 2);
	g.fitted = false;
	assert_int_equal(slope_guess_standard(&g, order), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_right_order_levels_off_at_its_constant),
		cmocka_unit_test(test_a_smaller_order_rises),
		cmocka_unit_test(test_a_larger_order_falls),
		cmocka_unit_test(test_an_order_beyond_all_numbers_falls),
		cmocka_unit_test(test_lower_terms_fade),
		cmocka_unit_test(test_slow_ratios_are_not_called_wrong),
		cmocka_unit_test(test_noise_makes_it_wider_then_unclear),
		cmocka_unit_test(test_too_little_is_unclear),
		cmocka_unit_test(test_extreme_values),
		cmocka_unit_test(test_nearest_orders),
		cmocka_unit_test(test_standard_guesses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
