/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/path_number.h"

#define TOTAL_MAX (UINT64_C(1) << 62)
#define AGAIN_PER_EDGE 8u        /* how often, on average, an edge may be looked at again for the sake of better cuts */
#define WEIGHTS_MAX 16u

/* What is only needed while numbers are given. Postorder: whoever an edge leads to, unless it is cut, comes before. */
struct numbering {
	struct slope_path_graph *g;
	uint32_t *order;             /* vertices in postorder */
	uint32_t *position;          /* of a vertex, there */
	uint32_t *stack, *next;      /* for the search; next: the edge to look at */
	uint32_t *seen, calls;       /* the last call of `narrowest` that came to a vertex */
	uint32_t *sorted, *spare;    /* edges; spare: while they are sorted */
	uint8_t *mark;
	uint64_t *offset;            /* the graph's */
	uint64_t limit;              /* of paths from one vertex */
	uint64_t heavy;              /* about its root: where more are behind an edge, a cut there makes room for long */
	uint64_t again;              /* edges that may still be looked at once more */
};

enum { MARK_NONE, MARK_OPEN, MARK_DONE };

static bool goes_on(const struct slope_path_edge *e)
{
	return e->cut == SLOPE_PATH_WHOLE && e->to != SLOPE_PATH_OUT;
}

/* Paths that begin with the edge. */
static uint64_t paths_of(const struct slope_path_graph *g, const struct slope_path_edge *e)
{
	return goes_on(e) ? g->paths[e->to] : 1;
}

bool slope_path_group(struct slope_path_graph *g)
{
	uint32_t e = 0;

	for (uint32_t v = 0; v < g->vertices; v++) {
		g->first[v] = e;
		for (; e < g->edges && g->edge[e].from == v; e++)
			if (g->edge[e].to != SLOPE_PATH_OUT && g->edge[e].to >= g->vertices)
				return false;
		if (e == g->first[v])
			return false;
	}
	g->first[g->vertices] = e;
	return e == g->edges;
}

/* All that can be reached from `root` and has no place yet gets one; edges back to where the search comes from are cut. */
static uint32_t search(struct numbering *n, uint32_t root, uint32_t placed)
{
	struct slope_path_graph *g = n->g;
	uint32_t depth = 0;

	if (n->mark[root] != MARK_NONE)
		return placed;
	n->mark[root] = MARK_OPEN;
	n->next[root] = g->first[root];
	n->stack[depth++] = root;
	while (depth) {
		uint32_t v = n->stack[depth - 1];

		if (n->next[v] == g->first[v + 1]) {
			n->mark[v] = MARK_DONE;
			n->position[v] = placed;
			n->order[placed++] = v;
			depth--;
			continue;
		}
		struct slope_path_edge *e = &g->edge[n->next[v]++];

		if (!goes_on(e) || n->mark[e->to] == MARK_DONE)
			continue;
		if (n->mark[e->to] == MARK_OPEN) {
			e->cut = SLOPE_PATH_BACK;
			continue;
		}
		n->mark[e->to] = MARK_OPEN;
		n->next[e->to] = g->first[e->to];
		n->stack[depth++] = e->to;
	}
	return placed;
}

/* From the entry, then from where the caller's cuts lead, so that loops there are entered by their own front door. */
static void search_all(struct numbering *n)
{
	const struct slope_path_graph *g = n->g;
	uint32_t placed = search(n, 0, 0);

	for (uint32_t e = 0; e < g->edges; e++)
		if (g->edge[e].cut == SLOPE_PATH_ASKED && g->edge[e].to != SLOPE_PATH_OUT)
			placed = search(n, g->edge[e].to, placed);
	for (uint32_t v = 0; v < g->vertices; v++)
		placed = search(n, v, placed);
}

/* Values of v's edges, and how many paths it has, TOTAL_MAX for more than that. */
static uint64_t sum_up(struct slope_path_graph *g, uint32_t v)
{
	uint64_t sum = 0;

	for (uint32_t e = g->first[v]; e < g->first[v + 1]; e++) {
		g->edge[e].value = sum;
		sum += paths_of(g, &g->edge[e]);
		if (sum > TOTAL_MAX)
			sum = TOTAL_MAX;
	}
	return g->paths[v] = sum;
}

