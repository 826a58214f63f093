/* SPDX-License-Identifier: GPL-3.0-or-later */
/* analysis/census.c: numbers worked out by hand for a small trace, and by building everything for a random one. */
#include <math.h>
#include <stdio.h>

#include "analysis/census.h"
#include "analysis/forest.h"
#include "tests/unit/callers_sample.h"
#include "tests/unit/failing.h"

/* Fourteen calls, each in a context of its own. */
#define INTRODUCTION "abc)))dabc))))eb)abc))))c)"

struct sample {
	struct slope_profile *p;
	struct slope_callers c;
	struct slope_census s;
};

static void sample_init(struct sample *m, uint32_t slabs, const char *trace)
{
	m->p = contexts_profile(slabs);
	contexts_play(m->p, trace, 0);
	assert_true(slope_callers_init(&m->c, m->p, 0));
	assert_true(slope_census_init(&m->s, &m->c, SLOPE_WEIGHT_CALLS, SLOPE_CALLERS_ALL));
}

static void sample_fini(struct sample *m)
{
	slope_census_fini(&m->s);
	slope_callers_fini(&m->c);
	slope_profile_free(m->p);
}

static void sizes(void **state)
{
	static const uint64_t forest[] = { 6, 15, 22, 27, 29, 29 }, pruned[] = { 6, 13, 16, 20, 20, 20 };
	struct sample m;

	(void)state;
	sample_init(&m, 0, INTRODUCTION);
	assert_int_equal(m.s.functions, 6);
	assert_int_equal(m.s.edges, 9);
	assert_int_equal(m.s.nodes, 14);
	assert_int_equal(m.s.roots, 1);
	assert_int_equal(m.s.calls, 14);
	assert_int_equal(m.s.depth, 4);
	assert_true(fabs(m.s.mean_depth - 29.0 / 14) < 1e-12);
	for (uint32_t k = 0; k < 6; k++) {
		assert_int_equal(slope_census_size(&m.s, m.s.forest, k), forest[k]);
		assert_int_equal(slope_census_size(&m.s, m.s.pruned, k), pruned[k]);
	}
	sample_fini(&m);
}

/* Only as far as asked for, and edges always. */
static void sizes_up_to_k(void **state)
{
	struct slope_census s;
	struct sample m;

	(void)state;
	sample_init(&m, 0, INTRODUCTION);
	assert_true(slope_census_init(&s, &m.c, SLOPE_WEIGHT_CALLS, 2));
	assert_int_equal(s.levels, 3);
	assert_int_equal(s.forest[2], 22);
	assert_int_equal(s.pruned[2], 16);
	slope_census_fini(&s);
	assert_true(slope_census_init(&s, &m.c, SLOPE_WEIGHT_CALLS, 0));
	assert_int_equal(s.edges, 9);
	slope_census_fini(&s);
	sample_fini(&m);
}

/* What slabs know they know exactly. */
static void sizes_from_slabs(void **state)
{
	struct sample m;

	(void)state;
	sample_init(&m, 2, INTRODUCTION);
	assert_int_equal(m.s.functions, 6);
	assert_int_equal(m.s.edges, 9);
	assert_int_equal(m.s.calls, 14);
	assert_int_equal(m.s.levels, 3);
	assert_int_equal(slope_census_size(&m.s, m.s.forest, 1), 15);
	assert_int_equal(slope_census_size(&m.s, m.s.forest, 2), 22);
	assert_int_equal(slope_census_size(&m.s, m.s.pruned, 2), 16);
	assert_true(isnan(m.s.mean_depth));
	sample_fini(&m);
}

/* 13 of 14 calls are the first that make up 90 %. */
static void few_make_up_most(void **state)
{
	struct slope_census_contexts found;
	struct sample m;

	(void)state;
	sample_init(&m, 0, INTRODUCTION);
	assert_int_equal(m.s.hot_functions, 5);
	assert_int_equal(m.s.hot_nodes, 13);
	assert_true(slope_census_contexts(&m.c, 0, SLOPE_WEIGHT_CALLS, &found));
	assert_int_equal(found.contexts, 6);
	assert_int_equal(found.hot, 5);
	assert_true(slope_census_contexts(&m.c, 1, SLOPE_WEIGHT_CALLS, &found));
	assert_int_equal(found.contexts, 10);    /* nine edges, and the root that nobody calls */
	assert_int_equal(found.hot, 9);
	assert_true(slope_census_contexts(&m.c, SLOPE_CALLERS_ALL, SLOPE_WEIGHT_CALLS, &found));
	assert_int_equal(found.contexts, 14);
	assert_int_equal(found.hot, 13);
	sample_fini(&m);
}

static void similar(void **state)
{
	struct slope_census_similar found;
	struct sample m;

	(void)state;
	sample_init(&m, 0, INTRODUCTION);
	assert_true(slope_census_similar(&m.c, 0.75, SLOPE_CALLERS_ALL, SLOPE_WEIGHT_CALLS, &found));
	assert_int_equal(found.trees, 6);
	assert_int_equal(found.nodes, 11);
	assert_true(fabs(found.mean_depth - 5.0 / 6) < 1e-12);
	assert_true(slope_census_similar(&m.c, 0, 1, SLOPE_WEIGHT_CALLS, &found));
	assert_int_equal(found.nodes, 15);
	assert_true(slope_census_similar(&m.c, 0, SLOPE_CALLERS_ALL, SLOPE_WEIGHT_CALLS, &found));
	assert_int_equal(found.nodes, 29);
	sample_fini(&m);
}

