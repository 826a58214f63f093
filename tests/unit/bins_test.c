/* SPDX-License-Identifier: GPL-3.0-or-later */
/* analysis/bins.c: what is gathered, what it weighs, and what lies off the curve. */
#include "tests/unit/curve_sample.h"

static const struct slope_model pure = { .order = { .power = 2 }, .factor = 3 };
static const struct slope_model square = { .order = { .power = 2 }, .constant = 40, .factor = 3 };

/* Whatever the curve: sizes ascend, weights are 1 on average, the scale is what it is said to be. */
static void check_sanity(const struct slope_bins *b)
{
	double sum = 0;

	assert_true(b->count <= SLOPE_BINS_MAX);
	for (size_t i = 0; i < b->count; i++) {
		assert_true(!i || b->n[i] > b->n[i - 1]);
		assert_true(b->smooth[i] > 0 && b->weight[i] > 0 && isfinite(b->weight[i]));
		alike(b->scale[i], sqrt(b->weight[i]) / b->smooth[i], 1e-12);
		sum += b->weight[i];
	}
	if (b->count)
		alike(sum, (double)b->count, 1e-9);
	assert_true(b->noise >= 0);
}

static void few_sizes_are_bins_of_their_own(void **state)
{
	struct slope_curve curve = curve_of(&pure, 3, 3000, 1.4);
	struct slope_growth g = { 0 };
	struct slope_bins b;

	(void)state;
	slope_bins_init(&b, &curve, SLOPE_COST_MEAN, &g);
	check_sanity(&b);
	assert_int_equal(b.count, curve.count);
	for (size_t i = 0; i < b.count; i++) {
		assert_true(b.n[i] == curve.point[i].n && b.cost[i] == curve.point[i].cost[SLOPE_COST_MEAN]);
		alike(b.log_n[i], log(b.n[i]), 1e-12);
		alike(b.smooth[i], b.cost[i], 1e-9);
	}
	assert_int_equal(g.outliers, 0);
	assert_true(b.noise < 1e-9);
	slope_curve_fini(&curve);
}

/* A bin's n and cost are means over the same calls, and so lie on any line that the points lie on. */
static void many_sizes_are_gathered(void **state)
{
	struct slope_curve curve = slope_curve_none();

	(void)state;
	for (double n = 1; n <= 5000; n++)
		curve_add(&curve, n, 1 + fmod(n, 7), 100 + 3 * n);
	struct slope_bins b = bins_and_end(&curve, NULL);

	check_sanity(&b);
	assert_true(b.count > 24 && b.count <= SLOPE_BINS_MAX);
	for (size_t i = 0; i < b.count; i++)
		alike(b.cost[i], 100 + 3 * b.n[i], 1e-9);
}

/* A hundred sizes that are one bin: the mean is that of the calls, the worst and the best are means over the sizes. */
static void the_mean_is_of_calls_and_the_worst_of_sizes(void **state)
{
	struct slope_curve curve = slope_curve_none();
	struct slope_growth g = { 0 };
	struct slope_bins b;

	(void)state;
	for (double n = 100000; n < 100100; n++)
		curve_add(&curve, n, n < 100050 ? 9 : 1, n < 100050 ? 10 : 20);
	slope_bins_init(&b, &curve, SLOPE_COST_MEAN, &g);
	assert_int_equal(b.count, 1);
	alike(b.cost[0], 11, 1e-12);
	alike(b.n[0], (100024.5 * 9 + 100074.5) / 10, 1e-12);
	slope_bins_init(&b, &curve, SLOPE_COST_MAX, &g);
	assert_int_equal(b.count, 1);
	alike(b.cost[0], 15, 1e-12);
	slope_curve_fini(&curve);
}

static void large_sizes_weigh_more(void **state)
{
	struct slope_bins b = bins_of(&pure, 2, 20000, 2);

	(void)state;
	check_sanity(&b);
	for (size_t i = 1; i < b.count; i++)
		alike(b.weight[i] / b.weight[i - 1], pow(2, 0.25), 1e-9);
}

/* Many calls of one size make it surer, up to a point: no model is true to the last digit. */
static void calls_weigh_up_to_a_point(void **state)
{
	struct slope_bins b[3];

	(void)state;
	for (int k = 0; k < 3; k++) {
		struct slope_curve curve = curve_of(&square, 4, 4000, 1.5);
		size_t odd = curve.count / 2;

		for (size_t i = 0; i < curve.count; i++) {
			double cost = curve.point[i].cost[SLOPE_COST_MEAN];

			curve.point[i].calls = 4;
			curve.point[i].variance = 0.25 * cost * cost;
		}
		curve.point[odd].calls = k == 0 ? 4 : k == 1 ? 400 : 4e9;
		b[k] = bins_and_end(&curve, NULL);
		check_sanity(&b[k]);
		b[k].noise = b[k].weight[odd] / b[k].weight[odd - 1];
	}
	assert_true(b[1].noise > 5 * b[0].noise);
	assert_true(b[2].noise < 2 * b[1].noise);
}

