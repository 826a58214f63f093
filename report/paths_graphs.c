/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Graphs and all that was counted of them as JSON, for those who check it or
 * draw it. docs/paths.md has the keys.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "report/paths_view.h"

static const char *end_name(uint32_t end)
{
	static const char *const name[] = {
		[SLOPE_BLOCK_FALLS] = "falls", [SLOPE_BLOCK_JUMPS] = "jumps", [SLOPE_BLOCK_BRANCHES] = "branches",
		[SLOPE_BLOCK_CALLS] = "calls", [SLOPE_BLOCK_SWITCHES] = "switches", [SLOPE_BLOCK_JUMPS_ANYWHERE] = "jumps_anywhere",
		[SLOPE_BLOCK_RETURNS] = "returns", [SLOPE_BLOCK_TAIL_CALLS] = "tail_calls", [SLOPE_BLOCK_STOPS] = "stops",
	};

	return name[end];
}

static const char *way_name(uint32_t way)
{
	static const char *const name[] = {
		[SLOPE_WAY_NEXT] = "next", [SLOPE_WAY_TAKEN] = "taken", [SLOPE_WAY_TABLE] = "table", [SLOPE_WAY_RETURN] = "return",
		[SLOPE_WAY_TAIL] = "tail", [SLOPE_WAY_ELSEWHERE] = "elsewhere", [SLOPE_WAY_NOWHERE] = "nowhere",
	};

	return name[way];
}

static const char *cut_name(uint32_t cut)
{
	static const char *const name[] = {
		[SLOPE_PATH_WHOLE] = NULL, [SLOPE_PATH_BACK] = "back", [SLOPE_PATH_ASKED] = "asked", [SLOPE_PATH_MANY] = "many",
	};

	return name[cut];
}

static void put_flags(struct slope_json *j, uint32_t flags)
{
	static const char *const name[] = { "piece", "unresolved", "cut", "short" };

	slope_json_array(j, "flags", true);
	for (unsigned i = 0; i < sizeof(name) / sizeof(name[0]); i++)
		if (flags & 1u << i)
			slope_json_string(j, NULL, name[i]);
	slope_json_end(j);
}

static void put_blocks(struct slope_json *j, const struct slope_profile_graph *g)
{
	char address[24];

	slope_json_array(j, "blocks", false);
	for (uint32_t v = 0; v < g->paths.vertices; v++) {
		snprintf(address, sizeof(address), "0x%" PRIx64, g->block[v].address);
		slope_json_object(j, NULL, true);
		slope_json_string(j, "address", address);
		slope_json_uint(j, "bytes", g->block[v].bytes);
		slope_json_uint(j, "instructions", g->block[v].instructions);
		slope_json_string(j, "end", end_name(g->block[v].end));
		slope_json_end(j);
	}
	slope_json_end(j);
}

static void put_edges(struct slope_json *j, const struct slope_profile_graph *g)
{
	slope_json_array(j, "edges", false);
	for (uint32_t e = 0; e < g->paths.edges; e++) {
		const struct slope_path_edge *edge = &g->paths.edge[e];

		slope_json_object(j, NULL, true);
		slope_json_uint(j, "from", edge->from);
		if (edge->to == SLOPE_PATH_OUT)
			slope_json_null(j, "to");
		else
			slope_json_uint(j, "to", edge->to);
		slope_json_string(j, "way", way_name(g->way[e]));
		slope_json_string(j, "cut", cut_name(edge->cut));
		slope_paths_json_number(j, "value", edge->value);
		slope_json_end(j);
	}
	slope_json_end(j);
}

static void put_start(struct slope_json *j, const struct slope_profile_graph *g)
{
	slope_json_array(j, "start", true);
	for (uint32_t v = 0; v < g->paths.vertices; v++)
		slope_paths_json_number(j, NULL, g->paths.start[v]);
	slope_json_end(j);
}

static void put_list(struct slope_json *j, const char *key, const uint32_t *list, uint32_t count)
{
	slope_json_array(j, key, true);
	for (uint32_t i = 0; i < count; i++)
		slope_json_uint(j, NULL, list[i]);
	slope_json_end(j);
}

static void put_metrics(struct slope_json *j, const struct slope_profile *p, const struct slope_profile_path *path)
{
	slope_json_object(j, "metrics", true);
	for (uint32_t m = 0; m < p->path_metrics && path->samples; m++) {
		slope_json_object(j, p->path_metric_name[m], true);
		slope_json_uint(j, "sum", path->metric[m].sum);
		slope_json_uint128(j, "squares", path->metric[m].sq_hi, path->metric[m].sq_lo);
		slope_json_end(j);
	}
	slope_json_end(j);
}

