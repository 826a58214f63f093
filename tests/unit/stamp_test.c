/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/scarce.h"

#include "core/stamp.h"

/* Words on all sides of all borders. */
static size_t words_around(uint32_t top, uint32_t *word)
{
	static const uint32_t old[] = { 2, 3, 4, 5, 100, 1000000, SLOPE_STAMP_LIMIT - 3, SLOPE_STAMP_LIMIT - 2 };
	size_t n = 0;

	word[n++] = 0;
	word[n++] = SLOPE_PENDING;
	for (size_t i = 0; i < sizeof old / sizeof *old; i++) {
		word[n++] = old[i];
		word[n++] = SLOPE_PENDING + ((old[i] + 1) & ~SLOPE_STAMP_OWN);
	}
	for (uint32_t d = 0; d < 6; d++) {
		word[n++] = top + d < SLOPE_STAMP_LIMIT - 1 ? top + d : top;
		word[n++] = top > d ? top - d : 0;
		word[n++] = SLOPE_PENDING + ((top + d) & ~SLOPE_STAMP_OWN & (SLOPE_STAMP_LIMIT - 1));
	}
	return n;
}

static const uint32_t tops[] = { 1, 3, 5, 1001, 1000001, SLOPE_STAMP_LIMIT / 2 + 1, SLOPE_STAMP_LIMIT - 5, SLOPE_STAMP_LIMIT - 3 };

#define TOPS (sizeof tops / sizeof *tops)

static void fresh_is_not_old_not_pending_not_zero(void **state)
{
	uint32_t word[64];

	(void)state;
	for (size_t t = 0; t < TOPS; t++)
		for (size_t n = words_around(tops[t], word), i = 0; i < n; i++) {
				bool fresh = word[i] < SLOPE_PENDING && word[i] >= tops[t];

				assert_int_equal(slope_stamp_fresh(word[i], tops[t]), fresh);
				assert_int_equal((int32_t)word[i] >= (int32_t)tops[t], fresh);
			}
}

static void two_words_can_be_tested_at_once(void **state)
{
	uint32_t word[64];

	(void)state;
	for (size_t t = 0; t < TOPS; t++) {
		size_t n = words_around(tops[t], word);
		uint64_t twice = (uint64_t)tops[t] << 32 | tops[t], mask = (uint64_t)SLOPE_STALE_MASK << 32 | SLOPE_STALE_MASK;

		for (size_t i = 0; i < n; i++)
			for (size_t k = 0; k < n; k++) {
				uint64_t pair = (uint64_t)word[i] << 32 | word[k];
				bool both = slope_stamp_fresh(word[i], tops[t]) && slope_stamp_fresh(word[k], tops[t]);

				assert_int_equal(((pair - twice) & mask) == 0, both);
			}
	}
}

static void a_foreign_write_keeps_the_stamp_and_takes_the_mark(void **state)
{
	uint32_t word[64];

	(void)state;
	for (size_t t = 0; t < TOPS; t++)
		for (size_t n = words_around(tops[t], word), i = 0; i < n; i++) {
			uint32_t after = slope_stamp_invalidate(word[i], 0);
			uint32_t before = slope_stamp_pending(word[i]) ? word[i] - SLOPE_PENDING : word[i];

			assert_true(slope_stamp_pending(after));
			assert_int_equal(slope_stamp_before(after), before + (before & SLOPE_STAMP_OWN));
			assert_int_equal(slope_stamp_invalidate(after, 0), after);
		}
}

/* Numbers around every place where a mark could be lost. */
static const uint32_t numbers[] = {
	0, 1, 2, 62, 63, 64, 65, 8190, 8191, 8192, 1048575, 1048576, 1048577, 12345678, 33554431, 60000000, 64000000,
};

#define NUMBERS (sizeof numbers / sizeof *numbers)

static void marked_stamps_rise_and_keep_their_marks(void **state)
{
	(void)state;
	for (size_t i = 0; i < NUMBERS; i++) {
		uint32_t stamp = slope_stamp_number(numbers[i], SLOPE_STAMP_MARKS), seen = slope_stamp_seen(stamp, SLOPE_STAMP_MARKS);
		uint32_t next = slope_stamp_next(stamp, SLOPE_STAMP_MARKS), pending = slope_stamp_invalidate(stamp, SLOPE_STAMP_MARKS);

		assert_int_equal(stamp & SLOPE_STAMP_MARKS, SLOPE_STAMP_MARKS);
		assert_int_equal(seen & SLOPE_STAMP_MARKS, SLOPE_STAMP_MARKS);
		assert_int_equal(pending & SLOPE_STAMP_MARKS, SLOPE_STAMP_MARKS);
		assert_int_equal(next, slope_stamp_number(numbers[i] + 1, SLOPE_STAMP_MARKS));
		assert_true(stamp & SLOPE_STAMP_OWN && !(seen & SLOPE_STAMP_OWN) && stamp < seen && seen < next);
		assert_true(stamp >= 1u << 24 && next < SLOPE_STAMP_LIMIT);
		assert_int_equal(slope_stamp_before(pending), seen);
		assert_true(slope_stamp_before(slope_stamp_invalidate(0, SLOPE_STAMP_MARKS)) < slope_stamp_number(0, SLOPE_STAMP_MARKS));
	}
}

static void a_marked_word_at_an_odd_address_is_stale(void **state)
{
	uint32_t word[3 * NUMBERS + 2];
	size_t n = 0;

	(void)state;
	word[n++] = 0;
	word[n++] = slope_stamp_invalidate(0, SLOPE_STAMP_MARKS);
	for (size_t i = 0; i < NUMBERS; i++) {
		uint32_t stamp = slope_stamp_number(numbers[i], SLOPE_STAMP_MARKS);

		word[n++] = stamp;
		word[n++] = slope_stamp_seen(stamp, SLOPE_STAMP_MARKS);
		word[n++] = slope_stamp_invalidate(stamp, SLOPE_STAMP_MARKS);
	}
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < n; k++)
			for (unsigned shift = 8; shift < 32; shift += 8) {
				uint32_t mixed = (uint32_t)(((uint64_t)word[k] << 32 | word[i]) >> shift);

				assert_true((int32_t)mixed < (int32_t)slope_stamp_number(0, SLOPE_STAMP_MARKS));
			}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fresh_is_not_old_not_pending_not_zero),
		cmocka_unit_test(two_words_can_be_tested_at_once),
		cmocka_unit_test(a_foreign_write_keeps_the_stamp_and_takes_the_mark),
		cmocka_unit_test(marked_stamps_rise_and_keep_their_marks),
		cmocka_unit_test(a_marked_word_at_an_odd_address_is_stale),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
