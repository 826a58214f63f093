/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * analysis/growth.c: exact laws get their class, what cannot be known is said
 * so, and no curve is too strange for an answer. tests/growth/corpus has the
 * rates over thousands of curves; here is one claim at a time.
 */
#include "tests/unit/curve_sample.h"

static double exactly(struct slope_order order, double n)
{
	double value = order.base ? pow(order.base, n) : pow(n, order.power);

	for (unsigned i = 0; i < order.logs; i++)
		value *= log2(n + 1);
	return value;
}

/* Sizes `ratio` apart, whole numbers, cost = constant + factor * order. */
static struct slope_curve law(struct slope_order order, double constant, double factor, double from, double to, double ratio)
{
	struct slope_curve curve = slope_curve_none();

	for (double n = from; n <= to; n = fmax(n + 1, floor(n * ratio)))
		curve_add(&curve, n, 1, floor(constant + factor * exactly(order, n)));
	return curve;
}

/* Whatever the curve was: the answer has no contradictions. */
static void check_sanity(const struct slope_growth *g, const struct slope_curve *curve)
{
	char text[SLOPE_GROWTH_TEXT], advice[SLOPE_ADVICE_TEXT];

	assert_int_equal(g->sizes, curve->count);
	assert_true((g->verdict == SLOPE_VERDICT_INCONCLUSIVE) == (g->reason != SLOPE_REASON_NONE));
	assert_true((g->verdict == SLOPE_VERDICT_INCONCLUSIVE) == (g->grade == '-'));
	assert_true(g->evidence >= 0 && g->evidence <= 1);
	assert_int_equal(strcmp(slope_growth_text(g, text), "inconclusive") == 0, g->verdict == SLOPE_VERDICT_INCONCLUSIVE);
	assert_int_equal(*slope_growth_advice(g, advice) != '\0',
			 g->reason != SLOPE_REASON_NONE && g->reason != SLOPE_REASON_FIXED);
	if (!g->fitted) {
		assert_int_equal(g->verdict, SLOPE_VERDICT_INCONCLUSIVE);
		return;
	}
	assert_true(slope_order_compare(g->least, g->model.order) <= 0 && slope_order_compare(g->most, g->model.order) >= 0);
	assert_true(g->from >= g->n_min * (1 - 1e-9) && g->to <= g->n_max * (1 + 1e-9) && g->from <= g->to);
	if (g->verdict == SLOPE_VERDICT_INCONCLUSIVE)
		return;
	assert_true(isfinite(slope_model_at(&g->model, g->to)) && isfinite(g->error) && isfinite(g->r2));
	assert_true(g->low <= g->exponent && g->exponent <= g->high);
}

static struct slope_growth answer(struct slope_curve *curve, enum slope_statistic of)
{
	struct slope_growth g;

	slope_growth_of(&g, curve, of, false);
	check_sanity(&g, curve);
	return g;
}

static struct slope_growth answer_and_end(struct slope_curve *curve)
{
	struct slope_growth g = answer(curve, SLOPE_COST_MEAN);

	slope_curve_fini(curve);
	return g;
}

static void exact_laws_give_their_class(void **state)
{
	static const struct {
		struct slope_order order;
		enum slope_verdict verdict;
	} class[] = {
		{ { 0, 0, 0 }, SLOPE_VERDICT_CONSTANT }, { { 0, 1, 0 }, SLOPE_VERDICT_SUBLINEAR },
		{ { 0.5, 0, 0 }, SLOPE_VERDICT_SUBLINEAR }, { { 1, 0, 0 }, SLOPE_VERDICT_LINEAR },
		{ { 1, 1, 0 }, SLOPE_VERDICT_LINEARITHMIC }, { { 1.5, 0, 0 }, SLOPE_VERDICT_SUPERLINEAR },
		{ { 2, 0, 0 }, SLOPE_VERDICT_SUPERLINEAR }, { { 2, 1, 0 }, SLOPE_VERDICT_SUPERLINEAR },
		{ { 3, 0, 0 }, SLOPE_VERDICT_SUPERLINEAR }, { { 0, 0, 2 }, SLOPE_VERDICT_EXPONENTIAL },
	};
	char want[SLOPE_ORDER_TEXT], got[SLOPE_GROWTH_TEXT];

	(void)state;
	for (size_t i = 0; i < COUNT(class); i++)
		for (double constant = 0; constant <= 100; constant += 50) {
			double to = class[i].order.base ? 40 : 8000;
			struct slope_curve curve = law(class[i].order, constant, 20, 4, to, 1.4);
			struct slope_growth g = answer_and_end(&curve);

			assert_string_equal(slope_growth_text(&g, got), slope_order_text(class[i].order, want));
			assert_int_equal(g.verdict, class[i].verdict);
			assert_true(g.error < 0.02);
			assert_false(g.broken);
		}
}

