/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sources/translator/codecache.h"
#include "sources/translator/context.h"
#include "sources/translator/rates.h"

#include <linux/mman.h>

#include "sources/translator/plan.h"
#include "sources/translator/system.h"

#define BLOCK_MAX_BYTES 65536u           /* no part of a translation is longer */
#define COLD_AT (PLAN_CACHE + (PLAN_CACHE_END - PLAN_CACHE) / 8 * 3)
#define ANY_PAGE UINT64_MAX              /* what depends on more pages than can be noted */
#define ALONE (UINT64_C(1) << 63)         /* added to the address that such a block is found by */
#define NO_PC 1u                         /* no branch of a program that goes on goes there */

/* A branch that goes to a block: back to its own way out, and it is unlinked. */
struct codecache_link {
	struct codecache_link *next_to, *next_from;
	uint32_t patch, way_out;
};

/* A block that was made of code in a page. */
struct codecache_use {
	struct codecache_use *next;
	struct block *block;
};

uint32_t codecache_table[2][CODECACHE_TABLE] __attribute__((aligned(64)));

static struct codecache_target *target_at(uint32_t offset)
{
	return (struct codecache_target *)(PLAN_TARGETS + (uint64_t)offset);
}

static void start_empty(struct codecache *c)
{
	slope_arena_init(&c->arena, &system_host);
	slope_map_init(&c->by_pc, &c->arena);
	slope_map_init(&c->by_page, &c->arena);
	c->block = NULL;
	c->count = c->capacity = 0;
	c->next = (uint8_t *)PLAN_CACHE;
	c->next_cold = (uint8_t *)COLD_AT;
	slope_map_init(&c->target_by_pc, &c->arena);
	slope_map_init(&c->call_by_pc, &c->arena);
	slope_map_init(&c->jumps_by_table, &c->arena);
	c->jumps = NULL;
	c->next_landing = PLAN_LANDINGS;
	c->targets = 1;
	c->pages = 0;
	*target_at(0) = (struct codecache_target){ .pc = NO_PC };
}

static bool map_at(uint64_t from, uint64_t to, int prot)
{
	return system_call(__NR_mmap, (long)from, (long)(to - from), prot,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0) == (long)from;
}

bool codecache_init(struct codecache *c)
{
	if (!map_at(PLAN_CACHE, PLAN_CACHE_END, PROT_READ | PROT_WRITE | PROT_EXEC) ||
	    !map_at(PLAN_TARGETS, PLAN_SELF_END, PROT_READ | PROT_WRITE))
		return false;
	system_call(__NR_madvise, (long)PLAN_CACHE, (long)(PLAN_CACHE_END - PLAN_CACHE), 14, 0, 0, 0);
	system_call(__NR_madvise, (long)PLAN_TARGETS, (long)(PLAN_SELF_END - PLAN_TARGETS), 14, 0, 0, 0);
	start_empty(c);
	return true;
}

void codecache_empty(struct codecache *c)
{
	rates_forget();
	slope_arena_fini(&c->arena);
	start_empty(c);
	memset(codecache_table, 0, sizeof codecache_table);
	c->generation++;
	if (c->died)
		c->died();
}

bool codecache_has_room(const struct codecache *c)
{
	return (uint64_t)c->next + BLOCK_MAX_BYTES <= COLD_AT && (uint64_t)c->next_cold + BLOCK_MAX_BYTES <= PLAN_CACHE_END &&
	       PLAN_TARGETS + (c->targets + 2) * sizeof(struct codecache_target) <= PLAN_LANDINGS;
}

const struct block *codecache_find(const struct codecache *c, uint64_t pc)
{
	const uint64_t *found = slope_map_get(&c->by_pc, pc);

	return found ? (const struct block *)*found : NULL;
}

const struct block *codecache_find_alone(const struct codecache *c, uint64_t pc)
{
	const uint64_t *found = slope_map_get(&c->by_pc, pc | ALONE);
	const struct block *b = found ? (const struct block *)*found : NULL;

	return b && !b->dead && !b->facts.doubted ? b : NULL;
}

const struct block *codecache_around(const struct codecache *c, uint64_t code)
{
	size_t low = 0, high = c->count;
	bool cold = code >= COLD_AT;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if ((cold ? c->block[middle]->cold : c->block[middle]->code) <= code)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return NULL;
	const struct block *b = c->block[low - 1];

	return code - (cold ? b->cold : b->code) < (cold ? b->cold_bytes : b->code_bytes) ? b : NULL;
}

