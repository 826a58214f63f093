/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Memory for everything small: blocks of zeroed bytes in size classes, cut
 * from host pages. Freed blocks are reused; pages go back to the host only when
 * the arena ends. Blocks of more than half a cache line begin one, and there
 * are four sizes to an octave: neighbours of the same kind do not meet in the
 * same few sets of a cache, as they would with powers of two.
 */
#ifndef SLOPE_CORE_ARENA_H
#define SLOPE_CORE_ARENA_H

#include "core/base.h"

#define SLOPE_ARENA_LISTS 128u

struct slope_arena {
	const struct slope_host *host;
	void *free_list[SLOPE_ARENA_LISTS];  /* by size class */
	unsigned char *bump, *bump_end;
	void *chunks;                /* all pages, for slope_arena_fini */
	size_t next_chunk_bytes;
	uint64_t held_bytes;         /* what the host has given so far */
};

void slope_arena_init(struct slope_arena *arena, const struct slope_host *host);
void slope_arena_fini(struct slope_arena *arena);

/* Zeroed, 16-byte aligned; from 33 bytes on at the beginning of a cache line. NULL when the host has no more; nothing changes then. */
void *slope_arena_alloc(struct slope_arena *arena, size_t bytes);

/* The same with anything in it: for whoever writes all of it first. */
void *slope_arena_alloc_any(struct slope_arena *arena, size_t bytes);

/* `bytes` is what slope_arena_alloc was asked for. NULL is fine. */
void slope_arena_free(struct slope_arena *arena, void *p, size_t bytes);

/*
 * Makes room for `need` elements of `size` bytes in a growing array, at least
 * doubling it. False when memory runs out; the array is then unchanged.
 */
bool slope_arena_grow(struct slope_arena *arena, void **array, size_t *capacity, size_t need, size_t size);

/* The same for an array that other threads may be reading: what they see stays as it is. */
bool slope_arena_grow_read(struct slope_arena *arena, void **array, size_t *capacity, size_t need, size_t size);

#endif
