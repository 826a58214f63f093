/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Is there a subset with a given sum? Every subset is tried, because no sum will do:
 * 2^n for n numbers. It is exists() itself, calling itself twice per number.
 * add_up() is linear.
 */
#include "growth.h"

#define MOST 18

static int numbers[MOST];

ALONE int exists(const int *v, size_t n, long sum)
{
	if (!n)
		return sum == 0;
	return exists(v + 1, n - 1, sum) || exists(v + 1, n - 1, sum - *v);
}

ALONE long add_up(const int *v, size_t n)
{
	long sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += v[i];
	return sum;
}

ALONE int has_subset(const int *v, size_t n)
{
	return exists(v, n, add_up(v, n) + 1);
}

int main(void)
{
	struct dice dice = { 17 };
	int found = 0;

	for (size_t i = 0; i < MOST; i++)
		numbers[i] = (int)(roll(&dice) % 1000);
	for (size_t n = 1; n <= MOST; n++)
		found += has_subset(numbers, n);
	printf("%d\n", found);
	return 0;
}
