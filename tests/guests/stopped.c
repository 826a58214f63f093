/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Collecting is off when a thread is made: nothing of that thread counts until
 * it is on again. A name for a thread may end where its memory does. Threads
 * that nobody names have the program's name.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "guest.h"
#include "include/slope.h"

#define PAGE 4096

static volatile int x;

ALONE void wanted(void)
{
	x++;
}

ALONE void unwanted(void)
{
	x++;
}

static void *second(void *unused)
{
	char *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	unwanted();
	munmap(pages + PAGE, PAGE);
	memcpy(pages + PAGE - 4, "edge", 4);
	SLOPE_NAME_THREAD(pages + PAGE - 4);
	return unused;
}

int main(void)
{
	pthread_t thread;

	SLOPE_STOP();
	pthread_create(&thread, NULL, second, NULL);
	pthread_join(thread, NULL);
	SLOPE_START();
	wanted();
	printf("%d\n", x);
	return 0;
}
