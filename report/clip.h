/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Text in columns: how wide UTF-8 text is on a terminal, and how to make it
 * narrower. Control characters and bytes that are no UTF-8 come out as '?': a
 * symbol name must not be able to command the terminal.
 */
#ifndef SLOPE_REPORT_CLIP_H
#define SLOPE_REPORT_CLIP_H

#include <stddef.h>
#include <stdint.h>

/*
 * The character at `text`, and its bytes (at least 1). 0xFFFD with 1 byte for
 * what is no UTF-8: cut off, overlong, a surrogate or beyond Unicode. `text`
 * must not be at its end.
 */
uint32_t slope_utf8_next(const char *text, unsigned *bytes);

/* Columns that the text takes. */
size_t slope_clip_columns(const char *text);

/*
 * A copy of at most `columns` columns, to be given to free(); NULL when memory
 * runs out. What does not fit loses its middle ("begin...end").
 */
char *slope_clip_middle(const char *text, size_t columns);

/*
 * The same for a function's name: a parameter list that does not fit becomes
 * "(...)" first, then template arguments become "<...>", then both go
 * altogether, parameters first, and the middle goes last.
 */
char *slope_clip_name(const char *name, size_t columns);

#endif
