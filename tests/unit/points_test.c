/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/scarce.h"

struct table {
	struct scarce scarce;
	struct slope_arena arena;
	struct slope_points points;
};

static void open_table(struct table *t, size_t pages, uint32_t max)
{
	scarce_init(&t->scarce, pages);
	slope_arena_init(&t->arena, &t->scarce.host);
	slope_points_init(&t->points, &t->arena, 2, max);
}

static void close_table(struct table *t)
{
	slope_points_fini(&t->points);
	slope_arena_fini(&t->arena);
	assert_int_equal(t->scarce.held_bytes, 0);
}

static bool add(struct table *t, uint64_t n, uint64_t cost)
{
	uint64_t costs[2] = { cost, 2 * cost };

	return slope_points_add(&t->points, &(struct slope_sample){ .n = n, .rms = n, .thread = 1, .external = 2, .cost = costs },
				t->points.units);
}

static const struct slope_point *find(const struct table *t, uint64_t n)
{
	for (size_t i = 0; i < t->points.count; i++)
		if (slope_points_row(&t->points, i)->n == n)
			return slope_points_row(&t->points, i);
	return NULL;
}

static uint64_t all_calls(const struct table *t)
{
	uint64_t calls = 0;

	for (size_t i = 0; i < t->points.count; i++)
		calls += slope_points_row(&t->points, i)->calls;
	return calls;
}

static void calls_of_one_size_share_a_row(void **state)
{
	struct table t;

	(void)state;
	open_table(&t, ENDLESS, 100);
	add(&t, 5, 10);
	add(&t, 7, 1);
	add(&t, 5, 4);
	assert_int_equal(t.points.count, 2);
	const struct slope_point *p = find(&t, 5);

	assert_int_equal(p->calls, 2);
	assert_int_equal(p->rms, 10);
	assert_int_equal(p->thread, 2);
	assert_int_equal(p->external, 4);
	assert_int_equal(p->cost[0].min, 4);
	assert_int_equal(p->cost[0].max, 10);
	assert_int_equal(p->cost[0].sum, 14);
	assert_int_equal(p->cost[0].sq_lo, 116);
	assert_int_equal(p->cost[1].sum, 28);
	assert_int_equal(p->cost[1].sq_lo, 4 * 116);
	close_table(&t);
}

static void squares_do_not_wrap(void **state)
{
	struct table t;

	(void)state;
	open_table(&t, ENDLESS, 100);
	for (int i = 0; i < 3; i++)
		add(&t, 1, UINT64_C(1) << 62);
	const struct slope_stat *s = &find(&t, 1)->cost[0];

	assert_int_equal(s->sq_lo, 0);
	assert_int_equal(s->sq_hi, UINT64_C(3) << 60);
	add(&t, 2, UINT64_C(0xffffffff) << 31);
	add(&t, 2, UINT64_C(0xffffffff) << 31);
	s = &find(&t, 2)->cost[0];
	unsigned __int128 want = (unsigned __int128)(UINT64_C(0xffffffff) << 31) * (UINT64_C(0xffffffff) << 31) * 2;

	assert_int_equal(s->sq_lo, (uint64_t)want);
	assert_int_equal(s->sq_hi, (uint64_t)(want >> 64));
	close_table(&t);
}

static void many_sizes_stay_apart(void **state)
{
	struct table t;

	(void)state;
	open_table(&t, ENDLESS, 50000);
	for (int round = 0; round < 2; round++)
		for (uint64_t n = 0; n < 50000; n++)
			assert_true(add(&t, n * n, n));
	assert_int_equal(t.points.count, 50000);
	assert_int_equal(t.points.bits, SLOPE_POINTS_EXACT);
	for (size_t i = 0; i < 50000; i++) {
		const struct slope_point *p = slope_points_row(&t.points, i);

		assert_int_equal(p->n, i * i);
		assert_int_equal(p->calls, 2);
		assert_int_equal(p->cost[0].sum, 2 * i);
	}
	close_table(&t);
}

static void too_many_sizes_fold_into_bins(void **state)
{
	struct table t;

	(void)state;
	for (uint32_t max = 1; max < 300; max = max * 2 + 1) {
		open_table(&t, ENDLESS, max);
		for (uint64_t n = 0; n < 3000; n++)
			assert_true(add(&t, n, 1));
		assert_true(t.points.bits < SLOPE_POINTS_EXACT);
		assert_true(t.points.count <= max || t.points.bits == 0);
		assert_int_equal(all_calls(&t), 3000);
		for (size_t i = 0; i < t.points.count; i++) {
			const struct slope_point *p = slope_points_row(&t.points, i);

			assert_int_equal(p->n, slope_points_edge(p->n, t.points.bits));
			assert_true(p->rms >= p->calls * p->n);  /* n is the lower edge */
			assert_true(p->rms <= p->calls * (p->n + (p->n >> t.points.bits)));
		}
		close_table(&t);
	}
}

static void edges_keep_the_highest_digits(void **state)
{
	(void)state;
	assert_int_equal(slope_points_edge(0, 0), 0);
	assert_int_equal(slope_points_edge(1, 0), 1);
	assert_int_equal(slope_points_edge(7, 0), 4);
	assert_int_equal(slope_points_edge(7, 1), 6);
	assert_int_equal(slope_points_edge(7, 2), 7);
	assert_int_equal(slope_points_edge(1000, 3), 960);
	assert_int_equal(slope_points_edge(UINT64_MAX, 0), UINT64_C(1) << 63);
	assert_int_equal(slope_points_edge(UINT64_MAX, SLOPE_POINTS_EXACT), UINT64_MAX);
}

static void merging_equals_adding(void **state)
{
	struct table parts[2], whole;

	(void)state;
	open_table(&parts[0], ENDLESS, 1000);
	open_table(&parts[1], ENDLESS, 1000);
	open_table(&whole, ENDLESS, 1000);
	for (uint64_t i = 0; i < 2000; i++) {
		add(&parts[i % 2], i * i % 97, i);
		add(&whole, i * i % 97, i);
	}
	for (size_t i = 0; i < parts[1].points.count; i++)
		assert_true(slope_points_merge(&parts[0].points, slope_points_row(&parts[1].points, i)));
	assert_int_equal(parts[0].points.count, whole.points.count);
	for (size_t i = 0; i < whole.points.count; i++) {
		const struct slope_point *p = slope_points_row(&whole.points, i);

		assert_memory_equal(p, find(&parts[0], p->n), slope_point_bytes(2));
	}
	close_table(&parts[0]);
	close_table(&parts[1]);
	close_table(&whole);
}

static void without_memory_no_call_is_counted_twice_or_halfway(void **state)
{
	(void)state;
	for (size_t pages = 0; pages < 12; pages++)
		for (uint32_t max = 10; max < 200000; max *= 20) {
			struct table t;
			uint64_t kept = 0;

			open_table(&t, pages, max);
			for (uint64_t n = 0; n < 30000; n++)
				kept += add(&t, n * 3, n);
			assert_int_equal(all_calls(&t), kept);
			if (pages == 0)
				assert_int_equal(kept, 0);
			close_table(&t);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_of_one_size_share_a_row),
		cmocka_unit_test(squares_do_not_wrap),
		cmocka_unit_test(many_sizes_stay_apart),
		cmocka_unit_test(too_many_sizes_fold_into_bins),
		cmocka_unit_test(edges_keep_the_highest_digits),
		cmocka_unit_test(merging_equals_adding),
		cmocka_unit_test(without_memory_no_call_is_counted_twice_or_halfway),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
