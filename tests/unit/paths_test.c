/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/paths.h"
#include "tests/unit/scarce.h"

#define ROWS 30000u

/* Rows that differ in one thing only, and in all. */
static struct slope_path_row key_at(uint64_t i)
{
	struct slope_path_row key = { .context = SLOPE_PATH_CONTEXT_NONE, .stop = SLOPE_PATH_NOT_STOPPED };

	switch (i % 6) {
	case 0:
		key.number = i;
		break;
	case 1:
		key.number = i << 40;
		break;
	case 2:
		key.graph = (uint32_t)i;
		break;
	case 3:
		key.context = (uint32_t)i;
		break;
	case 4:
		key.stop = (uint32_t)i;
		break;
	default:
		key = (struct slope_path_row){
			.graph = 7, .context = (uint32_t)i % 11, .number = i / 1000, .stop = 3, .stop_instructions = (uint32_t)i };
	}
	return key;
}

static void every_path_has_its_row(void **state)
{
	struct slope_path_table table;
	struct slope_arena arena;
	struct scarce scarce;

	(void)state;
	scarce_init(&scarce, ENDLESS);
	slope_arena_init(&arena, &scarce.host);
	slope_path_table_init(&table, &arena);
	for (int round = 0; round < 2; round++) {
		for (uint64_t i = 0; i < ROWS; i++) {
			struct slope_path_row key = key_at(i), *row;

			key.count = 99;          /* no part of the key */
			row = slope_path_row(&table, &key);
			assert_non_null(row);
			assert_int_equal(row->count, 0);
			assert_int_equal(row->samples | row->metric[0].sum | row->metric[3].sq_hi, 0);
			row->count = i + 1;
			slope_path_measure(&row->metric[1], i);
		}
		assert_int_equal(table.rows, ROWS);
		for (uint64_t i = 0; i < ROWS; i++) {
			struct slope_path_row key = key_at(i), *row = slope_path_row(&table, &key);

			assert_int_equal(row->count, i + 1);
			assert_int_equal(row->metric[1].sum, i);
			assert_int_equal(row->graph, key.graph);
			assert_int_equal(row->stop, key.stop);
			assert_int_equal(row->stop_instructions, key.stop_instructions);
			assert_int_equal(row->context, key.context);
			assert_int_equal(row->number, key.number);
		}
		assert_int_equal(table.rows, ROWS);
		slope_path_table_empty(&table);          /* and once more with the same memory */
		assert_int_equal(table.rows, 0);
	}
	slope_arena_fini(&arena);
	assert_int_equal(scarce.held_bytes, 0);
}

static void squares_have_128_bits(void **state)
{
	struct slope_path_metric m = { 0 };

	(void)state;
	slope_path_measure(&m, 3);
	slope_path_measure(&m, UINT64_C(1) << 40);
	assert_int_equal(m.sum, (UINT64_C(1) << 40) + 3);
	assert_int_equal(m.sq_lo, 9);
	assert_int_equal(m.sq_hi, 1u << 16);
	m.sq_lo = UINT64_MAX;
	slope_path_measure(&m, 2);
	assert_int_equal(m.sq_lo, 3);
	assert_int_equal(m.sq_hi, (1u << 16) + 1);
}

static void repeats_are_in_order(void **state)
{
	struct slope_path_table table;
	struct slope_arena arena;
	struct scarce scarce;

	(void)state;
	scarce_init(&scarce, ENDLESS);
	slope_arena_init(&arena, &scarce.host);
	slope_path_table_init(&table, &arena);
	for (uint32_t i = 0; i < 3000; i++)
		assert_true(slope_path_repeat(&table, i * 7 % 10, i * 7919 % 100, i));
	assert_int_equal(table.repeat_count, 100);
	uint64_t sum = 0;

	for (size_t i = 0; i < table.repeat_count; i++) {
		const struct slope_path_repeats *r = &table.repeats[i];

		assert_true(!i || r->graph > r[-1].graph || (r->graph == r[-1].graph && r->block > r[-1].block));
		sum += r->count;
	}
	assert_int_equal(sum, 3000 * 2999 / 2);
	slope_arena_fini(&arena);
}

static void without_memory_the_table_stays(void **state)
{
	(void)state;
	for (size_t pages = 0; pages < 8; pages++) {
		struct slope_path_table table;
		struct slope_arena arena;
		struct scarce scarce;
		uint64_t kept = 0;
		uint32_t repeats = 0;

		scarce_init(&scarce, pages);
		slope_arena_init(&arena, &scarce.host);
		slope_path_table_init(&table, &arena);
		for (struct slope_path_row *row, key = key_at(0); (row = slope_path_row(&table, &key)); key = key_at(++kept)) {
			row->count = kept;
			assert_in_range(kept, 0, 10000000);
		}
		assert_int_equal(table.rows, kept);
		for (uint64_t i = 0; i < kept; i++) {
			struct slope_path_row key = key_at(i);

			assert_int_equal(slope_path_row(&table, &key)->count, i);
		}
		while (slope_path_repeat(&table, 1, repeats, 5))
			assert_in_range(++repeats, 0, 10000000);
		assert_int_equal(table.repeat_count, repeats);
		assert_true(!repeats || slope_path_repeat(&table, 1, 0, 5));
		slope_arena_fini(&arena);
		assert_int_equal(scarce.held_bytes, 0);
	}
}

