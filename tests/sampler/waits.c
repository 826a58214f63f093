/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Calls that wait, and that no signal of somebody else's may end: each is
 * called once, with nobody to try again; and all last as long as they should.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "work.h"

#define MS 30

static volatile sig_atomic_t alarms;

static void count(int number)
{
	(void)number;
	alarms++;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void say(const char *name, long result, int error, double began)
{
	double took = 1e3 * (now() - began);

	printf("%s %ld %s %s\n", name, result, result < 0 ? strerror(error) : "", took < MS - 1 ? "too short" : "long enough");
}

/* An alarm in the middle of the call, if there is to be one; and again, for one that comes just before the call is lost. */
static void alarm_in(int ms)
{
	struct itimerval once = { { 0, ms * 1000 }, { 0, ms * 1000 } };

	setitimer(ITIMER_REAL, &once, NULL);
}

#define TRY(name, ms, call) do { \
	double began = now(); \
	alarm_in(ms); \
	errno = 0; \
	long result = (long)(call); \
	say(name, result, errno, began); \
} while (0)

static long wait_for_semaphore(void)
{
	struct timespec until;
	sem_t semaphore;

	sem_init(&semaphore, 0, 0);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += MS * 1000000L;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	return sem_timedwait(&semaphore, &until);
}

int main(void)
{
	struct timespec length = { 0, MS * 1000000L };
	struct timeval length_us = { 0, MS * 1000 };
	struct sigaction action = { .sa_handler = count };
	struct epoll_event event;
	int pair[2], queue = epoll_create1(0);
	struct pollfd nothing;
	sigset_t none;
	char byte;

	sigemptyset(&none);
	sigaction(SIGALRM, &action, NULL);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
		return 1;
	nothing = (struct pollfd){ .fd = pair[0], .events = POLLIN };
	TRY("nanosleep", 0, nanosleep(&length, NULL));
	TRY("clock_nanosleep", 0, clock_nanosleep(CLOCK_MONOTONIC, 0, &length, NULL));
	TRY("usleep", 0, usleep(MS * 1000));
	TRY("poll", 0, poll(&nothing, 1, MS));
	TRY("ppoll", 0, ppoll(&nothing, 1, &length, &none));
	TRY("select", 0, select(0, NULL, NULL, NULL, &length_us));
	TRY("pselect", 0, pselect(0, NULL, NULL, NULL, &length, &none));
	TRY("epoll_wait", 0, epoll_wait(queue, &event, 1, MS));
	TRY("epoll_pwait", 0, epoll_pwait(queue, &event, 1, MS, &none));
	TRY("sem_timedwait", 0, wait_for_semaphore());
	TRY("pause", MS, pause());
	TRY("sigsuspend", MS, sigsuspend(&none));
	/* The program's own signal must still end what it has always ended. */
	TRY("poll, alarm", MS, poll(&nothing, 1, 10 * MS));
	TRY("ppoll, alarm", MS, ppoll(&nothing, 1, NULL, &none));
	TRY("epoll, alarm", MS, epoll_wait(queue, &event, 1, -1));
	TRY("select, alarm", MS, select(0, NULL, NULL, NULL, NULL));
	TRY("recv, alarm", MS, recv(pair[0], &byte, 1, 0));
	TRY("sleep", 0, sleep(1));
	printf("%d %ld\n", alarms >= 7, fib(20));
	return 0;
}
