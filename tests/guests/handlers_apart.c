/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Signal handlers that switch stacks, as preemptive schedulers do: two
 * coroutines at different depths are each stopped inside a handler, and go on
 * in the order in which they were stopped, not the reverse.
 */
#include <signal.h>
#include <ucontext.h>

#include "guest.h"

static ucontext_t main_context, context[2];
static int current;
static volatile long sum;

static void preempt(int signal)
{
	(void)signal;
	swapcontext(&context[current], &main_context);
}

ALONE void tick(void)
{
	sum++;
}

ALONE void spin(void)
{
	for (int i = 0; i < 10; i++) {
		raise(SIGUSR1);
		tick();
	}
}

ALONE void descend(int depth)
{
	if (depth)
		descend(depth - 1);
	else
		spin();
	sum++;
}

ALONE void body(int self)
{
	descend(self ? 2 : 20);
	for (;;)
		swapcontext(&context[self], &main_context);
}

int main(void)
{
	static char stack[2][65536];
	struct sigaction action = { .sa_handler = preempt, .sa_flags = SA_NODEFER };

	sigaction(SIGUSR1, &action, NULL);
	for (int i = 0; i < 2; i++) {
		getcontext(&context[i]);
		context[i].uc_stack.ss_sp = stack[i];
		context[i].uc_stack.ss_size = sizeof stack[i];
		makecontext(&context[i], (void (*)(void))body, 1, i);
	}
	for (int round = 0; round < 12; round++)
		for (current = 0; current < 2; current++)
			swapcontext(&main_context, &context[current]);
	printf("%ld\n", sum);
	return 0;
}
