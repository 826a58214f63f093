/* SPDX-License-Identifier: GPL-3.0-or-later */
/* format/: what is encoded is decoded again, whatever the numbers; writers may fail at any byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/thread.h"
#include "format/decode.h"
#include "format/encode.h"
#include "format/reader.h"
#include "profile/host.h"
#include "profile/profile.h"

/* A file in memory that takes `limit` bytes and then fails. */
struct memory {
	unsigned char *bytes;
	size_t count, capacity, limit;
};

static bool write_memory(void *ctx, const void *bytes, size_t count)
{
	struct memory *m = ctx;

	if (m->count + count > m->limit)
		return false;
	if (m->count + count > m->capacity) {
		m->capacity = 2 * (m->count + count);
		m->bytes = realloc(m->bytes, m->capacity);
	}
	memcpy(m->bytes + m->count, bytes, count);
	m->count += count;
	return true;
}

static struct slope_encoder *new_encoder(struct memory *m, size_t limit)
{
	struct slope_encoder *e = malloc(sizeof *e);

	*m = (struct memory){ .limit = limit };
	e->writer = (struct slope_writer){ write_memory, m };
	return e;
}

static void free_both(struct slope_encoder *e, struct memory *m)
{
	free(e);
	free(m->bytes);
}

/* The only chunk of a section. */
static void one_chunk(const struct memory *m, enum slope_section section, struct slope_cursor *c)
{
	struct slope_reader r;
	struct slope_chunk chunk;
	unsigned found = 0;

	assert_int_equal(slope_reader_init(&r, m->bytes, m->count), SLOPE_OPEN_OK);
	while (slope_reader_next(&r, &chunk) == SLOPE_FOUND_CHUNK)
		if (chunk.tag == slope_section_tag(section)) {
			assert_int_equal(slope_cursor_init(c, section, chunk.payload, chunk.payload_bytes), SLOPE_DECODE_OK);
			found++;
		}
	assert_int_equal(found, 1);
}

static void checksum_is_the_known_one(void **state)
{
	struct slope_crc32c crc;

	(void)state;
	slope_crc32c_init(&crc);
	assert_int_equal(slope_crc32c(&crc, 0, "123456789", 9), 0xe3069283);
	assert_int_equal(slope_crc32c(&crc, slope_crc32c(&crc, 0, "12345", 5), "6789", 4), 0xe3069283);
}

static void every_section_is_known_by_its_tag(void **state)
{
	(void)state;
	for (unsigned s = 0; s < SLOPE_SECTION_COUNT; s++)
		assert_int_equal(slope_section_of(slope_section_tag(s)), s);
	assert_int_equal(slope_section_of(SLOPE_TAG('Z', 'Z', 'Z', 'Z')), SLOPE_SECTION_COUNT);
}

static void numbers_come_back_at_every_width(void **state)
{
	struct memory m;
	struct slope_encoder *e = new_encoder(&m, SIZE_MAX);
	struct slope_edge_entry edge = { 0 };
	struct slope_cursor c;

	(void)state;
	slope_encode_begin(e, 1);
	for (unsigned bit = 0; bit < 64; bit++)
		for (int d = -1; d <= 1; d++) {
			edge.calls = (UINT64_C(1) << bit) + (uint64_t)d;
			edge.cost[0] = ~edge.calls;
			slope_encode_edge(e, &edge);
		}
	assert_true(slope_encode_end(e));
	one_chunk(&m, SLOPE_SECTION_EDGES, &c);
	for (unsigned bit = 0; bit < 64; bit++)
		for (int d = -1; d <= 1; d++) {
			assert_int_equal(slope_decode_edge(&c, &edge), SLOPE_DECODE_OK);
			assert_true(edge.calls == (UINT64_C(1) << bit) + (uint64_t)d);
			assert_true(edge.cost[0] == ~edge.calls);
		}
	assert_int_equal(slope_decode_edge(&c, &edge), SLOPE_DECODE_END);
	free_both(e, &m);
}

static void long_texts_are_cut_between_characters_and_counted(void **state)
{
	struct memory m;
	struct slope_encoder *e = new_encoder(&m, SIZE_MAX);
	char *path = malloc(SLOPE_TEXT_MAX + 4);
	struct slope_file_entry file = { .number = 1 };
	struct slope_lost_entry lost;
	struct slope_cursor c;

	(void)state;
	memset(path, 'a', SLOPE_TEXT_MAX + 3);
	memcpy(path + SLOPE_TEXT_MAX - 1, "\xe2\x82\xac", 4);    /* one character over the limit */
	file.path = slope_text_of(path);
	slope_encode_begin(e, 1);
	slope_encode_file(e, &file);
	assert_true(slope_encode_end(e));
	one_chunk(&m, SLOPE_SECTION_FILES, &c);
	assert_int_equal(slope_decode_file(&c, &file), SLOPE_DECODE_OK);
	assert_int_equal(file.path.count, SLOPE_TEXT_MAX - 1);
	one_chunk(&m, SLOPE_SECTION_LOST, &c);
	assert_int_equal(slope_decode_lost(&c, &lost), SLOPE_DECODE_OK);
	assert_int_equal(lost.count, 1);
	free(path);
	free_both(e, &m);
}

