/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Prefix sums. sums_slowly() adds up from the beginning for every element: n^2,
 * and sum(), which it calls, is linear. sums() carries the sum along: linear.
 */
#include "growth.h"

#define MOST 4096

static int numbers[MOST];
static long sums_of[MOST];

ALONE long sum(const int *v, size_t n)
{
	long s = 0;

	for (size_t i = 0; i < n; i++)
		s += v[i];
	return s;
}

ALONE void sums_slowly(long *out, const int *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		out[i] = sum(v, i + 1);
}

ALONE void sums(long *out, const int *v, size_t n)
{
	long s = 0;

	for (size_t i = 0; i < n; i++)
		out[i] = s += v[i];
}

int main(void)
{
	struct dice dice = { 13 };
	long total = 0;

	for (size_t i = 0; i < MOST; i++)
		numbers[i] = (int)(roll(&dice) % 1000);
	EACH_SIZE(n, 8, MOST) {
		sums_slowly(sums_of, numbers, n);
		total += sums_of[n - 1];
		sums(sums_of, numbers, n);
		total -= sums_of[n - 1];
	}
	printf("%ld\n", total);
	return 0;
}
