/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Memory that the program allocates, by the bytes that it asks for. realloc
 * gives back the old block and allocates the new one, wherever that is. Which
 * allocator does the work is the program's choice: we stand before the one
 * that it would have without us. One that is part of the program itself comes
 * before ours, and is not seen.
 *
 * While ld.so looks up the real functions it may allocate itself: that is
 * served from a small room of our own, and never freed.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "sources/sampler/callpoints.h"
#include "sources/sampler/liveblocks.h"

#define ROOM_BYTES 8192u
#define ALIGNMENT 16u

#define X(name) extern __typeof__(name) name SLOPE_VISIBLE;
SLOPE_ALLOCATION_LIST(X)
#undef X

static char room[ROOM_BYTES] __attribute__((aligned(ALIGNMENT)));
static size_t room_used;

static void *from_room(size_t bytes)
{
	size_t at = __atomic_fetch_add(&room_used, (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1), __ATOMIC_RELAXED);

	return at + bytes <= sizeof room ? room + at : NULL;
}

static bool is_room(const void *p)
{
	return (uintptr_t)p - (uintptr_t)room < sizeof room;
}

/* Both meters of allocations have one period; the first that is there decides. */
static enum slope_meter_kind meter(void)
{
	return slope_sampler.meters.column[SLOPE_METER_ALLOCATED] >= 0 ? SLOPE_METER_ALLOCATED : SLOPE_METER_LIVE;
}

static void take_sample(void *p, uint64_t weight)
{
	struct slope_context *node = slope_sampling_here(slope_sampler.meters.column[SLOPE_METER_ALLOCATED], weight);

	if (node && slope_sampler.meters.column[SLOPE_METER_LIVE] >= 0)
		slope_liveblocks_add(p, (struct slope_liveblock){ node, weight });
}

static inline void *allocated(void *p, size_t bytes)
{
	uint64_t weight = p ? slope_callpoints_weight(meter(), bytes) : 0;

	if (SLOPE_UNLIKELY(weight))
		take_sample(p, weight);
	return p;
}

/* True where the block was one that is watched. */
static inline bool freed(const void *p, struct slope_liveblock *block)
{
	return p && slope_sampler.meters.column[SLOPE_METER_LIVE] >= 0 && slope_liveblocks_remove(p, block);
}

void *malloc(size_t bytes)
{
	__typeof__(&malloc) next = SLOPE_NEXT(malloc);

	return SLOPE_LIKELY(next != NULL) ? allocated(next(bytes), bytes) : from_room(bytes);
}

void *calloc(size_t count, size_t size)
{
	__typeof__(&calloc) next = SLOPE_NEXT(calloc);

	return SLOPE_LIKELY(next != NULL) ? allocated(next(count, size), count * size) : from_room(count * size);
}

void free(void *p)
{
	struct slope_liveblock block;

	if (SLOPE_UNLIKELY(is_room(p)))
		return;
	freed(p, &block);
	__typeof__(&free) next = SLOPE_NEXT(free);

	if (SLOPE_LIKELY(next != NULL))
		next(p);
}

/* What was ld.so's goes to the program's allocator when it grows. */
static void *move_out(void *p, size_t bytes)
{
	size_t there = (size_t)(room + sizeof room - (char *)p);
	void *to = malloc(bytes);

	return to ? memcpy(to, p, bytes < there ? bytes : there) : NULL;
}

void *realloc(void *p, size_t bytes)
{
	struct slope_liveblock block;

	__typeof__(&realloc) next = SLOPE_NEXT(realloc);

	if (SLOPE_UNLIKELY(is_room(p) || !next))
		return p ? move_out(p, bytes) : malloc(bytes);
	bool watched = freed(p, &block);
	void *to = next(p, bytes);

	if (!to && watched && bytes)
		slope_liveblocks_add(p, block);  /* it stays what it was */
	return allocated(to, bytes);
}

void *reallocarray(void *p, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(p, bytes);
}

int posix_memalign(void **p, size_t alignment, size_t bytes)
{
	int result = SLOPE_NEXT(posix_memalign)(p, alignment, bytes);

	if (result == 0)
		allocated(*p, bytes);
	return result;
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
	return allocated(SLOPE_NEXT(aligned_alloc)(alignment, bytes), bytes);
}

void *memalign(size_t alignment, size_t bytes)
{
	return allocated(SLOPE_NEXT(memalign)(alignment, bytes), bytes);
}

void *valloc(size_t bytes)
{
	return allocated(SLOPE_NEXT(valloc)(bytes), bytes);
}

void *pvalloc(size_t bytes)
{
	return allocated(SLOPE_NEXT(pvalloc)(bytes), bytes);
}

/* Ours, whatever the program calls by that name. */
extern __typeof__(malloc) slope_allocations_malloc __attribute__((alias("malloc"), copy(malloc), visibility("hidden")));

/* It is said where the profile is written. */
__attribute__((constructor)) static void look_at_program(void)
{
	slope_sampler.unseen = dlsym(RTLD_DEFAULT, "malloc") != (void *)slope_allocations_malloc;
}
