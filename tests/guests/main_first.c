/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * main() leaves by pthread_exit before the other thread is done; the program
 * goes on until that one ends. Both threads are in the profile.
 */
#include <pthread.h>
#include <unistd.h>

#include "guest.h"

static pthread_t first;

ALONE int later(int i)
{
	return i * 2;
}

static void *survivor(void *unused)
{
	int s = 0;

	pthread_join(first, NULL);
	for (int i = 0; i < 9; i++)
		s += later(i);
	printf("%d\n", s);
	return unused;
}

ALONE void depart(void)
{
	pthread_exit(NULL);
}

int main(void)
{
	pthread_t thread;

	first = pthread_self();
	pthread_create(&thread, NULL, survivor, NULL);
	depart();
	return 1;
}
