/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * 40 generators on stacks of their own, cut from one block so that they lie
 * side by side in memory, take turns with main() 25 times each. Every call of
 * step() comes from generator(), every call of use() from main(); generator()
 * runs once per stack.
 */
#include <ucontext.h>

#include "guest.h"

#define GENERATORS 40
#define VALUES 25
#define STACK_BYTES (16 * 1024)

static ucontext_t main_context, context[GENERATORS];
static volatile int value;
static int finished;

ALONE int step(int i)
{
	return i + 1;
}

ALONE void yield_value(int self, int v)
{
	value = v;
	swapcontext(&context[self], &main_context);
}

ALONE void generator(int self)
{
	int v = self;

	for (int i = 0; i < VALUES; i++) {
		v = step(v);
		yield_value(self, v);
	}
	finished++;
}

ALONE int use(int v)
{
	return v & 0xff;
}

int main(void)
{
	char *stacks = malloc(GENERATORS * STACK_BYTES);
	volatile long s = 0;

	for (int i = 0; i < GENERATORS; i++) {
		getcontext(&context[i]);
		context[i].uc_stack.ss_sp = stacks + i * STACK_BYTES;
		context[i].uc_stack.ss_size = STACK_BYTES;
		context[i].uc_link = &main_context;
		makecontext(&context[i], (void (*)(void))generator, 1, i);
	}
	for (int round = 0; round < VALUES; round++) {
		for (int i = 0; i < GENERATORS; i++) {
			swapcontext(&main_context, &context[i]);
			s += use(value);
		}
	}
	for (int i = 0; i < GENERATORS; i++)
		swapcontext(&main_context, &context[i]);
	printf("%ld %d\n", s, finished);
	free(stacks);
	return 0;
}
