/* SPDX-License-Identifier: GPL-3.0-or-later */
/* analysis/regimes.c: a break is found where it is, and nowhere else. */
#include "analysis/contest.h"
#include "analysis/regimes.h"
#include "tests/unit/curve_sample.h"

static bool find(struct slope_break *found, const struct slope_bins *b)
{
	struct slope_contest c;

	slope_contest_hold(&c, b);
	return slope_regimes_find(found, b, &c.fit[c.best]);
}

/* `below` for sizes under `at`, `above` from there on; its factor is set so that the curves meet. */
static struct slope_curve broken(struct slope_model below, struct slope_model above, double at, double noise, struct random *r)
{
	struct slope_curve curve = slope_curve_none();

	above.factor = slope_model_at(&below, at) / slope_order_at(above.order, at);
	for (double n = 4; n < 20000; n *= 1.22)
		curve_add(&curve, n, 1, slope_model_at(n < at ? &below : &above, n));
	curve_shake(&curve, noise, r);
	return curve;
}

static const struct slope_model flat = { .constant = 8000 }, line = { .order = { .power = 1 }, .factor = 80 };
static const struct slope_model square = { .order = { .power = 2 } }, cube = { .order = { .power = 3 } };

static void a_break_is_found_where_it_is(void **state)
{
	static const double at[] = { 60, 200, 700, 2000 };
	const struct slope_model *pair[][2] = { { &flat, &square }, { &line, &cube }, { &flat, &line } };
	struct random r = { 3 };

	(void)state;
	for (size_t k = 0; k < COUNT(pair); k++)
		for (size_t i = 0; i < COUNT(at); i++) {
			struct slope_curve curve = broken(*pair[k][0], *pair[k][1], at[i], 0.01, &r);
			struct slope_bins b = bins_and_end(&curve, NULL);
			struct slope_break found;

			assert_true(find(&found, &b));
			if (b.n[found.at] < at[i] / 1.5 || b.n[found.at] > at[i] * 1.5)
				fail_msg("pair %zu: broken at %g, found at %g", k, at[i], b.n[found.at]);
			assert_true(found.error < 0.04);
			alike(slope_model_at(&found.below, 10), slope_model_at(pair[k][0], 10), 0.05);
		}
}

static void noise_moves_it_little(void **state)
{
	struct random r = { 5 };
	int near = 0, rounds = 200;

	(void)state;
	for (int i = 0; i < rounds; i++) {
		struct slope_curve curve = broken(flat, square, 300, 0.08, &r);
		struct slope_bins b = bins_and_end(&curve, NULL);
		struct slope_break found;

		near += find(&found, &b) && b.n[found.at] > 150 && b.n[found.at] < 600;
	}
	print_message("%d of %d found within a factor of two\n", near, rounds);
	assert_true(near >= rounds * 95 / 100);
}

static void one_law_has_no_break(void **state)
{
	static const struct slope_order order[] = {
		{ 0, 0, 0 }, { 0, 1, 0 }, { 0.5, 0, 0 }, { 1, 0, 0 }, { 1, 1, 0 }, { 1.5, 0, 0 }, { 2, 0, 0 }, { 2, 1, 0 }, { 3, 0, 0 },
	};
	struct random r = { 9 };
	int wrong = 0, rounds = 40;

	(void)state;
	for (size_t k = 0; k < COUNT(order); k++)
		for (int i = 0; i < rounds; i++) {
			struct slope_model m = { .order = order[k], .constant = 500, .factor = 20 };
			struct slope_curve curve = curve_of(&m, 4, 20000, 1.22);
			struct slope_break found;

			curve_shake(&curve, i ? 0.1 : 0, &r);
			struct slope_bins b = bins_and_end(&curve, NULL);
			bool broken = find(&found, &b);

			assert_false(!i && broken);  /* without noise, never */
			wrong += broken;
		}
	print_message("%d of %zu noisy curves of one law are broken in two\n", wrong, COUNT(order) * (size_t)(rounds - 1));
	assert_true(wrong <= 3);
}

static void each_regime_needs_its_sizes(void **state)
{
	struct random r = { 1 };
	struct slope_curve curve = broken(flat, square, 300, 0, &r);
	struct slope_bins b = bins_and_end(&curve, NULL), part;
	struct slope_break found;
	size_t at = 0;

	(void)state;
	while (b.n[at] < 300)
		at++;
	slope_bins_part(&part, &b, at - 4, 9);
	assert_false(find(&found, &part));   /* four below, five above */
	slope_bins_part(&part, &b, at - 10, 20);
	assert_true(find(&found, &part));
	assert_true(found.at >= 5 && found.at <= 15);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_break_is_found_where_it_is),
		cmocka_unit_test(noise_moves_it_little),
		cmocka_unit_test(one_law_has_no_break),
		cmocka_unit_test(each_regime_needs_its_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
