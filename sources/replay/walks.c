/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sources/replay/walks.h"

#include <stdlib.h>
#include <string.h>

#include "core/slabs.h"

#define NO_MEMORY "there is no memory"

struct slope_walks {
	struct slope_session *session;
	bool open;                   /* a graph has begun and is not numbered yet */
	struct slope_graph graph;    /* that one; its arrays are malloc'd */
	size_t block_capacity, edge_capacity, way_capacity;
	uint64_t address;            /* of the next block */
};

const char *const slope_block_end_word[] = {
	[SLOPE_BLOCK_FALLS] = "falls", [SLOPE_BLOCK_JUMPS] = "jumps", [SLOPE_BLOCK_BRANCHES] = "branches", [SLOPE_BLOCK_CALLS] = "calls",
	[SLOPE_BLOCK_SWITCHES] = "switches", [SLOPE_BLOCK_JUMPS_ANYWHERE] = "jumps-anywhere", [SLOPE_BLOCK_RETURNS] = "returns",
	[SLOPE_BLOCK_TAIL_CALLS] = "tail-calls", [SLOPE_BLOCK_STOPS] = "stops", NULL,
};
const char *const slope_edge_way_word[] = {
	[SLOPE_WAY_NEXT] = "next", [SLOPE_WAY_TAKEN] = "taken", [SLOPE_WAY_TABLE] = "table", [SLOPE_WAY_RETURN] = "return",
	[SLOPE_WAY_TAIL] = "tail", [SLOPE_WAY_ELSEWHERE] = "elsewhere", [SLOPE_WAY_NOWHERE] = "nowhere", NULL,
};

struct slope_walks *slope_walks_new(struct slope_session *s)
{
	struct slope_walks *w = calloc(1, sizeof *w);

	if (w)
		w->session = s;
	return w;
}

static void forget_graph(struct slope_walks *w)
{
	free(w->graph.block);
	free(w->graph.way);
	free(w->graph.paths.edge);
	w->graph = (struct slope_graph){ 0 };
	w->block_capacity = w->edge_capacity = w->way_capacity = 0;
	w->open = false;
}

void slope_walks_free(struct slope_walks *w)
{
	if (w)
		forget_graph(w);
	free(w);
}

static bool number(const struct slope_walks_line *line, int i, uint64_t *value)
{
	return line->number(line->ctx, i < line->words ? line->word[i] : "the end of the line", value);
}

/* The position of word i in a list, or -1. */
static int position(const struct slope_walks_line *line, int i, const char *const *list)
{
	for (int k = 0; i < line->words && list[k]; k++)
		if (!strcmp(line->word[i], list[k]))
			return k;
	return -1;
}

/* Room for one more in an array. */
static bool room(void **array, size_t *capacity, size_t count, size_t bytes)
{
	if (count < *capacity)
		return true;
	size_t more = *capacity ? *capacity * 2 : 16;
	void *bigger = realloc(*array, more * bytes);

	if (!bigger)
		return false;
	*array = bigger;
	*capacity = more;
	return true;
}

static const char *begin_graph(struct slope_walks *w, const struct slope_walks_line *line)
{
	static const char *const flag[] = { "piece", "unresolved", "short", "at", NULL };
	static const uint32_t bit[] = { SLOPE_GRAPH_PIECE, SLOPE_GRAPH_UNRESOLVED, SLOPE_GRAPH_SHORT };

	if (w->open)
		return "the graph before it has not been numbered";
	if (line->words < 2)
		return "expected the name of a function";
	if (line->function >= w->session->function_count)
		return NO_MEMORY;
	w->graph = (struct slope_graph){ .function = line->function };
	w->address = w->session->function[line->function].offset;
	for (int i = 2; i < line->words; i++) {
		int which = position(line, i, flag);

		if (which < 0)
			return "expected piece, unresolved, short or at ADDRESS";
		if (which < 3)
			w->graph.flags |= bit[which];
		else if (!number(line, ++i, &w->address))
			return "";
	}
	w->open = true;
	return NULL;
}

