/* SPDX-License-Identifier: GPL-3.0-or-later */
/* analysis/curve.c: threads are united as if their calls had come one after the other. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analysis/curve.h"
#include "profile/host.h"
#include "tests/growth/random.h"
#include "tests/unit/failing.h"

#define UNITS 2u
#define CALLS_MAX 4000u
#define THREADS 3u

/* One call; unit 1 costs twice unit 0, and one more. */
struct call {
	uint32_t thread;
	uint64_t n, cost;
};

/* A profile of three functions, whose rows for function 1 come from `calls`: one table per thread, by the core's own hand. */
struct made {
	struct slope_arena arena;
	struct slope_points table[THREADS];
	struct slope_profile_row row[THREADS + 2];
	struct slope_profile profile;
};

static int by_size(const void *a, const void *b)
{
	const struct slope_point *x = a, *y = b;

	return (x->n > y->n) - (x->n < y->n);
}

static void make(struct made *m, const struct call *call, size_t count, uint32_t max)
{
	memset(m, 0, sizeof(*m));
	slope_arena_init(&m->arena, &slope_system_host);
	for (uint32_t t = 0; t < THREADS; t++)
		slope_points_init(&m->table[t], &m->arena, UNITS, max);
	for (size_t i = 0; i < count; i++) {
		uint64_t cost[UNITS] = { call[i].cost, 2 * call[i].cost + 1 };
		struct slope_sample sample = { .n = call[i].n, .rms = call[i].n, .cost = cost };

		assert_true(slope_points_add(&m->table[call[i].thread], &sample, UNITS));
	}
	for (uint32_t t = 0; t < THREADS; t++)
		if (m->table[t].count)
			qsort(m->table[t].rows, m->table[t].count, m->table[t].stride, by_size);
	m->row[0].function = 0;
	m->row[THREADS + 1].function = 2;
	for (uint32_t t = 0; t < THREADS; t++)
		m->row[t + 1] = (struct slope_profile_row){
			.function = 1, .thread = t,
			.points[SLOPE_METRIC_TRMS] = { m->table[t].bits, m->table[t].count, m->table[t].rows },
		};
	m->profile = (struct slope_profile){ .units = UNITS, .row = m->row, .row_count = THREADS + 2 };
}

static void unmake(struct made *m)
{
	for (uint32_t t = 0; t < THREADS; t++)
		slope_points_fini(&m->table[t]);
	slope_arena_fini(&m->arena);
}

/* What the calls of size n say, computed the plain way, in two passes. */
static struct slope_curve_point directly(const struct call *call, size_t count, uint64_t n, uint32_t unit, uint32_t bits)
{
	long double sum = 0, squares = 0, calls = 0;
	struct slope_curve_point p = { .n = (double)n, .cost = { [SLOPE_COST_MIN] = INFINITY } };

	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < count; i++) {
			uint64_t cost = unit ? 2 * call[i].cost + 1 : call[i].cost;

			if (slope_points_edge(call[i].n, bits) != n)
				continue;
			if (pass) {
				squares += ((long double)cost - sum / calls) * ((long double)cost - sum / calls);
				continue;
			}
			calls++;
			sum += (long double)cost;
			p.cost[SLOPE_COST_MAX] = fmax(p.cost[SLOPE_COST_MAX], (double)cost);
			p.cost[SLOPE_COST_MIN] = fmin(p.cost[SLOPE_COST_MIN], (double)cost);
		}
	p.calls = (double)calls;
	p.cost[SLOPE_COST_MEAN] = calls ? (double)(sum / calls) : 0;
	p.variance = calls > 1 ? (double)(squares / (calls - 1)) : 0;
	return p;
}

