/* SPDX-License-Identifier: GPL-3.0-or-later */
/* profile/load.c and save.c: what is saved is loaded; what is wrong with a file is said. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "format/encode.h"
#include "tests/format/sample.h"
#include "tests/unit/failing.h"

static char directory[] = "/tmp/slope-load-XXXXXX";
static char path[64], error[256];

static int make_directory(void **state)
{
	(void)state;
	if (!mkdtemp(directory))
		return -1;
	snprintf(path, sizeof path, "%s/p", directory);
	return 0;
}

static int remove_directory(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(directory);     /* fails when a test or a save has left something behind */
}

static void write_text(const char *bytes, size_t count)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, count, f), count);
	fclose(f);
}

static bool has_problem(const struct slope_profile *p, const char *sentence)
{
	for (size_t i = 0; i < p->problem_count; i++)
		if (!strcmp(p->problem[i], sentence))
			return true;
	for (size_t i = 0; i < p->problem_count; i++)
		print_message("problem: %s\n", p->problem[i]);
	return false;
}

static void what_is_saved_is_loaded(void **state)
{
	struct slope_profile *p = sample_profile(), *back;

	(void)state;
	assert_true(slope_profile_save(p, path, error, sizeof error));
	back = slope_profile_load(path, error, sizeof error);
	assert_non_null(back);
	assert_int_equal(back->problem_count, 0);
	assert_null(sample_difference(p, back));
	slope_profile_free(back);
	slope_profile_free(p);
}

static void problems_travel_with_the_file(void **state)
{
	struct slope_profile *p = sample_profile(), *back;

	(void)state;
	p->problem = calloc(1, sizeof *p->problem);
	p->problem[0] = sample_text("points: 3 of 17 chunks missing");
	p->problem_count = 1;
	assert_true(slope_profile_save(p, path, error, sizeof error));
	back = slope_profile_load(path, error, sizeof error);
	assert_int_equal(back->problem_count, 1);
	assert_string_equal(back->problem[0], p->problem[0]);
	slope_profile_free(back);
	slope_profile_free(p);
}

/* Saves the sample as it is now and loads it; it must say this sentence, and nothing else. */
static struct slope_profile *saved_and_loaded(struct slope_profile *p, const char *sentence)
{
	assert_true(slope_profile_save(p, path, error, sizeof error));
	struct slope_profile *back = slope_profile_load(path, error, sizeof error);

	assert_non_null(back);
	assert_true(has_problem(back, sentence));
	slope_profile_free(p);
	return back;
}

/* Whatever makes a graph no graph: it goes, and its paths, repeats and sizes with it. */
static void graphs_that_are_none_are_left_out(void **state)
{
	(void)state;
	for (unsigned flaw = 0; flaw < 7; flaw++) {
		struct slope_profile *p = sample_profile(), *back;
		struct slope_path_graph *g = &p->graph[0].paths;

		switch (flaw) {
		case 0:
			g->edge[1].value = 1;            /* two paths with one number */
			break;
		case 1:
			g->start[2] = 7;                 /* a gap */
			break;
		case 2:
			g->edge[5].cut = SLOPE_PATH_WHOLE;   /* a way round without an end */
			break;
		case 3:
			g->edge[6].to = 5;               /* nowhere */
			break;
		case 4:
			g->edge[2].from = 2;             /* a block without an edge */
			break;
		case 5:
			g->edges--;
			break;
		default:
			g->vertices--;
		}
		back = saved_and_loaded(p, "graphs: 1 out of range and left out");
		assert_int_equal(back->graph_count, 1);
		assert_int_equal(back->graph[0].function, 4);
		assert_int_equal(back->path_count, 1);
		assert_int_equal(back->path[0].graph, 0);
		assert_true(has_problem(back, "paths: 3 left out, because what they refer to is missing"));
		assert_true(has_problem(back, "repeats: 1 left out, because what they refer to is missing"));
		assert_true(has_problem(back, "sizes of paths: 2 left out, because what they refer to is missing"));
		slope_profile_free(back);
	}
}

