/* SPDX-License-Identifier: GPL-3.0-or-later */
/* analysis/pathcosts.c: what paths cost, against walks that were counted block by block. */
#include "tests/unit/paths_sample.h"

#include <math.h>

#include "analysis/pathcosts.h"
#include "tests/unit/failing.h"

static struct slope_pathcosts_options all(uint32_t metric)
{
	return (struct slope_pathcosts_options){ .function = SLOPE_PATHS_ALL, .thread = SLOPE_PATHS_ALL, .metric = metric,
						 .threshold = 0.01 };
}

/* Once around along 3, once past it, and out; ten times. And b, one block, 100 times. */
static struct slope_profile *two_functions(void)
{
	static const uint32_t walk[] = { 0, 1, 3, 5, 6, 1, 4, 6, 2, 7 }, leaf[] = { 0 };
	static const struct made_edge one[] = { { 0, OUT, SLOPE_WAY_RETURN } };
	struct slope_profile *p = made_profile(2);
	uint32_t a = made_graph(p, 1, 0, MADE_LOOP_BLOCKS, made_loop, MADE_LOOP_EDGES, SLOPE_PATH_LIMIT);
	uint32_t b = made_graph(p, 2, 0, 1, one, 1, SLOPE_PATH_LIMIT);

	made_walk(p, a, 0, 0, walk, 10, 7);
	made_walk(p, a, 1, 0, walk, 10, 3);
	made_walk(p, b, 0, 0, leaf, 1, 100);
	*slope_build_repeat(p) = (struct slope_profile_repeat){ .graph = a, .block = 3, .count = 40 };
	made_done(p);
	return p;
}

static void sums_shares_and_coverage(void **state)
{
	struct slope_profile *p = two_functions();
	struct slope_pathcosts_options o = all(SLOPE_PATHS_IR);
	struct slope_pathcosts c;

	(void)state;
	assert_true(slope_pathcosts_init(&c, p, &o));
	/* 0,1,2,3,4: 15 instructions; 1,2,4: 10; 1,5: 8. */
	assert_int_equal(c.rows, 4);
	assert_int_equal(c.instructions, 10 * (15 + 10 + 8) + 100 + 40);
	assert_int_equal(c.repeats, 40);
	assert_int_equal(c.row[0].each, 15);
	assert_int_equal(c.row[0].count, 10);
	assert_int_equal(c.row[0].blocks, 5);
	assert_true(fabs(c.row[0].share - 150.0 / 470) < 1e-12);
	assert_int_equal(c.row[0].kind, SLOPE_PATH_HOT);
	assert_true(isnan(c.average));
	const struct slope_pathcosts_function *f = slope_pathcosts_find(&c, 1);

	assert_ptr_equal(f, &c.function[0]);
	assert_int_equal(f->instructions, 370);
	assert_int_equal(f->entries, 10);
	assert_int_equal(f->paths, 3);
	assert_int_equal(f->regular, 6);
	assert_int_equal(f->blocks_run, 6);
	assert_int_equal(f->edges_run, 8);
	assert_int_equal(f->edges, 8);
	assert_int_equal(c.path_kind[SLOPE_PATH_HOT].count, 4);
	assert_int_equal(c.function_kind[SLOPE_PATH_HOT].paths, 4);
	slope_pathcosts_fini(&c);
	o.thread = 1;
	assert_true(slope_pathcosts_init(&c, p, &o));
	assert_int_equal(c.instructions, 3 * (15 + 10 + 8));
	assert_int_equal(c.repeats, 0);
	assert_int_equal(c.rows, 3);
	assert_null(slope_pathcosts_find(&c, 3));
	slope_pathcosts_fini(&c);
	o.thread = SLOPE_PATHS_ALL;
	o.function = 2;
	assert_true(slope_pathcosts_init(&c, p, &o));
	assert_int_equal(c.rows, 1);
	assert_int_equal(c.instructions, 470);
	assert_int_equal(c.path_kind[SLOPE_PATH_HOT].count, 4);
	slope_pathcosts_fini(&c);
	slope_profile_free(p);
}

