/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sources/sampler/liveblocks.h"

#include <pthread.h>

#include "tests/unit/scarce.h"

#define MANY 20000u
#define THREADS 4u

struct slope_sampler slope_sampler;
__thread struct slope_sampled *slope_sampled;

static const void *address(uint64_t n)
{
	return (const void *)(uintptr_t)(0x10000 + 16 * n);
}

static struct slope_liveblock block(uint64_t n)
{
	return (struct slope_liveblock){ (struct slope_context *)(uintptr_t)(n + 1), n };
}

static void what_is_added_is_found_once(void **state)
{
	struct scarce scarce;
	struct slope_liveblock found;

	(void)state;
	scarce_init(&scarce, ENDLESS);
	slope_sampler.host = scarce.host;
	assert_false(slope_liveblocks_remove(address(1), &found));
	for (uint64_t i = 0; i < MANY; i++)
		assert_true(slope_liveblocks_add(address(i), block(i)));
	for (uint64_t i = 0; i < MANY; i++) {
		assert_true(slope_liveblocks_remove(address(i), &found));
		assert_int_equal(found.bytes, i);
		assert_false(slope_liveblocks_remove(address(i), &found));
	}
	slope_liveblocks_forget();
	assert_int_equal(scarce.held_bytes, 0);
}

/* Room of blocks that are freed is used again: no more tables than those that live at one time need. */
static void room_is_used_again(void **state)
{
	struct scarce scarce;
	struct slope_liveblock found;

	(void)state;
	scarce_init(&scarce, ENDLESS);
	slope_sampler.host = scarce.host;
	assert_true(slope_liveblocks_add(address(0), block(0)));
	size_t bytes = scarce.held_bytes;

	for (uint64_t i = 1; i < MANY; i++) {
		assert_true(slope_liveblocks_add(address(i), block(i)));
		assert_true(slope_liveblocks_remove(address(i - 1), &found));
	}
	assert_int_equal(scarce.held_bytes, bytes);
	slope_liveblocks_forget();
}

static void without_memory_a_block_is_not_there(void **state)
{
	struct slope_liveblock found;

	(void)state;
	for (size_t left = 0; left < 3; left++) {
		struct scarce scarce;
		uint64_t added = 0;

		scarce_init(&scarce, left);
		slope_sampler.host = scarce.host;
		while (slope_liveblocks_add(address(added), block(added)))
			added++;
		assert_true(left ? added > 0 : !added);
		assert_false(slope_liveblocks_remove(address(added), &found));
		for (uint64_t i = 0; i < added; i++)
			assert_true(slope_liveblocks_remove(address(i), &found));
		slope_liveblocks_forget();
		assert_int_equal(scarce.held_bytes, 0);
	}
}

static void *add_and_remove(void *first)
{
	struct slope_liveblock found;
	uint64_t start = (uint64_t)(uintptr_t)first, wrong = 0;

	for (int turn = 0; turn < 20; turn++) {
		for (uint64_t i = start; i < start + MANY / 10; i++)
			wrong += !slope_liveblocks_add(address(i), block(i));
		for (uint64_t i = start; i < start + MANY / 10; i++)
			wrong += !slope_liveblocks_remove(address(i), &found) || found.bytes != i;
	}
	return (void *)(uintptr_t)wrong;
}

static void *lasting_pages(void *ctx, size_t bytes)
{
	void *p = aligned_alloc(SLOPE_PAGE_BYTES, bytes);

	(void)ctx;
	return p ? memset(p, 0, bytes) : NULL;
}

static void give_back(void *ctx, void *p, size_t bytes)
{
	(void)ctx;
	(void)bytes;
	free(p);
}

static void threads_do_not_lose_each_others(void **state)
{
	pthread_t thread[THREADS];

	(void)state;
	slope_sampler.host = (struct slope_host){ .pages = lasting_pages, .release = give_back };
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, add_and_remove, (void *)(i * MANY));
	for (unsigned i = 0; i < THREADS; i++) {
		void *wrong;

		pthread_join(thread[i], &wrong);
		assert_null(wrong);
	}
	slope_liveblocks_forget();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_added_is_found_once),
		cmocka_unit_test(room_is_used_again),
		cmocka_unit_test(without_memory_a_block_is_not_there),
		cmocka_unit_test(threads_do_not_lose_each_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
