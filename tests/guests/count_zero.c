/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The recursive count_zero of the first paper, called once on n = 40: one
 * activation for each of 40, 39, ... 0 cells, so 41 points.
 *
 * The paper's machine passes v and n on the stack: the i-th activation has
 * n - i + 3 cells, two of them the parameters. Here count_zero() has its
 * parameters in registers, so the i-th has n - i + 1: the sizes 0 to 40.
 *
 * count_zero_stack() gets them on the stack, as a structure too large for
 * registers, and everything in it is one 8-byte cell (--cell=8). The caller
 * writes the callee's copy, so it is input for the callee alone: an activation
 * on m cells reads m + 2, as in the paper. Only the last one differs: with
 * m = 0 it returns before it has looked at v and reads one cell, not two.
 */
#include "guest.h"

struct slice {
	const long *v;
	long n;
	long unused;             /* makes it too large for registers */
};

static long zeros[40];

ALONE int count_zero(const long *v, int n)
{
	if (n < 1)
		return 0;
	return (v[n - 1] == 0 ? 1 : 0) + count_zero(v, n - 1);
}

ALONE int count_zero_stack(struct slice s)
{
	if (s.n < 1)
		return 0;
	return (s.v[s.n - 1] == 0 ? 1 : 0) + count_zero_stack((struct slice){ s.v, s.n - 1, 0 });
}

int main(void)
{
	for (int i = 0; i < 40; i++)
		zeros[i] = i % 3;
	printf("%d\n", count_zero(zeros, 40));
	printf("%d\n", count_zero_stack((struct slice){ zeros, 40, 0 }));
	return 0;
}
