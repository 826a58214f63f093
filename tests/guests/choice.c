/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A small tree of calls to try --toggle, --only and --skip on: main() calls
 * outer() 3 times, outer() calls inner() twice, inner() calls leaf() twice;
 * main() calls leaf() once more itself. What is skipped belongs to its caller:
 * totals of callers stay as they were.
 */
#include "guest.h"

static int cells[64];

ALONE int leaf(const int *v)
{
	int s = 0;

	for (int i = 0; i < 8; i++)
		s += v[i];
	return s;
}

ALONE int inner(const int *v)
{
	return leaf(v) + leaf(v + 8) * 3 + v[20];
}

ALONE int outer(const int *v)
{
	return inner(v) + inner(v + 16) + v[1];
}

int main(void)
{
	int s = 0;

	for (int i = 0; i < 64; i++)
		cells[i] = i;
	for (int i = 0; i < 3; i++)
		s += outer(cells);
	s += leaf(cells);
	printf("%d\n", s);
	return 0;
}
