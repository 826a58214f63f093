/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/clip.h"

static void expect(char *clipped, const char *expected)
{
	assert_non_null(clipped);
	assert_string_equal(clipped, expected);
	free(clipped);
}

static void test_utf8_next(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		uint32_t c;
		unsigned bytes;
	} cases[] = {
		{ "a", 'a', 1 }, { "\xc3\xa4", 0xE4, 2 }, { "\xe2\x82\xac", 0x20AC, 3 }, { "\xf0\x9f\x98\x80", 0x1F600, 4 },
		{ "\x80", 0xFFFD, 1 }, { "\xc3", 0xFFFD, 1 }, { "\xe2\x82", 0xFFFD, 1 }, { "\xc0\xaf", 0xFFFD, 1 },
		{ "\xe0\x80\x80", 0xFFFD, 1 }, { "\xed\xa0\x80", 0xFFFD, 1 }, { "\xf4\x90\x80\x80", 0xFFFD, 1 },
		{ "\xff", 0xFFFD, 1 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		unsigned bytes;

		assert_int_equal(slope_utf8_next(cases[i].text, &bytes), cases[i].c);
		assert_int_equal(bytes, cases[i].bytes);
	}
}

static void test_columns(void **state)
{
	(void)state;
	assert_int_equal(slope_clip_columns(""), 0);
	assert_int_equal(slope_clip_columns("plain"), 5);
	assert_int_equal(slope_clip_columns("gr\xc3\xbc\xc3\x9f"), 4);
	assert_int_equal(slope_clip_columns("\xe5\x87\xbd\xe6\x95\xb0"), 4);
	assert_int_equal(slope_clip_columns("e\xcc\x81"), 1);
	assert_int_equal(slope_clip_columns("\x1b[2J\xff"), 5);
}

static void test_middle_goes(void **state)
{
	(void)state;
	expect(slope_clip_middle("begin_middle_end", 16), "begin_middle_end");
	expect(slope_clip_middle("begin_middle_end", 13), "begi...le_end");
	expect(slope_clip_middle("begin_middle_end", 3), "beg");
	expect(slope_clip_middle("begin_middle_end", 0), "");
}

static void test_terminal_is_not_commanded(void **state)
{
	(void)state;
	expect(slope_clip_middle("a\x1b[31mb\x7f\xc2\x9b\xff" "c\n", 100), "a?[31mb???c?");
	expect(slope_clip_middle("x\xe2\x80\xaey", 100), "x?y");
}

/* No character is cut in two and no width is exceeded, wherever the cut falls. */
static void test_any_width_of_any_text(void **state)
{
	(void)state;
	static const char *const texts[] = {
		"\xe5\x87\xbd\xe6\x95\xb0\xe5\x90\x8d\xe7\xa7\xb0\xe5\x87\xbd\xe6\x95\xb0",
		"gr\xc3\xbc\xc3\x9f" "e_an_alle_gr\xc3\xbc\xc3\x9f" "e",
		"\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80",
		"a\xcc\x81\xcc\x81\xcc\x81" "bcdefgh",
		"std::map<int, int>::at(int const&) const",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		for (size_t columns = 0; columns < 50; columns++) {
			char *clipped = slope_clip_name(texts[i], columns);

			assert_non_null(clipped);
			assert_true(slope_clip_columns(clipped) <= columns);
			assert_null(strchr(clipped, '?'));
			free(clipped);
		}
	}
}

static void test_names_lose_parameters_first(void **state)
{
	(void)state;
	static const char name[] = "ns::Tree<int, std::less<int> >::insert(int const&, bool) const";

	expect(slope_clip_name(name, 62), name);
	expect(slope_clip_name(name, 61), "ns::Tree<int, std::less<int> >::insert(...) const");
	expect(slope_clip_name(name, 40), "ns::Tree<...>::insert(...) const");
	expect(slope_clip_name(name, 30), "ns::Tree<...>::insert const");
	expect(slope_clip_name(name, 25), "ns::Tree::insert const");
	expect(slope_clip_name(name, 20), "ns::Tr...nsert const");
}

static void test_operators_are_no_brackets(void **state)
{
	(void)state;
	expect(slope_clip_name("Point::operator<<(Stream&, Point const&)", 30), "Point::operator<<(...)");
	expect(slope_clip_name("Handle<VeryLongTypeName>::operator->() const", 36), "Handle<...>::operator->() const");
	expect(slope_clip_name("(anonymous namespace)::work(int, int)", 33), "(anonymous namespace)::work(...)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_utf8_next),
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_middle_goes),
		cmocka_unit_test(test_terminal_is_not_commanded),
		cmocka_unit_test(test_any_width_of_any_text),
		cmocka_unit_test(test_names_lose_parameters_first),
		cmocka_unit_test(test_operators_are_no_brackets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
