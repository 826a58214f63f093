/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/words.h"

static void letters_are_counted(void **state)
{
	static const struct {
		const char *a, *b;
		unsigned apart;
	} cases[] = {
		{ "report", "report", 0 }, { "", "", 0 }, { "", "abc", 3 }, { "reprt", "report", 1 }, { "reports", "report", 1 },
		{ "repart", "report", 1 }, { "reprot", "report", 1 }, { "REPORT", "report", 0 }, { "rprot", "report", 2 },
		{ "abc", "xyz", 3 }, { "kitten", "sitting", 3 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(slope_word_distance(cases[i].a, cases[i].b), cases[i].apart);
		assert_int_equal(slope_word_distance(cases[i].b, cases[i].a), cases[i].apart);
	}
}

static void long_words_have_an_end(void **state)
{
	char a[4096], b[4096];

	(void)state;
	memset(a, 'a', sizeof(a) - 1);
	memset(b, 'b', sizeof(b) - 1);
	a[sizeof(a) - 1] = b[sizeof(b) - 1] = '\0';
	assert_int_equal(slope_word_distance(a, b), SLOPE_WORD_MOST);
	assert_int_equal(slope_word_distance(a, a), 0);
	assert_false(slope_word_near(a, slope_word_distance(a, "report")));
}

static void near_depends_on_the_length(void **state)
{
	(void)state;
	assert_true(slope_word_near("ls", 1));
	assert_false(slope_word_near("ls", 2));
	assert_true(slope_word_near("reprot", 2));
	assert_false(slope_word_near("reprot", 3));
	assert_true(slope_word_near("str_tolwoer", 3));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(letters_are_counted),
		cmocka_unit_test(long_words_have_an_end),
		cmocka_unit_test(near_depends_on_the_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