static bool close_to(double a, double b)
{
	return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

static void compare(const struct slope_curve *curve, const struct call *call, size_t count, uint32_t unit)
{
	double calls = 0;

	for (size_t i = 0; i < curve->count; i++) {
		const struct slope_curve_point *is = &curve->point[i];
		struct slope_curve_point want = directly(call, count, (uint64_t)is->n, unit, curve->bits);

		assert_true(!i || is->n > curve->point[i - 1].n);
		assert_true(is->calls == want.calls);
		assert_true(is->cost[SLOPE_COST_MAX] == want.cost[SLOPE_COST_MAX]);
		assert_true(is->cost[SLOPE_COST_MIN] == want.cost[SLOPE_COST_MIN]);
		assert_true(close_to(is->cost[SLOPE_COST_MEAN], want.cost[SLOPE_COST_MEAN]));
		assert_true(close_to(is->variance, want.variance));
		calls += is->calls;
	}
	assert_true(calls == (double)count);
}

/* Random calls over `threads` threads; sizes repeat, costs reach `most`. */
static size_t draw_calls(struct call *call, uint32_t threads, uint64_t sizes, double most, struct random *r)
{
	size_t count = 1 + random_below(r, CALLS_MAX);

	for (size_t i = 0; i < count; i++)
		call[i] = (struct call){ random_below(r, threads), random_bits(r) % sizes,
					 (uint64_t)random_magnitude(r, 1, most) };
	return count;
}

static void threads_are_united(void **state)
{
	struct call *call = calloc(CALLS_MAX, sizeof(*call));
	struct slope_curve curve = slope_curve_none();
	struct random r = { 1 };
	struct made m;

	(void)state;
	for (int round = 0; round < 40; round++) {
		size_t count = draw_calls(call, THREADS, 1 + random_below(&r, 300), round % 2 ? 1e6 : 0x1p50, &r);

		make(&m, call, count, 100000);
		for (uint32_t unit = 0; unit < UNITS; unit++) {
			assert_true(slope_curve_load(&curve, &m.profile, 1, SLOPE_CURVE_ALL_THREADS, SLOPE_METRIC_TRMS, unit));
			assert_int_equal(curve.bits, SLOPE_POINTS_EXACT);
			compare(&curve, call, count, unit);
		}
		unmake(&m);
	}
	slope_curve_fini(&curve);
	free(call);
}

static void one_thread_alone(void **state)
{
	static const struct call call[] = { { 0, 5, 10 }, { 1, 5, 30 }, { 1, 9, 7 }, { 1, 5, 50 }, { 2, 1, 1 } };
	struct slope_curve curve = slope_curve_none();
	struct made m;

	(void)state;
	make(&m, call, 5, 100000);
	assert_true(slope_curve_load(&curve, &m.profile, 1, 1, SLOPE_METRIC_TRMS, 0));
	assert_int_equal(curve.count, 2);
	assert_true(curve.point[0].n == 5 && curve.point[0].calls == 2 && curve.point[0].cost[SLOPE_COST_MEAN] == 40);
	assert_true(curve.point[0].variance == 200);
	assert_true(curve.point[1].n == 9 && curve.point[1].variance == 0);
	assert_true(slope_curve_load(&curve, &m.profile, 1, 17, SLOPE_METRIC_TRMS, 0));
	assert_int_equal(curve.count, 0);
	unmake(&m);
	slope_curve_fini(&curve);
}

/* One thread's table was folded: the sizes of the others fold with it. */
static void the_coarsest_table_decides(void **state)
{
	struct call *call = calloc(CALLS_MAX, sizeof(*call));
	struct slope_curve curve = slope_curve_none();
	struct random r = { 2 };
	struct made m;

	(void)state;
	for (int round = 0; round < 20; round++) {
		size_t count = draw_calls(call, THREADS, 100000, 1e9, &r);

		make(&m, call, count, 200);
		assert_true(slope_curve_load(&curve, &m.profile, 1, SLOPE_CURVE_ALL_THREADS, SLOPE_METRIC_TRMS, 0));
		if (count > 1000)
			assert_true(curve.bits < SLOPE_POINTS_EXACT);
		for (uint32_t t = 0; t < THREADS; t++)
			assert_true(curve.bits <= m.table[t].bits || !m.table[t].count);
		compare(&curve, call, count, 0);
		unmake(&m);
	}
	slope_curve_fini(&curve);
	free(call);
}

/* Costs so near to each other and so large that a double cannot hold their squares apart. */
static void the_variance_of_large_costs(void **state)
{
	static const uint64_t large = UINT64_C(1) << 60;
	const struct call call[] = { { 0, 5, large }, { 0, 5, large + 3000000 }, { 0, 5, large + 6000000 }, { 1, 5, large + 3000000 } };
	struct slope_curve curve = slope_curve_none();
	struct made m;

	(void)state;
	make(&m, call, 4, 100000);
	assert_true(slope_curve_load(&curve, &m.profile, 1, 0, SLOPE_METRIC_TRMS, 0));
	/* 80 bits of a long double leave the sum of squares an error of 2^58 or so; the true value is 9e12. */
	assert_true(isfinite(curve.point[0].variance) && curve.point[0].variance >= 0);
	assert_true(sqrt(curve.point[0].variance) < 1e-9 * (double)large);
	assert_true(slope_curve_load(&curve, &m.profile, 1, SLOPE_CURVE_ALL_THREADS, SLOPE_METRIC_TRMS, 0));
	assert_true(curve.point[0].calls == 4 && curve.point[0].cost[SLOPE_COST_MAX] == (double)(large + 6000000));
	unmake(&m);
	slope_curve_fini(&curve);
}

static void nothing_to_load(void **state)
{
	struct slope_curve curve = slope_curve_none();
	struct made m;
	size_t rows;

	(void)state;
	make(&m, NULL, 0, 100000);
	for (uint32_t function = 0; function < 4; function++) {
		assert_true(slope_curve_load(&curve, &m.profile, function, SLOPE_CURVE_ALL_THREADS, SLOPE_METRIC_RMS, 0));
		assert_int_equal(curve.count, 0);
	}
	slope_curve_rows(&m.profile, 1, &rows);
	assert_int_equal(rows, THREADS);
	slope_curve_rows(&m.profile, 3, &rows);
	assert_int_equal(rows, 0);
	m.profile.row_count = 0;
	slope_curve_rows(&m.profile, 1, &rows);
	assert_int_equal(rows, 0);
	unmake(&m);
	slope_curve_fini(&curve);
}

static void memory_runs_out(void **state)
{
	struct call call[100];
	struct slope_curve curve = slope_curve_none();
	struct made few, many;

	(void)state;
	for (uint32_t i = 0; i < 100; i++)
		call[i] = (struct call){ 0, i, i + 1 };
	make(&few, call, 3, 100000);
	make(&many, call, 100, 100000);
	assert_true(slope_curve_load(&curve, &few.profile, 1, SLOPE_CURVE_ALL_THREADS, SLOPE_METRIC_TRMS, 0));
	failing_after(0);
	bool loaded = slope_curve_load(&curve, &many.profile, 1, SLOPE_CURVE_ALL_THREADS, SLOPE_METRIC_TRMS, 0);
	size_t left = curve.count;
	bool again = slope_curve_load(&curve, &few.profile, 1, SLOPE_CURVE_ALL_THREADS, SLOPE_METRIC_TRMS, 0);

	failing_never();
	assert_false(loaded);
	assert_int_equal(left, 0);
	assert_true(again);              /* what it had is still there, and enough */
	assert_int_equal(curve.count, 3);
	assert_true(slope_curve_load(&curve, &many.profile, 1, SLOPE_CURVE_ALL_THREADS, SLOPE_METRIC_TRMS, 0));
	assert_int_equal(curve.count, 100);
	unmake(&few);
	unmake(&many);
	slope_curve_fini(&curve);
	assert_null(curve.point);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_are_united),
		cmocka_unit_test(one_thread_alone),
		cmocka_unit_test(the_coarsest_table_decides),
		cmocka_unit_test(the_variance_of_large_costs),
		cmocka_unit_test(nothing_to_load),
		cmocka_unit_test(memory_runs_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
