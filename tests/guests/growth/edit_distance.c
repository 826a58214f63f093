/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Dynamic programming over two strings of k bytes: k^2 steps. The rows of the
 * table are written before they are read, so the input is the 2k bytes of the
 * strings, and the cost n^2. Hamming's distance of the same strings is linear.
 */
#include "growth.h"

#define MOST 2048

static char first[MOST], second[MOST];

static int least(int a, int b, int c)
{
	int d = a < b ? a : b;

	return d < c ? d : c;
}

ALONE int edit_distance(const char *a, const char *b, size_t n)
{
	int row[MOST + 1];

	for (size_t j = 0; j <= n; j++)
		row[j] = (int)j;
	for (size_t i = 0; i < n; i++) {
		int diagonal = row[0];

		row[0] = (int)i + 1;
		for (size_t j = 0; j < n; j++) {
			int above = row[j + 1];

			row[j + 1] = least(above + 1, row[j] + 1, diagonal + (a[i] != b[j]));
			diagonal = above;
		}
	}
	return row[n];
}

ALONE int differences(const char *a, const char *b, size_t n)
{
	int count = 0;

	for (size_t i = 0; i < n; i++)
		count += a[i] != b[i];
	return count;
}

ALONE void fill(char *s, size_t n, struct dice *dice)
{
	for (size_t i = 0; i < n; i++)
		s[i] = (char)('a' + roll(dice) % 4);
}

int main(void)
{
	struct dice dice = { 8 };
	long sum = 0;

	EACH_SIZE(n, 16, MOST) {
		fill(first, n, &dice);
		fill(second, n, &dice);
		sum += edit_distance(first, second, n) <= differences(first, second, n);
	}
	printf("%ld\n", sum);
	return 0;
}
