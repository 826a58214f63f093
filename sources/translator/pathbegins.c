/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where paths begin. Control may come to the middle of a block from elsewhere, in a way that its graph does not know: then the
 * block becomes two, and numbers that paths have already stay what they are.
 */
#include "sources/translator/following.h"

#include "sources/translator/observing.h"

/* Arrays of a graph with one more block and one more edge. */
struct wider {
	struct slope_block *block;
	uint8_t *way;
	struct slope_path_graph paths;
	struct flow flow;
};

static bool widen(struct wider *w, const struct path_graph *g)
{
	struct slope_arena *arena = &observer.session.arena;

	w->paths = g->core->paths;
	w->flow = g->flow;
	uint32_t vertices = ++w->paths.vertices, edges = ++w->paths.edges;

	w->flow.blocks++;
	w->flow.edges++;
	w->block = slope_arena_alloc(arena, vertices * sizeof *w->block);
	w->way = slope_arena_alloc(arena, edges);
	w->paths.edge = slope_arena_alloc(arena, edges * sizeof *w->paths.edge);
	w->paths.first = slope_arena_alloc(arena, (vertices + 1) * sizeof *w->paths.first);
	w->paths.paths = slope_arena_alloc(arena, vertices * sizeof *w->paths.paths);
	w->paths.start = slope_arena_alloc(arena, vertices * sizeof *w->paths.start);
	w->paths.offset = slope_arena_alloc(arena, vertices * sizeof *w->paths.offset);
	w->flow.block = slope_arena_alloc(pathplaces_arena(), vertices * sizeof *w->flow.block);
	w->flow.edge = slope_arena_alloc(pathplaces_arena(), edges * sizeof *w->flow.edge);
	w->flow.first = w->paths.first;
	return w->block && w->way && w->paths.edge && w->paths.first && w->paths.paths && w->paths.start && w->paths.offset &&
	       w->flow.block && w->flow.edge;
}

/* Vertex `v` is like the graph's `from`, its edges too. */
static void copy_vertex(struct wider *w, const struct path_graph *g, uint32_t v, uint32_t from, uint32_t *at)
{
	const struct slope_path_graph *old = &g->core->paths;

	w->block[v] = g->core->block[from];
	w->flow.block[v] = g->flow.block[from];
	w->paths.paths[v] = old->paths[from];
	w->paths.start[v] = old->start[from];
	w->paths.offset[v] = old->offset[from];
	w->paths.first[v] = *at;
	for (uint32_t e = old->first[from]; e < old->first[from + 1]; e++, ++*at) {
		w->paths.edge[*at] = old->edge[e];
		w->paths.edge[*at].from = v;
		w->way[*at] = g->core->way[e];
		w->flow.edge[*at] = g->flow.edge[e];
	}
}

/* The first part of a block ends before pc, where an instruction begins. False: none does. */
static bool cut_block(struct flow_block *first, struct flow_block *second, uint64_t pc)
{
	struct path_steps steps;
	bool good = pathplaces_steps(first->start, pc, &steps);

	second->start = pc;
	second->bytes -= (uint32_t)(pc - first->start);
	second->instructions -= steps.count;
	first->last = steps.last;
	first->bytes = (uint32_t)(pc - first->start);
	first->instructions = steps.count;
	first->end = SLOPE_BLOCK_FALLS;
	return good;
}

/*
 * Control has come to the middle of a block from elsewhere: it becomes two. All numbers stay: the first part has one edge,
 * of value 0, to the second, which has the block's edges; paths that begin with the second part come after all others.
 */
static bool split(struct path_graph *g, uint32_t vertex, uint64_t pc)
{
	struct slope_graph *core = g->core;
	uint32_t second = core->paths.vertices, at = 0;
	uint64_t total = core->paths.total + core->paths.paths[vertex], end = g->flow.block[vertex].start + g->flow.block[vertex].bytes;
	struct wider w;

	if ((g->counters && total > g->counter_count) || !widen(&w, g) ||
	    total >= (observer.path_contexts ? PATHS_RANGE_MAX_CONTEXTS : PATHS_RANGE_MAX))
		return false;
	for (uint32_t v = 0; v < second; v++) {
		if (v != vertex) {
			copy_vertex(&w, g, v, v, &at);
			continue;
		}
		uint32_t edge = at;

		copy_vertex(&w, g, v, v, &at);
		at = edge + 1;
		w.paths.edge[edge] = (struct slope_path_edge){ .from = v, .to = second, .weight = 1 };
		w.flow.edge[edge] = (struct flow_edge){ .target = pc, .to = second, .weight = 1, .way = SLOPE_WAY_NEXT };
		w.way[edge] = SLOPE_WAY_NEXT;
	}
	copy_vertex(&w, g, second, vertex, &at);
	w.paths.first[second + 1] = at;
	w.paths.start[second] = core->paths.total;
	w.paths.total = total;
	if (!cut_block(&w.flow.block[vertex], &w.flow.block[second], pc))
		return false;
	w.block[vertex].bytes = w.flow.block[vertex].bytes;
	w.block[vertex].end = SLOPE_BLOCK_FALLS;
	w.block[vertex].instructions = w.flow.block[vertex].instructions;
	w.block[second].address += w.flow.block[vertex].bytes;
	w.block[second].bytes = w.flow.block[second].bytes;
	w.block[second].instructions -= w.flow.block[vertex].instructions;
	core->block = w.block;
	core->way = w.way;
	core->paths = w.paths;
	g->flow = w.flow;
	pathvalues_begin(g, second);
	return pathindex_cut(g, vertex, second, end);
}

/* The block that begins there; it may become one by that. NULL: none is followed there. */
static const struct path_place *place_of_begin(uint64_t pc)
{
	const struct path_place *p = pathplaces_at(pc);
	struct path_steps steps;

	if (p && p->start != pc && !pathplaces_steps(p->start, pc, &steps)) {
		pathindex_drop(p);
		p = pathplaces_at(pc);
	}
	if (p && p->start != pc && split(p->graph, p->vertex, pc))
		p = pathindex_find(pc);
	return p;
}

uint64_t pathbegins_at(uint64_t pc)
{
	const struct path_place *p = place_of_begin(pc);

	if (!p)
		return PATHS_NONE;
	pathvalues_begin(p->graph, p->vertex);
	return path_begin(p->graph, p->vertex);
}

/* Where a path ends with the call's edge, one begins with its block: there is no other way to have one begin behind it. */
uint64_t pathbegins_behind(uint64_t pc)
{
	const struct path_place *p = pathplaces_at(pc), *call = pathplaces_call_before(pc);
	uint32_t edge = p && call && p->graph == call->graph ? pathplaces_edge(call, SLOPE_WAY_NEXT, pc) : UINT32_MAX;

	if (edge == UINT32_MAX)
		return pathbegins_at(pc);
	if (p->graph->core->paths.edge[edge].cut)
		return path_begin(call->graph, call->vertex);
	p = place_of_begin(pc);
	return p ? path_begin(p->graph, p->vertex) - (uint64_t)p->graph->core->paths.edge[edge].add : PATHS_NONE;
}
