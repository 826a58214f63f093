/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/path_number.h"
#include "tests/unit/scarce.h"

#define OUT SLOPE_PATH_OUT
#define LENGTH_MAX 64u
#define E(a, b) { .from = (a), .to = (b) }
#define W(a, b, often) { .from = (a), .to = (b), .weight = (often) }
#define EDGES(...) (const struct slope_path_edge[]){ __VA_ARGS__ }, \
		   sizeof (struct slope_path_edge[]){ __VA_ARGS__ } / sizeof(struct slope_path_edge)

struct numbered {
	struct scarce scarce;
	struct slope_arena arena;
	struct slope_path_graph g;
	struct slope_path_edge *edge;
};

static bool number(struct numbered *n, const struct slope_path_edge *edge, size_t edges, uint32_t vertices, uint64_t limit)
{
	scarce_init(&n->scarce, ENDLESS);
	slope_arena_init(&n->arena, &n->scarce.host);
	n->edge = malloc(edges * sizeof *edge);
	assert_non_null(n->edge);
	memcpy(n->edge, edge, edges * sizeof *edge);
	n->g = (struct slope_path_graph){ .vertices = vertices, .edges = (uint32_t)edges, .edge = n->edge };
	return slope_path_number(&n->g, &n->arena, limit);
}

static void done(struct numbered *n)
{
	slope_arena_fini(&n->arena);
	assert_int_equal(n->scarce.held_bytes, 0);
	free(n->edge);
}

/* The blocks of a path as letters. */
static const char *blocks(const struct slope_path_graph *g, uint64_t number, char *text)
{
	uint32_t edge[LENGTH_MAX], begin, count = slope_path_decode(g, number, &begin, edge, LENGTH_MAX);

	assert_in_range(count, 1, LENGTH_MAX - 1);
	for (uint32_t i = 0; i < count; i++)
		text[i] = (char)('A' + g->edge[edge[i]].from);
	assert_int_equal(g->edge[edge[0]].from, begin);
	text[count] = '\0';
	return text;
}

/* Plays the blocks of a text through the register; the number that is counted at its end. `begin`: its first letter. */
static uint64_t counted(const struct slope_path_graph *g, const char *text)
{
	uint32_t v = (uint32_t)(*text - 'A');
	int64_t r = slope_path_begin(g, v);

	for (;; text++) {
		uint32_t to = text[1] ? (uint32_t)(text[1] - 'A') : OUT, e = g->first[v];

		while (e < g->first[v + 1] && g->edge[e].to != to)
			e++;
		assert_in_range(e, g->first[v], g->first[v + 1] - 1);
		r = (int64_t)((uint64_t)r + (uint64_t)g->edge[e].add);
		if (to == OUT)
			return (uint64_t)r;
		assert_int_equal(g->edge[e].cut, SLOPE_PATH_WHOLE);
		v = to;
	}
}

/* A, two ways to skip, six paths: ACDF, ACDEF, ABCDF, ABCDEF, ABDF, ABDEF. */
static void six_paths_have_the_numbers_0_to_5(void **state)
{
	static const char *const path[] = { "ABCDEF", "ABCDF", "ABDEF", "ABDF", "ACDEF", "ACDF" };
	char text[LENGTH_MAX];
	struct numbered n;

	(void)state;
	assert_true(number(&n, EDGES(E(0, 1), E(0, 2), E(1, 2), E(1, 3), E(2, 3), E(3, 4), E(3, 5), E(4, 5), E(5, OUT)), 6,
			   SLOPE_PATH_LIMIT));
	assert_int_equal(n.g.regular, 6);
	assert_int_equal(n.g.paths[1], 4);
	for (uint64_t i = 0; i < 6; i++) {
		assert_string_equal(blocks(&n.g, i, text), path[i]);
		assert_int_equal(counted(&n.g, path[i]), i);
	}
	/* B 4, C 2, D 2, E 1, F 1: paths that begin there have numbers as well. */
	assert_int_equal(n.g.total, 16);
	assert_string_equal(blocks(&n.g, 6, text), "BCDEF");
	assert_string_equal(blocks(&n.g, 15, text), "F");
	uint32_t begin;

	assert_int_equal(slope_path_decode(&n.g, 16, &begin, NULL, 0), 0);
	assert_int_equal(slope_path_decode(&n.g, UINT64_MAX, &begin, NULL, 0), 0);
	assert_int_equal(slope_path_decode(&n.g, 0, &begin, NULL, 0), 6);
	done(&n);
}

