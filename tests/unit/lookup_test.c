/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions by what a person types. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/lookup.h"
#include "tests/unit/failing.h"

static struct slope_profile_module module[] = {
	{ .path = "" }, { .path = "/home/ada/wf" }, { .path = "/usr/lib/libc.so.6" },
		{ .path = "/usr/lib/libcount.so" },
};

static struct slope_profile_function function[] = {
	{ .name = "(thread)" },
	{ .module = 1, .offset = 0x10, .raw_name = "main", .name = "main", .file = "/src/wf.c", .line = 80 },
	{ .module = 1, .offset = 0x20, .raw_name = "str_tolower", .name = "str_tolower", .file = "/src/wf.c",
		.line = 12 },
	{ .module = 1, .offset = 0x30, .raw_name = "_ZN3set4findEi", .name = "set<int>::find(int const&) const",
	  .file = "/src/set.h", .line = 5 },
	{ .module = 1, .offset = 0x40, .raw_name = "helper", .name = "helper", .file = "/src/a.c", .line = 3 },
	{ .module = 1, .offset = 0x50, .raw_name = "helper", .name = "helper", .file = "/src/b.c", .line = 9 },
	{ .module = 2, .offset = 0x60, .raw_name = "_start", .name = "_start" },
	{ .module = 1, .offset = 0x70, .raw_name = "_start", .name = "_start" },
	{ .module = 2, .offset = 0x80, .name = "libc.so.6+0x80" },
	{ .module = 1, .offset = 0x90, .raw_name = "idle", .name = "idle" },
	{ .module = 3, .offset = 0xa0, .raw_name = "strlen", .name = "strlen" },
	{ .module = 1, .offset = 0xb0, .raw_name = "_ZN3setclEv", .name = "set<int>::operator()(int)" },
	{ .module = 1, .offset = 0xc0, .raw_name = "cold", .name = "helper" },
	{ .module = 1, .offset = 0xd0, .raw_name = "cold", .name = "helper" },
	{ .module = 1, .offset = 0xe0, .raw_name = "memcpy@GLIBC", .name = "memcpy@GLIBC" },
};

#define FUNCTIONS (sizeof(function) / sizeof(*function))

/* All but idle have run; costs fall with the number, but str_tolower ran in two threads. */
static struct slope_profile_row row[FUNCTIONS + 1];
static struct slope_profile profile;

static struct slope_profile *sample(void)
{
	size_t count = 0;

	for (uint32_t f = 0; f < FUNCTIONS; f++) {
		if (!strcmp(function[f].name, "idle"))
			continue;
		row[count++] = (struct slope_profile_row){ .function = f, .thread = 0, .total = { 1000 - f } };
		if (f == 2)
			row[count++] = (struct slope_profile_row){ .function = f, .thread = 1, .total = { 500 } };
	}
	profile = (struct slope_profile){ .units = 1, .module = module, .module_count = 4, .function = function,
					  .function_count = FUNCTIONS, .row = row, .row_count = count };
	return &profile;
}

