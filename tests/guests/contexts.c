/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Paths: one function from several callers and lines, a recursion, a handler, a non-local exit, a pointer to functions, two threads. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>

#include "tests/guests/guest.h"

static volatile int sink;
static jmp_buf back;

static ALONE void leaf(int n)
{
	for (int i = 0; i < n; i++)
		sink += i;
}

static ALONE void twice(int n)
{
	leaf(n);                 /* line 20 */
	leaf(2 * n);             /* line 21 */
	sink++;
}

static ALONE void down(int n)
{
	if (n > 1)
		down(n - 1);
	leaf(n);
	sink++;
}

static ALONE void thrower(int n)
{
	leaf(n);
	longjmp(back, 1);
}

static ALONE void between(int n)
{
	thrower(n);
	sink++;
}

static ALONE void handler(int signal)
{
	twice(signal);
	sink++;
}

static ALONE void *other(void *arg)
{
	for (int i = 0; i < 7; i++)
		twice(i);
	sink++;
	return arg;
}

int main(void)
{
	void (*const call[])(int) = { leaf, twice, down };
	pthread_t thread;

	signal(SIGUSR1, handler);
	for (int i = 0; i < 9; i++)
		call[i % 3](4);
	for (int i = 0; i < 5; i++)
		if (!setjmp(back))
			between(3);
	raise(SIGUSR1);
	leaf(1);
	pthread_create(&thread, NULL, other, NULL);
	pthread_join(thread, NULL);
	return 0;
}
