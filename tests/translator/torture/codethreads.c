/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads that make code side by side in the same pages and run it, while signals come: in memory that may be written and
 * run, and in memory that is mapped once for each. One thread makes functions for all others, too, at places that are used again.
 */
#include "torture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>

#define THREADS 4
#define ROUNDS 400
#define SLOT 128
#define PLACES 8

typedef uint32_t (*function)(uint32_t);

static unsigned char *written, *run;      /* the same memory */
static _Atomic(function) published;
static _Atomic uint64_t taken[THREADS];   /* rounds of the publisher that each has seen */
static atomic_int alarms;

static void on_alarm(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	(void)context;
	alarms++;
}

/* lea n(%rdi), %eax; then a store to its own stack, and ret. */
static void store(unsigned char *at, uint32_t value)
{
	memcpy(at, "\x8d\x87", 2);
	memcpy(at + 2, &value, 4);
	memcpy(at + 6, "\x89\x44\x24\xf8\xc3", 5);
}

static void *own_code(void *argument)
{
	size_t thread = (size_t)argument;
	uint64_t state = thread + 1;

	for (int i = 0; i < ROUNDS; i++) {
		size_t at = (thread + torture_random(&state) % PLACES * THREADS) * SLOT;
		uint32_t value = (uint32_t)torture_random(&state);

		store(written + at, value);
		for (uint32_t x = 0; x < 5; x++)
			EXPECT(((function)(run + at))(x) == value + x);
	}
	return NULL;
}

/* Each function adds the number of its round; only where all have come that far its place is used again. */
static void *taker(void *argument)
{
	size_t thread = (size_t)argument;
	uint32_t last = 0;

	while (last < ROUNDS) {
		function f = published;
		uint32_t round = f ? f(0) : 0;

		EXPECT(round >= last);
		last = round;
		taken[thread] = round;
	}
	return NULL;
}

static void *maker(void *argument)
{
	(void)argument;
	for (uint32_t round = 1; round <= ROUNDS; round++) {
		size_t at = 8192 + round % PLACES * SLOT;

		for (size_t t = 0; t + 1 < THREADS; t++)
			while (taken[t] + PLACES - 1 < round)
				sched_yield();
		store(written + at, round);
		published = (function)(run + at);
	}
	return NULL;
}

static void all(const char *where)
{
	pthread_t thread[THREADS];

	memset(taken, 0, sizeof taken);
	published = NULL;
	for (size_t t = 0; t < THREADS; t++)
		EXPECT(pthread_create(&thread[t], NULL, own_code, (void *)t) == 0);
	for (size_t t = 0; t < THREADS; t++)
		pthread_join(thread[t], NULL);
	for (size_t t = 0; t < THREADS; t++)
		EXPECT(pthread_create(&thread[t], NULL, t + 1 < THREADS ? taker : maker, (void *)t) == 0);
	for (size_t t = 0; t < THREADS; t++)
		pthread_join(thread[t], NULL);
	puts(where);
}

int main(int argc, char **argv)
{
	const int rw = PROT_READ | PROT_WRITE;
	uint64_t seed = torture_seed(argc, argv);
	struct itimerval often = { { 0, 500 + (long)(seed % 17) * 100 }, { 0, 500 } };
	int fd = memfd_create("code", 0);

	setvbuf(stdout, NULL, _IONBF, 0);
	torture_handle(SIGALRM, on_alarm, SA_RESTART);
	setitimer(ITIMER_REAL, &often, NULL);
	written = run = mmap(NULL, 16384, rw | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	EXPECT(run != MAP_FAILED);
	all("in the same place");
	EXPECT(fd >= 0 && ftruncate(fd, 16384) == 0);
	written = mmap(NULL, 16384, rw, MAP_SHARED, fd, 0);
	run = mmap(NULL, 16384, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
	EXPECT(written != MAP_FAILED && run != MAP_FAILED);
	all("in another place");
	return 0;
}
