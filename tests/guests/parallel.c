/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Data-parallel work: threads sum their parts of one array again and again,
 * and change them. What the first thread wrote is input from another thread
 * when a part is read first; what a thread has changed itself is not.
 * Usage: parallel [THREADS [ROUNDS]]
 */
#include <pthread.h>

#include "guest.h"

#define PART 4096
#define THREADS_MAX 64

static int data[THREADS_MAX][PART];
static long result[THREADS_MAX][8];      /* one of each is used */
static int threads = 8, rounds = 20;

ALONE void fill(int *part)
{
	for (int i = 0; i < PART; i++)
		part[i] = i;
}

ALONE long sum_part(const int *part)
{
	long sum = 0;

	for (int i = 0; i < PART; i++)
		sum += part[i];
	return sum;
}

ALONE void change_part(int *part, int by)
{
	for (int i = 0; i < PART; i++)
		part[i] += by;
}

static void *work(void *arg)
{
	long n = (long)arg, sum = 0;

	for (int round = 0; round < rounds; round++) {
		sum += sum_part(data[n]);
		if (round % 4 == 3)
			change_part(data[n], round);
	}
	result[n][0] = sum;
	return NULL;
}

ALONE long collect(void)
{
	long sum = 0;

	for (int n = 0; n < threads; n++)
		sum += result[n][0];
	return sum;
}

int main(int argc, char **argv)
{
	pthread_t thread[THREADS_MAX];
	long sum = 0;

	if (argc > 1)
		threads = atoi(argv[1]);
	if (argc > 2)
		rounds = atoi(argv[2]);
	for (int n = 0; n < threads; n++)
		fill(data[n]);
	for (long n = 0; n < threads; n++)
		pthread_create(&thread[n], NULL, work, (void *)n);
	for (int n = 0; n < threads; n++)
		pthread_join(thread[n], NULL);
	for (int n = 0; n < threads; n++)
		sum += sum_part(data[n]);
	printf("%ld %ld\n", collect(), sum);
	return 0;
}
