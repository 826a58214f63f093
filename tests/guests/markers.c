/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The macros of slope.h: collecting is stopped around the second of three
 * parts, and the threads have names. wanted() 2 + 4 calls, unwanted() none;
 * outside slope the macros do nothing.
 */
#include <pthread.h>

#include "guest.h"
#include "include/slope.h"

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
	SLOPE_NAME_THREAD("helper");
	wanted();
	return unused;
}

int main(void)
{
	pthread_t thread;

	SLOPE_NAME_THREAD("chief");
	wanted();
	wanted();
	SLOPE_STOP();
	for (int i = 0; i < 100; i++)
		unwanted();
	SLOPE_START();
	wanted();
	wanted();
	wanted();
	pthread_create(&thread, NULL, second, NULL);
	pthread_join(thread, NULL);
	printf("%d\n", x);
	return 0;
}
