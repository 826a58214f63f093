/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which graph, and which of its blocks, a piece of the program's code belongs
 * to. A graph is made when control first comes to code that none has; it has all blocks
 * that can be reached from there without entering another function or
 * another graph. pathindex.c finds them.
 */
#include "sources/translator/following.h"

#include <linux/mman.h>

#include "core/map.h"
#include "sources/translator/observing.h"
#include "sources/translator/symbols.h"

#define LIMIT_MIN 1024u
#define COUNTERS_SPARE 16u
#define COUNTERS_FEW 32768u
#define RANGE_OF_COUNTERS (1u << 25)     /* registers further apart do not fit into an address */
#define STUB_MAX 4u
#define CALLEES 2048u
#define SAME_MAX 16384u
#define LARGE 256u               /* blocks */
#define SINGLES 64u              /* taken at once */

/* Counts the repetitions in a block. */
struct repeats {
	uint64_t counter;
	const struct path_place *place;
};

/* A function that was asked for before. */
struct callee {
	uint64_t target;
	uint64_t changes;            /* of regions, when it was */
	bool returns;
};

static struct {
	struct slope_arena arena;
	struct callee callee[CALLEES];
	struct path_graph **counted; /* graphs that have counters, in order */
	size_t counted_count, counted_capacity;
	struct repeats *repeats;     /* in order */
	size_t repeat_count, repeat_capacity;
	struct path_counter *single; /* in order */
	size_t single_count, single_capacity;
	uint64_t single_next, single_end;    /* counters for the next ones */
	uint64_t counters;           /* that graphs have already, from %gs */
	uint32_t hits;               /* parts of the cache that they have */
	uint64_t code_start, code_end;       /* the region that was decoded last */
	bool ready;
} places;

static void start(void)
{
	if (places.ready)
		return;
	slope_arena_init(&places.arena, &system_host);
	places.counters = PATHS_COUNTERS_AT;
	places.hits = PATHS_OWN_AT;
	places.ready = true;
}

/* May it have a graph? */
static bool is_followed(uint64_t pc)
{
	const struct space_region *region = space_at(&runtime.space, pc);

	return region && region->path && region->prot & PROT_EXEC && !(region->prot & PROT_WRITE) && !region->shared &&
	       !space_doubts(&runtime.space, pc) && codeplaces_is_elf(pc) && !codeplaces_in_linkage(pc);
}

/* ---- how flow.c sees the program ---- */

/* How much there is from pc on, but no more than an instruction can have; 0: nothing can be read there. */
static size_t code_bytes(uint64_t pc)
{
	/* Regions do not change while the lock is held for a graph; the last one will do again. */
	if (pc - places.code_start >= places.code_end - places.code_start) {
		const struct space_region *region = space_at(&runtime.space, pc);

		if (!region || !(region->prot & PROT_READ))
			return 0;
		places.code_start = region->start;
		places.code_end = region->end;
	}
	size_t bytes = (size_t)(places.code_end - pc);

	return bytes < 15 ? bytes : 15;
}

static bool decode(void *data, uint64_t pc, ZydisDecodedInstruction *i, ZydisDecodedOperand *operand)
{
	size_t bytes = code_bytes(pc);

	(void)data;
	return bytes && decoder_decode(&runtime.decoder, (const void *)pc, bytes, i) && decoder_operands(&runtime.decoder, i, operand);
}

static bool outline(void *data, uint64_t pc, struct outline *o)
{
	size_t bytes = code_bytes(pc);

	(void)data;
	return bytes && effects_outline((const void *)pc, bytes, o);
}

/* Constant data: what no one may write, or what the loader has written and protected since. */
static bool read(void *data, uint64_t address, void *to, size_t bytes)
{
	const struct space_region *region = space_at(&runtime.space, address);

	(void)data;
	if (!region || !region->path || region->prot & PROT_WRITE || !(region->prot & PROT_READ) || region->end - address < bytes)
		return false;
	slope_copy(to, (const void *)address, bytes);
	return true;
}

