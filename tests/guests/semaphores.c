/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Producer and consumer with real semaphores. Each consume_data() reads the one
 * cell that the other thread has just written: n calls of size 1, n cells from
 * the thread. The consumer's own trms also holds what sem_wait and sem_post
 * read, so it is n or more; its rms stays small whatever n is.
 */
#include <pthread.h>
#include <semaphore.h>

#include "guest.h"

#define VALUES 200

static sem_t empty, full;
static volatile int x;

ALONE int consume_data(void)
{
	return x;
}

ALONE void produce_data(int i)
{
	x = i;
}

ALONE long consumer(int n)
{
	long s = 0;

	for (int i = 0; i < n; i++) {
		sem_wait(&full);
		s += consume_data();
		sem_post(&empty);
	}
	return s;
}

static void *producer(void *unused)
{
	for (int i = 0; i < VALUES; i++) {
		sem_wait(&empty);
		produce_data(i);
		sem_post(&full);
	}
	return unused;
}

int main(void)
{
	pthread_t thread;

	sem_init(&empty, 0, 1);
	sem_init(&full, 0, 0);
	pthread_create(&thread, NULL, producer, NULL);
	printf("%ld\n", consumer(VALUES));
	pthread_join(thread, NULL);
	return 0;
}
