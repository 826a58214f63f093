/* SPDX-License-Identifier: GPL-3.0-or-later */
/* analysis/forest.c: what is kept of a forest, in which order, and what pruning leaves out and can bring back. */
#include <stdio.h>

#include "analysis/forest.h"
#include "tests/unit/callers_sample.h"
#include "tests/unit/failing.h"

/* c is called four times: thrice by b, and then a comes before it. */
#define INTRODUCTION "abc)))dabc))))eb)abc))))c)"

static char letter(uint32_t function)
{
	return function ? (char)('a' + function - 1) : 'r';
}

static void put(const struct slope_callers *c, const struct slope_forest *f, uint32_t at, char *text, size_t bytes)
{
	for (; at != SLOPE_CONTEXT_NONE; at = f->node[at].sibling) {
		const struct slope_forest_node *n = &f->node[at];

		for (uint32_t up = at; up != SLOPE_CONTEXT_NONE; up = f->node[up].parent)
			snprintf(text + strlen(text), bytes - strlen(text), "%c", letter(f->node[up].function));
		for (uint32_t i = 0; i < n->cut; i++)
			snprintf(text + strlen(text), bytes - strlen(text), "%s%c", i ? "" : "+",
				 letter(slope_forest_cut_caller(c, n, i)));
		snprintf(text + strlen(text), bytes - strlen(text), " %lu\n", (unsigned long)n->calls);
		put(c, f, n->child, text, bytes);
	}
}

/* Each node as the path that leads to it, from its caller down to the root; behind a +, what was cut. */
static void expect(uint32_t slabs, const char *trace, const struct slope_forest_options *o, const char *wanted)
{
	struct slope_profile *p = contexts_profile(slabs);
	struct slope_callers c;
	struct slope_forest f;
	char text[2048] = "";

	contexts_play(p, trace, 0);
	assert_true(slope_callers_init(&c, p, 0));
	assert_true(slope_forest_init(&f, &c, o));
	put(&c, &f, f.root, text, sizeof(text));
	assert_string_equal(text, wanted);
	slope_forest_fini(&f);
	slope_callers_fini(&c);
	slope_profile_free(p);
}

static void the_heaviest_comes_first(void **state)
{
	const struct slope_forest_options o = { .function = SLOPE_CALLERS_ALL, .k = 1, .by = SLOPE_WEIGHT_CALLS };

	(void)state;
	expect(0, INTRODUCTION, &o, "b 4\nab 3\neb 1\n" "c 4\nbc 3\nrc 1\n" "a 3\nra 1\nda 1\nea 1\n" "d 1\nrd 1\n" "e 1\nre 1\n");
	expect(1, INTRODUCTION, &o, "b 4\nab 3\neb 1\n" "c 4\nbc 3\nrc 1\n" "a 3\nra 1\nda 1\nea 1\n" "d 1\nrd 1\n" "e 1\nre 1\n");
}

/* a, b, c has 75 % of the calls of c, and nothing longer has. */
static void similar_contexts(void **state)
{
	struct slope_forest_options o = { .function = trace_function('c'), .k = SLOPE_CALLERS_ALL, .by = SLOPE_WEIGHT_CALLS };

	(void)state;
	o.similar = 0.75;
	expect(0, INTRODUCTION, &o, "c 4\nbc 3\nabc 3\n");
	o.similar = 0.76;
	expect(0, INTRODUCTION, &o, "c 4\n");
	o.similar = 0.25;
	expect(0, INTRODUCTION, &o, "c 4\nbc 3\nabc 3\nrabc 1\ndabc 1\nrdabc 1\neabc 1\nreabc 1\nrc 1\n");
	expect(3, INTRODUCTION, &o, "c 4\nbc 3\nabc 3\nrabc 1\ndabc 1\neabc 1\nrc 1\n");
}

static void pruned_chains_can_be_told(void **state)
{
	struct slope_forest_options o = {
		.function = SLOPE_CALLERS_ALL, .k = SLOPE_CALLERS_ALL, .by = SLOPE_WEIGHT_CALLS, .prune = true,
	};

	(void)state;
	expect(0, INTRODUCTION, &o,
	       "b 4\nab 3\nrab 1\ndab+r 1\neab+r 1\neb+r 1\n" "c 4\nbc 3\nabc 3\nrabc 1\ndabc+r 1\neabc+r 1\nrc 1\n"
	       "a 3\nra 1\nda+r 1\nea+r 1\n" "d+r 1\n" "e+r 1\n");
	o.k = 2;
	expect(0, INTRODUCTION, &o,
	       "b 4\nab 3\nrab 1\ndab 1\neab 1\neb+r 1\n" "c 4\nbc+a 3\nrc 1\n" "a 3\nra 1\nda+r 1\nea+r 1\n" "d+r 1\n" "e+r 1\n");
	expect(2, INTRODUCTION, &o,
	       "b 4\nab 3\nrab 1\ndab 1\neab 1\neb+r 1\n" "c 4\nbc+a 3\nrc 1\n" "a 3\nra 1\nda+r 1\nea+r 1\n" "d+r 1\n" "e+r 1\n");
}

/* The path that is cut is the similar one, not that of any node. */
static void pruned_and_similar(void **state)
{
	const struct slope_forest_options o = {
		.function = trace_function('c'), .k = SLOPE_CALLERS_ALL, .by = SLOPE_WEIGHT_CALLS, .prune = true, .similar = 0.75,
	};

	(void)state;
	expect(0, "c)" INTRODUCTION, &o, "c 5\n");
	expect(0, INTRODUCTION, &o, "c+ba 4\n");
}

static void by_cost(void **state)
{
	const struct slope_forest_options o = {
		.function = trace_function('b'), .k = SLOPE_CALLERS_ALL, .by = SLOPE_WEIGHT_SELF, .similar = 0.5,
	};

	(void)state;
	/* b costs 11 from a, then 13 and 14 from c: 27 of 38. */
	expect(0, "ab))cb)b))", &o, "b 3\ncb 2\nrcb 2\n");
}

static void memory_may_run_out(void **state)
{
	const struct slope_forest_options o = { .function = SLOPE_CALLERS_ALL, .k = 9, .prune = true };
	struct slope_profile *p = contexts_profile(0);
	struct slope_callers c;
	size_t failures = 0;
	bool good = false;

	(void)state;
	contexts_play(p, INTRODUCTION, 0);
	assert_true(slope_callers_init(&c, p, 0));
	for (; !good; failures++) {
		struct slope_forest f;

		failing_after(failures);
		good = slope_forest_init(&f, &c, &o);
		failing_never();
		assert_true(good || (!f.node && !f.count));
		slope_forest_fini(&f);
	}
	assert_int_equal(failures, 1 + 6 + 2 + 3 + 1);   /* a walk; nodes and the path; pruning; order */
	slope_callers_fini(&c);
	slope_profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_heaviest_comes_first),
		cmocka_unit_test(similar_contexts),
		cmocka_unit_test(pruned_chains_can_be_told),
		cmocka_unit_test(pruned_and_similar),
		cmocka_unit_test(by_cost),
		cmocka_unit_test(memory_may_run_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