static void a_power_that_is_no_candidate(void **state)
{
	struct slope_curve curve = law((struct slope_order){ .power = 1.75 }, 300, 12, 4, 20000, 1.3);
	struct slope_growth g = answer_and_end(&curve);

	(void)state;
	assert_int_equal(g.verdict, SLOPE_VERDICT_SUPERLINEAR);
	assert_true(fabs(g.exponent - 1.75) < 0.03);
	assert_true(g.low <= 1.75 && g.high >= 1.75);
}

static void the_model_predicts(void **state)
{
	struct slope_curve curve = law((struct slope_order){ .power = 2 }, 1000, 3, 4, 5000, 1.3);
	struct slope_growth g = answer_and_end(&curve);

	(void)state;
	assert_true(fabs(slope_model_at(&g.model, 50000) / (1000 + 3 * 2.5e9) - 1) < 0.05);
	assert_true(g.holdout < 0.1);
	assert_true(fabs(g.top_slope - 2) < 0.1);
	assert_true(g.r2 > 0.99);
	assert_int_equal(g.grade, 'A');
}

static void a_range_of_one_name_is_no_range(void **state)
{
	struct slope_growth g = { .verdict = SLOPE_VERDICT_SUPERLINEAR, .least.power = 2.998, .model.order.power = 3, .most.power = 3 };
	char text[SLOPE_GROWTH_TEXT];

	(void)state;
	assert_string_equal(slope_growth_text(&g, text), "n^3");
	g.least.power = 2.9;
	assert_string_equal(slope_growth_text(&g, text), "n^2.9 .. n^3");
}

static void an_interval_begins_at_nothing(void **state)
{
	struct slope_growth g = { .low = -0.04, .high = 0.031 };
	char text[SLOPE_INTERVAL_TEXT];

	(void)state;
	assert_string_equal(slope_growth_interval(&g, text), "0.00..0.03");
	g.low = 1.826;
	g.high = 2.2;
	assert_string_equal(slope_growth_interval(&g, text), "1.83..2.20");
	g.high = INFINITY;
	assert_string_equal(slope_growth_interval(&g, text), "");
	g.low = g.high = NAN;
	assert_string_equal(slope_growth_interval(&g, text), "");
}

static void steep_is_what_outgrows_its_input(void **state)
{
	struct slope_growth g = { .verdict = SLOPE_VERDICT_SUPERLINEAR, .low = 1.2, .high = 1.6 };

	(void)state;
	assert_true(slope_growth_is_steep(&g));
	g.low = 1.02;                /* may as well be linear */
	assert_false(slope_growth_is_steep(&g));
	g.verdict = SLOPE_VERDICT_LINEARITHMIC;
	g.low = 1.2;
	assert_false(slope_growth_is_steep(&g));
	g.verdict = SLOPE_VERDICT_EXPONENTIAL;
	g.low = INFINITY;
	assert_true(slope_growth_is_steep(&g));
}