/* c has 20 of 22 calls, and is all that is hot. */
static void depth_of_hot_trees(void **state)
{
	struct slope_census_similar found;
	struct sample m;

	(void)state;
	sample_init(&m, 0, "ac)c)c)c)c)c)c)c)c)c)c)c)c)c)c)c)c)c)c)c))");
	assert_true(slope_census_similar(&m.c, 0.5, SLOPE_CALLERS_ALL, SLOPE_WEIGHT_CALLS, &found));
	assert_true(fabs(found.hot_depth - 2) < 1e-12);
	assert_true(fabs(found.mean_depth - 1) < 1e-12);
	sample_fini(&m);
}

/* A trace with all kinds of contexts, recursion among them. */
static void random_trace(char *text, size_t calls)
{
	uint64_t seed = 7;
	size_t depth = 0;

	while (calls || depth) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		uint32_t dice = (uint32_t)(seed >> 33);

		if (calls && depth < 9 && (!depth || dice % 2)) {
			*text++ = (char)('a' + (dice >> 8) % 4);
			depth++;
			calls--;
		} else {
			*text++ = ')';
			depth--;
		}
	}
	*text = 0;
}

#define CALLS 3000u

static void as_many_as_there_are(void **state)
{
	char trace[2 * CALLS + 1];
	struct sample m;

	(void)state;
	random_trace(trace, CALLS);
	sample_init(&m, 0, trace);
	for (uint32_t k = 0; k < 12; k++) {
		struct slope_forest_options o = { .function = SLOPE_CALLERS_ALL, .k = k };
		struct slope_forest f;
		uint64_t nodes;

		assert_true(slope_forest_init(&f, &m.c, &o));
		assert_int_equal(slope_census_size(&m.s, m.s.forest, k), f.count + 1);    /* and the thread */
		slope_forest_fini(&f);
		o.prune = true;
		assert_true(slope_forest_init(&f, &m.c, &o));
		assert_int_equal(slope_census_size(&m.s, m.s.pruned, k), f.count + 1);
		slope_forest_fini(&f);
		if (!k)
			continue;
		struct slope_profile *slabs = contexts_profile(k);

		contexts_play(slabs, trace, 0);
		assert_true(slope_census_slabs(&m.c, k, &nodes));
		assert_int_equal(nodes, slabs->context_count);
		slope_profile_free(slabs);
	}
	sample_fini(&m);
}

static void slabs_of_threads_stay_apart(void **state)
{
	struct slope_profile *p = contexts_profile(0);
	struct slope_callers c;
	uint64_t nodes;

	(void)state;
	contexts_play(p, INTRODUCTION, 0);
	contexts_play(p, INTRODUCTION, 1);
	assert_true(slope_callers_init(&c, p, 0));
	assert_true(slope_census_slabs(&c, 1, &nodes));
	assert_int_equal(nodes, 2 * 15);
	slope_callers_fini(&c);
	slope_profile_free(p);
}

static void nothing_recorded(void **state)
{
	struct slope_census_similar similar;
	struct slope_census_contexts found;
	struct slope_callers c;
	struct slope_census s;
	struct slope_profile *p = contexts_profile(0);
	uint64_t nodes;

	(void)state;
	assert_true(slope_callers_init(&c, p, 0));
	assert_true(slope_census_init(&s, &c, SLOPE_WEIGHT_SELF, SLOPE_CALLERS_ALL));
	assert_int_equal(s.functions, 0);
	assert_int_equal(slope_census_size(&s, s.forest, 3), 0);
	assert_true(slope_census_similar(&c, 0.5, SLOPE_CALLERS_ALL, SLOPE_WEIGHT_SELF, &similar) && isnan(similar.mean_depth));
	assert_true(slope_census_contexts(&c, 2, SLOPE_WEIGHT_SELF, &found) && !found.contexts);
	assert_true(slope_census_slabs(&c, 2, &nodes) && !nodes);
	slope_census_fini(&s);
	slope_callers_fini(&c);
	slope_profile_free(p);
}

/* 0: everything is there. */
static size_t failures_of(const struct slope_callers *c, unsigned which)
{
	for (size_t failures = 0;; failures++) {
		struct slope_census_similar similar;
		struct slope_census_contexts found;
		struct slope_census s = { 0 };
		uint64_t nodes;
		bool good;

		failing_after(failures);
		good = which == 0 ? slope_census_init(&s, c, SLOPE_WEIGHT_SELF, SLOPE_CALLERS_ALL) :
		       which == 1 ? slope_census_contexts(c, 2, SLOPE_WEIGHT_SELF, &found) :
		       which == 2 ? slope_census_similar(c, 0.5, SLOPE_CALLERS_ALL, SLOPE_WEIGHT_SELF, &similar) :
				    slope_census_slabs(c, 2, &nodes);
		failing_never();
		assert_true(good || (!s.forest && !s.pruned));
		slope_census_fini(&s);
		if (good)
			return failures;
	}
}

static void memory_may_run_out(void **state)
{
	struct sample m;

	(void)state;
	sample_init(&m, 0, INTRODUCTION);
	assert_true(failures_of(&m.c, 0) >= 2 + 2 + 6 + 1 + 6);
	assert_int_equal(failures_of(&m.c, 1), 1 + 6);
	assert_int_equal(failures_of(&m.c, 2), 1 + 6 + 6);
	assert_int_equal(failures_of(&m.c, 3), 4);
	sample_fini(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes),
		cmocka_unit_test(sizes_up_to_k),
		cmocka_unit_test(sizes_from_slabs),
		cmocka_unit_test(few_make_up_most),
		cmocka_unit_test(similar),
		cmocka_unit_test(depth_of_hot_trees),
		cmocka_unit_test(as_many_as_there_are),
		cmocka_unit_test(slabs_of_threads_stay_apart),
		cmocka_unit_test(nothing_recorded),
		cmocka_unit_test(memory_may_run_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
