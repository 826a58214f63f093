/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * random_graphs [--graphs=N] [--seed=S]
 *
 * Numbers of paths in N random graphs (20 000), against what can be had without
 * numbers: all paths of the small ones, one by one, and walks through all of
 * them, whose paths are written down edge by edge. --seed looks at one graph.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/paths.h"
#include "sources/replay/replay.h"
#include "tests/agree/graph_shapes.h"

#define GRAPHS_DEFAULT 20000u
#define LENGTH_MAX 70000u
#define WALK_EDGES 2000u
#define ENUMERATED_MAX 20000u    /* paths */
#define SMALL_VERTICES 64u

#define CHECK(x) check((x), #x, __LINE__)

/* A path that a walk has taken. */
struct walked {
	uint64_t number;
	uint32_t first, count;       /* edges, in `walk` */
};

struct trial {
	uint64_t seed, limit;
	uint32_t cuts;               /* one edge in so many is cut from the outset */
	struct shape shape;
	struct slope_path_graph g;
	struct slope_arena arena;
};

static struct {
	uint64_t seed;
	uint32_t graphs, structured, irreducible, enumerated, cut, walks, refused;
	uint64_t paths, taken, partial, many;
	uint32_t way[LENGTH_MAX], decoded[LENGTH_MAX];
	uint32_t walk[WALK_EDGES];
	struct walked path[WALK_EDGES + 1];
	uint8_t seen[ENUMERATED_MAX];
	size_t pages_left;
} all;

static void check(bool good, const char *what, int line)
{
	if (good)
		return;
	printf("random_graphs: line %d: not so: %s; try --seed=%" PRIu64 "\n", line, what, all.seed);
	exit(1);
}

static void *scarce_pages(void *ctx, size_t bytes)
{
	if (!all.pages_left)
		return NULL;
	all.pages_left--;
	return slope_replay_host.pages(ctx, bytes);
}

static void release(void *ctx, void *p, size_t bytes)
{
	slope_replay_host.release(ctx, p, bytes);
}

static const struct slope_host host = { .pages = scarce_pages, .release = release };

static bool goes_on(const struct slope_path_edge *e)
{
	return e->cut == SLOPE_PATH_WHOLE && e->to != SLOPE_PATH_OUT;
}

static bool is_regular(const struct slope_path_graph *g, uint32_t v)
{
	for (uint32_t e = 0; e < g->edges; e++)
		if (g->edge[e].to == v && g->edge[e].cut != SLOPE_PATH_WHOLE)
			return true;
	return !v;
}

static int64_t plus(int64_t r, int64_t add)
{
	return (int64_t)((uint64_t)r + (uint64_t)add);
}

/* All paths that begin with all.way[0..count - 1] and are at v. How many. */
static uint64_t enumerate(const struct slope_path_graph *g, uint32_t begin, bool regular, uint32_t v, uint32_t count, int64_t r)
{
	uint64_t paths = 0;

	CHECK(count < g->vertices);
	for (uint32_t e = g->first[v]; e < g->first[v + 1]; e++) {
		uint64_t number = (uint64_t)plus(r, g->edge[e].add);
		uint32_t start = UINT32_MAX;

		all.way[count] = e;
		if (goes_on(&g->edge[e])) {
			paths += enumerate(g, begin, regular, g->edge[e].to, count + 1, (int64_t)number);
			continue;
		}
		paths++;
		CHECK(number < g->total && (number < g->regular) == regular);
		CHECK(!all.seen[number]);
		all.seen[number] = 1;
		CHECK(slope_path_decode(g, number, &start, all.decoded, LENGTH_MAX) == count + 1);
		CHECK(start == begin && !memcmp(all.way, all.decoded, (count + 1) * sizeof *all.way));
	}
	CHECK(paths == g->paths[v]);
	return paths;
}

/* Each number from 0 to total - 1 is one path's. */
static void check_all_paths(const struct slope_path_graph *g)
{
	uint64_t paths = 0, regular = 0;
	uint32_t begin;

	if (g->total > ENUMERATED_MAX)
		return;
	memset(all.seen, 0, sizeof all.seen);
	for (uint32_t v = 0; v < g->vertices; v++) {
		bool first = is_regular(g, v);
		uint64_t here = enumerate(g, v, first, v, 0, slope_path_begin(g, v));

		paths += here;
		regular += first ? here : 0;
	}
	CHECK(paths == g->total);
	CHECK(regular == g->regular);
	CHECK(!slope_path_decode(g, g->total, &begin, NULL, 0));
	all.enumerated++;
	all.paths += paths;
}