static void advice_counts_the_sizes_that_are_missing(void **state)
{
	struct slope_growth g = { .verdict = SLOPE_VERDICT_INCONCLUSIVE, .reason = SLOPE_REASON_FEW_SIZES, .sizes = 2, .n_max = 10 };
	char text[SLOPE_ADVICE_TEXT];

	(void)state;
	assert_non_null(strstr(slope_growth_advice(&g, text), "at least 3 more sizes, up to n = 80 "));
	g.sizes = 4;
	assert_non_null(strstr(slope_growth_advice(&g, text), "at least 1 more size, "));
	g.sizes = 40;                /* many, but too near to each other */
	assert_non_null(strstr(slope_growth_advice(&g, text), "at least 1 more size, "));
}

/* Thousands of small calls and one large: the tail decides. */
static void small_calls_do_not_outvote_the_tail(void **state)
{
	struct slope_curve curve = slope_curve_none();
	char text[SLOPE_GROWTH_TEXT];

	(void)state;
	for (double n = 2; n < 3000; n = ceil(n * 1.25))
		curve_add(&curve, n, n < 40 ? 100000 : 1, 5000 + n * n);
	struct slope_growth g = answer_and_end(&curve);

	assert_string_equal(slope_growth_text(&g, text), "n^2");
}

static void each_statistic_has_its_own_answer(void **state)
{
	struct slope_curve curve = slope_curve_none();
	char text[SLOPE_GROWTH_TEXT];

	(void)state;
	for (double n = 4; n < 5000; n = ceil(n * 1.3)) {
		curve_add(&curve, n, 10, 20 * n + 7);
		curve.point[curve.count - 1].cost[SLOPE_COST_MAX] = 3 * n * n + 20 * n;
		curve.point[curve.count - 1].cost[SLOPE_COST_MIN] = 7;
	}
	struct slope_growth mean = answer(&curve, SLOPE_COST_MEAN), worst = answer(&curve, SLOPE_COST_MAX);
	struct slope_growth best = answer(&curve, SLOPE_COST_MIN);

	assert_string_equal(slope_growth_text(&mean, text), "n");
	assert_string_equal(slope_growth_text(&worst, text), "n^2");
	assert_string_equal(slope_growth_text(&best, text), "1");
	slope_curve_fini(&curve);
}

static void expect_reason(struct slope_curve curve, enum slope_reason reason)
{
	struct slope_growth g = answer_and_end(&curve);

	assert_string_equal(slope_reason_text(g.reason), slope_reason_text(reason));
}

static void each_reason_has_its_case(void **state)
{
	struct slope_order linear = { .power = 1 };
	struct slope_curve fixed = slope_curve_none(), falling = slope_curve_none();
	struct slope_curve scattered = slope_curve_none(), wild = slope_curve_none(), late = slope_curve_none();
	struct random r = { 5 };

	(void)state;
	expect_reason(slope_curve_none(), SLOPE_REASON_NO_POINTS);
	curve_add(&fixed, 10, 100000, 50);
	expect_reason(fixed, SLOPE_REASON_FIXED);
	expect_reason(law(linear, 0, 5, 10, 10, 2), SLOPE_REASON_FEW_SIZES);
	expect_reason(law(linear, 0, 5, 10, 40, 2), SLOPE_REASON_FEW_SIZES);
	expect_reason(law(linear, 0, 5, 1000, 1100, 1.001), SLOPE_REASON_NARROW);
	for (double n = 4; n < 5000; n = ceil(n * 1.3))
		curve_add(&falling, n, 5, floor(1e6 / n));
	expect_reason(falling, SLOPE_REASON_FALLING);
	for (double n = 4; n < 100; n = ceil(n * 1.3))
		curve_add(&scattered, n, 1, floor(random_magnitude(&r, 10, 1000)));
	expect_reason(scattered, SLOPE_REASON_SCATTERED);
	/* A bend in the last octave: nobody knows how steep that will be. */
	for (double n = 4; n < 400; n = ceil(n * 1.1))
		curve_add(&late, n, 1, floor(n < 250 ? 250000 : 1000 * n));
	expect_reason(late, SLOPE_REASON_LATE);
	/* Up, down and up again, smoothly. */
	for (double n = 1; n < 1e6; n = ceil(n * 1.2))
		curve_add(&wild, n, 1, floor(1000 * exp(-2 * cos(log(n) * 0.9))));
	expect_reason(wild, SLOPE_REASON_NO_FIT);
}

