/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sources/translator/rates.h"

#include "sources/translator/observing.h"

#define BLOCKS_MAX 0x40000u
#define SITES_MAX 0x100000u
#define HARDLY 16u               /* of so many, one, or all but one, can be foretold */
#define WAITS_MAX 3u
#define RUNS_LEAST 16u
#define NO_STAMP UINT64_MAX

/* An access, or a way out. */
struct rate_site {
	uint32_t at, to;             /* the program's address; of a branch, and where it leads */
	uint8_t bytes;               /* of the access; 0: a branch */
	bool write;
};

static struct {
	uint32_t left[BLOCKS_MAX];
	uint16_t stale[SITES_MAX];
	struct rates_block block[BLOCKS_MAX];
	struct rate_site site[SITES_MAX];
	uint32_t blocks, sites;
	struct rates_block *making;  /* counts; NULL: it does not */
	bool known;                  /* the block in the making has been counted before */
	struct slope_arena arena;
	/*
	 * By site_key: enum rate. By branch_key: those by which the trace is left more often than not. By block_key, of blocks that have
	 * been counted: the register that they borrow, or NO_STAMP.
	 */
	struct slope_map by_key;
} rates;

/* An instruction may read and write. */
static uint64_t site_key(uint64_t at, bool write)
{
	return at | (uint64_t)write << 62;
}

static uint64_t branch_key(uint64_t at)
{
	return at | UINT64_C(1) << 61;
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
	uint32_t runs = (uint32_t)observer.block_runs;

	if (observer.session.shared && runs > RATES_SHARED * RUNS_LEAST)
		runs /= RATES_SHARED;
	rates.left[rates.blocks++] = runs;
	*rates.making = (struct rates_block){ .pc = (uint32_t)pc, .first = rates.sites, .runs = runs };
	return rates.making;
}

bool rates_are_known(uint64_t pc)
{
	return slope_map_get(&rates.by_key, block_key(pc)) != NULL;
}

static bool is_counting(uint64_t pc)
{
	const struct block *block = codecache_find(&runtime.cache, pc);

	return block && block->facts.counts;
}

bool rates_lead(uint64_t at, uint64_t to)
{
	return slope_map_get(&rates.by_key, branch_key(at)) && !is_counting(to);
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
	rates.site[rates.sites] = (struct rate_site){ .at = (uint32_t)at, .bytes = (uint8_t)bytes, .write = write };
	rates.stale[rates.sites] = 0;
	return &rates.stale[rates.sites++];
}

uint16_t *rates_branch(uint64_t at, uint64_t to)
{
	uint16_t *counter = to >> 32 ? NULL : rates_counter(at, 0, false);

	if (counter)
		rates.site[rates.sites - 1].to = (uint32_t)to;
	return counter;
}

void rates_forget(void)
{
	rates.blocks = rates.sites = 0;
}

static enum rate rate_of(uint32_t site, uint32_t runs)
{
	uint32_t steps = runs / 4 * rates.site[site].bytes, stale = rates.stale[site];

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
static void note(uint32_t site, uint32_t runs)
{
	bool fresh;
	uint64_t rate = rate_of(site, runs), *place = place_of(site_key(rates.site[site].at, rates.site[site].write), &fresh);

	if (place)
		*place = fresh || *place == rate ? rate : RATE_EITHER;
}

/* The block's sites are those from block->first on up to this one. */
static uint32_t end_of(const struct rates_block *block)
{
	return block + 1 < rates.block + rates.blocks ? block[1].first : rates.sites;
}

static uint32_t runs_of(const struct rates_block *block)
{
	return block->runs / 4 * (4 + block->waits);
}

/* The next branch, from *site on, with which most have left that came to it; *runs is how many do come. False: there is none. */
static bool next_left(const struct rates_block *block, uint32_t *site, uint32_t *runs)
{
	for (; *site < end_of(block); ++*site) {
		uint32_t came = *runs, left = rates.stale[*site] < came ? rates.stale[*site] : came;

		if (rates.site[*site].bytes)
			continue;
		*runs -= left;
		if (left > came / 8 * 5 && came > runs_of(block) / HARDLY)
			return true;
	}
	return false;
}

/* What such a branch leads to is being counted, and so not known yet: then a little later. */
static bool must_wait(const struct rates_block *block)
{
	uint32_t runs = runs_of(block);

	for (uint32_t i = block->first; block->waits < WAITS_MAX && next_left(block, &i, &runs); i++)
		if (is_counting(rates.site[i].to) && rates.site[i].to != block->pc)
			return true;
	return false;
}

/* False without memory. */
static bool note_all(const struct rates_block *block)
{
	const struct block *old = codecache_find(&runtime.cache, block->pc);
	bool fresh;
	uint64_t *place = place_of(block_key(block->pc), &fresh);
	uint32_t runs = runs_of(block);

	if (!place)
		return false;
	*place = old && old->facts.stamp >= 0 ? (uint64_t)old->facts.stamp : NO_STAMP;
	for (uint32_t i = block->first; i < end_of(block); i++)
		if (rates.site[i].bytes)
			note(i, runs_of(block));
	for (uint32_t i = block->first; next_left(block, &i, &runs); i++)
		place_of(branch_key(rates.site[i].at), &fresh);
	return true;
}

void rates_reached(struct rates_block *block)
{
	lock_take(&runtime.lock);
	if (must_wait(block)) {
		block->waits++;
		*rates_left(block) = block->runs / 4;
	} else if (note_all(block)) {
		codecache_retire(&runtime.cache, block->pc);
	}
	lock_give(&runtime.lock);
}
