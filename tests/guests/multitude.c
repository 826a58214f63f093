/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * More coroutines alive at once than there is room for shadow windows: from
 * some point on their accesses must be checked another way.
 */
#include <ucontext.h>

#include "guest.h"

#define COROUTINES 1500
#define STACK_BYTES (16 * 1024)

static ucontext_t main_context, context[COROUTINES];
static volatile long sum;

ALONE void step(int i)
{
	sum += i;
}

ALONE void body(int self)
{
	for (;;) {
		step(self);
		swapcontext(&context[self], &main_context);
	}
}

int main(void)
{
	char *stacks = malloc((size_t)COROUTINES * STACK_BYTES);

	for (int i = 0; i < COROUTINES; i++) {
		getcontext(&context[i]);
		context[i].uc_stack.ss_sp = stacks + (size_t)i * STACK_BYTES;
		context[i].uc_stack.ss_size = STACK_BYTES;
		context[i].uc_link = NULL;
		makecontext(&context[i], (void (*)(void))body, 1, i);
	}
	for (int round = 0; round < 3; round++)
		for (int i = 0; i < COROUTINES; i++)
			swapcontext(&main_context, &context[i]);
	printf("%ld\n", sum);
	return 0;
}
