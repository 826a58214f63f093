/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * n keys looked up in a sorted array of n: find_each() is n log n, because each
 * binary_search() looks at log2(n) elements. That is all it reads, so by its own
 * input it is linear. scan_each() does the same by linear_search(): n^2.
 */
#include "growth.h"

#define MOST 16384
#define MOST_SCANNED 2048

static int sorted[MOST], wanted[MOST];

ALONE size_t binary_search(const int *v, size_t n, int key)
{
	size_t from = 0, to = n;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (v[middle] < key)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

ALONE size_t linear_search(const int *v, size_t n, int key)
{
	size_t i = 0;

	while (i < n && v[i] < key)
		i++;
	return i;
}

ALONE size_t find_each(const int *v, const int *key, size_t n)
{
	size_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += binary_search(v, n, key[i]);
	return sum;
}

ALONE size_t scan_each(const int *v, const int *key, size_t n)
{
	size_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += linear_search(v, n, key[i]);
	return sum;
}

int main(void)
{
	struct dice dice = { 14 };
	size_t same = 0;

	EACH_SIZE(n, 8, MOST) {
		for (size_t i = 0; i < n; i++) {
			sorted[i] = (int)(3 * i);
			wanted[i] = (int)(roll(&dice) % (3 * n));
		}
		if (n <= MOST_SCANNED)
			same += find_each(sorted, wanted, n) == scan_each(sorted, wanted, n);
		else
			same += find_each(sorted, wanted, n) > 0;
	}
	printf("%zu\n", same);
	return 0;
}