static void paths_that_are_none_are_left_out(void **state)
{
	(void)state;
	for (unsigned flaw = 0; flaw < 6; flaw++) {
		struct slope_profile *p = sample_profile(), *back;
		struct slope_profile_path *row = &p->path[2];    /* left in block 3, which it came to by block 2 */

		switch (flaw) {
		case 0:
			row->number = p->graph[0].paths.total;
			break;
		case 1:
			row->count = 0;
			row->samples = 0;
			break;
		case 2:
			row->samples = 2;
			break;
		case 3:
			row->stop = 1;                   /* is not on the path */
			break;
		case 4:
			row->stop = 5;
			break;
		default:
			row->stop_instructions = 3;
		}
		back = saved_and_loaded(p, "paths: 1 out of range and left out");
		assert_int_equal(back->path_count, 3);
		slope_profile_free(back);
	}
	struct slope_profile *p = sample_profile();

	p->repeat[0].block = 5;
	p->path_size[0].executions = 1;
	p = saved_and_loaded(p, "repeats: 1 out of range and left out");
	assert_true(has_problem(p, "sizes of paths: 1 out of range and left out"));
	slope_profile_free(p);
	p = sample_profile();
	p->path[1].number = 1;
	p = saved_and_loaded(p, "paths: 1 left out, because they come twice");
	slope_profile_free(p);
	p = sample_profile();
	p->path[0].context = 77;
	p = saved_and_loaded(p, "paths: 1 left out, because what they refer to is missing");
	slope_profile_free(p);
}

/* As of a library that was closed and opened again. */
static void graphs_that_are_there_twice_are_one(void **state)
{
	struct slope_profile *p = sample_profile(), *other = sample_profile(), *back;

	(void)state;
	slope_build_free_graph(&p->graph[1]);
	p->graph[1] = other->graph[0];
	other->graph[0] = (struct slope_profile_graph){ 0 };
	p->path[3] = p->path[0];
	p->path[3].graph = 1;
	assert_true(slope_profile_save(p, path, error, sizeof error));
	back = slope_profile_load(path, error, sizeof error);
	assert_int_equal(back->problem_count, 0);
	assert_int_equal(back->graph_count, 1);
	assert_int_equal(back->path_count, 3);
	assert_int_equal(back->path[0].count, 10000);
	assert_int_equal(back->path[0].samples, 6);
	assert_int_equal(back->path[0].metric[0].sum, 600);
	slope_profile_free(back);
	slope_profile_free(other);
	slope_profile_free(p);
}

/* A graph that takes several chunks for its blocks and for its edges. */
static void a_long_graph_comes_back(void **state)
{
	enum { BLOCKS = 20000 };
	struct slope_profile *p = sample_profile(), *back;
	struct slope_profile_graph *g = &p->graph[1];

	(void)state;
	p->path_count = 3;
	slope_build_free_graph(g);
	g->function = 3;
	g->paths.vertices = BLOCKS;
	g->paths.edges = 2 * BLOCKS - 1;
	g->block = calloc(BLOCKS, sizeof *g->block);
	g->paths.start = calloc(BLOCKS, sizeof *g->paths.start);
	g->paths.edge = calloc(2 * BLOCKS, sizeof *g->paths.edge);
	g->way = calloc(2 * BLOCKS, 1);
	for (uint32_t v = 0; v < BLOCKS; v++) {          /* to the next one or out: each has as many paths as blocks to come */
		g->block[v] = (struct slope_block){ .address = 0x400000 + 1000 * v, .bytes = 7, .instructions = 3, .end = v % 9 };
		g->paths.start[v] = v ? g->paths.start[v - 1] + BLOCKS - v + 1 : 0;
		if (v + 1 < BLOCKS)
			g->paths.edge[2 * v] = (struct slope_path_edge){ .from = v, .to = v + 1 };
		g->paths.edge[v + 1 < BLOCKS ? 2 * v + 1 : 2 * v] = (struct slope_path_edge){
			.from = v, .to = SLOPE_PATH_OUT, .value = v + 1 < BLOCKS ? BLOCKS - v - 1 : 0 };
	}
	assert_int_equal(slope_build_check_graph(g), SLOPE_GRAPH_SOUND);
	assert_int_equal(g->paths.regular, BLOCKS);
	assert_true(slope_profile_save(p, path, error, sizeof error));
	back = slope_profile_load(path, error, sizeof error);
	assert_non_null(back);
	assert_int_equal(back->problem_count, 0);
	assert_null(sample_difference(p, back));
	slope_profile_free(back);
	slope_profile_free(p);
}

