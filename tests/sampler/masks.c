/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A program that blocks every signal, waits for signals, and gives every signal a handler. */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "work.h"

static volatile sig_atomic_t stray;

static void count_stray(int number)
{
	(void)number;
	stray++;
}

static void *waiter(void *arg)
{
	int got = 0, number;
	sigset_t all;

	(void)arg;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	for (int i = 0; i < 50; i++) {
		sigset_t one;

		sigemptyset(&one);
		sigaddset(&one, SIGUSR2);
		pthread_kill(pthread_self(), SIGUSR2);
		got += sigwait(i % 2 ? &one : &all, &number) == 0 && number == SIGUSR2;
		fib(12);
	}
	printf("%d\n", got);
	return NULL;
}

int main(void)
{
	struct sigaction action = { .sa_handler = count_stray };
	struct signalfd_siginfo info;
	sigset_t all, before, now;
	pthread_t thread;

	sigfillset(&action.sa_mask);
	for (int number = 1; number < NSIG; number++)
		sigaction(number, &action, NULL);
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	long sum = fib(27);

	sigprocmask(SIG_BLOCK, NULL, &now);
	printf("%d %d\n", sigismember(&now, SIGINT), sigismember(&now, SIGPROF));
	pthread_create(&thread, NULL, waiter, NULL);
	pthread_join(thread, NULL);
	int fd = signalfd(-1, &all, SFD_CLOEXEC);
	struct pollfd ready = { .fd = fd, .events = POLLIN };

	kill(getpid(), SIGHUP);
	fib(25);
	while (poll(&ready, 1, -1) < 0)
		;                        /* a sample by the time that passes wakes it up */
	ssize_t bytes = read(fd, &info, sizeof info);

	printf("%zd %u\n", bytes, info.ssi_signo);
	sigprocmask(SIG_SETMASK, &before, NULL);
	printf("%ld %d\n", sum, (int)stray);
	return 0;
}
