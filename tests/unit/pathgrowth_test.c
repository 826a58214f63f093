/* SPDX-License-Identifier: GPL-3.0-or-later */
/* analysis/pathgrowth.c: the path with the most instructions, and the one that is taken ever more often. */
#include "tests/unit/paths_sample.h"

#include <math.h>

#include "analysis/pathgrowth.h"
#include "tests/unit/failing.h"

#define SIZES 24u

static uint64_t size_of(unsigned i)
{
	return (uint64_t)(10 * pow(1.35, i));
}

static void add_size(struct slope_profile *p, uint64_t number, uint64_t n, uint64_t executions)
{
	if (executions)
		*slope_build_path_size(p) = (struct slope_profile_path_size){
			.number = number, .n = slope_points_edge(n, 3), .activations = 1, .executions = executions };
}

/* A function called once for each size n: the first path 5000 times, the loop's n / 2 times, out once. */
static struct slope_profile *steep(bool sizes)
{
	struct slope_profile *p = made_profile(1);
	uint32_t graph = made_graph(p, 1, 0, MADE_LOOP_BLOCKS, made_loop, MADE_LOOP_EDGES, SLOPE_PATH_LIMIT);
	struct slope_profile_path often = made_key(p, graph, 0, 1, (const uint32_t[]){ 1, 4, 6 }, 3);
	struct slope_profile_path grows = made_key(p, graph, 0, 1, (const uint32_t[]){ 1, 3, 5, 6 }, 4);
	struct slope_profile_row *row = slope_build_row(p);
	uint32_t stride = slope_point_bytes(1);

	p->metrics = 1u << SLOPE_METRIC_TRMS;
	*row = (struct slope_profile_row){ .function = 1, .calls = SIZES };
	row->points[0] = (struct slope_profile_points){ .bits = SLOPE_POINTS_EXACT, .count = SIZES, .rows = calloc(SIZES, stride) };
	row->points[1].bits = SLOPE_POINTS_EXACT;
	for (unsigned i = 0; i < SIZES; i++) {
		uint64_t n = size_of(i), cost = 50000 + 7 * n;
		struct slope_point *point = (struct slope_point *)(row->points[0].rows + i * stride);

		*point = (struct slope_point){ .n = n, .calls = 1, .rms = n };
		point->cost[0] = (struct slope_stat){ .min = cost, .max = cost, .sum = cost, .sq_lo = cost * cost };
		made_count(p, often, 5000);
		made_count(p, grows, n / 2);
		if (sizes) {
			add_size(p, often.number, n, 5000);
			add_size(p, grows.number, n, n / 2);
		}
	}
	made_done(p);
	return p;
}

static void without_sizes_the_path_with_the_most(void **state)
{
	struct slope_profile *p = steep(false);
	struct slope_pathgrowth g;

	(void)state;
	assert_true(slope_pathgrowth_of(&g, p, 1, SLOPE_METRIC_TRMS, 0));
	assert_true(g.found);
	assert_false(g.by_size);
	assert_int_equal(g.each, 10);
	assert_true(fabs(g.per_call - 5000) < 1e-9);
	assert_true(g.share > 0.5 && g.share < 1);
	slope_profile_free(p);
}

static void with_sizes_the_path_that_grows(void **state)
{
	struct slope_profile *p = steep(true);
	struct slope_pathgrowth g;

	(void)state;
	assert_true(slope_pathgrowth_of(&g, p, 1, SLOPE_METRIC_TRMS, 0));
	assert_true(g.found && g.by_size);
	assert_int_equal(g.each, 14);                    /* blocks 1, 2, 3, 4 */
	assert_true(fabs(g.of_growth - 1) < 1e-9);       /* the other one does not rise */
	assert_int_equal(g.growth.verdict, SLOPE_VERDICT_LINEAR);
	assert_true(fabs(g.rise - 1) < 0.1);
	assert_true(g.top > (double)size_of(SIZES - 6) / 2 && g.top < (double)size_of(SIZES) / 2);
	assert_true(g.share < 0.5);
	slope_profile_free(p);
}

static void a_function_without_paths(void **state)
{
	struct slope_profile *p = steep(true), *none = made_profile(1);
	struct slope_pathgrowth g;

	(void)state;
	assert_true(slope_pathgrowth_of(&g, none, 1, SLOPE_METRIC_TRMS, 0));
	assert_false(g.found);
	assert_true(slope_pathgrowth_of(&g, p, 0, SLOPE_METRIC_TRMS, 0));
	assert_false(g.found);
	p->row[0].points[0].count = 2;                   /* sizes that show nothing */
	assert_true(slope_pathgrowth_of(&g, p, 1, SLOPE_METRIC_TRMS, 0));
	assert_true(g.found);
	assert_false(g.by_size);
	slope_profile_free(p);
	slope_profile_free(none);
}

static void memory_may_run_out(void **state)
{
	struct slope_profile *p = steep(true);
	struct slope_pathgrowth g;
	size_t failures = 0;
	bool good = false;

	(void)state;
	for (; !good; failures++) {
		failing_after(failures);
		good = slope_pathgrowth_of(&g, p, 1, SLOPE_METRIC_TRMS, 0);
		failing_never();
	}
	assert_true(failures > 4 && g.by_size);
	slope_profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_sizes_the_path_with_the_most),
		cmocka_unit_test(with_sizes_the_path_that_grows),
		cmocka_unit_test(a_function_without_paths),
		cmocka_unit_test(memory_may_run_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