/* A -> B -> C -> B, C -> D: the loop's way back ends a path, and behind it others begin. */
static void back_edges_end_paths(void **state)
{
	char text[LENGTH_MAX];
	struct numbered n;

	(void)state;
	assert_true(number(&n, EDGES(E(0, 1), E(1, 2), E(2, 1), E(2, 3), E(3, OUT)), 4, SLOPE_PATH_LIMIT));
	assert_int_equal(n.g.edge[2].cut, SLOPE_PATH_BACK);
	assert_int_equal(n.g.regular, 4);
	assert_string_equal(blocks(&n.g, 0, text), "ABC");
	assert_string_equal(blocks(&n.g, 1, text), "ABCD");
	assert_string_equal(blocks(&n.g, 2, text), "BC");
	assert_string_equal(blocks(&n.g, 3, text), "BCD");
	assert_int_equal(n.g.total, 4 + 2 + 1);
	assert_int_equal(n.g.cut_edges, 0);
	done(&n);
}

/* A loop of one block, one back to the entry, two edges to the same place, a block nobody comes to, a cut that is asked for. */
static void odd_graphs_are_numbered(void **state)
{
	char text[LENGTH_MAX];
	struct numbered n;

	(void)state;
	assert_true(number(&n, EDGES(E(0, 0), E(0, OUT)), 1, SLOPE_PATH_LIMIT));
	assert_int_equal(n.g.regular, 2);
	assert_int_equal(n.g.edge[0].cut, SLOPE_PATH_BACK);
	done(&n);
	assert_true(number(&n, EDGES(E(0, 1), E(0, 1), E(1, OUT), E(2, 1), E(2, 2)), 3, SLOPE_PATH_LIMIT));
	assert_int_equal(n.g.paths[0], 2);
	assert_int_equal(n.g.regular, 4);
	assert_int_equal(n.g.total, 5);
	assert_string_equal(blocks(&n.g, 2, text), "CB");
	assert_string_equal(blocks(&n.g, 4, text), "B");
	done(&n);
	assert_true(number(&n, EDGES({ .from = 0, .to = 1, .cut = SLOPE_PATH_ASKED }, E(0, 2), E(1, 0), E(2, OUT)), 3, SLOPE_PATH_LIMIT));
	assert_int_equal(n.g.edge[2].cut, SLOPE_PATH_WHOLE);     /* no loop is left */
	assert_int_equal(n.g.edge[0].cut, SLOPE_PATH_ASKED);
	assert_int_equal(n.g.regular, 4);
	assert_string_equal(blocks(&n.g, 3, text), "BAC");
	done(&n);
}

static void what_is_no_graph_is_refused(void **state)
{
	struct numbered n;

	(void)state;
	assert_false(number(&n, EDGES(E(0, 1)), 2, SLOPE_PATH_LIMIT));
	assert_null(n.g.first);
	done(&n);
	assert_false(number(&n, EDGES(E(0, 2), E(1, OUT)), 2, SLOPE_PATH_LIMIT));
	done(&n);
	assert_false(number(&n, EDGES(E(1, OUT), E(0, OUT)), 2, SLOPE_PATH_LIMIT));
	done(&n);
	assert_false(number(&n, EDGES(E(0, OUT)), 0, SLOPE_PATH_LIMIT));
	done(&n);
}

/* `count` diamonds in a row, the ends of each in the next; the last block returns. */
static size_t diamonds(struct slope_path_edge *edge, uint32_t count)
{
	size_t edges = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t v = 3 * i;

		edge[edges++] = (struct slope_path_edge)E(v, v + 1);
		edge[edges++] = (struct slope_path_edge)E(v, v + 2);
		edge[edges++] = (struct slope_path_edge)E(v + 1, v + 3);
		edge[edges++] = (struct slope_path_edge)E(v + 2, v + 3);
	}
	edge[edges++] = (struct slope_path_edge)E(3 * count, OUT);
	return edges;
}

