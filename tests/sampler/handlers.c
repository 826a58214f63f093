/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Signals that the program handles itself: its own SIGPROF with its own timer,
 * handlers on a stack of their own, faults that are repaired, and the signal
 * that the sampler has taken for itself.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include "work.h"

static volatile sig_atomic_t profiled, alarms, faults, queued;
static char *page;

static void count_profile(int number)
{
	(void)number;
	profiled++;
	fib(8);
}

static void count_alarm(int number)
{
	(void)number;
	alarms++;
	fib(10);
}

static void repair(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	if ((char *)info->si_addr != page)
		abort();
	faults++;
	mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

static void count_queued(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	queued += info->si_value.sival_int;
}

static int is_set(int number, void (*handler)(int))
{
	struct sigaction now;

	return sigaction(number, NULL, &now) == 0 && now.sa_handler == handler;
}

int main(void)
{
	struct itimerval often = { { 0, 1000 }, { 0, 1000 } };
	struct sigaction fault = { .sa_sigaction = repair, .sa_flags = SA_SIGINFO | SA_ONSTACK };
	struct sigaction other = { .sa_sigaction = count_queued, .sa_flags = SA_SIGINFO };
	struct sigaction alarm_action = { .sa_handler = count_alarm, .sa_flags = SA_ONSTACK | SA_RESTART };
	stack_t alternate = { .ss_sp = malloc(1 << 16), .ss_size = 1 << 16 };
	long sum = 0;

	printf("%d %d\n", is_set(SIGTERM, SIG_DFL), is_set(SIGPROF, SIG_DFL));
	sigaltstack(&alternate, NULL);
	signal(SIGPROF, count_profile);
	sigaction(SIGALRM, &alarm_action, NULL);
	sigaction(SIGSEGV, &fault, NULL);
	sigaction(SIGRTMAX - 3, &other, NULL);
	setitimer(ITIMER_PROF, &often, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < 300; i++) {
		mprotect(page, 4096, PROT_NONE);
		page[0] = 1;
		sum += fib(15);
		sigqueue(getpid(), SIGRTMAX - 3, (union sigval){ .sival_int = 1 });
	}
	while (profiled < 5 || alarms < 20)
		sum += fib(1);
	sum -= sum;
	printf("%d %d %d %d\n", is_set(SIGPROF, count_profile), is_set(SIGALRM, count_alarm), (int)faults, (int)queued);
	signal(SIGTERM, SIG_IGN);
	raise(SIGTERM);
	printf("%d %ld\n", is_set(SIGTERM, SIG_IGN), sum);
	return 0;
}
