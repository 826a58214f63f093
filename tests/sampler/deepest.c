/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A recursion as deep as the first argument says, with work at every tenth depth, and so much at the bottom; so many times.
 * What the bottom has taken of the processor's time, but for its first tenth, goes to stderr, in seconds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "work.h"

static double at_bottom;

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

APART static long repeat(long times)
{
	long sum = 0;

	for (long i = 0; i < times; i++)
		sum += fib(12);
	return sum;
}

APART static long work(long bottom)
{
	long sum = repeat(bottom / 10);
	double start = seconds();

	sum += repeat(bottom - bottom / 10);
	at_bottom += seconds() - start;
	return sum;
}

APART static long down(long n, long bottom)
{
	long sum = n % 10 == 0 ? fib(4) : 0;

	sum += n ? down(n - 1, bottom) : work(bottom);
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
	fprintf(stderr, "%.6f\n", at_bottom);
	return 0;
}
