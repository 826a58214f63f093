/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/scarce.h"

#define CELLS_END (UINT64_C(1) << SLOPE_ADDRESS_BITS)

/* Cells from one end of the address space to the other, on both sides of tables and leaves. */
static const uint64_t place[] = {
	0, 1, SLOPE_LEAF_CELLS - 1, SLOPE_LEAF_CELLS, 17 * SLOPE_LEAF_CELLS, (UINT64_C(1) << 27) - 1, UINT64_C(1) << 27,
	(UINT64_C(1) << 42) - 1, UINT64_C(1) << 42, (UINT64_C(1) << 46) + 12345, CELLS_END - 1,
};

#define PLACES (sizeof place / sizeof *place)

static void every_cell_has_its_own_word(void **state)
{
	struct scarce scarce;
	struct slope_shadow shadow;
	uint32_t *word[PLACES];

	(void)state;
	scarce_init(&scarce, ENDLESS);
	slope_shadow_init(&shadow, &scarce.host);
	for (size_t i = 0; i < PLACES; i++) {
		assert_null(slope_shadow_peek(&shadow, place[i] ^ UINT64_C(1) << 50));
		word[i] = slope_shadow_cell(&shadow, place[i]);
		assert_non_null(word[i]);
		assert_int_equal(*word[i], 0);
		*word[i] = (uint32_t)i + 1;
	}
	for (size_t i = 0; i < PLACES; i++) {
		assert_int_equal(*slope_shadow_cell(&shadow, place[i]), i + 1);
		assert_ptr_equal(slope_shadow_peek(&shadow, place[i]), word[i]);
	}
	slope_shadow_fini(&shadow);
	assert_int_equal(scarce.held_bytes, 0);
}

static void leaves_that_share_a_cache_slot_do_not_mix(void **state)
{
	struct scarce scarce;
	struct slope_shadow shadow;

	(void)state;
	scarce_init(&scarce, ENDLESS);
	slope_shadow_init(&shadow, &scarce.host);
	for (int round = 0; round < 3; round++)
		for (uint64_t k = 0; k < 8; k++) {
			uint32_t *word = slope_shadow_cell(&shadow, k * SLOPE_SHADOW_CACHE * SLOPE_LEAF_CELLS + 5);

			assert_int_equal(*word, round ? 100 * (round - 1) + (int)k + 1 : 0);
			*word = (uint32_t)(100 * round + (int)k + 1);
		}
	assert_int_equal(shadow.leaf_count, 8);
	slope_shadow_fini(&shadow);
}

static void a_window_stands_for_low_cells(void **state)
{
	struct scarce scarce;
	struct slope_shadow shadow;
	uint32_t window[100] = { 0 };

	(void)state;
	scarce_init(&scarce, ENDLESS);
	slope_shadow_init(&shadow, &scarce.host);
	shadow.window = window;
	shadow.window_cells = 100;
	*slope_shadow_cell(&shadow, 99) = 1;
	*slope_shadow_cell(&shadow, 100) = 2;
	assert_int_equal(window[99], 1);
	assert_ptr_equal(slope_shadow_peek(&shadow, 0), window);
	slope_shadow_clear(&shadow, 0, 1000);
	assert_int_equal(window[99], 1);                         /* the source's to clear */
	assert_int_equal(*slope_shadow_peek(&shadow, 100), 0);
	slope_shadow_fini(&shadow);
	assert_int_equal(scarce.held_bytes, 0);
}

static void count_words(void *ctx, uint32_t *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		*(uint64_t *)ctx += words[i] != 0;
}

static uint64_t words_in_use(struct slope_shadow *shadow)
{
	uint64_t n = 0;

	slope_shadow_each(shadow, count_words, &n);
	return n;
}

static void clearing_is_exact(void **state)
{
	struct scarce scarce;
	struct slope_shadow shadow;
	uint64_t start = 3 * SLOPE_LEAF_CELLS - 50;

	(void)state;
	scarce_init(&scarce, ENDLESS);
	slope_shadow_init(&shadow, &scarce.host);
	slope_shadow_clear(&shadow, 0, 1000);                    /* nothing there: nothing made */
	assert_int_equal(scarce.held_bytes, 0);
	for (uint64_t i = 0; i < 100; i++)
		*slope_shadow_cell(&shadow, start + i) = 7;
	slope_shadow_clear(&shadow, start + 10, 80);
	for (uint64_t i = 0; i < 100; i++)
		assert_int_equal(*slope_shadow_peek(&shadow, start + i), i < 10 || i >= 90 ? 7 : 0);
	assert_int_equal(words_in_use(&shadow), 20);
	slope_shadow_fini(&shadow);
}

static void clearing_the_whole_address_space_is_quick(void **state)
{
	struct scarce scarce;
	struct slope_shadow shadow;

	(void)state;
	scarce_init(&scarce, ENDLESS);
	slope_shadow_init(&shadow, &scarce.host);
	for (size_t i = 0; i < PLACES; i++)
		*slope_shadow_cell(&shadow, place[i]) = 9;
	assert_int_equal(words_in_use(&shadow), PLACES);
	slope_shadow_clear(&shadow, 0, CELLS_END);               /* would take hours leaf by leaf */
	assert_int_equal(words_in_use(&shadow), 0);
	slope_shadow_fini(&shadow);
}

static void without_memory_a_cell_has_no_word(void **state)
{
	(void)state;
	for (size_t pages = 0; pages < 12; pages++) {
		struct scarce scarce;
		struct slope_shadow shadow;

		scarce_init(&scarce, pages);
		slope_shadow_init(&shadow, &scarce.host);
		for (int round = 0; round < 2; round++)
			for (size_t i = 0; i < PLACES; i++) {
				uint32_t *word = slope_shadow_cell(&shadow, place[i]);

				assert_true(!word || *word == 0 || *word == i + 1);
				if (word)
					*word = (uint32_t)i + 1;
				assert_true(!word == !slope_shadow_peek(&shadow, place[i]));
			}
		if (pages < 4)
			assert_null(slope_shadow_cell(&shadow, 0));
		scarce.left = ENDLESS;
		assert_non_null(slope_shadow_cell(&shadow, 0));
		slope_shadow_fini(&shadow);
		assert_int_equal(scarce.held_bytes, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_cell_has_its_own_word),
		cmocka_unit_test(leaves_that_share_a_cache_slot_do_not_mix),
		cmocka_unit_test(a_window_stands_for_low_cells),
		cmocka_unit_test(clearing_is_exact),
		cmocka_unit_test(clearing_the_whole_address_space_is_quick),
		cmocka_unit_test(without_memory_a_cell_has_no_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
