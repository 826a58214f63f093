/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/arena.h"

#define BLOCK_MIN_BYTES 16u
#define LINE_LOG2 6u
#define LINE_BYTES (1u << LINE_LOG2)     /* of the processor's caches */
#define CHUNK_FIRST_BYTES (16u * 1024)
#define CHUNK_MAX_BYTES (1024u * 1024)

struct chunk {
	_Alignas(LINE_BYTES) struct chunk *next;
	size_t bytes;
};

struct free_block {
	struct free_block *next;
};

void slope_arena_init(struct slope_arena *arena, const struct slope_host *host)
{
	*arena = (struct slope_arena){ .host = host, .next_chunk_bytes = CHUNK_FIRST_BYTES };
}

void slope_arena_fini(struct slope_arena *arena)
{
	struct chunk *c = arena->chunks;

	while (c) {
		struct chunk *next = c->next;

		arena->host->release(arena->host->ctx, c, c->bytes);
		c = next;
	}
	slope_arena_init(arena, arena->host);
}

/* The free list for blocks of this size, and how large they are: 16, 32, or so many lines, four sizes to an octave. */
static unsigned size_class(size_t bytes, size_t *block)
{
	if (bytes <= LINE_BYTES / 2) {
		*block = bytes <= BLOCK_MIN_BYTES ? BLOCK_MIN_BYTES : LINE_BYTES / 2;
		return bytes > BLOCK_MIN_BYTES;
	}
	unsigned log2 = 63u - (unsigned)__builtin_clzll((uint64_t)(bytes - 1)), step_log2 = log2 < LINE_LOG2 + 2 ? LINE_LOG2 : log2 - 2;
	size_t step = (size_t)1 << step_log2;

	*block = (bytes + step - 1) & ~(step - 1);
	return 4 * log2 + (*block >> step_log2 & 3);
}

static struct chunk *new_chunk(struct slope_arena *arena, size_t bytes)
{
	struct chunk *c = arena->host->pages(arena->host->ctx, bytes);

	if (!c)
		return NULL;
	c->next = arena->chunks;
	c->bytes = bytes;
	arena->chunks = c;
	arena->held_bytes += bytes;
	return c;
}

static void zero(void *p, size_t bytes)
{
	uint64_t *w = p;

	for (size_t i = 0; i < bytes / 8; i++)
		w[i] = 0;
}

static void put_free(struct slope_arena *arena, void *p, unsigned list)
{
	struct free_block *b = p;

	b->next = arena->free_list[list];
	arena->free_list[list] = b;
}

/* The next block begins a line; what lies before are small ones for others. */
static void skip_to_line(struct slope_arena *arena)
{
	while ((uintptr_t)arena->bump % LINE_BYTES && arena->bump < arena->bump_end) {
		unsigned list = (uintptr_t)arena->bump % (2 * BLOCK_MIN_BYTES) == 0;

		put_free(arena, arena->bump, list);
		arena->bump += BLOCK_MIN_BYTES << list;
	}
}

/* `clear`: with zeros, whatever was there before. */
static void *take(struct slope_arena *arena, size_t bytes, bool clear)
{
	size_t block;
	unsigned list = size_class(bytes, &block);
	struct free_block *reuse = list < SLOPE_ARENA_LISTS ? arena->free_list[list] : NULL;

	if (reuse) {
		arena->free_list[list] = reuse->next;
		if (clear)
			zero(reuse, block);
		return reuse;
	}
	if (block >= LINE_BYTES)
		skip_to_line(arena);
	if ((size_t)(arena->bump_end - arena->bump) < block) {
		size_t want = slope_page_round(block + sizeof(struct chunk));
		bool own = want > arena->next_chunk_bytes;
		struct chunk *c = new_chunk(arena, own ? want : arena->next_chunk_bytes);

		if (!c)
			return NULL;
		if (own)
			return c + 1;
		arena->bump = (unsigned char *)(c + 1);
		arena->bump_end = (unsigned char *)c + c->bytes;
		if (arena->next_chunk_bytes < CHUNK_MAX_BYTES)
			arena->next_chunk_bytes *= 2;
	}
	void *p = arena->bump;

	arena->bump += block;
	return p;
}

void *slope_arena_alloc(struct slope_arena *arena, size_t bytes)
{
	return take(arena, bytes, true);
}

void *slope_arena_alloc_any(struct slope_arena *arena, size_t bytes)
{
	return take(arena, bytes, false);
}

void slope_arena_free(struct slope_arena *arena, void *p, size_t bytes)
{
	size_t block;
	unsigned list = size_class(bytes, &block);

	if (p && list < SLOPE_ARENA_LISTS)
		put_free(arena, p, list);
}

bool slope_arena_grow_read(struct slope_arena *arena, void **array, size_t *capacity, size_t need, size_t size)
{
	size_t cap = *capacity ? *capacity * 2 : 4;

	if (need <= *capacity)
		return true;
	if (cap < need)
		cap = need;
	void *bigger = slope_arena_alloc(arena, cap * size);

	if (!bigger)
		return false;
	slope_copy(bigger, *array, *capacity * size);
	*array = bigger;
	*capacity = cap;
	return true;
}

bool slope_arena_grow(struct slope_arena *arena, void **array, size_t *capacity, size_t need, size_t size)
{
	void *old = *array;
	size_t old_bytes = *capacity * size;

	if (!slope_arena_grow_read(arena, array, capacity, need, size))
		return false;
	if (*array != old)
		slope_arena_free(arena, old, old_bytes);
	return true;
}
