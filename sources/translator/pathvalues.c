/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where CTX_PATH is known beforehand: in blocks that a path can come to in one way only. There it need not be read: what is
 * counted has a fixed place, and what a call keeps is a constant.
 *
 * That holds as long as paths begin where graphs say that they do. When one begins elsewhere (behind a setjmp that
 * returns again, where code jumps into the middle of another function), translations of what lies behind are made anew without
 * constants. Whoever is in an old one then has begun as foreseen.
 */
#include "sources/translator/following.h"

#include "sources/translator/observing.h"

#define UNKNOWN INT64_MIN
#define LOST (INT64_MIN + 1)

static struct {
	uint64_t surprises;
} values;

static bool begins(const struct slope_path_graph *p, uint32_t vertex)
{
	return p->start[vertex] < p->regular;
}

/* How many edges lead to each vertex that paths may take. */
static void count_ways(const struct slope_path_graph *p, uint32_t *ways)
{
	for (uint32_t e = 0; e < p->edges; e++)
		if (!p->edge[e].cut && p->edge[e].to != SLOPE_PATH_OUT)
			ways[p->edge[e].to]++;
}

/* From those that nothing but their own beginning leads to. */
static void follow(struct path_graph *g, uint32_t *ways, uint32_t *queue)
{
	const struct slope_path_graph *p = &g->core->paths;
	uint32_t head = 0, tail = 0;

	for (uint32_t v = 0; v < p->vertices; v++) {
		g->value[v] = UNKNOWN;
		if (ways[v])
			continue;
		if (begins(p, v))
			g->value[v] = (int64_t)path_begin(g, v);
		queue[tail++] = v;
	}
	for (; head < tail; head++) {
		uint32_t from = queue[head];

		for (uint32_t e = p->first[from]; e < p->first[from + 1]; e++) {
			uint32_t to = p->edge[e].to;

			if (p->edge[e].cut || to == SLOPE_PATH_OUT || ways[to] != 1 || begins(p, to))
				continue;
			if (g->value[from] != UNKNOWN)
				g->value[to] = g->value[from] + p->edge[e].add;
			queue[tail++] = to;
		}
	}
}

void pathvalues_find(struct path_graph *g, struct slope_arena *arena)
{
	uint32_t vertices = g->core->paths.vertices, *ways;

	if (observer.on || observer.measures || observer.path_contexts)
		return;
	ways = slope_arena_alloc(arena, 2 * vertices * sizeof *ways);
	g->value = ways ? slope_arena_alloc(arena, vertices * sizeof *g->value) : NULL;
	if (!g->value)
		return;
	g->values = vertices;
	count_ways(&g->core->paths, ways);
	follow(g, ways, ways + vertices);
	slope_arena_free(arena, ways, 2 * vertices * sizeof *ways);
}

bool pathvalues_known(const struct path_graph *g, uint32_t vertex, int64_t *path)
{
	if (!g->value || vertex >= g->values || g->value[vertex] == UNKNOWN)
		return false;
	*path = g->value[vertex];
	return true;
}

/* ---- what is likely ---- */

/*
 * An edge from a block with this value leads to the vertex. Translations begin where branches lead; who falls into it knows where he
 * comes from. `jumped`: what one that branches has said already, of each vertex.
 */
static void suggest(struct path_graph *g, uint32_t edge, int64_t value, uint8_t *jumped)
{
	uint32_t to = g->core->paths.edge[edge].to;
	bool jumps = g->core->way[edge] != SLOPE_WAY_NEXT;

	if (jumps < (jumped[to] & 1))
		return;
	if (!jumped[to] || jumps > (jumped[to] & 1))
		g->likely[to] = value;
	else if (g->likely[to] != value)
		g->likely[to] = UNKNOWN;
	jumped[to] = 2 | jumps;
}

/* All blocks in the order of the ways that lead on, as if all paths began where those that go back do. */
static void guess(struct path_graph *g, uint32_t *ways, uint32_t *queue, uint8_t *jumped)
{
	const struct slope_path_graph *p = &g->core->paths;
	uint32_t head = 0, tail = 0;

	for (uint32_t v = 0; v < p->vertices; v++) {
		g->likely[v] = UNKNOWN;
		if (!ways[v])
			queue[tail++] = v;
	}
	for (; head < tail; head++) {
		uint32_t from = queue[head];

		if (begins(p, from))
			g->likely[from] = (int64_t)path_begin(g, from);
		for (uint32_t e = p->first[from]; e < p->first[from + 1]; e++) {
			uint32_t to = p->edge[e].to;

			if (p->edge[e].cut || to == SLOPE_PATH_OUT)
				continue;
			suggest(g, e, g->likely[from] == UNKNOWN ? UNKNOWN : g->likely[from] + p->edge[e].add, jumped);
			if (!--ways[to])
				queue[tail++] = to;
		}
	}
}

