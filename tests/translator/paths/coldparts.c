/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions in two pieces, as gcc -O2 makes them of what is cold, and calls that do not come back. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#define KEEP __attribute__((noinline, noclone))

static volatile int sink;
static jmp_buf out;

__attribute__((cold, noinline)) static int rarely(int a)
{
	sink = a;
	return a + 1;
}

__attribute__((noreturn, noinline)) static void give_up(int a)
{
	if (a & 1)
		sink = a;
	longjmp(out, a);
}

KEEP static int mostly(int a)
{
	int s = a;

	if (__builtin_expect(a % 7 == 3, 0)) {
		s = rarely(s);
		if (s & 8)
			s += rarely(s) * 2;
		sink = s;
	}
	for (int i = 0; i < 3; i++) {
		if (__builtin_expect(s % 11 == 5, 0))
			s += rarely(i);
		s++;
	}
	return s;
}

KEEP static int may_give_up(int a)
{
	if (a % 5 == 4)
		give_up(a);
	if (a > 1000)
		abort();
	return a & 2 ? a : -a;
}

int main(void)
{
	volatile int s = 0;

	for (volatile int i = 0; i < 40; i++) {
		if (!setjmp(out))
			s += mostly(i) + may_give_up(i);
		else
			s--;
	}
	printf("%d\n", s);
	return 0;
}
