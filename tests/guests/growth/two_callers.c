/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One function, two callers. Insertion sort takes n steps where its numbers are
 * in order already, as when append_one() has put one more behind sorted ones, and
 * n^2 where they stand the wrong way round, as load_all() leaves them. A profile
 * by function mixes the two: at each size some calls cost n and some n^2.
 */
#include "growth.h"

#define MOST 600

static int numbers[MOST + 1];

ALONE void insertion_sort(int *v, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		int moved = v[i];
		size_t at = i;

		for (; at > 0 && v[at - 1] > moved; at--)
			v[at] = v[at - 1];
		v[at] = moved;
	}
}

ALONE void load_all(size_t n)
{
	for (size_t i = 0; i < n; i++)
		numbers[i] = (int)(n - i);
	insertion_sort(numbers, n);
	BARRIER();
}

ALONE void append_one(size_t n)
{
	numbers[n - 1] = (int)n + 1;
	insertion_sort(numbers, n);
	BARRIER();
}

int main(void)
{
	long s = 0;

	EACH_SIZE(n, 8, MOST) {
		load_all(n);
		for (int times = 0; times < 3; times++)
			append_one(n);
		s += numbers[n - 1];
	}
	printf("%ld\n", s);
	return 0;
}
