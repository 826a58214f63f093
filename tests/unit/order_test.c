/* SPDX-License-Identifier: GPL-3.0-or-later */
/* analysis/order.c: orders are written, read back, compared and computed. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "analysis/order.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct {
	const char *text;
	struct slope_order order;
} known[] = {                        /* from the slowest to the fastest */
	{ "1", { 0, 0, 0 } }, { "log n", { 0, 1, 0 } }, { "log^2 n", { 0, 2, 0 } }, { "n^0.25", { 0.25, 0, 0 } },
	{ "sqrt n", { 0.5, 0, 0 } }, { "sqrt n log n", { 0.5, 1, 0 } }, { "n", { 1, 0, 0 } }, { "n log n", { 1, 1, 0 } },
	{ "n log^2 n", { 1, 2, 0 } }, { "n^1.37", { 1.37, 0, 0 } }, { "n^1.5", { 1.5, 0, 0 } }, { "n^2", { 2, 0, 0 } },
	{ "n^2 log n", { 2, 1, 0 } }, { "n^3", { 3, 0, 0 } }, { "n^10", { 10, 0, 0 } }, { "1.62^n", { 0, 0, 1.62 } },
	{ "2^n", { 0, 0, 2 } }, { "10^n", { 0, 0, 10 } },
};

static void text_and_back(void **state)
{
	char text[SLOPE_ORDER_TEXT];
	struct slope_order back;

	(void)state;
	for (size_t i = 0; i < COUNT(known); i++) {
		assert_string_equal(slope_order_text(known[i].order, text), known[i].text);
		assert_true(slope_order_parse(text, &back));
		assert_int_equal(slope_order_compare(back, known[i].order), 0);
	}
}

/* Every power with two digits, and every number of logarithms, keeps its meaning; and fits the buffer. */
static void every_power_survives(void **state)
{
	char text[SLOPE_ORDER_TEXT + 1];
	struct slope_order back;

	(void)state;
	for (unsigned power = 0; power <= 900; power++)
		for (unsigned logs = 0; logs <= 9; logs++) {
			struct slope_order order = { .power = power / 100.0, .logs = logs };

			text[SLOPE_ORDER_TEXT] = '#';
			assert_true(slope_order_parse(slope_order_text(order, text), &back));
			assert_true(fabs(back.power - order.power) < 1e-9 && back.logs == logs && !back.base);
			assert_int_equal(text[SLOPE_ORDER_TEXT], '#');
		}
}

static void text_never_leaves_its_buffer(void **state)
{
	static const struct slope_order odd[] = {
		{ 1e300, 0, 0 }, { -1e300, 4000000000u, 0 }, { 0, 0, 1e300 }, { 123456.789, 99, 0 }, { -0.001, 0, 0 },
		{ INFINITY, 1, 0 }, { NAN, 0, 0 }, { 0, 0, INFINITY },
	};
	char text[SLOPE_ORDER_TEXT + 1];

	(void)state;
	for (size_t i = 0; i < COUNT(odd); i++) {
		memset(text, '#', sizeof(text));
		slope_order_text(odd[i], text);
		assert_int_equal(text[SLOPE_ORDER_TEXT], '#');
		assert_non_null(memchr(text, '\0', SLOPE_ORDER_TEXT));
	}
}

