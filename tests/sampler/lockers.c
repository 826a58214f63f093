/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads that wait for locks while main holds them for some time: by every
 * kind of lock. How long each has waited, in nanoseconds, goes to stderr with
 * the function's name. `free_ones` takes locks that nobody has.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <threads.h>
#include <time.h>

#include "work.h"

#define HELD_NS 60000000L
#define FREE_TURNS 1000

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER, timed = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
static mtx_t plain;
static sem_t semaphore;
static pthread_barrier_t ready;

static long ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

/* All of them: main holds it, says that it does, and lets it go later. */
#define WAITER(name, take, give)                                \
	APART static void name(void)                            \
	{                                                       \
		long start = ns();                              \
		int result = take;                              \
		fprintf(stderr, #name " %ld\n", ns() - start);  \
		if (result == 0)                                \
			give;                                   \
	}

static const struct timespec far_away = { 4000000000, 0 }, at_once = { 1, 0 };

WAITER(by_mutex, pthread_mutex_lock(&mutex), pthread_mutex_unlock(&mutex))
WAITER(by_timed, pthread_mutex_timedlock(&timed, &far_away), pthread_mutex_unlock(&timed))
WAITER(by_reading, pthread_rwlock_rdlock(&shared), pthread_rwlock_unlock(&shared))
WAITER(by_writing, pthread_rwlock_wrlock(&shared), pthread_rwlock_unlock(&shared))
WAITER(by_plain, mtx_lock(&plain), mtx_unlock(&plain))
WAITER(by_semaphore, sem_wait(&semaphore), sem_post(&semaphore))

APART static int free_ones(void)
{
	int wrong = 0;

	for (int i = 0; i < FREE_TURNS; i++) {
		wrong += pthread_mutex_lock(&other);
		wrong += pthread_mutex_unlock(&other);
	}
	return wrong;
}

/* One that is taken, with no time to wait for it. */
APART static int in_vain(void)
{
	int wrong = pthread_mutex_lock(&other);

	wrong += pthread_mutex_timedlock(&other, &at_once) != ETIMEDOUT;
	return wrong + pthread_mutex_unlock(&other);
}

static void *wait_for(void *waiter)
{
	pthread_barrier_wait(&ready);
	((void (*)(void))waiter)();
	return NULL;
}

int main(void)
{
	void (*waiter[])(void) = { by_mutex, by_timed, by_reading, by_writing, by_plain, by_semaphore };
	enum { WAITERS = sizeof waiter / sizeof *waiter };
	pthread_t thread[WAITERS];
	struct timespec held = { 0, HELD_NS };

	mtx_init(&plain, mtx_plain);
	sem_init(&semaphore, 0, 0);
	pthread_barrier_init(&ready, NULL, WAITERS + 1);
	for (int i = 0; i < WAITERS; i++)
		pthread_create(&thread[i], NULL, wait_for, (void *)waiter[i]);
	pthread_mutex_lock(&mutex);
	pthread_mutex_lock(&timed);
	pthread_rwlock_wrlock(&shared);
	mtx_lock(&plain);
	pthread_barrier_wait(&ready);
	nanosleep(&held, NULL);
	pthread_mutex_unlock(&mutex);
	pthread_mutex_unlock(&timed);
	pthread_rwlock_unlock(&shared);
	mtx_unlock(&plain);
	sem_post(&semaphore);
	for (int i = 0; i < WAITERS; i++)
		pthread_join(thread[i], NULL);
	printf("%d\n", free_ones() + in_vain());
	return 0;
}
