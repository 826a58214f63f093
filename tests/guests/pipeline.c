/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A pipeline: each stage is a thread that takes blocks of items from the one
 * before it and gives blocks to the one behind it, several at a time, so that
 * all of them run at once. A stage reads each item once and nothing else, so
 * that its trms is the number of items, all of it from another thread.
 */
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest.h"

#define STAGES 4
#define BLOCK 64
#define SLOTS 8
#define BLOCKS 512               /* per stage */

static int ring[STAGES + 1][SLOTS][BLOCK];
static int full[STAGES + 1][2], empty[STAGES + 1][2];    /* pipes: one byte per block */

ALONE void pass(int fd)
{
	char byte = 'x';

	raw_call3(SYS_write, fd, &byte, 1);
}

ALONE void await(int fd)
{
	char ignored;

	raw_call3(SYS_read, fd, &ignored, 1);
}

ALONE void transform(const int *from, int *to)
{
	for (int i = 0; i < BLOCK; i++)
		to[i] = from[i] * 3 + 1;
}

ALONE void stage(int (*from)[BLOCK], int (*to)[BLOCK], int get, int got, int put)
{
	int wait = put >> 16;

	put &= 0xffff;
	for (int i = 0; i < BLOCKS; i++) {
		await(get);
		await(wait);
		transform(from[i % SLOTS], to[i % SLOTS]);
		pass(got);
		pass(put);
	}
}

static void *run(void *arg)
{
	long n = (long)arg;

	stage(ring[n], ring[n + 1], full[n][0], empty[n][1], full[n + 1][1] | empty[n + 1][0] << 16);
	return NULL;
}

ALONE void feed(int i)
{
	for (int k = 0; k < BLOCK; k++)
		ring[0][i % SLOTS][k] = i + k;
}

ALONE long drain(int i)
{
	long sum = 0;

	for (int k = 0; k < BLOCK; k++)
		sum += ring[STAGES][i % SLOTS][k];
	return sum;
}

int main(void)
{
	pthread_t thread[STAGES];
	long sum = 0;

	for (int n = 0; n <= STAGES; n++) {
		if (pipe(full[n]) || pipe(empty[n]))
			return 1;
		for (int i = 0; i < SLOTS; i++)
			pass(empty[n][1]);
	}
	for (long n = 0; n < STAGES; n++)
		pthread_create(&thread[n], NULL, run, (void *)n);
	for (int i = 0; i < BLOCKS + SLOTS; i++) {
		if (i < BLOCKS) {
			await(empty[0][0]);
			feed(i);
			pass(full[0][1]);
		}
		if (i >= SLOTS) {
			await(full[STAGES][0]);
			sum += drain(i - SLOTS);
			pass(empty[STAGES][1]);
		}
	}
	for (int n = 0; n < STAGES; n++)
		pthread_join(thread[n], NULL);
	printf("%ld\n", sum);
	return 0;
}
