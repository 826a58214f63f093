/* SPDX-License-Identifier: GPL-3.0-or-later */
/* analysis/contest.c: the law wins, what the points rule out does not stand, and the plain order is preferred. */
#include "analysis/contest.h"
#include "tests/unit/curve_sample.h"

static const struct slope_order plain[] = {
	{ 0, 0, 0 }, { 0, 1, 0 }, { 0.5, 0, 0 }, { 1, 0, 0 }, { 1, 1, 0 }, { 1.5, 0, 0 }, { 2, 0, 0 }, { 2, 1, 0 }, { 3, 0, 0 },
};

static void check_sanity(const struct slope_contest *c)
{
	struct slope_order least, most;

	assert_true(c->there[SLOPE_CANDIDATE_CONSTANT]);
	assert_true(c->stands[c->best] && c->best < SLOPE_CANDIDATES);
	slope_contest_range(c, &least, &most);
	for (unsigned i = 0; i < SLOPE_CANDIDATES; i++) {
		assert_true(c->there[i] || !c->stands[i]);
		if (c->stands[i]) {
			assert_true(slope_order_compare(least, c->fit[i].model.order) <= 0);
			assert_true(slope_order_compare(most, c->fit[i].model.order) >= 0);
		}
	}
}

static void the_law_wins_alone(void **state)
{
	char want[SLOPE_ORDER_TEXT], got[SLOPE_ORDER_TEXT];

	(void)state;
	for (size_t i = 0; i < COUNT(plain); i++) {
		struct slope_model m = { .order = plain[i], .constant = 50, .factor = 20 };
		struct slope_bins b = bins_of(&m, 4, 20000, 1.3);
		struct slope_contest c;
		struct slope_order least, most;

		slope_contest_hold(&c, &b);
		check_sanity(&c);
		slope_order_text(plain[i], want);
		assert_string_equal(slope_order_text(c.fit[c.best].model.order, got), want);
		slope_contest_range(&c, &least, &most);
		assert_string_equal(slope_order_text(least, got), want);
		assert_string_equal(slope_order_text(most, got), want);
	}
}

static void an_exponential_is_tried_where_powers_are_high(void **state)
{
	struct slope_model doubling = { .order = { .base = 2 }, .factor = 3 }, line = { .order = { .power = 1 }, .factor = 3 };
	struct slope_bins b = bins_of(&doubling, 4, 40, 1.1), straight = bins_of(&line, 4, 400, 1.2);
	struct slope_contest c;

	(void)state;
	slope_contest_hold(&c, &b);
	check_sanity(&c);
	assert_int_equal(c.best, c.exponential);
	alike(c.fit[c.best].model.order.base, 2, 0.01);
	slope_contest_hold(&c, &straight);
	assert_false(c.there[c.exponential]);
}

/* Where the points allow linear growth, nothing steeper is said; the range says what else there may be. */
static void linear_is_preferred_in_doubt(void **state)
{
	struct slope_model m = { .order = { .power = 1 }, .factor = 20 };
	struct random r = { 4 };
	int linear = 0, held = 0, rounds = 300;

	(void)state;
	for (int i = 0; i < rounds; i++) {
		struct slope_curve curve = curve_of(&m, 10, 400, 1.3);
		struct slope_order least, most;
		struct slope_contest c;

		curve_shake(&curve, 0.15, &r);
		struct slope_bins b = bins_and_end(&curve, NULL);

		slope_contest_hold(&c, &b);
		check_sanity(&c);
		slope_contest_range(&c, &least, &most);
		linear += slope_order_compare(c.fit[c.best].model.order, m.order) <= 0;
		held += slope_order_compare(least, m.order) <= 0 && slope_order_compare(most, m.order) >= 0;
	}
	print_message("%d of %d noisy lines are called linear or less, %d have it in their range\n", linear, rounds, held);
	assert_true(linear >= rounds * 97 / 100 && held >= rounds * 97 / 100);
}

/* Seen over little, orders are alike: more than one stands. */
static void a_narrow_range_leaves_several(void **state)
{
	struct slope_model m = { .order = { .power = 1.5 }, .factor = 20 };
	struct slope_curve curve = curve_of(&m, 1000, 1700, 1.04);
	struct random r = { 8 };
	struct slope_order least, most;
	struct slope_contest c;

	(void)state;
	curve_shake(&curve, 0.1, &r);
	struct slope_bins b = bins_and_end(&curve, NULL);

	slope_contest_hold(&c, &b);
	check_sanity(&c);
	slope_contest_range(&c, &least, &most);
	assert_true(slope_order_compare(least, most) < 0);
}

/* A searched power that people would call by a plain one's name has that in its range. */
static void a_power_next_to_a_plain_one(void **state)
{
	struct slope_contest c = { .best = 0, .stands = { true } };
	struct slope_order least, most;

	(void)state;
	c.fit[0].model.order.power = 1.97;
	slope_contest_range(&c, &least, &most);
	assert_true(least.power == 1.97 && most.power == 2);
	c.fit[0].model.order.power = 1.8;
	slope_contest_range(&c, &least, &most);
	assert_true(least.power == 1.8 && most.power == 1.8);
}

/* Sizes with ways of their own at the lower end: the upper ones show that there is no logarithm. */
static void a_logarithm_must_show_in_the_upper_sizes(void **state)
{
	struct slope_curve curve = slope_curve_none();
	struct slope_order least, most;
	struct slope_contest c;

	(void)state;
	for (double n = 4; n < 6000; n *= 1.2)
		curve_add(&curve, n, 1, 3 * n * n * (1 - 0.8 * exp(-n / 42)));
	struct slope_bins b = bins_and_end(&curve, NULL);

	slope_contest_hold(&c, &b);
	check_sanity(&c);
	slope_contest_range(&c, &least, &most);
	assert_true(slope_order_compare(least, (struct slope_order){ .power = 2 }) <= 0);
	assert_int_equal(c.fit[c.best].model.order.logs, 0);
	assert_true(c.fit[c.best].model.order.power == 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_law_wins_alone),
		cmocka_unit_test(an_exponential_is_tried_where_powers_are_high),
		cmocka_unit_test(linear_is_preferred_in_doubt),
		cmocka_unit_test(a_narrow_range_leaves_several),
		cmocka_unit_test(a_power_next_to_a_plain_one),
		cmocka_unit_test(a_logarithm_must_show_in_the_upper_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