static void paths_that_were_left(void **state)
{
	struct slope_profile *p = two_functions();
	struct slope_pathcosts_options o = all(SLOPE_PATHS_IR);
	struct slope_profile_path key = made_key(p, 0, 0, 0, (const uint32_t[]){ 0, 1 }, 2);
	struct slope_pathcosts c;

	(void)state;
	key.stop = 2;
	key.stop_instructions = 1;
	made_count(p, key, 5);
	key.stop_instructions = 3;
	made_count(p, key, 1);
	made_done(p);
	o.function = 1;
	assert_true(slope_pathcosts_init(&c, p, &o));
	assert_int_equal(c.instructions, 470 + 5 * (1 + 2 + 1) + 1 + 2 + 3);
	assert_int_equal(c.rows, 5);
	assert_int_equal(c.function[0].stopped, 6);
	assert_int_equal(c.function[0].paths, 3);
	assert_int_equal(c.function[0].entries, 16);
	slope_pathcosts_sort(&c, SLOPE_PATHS_BY_LENGTH);
	assert_int_equal(c.row[4].each, 4);
	assert_int_equal(c.row[4].blocks, 3);
	slope_pathcosts_fini(&c);
	slope_profile_free(p);
}

static void dense_and_sparse(void **state)
{
	struct slope_profile *p = two_functions();
	struct slope_pathcosts_options o = all(0);
	struct slope_pathcosts c;

	(void)state;
	p->path_metrics = 1;
	p->path_metric_name[0] = strdup("misses");
	for (size_t i = 0; i < p->path_count; i++)
		if (p->graph[p->path[i].graph].function == 2) {      /* two of 100: 3 and 5 */
			p->path[i].samples = 2;
			p->path[i].metric[0] = (struct slope_path_metric){ 8, 34, 0 };
		} else if (p->path[i].number == 0) {                 /* each of 7: 1 */
			p->path[i].samples = p->path[i].thread ? 0 : 7;
			p->path[i].metric[0] = (struct slope_path_metric){ p->path[i].samples, p->path[i].samples, 0 };
		}
	assert_true(slope_pathcosts_init(&c, p, &o));
	assert_true(fabs(c.whole - 410) < 1e-9);
	assert_int_equal(c.row[0].kind, SLOPE_PATH_DENSE);
	assert_true(fabs(c.row[0].value[0].value - 400) < 1e-9);
	/* Variance 2, two samples of 100, 12.7 standard errors. */
	assert_true(fabs(c.row[0].value[0].error - 12.7062 * 100 * sqrt(2.0 / 2 * 0.98)) < 0.1);
	assert_int_equal(c.row[1].kind, SLOPE_PATH_SPARSE);
	assert_true(c.row[1].value[0].error == 0);
	assert_true(isnan(c.row[2].share));
	assert_int_equal(c.row[2].kind, SLOPE_PATH_COLD);
	assert_true(fabs(c.average - 410.0 / (100 + 150)) < 1e-9);
	assert_int_equal(c.measured[0], 250);
	assert_int_equal(c.path_kind[SLOPE_PATH_HOT].count, 2);
	assert_int_equal(c.path_kind[SLOPE_PATH_DENSE].count, 1);
	assert_int_equal(c.path_kind[SLOPE_PATH_SPARSE].count, 1);
	assert_int_equal(slope_pathcosts_find(&c, 1)->kind, SLOPE_PATH_SPARSE);
	assert_int_equal(slope_pathcosts_find(&c, 2)->kind, SLOPE_PATH_DENSE);
	slope_pathcosts_sort(&c, SLOPE_PATHS_BY_RATIO);
	assert_int_equal(p->graph[c.row[0].graph].function, 2);
	slope_pathcosts_fini(&c);
	slope_profile_free(p);
}

static uint64_t next(uint64_t *seed)
{
	return slope_mix64(*seed += UINT64_C(0x9e3779b97f4a7c15));
}

/* Of 500 paths of which 40 in 1000 executions are measured, about 95 % have the truth within their error bars. */
static void error_bars_hold_what_they_say(void **state)
{
	struct slope_profile *p = two_functions();
	struct slope_pathcosts_options o = all(0);
	uint64_t seed = 1, value[1000];
	unsigned within = 0;

	(void)state;
	p->path_metrics = 1;
	p->path_metric_name[0] = strdup("time");
	for (unsigned round = 0; round < 500; round++) {
		struct slope_profile_path *path = &p->path[p->path_count - 1];
		struct slope_pathcosts c;
		double truth = 0;

		path->count = 1000;
		path->samples = 40;
		path->metric[0] = (struct slope_path_metric){ 0 };
		for (unsigned i = 0; i < 1000; i++) {
			value[i] = 50 + next(&seed) % 101;
			truth += (double)value[i];
			if (i % 25 == 7)
				slope_path_measure(&path->metric[0], value[i]);
		}
		assert_true(slope_pathcosts_init(&c, p, &o));
		within += fabs(c.row[0].value[0].value - truth) <= c.row[0].value[0].error;
		slope_pathcosts_fini(&c);
	}
	assert_in_range(within, 460, 490);
	slope_profile_free(p);
}