static void assert_refused(const char *name, const char *words)
{
	*error = '\0';
	assert_null(slope_profile_load(name, error, sizeof error));
	if (!strstr(error, words))
		fail_msg("'%s' does not say '%s'", error, words);
	assert_non_null(strstr(error, name));
}

static void files_that_are_none_are_refused_in_words(void **state)
{
	struct slope_crc32c crc;
	unsigned char header[24] = "\x89SLOPE\r\n\x02\x00\x07\x00\x00\x00\x00\x00\x04\x03\x02\x01";

	(void)state;
	assert_refused("/nowhere/at/all", "No such file");
	assert_refused("/tmp", "Is a directory");
	write_text("", 0);
	assert_refused(path, "an empty file");
	write_text("#!/bin/sh\necho hello, hello, hello\n", 35);
	assert_refused(path, "not a slope profile");
	write_text("\x89SLOPE\r\n\x01", 9);
	assert_refused(path, "cut off");
	slope_crc32c_init(&crc);
	for (int field = 0; field < 2; field++) {
		uint32_t sum = slope_crc32c(&crc, 0, header, 20);

		for (int i = 0; i < 4; i++)
			header[20 + i] = (unsigned char)(sum >> (8 * i));
		write_text((char *)header, sizeof header);
		assert_refused(path, field ? "features" : "version 2.7");
		header[8] = SLOPE_FORMAT_MAJOR;
		header[12] = 0x80;       /* a feature that must be known */
	}
}

static void a_pipe_can_be_loaded(void **state)
{
	struct slope_profile *p = sample_profile(), *back;
	char name[32];
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	snprintf(name, sizeof name, "/dev/fd/%d", ends[1]);
	assert_true(slope_profile_save(p, name, error, sizeof error));
	close(ends[1]);
	snprintf(name, sizeof name, "/dev/fd/%d", ends[0]);
	back = slope_profile_load(name, error, sizeof error);
	close(ends[0]);
	assert_non_null(back);
	assert_null(sample_difference(p, back));
	slope_profile_free(back);
	slope_profile_free(p);
}

static void a_failed_save_keeps_what_was_there(void **state)
{
	struct slope_profile *p = sample_profile();

	(void)state;
	assert_false(slope_profile_save(p, "/dev/full", error, sizeof error));
	assert_string_equal(error, "cannot write /dev/full: No space left on device");
	assert_false(slope_profile_save(p, "/nowhere/p", error, sizeof error));
	assert_false(slope_profile_save(p, directory, error, sizeof error));
	write_text("old", 3);
	for (size_t k = 0; ; k++) {
		failing_after(k);
		bool ok = slope_profile_save(p, path, error, sizeof error);

		failing_never();
		struct stat st;

		assert_int_equal(stat(path, &st), 0);
		assert_int_equal(st.st_size == 3, !ok);
		if (ok)
			break;
	}
	slope_profile_free(p);
}

