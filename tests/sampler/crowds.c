/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Thousands of short threads, some of which end in the middle of a recursion, some by cancellation. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "work.h"

static long cleaned;

static void clean(void *arg)
{
	(void)arg;
	__atomic_fetch_add(&cleaned, 1, __ATOMIC_RELAXED);
}

APART static long leave_at(int n)
{
	long sum = fib(6);

	if (n == 0)
		pthread_exit((void *)(intptr_t)7);
	return leave_at(n - 1) + sum;
}

APART static long cancelled_at(int n)
{
	long sum = 0;

	pthread_cleanup_push(clean, NULL);
	if (n == 0)
		for (;;) {
			sum += fib(5);
			pthread_testcancel();
		}
	sum += cancelled_at(n - 1);
	pthread_cleanup_pop(1);
	return sum;
}

static void *shorter(void *arg)
{
	return (void *)(intptr_t)fib((int)(intptr_t)arg);
}

static void *leaving(void *arg)
{
	return (void *)(intptr_t)leave_at((int)(intptr_t)arg);
}

static void *cancelled(void *arg)
{
	return (void *)(intptr_t)cancelled_at((int)(intptr_t)arg);
}

int main(void)
{
	long sum = 0, cancellations = 0;

	for (int round = 0; round < 400; round++) {
		pthread_t thread[4];
		void *result;

		pthread_create(&thread[0], NULL, shorter, (void *)(intptr_t)(round % 18));
		pthread_create(&thread[1], NULL, leaving, (void *)(intptr_t)(round % 30));
		pthread_create(&thread[2], NULL, shorter, (void *)(intptr_t)15);
		pthread_create(&thread[3], NULL, cancelled, (void *)(intptr_t)(round % 20));
		for (int i = 0; i < 3; i++) {
			pthread_join(thread[i], &result);
			sum += (long)(intptr_t)result;
		}
		pthread_cancel(thread[3]);
		pthread_join(thread[3], &result);
		cancellations += result == PTHREAD_CANCELED;
	}
	printf("%ld %ld %ld\n", sum, cancellations, cleaned);
	return 0;
}