static void no_text_differs_from_an_empty_one(void **state)
{
	struct memory m;
	struct slope_encoder *e = new_encoder(&m, SIZE_MAX);
	struct slope_function_entry none = { .number = 1 }, empty = { .number = 2, .raw_name = slope_text_of("") }, back;
	struct slope_cursor c;

	(void)state;
	slope_encode_begin(e, 1);
	slope_encode_function(e, &none);
	slope_encode_function(e, &empty);
	assert_true(slope_encode_end(e));
	one_chunk(&m, SLOPE_SECTION_FUNCTIONS, &c);
	assert_int_equal(slope_decode_function(&c, &back), SLOPE_DECODE_OK);
	assert_null(back.raw_name.bytes);
	assert_int_equal(slope_decode_function(&c, &back), SLOPE_DECODE_OK);
	assert_non_null(back.raw_name.bytes);
	assert_int_equal(back.raw_name.count, 0);
	free_both(e, &m);
}

#define MANY 40000u

static void fill_point(struct slope_point *row, uint64_t i)
{
	*row = (struct slope_point){ .n = slope_mix64(i), .calls = i % 3 + 1, .rms = i, .thread = i % 7, .external = i % 5 };
	row->cost[0] = (struct slope_stat){ i, i * i, slope_mix64(i + 1), slope_mix64(i + 2), i % 11 };
	if (i % 2)       /* a plain and flat one */
		*row = (struct slope_point){ .n = row->n, .calls = 1, .rms = row->n };
	if (i % 2)
		row->cost[0] = (struct slope_stat){ i, i, i, i * i, 0 };
}

/* Also: no chunk is larger than allowed, and each one says by itself whose points it has. */
static void long_tables_spread_over_chunks(void **state)
{
	struct memory m;
	struct slope_encoder *e = new_encoder(&m, SIZE_MAX);
	struct slope_points_entry head = { .metric = 1, .function = 70000, .thread = 9, .bits = SLOPE_POINTS_EXACT };
	struct slope_point *row = malloc(slope_point_bytes(1)), *want = malloc(slope_point_bytes(1));
	struct slope_reader r;
	struct slope_chunk chunk;
	uint64_t rows = 0, chunks = 0;

	(void)state;
	slope_encode_begin(e, 1);
	slope_encode_points_begin(e, &head);
	for (uint64_t i = 0; i < MANY; i++) {
		fill_point(row, i);
		slope_encode_point_row(e, row);
	}
	slope_encode_points_end(e);
	assert_true(slope_encode_end(e));
	slope_reader_init(&r, m.bytes, m.count);
	while (slope_reader_next(&r, &chunk) == SLOPE_FOUND_CHUNK && slope_section_of(chunk.tag) == SLOPE_SECTION_POINTS) {
		struct slope_cursor c;
		struct slope_points_entry got;

		assert_true(chunk.payload_bytes <= SLOPE_PAYLOAD_MAX);
		slope_cursor_init(&c, SLOPE_SECTION_POINTS, chunk.payload, chunk.payload_bytes);
		assert_int_equal(slope_decode_points(&c, &got), SLOPE_DECODE_OK);
		assert_memory_equal(&got, &head, sizeof got);
		while (slope_decode_point_row(&c, row) == SLOPE_DECODE_OK) {
			fill_point(want, rows++);
			assert_memory_equal(row, want, slope_point_bytes(1));
		}
		assert_int_equal(slope_decode_points(&c, &got), SLOPE_DECODE_END);
		chunks++;
	}
	assert_int_equal(rows, MANY);
	assert_true(chunks > 5);
	assert_int_equal(slope_section_of(chunk.tag), SLOPE_SECTION_END);
	free(row);
	free(want);
	free_both(e, &m);
}

