/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Producer and consumer of the second paper. They take turns through two pipes
 * with raw system calls, so that nothing but x is ever read: the consumer has
 * rms 1 and trms n, all of it from the other thread. consume_data() is called
 * n times with one cell each.
 */
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest.h"

#define VALUES 50

static volatile int x;

ALONE void pass(int fd)
{
	char byte = 'x';         /* its own, so what the kernel reads there is no input */

	raw_call3(SYS_write, fd, &byte, 1);
}

ALONE void await(int fd)
{
	char ignored;

	raw_call3(SYS_read, fd, &ignored, 1);
}

ALONE int consume_data(void)
{
	return x;
}

ALONE void produce_data(int i)
{
	x = i;
}

ALONE long consumer(int full, int empty, int n)
{
	long s = 0;

	for (int i = 0; i < n; i++) {
		await(full);
		s += consume_data();
		pass(empty);
	}
	return s;
}

ALONE void producer(int full, int empty, int n)
{
	for (int i = 0; i < n; i++) {
		await(empty);
		produce_data(i);
		pass(full);
	}
}

static int full_pipe[2], empty_pipe[2];

static void *run_producer(void *unused)
{
	producer(full_pipe[1], empty_pipe[0], VALUES);
	return unused;
}

int main(void)
{
	pthread_t thread;

	if (pipe(full_pipe) || pipe(empty_pipe))
		return 1;
	pthread_create(&thread, NULL, run_producer, NULL);
	pass(empty_pipe[1]);
	printf("%ld\n", consumer(full_pipe[0], empty_pipe[1], VALUES));
	pthread_join(thread, NULL);
	return 0;
}