static const char *add_block(struct slope_walks *w, const struct slope_walks_line *line)
{
	int end = position(line, 3, slope_block_end_word);
	uint64_t bytes, instructions;
	void *array = w->graph.block;

	if (!w->open)
		return "no graph has begun";
	if (!number(line, 1, &bytes) || !number(line, 2, &instructions))
		return "";
	if (end < 0)
		return "expected falls, jumps, branches, calls, switches, jumps-anywhere, returns, tail-calls or stops";
	if (line->words > 4 && (line->words != 6 || strcmp(line->word[4], "at")))
		return "expected at ADDRESS, and nothing else";
	if (line->words > 4 && !number(line, 5, &w->address))
		return "";
	if (bytes > UINT32_MAX || instructions > UINT32_MAX)
		return "a block is not that large";
	if (!room(&array, &w->block_capacity, w->graph.paths.vertices, sizeof *w->graph.block))
		return NO_MEMORY;
	w->graph.block = array;
	w->graph.block[w->graph.paths.vertices++] = (struct slope_block){
		.address = w->address, .bytes = (uint32_t)bytes, .instructions = (uint32_t)instructions, .end = (uint32_t)end,
	};
	w->address += bytes;
	return NULL;
}

/* [cut] [weight N] */
static const char *edge_options(const struct slope_walks_line *line, struct slope_path_edge *edge)
{
	int i = 3;
	uint64_t weight;

	if (i < line->words && !strcmp(line->word[i], "cut")) {
		edge->cut = SLOPE_PATH_ASKED;
		i++;
	}
	if (i < line->words && !strcmp(line->word[i], "weight")) {
		if (!number(line, i + 1, &weight))
			return "";
		edge->weight = (uint32_t)weight;
		i += 2;
	}
	return i < line->words ? "expected cut, weight N, and nothing else" : NULL;
}

static const char *add_edge(struct slope_walks *w, const struct slope_walks_line *line)
{
	struct slope_path_graph *g = &w->graph.paths;
	int way = position(line, 2, slope_edge_way_word);
	uint64_t to = SLOPE_PATH_OUT;
	void *edges = g->edge, *ways = w->graph.way;

	if (!w->open || !g->vertices)
		return "no block has begun";
	if ((line->words < 2 || strcmp(line->word[1], "out")) && !number(line, 1, &to))
		return "";
	if (way < 0)
		return "expected next, taken, table, return, tail, elsewhere or nowhere";
	struct slope_path_edge edge = { .from = g->vertices - 1, .to = to > UINT32_MAX ? UINT32_MAX - 1 : (uint32_t)to };
	const char *problem = edge_options(line, &edge);

	if (problem)
		return problem;
	if (!room(&edges, &w->edge_capacity, g->edges, sizeof *g->edge))
		return NO_MEMORY;
	g->edge = edges;
	if (!room(&ways, &w->way_capacity, g->edges, 1))
		return NO_MEMORY;
	w->graph.way = ways;
	g->edge[g->edges] = edge;
	w->graph.way[g->edges++] = (uint8_t)way;
	return NULL;
}

/* A copy in the session's memory. */
static void *keep(struct slope_walks *w, const void *from, size_t bytes)
{
	void *copy = slope_arena_alloc(&w->session->arena, bytes);

	return copy && bytes ? memcpy(copy, from, bytes) : copy;
}