/* 2^200 paths: of 2^60 and more, two edges are cut each time. */
static void too_many_paths_are_cut(void **state)
{
	static struct slope_path_edge edge[801];
	struct numbered n;

	(void)state;
	assert_true(number(&n, edge, diamonds(edge, 50), 151, SLOPE_PATH_LIMIT));
	assert_int_equal(n.g.cut_edges, 0);
	assert_int_equal(n.g.paths[0], UINT64_C(1) << 50);
	done(&n);
	assert_true(number(&n, edge, diamonds(edge, 200), 601, SLOPE_PATH_LIMIT));
	assert_in_range(n.g.cut_edges, 1, 8);
	assert_in_range(n.g.total, UINT64_C(1) << 50, (UINT64_C(1) << 62) - 1);
	for (uint32_t v = 0; v < n.g.vertices; v++)
		assert_in_range(n.g.paths[v], 1, SLOPE_PATH_LIMIT);
	done(&n);
}

/* A switch of 100 cases that all lead to one place with many ways on: it is cut behind that place, not in each case. */
static void the_narrow_place_is_cut(void **state)
{
	struct slope_path_edge edge[500];
	size_t edges = 0;
	struct numbered n;

	(void)state;
	for (uint32_t i = 0; i < 100; i++)
		edge[edges++] = (struct slope_path_edge)E(0, 1 + i);
	for (uint32_t i = 0; i < 100; i++)
		edge[edges++] = (struct slope_path_edge)E(1 + i, 101);
	size_t rest = diamonds(edge + edges, 9);

	for (size_t i = edges; i < edges + rest; i++) {
		edge[i].from += 101;
		edge[i].to += edge[i].to == OUT ? 0 : 101;
	}
	assert_true(number(&n, edge, edges + rest, 101 + 28, 1000));
	assert_in_range(n.g.cut_edges, 1, 2);
	assert_in_range(n.g.paths[0], 100, 1000);
	done(&n);
}

/* 2^13 edges with 2^51 paths behind each: their sum is 0 in 64 bits. */
static void sums_do_not_wrap(void **state)
{
	static struct slope_path_edge edge[(1 << 13) + 205];
	struct numbered n;

	(void)state;
	for (uint32_t i = 0; i < 1 << 13; i++)
		edge[i] = (struct slope_path_edge)E(0, 1);
	size_t rest = diamonds(edge + (1 << 13), 51);

	for (size_t i = 1 << 13; i < (1 << 13) + rest; i++) {
		edge[i].from++;
		edge[i].to += edge[i].to != OUT;
	}
	assert_true(number(&n, edge, (1 << 13) + rest, 155, SLOPE_PATH_LIMIT));
	assert_in_range(n.g.paths[0], 1 << 13, SLOPE_PATH_LIMIT);
	assert_in_range(n.g.cut_edges, 1, 2);
	assert_in_range(n.g.total, 1, (UINT64_C(1) << 62) - 1);
	done(&n);
}

/* 20 edges with 8 paths behind each, and 100 allowed: 11 times 8 and 9 times 1 are not too many. */
static void no_more_is_cut_than_has_to_be(void **state)
{
	struct slope_path_edge edge[20 + 13];
	struct numbered n;

	(void)state;
	for (uint32_t i = 0; i < 20; i++)
		edge[i] = (struct slope_path_edge)E(0, 1);
	size_t rest = diamonds(edge + 20, 3);

	for (size_t i = 20; i < 20 + rest; i++) {
		edge[i].from++;
		edge[i].to += edge[i].to != OUT;
	}
	assert_true(number(&n, edge, 20 + rest, 11, 100));
	assert_int_equal(n.g.cut_edges, 9);
	assert_int_equal(n.g.paths[0], 11 * 8 + 9);
	done(&n);
}

static int adds(const struct slope_path_graph *g)
{
	int count = 0;

	for (uint32_t e = 0; e < g->edges; e++)
		count += g->edge[e].to != OUT && g->edge[e].cut == SLOPE_PATH_WHOLE && g->edge[e].add;
	return count;
}

