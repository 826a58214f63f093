/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Returns of every kind: in vectors, on the floating point stack, in two
 * registers, in memory; callers that rely on registers which a static callee
 * does not use; tail calls; functions with a frame of a size known at run time.
 */
#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "work.h"

typedef double four __attribute__((vector_size(32)));
struct two { long a; double b; };
struct big { long word[12]; };

APART static long double on_the_stack(int n) { return n ? on_the_stack(n - 1) * 1.0000001L + fib(3) : 1.0L; }
APART static double complex in_two(int n) { return n ? in_two(n - 1) * (0.5 + 0.5 * I) + fib(3) : 1.0; }
APART static struct two mixed(int n) { struct two t = n ? mixed(n - 1) : (struct two){ 0, 0 }; t.a += fib(4); t.b += 0.5; return t; }
APART static struct big large(int n) { struct big b = n ? large(n - 1) : (struct big){ { 0 } }; b.word[n % 12] += fib(4); return b; }
APART __attribute__((target("avx"))) static four in_vector(int n)
{
	four one = { 1, 2, 3, 4 };

	return n ? in_vector(n - 1) + one * (double)fib(3) : one;
}

APART __attribute__((target("avx"))) static double sum_of_vector(int n)
{
	four v = in_vector(n);

	return v[0] + v[1] * 2 + v[2] * 3 + v[3] * 4;
}

/* The compiler knows that this one uses few registers. */
APART static long small(long n) { for (long i = 0; i < 200; i++) __asm__ volatile("" : "+r"(n)); return n + 1; }
APART static long relies(long a, long b, long c, long d, long e, long f)
{
	double x = (double)a, y = (double)b, z = (double)c;
	long s = small(a);

	return s + a * 2 + b * 3 + c * 5 + d * 7 + e * 11 + f * 13 + (long)(x + y * 2 + z * 3);
}

APART static long odd(long n, long sum);
APART static long even(long n, long sum) { return n ? odd(n - 1, sum + fib(2)) : sum; }
APART static long odd(long n, long sum) { return n ? even(n - 1, sum + small(1)) : sum; }

APART static long sized(int n)
{
	char room[n * 16 + 1];
	_Alignas(64) volatile char aligned[64];

	memset(room, n, sizeof room);
	aligned[0] = 1;
	return n ? sized(n - 1) + room[0] + aligned[0] : fib(5);
}

int main(void)
{
	double check = 0;
	long sum = 0;
	int have_avx = __builtin_cpu_supports("avx");

	for (int i = 0; i < 1500; i++) {
		int n = i % 20;
		struct two t = mixed(n);
		struct big b = large(n);

		check += (double)on_the_stack(n) + cabs(in_two(n)) + t.b;
		sum += t.a + b.word[3] + relies(i, 2, 3, 4, 5, 6) + even(i % 50, 0) + sized(n);
		if (have_avx)
			check += sum_of_vector(n);
	}
	printf("%.9f %ld\n", check, sum);
	return 0;
}
