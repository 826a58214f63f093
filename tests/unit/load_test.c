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
#include "tests/unit/problems.h"

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
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