static void outliers_are_listed(void **state)
{
	struct slope_curve curve = law((struct slope_order){ .power = 1 }, 0, 50, 4, 20000, 1.3);
	size_t odd = curve.count / 2;
	char text[SLOPE_GROWTH_TEXT];

	(void)state;
	curve.point[odd].cost[SLOPE_COST_MEAN] *= 9;
	double n = curve.point[odd].n;
	struct slope_growth g = answer_and_end(&curve);

	assert_int_equal(g.outliers, 1);
	assert_true(g.outlier[0].n == n && g.outlier[0].weight > 0 && g.outlier[0].weight < 1);
	assert_true(fabs(g.outlier[0].expected / (50 * n) - 1) < 0.2);
	assert_true(fabs(g.outlier[0].cost / (450 * n) - 1) < 1e-9);
	assert_string_equal(slope_growth_text(&g, text), "n");
}

static void no_outliers_without_any(void **state)
{
	struct slope_curve curve = law((struct slope_order){ .power = 2 }, 900, 3, 4, 20000, 1.3);
	struct slope_growth g = answer_and_end(&curve);

	(void)state;
	assert_int_equal(g.outliers, 0);
}

static void two_regimes(void **state)
{
	struct slope_curve curve = slope_curve_none();
	char text[SLOPE_ORDER_TEXT];

	(void)state;
	for (double n = 2; n < 20000; n = ceil(n * 1.25))
		curve_add(&curve, n, 3, n < 200 ? 8000 + n : floor(n * n / 5));
	struct slope_growth g = answer_and_end(&curve);

	assert_true(g.broken);
	assert_true(g.from >= 150 && g.from <= 300);
	assert_string_equal(slope_order_text(g.model.order, text), "n^2");
	assert_true(slope_order_compare(g.below.order, (struct slope_order){ .power = 1 }) <= 0);
	assert_true(fabs(slope_model_at(&g.below, 20) / 8020 - 1) < 0.1);
}

static void the_same_answer_twice(void **state)
{
	struct slope_curve curve = slope_curve_none();
	struct slope_growth once, twice;
	struct random r = { 9 };

	(void)state;
	for (double n = 4; n < 50000; n = ceil(n * 1.2))
		curve_add(&curve, n, 1 + random_below(&r, 9), floor(30 + n * random_between(&r, 5, 15)));
	for (int thorough = 0; thorough < 2; thorough++) {
		memset(&once, 1, sizeof(once));
		memset(&twice, 2, sizeof(twice));
		slope_growth_of(&once, &curve, SLOPE_COST_MEAN, thorough);
		slope_growth_of(&twice, &curve, SLOPE_COST_MEAN, thorough);
		assert_true(once.exponent == twice.exponent && once.low == twice.low && once.high == twice.high);
		assert_true(once.error == twice.error && once.evidence == twice.evidence);
		assert_true(once.verdict == twice.verdict && once.model.factor == twice.model.factor);
		assert_memory_equal(&once.least, &twice.least, sizeof(once.least));
		assert_memory_equal(&once.most, &twice.most, sizeof(once.most));
	}
	slope_curve_fini(&curve);
}

static void one_point(void **state)
{
	static const double n[] = { 0, 1, 7, 0x1p64 }, cost[] = { 0, 1, 0x1p63 };

	(void)state;
	for (size_t i = 0; i < COUNT(n); i++)
		for (size_t k = 0; k < COUNT(cost); k++) {
			struct slope_curve curve = slope_curve_none();

			curve_add(&curve, n[i], 1, cost[k]);
			expect_reason(curve, SLOPE_REASON_FEW_SIZES);
		}
}

static void costs_of_nothing(void **state)
{
	struct slope_curve curve = law((struct slope_order){ 0 }, 0, 0, 0, 5000, 1.3);
	struct slope_growth g = answer_and_end(&curve);

	(void)state;
	assert_int_equal(g.verdict, SLOPE_VERDICT_CONSTANT);
	assert_true(fabs(slope_model_at(&g.model, 1e6)) < 1);
}

