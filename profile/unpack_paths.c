/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Graphs and paths out of a file. Blocks and edges of a graph may come in any order, and some may be missing; they wait
 * until all are in, and then the graph is whole or left out, with its paths.
 */
#include <stdlib.h>
#include <string.h>

#include "profile/build.h"
#include "profile/unpack.h"

void slope_unpack_path_metric(struct slope_unpack *u, struct slope_text text)
{
	struct slope_profile *p = u->profile;

	if (p->path_metrics == SLOPE_PATH_METRICS) {
		u->flaw[SLOPE_SECTION_META][SLOPE_FLAW_RANGE]++;
		return;
	}
	char **name = &p->path_metric_name[p->path_metrics++];

	if (!slope_unpack_is_name(text))
		u->flaw[SLOPE_SECTION_META][SLOPE_FLAW_RANGE]++;    /* it gets the usual one of its place */
	else if (!slope_build_text(name, text))
		u->no_memory = true;
	for (char **other = p->path_metric_name; *name && other < name; other++)
		if (*other && !strcmp(*other, *name)) {
			u->flaw[SLOPE_SECTION_META][SLOPE_FLAW_RANGE]++;
			free(*name);
			*name = NULL;
		}
}

/* ---- graphs ---- */

enum slope_decode slope_unpack_graph(struct slope_unpack *u, struct slope_cursor *c)
{
	struct slope_profile *p = u->profile;
	struct slope_graph_entry entry;
	enum slope_decode status = slope_decode_graph(c, &entry);
	uint32_t function;

	if (status != SLOPE_DECODE_OK)
		return status;
	if (!slope_unpack_find_function(u, entry.function, &function)) {
		u->flaw[SLOPE_SECTION_GRAPHS][SLOPE_FLAW_MISSING]++;
		return status;
	}
	if (!slope_unpack_place(u, SLOPE_SECTION_GRAPHS, &u->graph, entry.number, p->graph_count))
		return status;
	struct slope_profile_graph *g = slope_build_graph(p);

	if (!g) {
		u->no_memory = true;
		return status;
	}
	g->function = function;
	g->flags = entry.flags;
	g->paths.vertices = entry.blocks;
	g->paths.edges = entry.edges;
	return status;
}

static struct slope_unpack_part *add_part(struct slope_unpack *u, struct slope_unpack_part **parts, size_t *count)
{
	void *array = *parts;

	if (!slope_build_room(&array, *count, sizeof **parts)) {
		u->no_memory = true;
		return NULL;
	}
	*parts = array;
	return &(*parts)[(*count)++];
}

/* The graph of a table's head, by position; false: its rows are read and left out. */
static bool find_graph(struct slope_unpack *u, enum slope_section section, uint32_t number, uint32_t *position)
{
	const uint64_t *at = slope_map_get(&u->graph, number);

	if (at)
		*position = (uint32_t)*at;
	else
		u->flaw[section][SLOPE_FLAW_MISSING]++;
	return at;
}

enum slope_decode slope_unpack_blocks(struct slope_unpack *u, struct slope_cursor *c)
{
	struct slope_graph_part head;
	struct slope_block_entry entry;
	enum slope_decode status = slope_decode_graph_part(c, &head);
	uint32_t graph;

	if (status != SLOPE_DECODE_OK)
		return status;
	bool known = find_graph(u, SLOPE_SECTION_BLOCKS, head.graph, &graph);

	while ((status = slope_decode_block(c, &entry)) == SLOPE_DECODE_OK && !u->no_memory) {
		struct slope_unpack_part *part = known ? add_part(u, &u->block, &u->block_count) : NULL;

		u->records[SLOPE_SECTION_BLOCKS]++;
		if (part)
			*part = (struct slope_unpack_part){ .graph = graph, .position = head.first++, .block = entry };
	}
	return status == SLOPE_DECODE_END ? SLOPE_DECODE_OK : status;
}

enum slope_decode slope_unpack_arcs(struct slope_unpack *u, struct slope_cursor *c)
{
	struct slope_graph_part head;
	struct slope_arc_entry entry;
	enum slope_decode status = slope_decode_graph_part(c, &head);
	uint32_t graph;

	if (status != SLOPE_DECODE_OK)
		return status;
	bool known = find_graph(u, SLOPE_SECTION_ARCS, head.graph, &graph);

	while ((status = slope_decode_arc(c, &entry)) == SLOPE_DECODE_OK && !u->no_memory) {
		struct slope_unpack_part *part = known ? add_part(u, &u->arc, &u->arc_count) : NULL;

		u->records[SLOPE_SECTION_ARCS]++;
		if (part)
			*part = (struct slope_unpack_part){ .graph = graph, .position = head.first++, .arc = entry };
	}
	return status == SLOPE_DECODE_END ? SLOPE_DECODE_OK : status;
}

static int by_place(const void *a, const void *b)
{
	const struct slope_unpack_part *x = a, *y = b;

	if (x->graph != y->graph)
		return x->graph < y->graph ? -1 : 1;
	return (x->position > y->position) - (x->position < y->position);
}