static void long_tables_of_sizes_too(void **state)
{
	struct memory m;
	struct slope_encoder *e = new_encoder(&m, SIZE_MAX);
	struct slope_sizes_entry head = { .thread = 3, .caller = 70000, .callee = 9, .bits = SLOPE_POINTS_EXACT }, got;
	struct slope_size_entry row;
	struct slope_reader r;
	struct slope_chunk chunk;
	uint64_t rows = 0, chunks = 0;

	(void)state;
	slope_encode_begin(e, 2);
	slope_encode_sizes_begin(e, &head);
	for (uint64_t i = 0; i < MANY; i++)
		slope_encode_size_row(e, &(struct slope_size_entry){ .n = i * i, .activations = i + 1, .calls = ~i, .cost = { i, ~i } });
	slope_encode_sizes_end(e);
	slope_encode_edge(e, &(struct slope_edge_entry){ .calls = 1 });
	assert_true(slope_encode_end(e));
	slope_reader_init(&r, m.bytes, m.count);
	while (slope_reader_next(&r, &chunk) == SLOPE_FOUND_CHUNK && slope_section_of(chunk.tag) == SLOPE_SECTION_SIZES) {
		struct slope_cursor c;

		assert_true(chunk.payload_bytes <= SLOPE_PAYLOAD_MAX);
		slope_cursor_init(&c, SLOPE_SECTION_SIZES, chunk.payload, chunk.payload_bytes);
		assert_int_equal(slope_decode_sizes(&c, &got), SLOPE_DECODE_OK);
		assert_memory_equal(&got, &head, sizeof got);
		for (; slope_decode_size_row(&c, &row) == SLOPE_DECODE_OK; rows++) {
			assert_true(row.n == rows * rows && row.activations == rows + 1 && row.calls == ~rows);
			assert_true(row.cost[0] == rows && row.cost[1] == ~rows && !row.cost[2]);
		}
		assert_int_equal(slope_decode_sizes(&c, &got), SLOPE_DECODE_END);
		chunks++;
	}
	assert_int_equal(rows, MANY);
	assert_true(chunks > 5);
	assert_int_equal(slope_section_of(chunk.tag), SLOPE_SECTION_EDGES);
	free_both(e, &m);
}

static void payloads_are_never_left(void **state)
{
	const unsigned char endless[] = { 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1 };
	const unsigned char too_far[] = { 1, 0xff, 0xff, 0xff, 0xff, 0x0f };
	const unsigned char no_kind[] = { 2, 'k', 9 };
	const unsigned char units[] = { SLOPE_UNITS_MAX + 1 };
	struct slope_cursor c;
	struct slope_file_entry file;
	struct slope_meta_entry meta;

	(void)state;
	slope_cursor_init(&c, SLOPE_SECTION_FILES, endless, sizeof endless);
	assert_int_equal(slope_decode_file(&c, &file), SLOPE_DECODE_RANGE);
	assert_int_equal(slope_decode_file(&c, &file), SLOPE_DECODE_RANGE);
	slope_cursor_init(&c, SLOPE_SECTION_FILES, too_far, sizeof too_far);
	assert_int_equal(slope_decode_file(&c, &file), SLOPE_DECODE_SHORT);
	slope_cursor_init(&c, SLOPE_SECTION_META, no_kind, sizeof no_kind);
	assert_int_equal(slope_decode_meta(&c, &meta), SLOPE_DECODE_KIND);
	assert_int_equal(slope_cursor_init(&c, SLOPE_SECTION_EDGES, units, 1), SLOPE_DECODE_RANGE);
	assert_int_equal(slope_cursor_init(&c, SLOPE_SECTION_EDGES, units, 0), SLOPE_DECODE_SHORT);
}

/* main calls f(n) for n = 0..9: f reads n cells that the kernel has filled. */
static void run_session(struct slope_session *s)
{
	struct slope_config config = { .cell_log2 = 2, .units = 2, .metrics = 3, .contexts = true };
	struct slope_module module = { .path = "/bin/prog", .build_id = { 1, 2, 3 }, .build_id_bytes = 3 };
	uint64_t cost[SLOPE_UNITS_MAX] = { 0 };

	assert_true(slope_session_init(s, &config, &slope_system_host));
	uint32_t m = slope_session_module(s, &module);
	uint32_t main_fn = slope_session_function(s, m, 0x10, 0, "main"), f = slope_session_function(s, m, 0x20, 0, NULL);
	struct slope_thread *t = slope_thread_new(s, 0, 77, cost);

	slope_thread_enter(t, main_fn, 1000, 0, cost);
	for (uint64_t n = 0; n < 10; n++) {
		slope_session_kernel_write(s, 0x5000, 4 * n);
		cost[0] += 5;
		slope_thread_enter(t, f, 900, 0, cost);
		slope_thread_read(t, 0x5000, 4 * n);
		cost[0] += 100 + n;
		cost[1]++;
		slope_thread_leave(t, cost);
	}
	slope_thread_end(t, cost);
}

