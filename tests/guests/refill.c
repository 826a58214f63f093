/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two buffers that one thread fills and another one reads, again and again,
 * taking turns through pipes as in handoff. take_both() reads both, and the
 * first once more after it was filled anew: 3 times CELLS by trms, twice by
 * rms, and two descriptors. Then main reads a few cells of the second one,
 * refilled since, and another function, as deep on the stack as take_both()
 * was, all of it: the cells belong to nobody below main. Now and then nobody
 * reads what was filled, or the reader writes to it.
 */
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest.h"

#define CELLS 64
#define FEW 8
#define ROUNDS 24

static int first[CELLS] __attribute__((aligned(64))), second[CELLS] __attribute__((aligned(64))), zeroes[CELLS];
static int asked[2], done[2];

ALONE void pass(int fd, char what)
{
	raw_call3(SYS_write, fd, &what, 1);
}

ALONE char await(int fd)
{
	char what;

	return raw_call3(SYS_read, fd, &what, 1) == 1 ? what : 0;
}

/* The first buffer cell by cell, the second one at once. */
ALONE void fill(int what)
{
	if (what == '1')
		for (int i = 0; i < CELLS; i++)
			((volatile int *)first)[i] = i;
	else
		memcpy(second, zeroes, sizeof second);
}

static void *filler(void *unused)
{
	char what;

	while ((what = await(asked[0])) != 0) {
		fill(what);
		pass(done[1], what);
	}
	return unused;
}

/* Does not look at the byte that it gets. */
ALONE void have_filled(char what)
{
	char ignored;

	pass(asked[1], what);
	raw_call3(SYS_read, done[0], &ignored, 1);
}

ALONE int take(const volatile int *buffer)
{
	int sum = 0;

	for (int i = 0; i < CELLS; i++)
		sum += buffer[i];
	return sum;
}

ALONE int take_both(void)
{
	int sum = take(first) + take(second);

	have_filled('1');
	return sum + take(first);
}

ALONE int take_second(void)
{
	return take(second);
}

/* Its own cells from then on: no input, until they are filled again. */
ALONE int scribble(void)
{
	for (int i = 0; i < CELLS; i += 2)
		((volatile int *)first)[i] = i;
	return first[0] + first[CELLS - 2];
}

int main(void)
{
	pthread_t thread;
	int sum = 0;

	if (pipe(asked) || pipe(done))
		return 1;
	pthread_create(&thread, NULL, filler, NULL);
	for (int round = 0; round < ROUNDS; round++) {
		have_filled('1');
		have_filled('2');
		if (round % 5 == 4) {
			have_filled('1');
			have_filled('2');
		}
		sum += take_both();
		have_filled('2');
		for (int i = 0; i < FEW; i++)
			sum += ((volatile int *)second)[i];
		sum += take_second();
		if (round % 7 == 6)
			sum += scribble();
	}
	close(asked[1]);
	pthread_join(thread, NULL);
	printf("%d\n", sum);
	return 0;
}
