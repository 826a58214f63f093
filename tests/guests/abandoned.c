/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * 40 coroutines, one after the other on one stack; each is abandoned while it
 * is suspended, and the next one begins on top of what it has left there.
 */
#include <ucontext.h>

#include "guest.h"

static ucontext_t main_context, context;
static char stack[65536];
static volatile long sum;
static int rounds;

ALONE void step(int i)
{
	sum += i;
}

ALONE void yield_now(void)
{
	swapcontext(&context, &main_context);
}

ALONE void generator(void)
{
	for (int i = 0;; i++) {
		step(i);
		yield_now();
	}
}

int main(void)
{
	for (rounds = 0; rounds < 40; rounds++) {
		getcontext(&context);
		context.uc_stack.ss_sp = stack;
		context.uc_stack.ss_size = sizeof stack;
		context.uc_link = &main_context;
		makecontext(&context, generator, 0);
		for (int i = 0; i < 10; i++)
			swapcontext(&main_context, &context);
	}
	printf("%ld\n", sum);
	return 0;
}
