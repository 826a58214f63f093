/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sources/translator/codecache.h"

#include <linux/mman.h>

#include "sources/translator/plan.h"
#include "sources/translator/system.h"

#define BLOCK_MAX_BYTES 65536u           /* no translation is longer */

uint32_t codecache_table[2][CODECACHE_TABLE] __attribute__((aligned(64)));

static void start_empty(struct codecache *c)
{
	slope_arena_init(&c->arena, &system_host);
	slope_map_init(&c->by_pc, &c->arena);
	slope_map_init(&c->target_by_pc, &c->arena);
	c->targets = 1;
	c->block = NULL;
	c->count = c->capacity = 0;
	c->next = (uint8_t *)PLAN_CACHE;
}

bool codecache_init(struct codecache *c)
{
	long at = system_call(__NR_mmap, PLAN_CACHE, PLAN_CACHE_END - PLAN_CACHE, PROT_READ | PROT_WRITE | PROT_EXEC,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

	start_empty(c);
	if (at != (long)PLAN_CACHE)
		return false;
	at = system_call(__NR_mmap, PLAN_TARGETS, PLAN_SELF_END - PLAN_TARGETS, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
	return at == (long)PLAN_TARGETS;
}

void codecache_empty(struct codecache *c)
{
	slope_arena_fini(&c->arena);
	start_empty(c);
	memset(codecache_table, 0, sizeof codecache_table);
	c->generation++;
}

bool codecache_has_room(const struct codecache *c)
{
	return (uint64_t)c->next + BLOCK_MAX_BYTES <= PLAN_CACHE_END;
}

const struct block *codecache_find(const struct codecache *c, uint64_t pc)
{
	const uint64_t *found = slope_map_get(&c->by_pc, pc);

	return found ? (const struct block *)*found : NULL;
}

const struct block *codecache_around(const struct codecache *c, uint64_t code)
{
	size_t low = 0, high = c->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (c->block[middle]->code <= code)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || code - c->block[low - 1]->code >= c->block[low - 1]->code_bytes)
		return NULL;
	return c->block[low - 1];
}

const struct block *codecache_add(struct codecache *c, uint64_t pc, const uint8_t *end, const struct mark *mark, uint32_t marks)
{
	struct block *b = slope_arena_alloc(&c->arena, sizeof *b + marks * sizeof *mark);
	bool fresh;
	uint64_t *place = slope_map_put(&c->by_pc, pc, &fresh);

	if (!b || !place || !slope_arena_grow(&c->arena, (void **)&c->block, &c->capacity, c->count + 1, sizeof *c->block))
		return NULL;
	b->pc = pc;
	b->code = (uint32_t)(uint64_t)c->next;
	b->code_bytes = (uint32_t)(end - c->next);
	b->marks = marks;
	slope_copy(b->mark, mark, marks * sizeof *mark);
	*place = (uint64_t)b;
	c->block[c->count++] = b;
	c->next = (uint8_t *)(((uint64_t)end + 15) & ~15ul);
	return b;
}

/* The target's place in the table, made if it is new. */
static void remember(struct codecache *c, uint64_t pc, uint64_t code, bool anew)
{
	struct codecache_target *all = (struct codecache_target *)(uint64_t)PLAN_TARGETS;
	bool fresh;
	uint64_t *at = slope_map_put(&c->target_by_pc, pc, &fresh);

	if (!at || (c->targets + 1) * sizeof *all > PLAN_SELF_END - PLAN_TARGETS)
		return;
	if (fresh || anew) {
		all[c->targets] = (struct codecache_target){ pc, code };
		*at = c->targets++ * sizeof *all;
	}
	size_t i = pc % CODECACHE_TABLE;

	/* The one that was found last comes first. */
	if (codecache_table[0][i] != (uint32_t)*at && all[codecache_table[0][i] / sizeof *all].pc != pc)
		codecache_table[1][i] = codecache_table[0][i];
	codecache_table[0][i] = (uint32_t)*at;
}

void codecache_remember(struct codecache *c, const struct block *block)
{
	remember(c, block->pc, block->code, false);
}

void codecache_return(struct codecache *c, uint64_t pc, uint64_t code)
{
	remember(c, pc, code, true);
}

void codecache_link(uint32_t patch, const struct block *block)
{
	*(volatile int32_t *)(uint64_t)patch = (int32_t)(block->code - (patch + 4));
}
