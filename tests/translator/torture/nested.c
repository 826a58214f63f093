/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions within functions, whose addresses are code on the stack: of the first stack, and of a thread's; and leaving several by goto. */
#include "torture.h"

#include <pthread.h>

#define COUNT 40

__attribute__((noipa)) static int apply(int (*f)(int), int n)
{
	return f(n);
}

/* The goto leaves apply() and everything below it. */
__attribute__((noipa)) static int search(const int *v, int limit, int *calls)
{
	__label__ found;
	int at = -1;
	int look(int i)
	{
		++*calls;
		if (v[i] > limit) {
			at = i;
			goto found;
		}
		return i;
	}

	for (int i = 0; i < COUNT; i++)
		EXPECT(apply(look, i) == i);
found:
	return at;
}

/* Each depth has its own code, at another place. */
__attribute__((noipa)) static int down(int depth, int (*above)(int))
{
	int here(int n)
	{
		return above(n) + depth;
	}

	return depth ? down(depth - 1, here) : apply(here, 1);
}

static int one(int n)
{
	return n;
}

static void *work(void *argument)
{
	uint64_t seed = *(uint64_t *)argument, hash = 1;
	int v[COUNT], calls = 0;

	for (int round = 0; round < 50; round++) {
		int sign = round % 2 ? 1 : -1;
		int compare(const void *a, const void *b)
		{
			return sign * ((*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b));
		}

		for (int i = 0; i < COUNT; i++)
			v[i] = (int)(torture_random(&seed) % 1000);
		qsort(v, COUNT, sizeof *v, compare);
		for (int i = 1; i < COUNT; i++)
			EXPECT(sign * (v[i] - v[i - 1]) >= 0);
		hash = hash * 31 + (uint64_t)search(v, 500, &calls);
		hash = hash * 31 + (uint64_t)down(round % 10, one);
	}
	*(uint64_t *)argument = hash + (uint64_t)calls;
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t first = torture_seed(argc, argv), second = first + 1;
	pthread_t thread;

	work(&first);
	EXPECT(!pthread_create(&thread, NULL, work, &second));
	EXPECT(!pthread_join(thread, NULL));
	printf("%lx %lx\n", first, second);
	return 0;
}
