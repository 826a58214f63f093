/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A recursion as deep as the first argument says, with work at every tenth depth, and so much at the bottom; so many times. */
#include <stdio.h>
#include <stdlib.h>

#include "work.h"

APART static long down(long n, long bottom)
{
	long sum = n % 10 == 0 ? fib(4) : 0;

	if (n == 0)
		for (long i = 0; i < bottom; i++)
			sum += fib(12);
	else
		sum += down(n - 1, bottom);
	__asm__ volatile("" : "+r"(sum));
	return sum + 1;
}

int main(int argc, char **argv)
{
	long depth = argc > 1 ? atol(argv[1]) : 100000, bottom = argc > 2 ? atol(argv[2]) : 20000;
	long times = argc > 3 ? atol(argv[3]) : 3, sum = 0;

	for (long i = 0; i < times; i++)
		sum += down(depth, bottom);
	printf("%ld\n", sum);
	return 0;
}
