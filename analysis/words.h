/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Words that were mistyped: what might have been meant. */
#ifndef SLOPE_ANALYSIS_WORDS_H
#define SLOPE_ANALYSIS_WORDS_H

#include <stdbool.h>

#define SLOPE_WORD_MOST 64u      /* bytes of a word that count */

/*
 * Letters to change, add, leave out or swap with a neighbour to make one word of
 * the other; case counts for nothing. At most SLOPE_WORD_MOST.
 */
unsigned slope_word_distance(const char *a, const char *b);

/* Is a word this far from the typed one likely the same, mistyped? */
bool slope_word_near(const char *typed, unsigned distance);

#endif
