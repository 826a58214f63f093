/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/arena.h"

#define BLOCK_MIN_LOG2 4u
#define CHUNK_FIRST_BYTES (16u * 1024)
#define CHUNK_MAX_BYTES (1024u * 1024)

struct chunk {
	struct chunk *next;
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

static unsigned size_class(size_t bytes)
{
	unsigned log2 = BLOCK_MIN_LOG2;

	while (((size_t)1 << log2) < bytes)
		log2++;
	return log2;
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

void *slope_arena_alloc(struct slope_arena *arena, size_t bytes)
{
	unsigned log2 = size_class(bytes);
	size_t block = (size_t)1 << log2;
	struct free_block *reuse = log2 < 32 ? arena->free_list[log2] : NULL;

	if (reuse) {
		arena->free_list[log2] = reuse->next;
		zero(reuse, block);
		return reuse;
	}
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

void slope_arena_free(struct slope_arena *arena, void *p, size_t bytes)
{
	unsigned log2 = size_class(bytes);

	if (!p || log2 >= 32)
		return;
	struct free_block *b = p;

	b->next = arena->free_list[log2];
	arena->free_list[log2] = b;
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