/* Random graphs of up to 12 blocks, of which each leads to one or two of all. */
static uint32_t random_graph(struct slope_profile *p, uint32_t function, uint64_t *seed)
{
	struct made_edge edge[24];
	uint32_t blocks = 1 + (uint32_t)(next(seed) % 12), edges = 0;

	for (uint32_t v = 0; v < blocks; v++) {
		uint32_t ways = 1 + (uint32_t)(next(seed) % 2);

		for (uint32_t w = 0; w < ways; w++) {
			uint32_t to = (uint32_t)(next(seed) % (blocks + 2));

			edge[edges++] = (struct made_edge){ v, to < blocks ? to : OUT, to < blocks ? w : SLOPE_WAY_RETURN };
		}
	}
	return made_graph(p, function, 0, blocks, edge, edges, 1 + next(seed) % 64);
}

/* Walks of any length; those that do not come out are left in the middle of a block. */
static void random_walks_add_up(void **state)
{
	uint64_t seed = 42;

	(void)state;
	for (unsigned round = 0; round < 200; round++) {
		struct slope_profile *p = made_profile(1);
		struct slope_pathcosts_options o = all(SLOPE_PATHS_IR);
		uint32_t graph = random_graph(p, 1, &seed);
		const struct slope_path_graph *g = &p->graph[graph].paths;
		uint64_t instructions = 0, blocks_run = 0, edges_run = 0;
		bool block[12] = { false }, edge[24] = { false };
		struct slope_pathcosts c;

		for (unsigned walk = 0; walk < 20; walk++) {
			uint32_t along[64], v = 0, from = 0, count = 0, first = 0;

			while (count < 64 && v != OUT) {
				uint32_t e = g->first[v] + (uint32_t)(next(&seed) % (g->first[v + 1] - g->first[v]));

				instructions += v + 1;
				block[v] = edge[e] = true;
				along[count++] = e;
				v = g->edge[e].to;
			}
			for (uint32_t i = 0, begin = 0; i < count; i++)
				if (g->edge[along[i]].cut != SLOPE_PATH_WHOLE || g->edge[along[i]].to == OUT) {
					made_walk(p, graph, walk % 2, begin, along + first, i + 1 - first, 1);
					first = i + 1;
					from = begin = g->edge[along[i]].to;
				}
			if (v != OUT) {
				struct slope_profile_path key = made_key(p, graph, walk % 2, from, along + first, count - first);

				key.stop = v;
				key.stop_instructions = (uint32_t)(next(&seed) % (v + 2));
				instructions += key.stop_instructions;
				block[v] = true;
				made_count(p, key, 1);
			}
		}
		made_done(p);
		assert_true(slope_pathcosts_init(&c, p, &o));
		for (unsigned i = 0; i < 12; i++)
			blocks_run += block[i];
		for (unsigned i = 0; i < 24; i++)
			edges_run += edge[i];
		assert_int_equal(c.instructions, instructions);
		assert_int_equal(c.function[0].blocks_run, blocks_run);
		assert_int_equal(c.function[0].edges_run, edges_run);
		assert_int_equal(c.function[0].entries, 20);
		uint8_t *executed = slope_pathcosts_executed(&c, graph);

		for (uint32_t i = 0; i < g->vertices; i++)
			assert_int_equal(executed[i], block[i]);
		free(executed);
		slope_pathcosts_fini(&c);
		slope_profile_free(p);
	}
}

static void memory_may_run_out(void **state)
{
	struct slope_profile *p = two_functions();
	struct slope_pathcosts_options o = all(SLOPE_PATHS_IR);
	struct slope_pathcosts c;
	size_t failures = 0;
	bool good = false;

	(void)state;
	for (; !good; failures++) {
		failing_after(failures);
		good = slope_pathcosts_init(&c, p, &o);
		failing_never();
	}
	assert_true(failures > 5);
	slope_pathcosts_fini(&c);
	slope_profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_shares_and_coverage),
		cmocka_unit_test(paths_that_were_left),
		cmocka_unit_test(dense_and_sparse),
		cmocka_unit_test(error_bars_hold_what_they_say),
		cmocka_unit_test(random_walks_add_up),
		cmocka_unit_test(memory_may_run_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