static void sort_parts(struct slope_unpack_part *part, size_t count)
{
	size_t i = 1;

	while (i < count && by_place(&part[i - 1], &part[i]) <= 0)
		i++;
	if (i < count)
		qsort(part, count, sizeof *part, by_place);
}

/* How many of them are the graph's; `*whole`: all that it should have, each once. */
static size_t parts_of(const struct slope_unpack_part *part, size_t left, uint32_t graph, uint32_t should, bool *whole)
{
	size_t count = 0;

	*whole = true;
	for (; count < left && part[count].graph == graph; count++)
		*whole &= part[count].position == count;
	*whole &= count == should;
	return count;
}

static bool take_parts(struct slope_profile_graph *g, const struct slope_unpack_part *block, const struct slope_unpack_part *arc)
{
	g->block = calloc((size_t)g->paths.vertices + 1, sizeof *g->block);
	g->paths.start = calloc((size_t)g->paths.vertices + 1, sizeof *g->paths.start);
	g->paths.edge = calloc((size_t)g->paths.edges + 1, sizeof *g->paths.edge);
	g->way = calloc((size_t)g->paths.edges + 1, sizeof *g->way);
	if (!g->block || !g->paths.start || !g->paths.edge || !g->way)
		return false;
	for (uint32_t v = 0; v < g->paths.vertices; v++) {
		g->block[v] = block[v].block.block;
		g->paths.start[v] = block[v].block.start;
	}
	for (uint32_t e = 0; e < g->paths.edges; e++) {
		const struct slope_arc_entry *a = &arc[e].arc;

		g->paths.edge[e] = (struct slope_path_edge){ .from = a->from, .to = a->to, .cut = a->cut, .value = a->value };
		g->way[e] = (uint8_t)a->way;
		g->paths.cut_edges += a->cut == SLOPE_PATH_MANY;
	}
	return true;
}

/* False: the graph is left out. */
static bool settle(struct slope_unpack *u, struct slope_profile_graph *g, const struct slope_unpack_part *block,
		   const struct slope_unpack_part *arc)
{
	enum slope_graph_flaw flaw = take_parts(g, block, arc) ? slope_build_check_graph(g) : SLOPE_GRAPH_NO_MEMORY;

	u->flaw[SLOPE_SECTION_GRAPHS][SLOPE_FLAW_RANGE] += flaw == SLOPE_GRAPH_NONE;
	u->no_memory |= flaw == SLOPE_GRAPH_NO_MEMORY;
	return flaw == SLOPE_GRAPH_SOUND;
}

void slope_unpack_settle_graphs(struct slope_unpack *u)
{
	struct slope_profile *p = u->profile;
	size_t block = 0, arc = 0, kept = 0;

	if (u->graphs_settled)
		return;
	u->graphs_settled = true;
	u->graph_at = calloc(p->graph_count + 1, sizeof *u->graph_at);
	if (!u->graph_at) {
		u->no_memory = true;
		return;
	}
	sort_parts(u->block, u->block_count);
	sort_parts(u->arc, u->arc_count);
	for (size_t i = 0; i < p->graph_count; i++) {
		struct slope_profile_graph *g = &p->graph[i];
		bool blocks_whole, arcs_whole;
		size_t blocks = parts_of(u->block + block, u->block_count - block, (uint32_t)i, g->paths.vertices, &blocks_whole);
		size_t arcs = parts_of(u->arc + arc, u->arc_count - arc, (uint32_t)i, g->paths.edges, &arcs_whole);
		bool whole = blocks_whole && arcs_whole;

		u->flaw[SLOPE_SECTION_GRAPHS][SLOPE_FLAW_MISSING] += !whole;
		u->graph_at[i] = SLOPE_GRAPH_GONE;
		if (whole && !u->no_memory && settle(u, g, u->block + block, u->arc + arc)) {
			u->graph_at[i] = (uint32_t)kept;
			p->graph[kept++] = *g;
		} else {
			slope_build_free_graph(g);
		}
		block += blocks;
		arc += arcs;
	}
	p->graph_count = kept;
}

/* ---- paths ---- */

/* Where graph and thread of a record are now; false: one of them is nowhere. */
static bool find_both(struct slope_unpack *u, uint32_t *graph, uint32_t *thread)
{
	slope_unpack_settle_graphs(u);
	const uint64_t *at = slope_map_get(&u->graph, *graph);

	if (!at || u->no_memory || u->graph_at[*at] == SLOPE_GRAPH_GONE)
		return false;
	*graph = u->graph_at[*at];
	return slope_unpack_find_thread(u, *thread, thread);
}

static bool is_sane(const struct slope_profile_graph *g, const struct slope_path_entry *entry)
{
	const struct slope_path_row *row = &entry->row;

	if (row->number >= g->paths.total || !row->count || row->samples > row->count)
		return false;
	return row->stop == SLOPE_PATH_NOT_STOPPED ||
	       (row->stop < g->paths.vertices && row->stop_instructions <= g->block[row->stop].instructions &&
		slope_build_on_path(g, row->number, row->stop));
}

