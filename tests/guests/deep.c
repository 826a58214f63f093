/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Recursion a million deep, on a thread with a large stack or (argument
 * "main") on the first thread: 1 000 001 activations of size 0, and a total
 * that counts the outermost one only.
 */
#include <pthread.h>
#include <string.h>

#include "guest.h"

#define DEPTH 1000000

ALONE unsigned down(unsigned n)
{
	if (n == 0)
		return 0;
	return down(n - 1) + 3;
}

static void *run(void *result)
{
	*(unsigned *)result = down(DEPTH);
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned result = 0;
	pthread_attr_t attr;
	pthread_t thread;

	if (argc > 1 && strcmp(argv[1], "main") == 0) {
		run(&result);
	} else {
		pthread_attr_init(&attr);
		pthread_attr_setstacksize(&attr, (size_t)256 << 20);
		if (pthread_create(&thread, &attr, run, &result))
			return 1;
		pthread_join(thread, NULL);
	}
	printf("%u\n", result);
	return 0;
}