/* Edges of v with many paths behind them; cut, if asked for. */
static uint32_t heavy_edges(struct numbering *n, uint32_t v, bool cut)
{
	struct slope_path_graph *g = n->g;
	uint32_t count = 0;

	for (uint32_t e = g->first[v]; e < g->first[v + 1]; e++) {
		if (paths_of(g, &g->edge[e]) <= n->heavy)
			continue;
		count++;
		if (cut)
			g->edge[e].cut = SLOPE_PATH_MANY;
	}
	g->cut_edges += cut ? count : 0;
	return count;
}

/*
 * Where to cut so that `v` has fewer paths: at v itself, or further on where all its ways with many paths behind them
 * come together, if fewer such edges leave that place. They are followed in topological order; `open` is how many
 * vertices they have yet to come to, and where that is one they all meet.
 */
static uint32_t narrowest(struct numbering *n, uint32_t v)
{
	struct slope_path_graph *g = n->g;
	uint32_t best = v, least = UINT32_MAX, open = 1, call = ++n->calls;

	n->seen[v] = call;
	for (uint32_t p = n->position[v] + 1; p-- && n->again && open && least > 1; n->again--) {
		uint32_t x = n->order[p];

		if (n->seen[x] != call)
			continue;
		uint32_t edges = heavy_edges(n, x, false);

		if (!edges)
			break;           /* ways end here */
		if (open == 1 && edges < least) {
			best = x;
			least = edges;
		}
		open--;
		for (uint32_t e = g->first[x]; e < g->first[x + 1]; e++) {
			n->again -= n->again > 1;
			if (paths_of(g, &g->edge[e]) <= n->heavy || n->seen[g->edge[e].to] == call)
				continue;
			n->seen[g->edge[e].to] = call;
			open++;
		}
	}
	return best;
}

/* Cuts edges of v until it has few enough paths, those with more behind them before others, and no more than it takes. */
static void thin_out(struct numbering *n, uint32_t v)
{
	struct slope_path_graph *g = n->g;
	unsigned __int128 sum = 0;

	for (uint32_t e = g->first[v]; e < g->first[v + 1]; e++)
		sum += paths_of(g, &g->edge[e]);
	for (uint64_t most = n->limit; most && sum > n->limit; most /= 2)
		for (uint32_t e = g->first[v]; e < g->first[v + 1] && sum > n->limit; e++) {
			uint64_t paths = paths_of(g, &g->edge[e]);

			if (paths <= most)
				continue;
			g->edge[e].cut = SLOPE_PATH_MANY;
			g->cut_edges++;
			sum -= paths - 1;
		}
	sum_up(g, v);
}

/* Values and paths, with no more than the limit from any vertex (but one for each of its edges). */
static void count_paths(struct numbering *n)
{
	for (uint32_t p = 0; p < n->g->vertices; p++) {
		uint32_t v = n->order[p];

		if (sum_up(n->g, v) <= n->limit)
			continue;
		uint32_t x = narrowest(n, v);

		if (heavy_edges(n, x, true))
			p = n->position[x] - 1;       /* all from there on once more */
		else
			thin_out(n, v);
	}
}

/* The first number of each vertex: the entry, then heads of edges that are cut, then all others. */
static void place_starts(struct numbering *n)
{
	struct slope_path_graph *g = n->g;
	uint64_t number = 0;

	for (uint32_t v = 0; v < g->vertices; v++)
		n->mark[v] = !v;
	for (uint32_t e = 0; e < g->edges; e++)
		if (g->edge[e].cut != SLOPE_PATH_WHOLE && g->edge[e].to != SLOPE_PATH_OUT)
			n->mark[g->edge[e].to] = 1;
	for (unsigned regular = 2; regular--;) {
		for (uint32_t v = 0; v < g->vertices; v++)
			if (n->mark[v] == regular) {
				g->start[v] = number;
				number += g->paths[v];
			}
		if (regular)
			g->regular = number;
	}
	g->total = number;
}

/* Weights of edges, heaviest first, and how many edges have each. */
struct weights {
	uint32_t count;
	uint32_t weight[WEIGHTS_MAX], edges[WEIGHTS_MAX];
};

/* Is edge a to be looked at before b: it is taken more often, or comes first? */
static bool before(const struct slope_path_graph *g, uint32_t a, uint32_t b)
{
	return g->edge[a].weight != g->edge[b].weight ? g->edge[a].weight > g->edge[b].weight : a < b;
}

