/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/match.h"

static void patterns_mean_functions(void **state)
{
	struct slope_profile_function f = { .name = "std::map<int, char*>::find(int const&) const",
					    .raw_name = "_ZNK3map4findE" };
	struct slope_profile_function call = { .name = "job::operator()(int)", .raw_name = "_ZN3jobclEi" };
	struct slope_profile_function hidden = { .name = "(anonymous namespace)::walk", .raw_name = "walk" };
	struct slope_profile_function nameless = { 0 };

	(void)state;
	assert_true(slope_match_function("std::map<int, char*>::find", &f));
	assert_true(slope_match_function("std::map<int, char*>::find(int const&) const", &f));
	assert_true(slope_match_function("*::find", &f));
	assert_true(slope_match_function("_ZNK*", &f));
	assert_false(slope_match_function("find", &f));
	assert_false(slope_match_function("std::map", &f));
	assert_true(slope_match_function("job::operator()", &call));
	assert_true(slope_match_function("(anonymous namespace)::walk", &hidden));
	assert_true(slope_match_function("walk", &hidden));
	assert_false(slope_match_function("*", &nameless));
}

/* A name, and how much of it is left without parameters. */
static void parameters_end_a_name(void **state)
{
	static const struct {
		const char *name, *bare;
	} cases[] = {
		{ "", "" },
		{ "main", "main" },
		{ "find(int)", "find" },
		{ "set<int>::find(int const&) const", "set<int>::find" },
		{ "set<int>::find() const &", "set<int>::find" },
		{ "set<int>::take() &&", "set<int>::take" },
		{ "work(void (*)(int), int) [clone .part.0]", "work" },
		{ "work(int) const [clone .cold]", "work" },
		{ "work [clone .cold]", "work [clone .cold]" },
		{ "job::operator()", "job::operator()" },
		{ "job::operator()(int)", "job::operator()" },
		{ "operator&", "operator&" },
		{ "std::function<void (int)>::swap", "std::function<void (int)>::swap" },
		{ "std::function<void (int)>::swap(int)", "std::function<void (int)>::swap" },
		{ "main::{lambda(int)#1}::operator()(int) const", "main::{lambda(int)#1}::operator()" },
		{ "(anonymous namespace)::walk(int)", "(anonymous namespace)::walk" },
		{ "(anonymous namespace)", "(anonymous namespace)" },
		{ "(int)", "(int)" },
		{ "odd)", "odd)" },
		{ "odd]", "odd]" },
		{ "vector[int]", "vector[int]" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		if (slope_match_bare(cases[i].name) != strlen(cases[i].bare))
			fail_msg("'%s' is left as '%.*s'", cases[i].name, (int)slope_match_bare(cases[i].name), cases[i].name);
}

static void globs_fit_what_they_say_and_themselves(void **state)
{
	(void)state;
	assert_true(slope_match_is_glob("a*"));
	assert_true(slope_match_is_glob("?"));
	assert_true(slope_match_is_glob("[ab]"));
	assert_false(slope_match_is_glob("set<int>::find(int)"));
	assert_true(slope_match_text("operator*", "operator*"));
	assert_true(slope_match_text("[x]", "[x]"));
	assert_true(slope_match_text("a?c", "abc"));
	assert_false(slope_match_text("b", "abc"));
}

static void a_filter_may_stand_anywhere(void **state)
{
	(void)state;
	assert_true(slope_match_filter(NULL, "main"));
	assert_true(slope_match_filter("", "main"));
	assert_true(slope_match_filter("ai", "main"));
	assert_false(slope_match_filter("AI", "main"));
	assert_true(slope_match_filter("m*", "main"));
	assert_false(slope_match_filter("a*", "main"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patterns_mean_functions),
		cmocka_unit_test(parameters_end_a_name),
		cmocka_unit_test(globs_fit_what_they_say_and_themselves),
		cmocka_unit_test(a_filter_may_stand_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
