/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which graph, and which of its blocks, a piece of the program's code belongs
 * to. A graph is made when control first comes to code that none has; it has all blocks
 * that can be reached from there without entering another function or
 * another graph. Blocks are found by lines of 128 bytes.
 */
#include "sources/translator/following.h"

#include <linux/mman.h>

#include "core/map.h"
#include "sources/translator/observing.h"
#include "sources/translator/symbols.h"

#define LINE_LOG2 7u
#define RANGE_MAX (UINT64_C(1) << 61)
#define LIMIT_MIN 1024u

static struct {
	struct slope_arena arena;
	struct slope_map line;       /* by address: the first place that touches it */
	struct path_graph *graphs;   /* that have counters */
	uint64_t counters;           /* that graphs have already, from %gs */
	bool ready;
} places;

static void start(void)
{
	if (places.ready)
		return;
	slope_arena_init(&places.arena, &system_host);
	slope_map_init(&places.line, &places.arena);
	places.counters = PATHS_COUNTERS_AT;
	places.ready = true;
}

static const struct path_place *find(uint64_t pc)
{
	uint64_t *first;

	start();
	first = slope_map_get(&places.line, pc >> LINE_LOG2);
	for (const struct path_place *p = first ? (const struct path_place *)*first : NULL; p; p = p->next)
		if (pc >= p->start && pc < p->end)
			return p;
	return NULL;
}

/* May it have a graph? */
static bool is_followed(uint64_t pc)
{
	const struct space_region *region = space_at(&runtime.space, pc);

	return region && region->path && region->prot & PROT_EXEC && !(region->prot & PROT_WRITE) && !region->shared &&
	       !space_doubts(&runtime.space, pc) && codeplaces_is_elf(pc) && !codeplaces_is_stub(pc);
}

/* ---- how flow.c sees the program ---- */

