/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/options.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/words.h"
#include "cli/list.h"
#include "cli/messages.h"

#define WORD_MAX 32u
#define HELP_COLUMN 26

static const struct slope_option *find_long(const struct slope_usage *usage, const char *name, size_t length)
{
	for (const struct slope_option *o = usage->option; o->name; o++)
		if (strlen(o->name) == length && !strncmp(o->name, name, length))
			return o;
	return NULL;
}

static const struct slope_option *find_letter(const struct slope_usage *usage, char letter)
{
	for (const struct slope_option *o = usage->option; o->name; o++)
		if (o->letter == letter)
			return o;
	return NULL;
}

static enum slope_parsed unknown_long(const struct slope_usage *usage, const char *name, size_t length)
{
	char typed[WORD_MAX + 1];
	const char *best = "help";

	snprintf(typed, sizeof typed, "%.*s", (int)length, name);
	if (!strcmp(typed, best)) {
		slope_say("--%s takes no value", best);
		return SLOPE_PARSED_WRONG;
	}
	for (const struct slope_option *o = usage->option; o->name; o++)
		if (o->text && slope_word_distance(typed, o->name) < slope_word_distance(typed, best))
			best = o->name;
	if (length <= WORD_MAX && slope_word_near(typed, slope_word_distance(typed, best)))
		slope_say("unknown option --%s; did you mean --%s?", typed, best);
	else
		slope_say("unknown option --%.*s; '%s --help' lists the options", (int)length, name, usage->command);
	return SLOPE_PARSED_WRONG;
}

bool slope_options_number(const char *text, uint64_t *number)
{
	static const char suffixes[] = "kMG";
	char *end;
	unsigned long long n;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	n = strtoull(text, &end, 10);
	if (errno)
		return false;
	const char *suffix = *end ? strchr(suffixes, *end) : NULL;

	if (suffix) {
		unsigned shift = 10u * (unsigned)(suffix - suffixes + 1);

		if (n > UINT64_MAX >> shift)
			return false;
		n <<= shift;
		end++;
	}
	*number = n;
	return *end == '\0';
}

static enum slope_parsed take_number(const struct slope_option *o, const char *shown, const char *value)
{
	uint64_t n;

	if (!slope_options_number(value, &n) || n < o->min || n > o->max) {
		slope_say("%s=%s: give a number from %llu to %llu", shown, value,
			  (unsigned long long)o->min, (unsigned long long)o->max);
		return SLOPE_PARSED_WRONG;
	}
	*(uint64_t *)o->into = n;
	return SLOPE_PARSED;
}

static enum slope_parsed take_choice(const struct slope_option *o, const char *shown, const char *value)
{
	const char *word = o->value;

	for (unsigned i = 0;; i++) {
		size_t length = strcspn(word, "|");

		if (strlen(value) == length && !strncmp(word, value, length)) {
			*(unsigned *)o->into = i;
			return SLOPE_PARSED;
		}
		if (!word[length])
			break;
		word += length + 1;
	}
	slope_say("%s=%s: give one of %s", shown, value, o->value);
	return SLOPE_PARSED_WRONG;
}

static enum slope_parsed take(const struct slope_option *o, const char *shown, const char *value)
{
	switch (o->kind) {
	case SLOPE_OPTION_FLAG:
		*(bool *)o->into = true;
		return SLOPE_PARSED;
	case SLOPE_OPTION_TEXT:
	case SLOPE_OPTION_MAYBE:
		*(const char **)o->into = value;
		return SLOPE_PARSED;
	case SLOPE_OPTION_LIST:
		slope_list_add(o->into, "%s", value);
		return SLOPE_PARSED;
	case SLOPE_OPTION_NUMBER:
		return take_number(o, shown, value);
	case SLOPE_OPTION_CHOICE:
		return take_choice(o, shown, value);
	}
	return SLOPE_PARSED_WRONG;
}

static enum slope_parsed no_value(const struct slope_option *o, const char *shown)
{
	slope_say("%s needs a value: %s=%s", shown, shown, o->value);
	return SLOPE_PARSED_WRONG;
}