/* Where no graph has anything, all is the same up to where the next function or block begins. */
static uint64_t same_until(uint64_t pc)
{
	const struct space_region *region = space_at(&runtime.space, pc);
	uint64_t next = codeplaces_next_entry(pc);

	if (region && region->end < next)
		next = region->end;
	if (next - pc > SAME_MAX)
		next = pc + SAME_MAX;
	return pathindex_next(pc, next);
}

static enum flow_place place(void *data, uint64_t entry, uint64_t pc, uint64_t *until)
{
	(void)data;
	(void)entry;
	*until = pc + 1;
	if (!is_followed(pc))
		return codeplaces_in_linkage(pc) ? FLOW_BORDER : FLOW_NO_CODE;
	if (pathindex_find(pc))
		return FLOW_TAKEN;
	if (codeplaces_is_border(pc))
		return FLOW_BORDER;
	*until = same_until(pc);
	return FLOW_INSIDE;
}

static bool returns(void *data, uint64_t target)
{
	struct callee *known = &places.callee[(target ^ target >> 11) % CALLEES];
	const char *name;

	(void)data;
	if (known->target == target && known->changes == runtime.space.changes)
		return known->returns;
	name = codeplaces_called_name(target);
	*known = (struct callee){ target, runtime.space.changes, !name || !flow_never_returns(name) };
	return known->returns;
}

/* Up to its jump. */
static uint32_t stub_instructions(uint64_t stub)
{
	struct outline o;
	uint32_t count = 0;

	while (count < STUB_MAX && outline(NULL, stub, &o)) {
		count++;
		stub += o.length;
		if (o.mnemonic == ZYDIS_MNEMONIC_JMP)
			return count;
	}
	return 0;
}

/* ---- graphs ---- */

/* The numbering's registers are all within so much. */
static int64_t highest_offset(const struct slope_path_graph *p, uint64_t *range)
{
	int64_t highest = 0, lowest = 0;

	for (uint32_t v = 0; v < p->vertices; v++) {
		if (p->offset[v] > highest)
			highest = p->offset[v];
		if (p->offset[v] < lowest)
			lowest = p->offset[v];
	}
	*range = (uint64_t)highest - (uint64_t)lowest;
	return highest;
}

/* Its part of the cache; of its own only if it will have no counters. */
static void choose_hits(struct path_graph *g)
{
	uint32_t log2 = PATHS_OWN_LOG2, own;

	/* The more blocks, the more paths that are really taken; but most graphs have few of them, and each may have a page to itself. */
	while (log2 < PATHS_OWN_MAX_LOG2 && (g->flow.blocks < LARGE ? 2 : 16) * g->flow.blocks > 1u << log2)
		log2++;
	own = 1u << (log2 + PATHS_HIT_LOG2);
	g->hits_own = !observer.path_contexts && g->core->paths.total > PATHS_ARRAY_MAX && places.hits + own <= PATHS_OWN_END;
	g->hits = g->hits_own ? places.hits : PATHS_CACHE_AT;
	g->hits_mask = ((1u << (g->hits_own ? log2 : PATHS_CACHE_LOG2)) - 1) << PATHS_HIT_LOG2;
	if (g->hits_own)
		places.hits += own;
}

/* What CTX_PATH is above the register, so that it is never small; and counters, if there are not too many paths. */
static void choose_counters(struct path_graph *g)
{
	const struct slope_path_graph *p = &g->core->paths;
	uint64_t range;

	g->shift = highest_offset(p, &range) + PATHS_FIRST;
	/* As many again for blocks that become two. */
	g->counter_count = p->total + (p->total > COUNTERS_FEW ? p->total / 2 : p->total) + COUNTERS_SPARE;
	choose_hits(g);
	if (observer.path_contexts || p->total > PATHS_ARRAY_MAX || range > RANGE_OF_COUNTERS ||
	    places.counters + g->counter_count * 8 > PATHS_COUNTERS_END)
		return;
	if (!slope_arena_grow(&places.arena, (void **)&places.counted, &places.counted_capacity, places.counted_count + 1,
			      sizeof *places.counted))
		return;
	g->counters = places.counters;
	places.counters += g->counter_count * 8;
	places.counted[places.counted_count++] = g;
}

