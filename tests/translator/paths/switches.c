/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Control that goes where no call, jump or return of its function leads: coroutines, on stacks side by side and on one in
 * the main stack; handlers that go on elsewhere, further up too, or leave for a coroutine; longjmp within
 * handlers, and out of several at once; the program's end in the middle of one. Coroutines only if asked for: follow.c
 * knows one stack.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#define KEEP __attribute__((noinline, noclone))
#define STACK 65536

static volatile int sink, seen;
static char stacks[3][STACK] __attribute__((aligned(64)));
static char apart[STACK] __attribute__((aligned(64)));
static ucontext_t home, routine[2];
static sigjmp_buf out, inner;

/* ---- coroutines ---- */

KEEP static void give(int who, int n)
{
	if (n % 3 == 2)
		sink = n;
	swapcontext(&routine[who], n & 1 ? &home : &routine[!who]);
}

static void body(int who)
{
	for (int i = 0; i < 7; i++) {
		if (i & 2)
			sink = who;
		give(who, i);
	}
}

static void make(int who, char *stack)
{
	getcontext(&routine[who]);
	routine[who].uc_stack.ss_sp = stack;
	routine[who].uc_stack.ss_size = STACK;
	routine[who].uc_link = &home;
	makecontext(&routine[who], (void (*)(void))body, 1, who);
}

/* The first lies below the second, and then above it. */
KEEP static int coroutines(char *first, char *second)
{
	int s = 0;

	make(0, first);
	make(1, second);
	for (int i = 0; i < 6; i++) {
		swapcontext(&home, &routine[i & 1]);
		s += i & 1 ? 3 : 1;
	}
	return s;
}

KEEP static int on_own_stack(void)
{
	char stack[STACK] __attribute__((aligned(64)));

	memset(stack, 0, sizeof stack);
	return coroutines(stacks[0], stack);
}

/* ---- handlers that choose where to go on ---- */

extern char place_behind[], place_up[];

/* Over the instruction that faults. */
static void on_segv(int number, siginfo_t *info, void *context)
{
	ucontext_t *c = context;

	(void)number;
	(void)info;
	if (seen++ & 1)
		sink = 1;
	c->uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)place_behind;
}

KEEP static int skips(int n)
{
	int s = 0;

	for (int i = 0; i < n; i++) {
		long address = i & 1 ? 8 : (long)(uintptr_t)&sink;

		if (i % 5 == 0)
			s++;
		__asm__ volatile("mov %%eax, (%0)\n\tnop\n\t.globl place_behind\nplace_behind:" : : "b"(address), "a"(i) : "memory");
		s += 2;
	}
	return s;
}

static uint64_t up_sp, up_bp, up_bx;

/* Three activations further up, as if it were a longjmp. */
static void on_fpe(int number, siginfo_t *info, void *context)
{
	ucontext_t *c = context;

	(void)number;
	(void)info;
	c->uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)place_up;
	c->uc_mcontext.gregs[REG_RSP] = (greg_t)up_sp;
	c->uc_mcontext.gregs[REG_RBP] = (greg_t)up_bp;
	c->uc_mcontext.gregs[REG_RBX] = (greg_t)up_bx;
}

KEEP static int divides(int depth, int by)
{
	if (depth)
		return divides(depth - 1, by) + 1;
	__asm__ volatile("cltd\n\tidivl %1" : "+a"(depth) : "r"(by) : "edx", "cc");
	return depth;
}

KEEP static int climbs(int n)
{
	volatile int s = 0;

	for (volatile int i = 0; i < n; i++) {
		__asm__ volatile("mov %%rsp, %0\n\tmov %%rbp, %1\n\tmov %%rbx, %2" : "=m"(up_sp), "=m"(up_bp), "=m"(up_bx));
		s += divides(2, i % 3);
		__asm__ volatile(".globl place_up\nplace_up:" : : : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12",
				 "r13", "r14", "r15", "memory", "cc");
		s += i & 1 ? 5 : 7;
	}
	return s;
}

/* ---- handlers that are left ---- */

static void on_usr2(int number)
{
	(void)number;
	if (seen++ % 3)
		siglongjmp(out, 2);          /* out of both */
	if (seen & 1)
		siglongjmp(inner, 1);        /* into the other handler */
}

static void on_usr1(int number)
{
	if (sigsetjmp(inner, 1)) {
		sink = number;
		return;
	}
	raise(SIGUSR2);
	if (seen & 2)
		siglongjmp(out, 1);
}

KEEP static int leaves(int n)
{
	volatile int s = 0;

	for (volatile int i = 0; i < n; i++) {
		int how = sigsetjmp(out, 1);

		if (!how)
			raise(SIGUSR1);
		s += how == 1 ? 3 : how == 2 ? 5 : 9;
	}
	return s;
}

/* A coroutine is begun and left for in a handler. */
static void on_hup(int number)
{
	(void)number;
	make(0, stacks[0]);
	make(1, stacks[1]);
	swapcontext(&home, &routine[0]);
	sink = seen;
}

/* ---- the end ---- */

static void on_term(int number)
{
	sink = number;
	exit(seen & 1 ? 3 : 4);
}

static void install(int number, void *handler, int flags)
{
	struct sigaction action;

	memset(&action, 0, sizeof action);
	action.sa_handler = (void (*)(int))handler;
	action.sa_flags = flags | SA_NODEFER;
	sigaction(number, &action, NULL);
}

int main(int argc, char **argv)
{
	stack_t alternate = { .ss_sp = apart, .ss_size = sizeof apart };
	bool others = argc > 1 && !strcmp(argv[1], "coroutines");
	int s = 0;

	if (others)
		s += coroutines(stacks[0], stacks[1]) + coroutines(stacks[2], stacks[1]) + on_own_stack();
	sigaltstack(&alternate, NULL);
	for (int round = 0; round < 2; round++) {
		int flags = round ? SA_ONSTACK : 0;

		install(SIGSEGV, (void *)on_segv, SA_SIGINFO | flags);
		install(SIGFPE, (void *)on_fpe, SA_SIGINFO | flags);
		install(SIGUSR1, (void *)on_usr1, flags);
		install(SIGUSR2, (void *)on_usr2, flags);
		install(SIGHUP, (void *)on_hup, flags);
		s += skips(9) + climbs(7) + leaves(11);
		if (others)
			raise(SIGHUP);
	}
	printf("%d %d\n", s, seen);
	fflush(stdout);
	install(SIGTERM, (void *)on_term, SA_ONSTACK);
	raise(SIGTERM);
	return 0;
}