/* The number of a weight among those, from the heaviest on; a new one is put between. False: there are too many. */
static bool class_of(struct weights *w, uint32_t weight, uint32_t *number)
{
	uint32_t at = 0;

	while (at < w->count && w->weight[at] > weight)
		at++;
	*number = at;
	if (at < w->count && w->weight[at] == weight)
		return true;
	if (w->count == WEIGHTS_MAX)
		return false;
	for (uint32_t k = w->count++; k > at; k--) {
		w->weight[k] = w->weight[k - 1];
		w->edges[k] = w->edges[k - 1];
	}
	w->weight[at] = weight;
	w->edges[at] = 0;
	return true;
}

/* Sorts by weight where there are few different ones, as in graphs of compiled code. False: nothing is done. */
static bool sort_by_weight(struct numbering *n, uint32_t count)
{
	const struct slope_path_edge *edge = n->g->edge;
	struct weights w = { .count = 0 };
	uint32_t number, at = 0, *sorted = n->spare;

	for (uint32_t i = 0; i < count; i++) {
		if (!class_of(&w, edge[n->sorted[i]].weight, &number))
			return false;
		w.edges[number]++;
	}
	for (uint32_t k = 0; k < w.count; k++) {
		uint32_t edges = w.edges[k];

		w.edges[k] = at;
		at += edges;
	}
	for (uint32_t i = 0; i < count; i++) {
		class_of(&w, edge[n->sorted[i]].weight, &number);
		sorted[w.edges[number]++] = n->sorted[i];
	}
	n->spare = n->sorted;
	n->sorted = sorted;
	return true;
}

/* The edges that go on, by weight: if need be, runs of growing length are merged from one array into the other. */
static uint32_t sort_edges(struct numbering *n)
{
	const struct slope_path_graph *g = n->g;
	uint32_t count = 0;

	for (uint32_t e = 0; e < g->edges; e++)
		if (goes_on(&g->edge[e]))
			n->sorted[count++] = e;
	if (sort_by_weight(n, count))
		return count;
	for (uint64_t run = 1; run < count; run *= 2) {
		uint32_t *from = n->sorted, *to = n->spare;

		for (uint64_t low = 0; low < count; low += 2 * run) {
			uint64_t a = low, a_end = low + run < count ? low + run : count;
			uint64_t b = a_end, b_end = b + run < count ? b + run : count;

			for (uint64_t at = low; at < b_end; at++)
				to[at] = b == b_end || (a < a_end && before(g, from[a], from[b])) ? from[a++] : from[b++];
		}
		n->sorted = to;
		n->spare = from;
	}
	return count;
}

/*
 * The vertex that stands for v's tree, and v's offset from there. Here `stack` is the way to it, and g->offset what each
 * step of it adds. Offsets are numbers modulo 2^64, as what is computed with them is.
 */
static uint32_t tree_of(struct numbering *n, uint32_t v, uint64_t *offset)
{
	uint32_t *up = n->stack;
	uint64_t sum = 0;

	while (up[v] != v) {
		uint32_t above = up[v];

		if (up[above] != above) {
			n->offset[v] += n->offset[above];
			up[v] = up[above];
		}
		sum += n->offset[v];
		v = up[v];
	}
	*offset = sum;
	return v;
}

/* Offsets that make `add` zero along a maximum spanning forest. In each tree the first vertex, as the entry, has none. */
static void place_offsets(struct numbering *n)
{
	struct slope_path_graph *g = n->g;
	uint32_t count = sort_edges(n);

	for (uint32_t v = 0; v < g->vertices; v++) {
		n->stack[v] = v;
		n->offset[v] = 0;
	}
	for (uint32_t i = 0; i < count; i++) {
		const struct slope_path_edge *e = &g->edge[n->sorted[i]];
		uint64_t from_offset, to_offset;
		uint32_t from = tree_of(n, e->from, &from_offset), to = tree_of(n, e->to, &to_offset);
		uint64_t apart = from_offset + e->value - to_offset;

		if (from == to)
			continue;
		n->stack[from < to ? to : from] = from < to ? from : to;
		n->offset[from < to ? to : from] = from < to ? apart : -apart;
	}
	for (uint32_t v = 0; v < g->vertices; v++) {
		uint64_t offset;

		n->stack[v] = tree_of(n, v, &offset);
		n->offset[v] = offset;
	}
	for (uint32_t i = 0; i < g->edges; i++) {
		struct slope_path_edge *e = &g->edge[i];

		e->add = (int64_t)(e->value + n->offset[e->from] - (goes_on(e) ? n->offset[e->to] : 0));
	}
}