static void what_people_write(void **state)
{
	static const struct {
		const char *text, *means;
	} spoken[] = {
		{ "O(1)", "1" }, { "constant", "1" }, { "Constant", "1" }, { "O(log n)", "log n" }, { "log(n)", "log n" },
		{ "lg n", "log n" }, { "ln(n)", "log n" }, { "log2(n)", "log n" }, { "LOG N", "log n" },
		{ "logarithmic", "log n" }, { "sqrt(n)", "sqrt n" }, { "O(sqrt(n))", "sqrt n" }, { "\xe2\x88\x9an", "sqrt n" },
		{ "n^(1/2)", "sqrt n" }, { "n^0.5", "sqrt n" }, { "O(n)", "n" }, { "o( n )", "n" }, { "linear", "n" },
		{ "n^1", "n" }, { "  n  ", "n" }, { "n*log(n)", "n log n" }, { "nlogn", "n log n" }, { "N LOG N", "n log n" },
		{ "O(n log n)", "n log n" }, { "n log2 n", "n log n" }, { "n \xc2\xb7 log n", "n log n" },
		{ "linearithmic", "n log n" }, { "n log(n)^2", "n log^2 n" }, { "n log^2(n)", "n log^2 n" },
		{ "n^(3/2)", "n^1.5" }, { "n^1.50", "n^1.5" }, { "n\xc2\xb2", "n^2" }, { "O(n\xc2\xb3)", "n^3" },
		{ "n**2", "n^2" }, { "Theta(n^2)", "n^2" }, { "\xce\x98(n^2)", "n^2" }, { "quadratic", "n^2" },
		{ "n^2log(n)", "n^2 log n" }, { "cubic", "n^3" }, { "exponential", "2^n" }, { "O(2^n)", "2^n" },
		{ "1.5^n", "1.5^n" },
	};
	char text[SLOPE_ORDER_TEXT];
	struct slope_order order;

	(void)state;
	for (size_t i = 0; i < COUNT(spoken); i++) {
		if (!slope_order_parse(spoken[i].text, &order))
			fail_msg("'%s' is not understood", spoken[i].text);
		if (strcmp(slope_order_text(order, text), spoken[i].means))
			fail_msg("'%s' is taken for %s", spoken[i].text, text);
	}
}

static void what_is_no_order(void **state)
{
	static const char *const wrong[] = {
		"", " ", "m", "n^", "n^x", "n^-1", "n+1", "2", "0^n", "1^n", "2^m", "n log", "n n", "n^2 n", "O()", "O(n",
		"n)", "n^1e9", "n^100000", "n^(1/0)", "n^(1/2", "log^0.5 n", "n log^0 n", "n log^99 n", "nn log n", "sqrt", "n^inf",
		"n^nan", "2^n log n", "fast", "n!", "n^2, n",
		"n^2222222222222222222222222222222222222222222222222222222222222222222222222222222222222222222222",
	};
	struct slope_order order;

	(void)state;
	for (size_t i = 0; i < COUNT(wrong); i++)
		if (slope_order_parse(wrong[i], &order))
			fail_msg("'%s' is taken for an order", wrong[i]);
}

static void the_list_is_in_order(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(known); i++)
		for (size_t k = 0; k < COUNT(known); k++) {
			int sign = slope_order_compare(known[i].order, known[k].order);

			assert_int_equal((sign > 0) - (sign < 0), (i > k) - (i < k));
		}
}

/* What grows faster by comparison is larger in the end, and gains from one size to the next. */
static void values_grow_as_compared(void **state)
{
	(void)state;
	for (size_t i = 1; i < COUNT(known) && !known[i].order.base; i++) {
		double lower = slope_order_at(known[i - 1].order, 0x1p90), upper = slope_order_at(known[i].order, 0x1p90);

		assert_true(upper > lower);
		assert_true(slope_order_at(known[i].order, 1000) > slope_order_at(known[i].order, 999));
	}
	assert_true(slope_order_at((struct slope_order){ .base = 2 }, 10) == 1024);
	assert_true(slope_order_at((struct slope_order){ .power = 1, .logs = 1 }, 1023) == 10230);
	assert_true(slope_order_at((struct slope_order){ 0 }, 0) == 1);
	assert_true(slope_order_at((struct slope_order){ .logs = 1 }, 1) > 0);
}

static void slopes_lie_between_powers(void **state)
{
	struct slope_order linearithmic = { .power = 1, .logs = 1 }, exponential = { .base = 2 };
	double near = slope_order_slope(linearithmic, 4, 64), far = slope_order_slope(linearithmic, 1e4, 1e6);

	(void)state;
	assert_true(slope_order_slope((struct slope_order){ .power = 1.5 }, 4, 64) == 1.5);
	assert_true(near > far && far > 1 && near < 2);
	assert_true(fabs(slope_order_slope(exponential, 8, 16) - 8) < 1e-9);    /* 2^8 in one doubling */
	assert_true(isfinite(slope_order_slope(linearithmic, 0, 0)));
	assert_true(isfinite(slope_order_slope(linearithmic, 7, 7)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_and_back),
		cmocka_unit_test(every_power_survives),
		cmocka_unit_test(text_never_leaves_its_buffer),
		cmocka_unit_test(what_people_write),
		cmocka_unit_test(what_is_no_order),
		cmocka_unit_test(the_list_is_in_order),
		cmocka_unit_test(values_grow_as_compared),
		cmocka_unit_test(slopes_lie_between_powers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