/* The functions that the text finds, as their numbers: "2 5 ". */
static void expect(const char *typed, const char *found)
{
	struct slope_lookup l;
	char text[128] = "";

	assert_true(slope_lookup_init(&l, sample(), typed, 0));
	for (size_t i = 0; i < l.count; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%u ", (unsigned)l.match[i].function);
	slope_lookup_fini(&l);
	if (strcmp(text, found))
		fail_msg("'%s' finds %snot %s", typed, text, found);
}

static void test_names(void **state)
{
	(void)state;
	expect("main", "1 ");
	expect("_ZN3set4findEi", "3 ");
	expect("set<int>::find(int const&) const", "3 ");
	expect("set<int>::find", "3 ");
	expect("find", "3 ");
	expect("operator()", "11 ");
	expect("set<int>::operator()", "11 ");
	expect("libc.so.6+0x80", "8 ");
	expect("wf+0x20", "2 ");
	expect("memcpy@GLIBC", "14 ");
	expect("idle", "");
	expect("(thread)", "");
	expect("", "");
}

static void test_globs_and_parts(void **state)
{
	(void)state;
	expect("str*", "2 10 ");
	expect("?ain", "1 ");
	expect("tolow", "2 ");
	expect("TOLOW", "2 ");
	expect("str", "2 10 ");             /* the most costly first: two threads add up */
	expect("nothing*", "");
}

static void test_an_exact_name_beats_its_parts(void **state)
{
	(void)state;
	function[9].name = "main_loop";
	expect("main", "1 ");
	function[9].name = "idle";
}

static void test_modules_and_files(void **state)
{
	(void)state;
	expect("_start", "6 7 ");
	expect("wf:_start", "7 ");
	expect("libc:_start", "6 ");        /* libcount is another module */
	expect("libc.so.6:_start", "6 ");
	expect("lib*:strlen", "10 ");
	expect("libc:strlen", "");
	expect("helper", "4 5 12 13 ");
	expect("helper@b.c", "5 ");
	expect("helper@b.c:9", "5 ");
	expect("helper@src/b.c:9", "5 ");
	expect("helper@b.c:10", "");
	expect("wf:helper@a.c:3", "4 ");
	expect("wf:tolow", "2 ");
	expect("@set.h", "3 ");
	expect("wf:set<int>::find", "3 ");
}

static void expect_near(const char *typed, const char *first)
{
	struct slope_lookup l;

	assert_true(slope_lookup_init(&l, sample(), typed, 0));
	assert_int_equal(l.count, 0);
	assert_int_equal(l.nears > 0, first != NULL);
	if (first)
		assert_string_equal(function[l.near[0]].name, first);
	slope_lookup_fini(&l);
}

static void test_near_names(void **state)
{
	(void)state;
	expect_near("str_tolwoer", "str_tolower");
	expect_near("strtolower", "str_tolower");
	expect_near("STRLENN", "strlen");
	expect_near("wf:mian", "main");
	expect_near("fnid", "set<int>::find(int const&) const");
	expect_near("qqqqqqqqqqqq", NULL);
}

static void test_handles_find_one(void **state)
{
	(void)state;
	static const struct {
		uint32_t function;
		const char *handle;
	} cases[] = {
		{ 1, "main" }, { 6, "libc.so.6:_start" }, { 7, "wf:_start" }, { 4, "helper@a.c:3" },
			{ 8, "libc.so.6+0x80" },
		{ 12, "wf+0xc0" }, { 13, "wf+0xd0" }, { 3, "set<int>::find(int const&) const" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *handle = slope_lookup_handle(sample(), cases[i].function), number[16];

		assert_string_equal(handle, cases[i].handle);
		snprintf(number, sizeof(number), "%u ", (unsigned)cases[i].function);
		expect(handle, number);
		free(handle);
	}
}

static void test_memory_may_run_out(void **state)
{
	(void)state;
	struct slope_lookup l;
	bool whole = false;
	char *handle = NULL;

	sample();
	for (size_t k = 0; !whole; k++) {
		assert_true(k < 10);
		failing_after(k);
		whole = slope_lookup_init(&l, &profile, "main", 0);
		failing_never();
		assert_int_equal(l.count, whole);
	}
	slope_lookup_fini(&l);
	for (size_t k = 0; k < 20; k++) {
		failing_after(k);
		handle = slope_lookup_handle(&profile, 4);
		failing_never();
		free(handle);
	}
	assert_non_null(handle);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_globs_and_parts),
		cmocka_unit_test(test_an_exact_name_beats_its_parts),
		cmocka_unit_test(test_modules_and_files),
		cmocka_unit_test(test_near_names),
		cmocka_unit_test(test_handles_find_one),
		cmocka_unit_test(test_memory_may_run_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
