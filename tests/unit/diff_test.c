/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What diff and check print, from profiles made by hand: JSON and XML are read
 * back by Python's parsers, names cannot command a terminal or break the XML,
 * and memory may run out anywhere.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <unistd.h>

#include "tests/unit/gate_sample.h"

#include "report/diff.h"

#define HOSTILE "evil\033[31m<&\"'>\xff\x01"

struct scene {
	struct slope_profile *old, *now;
	struct slope_compare_options options;
	struct slope_comparison comparison;
	struct slope_rules rules;
	struct slope_rules_options rules_options;
	struct slope_checks checks;
};

static void setup(struct scene *s)
{
	uint64_t state = 3;
	char error[256];

	*s = (struct scene){ .old = gate_profile(4), .now = gate_profile(4) };
	gate_add(s->old, &(struct made){ HOSTILE, { 10, 100, 1, 0 }, 20, 4, 400, 2, 0 }, &state);
	gate_add(s->now, &(struct made){ HOSTILE, { 10, 2, 2, 0 }, 20, 4, 400, 2, 0 }, &state);
	gate_add(s->old, &(struct made){ "dear", { 10, 50, 1, 0 }, 20, 4, 400, 2, 0 }, &state);
	gate_add(s->now, &(struct made){ "dear", { 10, 80, 1, 0 }, 20, 4, 400, 2, 0 }, &state);
	gate_add(s->old, &(struct made){ "went", { 10, 50, 1, 0 }, 20, 4, 400, 2, 0 }, &state);
	gate_add(s->now, &(struct made){ "came", { 10, 50, 1, 0 }, 20, 4, 400, 2, 0 }, &state);
	gate_add(s->old, &(struct made){ "once", { 9e5, 0, 0, 0 }, 1, 7, 7, 2, 0 }, &state);
	gate_add(s->now, &(struct made){ "once", { 9e5, 0, 0, 0 }, 1, 7, 7, 2, 0 }, &state);
	assert_true(slope_compare_defaults(&s->options, s->old, s->now, NULL, SLOPE_METRICS, error, sizeof(error)));
	assert_true(slope_comparison_init(&s->comparison, s->old, s->now, &s->options));
	s->rules_options = (struct slope_rules_options){ .metric = SLOPE_METRIC_TRMS };
	assert_true(slope_rules_add_text(&s->rules, "r", "evil* <= n\ndear <= n\nonce <= n\nnobody <= n\n", error, sizeof(error)));
	assert_true(slope_checks_add_rules(&s->checks, &s->rules, s->now, &s->rules_options));
	assert_true(slope_checks_add_baseline(&s->checks, &s->comparison));
}

static void teardown(struct scene *s)
{
	slope_checks_fini(&s->checks);
	slope_rules_fini(&s->rules);
	slope_comparison_fini(&s->comparison);
	slope_profile_free(s->old);
	slope_profile_free(s->now);
}

static struct slope_diff_view diff_view(const struct scene *s)
{
	return (struct slope_diff_view){ .old = s->old, .now = s->now, .old_path = "a", .now_path = "b", .options = &s->options,
					 .comparison = &s->comparison };
}

static struct slope_check_view check_view(const struct scene *s)
{
	return (struct slope_check_view){ .profile = s->now, .path = "b", .baseline = "a", .options = &s->rules_options,
					  .checks = &s->checks, .result = "error" };
}

/* The printers of this module under one type. */
enum printer { DIFF_TEXT, DIFF_POINTS, DIFF_JSON, CHECK_TEXT, CHECK_JSON, CHECK_JUNIT, PRINTERS };

static bool print(const struct scene *s, enum printer which, FILE *out)
{
	struct slope_diff_view d = diff_view(s);
	struct slope_check_view c = check_view(s);

	d.points = which == DIFF_POINTS;
	switch (which) {
	case DIFF_TEXT:
	case DIFF_POINTS:
		return slope_diff_text(&d, out);
	case DIFF_JSON:
		return slope_diff_json(&d, out);
	case CHECK_TEXT:
		return slope_check_text(&c, out);
	case CHECK_JSON:
		return slope_check_json(&c, out);
	default:
		return slope_check_junit(&c, out);
	}
}

static char *printed(const struct scene *s, enum printer which)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	assert_non_null(out);
	assert_true(print(s, which, out));
	fclose(out);
	return text;
}

static void contains(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("'%s' is not in:\n%s", part, text);
}

/* Python reads the text from its standard input, which `expression` is about. */
static void python(const char *text, const char *expression)
{
	char *command;

	assert_true(asprintf(&command, "python3 -c '%s'", expression) > 0);
	FILE *in = popen(command, "w");

	assert_non_null(in);
	fputs(text, in);
	if (pclose(in))
		fail_msg("failed: %s\n%s", expression, text);
	free(command);
}

static void words_of_a_diff(void **unused)
{
	struct scene s;

	(void)unused;
	setup(&s);
	char *text = printed(&s, DIFF_TEXT);

	contains(text, "Growth is worse:\n  evil?[31m<&\"'>?? (made): growth n -> n^2 (exponent 1.00 -> 2.00), ");
	contains(text, "curves cross at n = 50");
	contains(text, "Costs more at the same size:\n  dear (made): 1.59 times the cost (");
	contains(text, "New:\n  came (made): ");
	contains(text, "Gone:\n  went (made): ");
	assert_null(strchr(text, '\033'));
	assert_null(strstr(text, "once"));
	free(text);
	teardown(&s);
}

