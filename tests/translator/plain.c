/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Floating point, recursion, calls through pointers, the heap, and an exit status. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_value(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static long fib(int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

int main(int argc, char **argv)
{
	int *v = malloc(1000 * sizeof *v);
	double sum = 0;

	for (int i = 0; i < 1000; i++)
		v[i] = i * 7919 % 1009;
	qsort(v, 1000, sizeof *v, by_value);
	for (int i = 0; i < 1000; i++)
		sum += sqrt(v[i]) / (i + 1);
	printf("%d %ld %.12f %d %d\n", argc, fib(20), sum, v[0], v[999]);
	fprintf(stderr, "%s\n", strrchr(argv[0], '/') ? "path" : "name");
	free(v);
	return 3;
}
