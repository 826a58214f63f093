/* SPDX-License-Identifier: GPL-3.0-or-later */
/* report/callpaths.c: exports of a profile with calling contexts; tests/export/ lets other tools read them. */
#define _GNU_SOURCE
#include <stdio.h>

#include "report/callpaths.h"
#include "tests/unit/callers_sample.h"
#include "tests/unit/failing.h"

typedef bool export_fn(const struct slope_profile *p, const struct slope_export_options *o, FILE *out);

/* NULL when memory ran out. */
static char *exported(export_fn *how, const struct slope_profile *p, const struct slope_export_options *o)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);
	bool good = out && how(p, o, out);

	if (out)
		fclose(out);
	if (good)
		return text;
	free(text);
	return NULL;
}

static void has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no\n%sin\n%s", part, text);
}

/* Calls cost 10, 11, ... themselves, the thread 5. */
#define TRACE "ab)a)c))"

static void stacks_begin_with_the_outermost_caller(void **state)
{
	struct slope_profile *p = contexts_profile(0);
	struct slope_export_options o = slope_export_defaults(p);
	char *text;

	(void)state;
	assert_int_equal(o.k, 0);
	contexts_play(p, "ab)a)b))", 0);
	o = slope_export_defaults(p);
	assert_int_equal(o.k, UINT32_MAX);
	text = exported(slope_export_folded, p, &o);
	assert_string_equal(text, "ir (instructions);r 5\nir (instructions);a 10\nir (instructions);a;b 24\nir (instructions);a;a 12\n");
	free(text);
	o.threads = true;
	o.k = 1;
	text = exported(slope_export_folded, p, &o);
	has(text, "ir (instructions);thread 1;a;b 24\n");
	free(text);
	text = exported(slope_export_speedscope, p, &o);
	has(text, "\"name\": \"ir (instructions)\"");
	has(text, "\"endValue\": 51,\n   \"samples\": [[0], [1], [1, 2], [1, 1]],\n   \"weights\": [5, 10, 24, 12]\n");
	free(text);
	slope_profile_free(p);
}

static void fewer_callers(void **state)
{
	struct slope_profile *p = contexts_profile(0);
	struct slope_export_options o;
	char *text;

	(void)state;
	contexts_play(p, "abc)))", 0);
	o = slope_export_defaults(p);
	o.k = 1;
	text = exported(slope_export_folded, p, &o);
	has(text, "ir (instructions);b;c 12\n");
	free(text);
	slope_profile_free(p);
}

static const struct slope_profile_edge *edge(const struct slope_profile *p, const char *caller, const char *callee)
{
	for (size_t i = 0; i < p->edge_count; i++)
		if (!strcmp(p->function[p->edge[i].caller].name, caller) && !strcmp(p->function[p->edge[i].callee].name, callee))
			return &p->edge[i];
	fail_msg("no call from %s to %s", caller, callee);
	return NULL;
}

/* a calls itself twice, one in the other, and once more: a'a is inside a'a, and counts once. */
static void contexts_as_functions(void **state)
{
	struct slope_profile *p = contexts_profile(0), *apart;

	(void)state;
	contexts_play(p, "aaa))a)b))", 0);        /* 10; 11, 12; 13; 14 */
	apart = slope_callpaths_separate(p, 1);
	assert_non_null(apart);
	assert_int_equal(apart->function_count, 4);
	assert_int_equal(edge(apart, "r", "a")->cost[0], 60);
	assert_int_equal(edge(apart, "a", "a'a")->cost[0], 36);
	assert_int_equal(edge(apart, "a", "a'a")->calls, 2);
	assert_int_equal(edge(apart, "a'a", "a'a")->cost[0], 0);
	assert_int_equal(edge(apart, "a'a", "a'a")->calls, 1);
	assert_int_equal(edge(apart, "a", "b'a")->cost[0], 14);
	slope_callpaths_unite(apart);
	apart = slope_callpaths_separate(p, 2);
	assert_int_equal(apart->function_count, 5);
	assert_int_equal(edge(apart, "a'a", "a'a'a")->cost[0], 12);
	slope_callpaths_unite(apart);
	slope_profile_free(p);
}

static void slabs_have_no_stacks_unless_asked_for(void **state)
{
	struct slope_profile *p = contexts_profile(1);
	struct slope_export_options o;
	char *text;

	(void)state;
	contexts_play(p, "abc)))", 0);
	o = slope_export_defaults(p);
	text = exported(slope_export_folded, p, &o);
	assert_string_equal(text, "");           /* the sample has no rows */
	free(text);
	o.k = 1;
	text = exported(slope_export_folded, p, &o);
	has(text, "ir (instructions);b;c 12\n");
	has(text, "ir (instructions);a;b 11\n");
	free(text);
	slope_profile_free(p);
}

static void memory_may_run_out(void **state)
{
	export_fn *const how[] = { slope_export_callgrind, slope_export_folded, slope_export_speedscope, slope_export_pprof };
	struct slope_profile *p = contexts_profile(0);
	struct slope_export_options o;

	(void)state;
	contexts_play(p, TRACE, 0);
	o = slope_export_defaults(p);
	for (size_t i = 0; i < sizeof(how) / sizeof(how[0]); i++) {
		size_t failures = 0;
		char *text = NULL;

		for (; !text; failures++) {
			failing_after(failures);
			text = exported(how[i], p, &o);
			failing_never();
		}
		free(text);
		assert_true(failures > 1);
	}
	slope_profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stacks_begin_with_the_outermost_caller),
		cmocka_unit_test(fewer_callers),
		cmocka_unit_test(contexts_as_functions),
		cmocka_unit_test(slabs_have_no_stacks_unless_asked_for),
		cmocka_unit_test(memory_may_run_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
