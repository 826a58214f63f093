/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pages that are touched for the first time: 1000 by few, 5000 by many, and 300 by each of three threads and a child. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

#define PAGE 4096L

static char *fresh(long pages)
{
	char *p = mmap(NULL, (size_t)(pages * PAGE), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise(p, (size_t)(pages * PAGE), MADV_NOHUGEPAGE);
	return p;
}

APART static long touch(char *p, long pages)
{
	for (long i = 0; i < pages; i++)
		p[i * PAGE] = 1;
	return pages;
}

APART static long few(void) { return touch(fresh(1000), 1000) + 1; }
APART static long many(void) { return touch(fresh(5000), 5000) + 1; }
APART static long some(void) { return touch(fresh(300), 300) + 1; }

static void *thread(void *unused)
{
	(void)unused;
	return (void *)some();
}

int main(void)
{
	pthread_t made[3];
	void *result;
	long sum = few() + many();
	int status;

	for (int i = 0; i < 3; i++)
		pthread_create(&made[i], NULL, thread, NULL);
	for (int i = 0; i < 3; i++) {
		pthread_join(made[i], &result);
		sum += (long)result;
	}
	fflush(stdout);
	if (fork() == 0)
		return some() != 301;
	wait(&status);
	printf("%ld %d\n", sum, status);
	return 0;
}
