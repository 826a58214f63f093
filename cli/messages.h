/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What slope says to a person. Words go to stderr, one line each, behind
 * "slope: "; data goes to stdout and does not pass through here.
 */
#ifndef SLOPE_CLI_MESSAGES_H
#define SLOPE_CLI_MESSAGES_H

#include <stdbool.h>
#include <stdio.h>

/* Exit statuses. What reads profiles ends with 0 or WRONG; record has a program's own to pass on. */
#define SLOPE_EXIT_WRONG 2       /* usage, or data that cannot be used */
#define SLOPE_EXIT_FAILED 125    /* record: slope itself failed */
#define SLOPE_EXIT_NOT_EXECUTABLE 126
#define SLOPE_EXIT_NOT_FOUND 127

/* Choices of --color; the order is that of SLOPE_COLOR_CHOICES. */
#define SLOPE_COLOR_CHOICES "auto|always|never"
enum slope_color { SLOPE_COLOR_AUTO, SLOPE_COLOR_ALWAYS, SLOPE_COLOR_NEVER };

/*
 * One line on stderr, in one write so that it does not mix with the program's
 * own output. Control characters in names become '?': it stays one line.
 */
void slope_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A line that the next one overwrites; only on a terminal. An empty text clears it. */
void slope_progress(const char *text);

/* Colour on this stream? With "auto": a terminal, no NO_COLOR, and TERM is not "dumb". */
bool slope_color_wanted(unsigned choice, FILE *stream);

/* Does the locale of the environment (LC_ALL, LC_CTYPE, LANG) use UTF-8? */
bool slope_utf8_wanted(void);

/* A formatted text that the caller frees. Ends slope with one line when memory runs out. */
char *slope_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Flushes stdout at the end of a verb that printed data. False, with a line
 * said, when not all of it arrived (a full disk); a closed pipe says nothing.
 */
bool slope_flush_output(void);

#endif
