/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/scarce.h"

#include "core/stamp.h"

/* Words on all sides of all borders. */
static size_t words_around(uint32_t top, uint32_t *word)
{
	static const uint32_t old[] = { 2, 3, 4, 5, 100, 1000000, SLOPE_STAMP_LIMIT - 2, SLOPE_STAMP_LIMIT - 1 };
	size_t n = 0;

	word[n++] = 0;
	word[n++] = SLOPE_PENDING;
	for (size_t i = 0; i < sizeof old / sizeof *old; i++) {
		word[n++] = old[i];
		word[n++] = SLOPE_PENDING + (old[i] & ~SLOPE_STAMP_OWN);
	}
	for (uint32_t d = 0; d < 6; d++) {
		word[n++] = top + d < SLOPE_STAMP_LIMIT ? top + d : top;
		word[n++] = top > d ? top - d : 0;
		word[n++] = SLOPE_PENDING + ((top + d) & ~SLOPE_STAMP_OWN & (SLOPE_STAMP_LIMIT - 1));
	}
	return n;
}

static const uint32_t tops[] = { 2, 4, 6, 1000, 1000000, SLOPE_STAMP_LIMIT / 2, SLOPE_STAMP_LIMIT - 4, SLOPE_STAMP_LIMIT - 2 };

#define TOPS (sizeof tops / sizeof *tops)

static void fresh_is_not_old_not_pending_not_zero(void **state)
{
	uint32_t word[64];

	(void)state;
	for (size_t t = 0; t < TOPS; t++)
		for (size_t n = words_around(tops[t], word), i = 0; i < n; i++)
			assert_int_equal(slope_stamp_fresh(word[i], tops[t]), word[i] < SLOPE_PENDING && word[i] >= tops[t]);
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
			uint32_t after = slope_stamp_invalidate(word[i]);
			uint32_t before = slope_stamp_pending(word[i]) ? word[i] - SLOPE_PENDING : word[i];

			assert_true(slope_stamp_pending(after));
			assert_int_equal(after - SLOPE_PENDING, before & ~SLOPE_STAMP_OWN);
			assert_int_equal(slope_stamp_invalidate(after), after);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fresh_is_not_old_not_pending_not_zero),
		cmocka_unit_test(two_words_can_be_tested_at_once),
		cmocka_unit_test(a_foreign_write_keeps_the_stamp_and_takes_the_mark),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
