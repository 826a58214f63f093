/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One thread makes numbers, another consumes them, through a ring of 64 cells. A call of
 * consume() takes n of them: it reads the same few cells again and again, and each time
 * somebody else has written them, so its trms grows with n, and its cost is linear in it.
 * rank_all() gets the batch and counts for each number how many are smaller: n^2.
 */
#include <pthread.h>
#include <semaphore.h>

#include "growth.h"

#define MOST 1024
#define RING 64

struct ring {
	int cell[RING];
	sem_t full, empty;
};

static struct ring ring;
static int batch[MOST];

ALONE void produce(struct ring *r, size_t n, struct dice *dice)
{
	for (size_t i = 0; i < n; i++) {
		if (i % RING == 0)
			sem_wait(&r->empty);
		r->cell[i % RING] = (int)(roll(dice) % 1000);
		if (i % RING == RING - 1 || i + 1 == n)
			sem_post(&r->full);
	}
}

/* Enough work for one number that it does not matter who waits for whom. */
static unsigned digest(unsigned sum, int number)
{
	for (int i = 0; i < 12; i++)
		sum = (sum ^ (unsigned)number) * 31 + (sum >> 7);
	return sum;
}

ALONE unsigned consume(struct ring *r, int *out, size_t n)
{
	unsigned sum = 0;

	for (size_t i = 0; i < n; i++) {
		if (i % RING == 0)
			sem_wait(&r->full);
		out[i] = r->cell[i % RING];
		sum = digest(sum, out[i]);
		if (i % RING == RING - 1 || i + 1 == n)
			sem_post(&r->empty);
	}
	return sum;
}

ALONE long rank_all(const int *v, size_t n)
{
	long sum = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n; j++)
			sum += v[j] < v[i];
	return sum;
}

static void *producer(void *data)
{
	struct dice dice = { 24 };

	EACH_SIZE(n, 8, MOST)
		produce(data, n, &dice);
	return NULL;
}

int main(void)
{
	pthread_t thread;
	unsigned long sum = 0;

	sem_init(&ring.full, 0, 0);
	sem_init(&ring.empty, 0, 1);
	if (pthread_create(&thread, NULL, producer, &ring))
		return 1;
	EACH_SIZE(n, 8, MOST) {
		sum += consume(&ring, batch, n);
		sum += (unsigned long)rank_all(batch, n);
	}
	pthread_join(thread, NULL);
	printf("%lu\n", sum);
	return 0;
}
