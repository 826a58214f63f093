/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A text of sources/replay/script.h line by line: its words, and what numbers
 * and addresses among them stand for. Loops change which line comes next and what their
 * variables are, so they are here too.
 *
 * Words are counted from 0. What is not as it must be fails: false, and a sentence with the text's name and the line's
 * number in `error`.
 */
#ifndef SLOPE_REPLAY_READING_H
#define SLOPE_REPLAY_READING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SLOPE_READ_BYTES 512
#define SLOPE_READ_WORDS 10
#define SLOPE_READ_LOOPS 8
#define SLOPE_READ_NAME_BYTES 32

struct slope_read_loop {
	char variable[SLOPE_READ_NAME_BYTES];
	uint64_t value, last;
	const char *body;            /* the line after `for` */
	unsigned body_line;
};

/* The caller sets name, next, cell_bytes, error and error_bytes; the rest is 0. */
struct slope_reading {
	const char *name, *next;     /* next: the line to come */
	unsigned line;
	char buffer[SLOPE_READ_BYTES];     /* this line, cut into words */
	char *word[SLOPE_READ_WORDS];
	int words;
	char *error;
	size_t error_bytes;

	uint32_t cell_bytes;
	struct slope_read_loop loop[SLOPE_READ_LOOPS];
	int loops;
	char (*variable)[SLOPE_READ_NAME_BYTES];   /* names of memory */
	size_t variables;
};

/* Says what is wrong with this line. Always false. */
bool slope_read_fail(struct slope_reading *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Takes the next line apart. False at the end of the text or on an error (then `error` is not empty). */
bool slope_read_next(struct slope_reading *s);

/* The line has so many words. SLOPE_READ_WORDS or more: as many as it likes. */
bool slope_read_expect(struct slope_reading *s, int least, int most);

/* A number or a sum of them at *at, which moves behind it; or as the whole of word i. */
bool slope_read_sum(struct slope_reading *s, const char **at, uint64_t *value);
bool slope_read_number(struct slope_reading *s, int i, uint64_t *value);

/* ADDRESS [BYTES] from word i on: where, and how many bytes; and ADDRESS alone. */
bool slope_read_range(struct slope_reading *s, int i, uint64_t range[2]);
bool slope_read_address(struct slope_reading *s, int i, uint64_t *address);

/* This line is the first of a loop, or its last: the next line is that of another round, if there is one. */
bool slope_read_for(struct slope_reading *s);
bool slope_read_again(struct slope_reading *s);

/* What was kept of the text. */
void slope_reading_fini(struct slope_reading *s);

#endif
