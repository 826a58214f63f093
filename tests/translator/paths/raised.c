/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Handlers with paths of their own, in the middle of others' paths: raised, on a stack apart, nested, left by longjmp, after faults. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#define KEEP __attribute__((noinline, noclone))

static volatile int sink, seen;
static sigjmp_buf out;
static char stack[65536] __attribute__((aligned(64)));

static void on_usr1(int number)
{
	(void)number;
	for (int i = 0; i < seen % 4; i++)
		sink = i;
	if (seen++ & 1)
		sink = -1;
}

static void on_usr2(int number)
{
	if (seen & 1)
		raise(SIGUSR1);      /* a handler within one */
	sink = number;
}

static void on_hup(int number)
{
	seen += number;
	siglongjmp(out, seen & 3 ? 1 : 2);
}

/* Gives the instruction that faulted an address where it may write: it runs anew. */
static void on_fault(int number, siginfo_t *info, void *context)
{
	ucontext_t *c = context;

	(void)number;
	if (info->si_addr == (void *)8)
		seen++;
	c->uc_mcontext.gregs[REG_RBX] = (greg_t)(uintptr_t)&sink;
}

KEEP static int raises(int n)
{
	int s = 0;

	for (int i = 0; i < n; i++) {
		if (i % 3 == 1)
			raise(i & 1 ? SIGUSR1 : SIGUSR2);
		else
			sink = i;
		s += i & 2 ? 1 : 3;
	}
	return s;
}

KEEP static int leaves(int n)
{
	volatile int s = 0;

	for (volatile int i = 0; i < n; i++) {
		int how = sigsetjmp(out, 1);

		if (!how)
			raise(SIGHUP);
		s += how == 1 ? 5 : 7;
	}
	return s;
}

KEEP static int faults(int n)
{
	int s = 0;

	for (int i = 0; i < n; i++) {
		long address = i & 1 ? 8 : 16;

		if (i & 4)
			s++;
		__asm__ volatile("mov %%eax, (%0)" : "+b"(address) : "a"(i) : "memory");
		s += 2;
	}
	return s;
}

static void install(int number, void (*handler)(int), int flags)
{
	struct sigaction action;

	memset(&action, 0, sizeof action);
	action.sa_handler = handler;
	action.sa_flags = flags;
	sigaction(number, &action, NULL);
}

int main(void)
{
	stack_t apart = { .ss_sp = stack, .ss_size = sizeof stack };
	struct sigaction fault;

	sigaltstack(&apart, NULL);
	install(SIGUSR1, on_usr1, 0);
	install(SIGUSR2, on_usr2, SA_ONSTACK);
	install(SIGHUP, on_hup, SA_ONSTACK);
	memset(&fault, 0, sizeof fault);
	fault.sa_sigaction = on_fault;
	fault.sa_flags = SA_SIGINFO;
	sigaction(SIGSEGV, &fault, NULL);
	int s = raises(20) + leaves(5) + faults(9);

	printf("%d %d\n", s, seen);
	return 0;
}
