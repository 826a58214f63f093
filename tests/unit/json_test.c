/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/json.h"

struct page {
	FILE *out;
	char *text;
	size_t bytes;
	struct slope_json j;
};

static void page_open(struct page *page)
{
	page->out = open_memstream(&page->text, &page->bytes);
	assert_non_null(page->out);
	slope_json_init(&page->j, page->out);
}

static void page_expect(struct page *page, const char *expected)
{
	fclose(page->out);
	assert_string_equal(page->text, expected);
	free(page->text);
}

static void test_nesting_and_commas(void **state)
{
	(void)state;
	struct page page;

	page_open(&page);
	slope_json_object(&page.j, NULL, false);
	slope_json_uint(&page.j, "a", UINT64_MAX);
	slope_json_int(&page.j, "b", INT64_MIN);
	slope_json_array(&page.j, "empty", false);
	slope_json_end(&page.j);
	slope_json_array(&page.j, "list", true);
	slope_json_bool(&page.j, NULL, true);
	slope_json_null(&page.j, NULL);
	slope_json_object(&page.j, NULL, false);
	slope_json_bool(&page.j, "x", false);
	slope_json_end(&page.j);
	slope_json_end(&page.j);
	slope_json_end(&page.j);
	page_expect(&page, "{\n \"a\": 18446744073709551615,\n \"b\": -9223372036854775808,\n \"empty\": [],\n"
			   " \"list\": [true, null, {\"x\": false}]\n}\n");
}

static void test_text_is_escaped(void **state)
{
	(void)state;
	struct page page;

	page_open(&page);
	slope_json_array(&page.j, NULL, true);
	slope_json_string(&page.j, NULL, "a\"b\\c\n\t\r\x01\x7f");
	slope_json_string(&page.j, NULL, "gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80");
	slope_json_string(&page.j, NULL, "\xff" "cut\xc3");
	slope_json_string(&page.j, NULL, NULL);
	slope_json_end(&page.j);
	page_expect(&page, "[\"a\\\"b\\\\c\\n\\t\\u000d\\u0001\\u007f\", \"gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80\", "
			   "\"\\ufffdcut\\ufffd\", null]\n");
}

static void test_numbers(void **state)
{
	(void)state;
	struct page page;

	page_open(&page);
	slope_json_array(&page.j, NULL, true);
	slope_json_real(&page.j, NULL, 0.25);
	slope_json_real(&page.j, NULL, 1.0 / 3);
	slope_json_real(&page.j, NULL, NAN);
	slope_json_real(&page.j, NULL, INFINITY);
	slope_json_uint128(&page.j, NULL, 0, 0);
	slope_json_uint128(&page.j, NULL, 1, 0);
	slope_json_uint128(&page.j, NULL, UINT64_MAX, UINT64_MAX);
	slope_json_end(&page.j);
	page_expect(&page, "[0.25, 0.333333, null, null, 0, 18446744073709551616, 340282366920938463463374607431768211455]\n");
}

static void test_numbers_that_can_be_read_back(void **state)
{
	(void)state;
	static const double number[] = { 5, 0.1, 2.0 / 3, 1.0 / 3, 123456789012345, 1e300, 18446744073709551616.0, 0, NAN };
	struct page page;

	page_open(&page);
	slope_json_array(&page.j, NULL, true);
	for (size_t i = 0; i < sizeof(number) / sizeof(number[0]); i++)
		slope_json_double(&page.j, NULL, number[i]);
	slope_json_end(&page.j);
	page_expect(&page, "[5, 0.1, 0.6666666666666666, 0.3333333333333333, 123456789012345, 1e+300, "
			   "1.8446744073709552e+19, 0, null]\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nesting_and_commas),
		cmocka_unit_test(test_text_is_escaped),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_numbers_that_can_be_read_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
