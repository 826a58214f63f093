/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The program's own timers of every kind, at once: setitimer's three, timers
 * with a signal for a thread, with a thread of their own, and with the
 * process's clock; and a handler that is on another stack when it jumps away.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "work.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif
#define ENOUGH 15

static volatile sig_atomic_t came[NSIG];
static volatile long notified;
static __thread sigjmp_buf back;
static __thread volatile sig_atomic_t may_jump;

static void count(int number)
{
	came[number]++;
	fib(7);
}

static void leave(int number)
{
	came[number]++;
	if (may_jump) {
		may_jump = 0;
		siglongjmp(back, 1);
	}
}

static void notify(union sigval value)
{
	__atomic_fetch_add(&notified, value.sival_int, __ATOMIC_RELAXED);
	fib(9);
}

static void set_timer(clockid_t clock, struct sigevent *event, timer_t *timer)
{
	struct itimerspec often = { { 0, 700000 }, { 0, 700000 } };

	if (timer_create(clock, event, timer) != 0 || timer_settime(*timer, 0, &often, NULL) != 0)
		abort();
}

static void *threaded(void *unused)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR2 };
	stack_t alternate = { .ss_sp = malloc(1 << 16), .ss_size = 1 << 16 };
	volatile long jumps = 0;
	timer_t timer;

	event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
	sigaltstack(&alternate, NULL);
	set_timer(CLOCK_MONOTONIC, &event, &timer);
	while (jumps < 100)
		if (sigsetjmp(back, 1) == 0) {
			may_jump = 1;
			for (;;)
				fib(11);
		} else {
			jumps++;
		}
	timer_delete(timer);
	alternate.ss_flags = SS_DISABLE;
	sigaltstack(&alternate, NULL);
	free(alternate.ss_sp);
	return unused;
}

int main(void)
{
	struct itimerval often = { { 0, 900 }, { 0, 900 } }, never = { { 0, 0 }, { 0, 0 } };
	struct sigaction jumping = { .sa_handler = leave, .sa_flags = SA_ONSTACK };
	struct sigevent signal_event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN };
	struct sigevent thread_event = { .sigev_notify = SIGEV_THREAD, .sigev_notify_function = notify, .sigev_value.sival_int = 1 };
	timer_t by_signal, by_thread;
	pthread_t thread[2];
	long sum = 0;

	signal(SIGPROF, count);
	signal(SIGVTALRM, count);
	signal(SIGALRM, count);
	signal(SIGRTMIN, count);
	sigaction(SIGUSR2, &jumping, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	setitimer(ITIMER_VIRTUAL, &often, NULL);
	setitimer(ITIMER_PROF, &often, NULL);
	set_timer(CLOCK_PROCESS_CPUTIME_ID, &signal_event, &by_signal);
	set_timer(CLOCK_REALTIME, &thread_event, &by_thread);
	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, threaded, &often);
	while (came[SIGPROF] < ENOUGH || came[SIGVTALRM] < ENOUGH || came[SIGALRM] < ENOUGH || came[SIGRTMIN] < ENOUGH ||
	       notified < ENOUGH)
		sum += fib(14) - 377;
	setitimer(ITIMER_REAL, &never, NULL);
	setitimer(ITIMER_VIRTUAL, &never, NULL);
	setitimer(ITIMER_PROF, &never, NULL);
	timer_delete(by_signal);
	timer_delete(by_thread);
	for (int i = 0; i < 2; i++) {
		void *result = NULL;

		pthread_join(thread[i], &result);
		sum += result != NULL;
	}
	printf("%ld\n", sum);
	return 0;
}