/* Paths if no edge were cut for there being too many; the most from any vertex, at most 2^63. */
static uint64_t most_paths(const struct slope_path_graph *g)
{
	uint64_t *paths = calloc(g->vertices, sizeof *paths), most = 0;
	bool changed = true;

	CHECK(paths != NULL);
	for (uint32_t round = 0; changed; round++) {
		CHECK(round <= g->vertices + 1);
		changed = false;
		for (uint32_t v = g->vertices; v-- > 0;) {
			uint64_t sum = 0;

			for (uint32_t e = g->first[v]; e < g->first[v + 1]; e++) {
				bool on = goes_on(&g->edge[e]) || (g->edge[e].cut == SLOPE_PATH_MANY);
				uint64_t more = on ? paths[g->edge[e].to] : 1;

				sum = sum + more < UINT64_C(1) << 63 ? sum + more : UINT64_C(1) << 63;
			}
			changed |= sum != paths[v];
			paths[v] = sum;
			most = sum > most ? sum : most;
		}
	}
	free(paths);
	return most;
}

/* Edges are cut for there being too many paths only where there are, and are counted; few paths are left. */
static void check_cuts(const struct trial *t)
{
	const struct slope_path_graph *g = &t->g;
	uint32_t many = 0;

	for (uint32_t e = 0; e < g->edges; e++) {
		many += g->edge[e].cut == SLOPE_PATH_MANY;
		CHECK((g->edge[e].cut == SLOPE_PATH_ASKED) == (t->shape.edge[e].cut == SLOPE_PATH_ASKED));
		CHECK(g->edge[e].to != SLOPE_PATH_OUT || g->edge[e].cut == t->shape.edge[e].cut);
	}
	CHECK(many == g->cut_edges);
	for (uint32_t v = 0; v < g->vertices; v++)
		CHECK(g->paths[v] <= t->limit || g->paths[v] == g->first[v + 1] - g->first[v]);
	CHECK(g->total < UINT64_C(1) << 62);
	if (many)
		CHECK(most_paths(g) > t->limit || most_paths(g) > (UINT64_C(1) << 61) / g->vertices);
	all.cut += many != 0;
	all.many += many;
}

/* Vertices that every way from the entry to a vertex comes through, as bits; all ones for one that cannot be reached. */
static void dominators(const struct slope_path_graph *g, uint64_t *dominate)
{
	bool changed = true;

	for (uint32_t v = 0; v < g->vertices; v++)
		dominate[v] = v ? UINT64_MAX : 1;
	while (changed) {
		changed = false;
		for (uint32_t e = 0; e < g->edges; e++) {
			const struct slope_path_edge *edge = &g->edge[e];

			if (edge->to == SLOPE_PATH_OUT || !edge->to || dominate[edge->from] == UINT64_MAX)
				continue;
			uint64_t more = dominate[edge->to] & (dominate[edge->from] | UINT64_C(1) << edge->to);

			more |= UINT64_C(1) << edge->to;
			changed |= more != dominate[edge->to];
			dominate[edge->to] = more;
		}
	}
}

/* In a structured program every back edge leads to where its loop is entered; where one does not, the graph is irreducible. */
static void check_loops(const struct trial *t)
{
	const struct slope_path_graph *g = &t->g;
	uint64_t dominate[SMALL_VERTICES];
	bool odd = false;

	if (g->vertices >= SMALL_VERTICES)
		return;
	dominators(g, dominate);
	for (uint32_t e = 0; e < g->edges; e++) {
		const struct slope_path_edge *edge = &g->edge[e];

		if (edge->cut != SLOPE_PATH_BACK || dominate[edge->from] == UINT64_MAX)
			continue;
		odd |= !(dominate[edge->from] & UINT64_C(1) << edge->to);
	}
	CHECK(!odd || !t->shape.structured || t->cuts);
	all.irreducible += odd;
}