static void edges_that_are_taken_often_have_no_code(void **state)
{
	struct numbered n;

	(void)state;
	for (uint32_t rare = 0; rare < 4; rare++) {
		struct slope_path_edge edge[5];
		size_t edges = diamonds(edge, 1);

		for (size_t i = 0; i < edges; i++)
			edge[i].weight = i == rare ? 1 : 10;
		assert_true(number(&n, edge, edges, 4, SLOPE_PATH_LIMIT));
		assert_int_equal(adds(&n.g), 1);
		assert_int_not_equal(n.g.edge[rare].add, 0);
		done(&n);
	}
	/* A skips the loop or not: A B | A F; in it, C D or C E, and back from E. Code is where it is taken seldom. */
	assert_true(number(&n, EDGES(W(0, 1, 2), W(0, 5, 1), W(1, 2, 10), W(2, 3, 9), W(2, 4, 4), W(3, 4, 9), W(4, 1, 9),
				     W(4, 5, 1), W(5, OUT, 2)), 6, SLOPE_PATH_LIMIT));
	assert_int_equal(adds(&n.g), 2);
	assert_int_not_equal(n.g.edge[4].add, 0);
	assert_int_equal(n.g.edge[0].add, 0);
	done(&n);
}

/* At any place, the number so far is that of a path with the same beginning. */
static void a_path_that_is_left_has_a_number(void **state)
{
	struct slope_path_edge edge[21];
	char text[LENGTH_MAX];
	struct numbered n;

	(void)state;
	assert_true(number(&n, edge, diamonds(edge, 5), 16, SLOPE_PATH_LIMIT));
	for (uint64_t i = 0; i < n.g.regular; i++) {
		uint32_t path[LENGTH_MAX], begin, count = slope_path_decode(&n.g, i, &begin, path, LENGTH_MAX);
		int64_t r = slope_path_begin(&n.g, begin);
		char whole[LENGTH_MAX];

		blocks(&n.g, i, whole);
		for (uint32_t k = 0; k < count; k++) {
			const struct slope_path_edge *e = &n.g.edge[path[k]];

			assert_memory_equal(blocks(&n.g, slope_path_partial(&n.g, e->from, r), text), whole, k + 1);
			r += e->add;
		}
		assert_int_equal((uint64_t)r, i);
	}
	done(&n);
}

static void without_memory_nothing_changes(void **state)
{
	static struct slope_path_edge edge[4 * 3000 + 1], before[4 * 3000 + 1];
	size_t edges = diamonds(edge, 3000);
	bool good = false;
	size_t pages;

	(void)state;
	memcpy(before, edge, sizeof edge);
	for (pages = 0; !good; pages++) {
		struct slope_path_graph g = { .vertices = 9001, .edges = (uint32_t)edges, .edge = edge };
		struct slope_arena arena;
		struct scarce scarce;

		assert_in_range(pages, 0, 100);
		scarce_init(&scarce, pages);
		slope_arena_init(&arena, &scarce.host);
		good = slope_path_number(&g, &arena, SLOPE_PATH_LIMIT);
		if (!good) {
			assert_memory_equal(edge, before, sizeof edge);
			assert_null(g.start);
		}
		slope_arena_fini(&arena);
		assert_int_equal(scarce.held_bytes, 0);
	}
	assert_in_range(pages, 3, 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(six_paths_have_the_numbers_0_to_5),
		cmocka_unit_test(back_edges_end_paths),
		cmocka_unit_test(odd_graphs_are_numbered),
		cmocka_unit_test(what_is_no_graph_is_refused),
		cmocka_unit_test(too_many_paths_are_cut),
		cmocka_unit_test(the_narrow_place_is_cut),
		cmocka_unit_test(sums_do_not_wrap),
		cmocka_unit_test(no_more_is_cut_than_has_to_be),
		cmocka_unit_test(edges_that_are_taken_often_have_no_code),
		cmocka_unit_test(a_path_that_is_left_has_a_number),
		cmocka_unit_test(without_memory_nothing_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
