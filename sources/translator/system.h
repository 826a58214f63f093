/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The world as the translator has it: raw system calls, a few words on the
 * standard error, and pages. No libc, neither our own nor the program's.
 */
#ifndef SLOPE_SOURCES_TRANSLATOR_SYSTEM_H
#define SLOPE_SOURCES_TRANSLATOR_SYSTEM_H

#include <asm/unistd.h>

#include "core/base.h"

/* Errors are -4095..-1, as the kernel has them. */
static inline long system_call(long number, long a, long b, long c, long d, long e, long f)
{
	long result;
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;

	__asm__ volatile("syscall" : "=a"(result)
			 : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9) : "rcx", "r11", "memory");
	return result;
}

static inline bool system_failed(long result)
{
	return (unsigned long)result >= (unsigned long)-4095;
}

static inline long system_open(const char *path, int flags, int mode)
{
	return system_call(__NR_open, (long)path, flags, mode, 0, 0, 0);
}

static inline void system_close(long fd)
{
	system_call(__NR_close, fd, 0, 0, 0, 0, 0);
}

/* What the compiler calls by itself. */
void *memcpy(void *to, const void *from, size_t bytes);
void *memmove(void *to, const void *from, size_t bytes);
void *memset(void *to, int value, size_t bytes);

/* All of it, or false. */
bool system_read_at(long fd, void *to, uint64_t offset, size_t bytes);

/* Anonymous pages where the kernel likes; NULL when there are none. */
void *system_pages(size_t bytes, bool reserve);
void system_release(void *p, size_t bytes);

/* The core's and the format's pages. */
extern const struct slope_host system_host;

/* A whole file, for reading; NULL when it cannot be had. system_release with *bytes gives it back. */
const void *system_map_file(const char *path, size_t *bytes);

/* The file that messages go to, with the process id for %p and % for %%; NULL: the standard error. */
extern const char *system_log;

/*
 * One line for the user: the words, then NULL. A number goes in as
 * system_number. system_stop ends the process with status 70 after it.
 */
void system_say(const char *word, ...);
void system_stop(const char *word, ...) __attribute__((noreturn));

struct system_digits {
	char text[24];
};
const char *system_number(struct system_digits *d, uint64_t value, unsigned base);

bool system_same(const char *a, const char *b);
/* Does `text` begin with `start`? Then what follows, else NULL. */
const char *system_after(const char *text, const char *start);
/* Appends to a text in a buffer of `room` bytes, cutting it; returns its new length. */
size_t system_append(char *to, size_t length, size_t room, const char *more);

#endif