const struct block *codecache_from(const struct codecache *c, const struct codecache_branch *branch)
{
	const struct block *b = branch->from < c->count ? c->block[branch->from] : NULL;

	return b && (branch->patch - b->code < b->code_bytes || branch->patch - b->cold < b->cold_bytes) ? b : NULL;
}

/* ---- pages ---- */

void codecache_made_of(struct codecache *c, uint64_t address)
{
	uint64_t page = address / SLOPE_PAGE_BYTES;

	for (unsigned i = 0; i < c->pages; i++)
		if (c->page[i] == page || c->page[i] == ANY_PAGE)
			return;
	if (c->pages < CODECACHE_PAGES)
		c->page[c->pages++] = page;
	else
		c->page[0] = ANY_PAGE;
}

static bool note_pages(struct codecache *c, struct block *b)
{
	bool fresh, any = c->pages && c->page[0] == ANY_PAGE;

	for (unsigned i = 0; i < (any ? 1 : c->pages); i++) {
		uint64_t *place = slope_map_put(&c->by_page, c->page[i], &fresh);
		struct codecache_use *use = place ? slope_arena_alloc(&c->arena, sizeof *use) : NULL;

		if (!use)
			return false;
		use->block = b;
		use->next = (struct codecache_use *)*place;
		*place = (uint64_t)use;
	}
	c->pages = 0;
	return true;
}

/* ---- links ---- */

/* One store, whole for all since it lies within 8 bytes (emit_link), though not always at a multiple of 4. */
static void store_displacement(uint32_t patch, uint32_t target)
{
	__asm__ volatile("movl %1, (%0)" : : "r"((uint64_t)patch), "r"(target - (patch + 4)) : "memory");
}

static uint32_t load_displacement(uint32_t patch)
{
	uint32_t displacement;

	slope_copy(&displacement, (const void *)(uint64_t)patch, sizeof displacement);
	return displacement;
}

/* Where in the block `to` a branch out of `from` arrives; true: with the register borrowed. */
static bool place_to_enter(const struct codecache_branch *branch, const struct block *from, const struct block *to, uint32_t *place)
{
	bool call = branch->way == CODECACHE_CALL;
	int stamp = branch->way == CODECACHE_RETURN ? REG_R11 : from->facts.stamp;
	bool same = branch->handed && stamp == to->facts.stamp;

	*place = to->code + (call && !to->facts.doubted ? to->facts.called : 0u);
	if (!same || to->facts.doubted || (!call && to->facts.entry))
		return false;
	*place = to->code + (!call ? to->facts.inner : stamp == REG_R11 ? to->facts.stamped : to->facts.handed);
	return true;
}

void codecache_link(struct codecache *c, const struct codecache_branch *branch, const struct block *block)
{
	struct block *to = (struct block *)block, *from = (struct block *)codecache_from(c, branch);
	struct codecache_link *link;
	uint32_t place;

	if (!from || from->dead || to->dead || !(link = slope_arena_alloc(&c->arena, sizeof *link)))
		return;
	link->patch = place_to_enter(branch, from, to, &place) ? branch->handed : branch->patch;
	link->way_out = link->patch + 4 + load_displacement(link->patch);
	if (link->way_out == place)
		return;                  /* another thread was first */
	link->next_to = to->to;
	to->to = link;
	link->next_from = from->from;
	from->from = link;
	store_displacement(link->patch, place);
}

static void forget_landings(struct codecache *c, uint32_t landing)
{
	for (struct codecache_jumps *j = c->jumps; j; j = j->next)
		for (uint32_t n = 0; n < j->entries; n++)
			if (codecache_landings(j)[n] == landing)
				__atomic_store_n(&codecache_landings(j)[n], 0, __ATOMIC_RELEASE);
}

/* Where a call returns to goes on to the block by a link, and stays. */
static void forget_target(struct codecache *c, const struct block *b)
{
	uint64_t *at = slope_map_get(&c->target_by_pc, b->pc);

	if (!at || !*at || target_at((uint32_t)*at)->code != b->code)
		return;
	if (target_at((uint32_t)*at)->module && b->landed)
		forget_landings(c, b->landing);
	for (unsigned half = 0; half < 2; half++)
		if (codecache_table[half][b->pc % CODECACHE_TABLE] == (uint32_t)*at)
			__atomic_store_n(&codecache_table[half][b->pc % CODECACHE_TABLE], 0, __ATOMIC_RELEASE);
	__atomic_store_n(&target_at((uint32_t)*at)->pc, NO_PC, __ATOMIC_RELEASE);
	*at = 0;
}