static bool encode(struct slope_encoder *e, const struct slope_session *s)
{
	static const char *const argv[] = { "prog", "-x", NULL };
	struct slope_run_info run = { .source = "replay", .argc = 2, .argv = argv, .process = 77, .exit_code = 4,
				      .ended = "exit", .unit_name = { "ir", "bb" } };

	return slope_encode_session(e, s, &run);
}

/* A branch around a block, in the session's arena. */
static void add_graph(struct slope_session *s, uint32_t fn)
{
	static const struct slope_path_edge edge[] = {
		{ .from = 0, .to = 1, .weight = 1 }, { .from = 0, .to = 2, .weight = 1 }, { .from = 1, .to = 2, .weight = 1 },
		{ .from = 2, .to = SLOPE_PATH_OUT },
	};
	static const uint8_t way[] = { SLOPE_WAY_NEXT, SLOPE_WAY_TAKEN, SLOPE_WAY_NEXT, SLOPE_WAY_RETURN };
	struct slope_graph g = {
		.function = fn, .block = slope_arena_alloc(&s->arena, 3 * sizeof *g.block),
		.way = slope_arena_alloc(&s->arena, sizeof way),
		.paths = { .vertices = 3, .edges = 4, .edge = slope_arena_alloc(&s->arena, sizeof edge) },
	};

	memcpy(g.paths.edge, edge, sizeof edge);
	memcpy(g.way, way, sizeof way);
	for (uint32_t v = 0; v < 3; v++)
		g.block[v] = (struct slope_block){ .address = 0x20 + 8 * v, .bytes = 8, .instructions = v + 1,
						   .end = v ? SLOPE_BLOCK_RETURNS : SLOPE_BLOCK_BRANCHES };
	assert_non_null(slope_graphs_add(&s->graphs, &g, SLOPE_PATH_LIMIT));
}

static void paths_of_a_session_come_back(void **state)
{
	struct slope_path_row key = { .context = SLOPE_PATH_CONTEXT_NONE, .number = 1, .stop = SLOPE_PATH_NOT_STOPPED };
	struct slope_path_size sizes[] = { { .graph = 0, .number = 1, .n = 8, .activations = 2, .executions = 5 }, { .n = 16 } };
	struct slope_session s;
	struct memory m;
	struct slope_encoder *e = new_encoder(&m, SIZE_MAX);
	char error[128];

	(void)state;
	run_session(&s);
	add_graph(&s, 2);
	struct slope_thread *t = s.thread[1];
	struct slope_path_row *row = slope_path_row(&t->paths, &key);

	s.path_metrics = 1;
	s.path_metric_name[0] = "time";
	s.path_period = 16;
	row->count = 40;
	row->samples = 2;
	slope_path_measure(&row->metric[0], 7);
	slope_path_measure(&row->metric[0], 9);
	key.stop = 2;
	slope_path_row(&t->paths, &key)->count = 1;
	key.number = 0;
	slope_path_row(&t->paths, &key);                 /* nothing was counted */
	assert_true(slope_path_repeat(&t->paths, 0, 1, 33));
	t->paths.lost = 6;
	t->path_sizes = (struct slope_path_sizes){ .size = sizes, .count = 2, .capacity = 2 };
	assert_true(encode(e, &s));
	struct slope_profile *p = slope_profile_decode(m.bytes, m.count, error, sizeof error);

	assert_int_equal(p->problem_count, 0);
	assert_int_equal(p->graph_count, 1);
	assert_int_equal(p->graph[0].function, 2);
	assert_int_equal(p->graph[0].paths.total, s.graphs.graph[0]->paths.total);
	assert_int_equal(p->graph[0].block[2].instructions, 3);
	assert_int_equal(p->path_count, 2);
	assert_int_equal(p->path[1].count, 40);
	assert_int_equal(p->path[1].metric[0].sum, 16);
	assert_int_equal(p->path[1].metric[0].sq_lo, 130);
	assert_int_equal(p->path[0].stop, 2);
	assert_int_equal(p->repeat[0].count, 33);
	assert_int_equal(p->path_size_count, 1);
	assert_int_equal(p->path_size[0].executions, 5);
	assert_string_equal(p->path_metric_name[0], "time");
	assert_int_equal(p->path_period, 16);
	for (size_t i = 0; i < p->lost_count; i++)
		assert_int_equal(p->lost[i].count, strcmp(p->lost[i].name, "paths") ? 0 : 6);
	t->path_sizes = (struct slope_path_sizes){ 0 };
	slope_profile_free(p);
	slope_session_fini(&s);
	free_both(e, &m);
}

