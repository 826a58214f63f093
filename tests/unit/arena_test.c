/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/scarce.h"

static bool all_zero(const unsigned char *p, size_t bytes)
{
	while (bytes--)
		if (*p++)
			return false;
	return true;
}

static void blocks_are_zeroed_aligned_and_apart(void **state)
{
	static const size_t sizes[] = { 1, 100, 16, 33, 17, 288, 4096, 1, 129, 257, 5000, 70000, 3000000 };
	unsigned char *block[sizeof sizes / sizeof *sizes][20];
	struct scarce scarce;
	struct slope_arena arena;

	(void)state;
	scarce_init(&scarce, ENDLESS);
	slope_arena_init(&arena, &scarce.host);
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		for (int k = 0; k < 20; k++) {
			block[i][k] = slope_arena_alloc(&arena, sizes[i]);
			assert_non_null(block[i][k]);
			assert_int_equal((uintptr_t)block[i][k] % (sizes[i] > 32 ? 64 : 16), 0);
			assert_true(all_zero(block[i][k], sizes[i]));
			memset(block[i][k], (int)(i * 20 + (size_t)k) | 1, sizes[i]);
		}
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		for (int k = 0; k < 20; k++)
			for (size_t b = 0; b < sizes[i]; b += sizes[i] < 64 ? 1 : sizes[i] - 1)
				assert_int_equal(block[i][k][b], ((i * 20 + (size_t)k) | 1) & 0xff);
	assert_int_equal(scarce.held_bytes, arena.held_bytes);
	slope_arena_fini(&arena);
	assert_int_equal(scarce.held_bytes, 0);
}

static void freed_blocks_come_again_and_clean(void **state)
{
	struct scarce scarce;
	struct slope_arena arena;

	(void)state;
	scarce_init(&scarce, ENDLESS);
	slope_arena_init(&arena, &scarce.host);
	for (size_t bytes = 1; bytes < 1000000; bytes = bytes * 3 + 1) {
		unsigned char *first = slope_arena_alloc(&arena, bytes);

		assert_non_null(first);
		memset(first, 0xff, bytes);
		slope_arena_free(&arena, first, bytes);
		unsigned char *second = slope_arena_alloc(&arena, bytes);

		assert_ptr_equal(first, second);
		assert_true(all_zero(second, bytes));
	}
	slope_arena_free(&arena, NULL, 100);
	slope_arena_fini(&arena);
}

static void blocks_have_room_for_what_was_asked_for_and_not_much_more(void **state)
{
	struct scarce scarce;
	struct slope_arena arena;

	(void)state;
	for (size_t bytes = 1; bytes < 100000; bytes += 1 + bytes / 50) {
		scarce_init(&scarce, ENDLESS);
		slope_arena_init(&arena, &scarce.host);
		unsigned char *first = slope_arena_alloc(&arena, bytes), *second = slope_arena_alloc(&arena, bytes);

		assert_non_null(first);
		/* As long as both come from one chunk. */
		if (second > first && second - first < 16384) {
			assert_true((size_t)(second - first) >= bytes);
			assert_true((size_t)(second - first) < bytes + bytes / 4 + 64);
		}
		slope_arena_fini(&arena);
	}
}

static void without_memory_nothing_changes(void **state)
{
	struct scarce scarce;
	struct slope_arena arena;
	uint64_t *array = NULL;
	size_t capacity = 0;

	(void)state;
	scarce_init(&scarce, 1);
	slope_arena_init(&arena, &scarce.host);
	void *p = array;

	assert_true(slope_arena_grow(&arena, &p, &capacity, 100, sizeof *array));
	array = p;
	for (size_t i = 0; i < 100; i++)
		array[i] = i * i;
	size_t before = capacity;

	assert_false(slope_arena_grow(&arena, &p, &capacity, 100000, sizeof *array));
	assert_ptr_equal(p, array);
	assert_int_equal(capacity, before);
	assert_null(slope_arena_alloc(&arena, 1000000));
	for (size_t i = 0; i < 100; i++)
		assert_int_equal(array[i], i * i);
	scarce.left = ENDLESS;
	assert_true(slope_arena_grow(&arena, &p, &capacity, 100000, sizeof *array));
	array = p;
	assert_true(capacity >= 100000);
	assert_int_equal(array[99], 99 * 99);
	assert_int_equal(array[100], 0);
	assert_int_equal(array[99999], 0);
	slope_arena_fini(&arena);
	assert_int_equal(scarce.held_bytes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_are_zeroed_aligned_and_apart),
		cmocka_unit_test(freed_blocks_come_again_and_clean),
		cmocka_unit_test(blocks_have_room_for_what_was_asked_for_and_not_much_more),
		cmocka_unit_test(without_memory_nothing_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
