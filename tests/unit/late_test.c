/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/scarce.h"

#include "core/late.h"

#define TABLES 5u

/* Tables that get their points late, and beside each one that gets the same at once. */
struct tables {
	struct scarce scarce, endless;
	struct slope_arena arena, other;
	struct slope_points late[TABLES], at_once[TABLES];
	struct slope_late waiting;
	uint64_t lost, put;
};

static void open_tables(struct tables *t, size_t pages, uint32_t max)
{
	*t = (struct tables){ .lost = 0 };
	scarce_init(&t->scarce, pages);
	scarce_init(&t->endless, ENDLESS);
	slope_arena_init(&t->arena, &t->scarce.host);
	slope_arena_init(&t->other, &t->endless.host);
	for (unsigned i = 0; i < TABLES; i++) {
		slope_points_init(&t->late[i], &t->arena, 1, max);
		slope_points_init(&t->at_once[i], &t->other, 1, max);
	}
}

static void close_tables(struct tables *t)
{
	slope_arena_fini(&t->arena);
	slope_arena_fini(&t->other);
	assert_int_equal(t->scarce.held_bytes, 0);
}

static void put(struct tables *t, unsigned table, uint64_t n, uint64_t cost, uint64_t times)
{
	t->lost += slope_late_put(&t->waiting, &t->late[table], n, cost, times);
	t->put += times;
	for (uint64_t i = 0; i < times; i++)
		assert_true(slope_points_add(&t->at_once[table], &(struct slope_sample){ .n = n, .rms = n, .cost = &cost }, 1));
}

static const struct slope_point *find(const struct slope_points *points, uint64_t n)
{
	for (size_t i = 0; i < points->count; i++)
		if (slope_points_row(points, i)->n == n)
			return slope_points_row(points, i);
	return NULL;
}

static void compare(const struct tables *t)
{
	for (unsigned i = 0; i < TABLES; i++) {
		assert_int_equal(t->late[i].count, t->at_once[i].count);
		assert_int_equal(t->late[i].residue, t->at_once[i].residue);
		for (size_t r = 0; r < t->late[i].count; r++) {
			const struct slope_point *row = slope_points_row(&t->late[i], r), *same = find(&t->at_once[i], row->n);

			assert_non_null(same);
			assert_memory_equal(row, same, t->late[i].stride);
		}
	}
}

/* Sizes that come again and again, and new ones, so that tables grow, are hashed anew and fold while some wait. */
static void play(struct tables *t, unsigned seed, unsigned rounds)
{
	srand(seed);
	for (unsigned i = 0; i < rounds; i++) {
		unsigned table = (unsigned)rand() % TABLES;
		uint64_t n = (uint64_t)rand() % (rand() % 3 ? 10 : 1 + i);

		put(t, table, n, (uint64_t)rand() % 1000, 1 + (uint64_t)rand() % 3);
	}
}

static void late_points_are_those_that_come_at_once(void **state)
{
	struct tables t;

	(void)state;
	for (unsigned seed = 0; seed < 40; seed++) {
		open_tables(&t, ENDLESS, seed % 2 ? 1000000 : 50);
		play(&t, seed, 3000);
		t.lost += slope_late_settle(&t.waiting);
		assert_int_equal(t.lost, 0);
		compare(&t);
		close_tables(&t);
	}
}

static void what_waits_is_settled_once(void **state)
{
	struct tables t;

	(void)state;
	open_tables(&t, ENDLESS, 100);
	put(&t, 0, 7, 3, 2);
	assert_int_equal(t.late[0].count, 0);
	assert_int_equal(slope_late_settle(&t.waiting), 0);
	assert_int_equal(slope_late_settle(&t.waiting), 0);
	compare(&t);
	close_tables(&t);
}

static void what_is_dropped_never_comes(void **state)
{
	struct tables t;

	(void)state;
	open_tables(&t, ENDLESS, 100);
	put(&t, 1, 7, 3, 2);
	slope_late_drop(&t.waiting);
	assert_int_equal(slope_late_settle(&t.waiting), 0);
	assert_int_equal(t.late[1].count, 0);
	close_tables(&t);
}

static void without_memory_activations_are_lost_and_counted(void **state)
{
	struct tables t;

	(void)state;
	for (size_t pages = 0; pages < 6; pages++) {
		uint64_t calls = 0;

		open_tables(&t, pages, 1000000);
		play(&t, (unsigned)pages, 2000);
		t.lost += slope_late_settle(&t.waiting);
		for (unsigned i = 0; i < TABLES; i++)
			for (size_t r = 0; r < t.late[i].count; r++)
				calls += slope_points_row(&t.late[i], r)->calls;
		assert_int_equal(calls + t.lost, t.put);
		assert_true(pages || t.lost == t.put);
		close_tables(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(late_points_are_those_that_come_at_once),
		cmocka_unit_test(what_waits_is_settled_once),
		cmocka_unit_test(what_is_dropped_never_comes),
		cmocka_unit_test(without_memory_activations_are_lost_and_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