static void a_bin_off_the_curve_counts_less(void **state)
{
	struct slope_curve plain = curve_of(&square, 4, 4000, 1.4), odd = curve_of(&square, 4, 4000, 1.4);
	size_t at = odd.count / 2;
	double truth = odd.point[at].cost[SLOPE_COST_MEAN];
	struct slope_growth g = { 0 };
	struct slope_bins with, without;

	(void)state;
	odd.point[at].cost[SLOPE_COST_MEAN] *= 8;
	slope_bins_init(&without, &plain, SLOPE_COST_MEAN, &g);
	slope_bins_init(&with, &odd, SLOPE_COST_MEAN, &g);
	check_sanity(&with);
	assert_int_equal(g.outliers, 1);
	assert_true(g.outlier[0].n == odd.point[at].n);
	alike(g.outlier[0].expected, truth, 0.1);
	assert_true(g.outlier[0].weight < 0.05);
	assert_true(with.weight[at] < without.weight[at] * 0.1);
	for (size_t i = 0; i < with.count; i++)
		alike(with.smooth[i], without.smooth[i], 0.1);
	slope_curve_fini(&plain);
	slope_curve_fini(&odd);
}

/* Is the largest size off the curve, when it costs so many times what it should? */
static bool last_is_off(double times)
{
	struct slope_curve curve = curve_of(&square, 4, 4000, 1.4);
	double n = curve.point[curve.count - 1].n;
	struct slope_growth g = { 0 };
	struct slope_bins b;
	bool off = false;

	curve.point[curve.count - 1].cost[SLOPE_COST_MEAN] *= times;
	slope_bins_init(&b, &curve, SLOPE_COST_MEAN, &g);
	check_sanity(&b);
	for (size_t i = 0; i < g.outliers; i++)
		off |= g.outlier[i].n == n;
	slope_curve_fini(&curve);
	return off;
}

/* Higher than expected at the largest size may be the growth that is looked for; lower is not. */
static void the_last_bin_may_rise(void **state)
{
	(void)state;
	assert_false(last_is_off(8));
	assert_false(last_is_off(1));
	assert_true(last_is_off(0.01));
}

static void noise_is_measured(void **state)
{
	struct random r = { 7 };

	(void)state;
	for (double noise = 0.02; noise < 0.5; noise *= 2) {
		double sum = 0;

		for (int i = 0; i < 50; i++) {
			struct slope_curve curve = curve_of(&square, 4, 40000, 1.25);

			curve_shake(&curve, noise, &r);
			struct slope_bins b = bins_and_end(&curve, NULL);

			check_sanity(&b);
			sum += b.noise / 50;
		}
		if (sum < 0.7 * noise || sum > 2 * noise)
			fail_msg("noise of %g is taken for %g", noise, sum);
	}
}

static void a_part_is_a_part(void **state)
{
	struct slope_bins b = bins_of(&square, 4, 4000, 1.3), part;

	(void)state;
	slope_bins_part(&part, &b, 5, 9);
	check_sanity(&part);
	assert_int_equal(part.count, 9);
	assert_true(part.noise == b.noise);
	for (size_t i = 0; i < 9; i++) {
		assert_true(part.n[i] == b.n[i + 5] && part.cost[i] == b.cost[i + 5] && part.smooth[i] == b.smooth[i + 5]);
		assert_true(part.log_n[i] == b.log_n[i + 5]);
		alike(part.weight[i] / part.weight[0], b.weight[i + 5] / b.weight[5], 1e-12);
	}
}

static void nothing_and_next_to_nothing(void **state)
{
	struct slope_curve empty = slope_curve_none(), zero = slope_curve_none(), one = slope_curve_none();

	(void)state;
	struct slope_bins b = bins_and_end(&empty, NULL);

	assert_int_equal(b.count, 0);
	curve_add(&one, 0, 1, 0);
	b = bins_and_end(&one, NULL);
	assert_int_equal(b.count, 1);
	check_sanity(&b);
	for (double n = 0; n < 200; n++)
		curve_add(&zero, n, 1, 0);
	b = bins_and_end(&zero, NULL);
	check_sanity(&b);
	assert_true(b.count > 8);
	for (size_t i = 0; i < b.count; i++)
		assert_true(b.cost[i] == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_sizes_are_bins_of_their_own),
		cmocka_unit_test(many_sizes_are_gathered),
		cmocka_unit_test(the_mean_is_of_calls_and_the_worst_of_sizes),
		cmocka_unit_test(large_sizes_weigh_more),
		cmocka_unit_test(calls_weigh_up_to_a_point),
		cmocka_unit_test(a_bin_off_the_curve_counts_less),
		cmocka_unit_test(the_last_bin_may_rise),
		cmocka_unit_test(noise_is_measured),
		cmocka_unit_test(a_part_is_a_part),
		cmocka_unit_test(nothing_and_next_to_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
