/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the guests share. A guest is a small program whose profile is known
 * before it runs; its top comment says what must come out, expect/<name> says
 * the same in numbers.
 */
#ifndef GUEST_H
#define GUEST_H

#include <stdio.h>
#include <stdlib.h>

/* A function that stays one: never inlined, cloned, or known from outside. */
#ifdef __clang__
#define ALONE __attribute__((noinline))
#else
#define ALONE __attribute__((noipa))
#endif

/* The compiler must believe that memory was used here. */
#define BARRIER() __asm__ volatile("" ::: "memory")

/* A system call without libc around it: no errno, no cancellation point, nothing read or written but by the kernel. */
static inline long raw_call3(long number, long a, const void *b, long c)
{
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "0"(number), "D"(a), "S"(b), "d"(c)
			 : "rcx", "r11", "memory");
	return result;
}

/* Tells the runner a number that only the profiled run itself knows: fact("name") in expect/. */
static inline void say_fact(const char *name, long value)
{
	const char *path = getenv("GUEST_FACTS");
	FILE *out = path ? fopen(path, "a") : NULL;

	if (!out)
		return;
	fprintf(out, "%s %ld\n", name, value);
	fclose(out);
}

#endif
