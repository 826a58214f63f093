/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Coroutines without libc: a few instructions exchange the stack pointer and
 * return on the other stack, as fiber libraries do. Eight of them, 20 turns
 * each; produce() is called by body() alone, consume() by main() alone.
 */
#include <stdint.h>

#include "guest.h"

#define FIBERS 8
#define TURNS 20
#define STACK_BYTES 8192

void exchange(void **save, void *to);

__asm__(".text\n"
	".globl exchange\n"
	".type exchange, @function\n"
	"exchange:\n"
	"	pushq %rbx\n"
	"	pushq %rbp\n"
	"	pushq %r12\n"
	"	pushq %r13\n"
	"	pushq %r14\n"
	"	pushq %r15\n"
	"	movq %rsp, (%rdi)\n"
	"	movq %rsi, %rsp\n"
	"	popq %r15\n"
	"	popq %r14\n"
	"	popq %r13\n"
	"	popq %r12\n"
	"	popq %rbp\n"
	"	popq %rbx\n"
	"	ret\n"
	".size exchange, . - exchange\n");

static void *main_sp, *fiber_sp[FIBERS];
static int current;
static volatile int passed_on;

ALONE int produce(int fiber, int turn)
{
	return fiber * 100 + turn;
}

ALONE void body(void)
{
	int self = current;

	for (int turn = 0;; turn++) {
		passed_on = produce(self, turn);
		exchange(&fiber_sp[self], main_sp);
	}
}

ALONE int consume(int value)
{
	return value % 1000;
}

static void prepare(int fiber, uint64_t *top)
{
	*--top = 0;                      /* keeps the stack aligned; body() never returns */
	*--top = (uint64_t)body;
	for (int i = 0; i < 6; i++)
		*--top = 0;
	fiber_sp[fiber] = top;
}

int main(void)
{
	char *stacks = aligned_alloc(16, FIBERS * STACK_BYTES);
	int s = 0;

	for (int i = 0; i < FIBERS; i++)
		prepare(i, (uint64_t *)(stacks + (i + 1) * STACK_BYTES));
	for (int turn = 0; turn < TURNS; turn++) {
		for (current = 0; current < FIBERS; current++) {
			exchange(&main_sp, fiber_sp[current]);
			s += consume(passed_on);
		}
	}
	printf("%d\n", s);
	free(stacks);
	return 0;
}
