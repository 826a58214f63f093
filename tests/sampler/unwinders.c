/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Programs that look at their own stacks: by backtrace, by the unwinder of the
 * compiler, by libunwind where it is installed, and, as a conservative
 * collector of garbage does, word by word for pointers to what they have
 * allocated. In two threads at once.
 */
#define _GNU_SOURCE
#include <execinfo.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unwind.h>

#include "work.h"

#define BLOCKS 64
#define ROUNDS 700

/* Of libunwind, if it is linked. */
int unw_backtrace(void **place, int room) __attribute__((weak));

struct heap {
	void *block[BLOCKS];
	int marked[BLOCKS];
	const void *bottom;
};

static _Unwind_Reason_Code count_frame(struct _Unwind_Context *context, void *count)
{
	*(long *)count += _Unwind_GetIP(context) != 0;
	return _URC_NO_REASON;
}

/* Frames that the unwinders find, each its own digits. */
APART static long look(void)
{
	void *place[200];
	long count = 0, all = 0;
	int n = unw_backtrace ? unw_backtrace(place, 200) : 0, m;

	for (int i = 0; i < 20; i++)
		fib(3);                  /* time for a sample */
	m = backtrace(place, 200);
	for (int i = 0; i < m; i++)
		all += place[i] != NULL;
	_Unwind_Backtrace(count_frame, &count);
	return all * 1000 + count * 100 + n;
}

APART static void mark(struct heap *heap)
{
	jmp_buf registers;

	setjmp(registers);
	for (const uintptr_t *word = (const uintptr_t *)(const void *)registers; (const void *)word < heap->bottom; word++)
		for (int i = 0; i < BLOCKS; i++)
			if (*word == (uintptr_t)heap->block[i])
				heap->marked[i] = 1;
}

APART static long down(struct heap *heap, int n, long *depths)
{
	void *volatile mine = heap->block[n];
	long sum = fib(6);

	if (n == 0) {
		*depths += look();
		mark(heap);
		return sum + (mine != NULL);
	}
	sum += down(heap, n - 1, depths);
	return sum + (mine == heap->block[n]);
}

static void *work(void *result)
{
	struct heap heap = { .bottom = __builtin_frame_address(0) };
	long sum = 0, depths = 0, marks = 0, above = look();     /* above: how a program is started */

	for (int i = 0; i < BLOCKS; i++)
		heap.block[i] = malloc(32);
	for (int round = 0; round < ROUNDS; round++) {
		int depth = round % 40;

		for (int i = 0; i < BLOCKS; i++)
			heap.marked[i] = 0;
		sum += down(&heap, depth, &depths);
		for (int i = 0; i <= depth; i++)
			marks += heap.marked[i];
	}
	*(long *)result = sum * 31 + marks * 7 + depths - ROUNDS * above;
	return NULL;
}

int main(void)
{
	pthread_t thread;
	long mine, its;

	pthread_create(&thread, NULL, work, &its);
	work(&mine);
	pthread_join(thread, NULL);
	printf("%ld %ld\n", mine, its);
	return 0;
}