static const char *end_graph(struct slope_walks *w, const struct slope_walks_line *line)
{
	struct slope_graph graph = w->graph;
	struct slope_path_graph *g = &graph.paths;
	uint64_t limit = SLOPE_PATH_LIMIT;
	uint32_t at = 0;

	if (!w->open)
		return "no graph has begun";
	if (line->words > 1 && !number(line, 1, &limit))
		return "";
	if (line->words > 2)
		return "expected a limit, and nothing else";
	for (uint32_t i = 0; i < g->edges; i++) {
		if (g->edge[i].to != SLOPE_PATH_OUT && g->edge[i].to >= g->vertices)
			return "an edge leads to a block that is not there";
		at += g->edge[i].from == at;
	}
	if (!g->vertices || at != g->vertices)
		return "a block has no edge";
	graph.block = keep(w, graph.block, g->vertices * sizeof *graph.block);
	graph.way = keep(w, graph.way, g->edges);
	g->edge = keep(w, g->edge, g->edges * sizeof *g->edge);
	if (!graph.block || !graph.way || !g->edge || !slope_graphs_add(&w->session->graphs, &graph, limit))
		return NO_MEMORY;
	forget_graph(w);
	return NULL;
}

/* What a `walk` says besides the blocks. */
struct walk {
	const struct slope_graph *graph;
	uint64_t stop_instructions, times;
	uint64_t metric[SLOPE_PATH_METRICS];
	uint32_t metrics;
};

/* Numbers between commas, one by one: the text that is left, or NULL when this was none. */
static char *next_of_list(const struct slope_walks_line *line, char *text, uint64_t *value)
{
	char *comma = strchr(text, ','), *end = comma ? comma : text + strlen(text);
	bool good;

	*end = '\0';
	good = line->number(line->ctx, text, value);
	return !good ? NULL : comma ? comma + 1 : end;
}

static const char *walk_options(struct slope_walks *w, const struct slope_walks_line *line, struct walk *walk)
{
	static const char *const option[] = { "stop", "times", "measured", NULL };
	uint64_t *to[] = { &walk->stop_instructions, &walk->times };

	walk->times = 1;
	for (int i = 3; i < line->words; i += 2) {
		int which = position(line, i, option);

		if (which < 0 || i + 1 == line->words)
			return "expected stop N, times K or measured V,V,...";
		if (which < 2 && !number(line, i + 1, to[which]))
			return "";
		for (char *text = line->word[i + 1]; which == 2 && *text;) {
			if (walk->metrics == w->session->path_metrics)
				return "the options name fewer metrics";
			text = next_of_list(line, text, &walk->metric[walk->metrics++]);
			if (!text)
				return "";
		}
		if (which == 2 && walk->metrics != w->session->path_metrics)
			return "the options name more metrics";
	}
	return walk->stop_instructions > UINT32_MAX ? "a block is not that large" : NULL;
}

/* The node where the thread is. */
static uint32_t context_of(const struct slope_thread *t)
{
	const struct slope_contexts *c = t->contexts;
	size_t depth = c ? slope_thread_depth(t) : 0;
	const struct slope_context *node = depth && depth <= c->places ? c->place[depth - 1] : NULL;

	return node ? node->number : SLOPE_PATH_CONTEXT_NONE;
}

/* A path has ended, or is left in block `stop`. */
static void count_path(struct slope_thread *t, const struct walk *walk, uint64_t path, uint32_t stop)
{
	struct slope_path_row key = {
		.graph = walk->graph->number, .context = context_of(t), .number = path, .stop = stop,
		.stop_instructions = stop == SLOPE_PATH_NOT_STOPPED ? 0 : (uint32_t)walk->stop_instructions,
	};
	struct slope_path_row *row = slope_path_row(&t->paths, &key);

	if (!row) {
		t->paths.lost += walk->times;
		return;
	}
	row->count += walk->times;
	row->samples += walk->metrics ? walk->times : 0;
	for (uint64_t i = 0; walk->metrics && i < walk->times; i++)
		for (uint32_t m = 0; m < walk->metrics; m++)
			slope_path_measure(&row->metric[m], walk->metric[m]);
}

/* The edge from v to there, or NULL. */
static const struct slope_path_edge *edge_to(const struct slope_path_graph *g, uint32_t v, uint64_t to)
{
	for (uint32_t e = g->first[v]; e < g->first[v + 1]; e++)
		if (g->edge[e].to == to)
			return &g->edge[e];
	return NULL;
}

