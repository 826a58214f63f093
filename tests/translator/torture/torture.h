/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the torture guests share. Each takes a seed as its first argument,
 * checks itself, and ends with status 0 and a few words that do not depend on
 * when signals came. A failed EXPECT says where and ends with status 1.
 */
#ifndef SLOPE_TESTS_TRANSLATOR_TORTURE_H
#define SLOPE_TESTS_TRANSLATOR_TORTURE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
#define EXPECT(what) ((what) ? (void)0 : torture_fail(__FILE__ ":" TEXT(__LINE__) ": " #what "\n"))

/* May be called from a handler. */
static inline void torture_fail(const char *what)
{
	if (write(2, what, strlen(what)) < 0)
		_exit(2);
	_exit(1);
}

static inline uint64_t torture_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static inline uint64_t torture_seed(int argc, char **argv)
{
	return argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
}

static inline uint64_t torture_hash(uint64_t hash, const void *bytes, size_t count)
{
	const unsigned char *at = bytes;

	while (count--)
		hash = (hash ^ *at++) * UINT64_C(0x100000001b3);
	return hash;
}

static inline void torture_handle(int number, void (*handler)(int, siginfo_t *, void *), int flags)
{
	struct sigaction a = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO | flags };

	EXPECT(sigaction(number, &a, NULL) == 0);
}

/* One SIGALRM after this many microseconds; 0: none. */
static inline void torture_alarm(unsigned microseconds)
{
	struct itimerval once = { .it_value = { 0, microseconds } };

	setitimer(ITIMER_REAL, &once, NULL);
}

#endif
