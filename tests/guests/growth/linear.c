/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Linear functions that could be taken for more: an array that doubles when it is
 * full, copies by memcpy() with its ways for small and large, a function with a large
 * fixed cost, one whose cost depends on the data by half, one that works in blocks,
 * one that is called mostly with small sizes, reading through a buffer with steps, and
 * one with two regimes of which both are linear. None is to be flagged.
 */
#include "growth.h"

#define MOST 65536

static int numbers[MOST], copy[MOST];

ALONE long sum(const int *v, size_t n)
{
	long s = 0;

	for (size_t i = 0; i < n; i++)
		s += v[i];
	return s;
}

ALONE size_t push_all(const int *v, size_t n)
{
	size_t capacity = 4, count = 0;
	int *array = malloc(capacity * sizeof(*array));

	for (size_t i = 0; i < n; i++) {
		if (count == capacity)
			array = realloc(array, (capacity *= 2) * sizeof(*array));
		array[count++] = v[i];
	}
	free(array);
	return count;
}

ALONE void copy_all(int *out, const int *v, size_t n)
{
	memcpy(out, v, n * sizeof(*v));
	BARRIER();
}

ALONE long with_setup(const int *v, size_t n)
{
	int seen[1024];
	long s = 0;

	for (size_t i = 0; i < 1024; i++)
		seen[i] = 0;
	BARRIER();
	for (size_t i = 0; i < n; i++)
		s += ++seen[v[i] & 1023];
	return s;
}

ALONE long by_data(const int *v, size_t n)
{
	long s = 0;

	for (size_t i = 0; i < n; i++)
		for (int bit = v[i] & 31; bit; bit >>= 1)
			s += bit;
	return s;
}

ALONE long in_blocks(const int *v, size_t n)
{
	long s = 0;

	for (size_t block = 0; block < n; block += 256) {
		int kept[256] = { 0 };
		size_t length = n - block < 256 ? n - block : 256;

		memcpy(kept, v + block, length * sizeof(*v));
		for (size_t i = 0; i < 256; i++)
			s += kept[i];
	}
	return s;
}

ALONE long two_regimes(const int *v, size_t n)
{
	long s = 0;

	for (size_t i = 0; i < n; i++) {
		s += v[i];
		if (i >= 512)
			for (int k = 0; k < 5; k++)
				s ^= s >> 3;
	}
	return s;
}

ALONE long mostly_small(const int *v, size_t n)
{
	long s = 1;

	for (size_t i = 0; i < n; i++)
		s = s * 31 + v[i];
	return s;
}

int main(void)
{
	struct dice dice = { 19 };
	long s = 0;

	for (size_t i = 0; i < MOST; i++)
		numbers[i] = (int)roll(&dice);
	EACH_SIZE(n, 8, MOST) {
		s += sum(numbers, n) + with_setup(numbers, n) + by_data(numbers, n) + in_blocks(numbers, n);
		s += two_regimes(numbers, n) + (long)push_all(numbers, n);
		copy_all(copy, numbers, n);
	}
	for (size_t i = 0; i < 20000; i++)
		s += mostly_small(numbers, 1 + roll(&dice) % 16);
	for (size_t n = 64; n <= 4096; n *= 2)
		s += mostly_small(numbers, n) + mostly_small(numbers, n + 5);
	printf("%ld\n", s);
	return 0;
}
