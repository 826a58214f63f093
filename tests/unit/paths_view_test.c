/* SPDX-License-Identifier: GPL-3.0-or-later */
/* report/paths_*.c, path_steps.c, path_link.c and profile/blocklines.c: what is printed of paths, with the lines of a program made here. */
#define _GNU_SOURCE
#include "tests/unit/paths_sample.h"

#include <stdio.h>
#include <unistd.h>

#include "report/path_link.h"
#include "report/path_steps.h"
#include "report/paths_view.h"
#include "tests/unit/failing.h"

static char folder[] = "/tmp/slope-paths-XXXXXX";

typedef bool print_fn(const struct slope_paths_view *v, FILE *out);

static struct slope_paths_options options(const struct slope_profile *p)
{
	struct slope_paths_options o = {
		.report = slope_report_defaults(p),
		.costs = { .function = SLOPE_PATHS_ALL, .thread = SLOPE_PATHS_ALL, .metric = SLOPE_PATHS_IR, .threshold = 0.01 },
	};

	o.report.top = 0;
	return o;
}

/* NULL when memory ran out. */
static char *print(const struct slope_profile *p, const struct slope_paths_options *o, print_fn *how)
{
	struct slope_paths_view v;
	char *text = NULL;
	size_t bytes = 0;

	if (!slope_paths_view_init(&v, p, o))
		return NULL;
	FILE *out = open_memstream(&text, &bytes);
	bool good = out && how(&v, out);

	if (out)
		fclose(out);
	slope_paths_view_fini(&v);
	if (good)
		return text;
	free(text);
	return NULL;
}

static void has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no\n%s\nin\n%s", part, text);
}

static void lacks(const char *text, const char *part)
{
	if (strstr(text, part))
		fail_msg("unexpected\n%s\nin\n%s", part, text);
}

static struct slope_profile *loop_profile(void)
{
	static const uint32_t walk[] = { 0, 1, 3, 5, 6, 1, 4, 6, 2, 7 };
	struct slope_profile *p = made_profile(2);
	uint32_t a = made_graph(p, 1, 0, MADE_LOOP_BLOCKS, made_loop, MADE_LOOP_EDGES, SLOPE_PATH_LIMIT);

	made_walk(p, a, 0, 0, walk, 10, 7);
	made_done(p);
	return p;
}

static void a_run(void **state)
{
	struct slope_profile *p = loop_profile();
	struct slope_paths_options o = options(p);
	char *text = print(p, &o, slope_paths_text);

	(void)state;
	has(text, "paths    3 executed in 1 function, 231 instructions\n");
	has(text, " share   count ir each blocks   kind  function, and its lines\n"
		  " 45.5%       7      15      5    hot  a (up)\n"
		  "        0x1000 ─not taken→ 0x1006 ─not taken→ 0x100c ─loop back→ 0x1002\n");
	lacks(text, "NOTE     1 function");
	has(text, "NOTE     /made/up cannot be read: its paths are shown by addresses\n");
	free(text);
	o.costs.threshold = 0.4;
	o.report.ascii = true;
	text = print(p, &o, slope_paths_text);
	has(text, "        0x1000 -not taken-> 0x1006 -not taken-> 0x100c -loop back-> 0x1002\n");
	has(text, "  hot           1  45.5%            \n  cold          2  54.5%            \n");
	free(text);
	slope_profile_free(p);
}

/* What is missing or special about graphs is said. */
static void notes(void **state)
{
	struct slope_profile *p = loop_profile();
	struct slope_paths_options o = options(p);
	struct slope_profile_path key = made_key(p, 0, 1, 3, NULL, 0);
	char *text;

	(void)state;
	key.stop = 4;
	key.stop_instructions = 2;
	made_count(p, key, 1);
	made_graph(p, 1, SLOPE_GRAPH_PIECE | SLOPE_GRAPH_UNRESOLVED | SLOPE_GRAPH_SHORT, MADE_LOOP_BLOCKS, made_loop, MADE_LOOP_EDGES, 1);
	p->graph[1].flags |= SLOPE_GRAPH_CUT;
	made_done(p);
	text = print(p, &o, slope_paths_text);
	has(text, "NOTE     1 function has too many paths: theirs are cut in two at some edges\n");
	has(text, "NOTE     1 function has a jump whose targets are not known: paths end there, and others begin\n");
	has(text, "NOTE     1 function is known in part only: too long, or the code could not be read\n");
	has(text, "        (inside) 0x100c; left\n");
	free(text);
	o.costs.function = 1;
	text = print(p, &o, slope_paths_text);
	has(text, "NOTE     it has 2 graphs, 1 of them pieces that begin elsewhere; a path from one into another is two\n");
	has(text, "NOTE     1 execution was left in the middle: by an exception, a jump out, or the program's end\n");
	has(text, "NOTE     it has too many paths: they are cut in two at ");
	has(text, "6 of 12 blocks, 8 of 16 edges\n");
	has(text, "Never executed:\n        0x1000, 0x1002, 0x1006, 0x100c, 0x1014, 0x101e\n");
	free(text);
	o.blocks = true;
	text = print(p, &o, slope_paths_text);
	has(text, "           4  0x1014-0x101e  2 instructions, left here\n");
	free(text);
	o.costs.function = 2;
	text = print(p, &o, slope_paths_text);
	has(text, "function b (up): no path of it was recorded\n");
	free(text);
	slope_profile_free(p);
}