static bool decode(void *data, uint64_t pc, ZydisDecodedInstruction *i, ZydisDecodedOperand *operand)
{
	const struct space_region *region = space_at(&runtime.space, pc);
	size_t bytes = region && region->prot & PROT_READ ? (size_t)(region->end - pc) : 0;

	(void)data;
	return bytes && decoder_decode(&runtime.decoder, (const void *)pc, bytes < 15 ? bytes : 15, i) &&
	       (!operand || decoder_operands(&runtime.decoder, i, operand));
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

/* Within a line where no graph has anything, all is the same up to where the next function begins. */
static uint64_t same_until(uint64_t pc)
{
	const uint64_t *line = slope_map_get(&places.line, pc >> LINE_LOG2);
	uint64_t end = ((pc >> LINE_LOG2) + 1) << LINE_LOG2, next = codeplaces_next_entry(pc);

	if (line && *line)
		return pc + 1;
	return next < end ? next : end;
}

static enum flow_place place(void *data, uint64_t entry, uint64_t pc, uint64_t *until)
{
	(void)data;
	(void)entry;
	*until = pc + 1;
	if (!is_followed(pc))
		return codeplaces_is_stub(pc) ? FLOW_BORDER : FLOW_NO_CODE;
	if (find(pc))
		return FLOW_TAKEN;
	if (codeplaces_is_entry(pc))
		return FLOW_BORDER;
	*until = same_until(pc);
	return FLOW_INSIDE;
}

static bool returns(void *data, uint64_t target)
{
	(void)data;
	(void)target;
	return true;
}

/* ---- graphs ---- */

static bool keep_place(struct path_graph *g, uint32_t vertex)
{
	const struct flow_block *b = &g->flow.block[vertex];
	uint64_t first = b->start >> LINE_LOG2, last = (b->start + b->bytes - 1) >> LINE_LOG2;

	for (uint64_t line = first; line <= last; line++) {
		struct path_place *p = slope_arena_alloc(&places.arena, sizeof *p);
		bool fresh;
		uint64_t *at = p ? slope_map_put(&places.line, line, &fresh) : NULL;

		if (!at)
			return false;
		*p = (struct path_place){
			(struct path_place *)*at, b->start, b->start + b->bytes, b->last, g, vertex,
		};
		*at = (uint64_t)p;
	}
	return true;
}

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

/* What CTX_PATH is above the register, so that it is never small; and counters, if there are not too many paths. */
static void choose_counters(struct path_graph *g)
{
	const struct slope_path_graph *p = &g->core->paths;
	uint64_t range;

	g->shift = highest_offset(p, &range) + PATHS_FIRST;
	if (p->total > PATHS_ARRAY_MAX || range > PATHS_ARRAY_MAX * 1024 || places.counters + p->total * 8 > PATHS_COUNTERS_END)
		return;
	g->counters = places.counters;
	places.counters += p->total * 8;
	g->next = places.graphs;
	places.graphs = g;
}

/* The graph with its paths numbered; where registers would need too many bits, with fewer paths. */
static struct slope_graph *number(const struct path_graph *g, uint32_t fn, uint32_t flags)
{
	struct slope_graphs *graphs = &observer.session.graphs;
	struct slope_graph core, *kept;
	uint64_t range, entry = g->flow.entry, bias = entry - codeplaces_own_address(entry);

	for (uint64_t limit = SLOPE_PATH_LIMIT; limit >= LIMIT_MIN; limit >>= 10) {
		if (!flow_graph(&g->flow, &observer.session.arena, bias, &core))
			return NULL;
		core.function = fn;
		core.flags |= flags;
		if (!(kept = slope_graphs_add(graphs, &core, limit)))
			return NULL;
		highest_offset(&kept->paths, &range);
		if (range < RANGE_MAX && kept->paths.total < RANGE_MAX)
			return kept;
		graphs->count--;         /* nobody has seen it */
	}
	return NULL;
}

static struct path_graph *make(uint64_t entry, uint32_t fn)
{
	static const struct flow_source source = { NULL, decode, read, place, returns };
	struct path_graph *g = slope_arena_alloc(&places.arena, sizeof *g);
	bool made;

	if (!g)
		return NULL;
	decoder_begin(&runtime.decoder);
	made = flow_make(&g->flow, &places.arena, &source, entry);
	decoder_end(&runtime.decoder);
	if (!made || !(g->core = number(g, fn, codeplaces_is_start(entry) ? 0 : SLOPE_GRAPH_PIECE)))
		return NULL;
	choose_counters(g);
	g->lowest = UINT64_MAX;
	for (uint32_t v = 0; v < g->core->paths.vertices; v++) {
		const struct flow_block *b = &g->flow.block[v];

		if (!keep_place(g, v))
			return NULL;
		if (b->start < g->lowest)
			g->lowest = b->start;
		if (b->start + b->bytes > g->span)
			g->span = b->start + b->bytes;
	}
	g->span -= g->lowest;
	return g;
}

const struct path_place *pathplaces_at_for(uint64_t pc, uint32_t fn)
{
	const struct path_place *p = find(pc);

	if (p || !is_followed(pc))
		return p;
	if (!make(pc, fn == SLOPE_FN_NONE ? codeplaces_function(pc) : fn))
		return NULL;
	return find(pc);
}

const struct path_place *pathplaces_at(uint64_t pc)
{
	return pathplaces_at_for(pc, SLOPE_FN_NONE);
}

/*
 * Where control comes back to behind a call, the block of the call has something to do first if paths end there: then one
 * begins with that block.
 */
uint64_t pathplaces_begin(uint64_t pc)
{
	const struct path_place *p = pathplaces_at(pc), *before;

	if (!p)
		return PATHS_NONE;
	before = p->start == pc ? find(pc - 1) : NULL;
	if (before && before->graph == p->graph && before->end == pc &&
	    before->graph->core->block[before->vertex].end == SLOPE_BLOCK_CALLS) {
		uint32_t edge = pathplaces_edge(before, SLOPE_WAY_NEXT, pc);

		if (edge != UINT32_MAX && p->graph->core->paths.edge[edge].cut)
			p = before;
	}
	return path_begin(p->graph, p->vertex);
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

uint32_t pathplaces_instructions(uint64_t from, uint64_t to)
{
	ZydisDecodedInstruction i;
	uint32_t count = 0;

	lock_take(&runtime.lock);
	decoder_begin(&runtime.decoder);
	while (from < to && decode(NULL, from, &i, NULL)) {
		from += i.length;
		count++;
	}
	decoder_end(&runtime.decoder);
	lock_give(&runtime.lock);
	return count;
}

void pathplaces_each(struct context *ctx, void (*act)(struct context *ctx, const struct path_graph *g))
{
	for (const struct path_graph *g = places.graphs; g; g = g->next)
		act(ctx, g);
}

void pathplaces_forget(uint64_t address, uint64_t bytes)
{
	for (size_t n = 0; places.ready && n < places.line.capacity; n++) {
		struct slope_map_entry *e = &places.line.entry[n];
		struct path_place **at = (struct path_place **)&e->value;

		if (!e->used)
			continue;
		while (*at) {
			if ((*at)->start < address + bytes && (*at)->end > address)
				*at = (*at)->next;
			else
				at = &(*at)->next;
		}
	}
}
