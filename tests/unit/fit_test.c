/* SPDX-License-Identifier: GPL-3.0-or-later */
/* analysis/fit.c: exact laws give exact coefficients, and what is said of the error is true. */
#include "analysis/fit.h"
#include "tests/unit/curve_sample.h"

static const struct slope_order linear = { .power = 1 }, square = { .power = 2 };

static void exact_laws_give_exact_coefficients(void **state)
{
	static const struct {
		struct slope_model model;
		double to;
	} law[] = {
		{ { .order = { .power = 1 }, .constant = 7, .factor = 3 }, 3000 },
		{ { .order = { .power = 1 }, .constant = -7, .factor = 3 }, 3000 },
		{ { .order = { .power = 1, .logs = 1 }, .constant = 50, .factor = 0.25 }, 3000 },
		{ { .order = { .logs = 1 }, .constant = 9, .factor = 11 }, 3000 },
		{ { .order = { .power = 0.5 }, .constant = 9, .factor = 11 }, 3000 },
		{ { .order = { .power = 3 }, .constant = 1000, .factor = 1e-3 }, 3000 },
		{ { .order = { .power = 2 }, .constant = 5, .linear = 20, .factor = 0.5 }, 3000 },
		{ { .order = { .power = 2, .logs = 1 }, .constant = 5, .linear = 20, .factor = 0.5 }, 3000 },
		{ { .order = { .base = 2 }, .constant = 500, .factor = 3 }, 30 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(law); i++) {
		const struct slope_model *m = &law[i].model;
		struct slope_bins b = bins_of(m, 4, law[i].to, 1.3);
		struct slope_fit f;

		assert_true(slope_fit_order(&f, &b, m->order, m->linear != 0, 0));
		alike(f.model.constant, m->constant, 1e-6);
		alike(f.model.linear, m->linear, 1e-6);
		alike(f.model.factor, m->factor, 1e-6);
		assert_true(f.error < 1e-6 && f.left_out < 1e-6);
		assert_int_equal(f.parameters, m->linear != 0 ? 4 : 3);
		assert_int_equal(f.bins, b.count);
		assert_true(f.certainty > 100);
	}
}

static void a_constant_is_the_mean(void **state)
{
	struct slope_model flat = { .constant = 123 };
	struct slope_bins b = bins_of(&flat, 4, 3000, 1.3);
	struct slope_fit f;

	(void)state;
	assert_true(slope_fit_order(&f, &b, (struct slope_order){ 0 }, false, 0));
	alike(f.model.constant, 123, 1e-9);
	assert_int_equal(f.parameters, 2);
	assert_true(isinf(f.certainty));
}

static struct slope_bins shaken(const struct slope_model *m, double noise, double ratio, struct random *r)
{
	struct slope_curve curve = curve_of(m, 4, 3000, ratio);

	curve_shake(&curve, noise, r);
	return bins_and_end(&curve, NULL);
}

/* The bins but one, scales as they were. */
static struct slope_bins without(const struct slope_bins *b, size_t at)
{
	struct slope_bins rest = { .noise = b->noise };

	for (size_t i = 0; i < b->count; i++) {
		if (i == at)
			continue;
		rest.n[rest.count] = b->n[i];
		rest.log_n[rest.count] = b->log_n[i];
		rest.cost[rest.count] = b->cost[i];
		rest.smooth[rest.count] = b->smooth[i];
		rest.weight[rest.count] = b->weight[i];
		rest.scale[rest.count++] = b->scale[i];
	}
	return rest;
}

/* What leverages say of leaving out each bin is what fitting without it says. */
static void left_out_is_what_refitting_says(void **state)
{
	struct slope_model m = { .order = square, .constant = 900, .linear = 40, .factor = 2 };
	struct random r = { 11 };

	(void)state;
	for (int round = 0; round < 40; round++) {
		bool with_linear = round % 2;
		struct slope_bins b = shaken(&m, 0.1, 1.2, &r);
		struct slope_fit f, again;
		double sum = 0;

		if (!slope_fit_order(&f, &b, square, with_linear, 0))
			continue;
		for (size_t i = 0; i < b.count; i++) {
			struct slope_bins rest = without(&b, i);
			bool good = slope_fit_order(&again, &rest, square, with_linear, 0);
			double alone = (b.cost[i] - slope_model_at(&again.model, b.n[i])) * b.scale[i];

			assert_true(good);
			sum += alone * alone;
		}
		alike(f.left_out, sqrt(sum / (double)b.count), 1e-6);
		assert_true(f.left_out > f.error);
	}
}

static void the_error_is_relative(void **state)
{
	struct slope_model m = { .order = linear, .factor = 5 };
	struct random r = { 3 };

	(void)state;
	for (double noise = 0.01; noise < 0.3; noise *= 3) {
		double sum = 0;

		for (int i = 0; i < 100; i++) {
			struct slope_bins b = shaken(&m, noise, 1.2, &r);
			struct slope_fit f;

			assert_true(slope_fit_order(&f, &b, linear, false, 0));
			sum += f.error / 100;
		}
		if (sum < 0.7 * noise || sum > 1.3 * noise)
			fail_msg("an error of %g is taken for %g", noise, sum);
	}
}

static void what_falls_is_not_fitted(void **state)
{
	struct slope_curve curve = slope_curve_none();
	struct slope_fit f;

	(void)state;
	for (double n = 4; n < 3000; n *= 1.3)
		curve_add(&curve, n, 1, 1e6 / n);
	struct slope_bins b = bins_and_end(&curve, NULL);

	assert_false(slope_fit_order(&f, &b, linear, false, 0));
	assert_false(slope_fit_power(&f, &b, false));
	assert_true(slope_fit_order(&f, &b, (struct slope_order){ 0 }, false, 0));
}

/* A square is no n^1.5 from which something linear is taken away; a square with a header is one. */
static void only_squares_lose_a_multiple_of_n(void **state)
{
	struct slope_model half = { .order = { .power = 1.5 }, .constant = 5000, .linear = -50, .factor = 6 };
	struct slope_model header = { .order = square, .constant = 90000, .linear = -30, .factor = 0.5 };
	struct slope_bins b = bins_of(&half, 45, 1700, 1.1), with_header = bins_of(&header, 45, 1700, 1.1);
	struct slope_fit f;

	(void)state;
	assert_false(slope_fit_order(&f, &b, half.order, true, 0));
	assert_true(f.model.linear < 0);
	assert_true(slope_fit_order(&f, &with_header, square, true, 0));
	alike(f.model.linear, -30, 1e-6);
}

static void as_many_columns_as_bins_are_too_many(void **state)
{
	struct slope_model m = { .order = square, .constant = 5, .linear = 20, .factor = 0.5 };
	struct slope_bins b = bins_of(&m, 4, 3000, 1.3), part;
	struct slope_fit f;

	(void)state;
	slope_bins_part(&part, &b, 0, 3);
	assert_false(slope_fit_order(&f, &part, square, true, 0));
	assert_true(slope_fit_order(&f, &part, square, false, 0));
	slope_bins_part(&part, &b, 0, 2);
	assert_false(slope_fit_order(&f, &part, square, false, 0));
	assert_false(slope_fit_order(&f, &b, linear, true, 0));      /* the same column twice */
}

static void parameters_have_a_price(void **state)
{
	struct slope_fit f = { .error = 0.1, .bins = 20, .parameters = 3 }, more = f, better = f;

	(void)state;
	more.parameters = 4;
	better.error = 0.05;
	alike(slope_fit_criterion(&more, 20) - slope_fit_criterion(&f, 20), 2 + 2 * 4 * 5 / 15.0 - 2 * 3 * 4 / 16.0, 1e-9);
	assert_true(slope_fit_criterion(&better, 20) < slope_fit_criterion(&f, 20) - 20);
	assert_true(slope_fit_criterion(&better, 10) > slope_fit_criterion(&better, 20));
}

static void neighbours_that_err_alike_say_less(void **state)
{
	struct slope_fit f = { .error = 0.1 };

	(void)state;
	for (size_t i = 0; i < 40; i++)
		f.residual[i] = i % 2 ? 0.1 : -0.1;
	assert_true(slope_fit_effective(&f, 40) == 40);
	for (size_t i = 0; i < 40; i++)
		f.residual[i] = i < 20 ? 0.1 : -0.1;
	assert_true(slope_fit_effective(&f, 40) < 10);
	assert_true(slope_fit_effective(&f, 40) >= 4);
	for (size_t i = 0; i < 40; i++)
		f.residual[i] = 0;
	assert_true(slope_fit_effective(&f, 40) == 40);
}

static void powers_are_searched_for(void **state)
{
	struct slope_fit f;

	(void)state;
	for (double power = 0.3; power < 5.5; power += 0.35) {
		struct slope_model m = { .order = { .power = power }, .constant = 30, .factor = 2 };
		struct slope_bins b = bins_of(&m, 4, 3000, 1.3);

		assert_true(slope_fit_power(&f, &b, false));
		assert_true(fabs(f.model.order.power - power) < 0.01);
		assert_int_equal(f.parameters, 4);
	}
	for (double power = 1.5; power < 4; power += 0.35) {
		struct slope_model m = { .order = { .power = power }, .constant = 30, .linear = 10, .factor = 2 };
		struct slope_bins b = bins_of(&m, 4, 3000, 1.3);

		assert_true(slope_fit_power(&f, &b, true));
		assert_true(fabs(f.model.order.power - power) < 0.02);
	}
}

static void bases_are_searched_for(void **state)
{
	struct slope_fit f;

	(void)state;
	for (double base = 1.2; base < 4; base *= 1.3) {
		struct slope_model m = { .order = { .base = base }, .constant = 300, .factor = 2 };
		struct slope_bins b = bins_of(&m, 3, 40, 1.1);

		assert_true(slope_fit_exponential(&f, &b));
		alike(f.model.order.base, base, 0.01);
	}
	struct slope_model one = { .constant = 1 };
	struct slope_bins b = bins_of(&one, 3, 3, 2);

	assert_false(slope_fit_exponential(&f, &b));
}

/* The truth lies inside in about 95 of 100 cases, whatever the power and the noise. */
static void an_interval_holds_the_truth(void **state)
{
	enum { ROUNDS = 400 };
	static const double power[] = { 0.5, 1, 1.5, 2, 3 }, noise[] = { 0.03, 0.1, 0.25 };
	struct random r = { 17 };
	double all = 0, held = 0;

	(void)state;
	for (size_t k = 0; k < COUNT(power); k++)
		for (size_t s = 0; s < COUNT(noise); s++) {
			struct slope_model m = { .order = { .power = power[k] }, .factor = 20 };
			double here = 0;

			for (int i = 0; i < ROUNDS; i++) {
				struct slope_bins b = shaken(&m, noise[s], 1.25, &r);
				struct slope_fit f;
				double low, high;

				if (!slope_fit_power(&f, &b, false))
					continue;
				slope_fit_interval(&b, f.model.order.power, false, 100, &low, &high);
				assert_true(low <= high);
				all++;
				here += low <= power[k] && power[k] <= high;
			}
			held += here;
			print_message("n^%g, noise %g: %.1f %%\n", power[k], noise[s], 100 * here / ROUNDS);
			assert_true(here >= 0.85 * ROUNDS);
		}
	print_message("in all: %.1f %%\n", 100 * held / all);
	assert_true(held >= 0.92 * all && held <= 0.99 * all);
}

static void one_curve_has_one_interval(void **state)
{
	struct slope_model m = { .order = { .power = 1.5 }, .factor = 20 };
	struct random r = { 5 };
	struct slope_bins b = shaken(&m, 0.1, 1.2, &r), exact = bins_of(&m, 4, 3000, 1.2);
	double low[2], high[2];

	(void)state;
	for (int i = 0; i < 2; i++)
		slope_fit_interval(&b, 1.5, false, 100, &low[i], &high[i]);
	assert_true(low[0] == low[1] && high[0] == high[1] && low[0] < high[0]);
	slope_fit_interval(&exact, 1.5, false, 100, &low[1], &high[1]);
	assert_true(high[1] - low[1] < 0.1 * (high[0] - low[0]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exact_laws_give_exact_coefficients),
		cmocka_unit_test(a_constant_is_the_mean),
		cmocka_unit_test(left_out_is_what_refitting_says),
		cmocka_unit_test(the_error_is_relative),
		cmocka_unit_test(what_falls_is_not_fitted),
		cmocka_unit_test(only_squares_lose_a_multiple_of_n),
		cmocka_unit_test(as_many_columns_as_bins_are_too_many),
		cmocka_unit_test(parameters_have_a_price),
		cmocka_unit_test(neighbours_that_err_alike_say_less),
		cmocka_unit_test(powers_are_searched_for),
		cmocka_unit_test(bases_are_searched_for),
		cmocka_unit_test(an_interval_holds_the_truth),
		cmocka_unit_test(one_curve_has_one_interval),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
