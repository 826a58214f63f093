/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Coroutines, entered and left in the middle of recursions; the switch is a tail call, too. */
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#include "work.h"

#define COUNT 8
#define STACK_BYTES 65536

static ucontext_t resumer, coroutine[COUNT];
static volatile long steps;

APART static int yield(int i)
{
	return swapcontext(&coroutine[i], &resumer);
}

APART static long walk(int n, int i)
{
	steps++;
	if (n < 2) {
		if (steps % 97 == 0)
			yield(i);
		return n;
	}
	return walk(n - 1, i) + walk(n - 2, i);
}

static void body(int i)
{
	for (;;)
		steps += walk(15, i) & 1;
}

int main(void)
{
	for (int i = 0; i < COUNT; i++) {
		getcontext(&coroutine[i]);
		coroutine[i].uc_stack.ss_sp = malloc(STACK_BYTES);
		coroutine[i].uc_stack.ss_size = STACK_BYTES;
		coroutine[i].uc_link = &resumer;
		makecontext(&coroutine[i], (void (*)(void))body, 1, i);
	}
	for (long round = 0; round < 100000; round++) {
		swapcontext(&resumer, &coroutine[round % COUNT]);
		if (round % 100 == 0)
			steps += fib(10);
	}
	printf("%ld\n", steps);
	return 0;
}
