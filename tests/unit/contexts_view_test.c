/* SPDX-License-Identifier: GPL-3.0-or-later */
/* report/contexts_view.c, contexts_text.c, contexts_json.c: what `slope contexts` prints of traces counted by hand. */
#define _GNU_SOURCE
#include <stdio.h>

#include "report/contexts_view.h"
#include "tests/unit/callers_sample.h"
#include "tests/unit/failing.h"

/* c is called four times: thrice by b, and then a comes before it. Fourteen calls with the thread itself. */
#define INTRODUCTION "abc)))dabc))))eb)abc))))c)"

typedef bool print_fn(const struct slope_contexts_view *v, FILE *out);

static struct slope_contexts_options options(const struct slope_profile *p, enum slope_callers_weight by, double similar)
{
	struct slope_contexts_options o = {
		.report = slope_report_defaults(p), .function = SLOPE_CALLERS_ALL, .k = SLOPE_CALLERS_ALL, .similar = similar, .by = by,
	};

	o.report.top = 0;
	return o;
}

/* NULL when memory ran out. */
static char *print(const struct slope_profile *p, const struct slope_contexts_options *o, print_fn *how)
{
	struct slope_contexts_view v;
	char *text = NULL;
	size_t bytes = 0;

	if (!slope_contexts_view_init(&v, p, o))
		return NULL;
	FILE *out = open_memstream(&text, &bytes);
	bool good = out && how(&v, out);

	if (out)
		fclose(out);
	slope_contexts_view_fini(&v);
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

static void lacks(const char *text, const char *part)
{
	if (strstr(text, part))
		fail_msg("unexpected\n%sin\n%s", part, text);
}

static void tree(void **state)
{
	struct slope_profile *p = contexts_profile(0);
	struct slope_contexts_options o;
	char *text;

	(void)state;
	contexts_play(p, INTRODUCTION, 0);
	o = options(p, SLOPE_WEIGHT_CALLS, 0.25);
	text = print(p, &o, slope_contexts_text);
	assert_non_null(text);
	has(text, "contexts calling context tree, 14 nodes, at most 4 calls deep; by calls, paths with 25% of their function's or more\n");
	has(text,
	    "share  of it  calls  self  total  k  function, and below it its callers\n"
	    "28.6%             4    64    113  0  b\n"
	    "21.4%  75.0%      3    46     95  1  ├─ a\n"
	    " 7.1%  25.0%      1    11     23  2  │  ├─ (start)\n"
	    " 7.1%  25.0%      1    15     31  3  │  ├─ d ← (start)\n"
	    " 7.1%  25.0%      1    20     41  3  │  └─ e ← (start)\n"
	    " 7.1%  25.0%      1    18     18  2  └─ e ← (start)\n"
	    "28.6%             4    71     71  0  c\n"
	    "21.4%  75.0%      3    49     49  2  ├─ b ← a\n"
	    " 7.1%  25.0%      1    12     12  3  │  ├─ (start)\n"
	    " 7.1%  25.0%      1    16     16  4  │  ├─ d ← (start)\n"
	    " 7.1%  25.0%      1    21     21  4  │  └─ e ← (start)\n"
	    " 7.1%  25.0%      1    22     22  1  └─ (start)\n"
	    "21.4%             3    43    138  0  a\n");
	has(text, "\n90% of all calls: 5 of 6 functions, 13 of 14 contexts.\n");
	lacks(text, "NOTE");
	lacks(text, "pruned");
	free(text);
	slope_profile_free(p);
}

static void only_what_is_similar(void **state)
{
	struct slope_profile *p = contexts_profile(0);
	struct slope_contexts_options o;
	char *text;

	(void)state;
	contexts_play(p, INTRODUCTION, 0);
	o = options(p, SLOPE_WEIGHT_CALLS, 0.75);
	o.function = trace_function('c');
	o.report.ascii = true;
	text = print(p, &o, slope_contexts_text);
	has(text, "28.6%             4    71     71  0  c\n21.4%  75.0%      3    49     49  2  `- b <- a\n\n");
	free(text);
	o.k = 1;
	text = print(p, &o, slope_contexts_text);
	has(text, "21.4%  75.0%      3    49     49  1  `- b\n\n");
	free(text);
	slope_profile_free(p);
}

static void slabs_say_what_they_do_not_know(void **state)
{
	struct slope_profile *p = contexts_profile(1);
	struct slope_contexts_options o;
	char *text;

	(void)state;
	contexts_play(p, INTRODUCTION, 0);
	p->burst_period_ns = 2000000;
	p->burst_length_ns = 200000;
	o = options(p, SLOPE_WEIGHT_CALLS, 0.5);
	text = print(p, &o, slope_contexts_text);
	has(text, "contexts forest of slabs, k = 1, 15 nodes; by calls");
	has(text, "more than 1 callers are not known");
	has(text, "recorded in bursts of 0.2 ms every 2 ms");
	has(text, "└─ b\n");
	has(text, "9 of 10 contexts of up to 1 callers.");
	free(text);
	text = print(p, &o, slope_contexts_json);
	has(text, "\"recorded\": {\"kind\": \"slabs\", \"k\": 1, \"collapsed\": false, \"sites\": false, "
		  "\"burst\": {\"period_ns\": 2000000, \"length_ns\": 200000}, \"totals\": \"every\"}");
	free(text);
	slope_profile_free(p);
}

/* Long paths that nothing branches from are one line, and long ones of these are cut. */
static void long_paths(void **state)
{
	struct slope_profile *p = contexts_profile(0);
	struct slope_contexts_options o;
	char *text;

	(void)state;
	contexts_play(p, "abcdefghijkl))))))))))))", 0);
	o = options(p, SLOPE_WEIGHT_SELF, 0.1);
	o.report.top = 1;
	text = print(p, &o, slope_contexts_text);
	has(text, "└─ k ← j ← i ← h ← g ← f ← e ← d ← ... ← (start)\n");
	has(text, "11 more, none above");
	free(text);
	slope_profile_free(p);
}

static void sites(void **state)
{
	struct slope_profile *p = contexts_profile(0);
	struct slope_contexts_options o;
	char *text;

	(void)state;
	contexts_play(p, "ab))", 0);
	p->site = calloc(1, sizeof(*p->site));
	p->site[0] = (struct slope_profile_site){ .module = 1, .offset = 0x47, .file = strdup("/home/ada/made.c"), .line = 12 };
	p->site_count = 1;
	p->context[2].site = 0;
	o = options(p, SLOPE_WEIGHT_SELF, 0.1);
	o.function = trace_function('b');
	text = print(p, &o, slope_contexts_text);
	has(text, "└─ a ← (start)\n");
	free(text);
	o.sites = true;
	text = print(p, &o, slope_contexts_text);
	has(text, "└─ a (made.c:12) ← (start)\n");
	free(text);
	text = print(p, &o, slope_contexts_json);
	has(text, "\"callers\": [\"a\"], \"sites\": [{\"file\": \"/home/ada/made.c\", \"line\": 12, \"offset\": 71}]");
	free(text);
	p->site[0].line = 0;
	text = print(p, &o, slope_contexts_text);
	has(text, "└─ a (at 0x47) ← (start)\n");
	free(text);
	slope_profile_free(p);
}

static void statistics(void **state)
{
	struct slope_profile *p = contexts_profile(0);
	struct slope_contexts_options o;
	char *text;

	(void)state;
	contexts_play(p, INTRODUCTION, 0);
	o = options(p, SLOPE_WEIGHT_CALLS, 0.25);
	o.statistics = true;
	text = print(p, &o, slope_contexts_text);
	has(text,
	    "call graph  6 functions, 9 edges\n"
	    "tree        14 nodes, depth 4, of a call 2.1\n"
	    "calls       14\n\n"
	    "  k  k-contexts  hot  forest  pruned  slabs\n"
	    "  0           6    5       6       6      -\n"
	    "  1          10    9      15      13     15\n"
	    "  2          12   11      22      16     18\n"
	    "  3          14   13      27      20     17\n"
	    "all          14   13      29      20     14\n");
	has(text, "    70%     11   78.57%       0.833             0.833\n");
	free(text);
	text = print(p, &o, slope_contexts_json);
	has(text, "{\"k\": 3, \"contexts\": 14, \"hot_contexts\": 13, \"forest\": 27, \"pruned\": 20, \"slabs\": 17}");
	has(text, "{\"similar\": 0.8, \"nodes\": 8, \"trees\": 6, \"mean_depth\": 0.333333, \"hot_depth\": 0.333333}");
	free(text);
	slope_profile_free(p);
}

static void json(void **state)
{
	struct slope_profile *p = contexts_profile(0);
	struct slope_contexts_options o;
	char *text;

	(void)state;
	contexts_play(p, INTRODUCTION, 0);
	o = options(p, SLOPE_WEIGHT_CALLS, 0.25);
	o.function = trace_function('c');
	text = print(p, &o, slope_contexts_json);
	has(text, "\"schema\": \"slope-contexts/1\"");
	has(text, " \"by\": \"calls\",\n \"similar\": 0.25,\n \"k\": null,\n");
	has(text, "\"hot_functions\": 5,\n  \"hot_contexts\": 13\n");
	lacks(text, "by_k");
	has(text,
	    "{\"k\": 2, \"callers\": [\"b\", \"a\"], \"calls\": 3, \"cost\": {\"total\": 49, \"self\": 49}, \"share\": 0.214286, "
	    "\"part\": 0.75, \"whole_stack\": 0, \"longest\": false},\n");
	has(text,
	    "{\"k\": 4, \"callers\": [\"b\", \"a\", \"e\", \"r\"], \"calls\": 1, \"cost\": {\"total\": 21, \"self\": 21}, "
	    "\"share\": 0.0714286, \"part\": 0.25, \"whole_stack\": 1, \"longest\": true},\n");
	free(text);
	slope_profile_free(p);
}

static void memory_may_run_out(void **state)
{
	print_fn *const how[] = { slope_contexts_text, slope_contexts_json };
	struct slope_profile *p = contexts_profile(0);
	struct slope_contexts_options o;

	(void)state;
	contexts_play(p, INTRODUCTION, 0);
	o = options(p, SLOPE_WEIGHT_CALLS, 0.25);
	o.statistics = true;
	for (size_t i = 0; i < 2; i++) {
		size_t failures = 0;
		char *text = NULL;

		for (; !text; failures++) {
			failing_after(failures);
			text = print(p, &o, how[i]);
			failing_never();
		}
		has(text, i ? "\"by_similar\"" : "90%");
		free(text);
		assert_true(failures > 100);
	}
	slope_profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tree),
		cmocka_unit_test(only_what_is_similar),
		cmocka_unit_test(slabs_say_what_they_do_not_know),
		cmocka_unit_test(long_paths),
		cmocka_unit_test(sites),
		cmocka_unit_test(statistics),
		cmocka_unit_test(json),
		cmocka_unit_test(memory_may_run_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
