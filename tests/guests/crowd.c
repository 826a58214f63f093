/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * 300 threads that are all alive at once: each reads the eight cells that
 * main() wrote and one that the thread before it wrote (the first: main() too).
 * So each look() has nine cells, all of them from another thread.
 */
#include <pthread.h>
#include <sched.h>

#include "guest.h"

#define CROWD 300

static int given[8], chain[CROWD + 1];
static pthread_barrier_t all_here;

ALONE int look(const int *shared, const int *before)
{
	int s = *before;

	for (int i = 0; i < 8; i++)
		s += shared[i];
	return s;
}

static void *member(void *place)
{
	int *mine = place;

	mine[1] = look(given, mine) & 0xff;
	pthread_barrier_wait(&all_here);
	return NULL;
}

int main(void)
{
	pthread_attr_t attr;
	pthread_t thread[CROWD];

	for (int i = 0; i < 8; i++)
		given[i] = i;
	chain[0] = 1;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 * 1024);
	pthread_barrier_init(&all_here, NULL, CROWD + 1);
	for (int i = 0; i < CROWD; i++) {
		pthread_create(&thread[i], &attr, member, &chain[i]);
		while (!*(volatile int *)&chain[i + 1])
			sched_yield();
	}
	pthread_barrier_wait(&all_here);
	for (int i = 0; i < CROWD; i++)
		pthread_join(thread[i], NULL);
	printf("%d\n", chain[CROWD]);
	return 0;
}