/* Nobody finds it any more, and nobody jumps to it. */
static void hide(struct codecache *c, struct block *b)
{
	uint64_t *place = slope_map_get(&c->by_pc, b->pc);

	if (place && *place == (uint64_t)b)
		*place = 0;
	forget_target(c, b);
	if (b->call_pc && (place = slope_map_get(&c->call_by_pc, b->call_pc)))
		*place = 0;
	for (struct codecache_link *l = b->to; l; l = l->next_to)
		store_displacement(l->patch, l->way_out);
	b->to = NULL;
}

static void kill(struct codecache *c, struct block *b)
{
	if (b->dead)
		return;
	b->dead = true;
	if (c->died)
		c->died();
	hide(c, b);
	for (struct codecache_link *l = b->from; l; l = l->next_from)
		store_displacement(l->patch, l->way_out);
}

void codecache_retire(struct codecache *c, uint64_t pc)
{
	const uint64_t *place = slope_map_get(&c->by_pc, pc);

	if (place && *place)
		hide(c, (struct block *)*place);
}

void codecache_drop(struct codecache *c, uint64_t pc)
{
	const uint64_t *place = slope_map_get(&c->by_pc, pc);

	if (place && *place)
		kill(c, (struct block *)*place);
}

static void drop_if(struct codecache *c, uint64_t page, bool (*is)(void *data, const struct block *b), void *data)
{
	const uint64_t *place = slope_map_get(&c->by_page, page);

	for (struct codecache_use *use = place ? (struct codecache_use *)*place : NULL; use; use = use->next)
		if (!use->block->dead && is(data, use->block))
			kill(c, use->block);
}

void codecache_drop_if(struct codecache *c, uint64_t page, bool (*is)(void *data, const struct block *b), void *data)
{
	drop_if(c, page, is, data);
	drop_if(c, ANY_PAGE, is, data);
}

static void page_changed(struct codecache *c, uint64_t page)
{
	uint64_t *place = slope_map_get(&c->by_page, page);

	for (struct codecache_use *use = place ? (struct codecache_use *)*place : NULL; use; use = use->next)
		kill(c, use->block);
	if (place)
		*place = 0;
}

/* Tables in this range are none any more, or will be others. */
static void jumps_changed(struct codecache *c, uint64_t start, uint64_t end)
{
	for (struct codecache_jumps *j = c->jumps; j; j = j->next) {
		uint64_t *at = j->start < end && start < j->start + j->entries * (uint64_t)j->bytes ?
			       slope_map_get(&c->jumps_by_table, j->start) : NULL;

		if (!at)
			continue;
		memset(codecache_landings(j), 0, j->entries * sizeof(uint32_t));
		j->entries = 0;
		*at = 0;
	}
}

void codecache_changed(struct codecache *c, uint64_t start, uint64_t bytes)
{
	uint64_t first = start / SLOPE_PAGE_BYTES, last = (start + bytes - 1) / SLOPE_PAGE_BYTES;

	if (!bytes)
		return;
	jumps_changed(c, start, start + bytes);
	page_changed(c, ANY_PAGE);
	if (last - first >= c->by_page.capacity) {
		for (size_t i = 0; i < c->by_page.capacity; i++)
			if (c->by_page.entry[i].used && c->by_page.entry[i].key >= first && c->by_page.entry[i].key <= last)
				page_changed(c, c->by_page.entry[i].key);
		return;
	}
	for (uint64_t page = first; page <= last; page++)
		page_changed(c, page);
}

/* ---- blocks ---- */

/* The target's place in the table, made if there is none. */
/* The one that was looked for last comes first. */
static void put_first(uint64_t pc, uint32_t at)
{
	uint32_t *first = &codecache_table[0][pc % CODECACHE_TABLE], *second = &codecache_table[1][pc % CODECACHE_TABLE];

	if (*first != at && target_at(*first)->pc != pc)
		__atomic_store_n(second, *first, __ATOMIC_RELEASE);
	__atomic_store_n(first, at, __ATOMIC_RELEASE);
}

