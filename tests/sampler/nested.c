/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Functions within functions: called through code on the stack, and left by a
 * jump to a label of the outer one.
 */
#include <stdio.h>

#include "work.h"

APART static long apply(long (*f)(int), int n)
{
	long sum = n ? apply(f, n - 1) : 0;

	return sum + f(n);
}

APART static long outer(int limit)
{
	__label__ out;
	volatile long seen = 0;

	long inner(int n)
	{
		seen += fib(6) + n;
		if (n == limit)
			goto out;
		return n;
	}

	seen += apply(inner, 30);
	return seen;
out:
	return seen * 3;
}

int main(void)
{
	long sum = 0;

	for (int i = 0; i < 60000; i++)
		sum += outer(i % 40);
	printf("%ld\n", sum);
	return 0;
}
