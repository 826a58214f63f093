/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Signals: sent to itself, by a timer into a busy loop, during a blocking
 * read with and without restart, faults that a handler repairs or jumps away
 * from, an alternate stack, and vector registers that a handler must not change.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

static volatile sig_atomic_t ticks, faults, on_alternate;
static sigjmp_buf back;
static volatile char *volatile page;
static char alternate[65536];

static void on_tick(int number)
{
	volatile double noise = number;

	noise = noise * 3.7 + 1;
	ticks++;
}

static void on_fault(int number, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;
	char here;

	(void)number;
	on_alternate = &here >= alternate && &here < alternate + sizeof alternate;
	faults++;
	if (info->si_addr == (void *)page)
		mprotect((void *)page, 4096, PROT_READ | PROT_WRITE);
	else if (uc->uc_mcontext.gregs[REG_RIP] != 0)
		siglongjmp(back, 1);
	else
		siglongjmp(back, 2);
}

static void set(int number, void (*handler)(int), int flags)
{
	struct sigaction a = { .sa_handler = handler, .sa_flags = flags };

	sigaction(number, &a, NULL);
}

static double busy(int want)
{
	double sum = 0, exact = 0;

	for (long i = 1; ticks < want; i++) {
		sum += 1.0 / (double)i;
		exact += 1.0 / (double)i;
	}
	return sum - exact;
}

static void reading(int flags)
{
	int ends[2];
	char c;
	struct itimerval once = { .it_value = { 0, 20000 } };

	if (pipe(ends))
		exit(1);
	set(SIGALRM, on_tick, flags);
	ticks = 0;
	if (fork() == 0) {
		usleep(200000);
		if (write(ends[1], "x", 1) != 1)
			_exit(1);
		_exit(0);
	}
	setitimer(ITIMER_REAL, &once, NULL);
	ssize_t got = read(ends[0], &c, 1);

	printf("read %zd %s, %d tick\n", got, got < 0 ? strerror(errno) : "", (int)ticks);
	close(ends[0]);
	close(ends[1]);
}

int main(void)
{
	struct itimerval often = { { 0, 2000 }, { 0, 2000 } }, never = { { 0 }, { 0 } };
	struct sigaction fault = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK };
	stack_t own = { .ss_sp = alternate, .ss_size = sizeof alternate };

	setvbuf(stdout, NULL, _IONBF, 0);
	signal(SIGPIPE, SIG_IGN);
	set(SIGUSR1, on_tick, 0);
	raise(SIGUSR1);
	printf("raised %d\n", (int)ticks);
	set(SIGALRM, on_tick, SA_RESTART);
	setitimer(ITIMER_REAL, &often, NULL);
	printf("busy %g\n", busy(50));
	setitimer(ITIMER_REAL, &never, NULL);
	reading(0);
	reading(SA_RESTART);
	sigaltstack(&own, NULL);
	sigaction(SIGSEGV, &fault, NULL);
	page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	page[0] = 'y';
	printf("repaired %c %d %d\n", page[0], (int)faults, (int)on_alternate);
	if (!sigsetjmp(back, 1))
		*(volatile int *)(page - page + 8) = 1;
	int how = sigsetjmp(back, 1);

	if (!how)
		((void (*)(void))(long)(how + 0))();
	printf("jumped %d %d\n", (int)faults, how);
	set(SIGSEGV, SIG_DFL, 0);
	raise(SIGTERM);
	return 0;
}
