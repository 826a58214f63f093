/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Allocations whose bytes are known, and what of them is still there at the
 * end: by every function that allocates, in threads, and freed by others.
 *
 *   along      allocates   lives
 *   kept         100000    100000   1000 blocks of 100
 *   dropped      100000         0   freed at once
 *   grown         30000     20000   realloc: 10000, then 20000
 *   all_kinds      6500      6500   calloc 10 x 50, reallocarray 10 x 100, and aligned ones of 1000 each
 *   thread       200000    100000   100 blocks of 1000 in each of two threads; main frees those of one
 *   failed            0         0   nothing that was asked for was to be had
 */
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "work.h"

#define BLOCKS 1000
#define THREAD_BLOCKS 100

static void *block[BLOCKS], *of_thread[2][THREAD_BLOCKS];

APART static void kept(void)
{
	for (int i = 0; i < BLOCKS; i++)
		block[i] = malloc(100);
}

APART static void dropped(void)
{
	for (int i = 0; i < BLOCKS; i++) {
		void *volatile p = malloc(100);

		free(p);
	}
}

APART static void *grown(void)
{
	void *volatile p = malloc(10000);

	p = realloc(p, 20000);
	return p;
}

APART static void all_kinds(void *to[7])
{
	to[0] = calloc(10, 50);
	to[1] = reallocarray(NULL, 10, 100);
	if (posix_memalign(&to[2], 64, 1000) != 0)
		to[2] = NULL;
	to[3] = aligned_alloc(64, 1000);
	to[4] = memalign(64, 1000);
	to[5] = valloc(1000);
	to[6] = pvalloc(1000);
}

APART static int failed(void)
{
	volatile size_t too_much = PTRDIFF_MAX;
	void *volatile p = malloc(too_much);
	void *volatile q = calloc(too_much, 2);

	return p || q || reallocarray(NULL, too_much, 4);
}

APART static void *thread(void *mine)
{
	for (int i = 0; i < THREAD_BLOCKS; i++)
		((void **)mine)[i] = malloc(1000);
	return NULL;
}

int main(void)
{
	pthread_t made[2];
	void *kinds[7];

	kept();
	dropped();
	void *large = grown();

	all_kinds(kinds);
	int wrong = failed();

	for (int i = 0; i < 2; i++)
		pthread_create(&made[i], NULL, thread, of_thread[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(made[i], NULL);
	for (int i = 0; i < THREAD_BLOCKS; i++)
		free(of_thread[1][i]);
	printf("%d %d\n", wrong, large && block[0] && kinds[6]);
	return 0;
}