static void a_link_stays_a_link(void **state)
{
	struct slope_profile *p = sample_profile();
	char name[80];
	struct stat st;

	(void)state;
	write_text("old", 3);
	snprintf(name, sizeof name, "%s.link", path);
	assert_int_equal(symlink(path, name), 0);
	assert_true(slope_profile_save(p, name, error, sizeof error));
	assert_int_equal(lstat(name, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(stat(path, &st), 0);
	assert_true(st.st_size > 3);
	unlink(name);
	slope_profile_free(p);
}

static void every_allocation_of_a_load_may_fail(void **state)
{
	struct slope_profile *p = sample_profile(), *back = NULL;

	(void)state;
	assert_true(slope_profile_save(p, path, error, sizeof error));
	for (size_t k = 0; !back; k++) {
		*error = '\0';
		failing_after(k);
		back = slope_profile_load(path, error, sizeof error);
		failing_never();
		assert_true(back || strstr(error, "emory"));
	}
	assert_null(sample_difference(p, back));
	slope_profile_free(back);
	slope_profile_free(p);
}

/* A file made record by record, for what no slope would write. */
struct made {
	struct slope_encoder e;
	unsigned char bytes[4096];
	size_t count;
};

static bool write_made(void *ctx, const void *bytes, size_t count)
{
	struct made *m = ctx;

	assert_true(m->count + count <= sizeof m->bytes);
	memcpy(m->bytes + m->count, bytes, count);
	m->count += count;
	return true;
}

static struct made *begin_made(uint32_t units)
{
	struct made *m = calloc(1, sizeof *m);

	m->e.writer = (struct slope_writer){ write_made, m };
	slope_encode_begin(&m->e, units);
	slope_encode_function(&m->e, &(struct slope_function_entry){ .number = 0 });
	slope_encode_function(&m->e, &(struct slope_function_entry){ .number = 5, .module = 1, .offset = 16 });
	slope_encode_thread(&m->e, &(struct slope_thread_entry){ .number = 1, .id = 1 });
	slope_encode_cost(&m->e, &(struct slope_cost_entry){ .function = 5, .thread = 1, .calls = 8 });
	return m;
}

static struct slope_profile *end_made(struct made *m)
{
	assert_true(slope_encode_end(&m->e));
	struct slope_profile *p = slope_profile_decode(m->bytes, m->count, error, sizeof error);

	assert_non_null(p);
	free(m);
	return p;
}

static void what_refers_to_nothing_is_left_out_and_said(void **state)
{
	struct made *m = begin_made(1);
	struct slope_profile *p;

	(void)state;
	slope_encode_cost(&m->e, &(struct slope_cost_entry){ .function = 6, .thread = 1, .calls = 1 });
	slope_encode_cost(&m->e, &(struct slope_cost_entry){ .function = 5, .thread = 2, .calls = 1 });
	slope_encode_edge(&m->e, &(struct slope_edge_entry){ .caller = UINT32_MAX, .callee = 5, .thread = 1 });
	slope_encode_symbol(&m->e, &(struct slope_symbol_entry){ .function = 7 });
	slope_encode_symbol(&m->e, &(struct slope_symbol_entry){ .function = 5, .file = 3, .line = 4 });
	slope_encode_points_begin(&m->e, &(struct slope_points_entry){ .function = 0, .thread = 1, .bits = 64 });
	slope_encode_points_end(&m->e);
	p = end_made(m);
	assert_int_equal(p->row_count, 1);
	assert_int_equal(p->edge_count, 0);
	assert_true(has_problem(p, "records: 2 left out, because what they refer to is missing"));
	assert_true(has_problem(p, "edges: 1 left out, because what they refer to is missing"));
	assert_true(has_problem(p, "symbols: 1 left out, because what they refer to is missing"));
	assert_true(has_problem(p, "symbols: 1 kept without what they refer to, which is missing"));
	assert_true(has_problem(p, "points: 1 left out, because what they refer to is missing"));
	assert_true(has_problem(p, "functions: 1 kept without what they refer to, which is missing"));
	assert_string_equal(p->function[1].name, "(no file)+0x10");
	slope_profile_free(p);
}

static void what_comes_twice_counts_once(void **state)
{
	struct slope_point *row = calloc(1, slope_point_bytes(1));
	struct made *m = begin_made(1);
	struct slope_profile *p;

	(void)state;
	slope_encode_function(&m->e, &(struct slope_function_entry){ .number = 5 });
	slope_encode_function(&m->e, &(struct slope_function_entry){ .number = 0 });
	slope_encode_thread(&m->e, &(struct slope_thread_entry){ .number = 1 });
	slope_encode_cost(&m->e, &(struct slope_cost_entry){ .function = 5, .thread = 1, .calls = 8 });
	for (int i = 0; i < 3; i++)
		slope_encode_edge(&m->e, &(struct slope_edge_entry){ .caller = 0, .callee = 5, .thread = 1, .calls = 8 });
	row->calls = 4;
	slope_encode_points_begin(&m->e, &(struct slope_points_entry){ .function = 5, .thread = 1, .bits = 64 });
	slope_encode_point_row(&m->e, row);
	slope_encode_point_row(&m->e, row);
	slope_encode_points_end(&m->e);
	p = end_made(m);
	assert_int_equal(p->function_count, 2);
	assert_int_equal(p->thread_count, 1);
	assert_int_equal(p->row_count, 1);
	assert_int_equal(p->edge_count, 1);
	assert_int_equal(p->row[0].points[0].count, 1);
	assert_true(has_problem(p, "functions: 2 left out, because they come twice"));
	assert_true(has_problem(p, "threads: 1 left out, because they come twice"));
	assert_true(has_problem(p, "records: 1 left out, because they come twice"));
	assert_true(has_problem(p, "edges: 2 left out, because they come twice"));
	assert_true(has_problem(p, "points: 1 left out, because they come twice"));
	slope_profile_free(p);
	free(row);
}

static void contexts_are_checked(void **state)
{
	struct made *m = begin_made(1);
	struct slope_context_entry node = { .thread = 1, .number = 3, .parent = SLOPE_NUMBER_NONE, .function = 5, .site = 2 };
	struct slope_variant_entry variant = { .number = 4, .callers = 1, .caller = { 5 }, .cost = { .function = 5, .thread = 1 } };
	struct slope_profile *p;

	(void)state;
	slope_encode_site(&m->e, &(struct slope_site_entry){ .number = 8, .module = 7, .offset = 3 });
	slope_encode_context(&m->e, &node);                      /* kept, without its site */
	slope_encode_context(&m->e, &node);                      /* twice */
	node = (struct slope_context_entry){ .thread = 1, .number = 9, .parent = 3, .site = 8, .calls = 2 };
	slope_encode_context(&m->e, &node);                      /* good */
	node.parent = 4;
	node.number = 10;
	slope_encode_context(&m->e, &node);                      /* there is no 4 */
	node.parent = 3;
	node.thread = 2;
	slope_encode_context(&m->e, &node);                      /* no thread 2 */
	slope_encode_variant(&m->e, &variant);
	slope_encode_variant(&m->e, &variant);                   /* twice by number */
	variant.number = 5;
	slope_encode_variant(&m->e, &variant);                   /* twice by callers */
	variant.number = 6;
	variant.caller[0] = 77;
	slope_encode_variant(&m->e, &variant);                   /* no such caller */
	slope_encode_variant_points_begin(&m->e, &(struct slope_points_entry){ .function = 6, .thread = 1, .bits = 64 });
	slope_encode_points_end(&m->e);
	p = end_made(m);
	assert_int_equal(p->context_count, 2);
	assert_int_equal(p->context[0].site, SLOPE_CONTEXT_NONE);
	assert_int_equal(p->context[1].parent, 0);
	assert_int_equal(p->context[1].site, 0);
	assert_int_equal(p->variant_count, 1);
	assert_true(has_problem(p, "call sites: 1 kept without what they refer to, which is missing"));
	assert_true(has_problem(p, "contexts: 1 kept without what they refer to, which is missing"));
	assert_true(has_problem(p, "contexts: 1 left out, because they come twice"));
	assert_true(has_problem(p, "contexts: 2 left out, because what they refer to is missing"));
	assert_true(has_problem(p, "variants: 2 left out, because they come twice"));
	assert_true(has_problem(p, "variants: 1 left out, because what they refer to is missing"));
	assert_true(has_problem(p, "points of variants: 1 left out, because what they refer to is missing"));
	slope_profile_free(p);
}

static void points_out_of_range_are_left_out(void **state)
{
	struct slope_point *row = calloc(1, slope_point_bytes(1));
	struct made *m = begin_made(1);
	struct slope_profile *p;

	(void)state;
	slope_encode_points_begin(&m->e, &(struct slope_points_entry){ .function = 5, .thread = 1, .bits = 2 });
	slope_encode_point_row(&m->e, row);      /* no calls */
	row->calls = 1;
	row->n = 9;                              /* no edge of a bin with three binary digits */
	slope_encode_point_row(&m->e, row);
	row->n = 10;
	slope_encode_point_row(&m->e, row);
	slope_encode_points_end(&m->e);
	slope_encode_points_begin(&m->e, &(struct slope_points_entry){ .metric = 2, .function = 5, .thread = 1, .bits = 64 });
	slope_encode_points_end(&m->e);
	p = end_made(m);
	assert_int_equal(p->row[0].points[0].count, 1);
	assert_true(has_problem(p, "points: 3 out of range and left out"));
	slope_profile_free(p);
	free(row);
}

static void sizes_of_edges_are_checked_and_sorted(void **state)
{
	static const uint64_t n[] = { 12, 0, 9, 10, 12 };        /* 9 is no bin of three binary digits */
	struct slope_sizes_entry known = { .thread = 1, .callee = 5, .bits = 2 }, unknown = known, other = known;
	struct slope_size_entry row = { .activations = 2, .calls = 2 };
	struct made *m = begin_made(1);
	struct slope_profile *p;

	(void)state;
	unknown.caller = 5;                      /* both ends are there, the edge is not */
	other.bits = 3;
	slope_encode_edge(&m->e, &(struct slope_edge_entry){ .caller = 0, .callee = 5, .thread = 1, .calls = 8 });
	slope_encode_sizes_begin(&m->e, &known);
	for (int i = 0; i < 5; i++) {
		row.n = n[i];
		row.cost[0] = i;
		slope_encode_size_row(&m->e, &row);
	}
	row.n = 6;
	row.calls = 1;                           /* of two activations one did not call it */
	slope_encode_size_row(&m->e, &row);
	slope_encode_sizes_end(&m->e);
	slope_encode_sizes_begin(&m->e, &unknown);
	slope_encode_size_row(&m->e, &row);
	slope_encode_sizes_end(&m->e);
	slope_encode_sizes_begin(&m->e, &other);
	slope_encode_size_row(&m->e, &row);
	slope_encode_sizes_end(&m->e);
	p = end_made(m);
	assert_int_equal(p->edge_count, 1);
	assert_int_equal(p->edge[0].sizes.bits, 2);
	assert_int_equal(p->edge[0].sizes.count, 3);
	assert_int_equal(p->edge[0].sizes.row[0].n, 0);
	assert_int_equal(p->edge[0].sizes.row[1].n, 10);
	assert_int_equal(p->edge[0].sizes.row[1].cost[0], 3);
	assert_int_equal(p->edge[0].sizes.row[2].n, 12);
	assert_true(has_problem(p, "sizes of edges: 2 out of range and left out"));
	assert_true(has_problem(p, "sizes of edges: 2 left out, because they come twice"));
	assert_true(has_problem(p, "sizes of edges: 1 left out, because what they refer to is missing"));
	slope_profile_free(p);
}

static void points_are_sorted_by_size(void **state)
{
	static const uint64_t n[] = { 7, UINT64_MAX, 0, 3, 9 };
	static const uint64_t sorted[] = { 0, 3, 7, 9, UINT64_MAX };
	struct slope_point *row = calloc(1, slope_point_bytes(1));
	struct made *m = begin_made(1);
	struct slope_profile *p;

	(void)state;
	row->calls = 1;
	slope_encode_points_begin(&m->e, &(struct slope_points_entry){ .function = 5, .thread = 1, .bits = 64 });
	for (int i = 0; i < 5; i++) {
		row->n = n[i];
		slope_encode_point_row(&m->e, row);
	}
	slope_encode_points_end(&m->e);
	p = end_made(m);
	for (size_t i = 0; i < 5; i++)
		assert_true(slope_profile_point(p, &p->row[0].points[0], i)->n == sorted[i]);
	slope_profile_free(p);
	free(row);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_saved_is_loaded),
		cmocka_unit_test(problems_travel_with_the_file),
		cmocka_unit_test(graphs_that_are_none_are_left_out),
		cmocka_unit_test(paths_that_are_none_are_left_out),
		cmocka_unit_test(graphs_that_are_there_twice_are_one),
		cmocka_unit_test(a_long_graph_comes_back),
		cmocka_unit_test(files_that_are_none_are_refused_in_words),
		cmocka_unit_test(a_pipe_can_be_loaded),
		cmocka_unit_test(a_failed_save_keeps_what_was_there),
		cmocka_unit_test(a_link_stays_a_link),
		cmocka_unit_test(every_allocation_of_a_load_may_fail),
		cmocka_unit_test(what_refers_to_nothing_is_left_out_and_said),
		cmocka_unit_test(what_comes_twice_counts_once),
		cmocka_unit_test(contexts_are_checked),
		cmocka_unit_test(points_out_of_range_are_left_out),
		cmocka_unit_test(sizes_of_edges_are_checked_and_sorted),
		cmocka_unit_test(points_are_sorted_by_size),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
