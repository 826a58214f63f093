/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sources/sampler/liveblocks.h"

#define TABLES 9u
#define BUCKETS_FIRST 64u        /* few, since every free() looks there: they stay in the cache */
#define BUCKETS_SHIFT 3u         /* each table has eight times those of the one before */
#define BUCKET 8u                /* keys in a cache line */

/* Keys that are no addresses. */
enum { FREE, TAKEN };

struct table {
	uint64_t buckets, bytes;
	struct slope_liveblock *block;       /* by key */
	uint64_t key[] __attribute__((aligned(64)));
};

static struct table *table_of[TABLES];

static uint64_t bucket_of(const struct table *table, uint64_t key)
{
	return (key >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 20 & (table->buckets - 1);
}

/* The table of this number, made on first use; NULL when memory runs out. */
static struct table *get_table(unsigned number)
{
	struct table *table = __atomic_load_n(&table_of[number], __ATOMIC_ACQUIRE), *none = NULL;
	uint64_t buckets = (uint64_t)BUCKETS_FIRST << BUCKETS_SHIFT * number, keys = buckets * BUCKET;
	size_t bytes = slope_page_round(sizeof *table + keys * (sizeof table->key[0] + sizeof *table->block));

	if (table)
		return table;
	table = slope_sampler.host.pages(slope_sampler.host.ctx, bytes);
	if (!table)
		return NULL;
	table->buckets = buckets;
	table->bytes = bytes;
	table->block = (struct slope_liveblock *)(void *)&table->key[keys];
	if (__atomic_compare_exchange_n(&table_of[number], &none, table, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return table;
	slope_sampler.host.release(slope_sampler.host.ctx, table, bytes);
	return none;
}

static bool add_to(struct table *table, uint64_t key, struct slope_liveblock block)
{
	uint64_t first = bucket_of(table, key) * BUCKET;

	for (uint64_t i = first; i < first + BUCKET; i++) {
		uint64_t free = FREE;

		if (!__atomic_compare_exchange_n(&table->key[i], &free, TAKEN, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			continue;
		table->block[i] = block;
		__atomic_store_n(&table->key[i], key, __ATOMIC_RELEASE);
		return true;
	}
	return false;
}

bool slope_liveblocks_add(const void *address, struct slope_liveblock block)
{
	for (unsigned i = 0; i < TABLES; i++) {
		struct table *table = get_table(i);

		if (!table)
			return false;
		if (add_to(table, (uint64_t)(uintptr_t)address, block))
			return true;
	}
	return false;
}

bool slope_liveblocks_remove(const void *address, struct slope_liveblock *block)
{
	uint64_t key = (uint64_t)(uintptr_t)address;
	struct table *table;

	for (unsigned n = 0; n < TABLES && (table = __atomic_load_n(&table_of[n], __ATOMIC_ACQUIRE)); n++) {
		uint64_t first = bucket_of(table, key) * BUCKET;

		for (uint64_t i = first; i < first + BUCKET; i++)
			if (__atomic_load_n(&table->key[i], __ATOMIC_ACQUIRE) == key) {
				*block = table->block[i];
				__atomic_store_n(&table->key[i], FREE, __ATOMIC_RELEASE);
				return true;
			}
	}
	return false;
}

static void clear_column(const struct slope_contexts *tree, int column)
{
	for (const struct slope_context_block *b = tree->first; b; b = b->next)
		for (size_t i = 0; i < b->count; i++)
			slope_context_at(tree, b, i)->cost[column] = 0;
}

void slope_liveblocks_settle(int column)
{
	for (const struct slope_sampled *t = slope_sampler.newest; t; t = t->next)
		clear_column(t->tree, column);
	for (unsigned n = 0; n < TABLES && table_of[n]; n++)
		for (uint64_t i = 0; i < table_of[n]->buckets * BUCKET; i++)
			if (__atomic_load_n(&table_of[n]->key[i], __ATOMIC_ACQUIRE) > TAKEN)
				table_of[n]->block[i].node->cost[column] += table_of[n]->block[i].bytes;
}

void slope_liveblocks_forget(void)
{
	for (unsigned n = 0; n < TABLES && table_of[n]; n++) {
		struct table *table = table_of[n];

		table_of[n] = NULL;
		slope_sampler.host.release(slope_sampler.host.ctx, table, table->bytes);
	}
}
