/* SPDX-License-Identifier: GPL-3.0-or-later */
/* longjmp out of loops and deep stacks, and back into the middle of loops. */
#include <setjmp.h>
#include <stdio.h>

#define KEEP __attribute__((noinline, noclone))

static jmp_buf out, again;
static volatile int sink;

KEEP static int deep(int n, int how)
{
	for (int i = 0; i < 3; i++) {
		sink = i;
		if (n == 0 && i == how % 3)
			longjmp(out, how + 1);
	}
	if (n & 1)
		return deep(n - 1, how) + 1;
	int s = deep(n - 1, how);

	return s * 2;
}

KEEP static int catch_in_loop(int rounds)
{
	volatile int s = 0;

	for (volatile int i = 0; i < rounds; i++) {
		int came = setjmp(out);

		if (came) {
			s += came;
			if (came % 2)
				continue;
			sink = came;
		} else {
			s += deep(i % 4, i);
		}
		s++;
	}
	return s;
}

KEEP static void back(int n)
{
	if (n & 2)
		sink = n;
	longjmp(again, n);
}

/* Jumps back into itself: the rounds of the loop are made by longjmp. */
KEEP static int round_and_round(int n)
{
	volatile int left = n, s = 0;

	for (volatile int i = 0; i < 2; i++) {
		if (setjmp(again) > 3)
			s += 100;
		s += 1;
		if (left-- > 0)
			back(left);
		left = n / 2;
	}
	return s;
}

int main(void)
{
	printf("%d %d\n", catch_in_loop(13), round_and_round(9));
	return 0;
}
