/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Jumps out of many activations, to many of them, some out of a signal handler. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

#include "work.h"

static jmp_buf place[64];
static sigjmp_buf outside;
static volatile long depth, jumps;
static volatile sig_atomic_t may_jump;

APART static void dive(int n, int target)
{
	depth++;
	if (n == 0)
		longjmp(place[target], 1);
	dive(n - 1, target);
	depth--;
}

APART static void level(int t, int n)
{
	if (setjmp(place[t]) == 0) {
		if (t < 20)
			level(t + 1, n);
		dive(n, t);
	}
	jumps++;
}

static void leave(int number)
{
	(void)number;
	if (may_jump) {
		may_jump = 0;
		siglongjmp(outside, 1);
	}
}

int main(void)
{
	struct itimerval often = { { 0, 300 }, { 0, 300 } }, never = { { 0, 0 }, { 0, 0 } };
	volatile int interrupted = 0;

	for (int i = 0; i < 8000; i++)
		level(0, i % 30);
	signal(SIGALRM, leave);
	setitimer(ITIMER_REAL, &often, NULL);
	while (interrupted < 300)
		if (sigsetjmp(outside, 1) == 0) {
			may_jump = 1;
			for (;;)
				fib(12);
		} else {
			interrupted++;
		}
	setitimer(ITIMER_REAL, &never, NULL);
	printf("%ld %ld %d\n", depth, jumps, interrupted);
	return 0;
}