/* The weight of a maximum spanning forest, grown vertex by vertex. */
static uint64_t forest_weight(const struct slope_path_graph *g)
{
	uint8_t *in = calloc(g->vertices, 1);
	uint64_t weight = 0;

	CHECK(in != NULL);
	for (uint32_t v = 0; v < g->vertices; v++) {
		if (in[v])
			continue;
		in[v] = 1;
		for (;;) {
			const struct slope_path_edge *best = NULL;

			for (uint32_t e = 0; e < g->edges; e++)
				if (goes_on(&g->edge[e]) && in[g->edge[e].from] != in[g->edge[e].to] &&
				    (!best || g->edge[e].weight > best->weight))
					best = &g->edge[e];
			if (!best)
				break;
			in[best->from] = in[best->to] = 1;
			weight += best->weight;
		}
	}
	free(in);
	return weight;
}

/* As many edges as can be, and those taken most often, need no code. */
static void check_offsets(const struct slope_path_graph *g)
{
	uint32_t adds = 0, values = 0;
	uint64_t spared = 0;

	for (uint32_t i = 0; i < g->edges; i++) {
		const struct slope_path_edge *e = &g->edge[i];

		if (!goes_on(e))
			continue;
		adds += e->add != 0;
		values += e->value != 0;
		spared += e->add ? 0 : e->weight;
	}
	CHECK(adds <= values);
	CHECK(g->offset[0] == 0);
	if (g->vertices < SMALL_VERTICES)
		CHECK(spared >= forest_weight(g));
}

static int by_edges(const void *a, const void *b)
{
	const struct walked *x = a, *y = b;
	uint32_t common = x->count < y->count ? x->count : y->count;
	int order = memcmp(all.walk + x->first, all.walk + y->first, common * sizeof *all.walk);

	return order ? order : (x->count > y->count) - (x->count < y->count);
}

/* The path so far is the beginning of the one that its number stands for. */
static void check_partial(const struct slope_path_graph *g, uint32_t begin, uint32_t v, int64_t r, const uint32_t *edge, uint32_t count)
{
	uint32_t start = UINT32_MAX, length = slope_path_decode(g, slope_path_partial(g, v, r), &start, all.decoded, LENGTH_MAX);

	CHECK(length > count && start == begin);
	CHECK(!memcmp(all.decoded, edge, count * sizeof *edge));
	CHECK(g->edge[all.decoded[count]].from == v);
	all.partial++;
}

/* Walks on until WALK_EDGES edges are behind; paths that ended are in all.path and the table. How many. */
static uint32_t walk(struct trial *t, struct slope_path_table *table)
{
	const struct slope_path_graph *g = &t->g;
	uint32_t paths = 0, v = 0, begin = 0, first = 0, foreign = (uint32_t)shape_draw(&t->shape, 3);
	int64_t r = slope_path_begin(g, 0);

	for (uint32_t i = 0; i < WALK_EDGES; i++) {
		uint32_t e = g->first[v] + (uint32_t)shape_draw(&t->shape, g->first[v + 1] - g->first[v]);
		const struct slope_path_edge *edge = &g->edge[e];

		if (shape_draw(&t->shape, 50) == 0)
			check_partial(g, begin, v, r, all.walk + first, i - first);
		all.walk[i] = e;
		r = plus(r, edge->add);
		v = edge->to;
		if (goes_on(edge))
			continue;
		struct slope_path_row key = { .number = (uint64_t)r, .stop = SLOPE_PATH_NOT_STOPPED }, *row = slope_path_row(table, &key);

		CHECK(row != NULL);
		row->count++;
		all.path[paths++] = (struct walked){ .number = (uint64_t)r, .first = first, .count = i + 1 - first };
		first = i + 1;
		if (v == SLOPE_PATH_OUT)
			v = foreign && shape_draw(&t->shape, 4) == 0 ? (uint32_t)shape_draw(&t->shape, g->vertices) : 0;
		begin = v;
		r = slope_path_begin(g, v);
	}
	return paths;
}

/* What was counted by number is what was written down edge by edge. */
static void check_walk(struct trial *t)
{
	struct slope_path_table table;
	size_t different = 0;

	slope_path_table_init(&table, &t->arena);
	uint32_t paths = walk(t, &table);

	qsort(all.path, paths, sizeof *all.path, by_edges);
	for (uint32_t i = 0, next; i < paths; i = next) {
		const struct walked *p = &all.path[i];
		struct slope_path_row key = { .number = p->number, .stop = SLOPE_PATH_NOT_STOPPED };
		uint32_t begin = UINT32_MAX;

		for (next = i; next < paths && !by_edges(p, &all.path[next]); next++)
			CHECK(all.path[next].number == p->number);
		CHECK(slope_path_row(&table, &key)->count == next - i);
		CHECK(slope_path_decode(&t->g, p->number, &begin, all.decoded, LENGTH_MAX) == p->count);
		CHECK(!memcmp(all.decoded, all.walk + p->first, p->count * sizeof *all.walk));
		CHECK(begin == t->g.edge[all.walk[p->first]].from);
		CHECK(p->number < t->g.total);
		different++;
	}
	CHECK(table.rows == different);
	all.walks++;
	all.taken += paths;
}

