/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "core/quad.h"

#define TIMES 20000u

static uint32_t plus(uint32_t word, uint32_t arg)
{
	return word + arg;
}

/* Only what is odd. */
static uint32_t odd_doubled(uint32_t word, uint32_t arg)
{
	return word & 1 ? word * arg : word;
}

static void the_words_are_in_the_order_of_memory(void **state)
{
	_Alignas(16) uint32_t words[4] = { 1, 2, 3, UINT32_MAX };
	struct slope_quad q = slope_quad_at(words);

	(void)state;
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(slope_quad_word(q, i), words[i]);
	assert_int_equal(slope_quad_first(7), 4);
	assert_int_equal(slope_quad_first(8), 8);
}

static void four_are_equal_only_if_each_is(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		_Alignas(16) uint32_t words[4] = { 5, 5, 5, 5 };

		assert_true(slope_quad_equal(slope_quad_at(words), slope_quad_of(5)));
		words[i] = 6;
		assert_false(slope_quad_equal(slope_quad_at(words), slope_quad_of(5)));
	}
}

static void each_is_changed_alike_or_not(void **state)
{
	_Alignas(16) uint32_t words[8] = { 1, 2, 3, 4, 9, 9, 9, 9 };
	const uint32_t expected[8] = { 2, 2, 6, 4, 18, 18, 18, 18 };

	(void)state;
	slope_quad_change(words, odd_doubled, 2);
	slope_quad_change(words + 4, odd_doubled, 2);
	assert_memory_equal(words, expected, sizeof words);
}

static void a_replacement_needs_all_four_as_they_were(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		_Alignas(16) uint32_t words[4] = { 5, 5, 5, 5 };

		words[i] = 7;
		assert_false(slope_quad_replace(words, slope_quad_of(5), slope_quad_of(1)));
		assert_int_equal(words[i], 7);
		assert_int_equal(words[(i + 1) % 4], 5);
		words[i] = 5;
		assert_true(slope_quad_replace(words, slope_quad_of(5), slope_quad_of(1)));
		assert_true(slope_quad_equal(slope_quad_at(words), slope_quad_of(1)));
	}
}

static void *add_to_all(void *arg)
{
	for (unsigned i = 0; i < TIMES; i++)
		slope_quad_change(arg, plus, 1);
	return NULL;
}

/* One thread changes all four, another one of them alone: nothing is lost. */
static void nothing_is_lost_between_threads(void **state)
{
	_Alignas(16) uint32_t words[4] = { 0 };
	pthread_t other;

	(void)state;
	assert_int_equal(pthread_create(&other, NULL, add_to_all, words), 0);
	for (unsigned i = 0; i < TIMES; i++)
		__atomic_fetch_add(&words[2], 1, __ATOMIC_SEQ_CST);
	pthread_join(other, NULL);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(words[i], i == 2 ? 2 * TIMES : TIMES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_words_are_in_the_order_of_memory),
		cmocka_unit_test(four_are_equal_only_if_each_is),
		cmocka_unit_test(each_is_changed_alike_or_not),
		cmocka_unit_test(a_replacement_needs_all_four_as_they_were),
		cmocka_unit_test(nothing_is_lost_between_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
