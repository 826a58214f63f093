/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/words.h"

#include <ctype.h>
#include <string.h>

unsigned slope_word_distance(const char *a, const char *b)
{
	unsigned rows[3][SLOPE_WORD_MOST + 1];
	size_t la = strnlen(a, SLOPE_WORD_MOST), lb = strnlen(b, SLOPE_WORD_MOST);

	for (size_t j = 0; j <= lb; j++)
		rows[0][j] = (unsigned)j;
	for (size_t i = 1; i <= la; i++) {
		unsigned *row = rows[i % 3], *above = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= lb; j++) {
			int x = tolower((unsigned char)a[i - 1]), y = tolower((unsigned char)b[j - 1]);
			unsigned least = above[j - 1] + (x != y);

			least = above[j] + 1 < least ? above[j] + 1 : least;
			least = row[j - 1] + 1 < least ? row[j - 1] + 1 : least;
			if (i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) &&
			    y == tolower((unsigned char)a[i - 2]) &&
			    before[j - 2] + 1 < least)
				least = before[j - 2] + 1;
			row[j] = least;
		}
	}
	return rows[la % 3][lb];
}

bool slope_word_near(const char *typed, unsigned distance)
{
	return distance <= 1 + strnlen(typed, SLOPE_WORD_MOST) / 4;
}
