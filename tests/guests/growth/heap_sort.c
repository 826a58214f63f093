/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Heap sort, and a queue with priorities. sift_down() reads a path of the heap,
 * log(size) cells and their neighbours, so by its own input it is linear;
 * heap_sort() and drain(), which call it n times, are n log n. Building the
 * heap bottom up, heapify(), is linear as a whole.
 */
#include "growth.h"

#define MOST 8192

static int numbers[MOST];

ALONE void sift_down(int *heap, size_t at, size_t n)
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

ALONE void heapify(int *heap, size_t n)
{
	for (size_t at = n / 2; at-- > 0;)
		sift_down(heap, at, n);
}

ALONE void drain(int *heap, size_t n)
{
	while (n-- > 1) {
		int largest = heap[0];

		heap[0] = heap[n];
		heap[n] = largest;
		sift_down(heap, 0, n);
	}
}

ALONE void heap_sort(int *v, size_t n)
{
	heapify(v, n);
	drain(v, n);
}

ALONE void fill(int *v, size_t n, struct dice *dice)
{
	for (size_t i = 0; i < n; i++)
		v[i] = (int)roll(dice);
}

int main(void)
{
	struct dice dice = { 5 };
	long sum = 0;

	EACH_SIZE(n, 8, MOST) {
		fill(numbers, n, &dice);
		heap_sort(numbers, n);
		sum += numbers[0] <= numbers[n / 2] && numbers[n / 2] <= numbers[n - 1];
	}
	printf("%ld\n", sum);
	return 0;
}
