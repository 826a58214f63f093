/* SPDX-License-Identifier: GPL-3.0-or-later */
/* String instructions that repeat themselves: none, once and many times, in loops and conditions. */
#include <stdio.h>
#include <string.h>

#define KEEP __attribute__((noinline, noclone))

static char from[600], to[600];

KEEP static void copy(unsigned long n)
{
	const char *s = from;
	char *d = to;

	__asm__ volatile("rep movsb" : "+S"(s), "+D"(d), "+c"(n) : : "memory");
}

KEEP static void fill(unsigned long n, int what)
{
	char *d = to;

	if (what & 1)
		__asm__ volatile("rep stosb" : "+D"(d), "+c"(n) : "a"(what) : "memory");
	else
		__asm__ volatile("rep stosq" : "+D"(d), "+c"(n) : "a"(0x0101010101010101 * what) : "memory");
}

KEEP static unsigned long find(int what)
{
	const char *d = to;
	unsigned long n = sizeof to;

	__asm__ volatile("repne scasb" : "+D"(d), "+c"(n) : "a"(what) : "memory", "cc");
	return sizeof to - n;
}

KEEP static unsigned long same(unsigned long n)
{
	const char *s = from, *d = to;

	__asm__ volatile("cmp %%rcx, %%rcx\n	repe cmpsb" : "+S"(s), "+D"(d), "+c"(n) : : "memory", "cc");
	return n;
}

/* One at the head of a loop, and jumped to. */
KEEP static int looped(int n)
{
	unsigned long count;
	char *d;

	for (int i = 0; i < n; i++) {
		d = to;
		count = (unsigned long)i % 3;
		__asm__ volatile("rep stosb" : "+D"(d), "+c"(count) : "a"(i) : "memory");
	}
	return to[0];
}

int main(void)
{
	unsigned long s = 0;

	for (int i = 0; i < 600; i++)
		from[i] = (char)(i * 7 % 251);
	for (unsigned long i = 0; i < 14; i++) {
		copy(i * i);
		s += find((int)i) + same(i * 3);
		fill(i % 5 * i, (int)i);
		s += same(i);
	}
	printf("%lu %d\n", s, looped(10));
	return 0;
}