/* A call through the linkage table executes the stub as well, whose instructions are the caller's. */
static void count_stubs(const struct path_graph *g, struct slope_graph *core)
{
	struct outline o;
	uint64_t last, target;

	decoder_begin(&runtime.decoder);
	places.code_end = places.code_start = 0;
	for (uint32_t v = 0; v < g->flow.blocks; v++) {
		last = g->flow.block[v].last;
		if (g->flow.block[v].end != SLOPE_BLOCK_CALLS && g->flow.block[v].end != SLOPE_BLOCK_TAIL_CALLS &&
		    g->flow.block[v].end != SLOPE_BLOCK_STOPS)
			continue;
		if (!outline(NULL, last, &o) || !o.relative)
			continue;
		target = last + o.length + (uint64_t)o.distance;
		if (codeplaces_in_linkage(target))
			core->block[v].instructions += stub_instructions(target);
	}
	decoder_end(&runtime.decoder);
}

/* The graph with its paths numbered; where registers would need too many bits, with fewer paths. */
static struct slope_graph *number(const struct path_graph *g, uint32_t fn, uint32_t flags)
{
	struct slope_graphs *graphs = &observer.session.graphs;
	struct slope_graph core, *kept;
	uint64_t range, entry = g->flow.entry, bias = entry - codeplaces_own_address(entry);

	uint64_t most = observer.path_contexts ? PATHS_RANGE_MAX_CONTEXTS : PATHS_RANGE_MAX;

	for (uint64_t limit = observer.path_contexts ? PATHS_RANGE_MAX_CONTEXTS >> 2 : SLOPE_PATH_LIMIT; limit >= LIMIT_MIN; limit >>= 10) {
		if (!flow_graph(&g->flow, &observer.session.arena, bias, &core))
			return NULL;
		core.function = fn;
		core.flags |= flags;
		count_stubs(g, &core);
		if (!(kept = slope_graphs_add(graphs, &core, limit)))
			return NULL;
		highest_offset(&kept->paths, &range);
		if (range < most && kept->paths.total < most)
			return kept;
		graphs->count--;         /* nobody has seen it */
	}
	return NULL;
}

static struct path_graph *make(uint64_t entry, uint32_t fn)
{
	static const struct flow_source source = { NULL, decode, outline, read, place, returns };
	struct path_graph *g = slope_arena_alloc(&places.arena, sizeof *g);
	bool made;

	if (!g)
		return NULL;
	decoder_begin(&runtime.decoder);
	places.code_end = places.code_start = 0;
	made = flow_make(&g->flow, &places.arena, &source, entry);
	decoder_end(&runtime.decoder);
	if (!made || !(g->core = number(g, fn, codeplaces_is_start(entry) ? 0 : SLOPE_GRAPH_PIECE)))
		return NULL;
	choose_counters(g);
	g->lowest = UINT64_MAX;
	for (uint32_t v = 0; v < g->core->paths.vertices; v++) {
		const struct flow_block *b = &g->flow.block[v];

		if (b->start < g->lowest)
			g->lowest = b->start;
		if (b->start + b->bytes > g->span)
			g->span = b->start + b->bytes;
	}
	g->span -= g->lowest;
	if (!pathindex_keep(g, 0, g->core->paths.vertices))
		return NULL;
	pathvalues_find(g, &places.arena);
	return g;
}

const struct path_place *pathplaces_at_for(uint64_t pc, uint32_t fn)
{
	const struct path_place *p = pathindex_find(pc);

	if (p || !is_followed(pc))
		return p;
	start();
	if (!make(pc, fn == SLOPE_FN_NONE ? codeplaces_function(pc) : fn))
		return NULL;
	return pathindex_find(pc);
}

const struct path_place *pathplaces_at(uint64_t pc)
{
	return pathplaces_at_for(pc, SLOPE_FN_NONE);
}

struct slope_arena *pathplaces_arena(void)
{
	start();
	return &places.arena;
}

