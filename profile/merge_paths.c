/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Graphs of two runs are the same when they belong to the same function and have the same blocks and edges. What a run
 * has seen of a function can differ: where jumps led to, what the loader had put there. Then both are kept, and the
 * function has several.
 */
#include <stdlib.h>
#include <string.h>

#include "profile/build.h"
#include "profile/host.h"
#include "profile/merge.h"

static uint64_t hash_graph(const struct slope_profile_graph *g, uint32_t function)
{
	uint64_t h = slope_mix64(function) ^ g->flags;

	h = slope_mix64(h ^ ((uint64_t)g->paths.vertices << 32 | g->paths.edges)) + 1;
	for (uint32_t v = 0; v < g->paths.vertices; v++)
		h = slope_mix64(h ^ g->block[v].address ^ (uint64_t)g->block[v].bytes << 48) + 1;
	for (uint32_t e = 0; e < g->paths.edges; e++)
		h = slope_mix64(h ^ g->paths.edge[e].value ^ (uint64_t)g->paths.edge[e].to << 32) + 1;
	return h;
}

static bool same_block(const struct slope_block *a, const struct slope_block *b)
{
	return a->address == b->address && a->bytes == b->bytes && a->instructions == b->instructions && a->end == b->end;
}

static bool same_edge(const struct slope_path_edge *a, const struct slope_path_edge *b)
{
	return a->from == b->from && a->to == b->to && a->cut == b->cut && a->value == b->value;
}

static bool same_graph(const struct slope_profile_graph *a, const struct slope_profile_graph *b, uint32_t b_function)
{
	if (a->function != b_function || a->flags != b->flags || a->paths.vertices != b->paths.vertices ||
	    a->paths.edges != b->paths.edges || memcmp(a->way, b->way, a->paths.edges))
		return false;
	for (uint32_t v = 0; v < a->paths.vertices; v++)
		if (!same_block(&a->block[v], &b->block[v]))
			return false;
	for (uint32_t e = 0; e < a->paths.edges; e++)
		if (!same_edge(&a->paths.edge[e], &b->paths.edge[e]))
			return false;
	return true;
}

static void *copy(struct slope_merge *m, const void *from, size_t count, size_t size)
{
	void *to = malloc(count * size + 1);

	if (to)
		memcpy(to, from, count * size);
	else
		m->no_memory = true;
	return to;
}

static void copy_graph(struct slope_merge *m, struct slope_profile_graph *to, const struct slope_profile_graph *from)
{
	size_t vertices = from->paths.vertices, edges = from->paths.edges;

	*to = *from;
	to->block = copy(m, from->block, vertices, sizeof *to->block);
	to->way = copy(m, from->way, edges, sizeof *to->way);
	to->paths.edge = copy(m, from->paths.edge, edges, sizeof *to->paths.edge);
	to->paths.first = copy(m, from->paths.first, vertices + 1, sizeof *to->paths.first);
	to->paths.paths = copy(m, from->paths.paths, vertices, sizeof *to->paths.paths);
	to->paths.start = copy(m, from->paths.start, vertices, sizeof *to->paths.start);
}

static uint32_t add_graph(struct slope_merge *m, const struct slope_profile_graph *from)
{
	uint32_t function = m->function_at[from->function];
	uint64_t key = hash_graph(from, function);

	for (;; key++) {
		bool fresh;
		uint64_t *at = slope_map_put(&m->graph, key, &fresh);
		struct slope_profile_graph *to;

		if (at && !fresh && !same_graph(&m->to->graph[*at], from, function))
			continue;
		if (at && !fresh)
			return (uint32_t)*at;
		to = at ? slope_build_graph(m->to) : NULL;
		if (!to) {
			m->no_memory = true;
			return 0;
		}
		*at = m->to->graph_count - 1;
		copy_graph(m, to, from);
		to->function = function;
		return (uint32_t)*at;
	}
}

static void add_names(struct slope_merge *m, const struct slope_profile *from)
{
	struct slope_profile *p = m->to;

	if (from->path_period > p->path_period)
		p->path_period = from->path_period;
	for (; p->path_metrics < from->path_metrics && !m->no_memory; p->path_metrics++)
		m->no_memory = !slope_build_text(&p->path_metric_name[p->path_metrics],
						 slope_text_of(from->path_metric_name[p->path_metrics]));
}

static void add_rows(struct slope_merge *m, const struct slope_profile *from, uint32_t first_thread, size_t first_context,
		     const uint32_t *graph_at)
{
	for (size_t i = 0; i < from->path_count && !m->no_memory; i++) {
		struct slope_profile_path *to = slope_build_path(m->to);

		if (!to) {
			m->no_memory = true;
			return;
		}
		*to = from->path[i];
		to->graph = graph_at[to->graph];
		to->thread += first_thread;
		if (to->context != SLOPE_CONTEXT_NONE)
			to->context += (uint32_t)first_context;
	}
}

static void add_counts(struct slope_merge *m, const struct slope_profile *from, uint32_t first_thread, const uint32_t *graph_at)
{
	for (size_t i = 0; i < from->repeat_count && !m->no_memory; i++) {
		struct slope_profile_repeat *to = slope_build_repeat(m->to);

		m->no_memory = !to;
		if (to)
			*to = (struct slope_profile_repeat){ graph_at[from->repeat[i].graph], first_thread + from->repeat[i].thread,
							     from->repeat[i].block, from->repeat[i].count };
	}
	for (size_t i = 0; i < from->path_size_count && !m->no_memory; i++) {
		struct slope_profile_path_size *to = slope_build_path_size(m->to);

		m->no_memory = !to;
		if (!to)
			return;
		*to = from->path_size[i];
		to->graph = graph_at[to->graph];
		to->thread += first_thread;
	}
}

