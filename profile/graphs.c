/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Is a graph one whose paths can be decoded? A file says where edges lead, which of them are cut, their values and where
 * numbers start; how many paths there are follows from it, and so do the values: each is said and worked out, and both
 * must agree.
 */
#include <stdlib.h>
#include <string.h>

#include "profile/build.h"

#define PATHS_MAX (UINT64_C(1) << 62)

static bool goes_on(const struct slope_path_edge *e)
{
	return e->cut == SLOPE_PATH_WHOLE && e->to != SLOPE_PATH_OUT;
}

/* Vertices so that edges that go on lead forwards. False: some of them go round. */
static bool sort_forwards(const struct slope_path_graph *g, uint32_t *order, uint32_t *waiting)
{
	uint32_t count = 0;

	for (uint32_t e = 0; e < g->edges; e++)
		if (goes_on(&g->edge[e]))
			waiting[g->edge[e].to]++;
	for (uint32_t v = 0; v < g->vertices; v++)
		if (!waiting[v])
			order[count++] = v;
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t e = g->first[order[i]]; e < g->first[order[i] + 1]; e++)
			if (goes_on(&g->edge[e]) && !--waiting[g->edge[e].to])
				order[count++] = g->edge[e].to;
	return count == g->vertices;
}

/* Values of edges, and so how many paths each vertex has. */
static bool count_paths(struct slope_path_graph *g, const uint32_t *order)
{
	for (uint32_t i = g->vertices; i-- > 0;) {
		uint32_t v = order[i];
		uint64_t sum = 0;

		for (uint32_t e = g->first[v]; e < g->first[v + 1]; e++) {
			if (g->edge[e].value != sum)
				return false;
			sum += goes_on(&g->edge[e]) ? g->paths[g->edge[e].to] : 1;
			if (sum > PATHS_MAX)
				return false;
		}
		g->paths[v] = sum;
	}
	return true;
}

/* The numbers of paths that begin at v follow those before. */
static bool takes_turn(struct slope_path_graph *g, uint32_t v)
{
	if (g->start[v] != g->total || g->paths[v] > PATHS_MAX - g->total)
		return false;
	g->total += g->paths[v];
	return true;
}

/* Those of the entry come first, then those behind cut edges, then all others. */
static bool check_starts(struct slope_path_graph *g, uint32_t *is_head)
{
	memset(is_head, 0, g->vertices * sizeof *is_head);
	for (uint32_t e = 0; e < g->edges; e++)
		if (g->edge[e].cut != SLOPE_PATH_WHOLE && g->edge[e].to != SLOPE_PATH_OUT)
			is_head[g->edge[e].to] = 1;
	g->total = 0;
	if (!takes_turn(g, 0))
		return false;
	for (uint32_t v = 1; v < g->vertices; v++)
		if (is_head[v] && !takes_turn(g, v))
			return false;
	g->regular = g->total;
	for (uint32_t v = 1; v < g->vertices; v++)
		if (!is_head[v] && !takes_turn(g, v))
			return false;
	return true;
}

enum slope_graph_flaw slope_build_check_graph(struct slope_profile_graph *graph)
{
	struct slope_path_graph *g = &graph->paths;
	uint32_t *order, *waiting;
	bool good = false;

	if (!g->vertices || g->vertices >= SLOPE_PATH_OUT || g->edges >= SLOPE_PATH_OUT)
		return SLOPE_GRAPH_NONE;
	order = calloc(g->vertices, sizeof *order);
	waiting = calloc(g->vertices, sizeof *waiting);
	g->first = calloc((size_t)g->vertices + 1, sizeof *g->first);
	g->paths = calloc(g->vertices, sizeof *g->paths);
	bool memory = order && waiting && g->first && g->paths;

	if (memory)
		good = slope_path_group(g) && sort_forwards(g, order, waiting) && count_paths(g, order) && check_starts(g, waiting);
	free(order);
	free(waiting);
	return !memory ? SLOPE_GRAPH_NO_MEMORY : good ? SLOPE_GRAPH_SOUND : SLOPE_GRAPH_NONE;
}

bool slope_build_on_path(const struct slope_profile_graph *graph, uint64_t number, uint32_t vertex)
{
	const struct slope_path_graph *g = &graph->paths;
	uint32_t v = 0;
	uint64_t rest;

	while (v < g->vertices && (number < g->start[v] || number - g->start[v] >= g->paths[v]))
		v++;
	if (v == g->vertices)
		return false;
	rest = number - g->start[v];
	while (v != vertex) {
		uint32_t e = g->first[v + 1];

		while (g->edge[--e].value > rest)
			;
		rest -= g->edge[e].value;
		if (!goes_on(&g->edge[e]))
			return false;
		v = g->edge[e].to;
	}
	return true;
}
