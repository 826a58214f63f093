/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/table.h"

static const struct slope_table_column columns[] = { { "calls", true, 0 }, { "function", false, 8 }, { "where", false, 5 } };

static void expect_table(unsigned width, bool color, const char *expected)
{
	struct slope_table t;
	char *text;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	slope_table_init(&t, columns, 3);
	slope_table_add(&t, SLOPE_STYLE_PLAIN, "%d", 7);
	slope_table_add(&t, SLOPE_STYLE_HOT, "gr\xc3\xbc\xc3\x9f" "e");
	slope_table_add(&t, SLOPE_STYLE_DIM, "a.c:1");
	slope_table_add(&t, SLOPE_STYLE_PLAIN, "123456");
	slope_table_add(&t, SLOPE_STYLE_PLAIN, "work(int, char const*)");
	slope_table_add(&t, SLOPE_STYLE_PLAIN, "file.c:1234");
	assert_true(slope_table_print(&t, width, color, out));
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
	slope_table_fini(&t);
}

static void test_columns_are_aligned(void **state)
{
	(void)state;
	expect_table(0, false,
		     " calls  function                where\n"
		     "     7  gr\xc3\xbc\xc3\x9f" "e                   a.c:1\n"
		     "123456  work(int, char const*)  file.c:1234\n");
}

static void test_pipes_get_everything(void **state)
{
	(void)state;
	static const char name[] = "a_name_of_more_than_forty_columns_that_is_not_cut";
	struct slope_table t;
	char *text;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	slope_table_init(&t, columns, 3);
	slope_table_add(&t, SLOPE_STYLE_PLAIN, "1");
	slope_table_add(&t, SLOPE_STYLE_PLAIN, "%s", name);
	slope_table_add(&t, SLOPE_STYLE_PLAIN, "a.c:1");
	assert_true(slope_table_print(&t, 0, false, out));
	fclose(out);
	assert_string_equal(text, "calls  function                                  where\n"
				  "    1  a_name_of_more_than_forty_columns_that_is_not_cut  a.c:1\n");
	free(text);
	slope_table_fini(&t);
}

static void test_widest_column_gives_first(void **state)
{
	(void)state;
	expect_table(32, false,
		     " calls  function   where\n"
		     "     7  gr\xc3\xbc\xc3\x9f" "e      a.c:1\n"
		     "123456  work(...)  file.c:1234\n");
}

static void test_columns_stop_at_their_least(void **state)
{
	(void)state;
	expect_table(10, false,
		     " calls function where\n"
		     "     7 gr\xc3\xbc\xc3\x9f" "e    a.c:1\n"
		     "123456 work     ...34\n");
}

static void test_colour_takes_no_columns(void **state)
{
	(void)state;
	expect_table(0, true,
		     " \033[1mcalls\033[0m  \033[1mfunction\033[0m                \033[1mwhere\033[0m\n"
		     "     7  \033[1;31mgr\xc3\xbc\xc3\x9f" "e\033[0m                   \033[2ma.c:1\033[0m\n"
		     "123456  work(int, char const*)  file.c:1234\n");
}

static void test_numbers_take_five_columns(void **state)
{
	(void)state;
	static const struct {
		uint64_t number;
		const char *text;
	} cases[] = {
		{ 0, "0" }, { 999, "999" }, { 1000, "1.00k" }, { 1234, "1.23k" }, { 9994, "9.99k" }, { 9996, "10.0k" },
		{ 99940, "99.9k" }, { 99960, "100k" }, { 999499, "999k" }, { 999501, "1.00M" },
		{ 12345678, "12.3M" }, { UINT64_MAX, "18.4E" },
	};
	char text[8];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(slope_table_number(cases[i].number, text), cases[i].text);
}

static void test_numbers_need_not_be_whole(void **state)
{
	static const struct {
		double number;
		const char *text;
	} cases[] = {
		{ 0, "0" }, { 0.05, "0.05" }, { 0.99871, "0.999" }, { 2.5, "2.5" }, { 7, "7" }, { 12.34, "12.3" }, { 99.94, "99.9" },
		{ 99.96, "100" }, { 100.4, "100" }, { 999.6, "1.00k" }, { 1234, "1.23k" }, { 1e18, "1.00E" }, { 1e20, "1e+20" },
		{ NAN, "-" }, { INFINITY, "inf" },
	};
	char text[SLOPE_TABLE_REAL];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(slope_table_real(cases[i].number, text), cases[i].text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_columns_are_aligned),
		cmocka_unit_test(test_pipes_get_everything),
		cmocka_unit_test(test_widest_column_gives_first),
		cmocka_unit_test(test_columns_stop_at_their_least),
		cmocka_unit_test(test_colour_takes_no_columns),
		cmocka_unit_test(test_numbers_take_five_columns),
		cmocka_unit_test(test_numbers_need_not_be_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
