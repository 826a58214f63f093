/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Input through three hands: the kernel fills a block, a thread copies it, the
 * first thread sums the copy and the original. The copy is input from the
 * thread, the original is external, even though another thread has read it; a
 * second sum of the same cells by the same thread is plain input again, and a
 * block that a thread filled before it ended is still from a thread.
 */
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "guest.h"

#define CELLS 32

static int raw[CELLS], copied[CELLS];

ALONE int sum_copied(const int *v)
{
	int s = 0;

	for (int i = 0; i < CELLS; i++)
		s += v[i];
	return s;
}

ALONE int sum_raw(const int *v)
{
	int s = 1;

	for (int i = 0; i < CELLS; i++)
		s += v[i];
	return s;
}

ALONE void copy_block(int *to, const int *from)
{
	for (volatile int i = 0; i < CELLS; i++)
		to[i] = from[i] + 1;
}

static void *copier(void *unused)
{
	copy_block(copied, raw);
	return unused;
}

int main(void)
{
	int fd = open("/dev/zero", O_RDONLY);
	pthread_t thread;

	if (read(fd, raw, sizeof(raw)) != sizeof(raw))
		return 1;
	pthread_create(&thread, NULL, copier, NULL);
	pthread_join(thread, NULL);
	printf("%d %d\n", sum_copied(copied), sum_raw(raw));
	printf("%d %d\n", sum_copied(copied), sum_raw(raw));
	return 0;
}