static void json(void **state)
{
	struct slope_profile *p = loop_profile();
	struct slope_paths_options o = options(p);
	char *text;

	(void)state;
	o.graphs = true;
	text = print(p, &o, slope_paths_json);
	has(text, "\"schema\": \"slope-paths/1\"");
	has(text, "\"recorded\": {\"metrics\": [], \"period\": null, \"contexts\": false, \"sizes\": false, \"paths_only\": true}");
	has(text, "\"coverage\": {\"paths\": 3, \"of_paths\": 6, \"blocks\": 6, \"of_blocks\": 6, \"edges\": 8, \"of_edges\": 8}");
	has(text, "\"steps\": [{\"address\": \"0x1000\"}, {\"way\": \"not taken\"}, {\"address\": \"0x1006\"}, {\"way\": \"not taken\"}, "
		  "{\"address\": \"0x100c\"}, {\"way\": \"loop back\", \"address\": \"0x1002\"}]");
	has(text, "\"blocks\": [0, 1, 2, 3, 4], \"count\": 7, \"samples\": 0, \"metrics\": {}");
	has(text, "{\"from\": 5, \"to\": null, \"way\": \"return\", \"cut\": null, \"value\": 0}");
	has(text, "{\"from\": 4, \"to\": 1, \"way\": \"taken\", \"cut\": \"back\", \"value\": 0}");
	free(text);
	slope_profile_free(p);
}

/* Numbers beyond what a double has are texts: 60 diamonds have 2^60 paths. */
static void large_numbers(void **state)
{
	struct slope_profile *p = made_profile(1);
	struct made_edge edge[60 * 4 + 1];
	struct slope_paths_options o = options(p);
	uint32_t edges = 0, walk[121], steps = 0;

	(void)state;
	for (uint32_t d = 0; d < 60; d++) {
		walk[steps++] = edges + 1;
		edge[edges++] = (struct made_edge){ 3 * d, 3 * d + 1, SLOPE_WAY_NEXT };
		edge[edges++] = (struct made_edge){ 3 * d, 3 * d + 2, SLOPE_WAY_TAKEN };
		edge[edges++] = (struct made_edge){ 3 * d + 1, 3 * d + 3, SLOPE_WAY_NEXT };
		walk[steps++] = edges;
		edge[edges++] = (struct made_edge){ 3 * d + 2, 3 * d + 3, SLOPE_WAY_NEXT };
	}
	walk[steps++] = edges;
	edge[edges++] = (struct made_edge){ 180, OUT, SLOPE_WAY_RETURN };
	made_graph(p, 1, 0, 181, edge, edges, SLOPE_PATH_LIMIT);
	made_walk(p, 0, 0, 0, walk, steps, 1);
	made_done(p);
	o.graphs = true;
	char *text = print(p, &o, slope_paths_json);

	has(text, "\"total\": \"");
	free(text);
	slope_profile_free(p);
}

/* ---- lines ---- */

static const char program[] =
	"int scan(const int *v, int n)\n"                /* 1 */
	"{\n"
	"\tint found = 0;\n"
	"\tfor (int i = 0; i < n; i++)\n"                /* 4 */
	"\t\tif (v[i] > 3)\n"
	"\t\t\tfound++;\n"
	"\treturn found;\n"                              /* 7 */
	"}\n"
	"int main(int argc, char **argv) { int v[4] = { 1, 5, argc }; (void)argv; return scan(v, 3); }\n";

static void sh(const char *format, const char *argument)
{
	char command[640], words[512];

	snprintf(words, sizeof(words), format, argument);
	snprintf(command, sizeof(command), "cd %s && { %s; }", folder, words);
	if (system(command))
		fail_msg("failed: %s", words);
}

/* Where nm says that scan is, and how long it is. */
static uint64_t find_scan(const char *file, uint64_t *bytes)
{
	char command[256], line[64] = "";

	snprintf(command, sizeof(command), "nm -S %s/%s | awk '$4 == \"scan\" { print $1, $2 }'", folder, file);
	FILE *f = popen(command, "r");

	assert_non_null(f);
	assert_non_null(fgets(line, sizeof(line), f));
	pclose(f);
	char *end;
	uint64_t start = strtoull(line, &end, 16);

	*bytes = strtoull(end, NULL, 16);
	return start;
}

/* A profile of that program: one block, which is all of scan. */
static struct slope_profile *program_profile(const char *file)
{
	static const struct made_edge one[] = { { 0, OUT, SLOPE_WAY_RETURN } };
	struct slope_profile *p = made_profile(1);
	uint64_t bytes;

