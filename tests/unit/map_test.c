/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/scarce.h"

#define KEYS 20000u

/* Keys that are close, far, zero and all ones. */
static uint64_t key_at(uint64_t i)
{
	return i % 3 == 0 ? i : i % 3 == 1 ? i << 40 : ~i;
}

static void any_key_and_value_is_kept(void **state)
{
	struct scarce scarce;
	struct slope_arena arena;
	struct slope_map map;
	bool fresh;

	(void)state;
	scarce_init(&scarce, ENDLESS);
	slope_arena_init(&arena, &scarce.host);
	slope_map_init(&map, &arena);
	assert_null(slope_map_get(&map, 0));
	for (uint64_t i = 0; i < KEYS; i++) {
		uint64_t *value = slope_map_put(&map, key_at(i), &fresh);

		assert_non_null(value);
		assert_true(fresh);
		assert_int_equal(*value, 0);
		*value = ~i * 7;
	}
	assert_int_equal(map.count, KEYS);
	for (uint64_t i = 0; i < KEYS; i++) {
		assert_int_equal(*slope_map_get(&map, key_at(i)), ~i * 7);
		assert_int_equal(*slope_map_put(&map, key_at(i), &fresh), ~i * 7);
		assert_false(fresh);
	}
	assert_null(slope_map_get(&map, (uint64_t)3 * KEYS));
	slope_arena_fini(&arena);
}

static void without_memory_the_map_stays(void **state)
{
	(void)state;
	for (size_t pages = 0; pages < 6; pages++) {
		struct scarce scarce;
		struct slope_arena arena;
		struct slope_map map;
		uint64_t kept = 0;
		bool fresh;

		scarce_init(&scarce, pages);
		slope_arena_init(&arena, &scarce.host);
		slope_map_init(&map, &arena);
		for (uint64_t *value; (value = slope_map_put(&map, key_at(kept), &fresh)); kept++) {
			*value = kept;
			assert_in_range(kept, 0, 10000000);
		}
		assert_int_equal(map.count, kept);
		assert_null(slope_map_get(&map, key_at(kept)));
		for (uint64_t i = 0; i < kept; i++)
			assert_int_equal(*slope_map_get(&map, key_at(i)), i);
		slope_arena_fini(&arena);
		assert_int_equal(scarce.held_bytes, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_key_and_value_is_kept),
		cmocka_unit_test(without_memory_the_map_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