bool pathplaces_is_inner(uint64_t pc)
{
	const struct path_place *p = pathindex_find(pc);

	return p && pc != p->graph->flow.entry;
}

const struct path_place *pathplaces_call_before(uint64_t pc)
{
	const struct path_place *p = pathindex_find(pc - 1);

	return p && p->end == pc && p->graph->core->block[p->vertex].end == SLOPE_BLOCK_CALLS ? p : NULL;
}

uint32_t pathplaces_edge(const struct path_place *p, enum slope_edge_way way, uint64_t target)
{
	const struct path_graph *g = p->graph;
	const uint32_t *first = g->core->paths.first;
	uint32_t other = UINT32_MAX;

	for (uint32_t e = first[p->vertex]; e < first[p->vertex + 1]; e++) {
		if (g->flow.edge[e].target != target)
			continue;
		if (g->core->way[e] == way)
			return e;
		other = e;
	}
	return other;
}

bool pathplaces_steps(uint64_t from, uint64_t to, struct path_steps *steps)
{
	struct outline o;

	*steps = (struct path_steps){ 0 };
	decoder_begin(&runtime.decoder);
	places.code_end = places.code_start = 0;
	for (; from < to && outline(NULL, from, &o); from += o.length) {
		steps->last = from;
		steps->count++;
	}
	decoder_end(&runtime.decoder);
	return from == to;
}

uint32_t pathplaces_instructions(uint64_t from, uint64_t to)
{
	struct path_steps steps;

	lock_take(&runtime.lock);
	pathplaces_steps(from, to, &steps);
	lock_give(&runtime.lock);
	return steps.count;
}

const struct path_graph *pathplaces_counted(uint64_t counter)
{
	size_t low = 0, high = places.counted_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (places.counted[middle]->counters <= counter)
			low = middle + 1;
		else
			high = middle;
	}
	const struct path_graph *g = low ? places.counted[low - 1] : NULL;

	return g && (counter - g->counters) / 8 < g->counter_count ? g : NULL;
}

uint64_t pathplaces_counter(const struct path_graph *g, uint64_t number)
{
	if (g->counters)
		return g->counters + 8 * number;
	if (places.single_next == places.single_end) {
		if (places.counters + 8 * SINGLES > PATHS_COUNTERS_END)
			return 0;
		places.single_next = places.counters;
		places.single_end = places.counters += 8 * SINGLES;
	}
	if (!slope_arena_grow(&places.arena, (void **)&places.single, &places.single_capacity, places.single_count + 1,
			      sizeof *places.single))
		return 0;
	places.single[places.single_count++] = (struct path_counter){ places.single_next, number, g };
	places.single_next += 8;
	return places.single_next - 8;
}

const struct path_counter *pathplaces_path_of(uint64_t counter)
{
	size_t low = 0, high = places.single_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (places.single[middle].counter < counter)
			low = middle + 1;
		else
			high = middle;
	}
	return low < places.single_count && places.single[low].counter == counter ? &places.single[low] : NULL;
}

uint32_t pathplaces_repeats(const struct path_place *p)
{
	for (size_t n = 0; n < places.repeat_count; n++)
		if (places.repeats[n].place == p)
			return (uint32_t)places.repeats[n].counter;
	if (places.counters + 8 > PATHS_COUNTERS_END ||
	    !slope_arena_grow(&places.arena, (void **)&places.repeats, &places.repeat_capacity, places.repeat_count + 1,
			      sizeof *places.repeats))
		return 0;
	places.repeats[places.repeat_count++] = (struct repeats){ places.counters, p };
	places.counters += 8;
	return (uint32_t)places.counters - 8;
}

const struct path_place *pathplaces_repeated(uint64_t counter)
{
	for (size_t n = 0; n < places.repeat_count; n++)
		if (places.repeats[n].counter == counter)
			return places.repeats[n].place;
	return NULL;
}

uint64_t pathplaces_hits_end(void)
{
	start();
	return places.hits;
}

uint64_t pathplaces_counters_end(void)
{
	start();
	return places.counters;
}