static void a_session_comes_back_as_a_profile(void **state)
{
	struct slope_session s;
	struct memory m;
	struct slope_encoder *e = new_encoder(&m, SIZE_MAX);
	char error[128];

	(void)state;
	run_session(&s);
	assert_true(encode(e, &s));
	struct slope_profile *p = slope_profile_decode(m.bytes, m.count, error, sizeof error);

	assert_non_null(p);
	assert_int_equal(p->problem_count, 0);
	assert_true(p->complete);
	assert_string_equal(p->source, "replay");
	assert_string_equal(p->program[1], "-x");
	assert_null(p->program[2]);
	assert_int_equal(p->exit_code, 4);
	assert_int_equal(p->units, 2);
	assert_string_equal(p->unit_name[1], "bb");
	assert_int_equal(p->function_count, 3);
	assert_string_equal(p->function[0].name, "(thread)");
	assert_string_equal(p->function[1].name, "main");
	assert_string_equal(p->function[2].name, "prog+0x20");
	assert_int_equal(p->thread_count, 1);
	assert_int_equal(p->row_count, 3);
	assert_int_equal(p->row[0].total[0], 10 * 105 + 45);
	assert_int_equal(p->row[2].calls, 10);
	assert_int_equal(p->row[2].external, 45);
	assert_int_equal(p->row[2].points[SLOPE_METRIC_TRMS].count, 10);
	for (size_t n = 0; n < 10; n++) {
		const struct slope_point *row = slope_profile_point(p, &p->row[2].points[SLOPE_METRIC_TRMS], n);

		assert_int_equal(row->n, n);
		assert_int_equal(row->cost[0].sum, 100 + n);
		assert_int_equal(row->cost[0].sq_lo, (100 + n) * (100 + n));
	}
	assert_int_equal(p->edge_count, 2);
	assert_int_equal(p->edge[1].caller, 1);
	assert_int_equal(p->edge[1].calls, 10);
	assert_int_equal(p->edge[1].sizes.count, 1);             /* main's one activation read 45 cells */
	assert_int_equal(p->edge[1].sizes.bits, SLOPE_EDGE_BITS);
	assert_int_equal(p->edge[1].sizes.row[0].n, 44);
	assert_int_equal(p->edge[1].sizes.row[0].activations, 1);
	assert_int_equal(p->edge[1].sizes.row[0].calls, 10);
	assert_int_equal(p->edge[1].sizes.row[0].cost[0], 10 * 100 + 45);
	assert_int_equal(p->edge[1].sizes.row[0].cost[1], 10);
	assert_int_equal(p->context_count, 3);                   /* (thread), main, f */
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(p->context[i].function, i);
		assert_int_equal(p->context[i].parent, i ? i - 1 : SLOPE_CONTEXT_NONE);
		assert_int_equal(p->context[i].site, SLOPE_CONTEXT_NONE);
		assert_int_equal(p->context[i].calls, p->row[i].calls);
		assert_memory_equal(p->context[i].total, p->row[i].total, sizeof p->row[i].total);
		assert_memory_equal(p->context[i].self, p->row[i].self, sizeof p->row[i].self);
	}
	assert_int_equal(p->lost_count, SLOPE_LOST_COUNT);
	slope_profile_free(p);
	slope_session_fini(&s);
	free_both(e, &m);
}

static void a_failing_writer_stops_the_encoder(void **state)
{
	struct slope_session s;
	struct memory m;
	struct slope_encoder *e = new_encoder(&m, SIZE_MAX);

	(void)state;
	run_session(&s);
	assert_true(encode(e, &s));
	size_t whole = m.count;

	for (size_t limit = 0; limit < whole; limit++) {
		m.count = 0;
		m.limit = limit;
		assert_false(encode(e, &s));
	}
	m.count = 0;
	m.limit = whole;
	assert_true(encode(e, &s));
	slope_session_fini(&s);
	free_both(e, &m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(checksum_is_the_known_one),
		cmocka_unit_test(every_section_is_known_by_its_tag),
		cmocka_unit_test(numbers_come_back_at_every_width),
		cmocka_unit_test(long_texts_are_cut_between_characters_and_counted),
		cmocka_unit_test(no_text_differs_from_an_empty_one),
		cmocka_unit_test(long_tables_spread_over_chunks),
		cmocka_unit_test(long_tables_of_sizes_too),
		cmocka_unit_test(payloads_are_never_left),
		cmocka_unit_test(a_session_comes_back_as_a_profile),
		cmocka_unit_test(paths_of_a_session_come_back),
		cmocka_unit_test(a_failing_writer_stops_the_encoder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