static void top_leaves_out(void **unused)
{
	struct scene s;
	struct slope_diff_view v;
	char *text = NULL;
	size_t bytes = 0;

	(void)unused;
	setup(&s);
	s.comparison.entry[0].growth = s.comparison.entry[1].growth = 1;
	v = diff_view(&s);
	v.top = 1;
	v.color = true;
	v.result = "fail";
	FILE *out = open_memstream(&text, &bytes);

	assert_true(slope_diff_text(&v, out));
	fclose(out);
	contains(text, "  1 more (--top=0 shows all)");
	contains(text, "gate: fail");
	contains(text, "\033[1;31m");
	free(text);
	teardown(&s);
}

static void json_of_a_diff(void **unused)
{
	struct scene s;

	(void)unused;
	setup(&s);
	char *text = printed(&s, DIFF_JSON);

	python(text, "import json, sys\n"
		     "j = json.load(sys.stdin)\n"
		     "assert j[\"schema\"] == \"slope-diff/1\"\n"
		     "f = {x[\"name\"][:4]: x for x in j[\"functions\"]}\n"
		     "assert f[\"evil\"][\"change\"][\"growth\"] == \"worse\" and f[\"dear\"][\"change\"][\"cost\"] == \"worse\"\n"
		     "assert f[\"came\"][\"old\"] is None and f[\"went\"][\"new\"] is None\n"
		     "assert abs(f[\"dear\"][\"ratio\"][\"mean\"] - 1.6) < 0.01\n"
		     "assert len(f[\"dear\"][\"new\"][\"points\"]) > 15\n"
		     "assert \"once\" not in f\n");
	free(text);
	teardown(&s);
}

static void words_of_a_check(void **unused)
{
	struct scene s;

	(void)unused;
	setup(&s);
	char *text = printed(&s, CHECK_TEXT);

	contains(text, "FAIL          evil* <= n: evil?[31m<&\"'>?? (made) grows like n^2");
	contains(text, "PASS          dear <= n: grows like n ");
	contains(text, "INCONCLUSIVE  once <= n: too few sizes (n = 7 alone)\n              run inputs");
	contains(text, "MISSING       nobody <= n: no function");
	contains(text, "FAIL          no worse than a: evil");
	contains(text, "PASS          no worse than a: dear");
	contains(text, "2 passed, 2 failed, 1 inconclusive, 1 without a function");
	assert_null(strchr(text, '\033'));
	free(text);
	teardown(&s);
}

static void json_of_a_check(void **unused)
{
	struct scene s;

	(void)unused;
	setup(&s);
	char *text = printed(&s, CHECK_JSON);

	python(text, "import json, sys\n"
		     "j = json.load(sys.stdin)\n"
		     "assert j[\"schema\"] == \"slope-check/1\" and j[\"baseline\"] == \"a\"\n"
		     "o = [c[\"outcome\"] for c in j[\"checks\"]]\n"
		     "assert o == [\"fail\", \"pass\", \"inconclusive\", \"missing\", \"fail\", \"pass\"], o\n"
		     "assert j[\"counts\"] == {\"pass\": 2, \"fail\": 2, \"inconclusive\": 1, \"missing\": 1, "
		     "\"unjudged\": 2, \"unclear\": 0}, "
		     "j[\"counts\"]\n"
		     "assert j[\"checks\"][3][\"function\"] is None and j[\"checks\"][4][\"rule\"] is None\n");
	free(text);
	teardown(&s);
}

static void junit_is_xml(void **unused)
{
	struct scene s;

	(void)unused;
	setup(&s);
	char *text = printed(&s, CHECK_JUNIT);

	python(text, "import sys, xml.etree.ElementTree as xml\n"
		     "suite = xml.fromstring(sys.stdin.buffer.read())[0]\n"
		     "assert [len(c) and c[0].tag for c in suite] == "
		     "[\"failure\", 0, \"skipped\", \"error\", \"failure\", 0]\n"
		     "a = suite.attrib\n"
		     "assert (a[\"tests\"], a[\"failures\"], a[\"errors\"], a[\"skipped\"]) == (\"6\", \"2\", \"1\", \"1\"), a\n"
		     "assert suite[0].attrib[\"name\"].startswith(\"evil?[31m<&\"), suite[0].attrib\n"
		     "assert \"n^2\" in suite[0][0].attrib[\"message\"]\n");
	free(text);
	teardown(&s);
}

static void memory_may_run_out(void **unused)
{
	struct scene s;

	(void)unused;
	setup(&s);
	for (int which = 0; which < PRINTERS; which++) {
		bool good = false;

		for (size_t allowed = 0; !good; allowed++) {
			FILE *out = fopen("/dev/null", "w");

			setvbuf(out, NULL, _IONBF, 0);
			failing_after(allowed);
			good = print(&s, (enum printer)which, out);
			failing_never();
			fclose(out);
			assert_true(allowed < 5000);
		}
	}
	teardown(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_of_a_diff),
		cmocka_unit_test(top_leaves_out),
		cmocka_unit_test(json_of_a_diff),
		cmocka_unit_test(words_of_a_check),
		cmocka_unit_test(json_of_a_check),
		cmocka_unit_test(junit_is_xml),
		cmocka_unit_test(memory_may_run_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