static void expected_rows_are_never_moved(void **state)
{
	struct slope_path_table table;
	struct slope_arena arena;
	struct scarce scarce;
	struct slope_path_row key = key_at(0), *first;

	(void)state;
	scarce_init(&scarce, ENDLESS);
	slope_arena_init(&arena, &scarce.host);
	slope_path_table_init(&table, &arena);
	slope_path_row(&table, &key)->count = 7;
	slope_path_table_expect(&table, ROWS / 2);
	slope_path_table_expect(&table, ROWS / 2);
	for (uint64_t i = 1; i < table.row_capacity; i++)
		key = key_at(i), slope_path_row(&table, &key);
	key = key_at(table.rows);
	slope_path_row(&table, &key);
	first = table.row;
	for (uint64_t i = table.rows; i < ROWS; i++)
		key = key_at(i), slope_path_row(&table, &key);
	assert_ptr_equal(table.row, first);
	assert_int_equal(table.rows, ROWS);
	assert_int_equal(first->count, 7);
	slope_arena_fini(&arena);
}

/* A, then B or not, which may leave, then C. */
static struct slope_graph small(struct slope_path_edge edge[5])
{
	static struct slope_block block[3];
	static uint8_t way[5];

	edge[0] = (struct slope_path_edge){ .from = 0, .to = 1 };
	edge[1] = (struct slope_path_edge){ .from = 0, .to = 2 };
	edge[2] = (struct slope_path_edge){ .from = 1, .to = 2 };
	edge[3] = (struct slope_path_edge){ .from = 1, .to = SLOPE_PATH_OUT };
	edge[4] = (struct slope_path_edge){ .from = 2, .to = SLOPE_PATH_OUT };
	return (struct slope_graph){ .function = 5, .block = block, .way = way, .paths = { .vertices = 3, .edges = 5, .edge = edge } };
}

static void graphs_are_numbered_and_kept(void **state)
{
	struct slope_path_edge edge[100][5];
	struct slope_arena arena;
	struct scarce scarce;

	(void)state;
	scarce_init(&scarce, ENDLESS);
	slope_arena_init(&arena, &scarce.host);
	struct slope_graphs graphs = { .arena = &arena };

	for (uint32_t i = 0; i < 100; i++) {
		struct slope_graph g = small(edge[i]), *kept = slope_graphs_add(&graphs, &g, i == 50 ? 2 : SLOPE_PATH_LIMIT);

		assert_non_null(kept);
		assert_int_equal(kept->number, i);
		assert_int_equal(kept->flags, i == 50 ? SLOPE_GRAPH_CUT : 0);
		assert_int_equal(kept->paths.paths[0], i == 50 ? 2 : 3);
	}
	assert_int_equal(graphs.count, 100);
	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(graphs.graph[i]->number, i);
	edge[0][4].from = 1;                     /* a block without an edge */
	struct slope_graph bad = { .paths = { .vertices = 3, .edges = 5, .edge = edge[0] } };

	assert_null(slope_graphs_add(&graphs, &bad, SLOPE_PATH_LIMIT));
	assert_int_equal(graphs.count, 100);
	slope_arena_fini(&arena);
	assert_int_equal(scarce.held_bytes, 0);
}

static void without_memory_no_graph_is_added(void **state)
{
	struct slope_path_edge edge[5];
	struct slope_arena arena;
	struct scarce scarce;
	uint32_t added = 0;

	(void)state;
	scarce_init(&scarce, 2);
	slope_arena_init(&arena, &scarce.host);
	struct slope_graphs graphs = { .arena = &arena };

	for (struct slope_graph g = small(edge); slope_graphs_add(&graphs, &g, SLOPE_PATH_LIMIT); g = small(edge))
		assert_in_range(++added, 1, 10000);
	assert_in_range(added, 1, 10000);
	assert_int_equal(graphs.count, added);
	slope_arena_fini(&arena);
	assert_int_equal(scarce.held_bytes, 0);
}

/* The child of a fork: counts are gone, graphs are not. */
static void a_restart_empties_the_tables(void **state)
{
	struct slope_config config = { .cell_log2 = 2, .units = 1, .metrics = 1 };
	struct slope_path_edge edge[5];
	struct slope_session session;
	struct scarce scarce;
	uint64_t cost[1] = { 0 };

	(void)state;
	scarce_init(&scarce, ENDLESS);
	assert_true(slope_session_init(&session, &config, &scarce.host));
	struct slope_thread *t = slope_thread_new(&session, 0, 1, cost);
	struct slope_graph g = small(edge);
	struct slope_path_row key = key_at(0);

	assert_non_null(slope_graphs_add(&session.graphs, &g, SLOPE_PATH_LIMIT));
	slope_path_row(&t->paths, &key)->count = 4;
	assert_true(slope_path_repeat(&t->paths, 0, 0, 1));
	slope_session_restart(&session, t, cost);
	assert_int_equal(session.graphs.count, 1);
	assert_int_equal(t->paths.rows + t->paths.repeat_count, 0);
	assert_int_equal(slope_path_row(&t->paths, &key)->count, 0);
	slope_thread_end(t, cost);
	slope_session_fini(&session);
	assert_int_equal(scarce.held_bytes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_path_has_its_row),
		cmocka_unit_test(expected_rows_are_never_moved),
		cmocka_unit_test(squares_have_128_bits),
		cmocka_unit_test(repeats_are_in_order),
		cmocka_unit_test(without_memory_the_table_stays),
		cmocka_unit_test(graphs_are_numbered_and_kept),
		cmocka_unit_test(without_memory_no_graph_is_added),
		cmocka_unit_test(a_restart_empties_the_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
