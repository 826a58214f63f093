/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What every file of the core and of the format stands on: integer types, two
 * hints for the compiler, the assertion, and the host.
 *
 * Core and format are freestanding: they call no libc, keep no globals and
 * read no clock. Whatever they need from the world comes through slope_host.
 */
#ifndef SLOPE_CORE_BASE_H
#define SLOPE_CORE_BASE_H

#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>

#define SLOPE_LIKELY(x) __builtin_expect(!!(x), 1)
#define SLOPE_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define SLOPE_APART __attribute__((noinline))   /* a rare case that would cost the usual one registers */
#define SLOPE_INLINE static inline __attribute__((always_inline))

/* Two cache lines: what one processor writes often is so far from what others read. */
#define SLOPE_APART_BYTES 128
#define SLOPE_FAR_APART _Alignas(SLOPE_APART_BYTES)

/* Only for our own mistakes; what a file or a program can do gets an error. */
#define SLOPE_ASSERT(x) ((void)(SLOPE_LIKELY(x) || (__builtin_trap(), 0)))

/* Cost units that one session can count at the same time. */
#define SLOPE_UNITS_MAX 4

/*
 * Pages for the core. `pages` returns zeroed, page-aligned memory or NULL;
 * `release` takes back exactly what one `pages` call gave. `bytes` is always a
 * multiple of SLOPE_PAGE_BYTES. Threads that run at once may call both at once.
 */
#define SLOPE_PAGE_BYTES 4096u

struct slope_host {
	void *(*pages)(void *ctx, size_t bytes);
	void (*release)(void *ctx, void *p, size_t bytes);
	void *ctx;
	/* Another thread is waited for: let it run. May be NULL. */
	void (*yield)(void *ctx);
};

static inline size_t slope_page_round(size_t bytes)
{
	return (bytes + SLOPE_PAGE_BYTES - 1) & ~(size_t)(SLOPE_PAGE_BYTES - 1);
}

/* 64 bits well mixed; for every hash table of the repository. */
static inline uint64_t slope_mix64(uint64_t x)
{
	x ^= x >> 32;
	x *= UINT64_C(0xd6e8feb86659fd93);
	x ^= x >> 32;
	x *= UINT64_C(0xd6e8feb86659fd93);
	return x ^ (x >> 32);
}

static inline void slope_copy(void *to, const void *from, size_t bytes)
{
	unsigned char *t = to;
	const unsigned char *f = from;

	/* Without a C library, the compiler makes one move of each of these; bytes alone are as slow as they look. */
	for (; bytes >= 8; bytes -= 8, t += 8, f += 8)
		__builtin_memcpy(t, f, 8);
	while (bytes--)
		*t++ = *f++;
}

static inline size_t slope_length(const char *text)
{
	size_t n = 0;

	while (text[n])
		n++;
	return n;
}

#endif
