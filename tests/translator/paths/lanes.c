/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two threads through the same functions, each with paths of its own. */
#include <pthread.h>
#include <stdio.h>

#define KEEP __attribute__((noinline, noclone))

static volatile int sink;

KEEP static int step(unsigned *state)
{
	*state = *state * 1103515245 + 12345;
	if (*state & 0x10000)
		return *state & 0x20000 ? 1 : 2;
	if (*state & 0x40000)
		sink = 1;
	return 3;
}

KEEP static int walk(unsigned seed, int n)
{
	int s = 0;

	for (int i = 0; i < n; i++) {
		int a = step(&seed);

		if (a == 1)
			s += 1;
		else if (a == 2 && i & 1)
			s -= 2;
	}
	return s;
}

static void *lane(void *what)
{
	int *number = what;

	*number = walk((unsigned)*number, 100 * *number);
	if (*number & 1)
		pthread_exit(NULL);
	return NULL;
}

int main(void)
{
	int number[2] = { 2, 5 };
	pthread_t thread[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, lane, &number[i]);
	int s = walk(9, 50);

	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	printf("%d %d %d\n", s, number[0], number[1]);
	return 0;
}
