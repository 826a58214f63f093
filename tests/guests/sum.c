/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sum() over n ints: at -O2 its parameters are in registers and its return
 * address is not input, so its size is exactly n 4-byte cells, for each n. At
 * -O0 the parameters are spilled by sum() itself, which writes them before it
 * reads them: still n.
 */
#include "guest.h"

static int numbers[1000] __attribute__((aligned(64)));

ALONE int sum(const int *v, int n)
{
	int s = 0;

	for (int i = 0; i < n; i++)
		s += v[i];
	return s;
}

int main(void)
{
	static const int sizes[] = {0, 1, 10, 64, 100, 100, 1000};

	for (int i = 0; i < 1000; i++)
		numbers[i] = i;
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		printf("%d\n", sum(numbers, sizes[i]));
	return 0;
}