/* Numbers a copy of the shape's edges, as soon as there is memory enough. */
static void number(struct trial *t, struct slope_path_edge *edge)
{
	size_t bytes = t->shape.edges * sizeof *edge;
	bool good = false, scarce = t->seed % 8 == 0;

	for (size_t pages = scarce ? 0 : SIZE_MAX; !good; pages++) {
		all.pages_left = pages;
		memcpy(edge, t->shape.edge, bytes);
		t->g = (struct slope_path_graph){ .vertices = t->shape.vertices, .edges = t->shape.edges, .edge = edge };
		slope_arena_init(&t->arena, &host);
		good = slope_path_number(&t->g, &t->arena, t->limit);
		if (good)
			break;
		CHECK(scarce && pages < 20);
		CHECK(!memcmp(edge, t->shape.edge, bytes) && !t->g.first && !t->g.start);
		slope_arena_fini(&t->arena);
		all.refused++;
	}
	all.pages_left = SIZE_MAX;
}

static void try_graph(uint64_t seed)
{
	struct trial t = { .seed = seed };
	struct shape draw = { .random = seed * 7919 };
	uint64_t size = shape_draw(&draw, 1000);
	uint32_t vertices = (uint32_t)(1 + shape_draw(&draw, size < 700 ? 12 : size < 990 ? 200 : size < 999 ? 3000 : 20000));
	uint32_t cuts = (uint32_t)(shape_draw(&draw, 3) ? 0 : 2 + shape_draw(&draw, 30));
	uint64_t few = 1 + shape_draw(&draw, UINT64_C(1) << shape_draw(&draw, 24));

	all.seed = seed;
	t.cuts = cuts;
	t.limit = shape_draw(&draw, 4) ? SLOPE_PATH_LIMIT : few;
	shape_make(&t.shape, seed, shape_draw(&draw, 2), vertices, cuts);
	struct slope_path_edge *edge = malloc(t.shape.edges * sizeof *edge);

	CHECK(edge != NULL);
	number(&t, edge);
	check_cuts(&t);
	check_all_paths(&t.g);
	check_loops(&t);
	check_offsets(&t.g);
	check_walk(&t);
	all.graphs++;
	all.structured += t.shape.structured;
	slope_arena_fini(&t.arena);
	shape_free(&t.shape);
	free(edge);
}

int main(int argc, char **argv)
{
	uint64_t graphs = GRAPHS_DEFAULT, first = 1;

	for (int i = 1; i < argc; i++) {
		if (sscanf(argv[i], "--graphs=%" SCNu64, &graphs) == 1)
			continue;
		if (sscanf(argv[i], "--seed=%" SCNu64, &first) != 1) {
			fputs("usage: random_graphs [--graphs=N] [--seed=S]\n", stderr);
			return 2;
		}
		graphs = 1;
	}
	for (uint64_t seed = first; seed < first + graphs; seed++)
		try_graph(seed);
	printf("%" PRIu32 " graphs, %" PRIu32 " of structured programs, %" PRIu32 " irreducible, %" PRIu32 " cut at %" PRIu64 " edges\n",
	       all.graphs, all.structured, all.irreducible, all.cut, all.many);
	printf("%" PRIu64 " paths of %" PRIu32 " graphs one by one, %" PRIu64 " on walks, %" PRIu64 " left half way, %" PRIu32
	       " times no memory\n", all.paths, all.enumerated, all.taken, all.partial, all.refused);
	if (graphs < GRAPHS_DEFAULT)
		return 0;
	CHECK(all.structured > 4000 && all.graphs - all.structured > 4000 && all.irreducible > 1000);
	CHECK(all.enumerated > 6000 && all.cut > 500 && all.refused > 1000 && all.partial > 100000);
	return 0;
}