/* `*next` is the following word, taken (set to NULL) when the option needs it. */
static enum slope_parsed parse_long(const struct slope_usage *usage, const char *word, char **next)
{
	size_t length = strcspn(word, "=");
	const char *value = word[length] ? word + length + 1 : NULL;
	const struct slope_option *o = find_long(usage, word, length);
	char shown[WORD_MAX + 3];

	if (!o)
		return unknown_long(usage, word, length);
	snprintf(shown, sizeof shown, "--%s", o->name);
	if (o->kind == SLOPE_OPTION_FLAG) {
		if (!value)
			return take(o, shown, NULL);
		slope_say("%s takes no value", shown);
		return SLOPE_PARSED_WRONG;
	}
	if (o->kind == SLOPE_OPTION_MAYBE && !value)
		value = "";
	if (!value) {
		value = *next;
		*next = NULL;
	}
	return value ? take(o, shown, value) : no_value(o, shown);
}

static enum slope_parsed parse_letters(const struct slope_usage *usage, const char *letters, char **next)
{
	for (const char *l = letters; *l; l++) {
		const struct slope_option *o = find_letter(usage, *l);
		char shown[] = { '-', *l, '\0' };

		if (!o) {
			slope_say("unknown option -%c; '%s --help' lists the options", *l, usage->command);
			return SLOPE_PARSED_WRONG;
		}
		if (o->kind == SLOPE_OPTION_FLAG) {
			take(o, shown, NULL);
			continue;
		}
		const char *value = l[1] ? l + 1 : *next;

		if (!l[1])
			*next = NULL;
		return value ? take(o, shown, value) : no_value(o, shown);
	}
	return SLOPE_PARSED;
}

static void print_option(char letter, const char *name, const char *value, bool maybe, const char *text)
{
	char left[80];
	int n;

	n = letter ? snprintf(left, sizeof left, "  -%c, --%s", letter, name) : snprintf(left, sizeof left, "      --%s", name);
	if (value)
		snprintf(left + n, sizeof left - (size_t)n, maybe ? "[=%s]" : "=%s", value);
	if (strlen(left) < HELP_COLUMN)
		printf("%-*s  %s\n", HELP_COLUMN, left, text);
	else
		printf("%s\n%-*s  %s\n", left, HELP_COLUMN, "", text);
}

static void print_help(const struct slope_usage *usage)
{
	printf("Usage: %s %s\n%s\n\nOptions:\n", usage->command, usage->operands, usage->summary);
	for (const struct slope_option *o = usage->option; o->name; o++)
		if (o->text)
			print_option(o->letter, o->name, o->value, o->kind == SLOPE_OPTION_MAYBE, o->text);
	print_option('h', "help", NULL, false, "print this text");
}

enum slope_parsed slope_options_parse(const struct slope_usage *usage, int *argc, char **argv)
{
	int kept = 1, i = 1;
	enum slope_parsed r = SLOPE_PARSED;

	for (; i < *argc; i++) {
		char *word = argv[i], *next = i + 1 < *argc ? argv[i + 1] : NULL;
		bool had_next = next != NULL;

		if (!strcmp(word, "--")) {
			i++;
			break;
		}
		if (!strcmp(word, "--help") || !strcmp(word, "-h")) {
			print_help(usage);
			return slope_flush_output() ? SLOPE_PARSED_HELP : SLOPE_PARSED_WRONG;
		}
		if (word[0] != '-' || !word[1]) {
			if (usage->stop_at_operand)
				break;
			argv[kept++] = word;
			continue;
		}
		r = word[1] == '-' ? parse_long(usage, word + 2, &next) : parse_letters(usage, word + 1, &next);
		if (r != SLOPE_PARSED)
			return r;
		i += had_next && !next;
	}
	while (i < *argc)
		argv[kept++] = argv[i++];
	argv[kept] = NULL;
	*argc = kept;
	return SLOPE_PARSED;
}