	free(p->module[1].path);
	assert_true(asprintf(&p->module[1].path, "%s/%s", folder, file) > 0);
	p->function[1].offset = find_scan(file, &bytes);
	assert_true(asprintf(&p->function[1].file, "%s/scan.c", folder) > 0);
	p->function[1].line = 1;
	made_graph(p, 1, 0, 1, one, 1, SLOPE_PATH_LIMIT);
	p->graph[0].block[0].bytes = (uint32_t)bytes;
	made_walk(p, 0, 0, 0, (const uint32_t[]){ 0 }, 1, 5);
	made_done(p);
	return p;
}

static int make_program(void **state)
{
	char path[64];

	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/scan.c", folder);
	FILE *f = fopen(path, "w");

	fputs(program, f);
	fclose(f);
	sh("%s -g -O0 -o scan scan.c && strip -o stripped -g scan && echo no program >text", getenv("CC") ? getenv("CC") : "cc");
	return 0;
}

static int remove_program(void **state)
{
	(void)state;
	sh("rm -f %s", "scan scan.c stripped text");
	return rmdir(folder);
}

static void lines_of_a_program(void **state)
{
	struct slope_profile *p = program_profile("scan");
	struct slope_paths_options o = options(p);
	struct slope_blocklines *lines = slope_blocklines_new(p, NULL);
	uint64_t bytes, scan = find_scan("scan", &bytes);
	size_t count;
	const struct slope_code_line *line = slope_blocklines_of(lines, 1, scan, bytes, &count);

	(void)state;
	assert_int_equal(count, 7);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(line[i].line, i + 2);
		assert_string_equal(line[i].file, p->function[1].file);
	}
	assert_null(slope_blocklines_why(lines, 1));
	line = slope_blocklines_of(lines, 1, scan, 1, &count);
	assert_int_equal(count, 1);
	assert_int_equal(line->line, 2);
	assert_null(slope_blocklines_of(lines, 0, scan, 1, &count));
	assert_null(slope_blocklines_of(lines, 99, scan, 1, &count));
	assert_null(slope_blocklines_of(lines, 1, 1, 1, &count));
	slope_blocklines_free(lines);
	char *text = print(p, &o, slope_paths_text);

	has(text, "        2-8; return\n");
	lacks(text, "by addresses");
	free(text);
	free(p->function[1].file);
	p->function[1].file = strdup("/elsewhere/other.c");
	text = print(p, &o, slope_paths_text);
	has(text, "        scan.c:2-8; return\n");
	free(text);
	text = print(p, &o, slope_paths_json);
	has(text, "/scan.c\", \"lines\": [2, 8]}, {\"way\": \"return\"}]");
	free(text);
	slope_profile_free(p);
}

static void without_lines_it_is_said_why(void **state)
{
	struct slope_profile *p = program_profile("stripped");
	struct slope_paths_options o = options(p);
	char *text = print(p, &o, slope_paths_text), path[64];

	(void)state;
	has(text, "/stripped has no debug information: its paths are shown by addresses\n");
	free(text);
	p->module[1].build_id_bytes = 3;
	text = print(p, &o, slope_paths_text);
	has(text, "/stripped is not the build that ran: its paths are shown by addresses\n");
	free(text);
	snprintf(path, sizeof(path), "%s/text", folder);
	free(p->module[1].path);
	p->module[1].path = strdup(path);
	text = print(p, &o, slope_paths_text);
	has(text, "/text is not an ELF file: its paths are shown by addresses\n");
	free(text);
	slope_profile_free(p);
}

static void memory_may_run_out(void **state)
{
	print_fn *const how[] = { slope_paths_text, slope_paths_json };
	struct slope_profile *p = loop_profile();
	struct slope_paths_options o = options(p);

	(void)state;
	o.costs.function = 1;
	o.graphs = true;
	for (size_t i = 0; i < 2; i++) {
		size_t failures = 0;
		char *text = NULL;

		for (; !text; failures++) {
			failing_after(failures);
			text = print(p, &o, how[i]);
			failing_never();
		}
		has(text, i ? "\"graphs\": [" : "coverage");
		free(text);
		assert_true(failures > 15);
	}
	struct slope_path_link link = { .p = p, .function = 1, .lines = slope_blocklines_new(p, NULL) };
	size_t failures = 0;
	char *text = NULL;

	for (; !text; failures++) {
		failing_after(failures);
		text = slope_path_link_text(&link);
		failing_never();
	}
	has(text, "45.5% of its own instructions are on a path that is taken some of the time: 0x1000 ─not taken→");
	free(text);
	link.function = 2;
	text = slope_path_link_text(&link);
	assert_string_equal(text, "");
	free(text);
	slope_blocklines_free(link.lines);
	slope_profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_run),
		cmocka_unit_test(notes),
		cmocka_unit_test(json),
		cmocka_unit_test(large_numbers),
		cmocka_unit_test(lines_of_a_program),
		cmocka_unit_test(without_lines_it_is_said_why),
		cmocka_unit_test(memory_may_run_out),
	};

	return cmocka_run_group_tests(tests, make_program, remove_program);
}
