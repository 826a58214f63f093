/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The option parser: every form that it takes, and that wrong ones change nothing but say so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/list.h"
#include "cli/options.h"

#define WORDS_MAX 12

struct answers {
	bool flag;
	const char *text;
	uint64_t number;
	unsigned choice;
	struct slope_list list;
	char *word[WORDS_MAX + 1];   /* operands from 1 on */
	int count;
};

static enum slope_parsed parse(struct answers *a, bool stop, const char *line)
{
	const struct slope_option option[] = {
		{ "flag", 'f', SLOPE_OPTION_FLAG, &a->flag, NULL, "a flag", 0, 0 },
		{ "text", 't', SLOPE_OPTION_TEXT, &a->text, "TEXT", "a text", 0, 0 },
		{ "number", 'n', SLOPE_OPTION_NUMBER, &a->number, "N", "a number", 2, 1 << 20 },
		{ "choice", 0, SLOPE_OPTION_CHOICE, &a->choice, "one|two|three", "a choice", 0, 0 },
		{ "list", 0, SLOPE_OPTION_LIST, &a->list, "WORD", "a list", 0, 0 },
		{ 0 },
	};
	const struct slope_usage usage = { "slope test", "[options] [FILE]", "Tests.", option, stop };
	static char words[200];

	*a = (struct answers){ .text = "none", .number = 7, .word = { "test" }, .count = 1 };
	snprintf(words, sizeof words, "%s", line);
	for (char *word = strtok(words, " "); word && a->count < WORDS_MAX; word = strtok(NULL, " "))
		a->word[a->count++] = word;
	return slope_options_parse(&usage, &a->count, a->word);
}

static void every_form_of_an_option_is_taken(void **state)
{
	static const char *const line[] = {
		"--flag --text=x --number=1k --choice=two a b", "-f -tx -n1k --choice two a b",
		"a -ft x -n 1k b --choice=two", "-t x --number 1024 --flag --choice=two -- a b",
	};
	struct answers a;

	(void)state;
	for (size_t i = 0; i < sizeof line / sizeof *line; i++) {
		assert_int_equal(parse(&a, false, line[i]), SLOPE_PARSED);
		assert_true(a.flag);
		assert_string_equal(a.text, "x");
		assert_int_equal(a.number, 1024);
		assert_int_equal(a.choice, 1);
		assert_int_equal(a.count, 3);
		assert_string_equal(a.word[1], "a");
		assert_string_equal(a.word[2], "b");
		assert_null(a.word[3]);
	}
}

static void defaults_stay_and_lists_grow(void **state)
{
	struct answers a;

	(void)state;
	assert_int_equal(parse(&a, false, "--list=a --list b -"), SLOPE_PARSED);
	assert_string_equal(a.text, "none");
	assert_int_equal(a.number, 7);
	assert_int_equal(a.list.count, 2);
	assert_string_equal(a.list.text[1], "b");
	assert_string_equal(a.word[1], "-");
	slope_list_fini(&a.list);
}

static void a_program_keeps_its_own_options(void **state)
{
	struct answers a;

	(void)state;
	assert_int_equal(parse(&a, true, "-f prog -f --text=x --help"), SLOPE_PARSED);
	assert_true(a.flag);
	assert_string_equal(a.text, "none");
	assert_int_equal(a.count, 5);
	assert_string_equal(a.word[4], "--help");
	assert_int_equal(parse(&a, true, "-- -f"), SLOPE_PARSED);
	assert_false(a.flag);
	assert_string_equal(a.word[1], "-f");
}

static void wrong_words_are_refused(void **state)
{
	static const char *const line[] = {
		"--fla", "-x", "-fx", "--flag=yes", "--help=flag", "--text", "-t", "--number=", "--number=1", "--number=2M",
		"--number=-3", "--number=3x", "--number=99999999999999999999", "--number=17179869184G", "--choice=on", "--choice=",
	};
	struct answers a;

	(void)state;
	for (size_t i = 0; i < sizeof line / sizeof *line; i++)
		if (parse(&a, false, line[i]) != SLOPE_PARSED_WRONG)
			fail_msg("taken: %s", line[i]);
	assert_int_equal(a.number, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_form_of_an_option_is_taken),
		cmocka_unit_test(defaults_stay_and_lists_grow),
		cmocka_unit_test(a_program_keeps_its_own_options),
		cmocka_unit_test(wrong_words_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
