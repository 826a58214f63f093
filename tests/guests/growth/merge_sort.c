/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Merge sort, top down. Each activation of merge_sort() reads the n ints of its
 * part once before it writes them, and works log2(n) levels deep: n log n.
 * merge() reads what it merges, fill() writes and is_sorted() reads: linear.
 */
#include "growth.h"

#define MOST 16384

static int numbers[MOST], space[MOST];

ALONE void merge(int *v, int *temporary, size_t middle, size_t n)
{
	size_t left = 0, right = middle;

	for (size_t i = 0; i < n; i++)
		if (left < middle && (right == n || v[left] <= v[right]))
			temporary[i] = v[left++];
		else
			temporary[i] = v[right++];
	for (size_t i = 0; i < n; i++)
		v[i] = temporary[i];
}

ALONE void merge_sort(int *v, int *temporary, size_t n)
{
	if (n < 2)
		return;
	merge_sort(v, temporary, n / 2);
	merge_sort(v + n / 2, temporary, n - n / 2);
	merge(v, temporary, n / 2, n);
}

ALONE void fill(int *v, size_t n, struct dice *dice)
{
	for (size_t i = 0; i < n; i++)
		v[i] = (int)roll(dice);
}

ALONE int is_sorted(const int *v, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (v[i - 1] > v[i])
			return 0;
	return 1;
}

int main(void)
{
	struct dice dice = { 1 };
	int sorted = 0;

	EACH_SIZE(n, 8, MOST) {
		fill(numbers, n, &dice);
		merge_sort(numbers, space, n);
		sorted += is_sorted(numbers, n);
	}
	printf("%d\n", sorted);
	return 0;
}
