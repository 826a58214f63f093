/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The one option parser. A verb describes its options in a table; the table
 * drives the parsing and prints the --help text, so the two cannot differ.
 *
 * Accepted are --name=VALUE, --name VALUE, -xVALUE, -x VALUE, letters without
 * a value side by side, and "--", after which everything is an operand. Every
 * verb has -h and --help without asking for them.
 */
#ifndef SLOPE_CLI_OPTIONS_H
#define SLOPE_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum slope_option_kind {
	SLOPE_OPTION_FLAG,           /* bool */
	SLOPE_OPTION_TEXT,           /* const char *, points into argv; the last one counts */
	SLOPE_OPTION_LIST,           /* struct slope_list, one entry each time it is given */
	SLOPE_OPTION_NUMBER,         /* uint64_t in min..max */
	SLOPE_OPTION_CHOICE,         /* unsigned: position among the words of `value` */
	SLOPE_OPTION_MAYBE,          /* const char *: as TEXT, but only with =VALUE; "" where there is none */
};

struct slope_option {
	const char *name;            /* without the dashes; NULL ends the table */
	char letter;                 /* 0: only the long form */
	enum slope_option_kind kind;
	void *into;                  /* holds the default before, the answer after */
	const char *value;           /* what --help calls the value; for a choice "one|two|three" */
	const char *text;            /* what it does, in one line; NULL: not listed, for tests */
	uint64_t min, max;
};

struct slope_usage {
	const char *command;         /* as typed: "slope record" */
	const char *operands;        /* "[options] [FILE]" */
	const char *summary;         /* one sentence */
	const struct slope_option *option;
	bool stop_at_operand;        /* the first operand and all behind it are a program's own words */
};

enum slope_parsed {
	SLOPE_PARSED,                /* go on */
	SLOPE_PARSED_HELP,           /* --help was given and is printed: end with success */
	SLOPE_PARSED_WRONG,          /* one line has been said, or --help could not be printed: end */
};

/*
 * Parses argv[1..argc) and leaves the operands, in order, in argv[1..*argc),
 * with NULL behind them. Numbers may end in k, M or G (powers of 1024).
 */
enum slope_parsed slope_options_parse(const struct slope_usage *usage, int *argc, char **argv);

/* A number, with k, M or G behind it or not. False: the text is none, or too large. */
bool slope_options_number(const char *text, uint64_t *number);

#endif
