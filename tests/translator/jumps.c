/* SPDX-License-Identifier: GPL-3.0-or-later */
/* setjmp, longjmp, computed goto, switches, and a switch of stacks. */
#include <setjmp.h>
#include <stdio.h>
#include <ucontext.h>

static jmp_buf top;
static ucontext_t here, there;
static char stack[65536];

static void deep(int n)
{
	if (n == 0)
		longjmp(top, 5);
	deep(n - 1);
	printf("never %d\n", n);
}

static int machine(const char *code)
{
	static const void *const op[] = { &&stop, &&add, &&twice };
	int value = 0;

next:
	goto *op[(int)*code++];
add:
	value++;
	goto next;
twice:
	value *= 2;
	goto next;
stop:
	return value;
}

static void other(void)
{
	for (int i = 0; i < 3; i++) {
		printf("there %d\n", i);
		swapcontext(&there, &here);
	}
}

int main(void)
{
	int n = setjmp(top);

	printf("setjmp %d\n", n);
	if (!n)
		deep(10);
	printf("%d\n", machine("\1\1\2\2\1\0"));
	getcontext(&there);
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = sizeof stack;
	makecontext(&there, other, 0);
	for (int i = 0; i < 3; i++) {
		swapcontext(&here, &there);
		printf("here %d\n", i);
	}
	return 0;
}