static bool find_context(const struct slope_unpack *u, const struct slope_path_entry *entry, uint32_t *context)
{
	if (entry->row.context == SLOPE_PATH_CONTEXT_NONE) {
		*context = SLOPE_CONTEXT_NONE;
		return true;
	}
	const uint64_t *at = slope_map_get(&u->context, (uint64_t)entry->thread << 32 | entry->row.context);

	*context = at ? (uint32_t)*at : SLOPE_CONTEXT_NONE;
	return at;
}

enum slope_decode slope_unpack_path(struct slope_unpack *u, struct slope_cursor *c)
{
	struct slope_profile *p = u->profile;
	struct slope_path_entry entry;
	enum slope_decode status = slope_decode_path(c, &entry);

	if (status != SLOPE_DECODE_OK)
		return status;
	uint32_t graph = entry.row.graph, thread = entry.thread, context;

	if (!find_both(u, &graph, &thread) || !find_context(u, &entry, &context)) {
		u->flaw[SLOPE_SECTION_PATHS][SLOPE_FLAW_MISSING] += !u->no_memory;
		return status;
	}
	if (!is_sane(&p->graph[graph], &entry)) {
		u->flaw[SLOPE_SECTION_PATHS][SLOPE_FLAW_RANGE]++;
		return status;
	}
	struct slope_profile_path *path = slope_build_path(p);

	if (!path) {
		u->no_memory = true;
		return status;
	}
	*path = (struct slope_profile_path){
		.graph = graph, .thread = thread, .context = context, .stop = entry.row.stop,
		.stop_instructions = entry.row.stop_instructions, .number = entry.row.number,
		.count = entry.row.count, .samples = entry.row.samples,
	};
	memcpy(path->metric, entry.row.metric, sizeof path->metric);
	if (entry.metrics > p->path_metrics)
		p->path_metrics = entry.metrics;
	return status;
}

enum slope_decode slope_unpack_repeats(struct slope_unpack *u, struct slope_cursor *c)
{
	struct slope_profile *p = u->profile;
	struct slope_repeats_entry entry;
	enum slope_decode status = slope_decode_repeats(c, &entry);

	if (status != SLOPE_DECODE_OK)
		return status;
	uint32_t graph = entry.repeats.graph, thread = entry.thread;

	if (!find_both(u, &graph, &thread))
		u->flaw[SLOPE_SECTION_REPEATS][SLOPE_FLAW_MISSING] += !u->no_memory;
	else if (entry.repeats.block >= p->graph[graph].paths.vertices)
		u->flaw[SLOPE_SECTION_REPEATS][SLOPE_FLAW_RANGE]++;
	else {
		struct slope_profile_repeat *repeat = slope_build_repeat(p);

		if (repeat)
			*repeat = (struct slope_profile_repeat){ graph, thread, entry.repeats.block, entry.repeats.count };
		else
			u->no_memory = true;
	}
	return status;
}

enum slope_decode slope_unpack_path_size(struct slope_unpack *u, struct slope_cursor *c)
{
	struct slope_profile *p = u->profile;
	struct slope_path_size_entry entry;
	enum slope_decode status = slope_decode_path_size(c, &entry);

	if (status != SLOPE_DECODE_OK)
		return status;
	const struct slope_path_size *s = &entry.size;
	uint32_t graph = s->graph, thread = entry.thread;

	if (!find_both(u, &graph, &thread))
		u->flaw[SLOPE_SECTION_PATH_SIZES][SLOPE_FLAW_MISSING] += !u->no_memory;
	else if (s->number >= p->graph[graph].paths.total || !s->activations || s->executions < s->activations)
		u->flaw[SLOPE_SECTION_PATH_SIZES][SLOPE_FLAW_RANGE]++;
	else {
		struct slope_profile_path_size *size = slope_build_path_size(p);

		if (size)
			*size = (struct slope_profile_path_size){ graph, thread, s->number, s->n, s->activations, s->executions };
		else
			u->no_memory = true;
	}
	return status;
}

/* Sorts, and drops what comes twice. How many are left. */
static size_t sort_out(struct slope_unpack *u, enum slope_section section, void *array, size_t count, size_t size,
		       int (*compare)(const void *a, const void *b))
{
	unsigned char *at = array;
	size_t kept = 0;

	if (count)
		qsort(array, count, size, compare);
	for (size_t i = 0; i < count; i++)
		if (!kept || compare(at + (kept - 1) * size, at + i * size)) {
			if (kept != i)
				memcpy(at + kept * size, at + i * size, size);
			kept++;
		}
	u->flaw[section][SLOPE_FLAW_TWICE] += count - kept;
	return kept;
}

void slope_unpack_sort_paths(struct slope_unpack *u)
{
	struct slope_profile *p = u->profile;

	p->path_count = sort_out(u, SLOPE_SECTION_PATHS, p->path, p->path_count, sizeof *p->path, slope_build_compare_paths);
	p->repeat_count = sort_out(u, SLOPE_SECTION_REPEATS, p->repeat, p->repeat_count, sizeof *p->repeat,
				   slope_build_compare_repeats);
	p->path_size_count = sort_out(u, SLOPE_SECTION_PATH_SIZES, p->path_size, p->path_size_count, sizeof *p->path_size,
				      slope_build_compare_path_sizes);
}
