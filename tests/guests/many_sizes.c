/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A recursion 3000 deep that reads one more cell at each level: 3001 sizes.
 * With --max-points=1000 the table is folded into bins, says so, and still
 * holds all calls.
 */
#include "guest.h"

#define DEPTH 3000

static int cells[DEPTH];

ALONE int walk(const int *v, int n)
{
	if (n == 0)
		return 0;
	return v[n - 1] + walk(v, n - 1);
}

int main(void)
{
	for (int i = 0; i < DEPTH; i++)
		cells[i] = i & 7;
	printf("%d\n", walk(cells, DEPTH));
	return 0;
}
