/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The command. The first word is a verb or a program: a verb's name always
 * means the verb, and ./NAME always the program.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/words.h"
#include "cli/messages.h"
#include "cli/options.h"
#include "cli/program.h"
#include "cli/roomystack.h"
#include "cli/verbs.h"

struct verb {
	const char *name, *text;
	int (*run)(int argc, char **argv);
};

static const struct verb verbs[] = {
#define X(name, text) { #name, text, slope_verb_##name },
	SLOPE_VERB_LIST(X)
#undef X
};

#define VERBS (sizeof verbs / sizeof *verbs)

static void print_help(void)
{
	printf("Usage: slope VERB [options] ...\n"
	       "       slope [options of record] PROGRAM [ARGS]   record, then report\n"
	       "Shows how the cost of each function grows with the size of its input.\n\nVerbs:\n");
	for (size_t i = 0; i < VERBS; i++)
		printf("  %-10s %s\n", verbs[i].name, verbs[i].text);
	printf("\nOptions:\n"
	       "  -h, --help     print this text; 'slope VERB --help' tells about a verb\n"
	       "  -V, --version  print the version\n");
}

static const struct verb *find_verb(const char *word)
{
	for (size_t i = 0; i < VERBS; i++)
		if (!strcmp(word, verbs[i].name))
			return &verbs[i];
	return NULL;
}

/* The verb that a mistyped word may have meant, or NULL. */
static const char *nearest_verb(const char *word)
{
	const struct verb *best = &verbs[0];

	for (size_t i = 1; i < VERBS; i++)
		if (slope_word_distance(word, verbs[i].name) < slope_word_distance(word, best->name))
			best = &verbs[i];
	return slope_word_near(word, slope_word_distance(word, best->name)) ? best->name : NULL;
}

static int no_such_verb(const char *word)
{
	char list[256] = "";
	const char *near = nearest_verb(word);

	for (size_t i = 0; i < VERBS; i++)
		snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "", verbs[i].name);
	if (near)
		slope_say("no such verb or program: '%s'; did you mean 'slope %s'?", word, near);
	else
		slope_say("no such verb or program: '%s'; the verbs are %s ('slope --help' explains them)", word, list);
	return SLOPE_EXIT_NOT_FOUND;
}

/* A word without a slash that is neither on PATH nor beside us cannot have meant a program. */
static bool could_be_program(const char *word)
{
	char *file = slope_program_find(word), *here = slope_text("./%s", word);
	FILE *beside = file ? NULL : fopen(here, "r");
	bool could = file || beside;

	if (beside)
		fclose(beside);
	free(file);
	free(here);
	return could;
}

int main(int argc, char **argv)
{
	const struct verb *verb;

	if (argc < 2) {
		slope_say("which verb or program? 'slope --help' lists the verbs");
		return SLOPE_EXIT_WRONG;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		print_help();
		return slope_flush_output() ? 0 : SLOPE_EXIT_WRONG;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		printf("slope %s\n", SLOPE_VERSION);
		return slope_flush_output() ? 0 : SLOPE_EXIT_WRONG;
	}
	verb = find_verb(argv[1]);
	if (verb)
		return slope_roomystack_run(verb->run, argc - 1, argv + 1);
	if (argv[1][0] != '-' && argv[1][0] && !could_be_program(argv[1]))
		return no_such_verb(argv[1]);
	return slope_roomystack_run(slope_record_and_report, argc, argv);
}
