/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Bytes as text that may stand inside an HTML page, eight bytes for every seven:
 * 33 % less than base64 adds. Seven bits make a character. Those that a page,
 * a terminal or a transport could take for something else (NUL, line ends, <, &,
 * ...) never occur: one of them, together with the seven bits that follow, is a
 * character of two bytes in UTF-8, U+0100 + 128 * (which one) + the bits; at the
 * very end, where none follow, U+0780 + (which one). The list of them is in text7.c, and once more in report/web/src/blocks.ts.
 *
 * A last group is filled up with zeros; bits that make no whole byte say nothing.
 */
#ifndef SLOPE_PROFILE_TEXT7_H
#define SLOPE_PROFILE_TEXT7_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What an encoder remembers from call to call; all zero at the beginning. */
struct slope_text7 {
	uint32_t bits;               /* not written yet, the latest are the lowest */
	unsigned count;
	unsigned held;               /* 1 + which special value waits for the group behind it; 0: none */
};

/* The most that `count` bytes can become, with what was left of those before and the end. */
#define SLOPE_TEXT7_ROOM(count) ((count) / 7 * 8 + 16)

/* Writes what it can into `text`, which has SLOPE_TEXT7_ROOM(count), and returns how many bytes that were. */
size_t slope_text7_put(struct slope_text7 *t, const void *bytes, size_t count, char *text);

/* The rest: room for 8 bytes. */
size_t slope_text7_end(struct slope_text7 *t, char *text);

/*
 * Turns text back into bytes, at most as many as the text has. `*used` is where
 * it stopped: at the end, or at the first character that the encoding does not
 * have. `bytes` may be the same place as `text`.
 */
size_t slope_text7_decode(const char *text, size_t count, void *bytes, size_t *used);

#endif