static void put_path(struct slope_json *j, const struct slope_profile *p, const struct slope_profile_path *path, uint32_t *block,
		     uint32_t *edge)
{
	const struct slope_profile_graph *g = &p->graph[path->graph];
	uint32_t blocks = slope_pathcosts_walk(g, path->number, path->stop, block, edge);
	bool stopped = path->stop != SLOPE_PATH_NOT_STOPPED;

	slope_json_object(j, NULL, true);
	slope_json_uint(j, "thread", path->thread);
	if (path->context == SLOPE_CONTEXT_NONE)
		slope_json_null(j, "context");
	else
		slope_json_uint(j, "context", path->context);
	slope_paths_json_number(j, "number", path->number);
	slope_json_uint(j, "begin", block[0]);
	put_list(j, "edges", edge, stopped && blocks ? blocks - 1 : blocks);
	put_list(j, "blocks", block, blocks);
	slope_json_uint(j, "count", path->count);
	if (stopped) {
		slope_json_uint(j, "stop", path->stop);
		slope_json_uint(j, "stop_instructions", path->stop_instructions);
	}
	slope_json_uint(j, "samples", path->samples);
	put_metrics(j, p, path);
	slope_json_end(j);
}

static void put_paths(struct slope_json *j, const struct slope_profile *p, uint32_t graph, size_t *next, uint32_t *block,
		      uint32_t *edge)
{
	slope_json_array(j, "paths", false);
	for (; *next < p->path_count && p->path[*next].graph == graph; ++*next)
		put_path(j, p, &p->path[*next], block, edge);
	slope_json_end(j);
}

static void put_repeats(struct slope_json *j, const struct slope_profile *p, uint32_t graph, size_t *next)
{
	slope_json_array(j, "repeats", true);
	for (; *next < p->repeat_count && p->repeat[*next].graph == graph; ++*next) {
		slope_json_object(j, NULL, true);
		slope_json_uint(j, "thread", p->repeat[*next].thread);
		slope_json_uint(j, "block", p->repeat[*next].block);
		slope_json_uint(j, "count", p->repeat[*next].count);
		slope_json_end(j);
	}
	slope_json_end(j);
}

static void put_sizes(struct slope_json *j, const struct slope_profile *p, uint32_t graph, size_t *next)
{
	slope_json_array(j, "sizes", true);
	for (; *next < p->path_size_count && p->path_size[*next].graph == graph; ++*next) {
		const struct slope_profile_path_size *s = &p->path_size[*next];

		slope_json_object(j, NULL, true);
		slope_json_uint(j, "thread", s->thread);
		slope_paths_json_number(j, "number", s->number);
		slope_json_uint(j, "n", s->n);
		slope_json_uint(j, "activations", s->activations);
		slope_json_uint(j, "executions", s->executions);
		slope_json_end(j);
	}
	slope_json_end(j);
}

static void put_head(struct slope_json *j, const struct slope_profile *p, uint32_t graph)
{
	const struct slope_profile_graph *g = &p->graph[graph];
	const struct slope_profile_function *f = &p->function[g->function];

	slope_json_uint(j, "number", graph);
	slope_json_uint(j, "function", g->function);
	slope_json_string(j, "name", slope_profile_name(f));
	slope_json_string(j, "module", slope_profile_module_of(p, f));
	slope_json_string(j, "module_path", p->module[f->module].path);
	put_flags(j, g->flags);
}

bool slope_paths_graphs(struct slope_json *j, const struct slope_profile *p)
{
	size_t path = 0, repeat = 0, size = 0;
	bool ok = true;

	slope_json_array(j, "graphs", false);
	for (uint32_t i = 0; ok && i < p->graph_count; i++) {
		const struct slope_profile_graph *g = &p->graph[i];
		uint32_t *block = malloc(g->paths.vertices * sizeof(*block)), *edge = malloc(g->paths.vertices * sizeof(*edge));

		ok = block && edge;
		if (ok) {
			slope_json_object(j, NULL, false);
			put_head(j, p, i);
			put_blocks(j, g);
			put_edges(j, g);
			put_start(j, g);
			slope_paths_json_number(j, "regular", g->paths.regular);
			slope_paths_json_number(j, "total", g->paths.total);
			put_paths(j, p, i, &path, block, edge);
			put_repeats(j, p, i, &repeat);
			put_sizes(j, p, i, &size);
			slope_json_end(j);
		}
		free(block);
		free(edge);
	}
	slope_json_end(j);
	return ok;
}
