/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sources/translator/rates.h"

#include "sources/translator/observing.h"

#define BLOCKS_MAX 0x40000u
#define SITES_MAX 0x100000u
#define HARDLY 16u               /* of so many, one, or all but one, can be foretold */
#define NO_STAMP UINT64_MAX

struct access_site {
	uint32_t at;                 /* the program's address */
	uint8_t bytes;               /* of the access */
	bool write;
};

static struct {
	uint32_t left[BLOCKS_MAX];
	uint16_t stale[SITES_MAX];
	struct rates_block block[BLOCKS_MAX];
	struct access_site site[SITES_MAX];
	uint32_t blocks, sites;
	struct rates_block *making;  /* counts; NULL: it does not */
	bool known;                  /* the block in the making has been counted before */
	struct slope_arena arena;
	/* By site_key: enum rate. By block_key, of blocks that have been counted: the register that they borrow, or NO_STAMP. */
	struct slope_map by_key;
} rates;

/* An instruction may read and write. */
static uint64_t site_key(uint64_t at, bool write)
{
	return at | (uint64_t)write << 62;
}

static uint64_t block_key(uint64_t pc)
{
	return pc | UINT64_C(1) << 63;
}

struct rates_block *rates_begin(uint64_t pc, bool can_count, int *prefer)
{
	const uint64_t *stamp = can_count ? slope_map_get(&rates.by_key, block_key(pc)) : NULL;

	rates.known = stamp != NULL;
	rates.making = NULL;
	if (stamp && *stamp != NO_STAMP)
		*prefer = (int)*stamp;
	if (!can_count || rates.known || rates.blocks == BLOCKS_MAX || pc >> 32 || !observer.inlined || observer.paths)
		return NULL;
	rates.making = &rates.block[rates.blocks];
	rates.left[rates.blocks++] = (uint32_t)observer.block_runs;
	*rates.making = (struct rates_block){ .pc = (uint32_t)pc, .first = rates.sites };
	return rates.making;
}

uint32_t *rates_left(const struct rates_block *block)
{
	return &rates.left[block - rates.block];
}

enum rate rates_of(uint64_t at, bool write)
{
	const uint64_t *rate = rates.known ? slope_map_get(&rates.by_key, site_key(at, write)) : NULL;

	return rate ? (enum rate)*rate : RATE_UNKNOWN;
}

uint16_t *rates_counter(uint64_t at, uint32_t bytes, bool write)
{
	if (!rates.making || rates.sites == SITES_MAX)
		return NULL;
	rates.site[rates.sites] = (struct access_site){ .at = (uint32_t)at, .bytes = (uint8_t)bytes, .write = write };
	rates.stale[rates.sites] = 0;
	return &rates.stale[rates.sites++];
}

void rates_forget(void)
{
	rates.blocks = rates.sites = 0;
}

static enum rate rate_of(uint32_t site)
{
	uint32_t runs = (uint32_t)observer.block_runs, steps = runs / 4 * rates.site[site].bytes, stale = rates.stale[site];

	if (stale < runs / HARDLY)
		return RATE_FRESH;
	if (stale > runs - runs / HARDLY)
		return RATE_STALE;
	return stale - (steps - steps / 32) <= steps / 16 ? RATE_STEPS : RATE_EITHER;
}

/* NULL without memory: then nothing is known. */
static uint64_t *place_of(uint64_t key, bool *fresh)
{
	if (!rates.arena.host) {
		slope_arena_init(&rates.arena, &system_host);
		slope_map_init(&rates.by_key, &rates.arena);
	}
	return slope_map_put(&rates.by_key, key, fresh);
}

/* An instruction with two accesses of a kind that differ: neither can be foretold. */
static void note(uint32_t site)
{
	bool fresh;
	uint64_t rate = rate_of(site), *place = place_of(site_key(rates.site[site].at, rates.site[site].write), &fresh);

	if (place)
		*place = fresh || *place == rate ? rate : RATE_EITHER;
}

void rates_reached(const struct rates_block *block)
{
	lock_take(&runtime.lock);
	uint32_t end = block + 1 < rates.block + rates.blocks ? block[1].first : rates.sites;
	const struct block *old = codecache_find(&runtime.cache, block->pc);
	bool fresh;
	uint64_t *place = place_of(block_key(block->pc), &fresh);

	if (place)
		*place = old && old->facts.stamp >= 0 ? (uint64_t)old->facts.stamp : NO_STAMP;
	for (uint32_t i = block->first; place && i < end; i++)
		note(i);
	if (place)
		codecache_retire(&runtime.cache, block->pc);
	lock_give(&runtime.lock);
}