static void find_likely(struct path_graph *g)
{
	struct slope_arena *arena = pathplaces_arena();
	uint32_t vertices = g->core->paths.vertices, *ways = slope_arena_alloc(arena, 3 * vertices * sizeof *ways);

	g->likely = ways ? slope_arena_alloc_any(arena, vertices * sizeof *g->likely) : NULL;
	if (!g->likely)
		return;
	g->likelies = vertices;
	count_ways(&g->core->paths, ways);
	guess(g, ways, ways + vertices, (uint8_t *)(ways + 2 * vertices));
	slope_arena_free(arena, ways, 3 * vertices * sizeof *ways);
}

bool pathvalues_likely(struct path_graph *g, uint32_t vertex, int64_t *path)
{
	if (!g->likely && !observer.on && !observer.measures && !observer.path_contexts)
		find_likely(g);
	if (!g->likely || vertex >= g->likelies || g->likely[vertex] == UNKNOWN)
		return false;
	*path = g->likely[vertex];
	return true;
}

/* ---- what nobody had expected ---- */

/* What was known behind the vertex is so no longer. How many vertices have lost their value, which are in the queue then. */
static uint32_t lose(struct path_graph *g, uint32_t vertex, uint32_t *queue)
{
	const struct slope_path_graph *p = &g->core->paths;
	uint32_t head = 0, tail = 0, from = vertex;

	if (vertex < g->values && g->value[vertex] != UNKNOWN) {
		g->value[vertex] = LOST;
		queue[tail++] = vertex;
		head = 1;
	}
	for (;; from = queue[head++]) {
		for (uint32_t e = p->first[from]; e < p->first[from + 1]; e++) {
			uint32_t to = p->edge[e].to;

			if (p->edge[e].cut || to == SLOPE_PATH_OUT || to >= g->values || g->value[to] == UNKNOWN || g->value[to] == LOST)
				continue;
			g->value[to] = LOST;
			queue[tail++] = to;
		}
		if (head == tail)
			return tail;
	}
}

/* Is an instruction of a vertex that has lost its value part of the block? */
static bool has_lost(void *data, const struct block *b)
{
	const struct path_graph *g = data;

	for (uint32_t n = 0; n < b->marks; n++) {
		const struct path_place *p = pathindex_find(b->pc + (uint64_t)(int64_t)b->mark[n].program);

		if (p && p->graph == g && p->vertex < g->values && g->value[p->vertex] == LOST)
			return true;
	}
	return false;
}

void pathvalues_begin(struct path_graph *g, uint32_t vertex)
{
	uint32_t vertices = g->core->paths.vertices, *queue, lost;
	uint64_t page = 0;

	if (!g->value || begins(&g->core->paths, vertex) || (vertex < g->values && g->value[vertex] == UNKNOWN))
		return;
	if (!(queue = slope_arena_alloc_any(pathplaces_arena(), vertices * sizeof *queue))) {
		g->value = NULL;
		values.surprises++;
		codecache_changed(&runtime.cache, g->lowest, g->span);
		return;
	}
	lost = lose(g, vertex, queue);
	values.surprises += lost != 0;
	for (uint32_t n = 0; n < lost; n++) {
		const struct flow_block *b = &g->flow.block[queue[n]];

		for (uint64_t at = b->start / SLOPE_PAGE_BYTES; at <= (b->start + b->bytes - 1) / SLOPE_PAGE_BYTES; at++)
			if (!n || at != page)
				codecache_drop_if(&runtime.cache, page = at, has_lost, g);
	}
	for (uint32_t n = 0; n < lost; n++)
		g->value[queue[n]] = UNKNOWN;
	slope_arena_free(pathplaces_arena(), queue, vertices * sizeof *queue);
}

uint64_t pathvalues_surprises(void)
{
	return values.surprises;
}