/* Cuts `count` numbers of 4 bytes from the scratch memory. */
static uint32_t *part(uint32_t **scratch, size_t count)
{
	uint32_t *here = *scratch;

	*scratch += count;
	return here;
}

static bool make_arrays(struct slope_path_graph *g, struct slope_arena *arena)
{
	size_t vertices = g->vertices;

	g->first = slope_arena_alloc(arena, (vertices + 1) * sizeof *g->first);
	g->paths = slope_arena_alloc(arena, vertices * sizeof *g->paths);
	g->start = slope_arena_alloc(arena, vertices * sizeof *g->start);
	g->offset = slope_arena_alloc(arena, vertices * sizeof *g->offset);
	return g->first && g->paths && g->start && g->offset;
}

static void free_arrays(struct slope_path_graph *g, struct slope_arena *arena)
{
	size_t vertices = g->vertices;

	slope_arena_free(arena, g->first, (vertices + 1) * sizeof *g->first);
	slope_arena_free(arena, g->paths, vertices * sizeof *g->paths);
	slope_arena_free(arena, g->start, vertices * sizeof *g->start);
	slope_arena_free(arena, g->offset, vertices * sizeof *g->offset);
	g->first = NULL;
	g->paths = g->start = NULL;
	g->offset = NULL;
}

static void set_limit(struct numbering *n, uint64_t limit)
{
	uint64_t most = TOTAL_MAX / 2 / n->g->vertices;

	n->limit = limit < most ? limit : most;
	if (!n->limit)
		n->limit = 1;
	n->heavy = UINT64_C(1) << (63 - __builtin_clzll(n->limit)) / 2;
	n->again = (uint64_t)AGAIN_PER_EDGE * n->g->edges;
}

bool slope_path_number(struct slope_path_graph *g, struct slope_arena *arena, uint64_t limit)
{
	size_t vertices = g->vertices, edges = g->edges;
	size_t bytes = (5 * vertices + 2 * edges) * sizeof(uint32_t) + vertices;
	uint32_t *scratch = vertices ? slope_arena_alloc_any(arena, bytes) : NULL, *rest = scratch;
	struct numbering n = { .g = g };
	bool good = make_arrays(g, arena) && scratch && slope_path_group(g);

	if (good) {
		g->cut_edges = 0;
		n.order = part(&rest, vertices);
		n.position = part(&rest, vertices);
		n.stack = part(&rest, vertices);
		n.next = part(&rest, vertices);
		n.seen = part(&rest, vertices);
		n.sorted = part(&rest, edges);
		n.spare = part(&rest, edges);
		n.mark = (uint8_t *)rest;
		n.offset = (uint64_t *)g->offset;
		for (size_t v = 0; v < vertices; v++) {
			n.mark[v] = MARK_NONE;
			n.seen[v] = 0;
		}
		set_limit(&n, limit);
		search_all(&n);
		count_paths(&n);
		place_starts(&n);
		place_offsets(&n);
	} else {
		free_arrays(g, arena);
	}
	slope_arena_free(arena, scratch, bytes);
	return good;
}

/* The vertex whose paths have this number. */
static uint32_t begin_of(const struct slope_path_graph *g, uint64_t number)
{
	uint32_t begin = 0;

	for (uint32_t v = 1; v < g->vertices; v++)
		if (g->start[v] <= number && g->start[v] > g->start[begin])
			begin = v;
	return begin;
}

/* The last of v's edges whose value is not above `rest`. */
static uint32_t edge_of(const struct slope_path_graph *g, uint32_t v, uint64_t rest)
{
	uint32_t low = g->first[v], high = g->first[v + 1];

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (g->edge[middle].value <= rest)
			low = middle;
		else
			high = middle;
	}
	return low;
}

uint32_t slope_path_decode(const struct slope_path_graph *g, uint64_t number, uint32_t *begin, uint32_t *edge, uint32_t max)
{
	uint32_t v = begin_of(g, number), count = 0;
	uint64_t rest = number - g->start[v];

	*begin = v;
	if (number >= g->total)
		return 0;
	for (;;) {
		uint32_t at = edge_of(g, v, rest);
		const struct slope_path_edge *e = &g->edge[at];

		if (e->value > rest || count == g->vertices)
			return 0;
		rest -= e->value;
		if (count < max)
			edge[count] = at;
		count++;
		if (!goes_on(e))
			return rest ? 0 : count;
		v = e->to;
	}
}