/* The same law in units of 1 and of 2^40, from n = 0 on. */
static void sizes_from_nothing_and_costs_up_to_the_limit(void **state)
{
	char text[SLOPE_GROWTH_TEXT];

	(void)state;
	for (double factor = 30; factor < 0x1p50; factor *= 0x1p13) {
		struct slope_curve curve = law((struct slope_order){ .power = 1 }, 2 * factor, factor, 0, 0x1p13, 1.3);
		struct slope_growth g = answer_and_end(&curve);

		assert_string_equal(slope_growth_text(&g, text), "n");
	}
	struct slope_curve near_limit = law((struct slope_order){ .power = 2 }, 0, 1, 1, 3037000499, 2);
	struct slope_growth g = answer_and_end(&near_limit);       /* its square is just below 2^63 */

	assert_string_equal(slope_growth_text(&g, text), "n^2");
}

static void a_hundred_thousand_sizes(void **state)
{
	struct slope_curve curve = slope_curve_none();
	char text[SLOPE_GROWTH_TEXT];

	(void)state;
	for (double n = 1; n <= 100000; n++)
		curve_add(&curve, n, 1, floor(n * log2(n + 1) * 6 + 11 * n));
	struct slope_growth g = answer_and_end(&curve);

	assert_string_equal(slope_growth_text(&g, text), "n log n");
	assert_int_equal(g.sizes, 100000);
}

/* Sizes over all 64 bits, one per octave and eight: more octaves than any program has. */
static void all_octaves(void **state)
{
	(void)state;
	for (double ratio = 2; ratio > 1.05; ratio = sqrt(ratio)) {
		struct slope_curve curve = slope_curve_none();

		for (double n = 1; n < 0x1p64; n = fmax(n + 1, floor(n * ratio)))
			curve_add(&curve, n, 1, fmin(100 + n, 0x1p63));
		answer_and_end(&curve);
	}
}

/* Curves that make no sense at all: any answer will do that is free of contradictions. */
static void strange_curves(void **state)
{
	struct random r = { 3 };

	(void)state;
	for (int round = 0; round < 3000; round++) {
		struct slope_curve curve = slope_curve_none();
		double n = random_below(&r, 2), most = random_magnitude(&r, 2, 0x1p63), ratio = random_magnitude(&r, 1.01, 50);
		unsigned count = random_below(&r, 200);

		for (unsigned i = 0; i < count && n < 0x1p64; i++) {
			curve_add(&curve, n, floor(random_magnitude(&r, 1, 1e6)),
			    random_below(&r, 10) ? floor(random_magnitude(&r, 1, most)) : 0);
			curve.point[i].variance = random_below(&r, 2) ? random_magnitude(&r, 1, most * most) : 0;
			n = fmax(n + 1, floor(n * random_between(&r, 1, ratio)));
		}
		answer_and_end(&curve);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exact_laws_give_their_class),
		cmocka_unit_test(a_power_that_is_no_candidate),
		cmocka_unit_test(the_model_predicts),
		cmocka_unit_test(a_range_of_one_name_is_no_range),
		cmocka_unit_test(an_interval_begins_at_nothing),
		cmocka_unit_test(steep_is_what_outgrows_its_input),
		cmocka_unit_test(advice_counts_the_sizes_that_are_missing),
		cmocka_unit_test(small_calls_do_not_outvote_the_tail),
		cmocka_unit_test(each_statistic_has_its_own_answer),
		cmocka_unit_test(each_reason_has_its_case),
		cmocka_unit_test(outliers_are_listed),
		cmocka_unit_test(no_outliers_without_any),
		cmocka_unit_test(two_regimes),
		cmocka_unit_test(the_same_answer_twice),
		cmocka_unit_test(one_point),
		cmocka_unit_test(costs_of_nothing),
		cmocka_unit_test(sizes_from_nothing_and_costs_up_to_the_limit),
		cmocka_unit_test(a_hundred_thousand_sizes),
		cmocka_unit_test(all_octaves),
		cmocka_unit_test(strange_curves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