void slope_merge_paths(struct slope_merge *m, const struct slope_profile *from, uint32_t first_thread, size_t first_context)
{
	uint32_t *graph_at;

	if (!from->graph_count || m->no_memory)
		return;
	graph_at = calloc(from->graph_count, sizeof *graph_at);
	m->no_memory = !graph_at;
	for (size_t i = 0; i < from->graph_count && !m->no_memory; i++)
		graph_at[i] = add_graph(m, &from->graph[i]);
	if (!m->no_memory) {
		add_names(m, from);
		add_rows(m, from, first_thread, first_context, graph_at);
		add_counts(m, from, first_thread, graph_at);
	}
	free(graph_at);
}

static void add_metric(struct slope_path_metric *to, const struct slope_path_metric *from)
{
	uint64_t low = to->sq_lo + from->sq_lo;

	to->sum += from->sum;
	to->sq_hi += from->sq_hi + (low < from->sq_lo);
	to->sq_lo = low;
}

static void unite_rows(struct slope_profile *p)
{
	size_t kept = 0;

	if (p->path_count)
		qsort(p->path, p->path_count, sizeof *p->path, slope_build_compare_paths);
	for (size_t i = 0; i < p->path_count; i++) {
		struct slope_profile_path *from = &p->path[i], *to = kept ? &p->path[kept - 1] : NULL;

		if (!to || slope_build_compare_paths(to, from)) {
			p->path[kept++] = *from;
			continue;
		}
		to->count += from->count;
		to->samples += from->samples;
		for (uint32_t k = 0; k < p->path_metrics; k++)
			add_metric(&to->metric[k], &from->metric[k]);
	}
	p->path_count = kept;
}

static void unite_repeats(struct slope_profile *p)
{
	size_t kept = 0;

	if (p->repeat_count)
		qsort(p->repeat, p->repeat_count, sizeof *p->repeat, slope_build_compare_repeats);
	for (size_t i = 0; i < p->repeat_count; i++)
		if (!kept || slope_build_compare_repeats(&p->repeat[kept - 1], &p->repeat[i]))
			p->repeat[kept++] = p->repeat[i];
		else
			p->repeat[kept - 1].count += p->repeat[i].count;
	p->repeat_count = kept;
}

static void unite_sizes(struct slope_profile *p)
{
	size_t kept = 0;

	if (p->path_size_count)
		qsort(p->path_size, p->path_size_count, sizeof *p->path_size, slope_build_compare_path_sizes);
	for (size_t i = 0; i < p->path_size_count; i++)
		if (!kept || slope_build_compare_path_sizes(&p->path_size[kept - 1], &p->path_size[i])) {
			p->path_size[kept++] = p->path_size[i];
		} else {
			p->path_size[kept - 1].activations += p->path_size[i].activations;
			p->path_size[kept - 1].executions += p->path_size[i].executions;
		}
	p->path_size_count = kept;
}

static void unite(struct slope_profile *p)
{
	unite_rows(p);
	unite_repeats(p);
	unite_sizes(p);
}

void slope_merge_unite_paths(struct slope_merge *m)
{
	unite(m->to);
}

/* Which of the graphs before it, or it itself, is the same as each. False when memory runs out. */
static bool find_same(const struct slope_profile *p, uint32_t *graph_at, size_t *different)
{
	struct slope_arena arena;
	struct slope_map map;
	bool fresh, ok = true;

	slope_arena_init(&arena, &slope_system_host);
	slope_map_init(&map, &arena);
	*different = 0;
	for (size_t i = 0; ok && i < p->graph_count; i++) {
		uint64_t key = hash_graph(&p->graph[i], p->graph[i].function), *at;

		while ((at = slope_map_put(&map, key, &fresh)) && !fresh &&
		       !same_graph(&p->graph[*at], &p->graph[i], p->graph[i].function))
			key++;
		ok = at;
		if (ok && fresh) {
			*at = i;
			++*different;
		}
		graph_at[i] = ok ? (uint32_t)*at : 0;
	}
	slope_arena_fini(&arena);
	return ok;
}

bool slope_merge_unite_graphs(struct slope_profile *p)
{
	uint32_t *graph_at = calloc(p->graph_count + 1, sizeof *graph_at);
	size_t different, kept = 0;
	bool ok = graph_at && find_same(p, graph_at, &different);

	if (!ok || different == p->graph_count) {
		free(graph_at);
		return ok;
	}
	for (size_t i = 0; i < p->graph_count; i++)
		if (graph_at[i] == i) {
			p->graph[kept] = p->graph[i];
			graph_at[i] = (uint32_t)kept++;
		} else {
			slope_build_free_graph(&p->graph[i]);
			graph_at[i] = graph_at[graph_at[i]];     /* it has its new place already */
		}
	p->graph_count = kept;
	for (size_t i = 0; i < p->path_count; i++)
		p->path[i].graph = graph_at[p->path[i].graph];
	for (size_t i = 0; i < p->repeat_count; i++)
		p->repeat[i].graph = graph_at[p->repeat[i].graph];
	for (size_t i = 0; i < p->path_size_count; i++)
		p->path_size[i].graph = graph_at[p->path_size[i].graph];
	free(graph_at);
	unite(p);
	return true;
}