static void remember(struct codecache *c, struct codecache_target target, bool anew)
{
	bool fresh;
	uint64_t pc = target.pc, *at = slope_map_put(&c->target_by_pc, pc, &fresh);

	if (!at || PLAN_TARGETS + (c->targets + 1) * sizeof(struct codecache_target) > PLAN_LANDINGS)
		return;
	if (!*at || anew) {
		*at = c->targets++ * sizeof(struct codecache_target);
		*target_at((uint32_t)*at) = target;
	}
	put_first(pc, (uint32_t)*at);
}

void codecache_recall(struct codecache *c, uint64_t pc)
{
	const uint64_t *at = slope_map_get(&c->target_by_pc, pc);

	if (at && *at)
		put_first(pc, (uint32_t)*at);
}

void codecache_begin(struct codecache *c)
{
	c->pages = c->returns = 0;
}

void codecache_abandon(struct codecache *c, uint64_t call)
{
	uint64_t *at = call ? slope_map_get(&c->call_by_pc, call) : NULL;

	if (at)
		*at = 0;
	codecache_begin(c);
}

const struct block *codecache_add(struct codecache *c, uint64_t pc, bool alone, const uint8_t *end, const uint8_t *cold_end,
				  const struct mark *mark, uint32_t marks)
{
	struct block *b = slope_arena_alloc(&c->arena, sizeof *b + marks * sizeof *mark);
	bool fresh;
	uint64_t *place = slope_map_put(&c->by_pc, alone ? pc | ALONE : pc, &fresh);

	if (!b || !place || !slope_arena_grow(&c->arena, (void **)&c->block, &c->capacity, c->count + 1, sizeof *c->block) ||
	    !note_pages(c, b))
		return NULL;
	b->pc = pc;
	b->code = (uint32_t)(uint64_t)c->next;
	b->code_bytes = (uint32_t)(end - c->next);
	b->marks = marks;
	slope_copy(b->mark, mark, marks * sizeof *mark);
	*place = (uint64_t)b;
	c->block[c->count++] = b;
	b->cold = (uint32_t)(uint64_t)c->next_cold;
	b->cold_bytes = (uint32_t)(cold_end - c->next_cold);
	c->next = (uint8_t *)(((uint64_t)end + 15) & ~15ul);
	c->next_cold = (uint8_t *)cold_end;
	/* Other threads look into the table at any time: only now is all of the code there. */
	for (unsigned i = 0; i < c->returns; i++)
		remember(c, c->returned[i], true);
	c->returns = 0;
	return b;
}

void codecache_remember(struct codecache *c, const struct block *block, uint32_t fn, uint32_t module, uint64_t begin)
{
	struct codecache_target target = {
		.pc = block->pc, .code = block->code, .fn = fn, .module = block->landing ? module : 0, .landing = block->landing,
		.begin = begin,
	};

	if (!block->dead)
		remember(c, target, false);
}

uint64_t codecache_call(struct codecache *c, uint64_t pc, uint64_t code)
{
	bool fresh;
	uint64_t *at = slope_map_put(&c->call_by_pc, pc, &fresh), known = at ? *at : 0;

	if (at && !known)
		*at = code;
	return known;
}

void codecache_return(struct codecache *c, uint64_t pc, uint64_t code)
{
	if (c->returns < CODECACHE_RETURNS)
		c->returned[c->returns++] = (struct codecache_target){ .pc = pc, .code = (uint32_t)code, .fn = UINT32_MAX };
}

/* ---- tables that programs jump by ---- */

struct codecache_jumps *codecache_find_jumps(const struct codecache *c, uint64_t start)
{
	const uint64_t *found = slope_map_get(&c->jumps_by_table, start);

	return found ? (struct codecache_jumps *)*found : NULL;
}

struct codecache_jumps *codecache_add_jumps(struct codecache *c, const struct codecache_jumps *jumps)
{
	uint64_t end = c->next_landing + jumps->entries * UINT64_C(4);
	bool fresh;
	uint64_t *at = slope_map_put(&c->jumps_by_table, jumps->start, &fresh);
	struct codecache_jumps *j = at && end <= PLAN_SELF_END ? slope_arena_alloc(&c->arena, sizeof *j) : NULL;

	if (!j)
		return NULL;
	*j = *jumps;
	j->landing = (uint32_t)c->next_landing;
	j->next = c->jumps;
	memset(codecache_landings(j), 0, j->entries * sizeof(uint32_t));
	c->jumps = j;
	c->next_landing = end;
	*at = (uint64_t)j;
	return j;
}
