/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How many pairs, and how many triples, of n numbers add up to zero: each looked
 * at once, n^2 and n^3. Both are loops in loops, no callee is to blame. keep_sorted()
 * sorts again after each number that it adds, by heap_sort(): n^2 log n.
 */
#include "growth.h"

#define MOST 1024
#define MOST_TRIPLES 256
#define MOST_SORTED 256

static int numbers[MOST], sorted[MOST_SORTED];

ALONE long zero_pairs(const int *v, size_t n)
{
	long count = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t j = i + 1; j < n; j++)
			count += v[i] + v[j] == 0;
	return count;
}

ALONE long zero_triples(const int *v, size_t n)
{
	long count = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t j = i + 1; j < n; j++)
			for (size_t k = j + 1; k < n; k++)
				count += v[i] + v[j] + v[k] == 0;
	return count;
}

static void sift_down(int *heap, size_t at, size_t n)
{
	int value = heap[at];

	for (size_t child; (child = 2 * at + 1) < n; at = child) {
		if (child + 1 < n && heap[child + 1] > heap[child])
			child++;
		if (heap[child] <= value)
			break;
		heap[at] = heap[child];
	}
	heap[at] = value;
}

ALONE void heap_sort(int *v, size_t n)
{
	for (size_t at = n / 2; at-- > 0;)
		sift_down(v, at, n);
	while (n-- > 1) {
		int largest = v[0];

		v[0] = v[n];
		v[n] = largest;
		sift_down(v, 0, n);
	}
}

ALONE void keep_sorted(int *out, const int *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		out[i] = v[i];
		heap_sort(out, i + 1);
	}
}

int main(void)
{
	struct dice dice = { 22 };
	long sum = 0;

	for (size_t i = 0; i < MOST; i++)
		numbers[i] = (int)(roll(&dice) % 2001) - 1000;
	EACH_SIZE(n, 4, MOST) {
		sum += zero_pairs(numbers, n);
		if (n <= MOST_TRIPLES)
			sum += zero_triples(numbers, n);
		if (n <= MOST_SORTED) {
			keep_sorted(sorted, numbers, n);
			sum += sorted[0];
		}
	}
	printf("%ld\n", sum);
	return 0;
}
