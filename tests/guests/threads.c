/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads that end in every way: by return, by pthread_exit deep in a call, by
 * cancellation, and detached while main() ends. All their calls are counted,
 * with the frames that never returned.
 */
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

#include "guest.h"

#define EACH 4

static sem_t started;
static volatile int never;

ALONE void work(int *place)
{
	++*place;
}

ALONE void leave(int *place)
{
	work(place);
	pthread_exit(NULL);
}

static void *returns(void *place)
{
	work(place);
	return NULL;
}

static void *exits(void *place)
{
	leave(place);
	return NULL;
}

ALONE void linger(int *place)
{
	work(place);
	sem_post(&started);
	for (;;)
		pause();
}

static void *is_cancelled(void *place)
{
	linger(place);
	return NULL;
}

static void *is_detached(void *place)
{
	linger(place);
	return NULL;
}

static void start(pthread_t *thread, void *(*run)(void *), int *places)
{
	for (int i = 0; i < EACH; i++)
		pthread_create(&thread[i], NULL, run, &places[i]);
}

static void wait_started(void)
{
	for (int i = 0; i < EACH; i++)
		sem_wait(&started);
}

int main(void)
{
	static int place[4 * EACH];
	pthread_t thread[4 * EACH];
	int s = 0;

	sem_init(&started, 0, 0);
	start(thread, returns, place);
	start(thread + EACH, exits, place + EACH);
	start(thread + 2 * EACH, is_cancelled, place + 2 * EACH);
	wait_started();
	for (int i = 2 * EACH; i < 3 * EACH; i++)
		pthread_cancel(thread[i]);
	for (int i = 0; i < 3 * EACH; i++)
		pthread_join(thread[i], NULL);
	start(thread + 3 * EACH, is_detached, place + 3 * EACH);
	for (int i = 3 * EACH; i < 4 * EACH; i++)
		pthread_detach(thread[i]);
	wait_started();
	for (int i = 0; i < 4 * EACH; i++)
		s += place[i];
	printf("%d\n", s);
	return never;
}
