/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Coroutines with a switch of their own, as libraries of them have: nobody is
 * asked. They are resumed by other threads than the one that began them.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "work.h"

#define COUNT 6
#define STACK_BYTES 65536

struct fiber {
	void *sp, *resumer;
	long steps;
};

/* switch_to(save, load): what a function must keep is pushed, then the stack is another one. */
void switch_to(void **save, void *load);
__asm__(".text\n\t.type switch_to, @function\nswitch_to:\n\t.cfi_startproc\n\t"
	"push %rbp\n\tpush %rbx\n\tpush %r12\n\tpush %r13\n\tpush %r14\n\tpush %r15\n\t"
	"mov %rsp, (%rdi)\n\tmov %rsi, %rsp\n\t"
	"pop %r15\n\tpop %r14\n\tpop %r13\n\tpop %r12\n\tpop %rbx\n\tpop %rbp\n\tret\n\t"
	".cfi_endproc\n\t.size switch_to, . - switch_to");

static struct fiber fiber[COUNT];
static _Thread_local struct fiber *current;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

APART static void yield(struct fiber *f)
{
	switch_to(&f->sp, f->resumer);
}

APART static long walk(int n, struct fiber *f)
{
	if (n < 2) {
		if (++f->steps % 61 == 0)
			yield(f);
		return n;
	}
	return walk(n - 1, f) + walk(n - 2, f);
}

static void body(void)
{
	struct fiber *f = current;

	for (;;)
		f->steps += walk(14, f) & 1;
}

static void begin(struct fiber *f)
{
	uintptr_t *top = (uintptr_t *)((char *)malloc(STACK_BYTES) + STACK_BYTES - 64);

	*--top = 0;
	*--top = (uintptr_t)body;
	f->sp = top - 6;
}

APART static void resume(struct fiber *f)
{
	current = f;
	switch_to(&f->resumer, f->sp);
}

static void *run(void *sum)
{
	for (int round = 0; round < 150000; round++) {
		pthread_mutex_lock(&turn);
		resume(&fiber[round % COUNT]);
		pthread_mutex_unlock(&turn);
		if (round % 50 == 0)
			*(long *)sum += fib(9);
	}
	return NULL;
}

int main(void)
{
	long sum[2] = { 0, 0 }, steps = 0;
	pthread_t thread;

	for (int i = 0; i < COUNT; i++)
		begin(&fiber[i]);
	pthread_create(&thread, NULL, run, &sum[0]);
	run(&sum[1]);
	pthread_join(thread, NULL);
	for (int i = 0; i < COUNT; i++)
		steps += fiber[i].steps;
	printf("%ld %ld\n", sum[0] + sum[1], steps);
	return 0;
}
