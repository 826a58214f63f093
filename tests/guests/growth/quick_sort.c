/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * quick_sort [sorted]: the first element is the pivot. In random input the
 * parts are balanced: n log n. In sorted input one part is empty every time:
 * n^2. partition() reads its part once, and is linear either way.
 */
#include "growth.h"

#define MOST 8192

static int numbers[MOST];

static void swap(int *a, int *b)
{
	int kept = *a;

	*a = *b;
	*b = kept;
}

/* Where the pivot comes to lie. */
ALONE size_t partition(int *v, size_t n)
{
	size_t middle = 0;

	for (size_t i = 1; i < n; i++)
		if (v[i] < v[0])
			swap(&v[++middle], &v[i]);
	swap(&v[0], &v[middle]);
	return middle;
}

ALONE void quick_sort(int *v, size_t n)
{
	if (n < 2)
		return;

	size_t middle = partition(v, n);

	quick_sort(v, middle);
	quick_sort(v + middle + 1, n - middle - 1);
}

ALONE void fill(int *v, size_t n, int sorted, struct dice *dice)
{
	for (size_t i = 0; i < n; i++)
		v[i] = sorted ? (int)i : (int)roll(dice);
}

int main(int argc, char **argv)
{
	int sorted = argc > 1 && !strcmp(argv[1], "sorted");
	struct dice dice = { 2 };
	long sum = 0;

	EACH_SIZE(n, 8, sorted ? 2048 : MOST) {
		fill(numbers, n, sorted, &dice);
		quick_sort(numbers, n);
		sum += numbers[0] <= numbers[n / 2] && numbers[n / 2] <= numbers[n - 1];
	}
	printf("%ld\n", sum);
	return 0;
}