/* The walk itself; without a thread it is only looked at. */
static const char *walk_along(const struct slope_walks_line *line, const struct walk *walk, struct slope_thread *t)
{
	const struct slope_path_graph *g = &walk->graph->paths;
	char *text = line->word[2];
	uint64_t v = 0, to = 0;
	int64_t r = 0;

	for (bool first = true; *text && to != SLOPE_PATH_OUT; first = false) {
		if (!first && !strcmp(text, "out"))
			to = SLOPE_PATH_OUT;
		else if (!(text = next_of_list(line, text, &to)))
			return "";
		const struct slope_path_edge *e = first ? NULL : edge_to(g, (uint32_t)v, to);

		if (first ? to >= g->vertices : !e)
			return first ? "the graph has no such block" : "there is no edge between two of these blocks";
		if (e)
			r = (int64_t)((uint64_t)r + (uint64_t)e->add);
		if (e && (e->cut != SLOPE_PATH_WHOLE || to == SLOPE_PATH_OUT) && t)
			count_path(t, walk, (uint64_t)r, SLOPE_PATH_NOT_STOPPED);
		v = to;
		if (v != SLOPE_PATH_OUT && (!e || e->cut != SLOPE_PATH_WHOLE))
			r = slope_path_begin(g, (uint32_t)v);
	}
	if (to != SLOPE_PATH_OUT && t)
		count_path(t, walk, slope_path_partial(g, (uint32_t)v, r), (uint32_t)v);
	return NULL;
}

/* The graph that word 1 says. */
static const char *find_graph(struct slope_walks *w, const struct slope_walks_line *line, const struct slope_graph **graph)
{
	uint64_t which;

	if (!number(line, 1, &which))
		return "";
	if (which >= w->session->graphs.count)
		return "there is no graph of that number";
	*graph = w->session->graphs.graph[which];
	return NULL;
}

static const char *walk_graph(struct slope_walks *w, const struct slope_walks_line *line)
{
	struct walk walk = { 0 };
	const char *problem = find_graph(w, line, &walk.graph);

	if (!problem && line->words < 3)
		problem = "expected the blocks of the walk";
	if (!problem)
		problem = walk_options(w, line, &walk);
	return problem ? problem : walk_along(line, &walk, line->thread);
}

static const char *add_repeats(struct slope_walks *w, const struct slope_walks_line *line)
{
	const struct slope_graph *graph = NULL;
	const char *problem = find_graph(w, line, &graph);
	uint64_t block, count;

	if (problem)
		return problem;
	if (!number(line, 2, &block) || !number(line, 3, &count))
		return "";
	if (line->words > 4)
		return "expected a graph, a block and a number";
	if (block >= graph->paths.vertices)
		return "the graph has no such block";
	if (line->thread && !slope_path_repeat(&line->thread->paths, graph->number, (uint32_t)block, count))
		line->thread->paths.lost += count;
	return NULL;
}

static const struct {
	const char *word;
	const char *(*play)(struct slope_walks *w, const struct slope_walks_line *line);
} statement[] = {
	{ "graph", begin_graph }, { "block", add_block }, { "edge", add_edge }, { "number", end_graph }, { "walk", walk_graph },
	{ "repeats", add_repeats },
};

bool slope_walks_is(const char *word)
{
	for (size_t i = 0; i < sizeof statement / sizeof *statement; i++)
		if (!strcmp(word, statement[i].word))
			return true;
	return false;
}

const char *slope_walks_play(struct slope_walks *w, const struct slope_walks_line *line)
{
	size_t i = 0;

	while (strcmp(line->word[0], statement[i].word))
		i++;
	return statement[i].play(w, line);
}

const char *slope_walks_missing(const struct slope_walks *w)
{
	return w->open ? "the last graph has not been numbered" : NULL;
}
