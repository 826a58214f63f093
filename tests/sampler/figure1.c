/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * c costs the same from a and from b in all, but each of its calls from a
 * costs twice as much: what profilers that share out by the number of calls
 * get wrong. After the example in the literature on call path sampling. What a
 * and b really took goes to stderr: on a busy machine that is not quite equal.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "work.h"

#define NO_TAIL_CALL __asm__ volatile("")

static long rounds;

APART static void d(void) { __asm__ volatile(""); }
APART static void c(long n) { for (long i = 0; i < rounds / n; i++) d(); }
APART static void b(void (*f)(long)) { f(2); f(2); f(2); f(2); NO_TAIL_CALL; }
APART static void a(void (*f)(long)) { f(1); f(1); NO_TAIL_CALL; }

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
	rounds = argc > 1 ? atol(argv[1]) : 1L << 28;
	double start = seconds();

	a(c);
	double between = seconds();

	b(c);
	fprintf(stderr, "%.6f %.6f\n", between - start, seconds() - between);
	return 0;
}
