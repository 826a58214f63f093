/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Becomes a daemon, once by hand and once by the C library, each with threads; the first process waits for what they say. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

static void *threaded(void *arg)
{
	*(long *)arg = fib(20);
	return NULL;
}

APART static long serve(int n)
{
	pthread_t thread;
	long sum = 0;

	if (n)
		return serve(n - 1) + fib(8);
	pthread_create(&thread, NULL, threaded, &sum);
	pthread_join(thread, NULL);
	return sum;
}

/* By two forks, in a session of its own. */
APART static void become_daemon(void)
{
	if (fork())
		_exit(0);
	setsid();
	if (fork())
		_exit(0);
	umask(0);
	if (chdir("/") != 0)
		abort();
	int null = open("/dev/null", O_RDWR);

	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
}

static long start(int by_hand)
{
	int ends[2], status;
	long sum = -1;

	if (pipe(ends) != 0)
		abort();
	pid_t pid = fork();

	if (pid == 0) {
		close(ends[0]);
		if (by_hand)
			become_daemon();
		else if (daemon(0, 0) != 0)
			abort();
		sum = serve(10);
		exit(write(ends[1], &sum, sizeof sum) != sizeof sum);
	}
	close(ends[1]);
	waitpid(pid, &status, 0);
	if (read(ends[0], &sum, sizeof sum) != sizeof sum || status)
		sum = -1;
	close(ends[0]);
	return sum;
}

int main(void)
{
	long sum = fib(22);

	for (int i = 0; i < 6; i++)
		sum += start(i % 2);
	printf("%ld\n", sum);
	return 0;
}
