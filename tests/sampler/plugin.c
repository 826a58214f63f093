/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Half of plugins.c; OTHER is the second one, with its functions elsewhere. */
#ifdef OTHER
__attribute__((noinline)) long filler(long n)
{
	for (volatile int i = 0; i < 10; i++)
		n ^= n << 1;
	return n;
}
#define deeper deeper_two
#else
#define deeper deeper_one
#endif

__attribute__((noinline)) long deeper(int n, long (*back)(int))
{
	long sum = back(n);

	return n ? deeper(n - 1, back) + sum : sum;
}

long plugin(int n, long (*back)(int))
{
#ifdef OTHER
	return deeper(n, back) + (filler(n) & 1);
#else
	long sum = deeper(n + 1, back);

	__asm__ volatile("" : "+r"(sum));        /* no tail call */
	return sum;
#endif
}
