/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Memory that runs out on purpose. A test that includes this is linked with
 * -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=mmap; then
 * failing_after(k) lets k allocations succeed and all later ones fail, until
 * failing_never().
 */
#ifndef SLOPE_TESTS_FAILING_H
#define SLOPE_TESTS_FAILING_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

static size_t failing_left = SIZE_MAX;

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *p, size_t bytes);
void *__real_mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *p, size_t bytes);
void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset);

static inline void failing_after(size_t allocations)
{
	failing_left = allocations;
}

static inline void failing_never(void)
{
	failing_left = SIZE_MAX;
}

static inline bool failing_now(void)
{
	if (failing_left == 0) {
		errno = ENOMEM;
		return true;
	}
	if (failing_left != SIZE_MAX)
		failing_left--;
	return false;
}

void *__wrap_malloc(size_t bytes)
{
	return failing_now() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
	return failing_now() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *p, size_t bytes)
{
	return failing_now() ? NULL : __real_realloc(p, bytes);
}

void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	return failing_now() ? MAP_FAILED : __real_mmap(at, bytes, protection, flags, fd, offset);
}

#endif
