/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Profiles with paths, made by hand: graphs are numbered by the core, and walks
 * through them counted path by path, as a program would.
 */
#ifndef SLOPE_TESTS_PATHS_SAMPLE_H
#define SLOPE_TESTS_PATHS_SAMPLE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "profile/build.h"
#include "profile/host.h"

#define OUT SLOPE_PATH_OUT

struct made_edge {
	uint32_t from, to, way;
};

/* A profile with one module, functions a, b, c, ... and two threads. */
static inline struct slope_profile *made_profile(uint32_t functions)
{
	struct slope_profile *p = slope_build_profile();
	struct slope_profile_module *m = slope_build_module(p);
	char name[2] = "a";

	m->path = strdup("/made/up");
	p->function[0].name = strdup("(thread)");
	p->source = strdup("replay");
	p->ended = strdup("exit");
	p->directory = strdup("/made");
	p->program = calloc(2, sizeof *p->program);
	p->program[0] = strdup("up");
	p->units = 1;
	p->unit_name[0] = strdup("ir");
	p->runs = 1;
	p->complete = p->symbolized = true;
	for (uint32_t i = 0; i < functions; i++, name[0]++) {
		struct slope_profile_function *f = slope_build_function(p);

		*f = (struct slope_profile_function){ .module = 1, .offset = 0x1000 * (i + 1), .name = strdup(name) };
	}
	for (uint32_t i = 0; i < 2; i++)
		*slope_build_thread(p) = (struct slope_profile_thread){ .id = i + 1, .parent = i, .name = strdup("") };
	return p;
}

static inline void *made_copy(const void *from, size_t bytes)
{
	void *to = malloc(bytes + 1);

	memcpy(to, from, bytes);
	return to;
}

/* Block v has v + 1 instructions of two bytes, and ends as its edges say: two are a branch. Edges are sorted by `from`. */
static inline uint32_t made_graph(struct slope_profile *p, uint32_t function, uint32_t flags, uint32_t blocks,
				  const struct made_edge *edge, uint32_t edges, uint64_t limit)
{
	struct slope_profile_graph *g = slope_build_graph(p);
	struct slope_path_graph n = { .vertices = blocks, .edges = edges, .edge = calloc(edges, sizeof *n.edge) };
	struct slope_arena arena;
	uint64_t address = p->function[function].offset;

	slope_arena_init(&arena, &slope_system_host);
	g->function = function;
	g->flags = flags;
	g->block = calloc(blocks, sizeof *g->block);
	g->way = calloc(edges, 1);
	for (uint32_t e = 0; e < edges; e++) {
		n.edge[e] = (struct slope_path_edge){ .from = edge[e].from, .to = edge[e].to, .weight = 1 };
		g->way[e] = (uint8_t)edge[e].way;
	}
	assert_true(slope_path_number(&n, &arena, limit));
	for (uint32_t v = 0; v < blocks; v++) {
		uint32_t ways = n.first[v + 1] - n.first[v], way = g->way[n.first[v]];

		g->block[v] = (struct slope_block){
			.address = address, .bytes = 2 * (v + 1), .instructions = v + 1,
			.end = way == SLOPE_WAY_TABLE ? SLOPE_BLOCK_SWITCHES : ways > 1 ? SLOPE_BLOCK_BRANCHES :
			       way == SLOPE_WAY_RETURN ? SLOPE_BLOCK_RETURNS : SLOPE_BLOCK_FALLS,
		};
		address += 2 * (v + 1);
	}
	g->paths = (struct slope_path_graph){
		.vertices = blocks, .edges = edges, .edge = n.edge, .cut_edges = n.cut_edges,
		.start = made_copy(n.start, blocks * sizeof *n.start),
	};
	assert_int_equal(slope_build_check_graph(g), SLOPE_GRAPH_SOUND);
	assert_true(g->paths.total == n.total && g->paths.regular == n.regular);
	slope_arena_fini(&arena);
	return (uint32_t)p->graph_count - 1;
}

static inline struct slope_profile_path *made_count(struct slope_profile *p, struct slope_profile_path key, uint64_t count)
{
	struct slope_profile_path *row = NULL;

	for (size_t i = 0; i < p->path_count && !row; i++)
		if (!slope_build_compare_paths(&p->path[i], &key))
			row = &p->path[i];
	if (!row) {
		row = slope_build_path(p);
		*row = key;
	}
	row->count += count;
	return row;
}

/* The row of the path that begins at v and goes along these edges, to its end or up to the block `stop`. */
static inline struct slope_profile_path made_key(const struct slope_profile *p, uint32_t graph, uint32_t thread, uint32_t v,
						 const uint32_t *edge, size_t edges)
{
	struct slope_profile_path key = { .graph = graph, .thread = thread, .context = SLOPE_CONTEXT_NONE,
					  .stop = SLOPE_PATH_NOT_STOPPED, .number = p->graph[graph].paths.start[v] };

	for (size_t i = 0; i < edges; i++)
		key.number += p->graph[graph].paths.edge[edge[i]].value;
	return key;
}

/* A walk from v along edges, which is as many paths as it has cut edges and one more; that must come to an end. */
static inline void made_walk(struct slope_profile *p, uint32_t graph, uint32_t thread, uint32_t v, const uint32_t *edge,
			     size_t edges, uint64_t times)
{
	const struct slope_path_graph *g = &p->graph[graph].paths;
	size_t first = 0;

	for (size_t i = 0; i < edges; i++) {
		const struct slope_path_edge *e = &g->edge[edge[i]];

		if (e->cut == SLOPE_PATH_WHOLE && e->to != OUT)
			continue;
		made_count(p, made_key(p, graph, thread, v, edge + first, i + 1 - first), times);
		first = i + 1;
		v = e->to;
	}
	assert_int_equal(first, edges);
}

static inline void made_done(struct slope_profile *p)
{
	if (p->path_count)
		qsort(p->path, p->path_count, sizeof *p->path, slope_build_compare_paths);
	if (p->repeat_count)
		qsort(p->repeat, p->repeat_count, sizeof *p->repeat, slope_build_compare_repeats);
	if (p->path_size_count)
		qsort(p->path_size, p->path_size_count, sizeof *p->path_size, slope_build_compare_path_sizes);
}

/* 0 falls into the head 1 of a loop; there 2 (or out by 5), where a branch leads along 3 or not; 4 goes back. */
static const struct made_edge made_loop[] = {
	{ 0, 1, SLOPE_WAY_NEXT }, { 1, 2, SLOPE_WAY_NEXT }, { 1, 5, SLOPE_WAY_TAKEN }, { 2, 3, SLOPE_WAY_NEXT },
	{ 2, 4, SLOPE_WAY_TAKEN }, { 3, 4, SLOPE_WAY_NEXT }, { 4, 1, SLOPE_WAY_TAKEN }, { 5, OUT, SLOPE_WAY_RETURN },
};
#define MADE_LOOP_BLOCKS 6u
#define MADE_LOOP_EDGES 8u

#endif
