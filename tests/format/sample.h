/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A small profile with something of everything, and a comparison of whole
 * profiles. tests/format/golden-1.4.slope is this profile, written by
 * make_golden.c with format version 1.3; golden-1.2.slope, golden-1.1.slope and
 * golden.slope are the same without what versions 1.2, 1.1 and 1.0 did not have.
 * They must load to it for ever.
 */
#ifndef SLOPE_TESTS_SAMPLE_H
#define SLOPE_TESTS_SAMPLE_H

#include <stdlib.h>
#include <string.h>

#include "profile/build.h"
#include "profile/profile.h"

static inline char *sample_text(const char *text)
{
	char *copy = malloc(strlen(text) + 1);

	return strcpy(copy, text);
}

/* A row whose costs are `cost` in every call, for unit u times u + 1; `spread` makes them differ. */
static inline void sample_point(const struct slope_profile *p, struct slope_profile_points *points, size_t i, uint64_t n,
				uint64_t calls, uint64_t cost, uint64_t spread)
{
	struct slope_point *row = (struct slope_point *)(points->rows + i * slope_point_bytes(p->units));

	*row = (struct slope_point){ .n = n, .calls = calls, .rms = n * calls };
	for (uint32_t u = 0; u < p->units; u++) {
		uint64_t c = cost * (u + 1);
		unsigned __int128 sq = (unsigned __int128)c * c * (calls - 1) + (unsigned __int128)(c + spread) * (c + spread);

		row->cost[u] = (struct slope_stat){ .min = c, .max = c + spread, .sum = c * calls + spread,
						    .sq_lo = (uint64_t)sq, .sq_hi = (uint64_t)(sq >> 64) };
	}
}

static inline void sample_points(const struct slope_profile *p, struct slope_profile_row *row, uint32_t metric, size_t count,
				 uint32_t bits)
{
	row->points[metric].bits = bits;
	row->points[metric].count = count;
	row->points[metric].rows = calloc(count, slope_point_bytes(p->units));
}

static inline void sample_places(struct slope_profile *p)
{
	p->module_count = 3;
	p->module = calloc(3, sizeof *p->module);
	p->module[0].path = sample_text("");
	p->module[1] = (struct slope_profile_module){ .path = sample_text("/usr/bin/wf"), .build_id = { 0xde, 0xad, 0xbe, 0xef },
						      .build_id_bytes = 20, .start = 0x400000, .bytes = 0x12000 };
	p->module[2] = (struct slope_profile_module){ .path = sample_text("/tmp/plug in.so"), .start = 0x7f0000001000,
						      .bytes = 4096 };
	p->function_count = 5;
	p->function = calloc(5, sizeof *p->function);
	p->function[0].raw_name = sample_text("(thread)");
	p->function[0].name = sample_text("(thread)");
	p->function[1] = (struct slope_profile_function){ .module = 1, .offset = 0x1139, .raw_name = sample_text("main"),
							  .name = sample_text("main"), .file = sample_text("wf.c"), .line = 90 };
	p->function[2] = (struct slope_profile_function){
		.module = 1, .offset = 0x1200, .raw_name = sample_text("_ZN5words5lowerEPc"),
		.name = sample_text("words::lower(char*)"), .file = sample_text("wf.c"), .line = 12 };
	p->function[3] = (struct slope_profile_function){ .module = 2, .offset = 0x10f0, .flags = SLOPE_FN_FOLDED,
							  .name = sample_text("plug in.so+0x10f0") };
	p->function[4] = (struct slope_profile_function){ .offset = 0x7f1234567890, .file = sample_text("jit.lua"),
							  .name = sample_text("(no file)+0x7f1234567890") };
	p->thread_count = 2;
	p->thread = calloc(2, sizeof *p->thread);
	p->thread[0] = (struct slope_profile_thread){ .id = 1, .os_id = 4711, .process = 4711, .name = sample_text(""),
						      .calls = 1000, .max_depth = 17 };
	p->thread[1] = (struct slope_profile_thread){ .id = 2, .parent = 1, .os_id = 4712, .process = 4711,
						      .name = sample_text("wörker"), .calls = 1, .max_depth = 1 };
}

static inline void sample_tables(struct slope_profile *p)
{
	p->row_count = 4;
	p->row = calloc(4, sizeof *p->row);
	for (size_t i = 0; i < p->row_count; i++)
		p->row[i].points[0].bits = p->row[i].points[1].bits = SLOPE_POINTS_EXACT;
	p->row[0] = (struct slope_profile_row){ .function = 0, .thread = 0, .total = { 123456789012345, 99 }, .self = { 5, 1 },
						.points = { { .bits = 64 }, { .bits = 64 } } };
	p->row[1] = (struct slope_profile_row){ .function = 1, .thread = 0, .calls = 1, .total = { 123456789012340, 98 },
						.self = { 100, 10 }, .rms = 7, .trms = 9, .thread_input = 1, .external = 1,
						.points = { { .bits = 64 }, { .bits = 64 } } };
	p->row[2] = (struct slope_profile_row){ .function = 2, .thread = 0, .calls = 999, .total = { UINT64_MAX, 88 },
						.self = { 300, 30 }, .rms = 5000, .trms = 5000,
						.points = { { .bits = 64 }, { .bits = 64 } } };
	p->row[3] = (struct slope_profile_row){ .function = 2, .thread = 1, .calls = 1, .total = { 400, 40 }, .self = { 400, 40 },
						.rms = 1, .trms = 3, .thread_input = 2,
						.points = { { .bits = 64 }, { .bits = 64 } } };
	sample_points(p, &p->row[1], SLOPE_METRIC_TRMS, 1, 64);
	sample_point(p, &p->row[1].points[0], 0, 9, 1, 123456789012340, 0);
	((struct slope_point *)p->row[1].points[0].rows)->rms = 7;
	((struct slope_point *)p->row[1].points[0].rows)->thread = 1;
	((struct slope_point *)p->row[1].points[0].rows)->external = 1;
	sample_points(p, &p->row[2], SLOPE_METRIC_TRMS, 3, 10);
	sample_point(p, &p->row[2].points[0], 0, 0, 10, 4, 0);
	sample_point(p, &p->row[2].points[0], 1, 1024, 7, UINT64_MAX / 16, 3);
	sample_point(p, &p->row[2].points[0], 2, UINT64_C(1) << 63, 1, 77, 0);
	sample_points(p, &p->row[2], SLOPE_METRIC_RMS, 2, 64);
	sample_point(p, &p->row[2].points[1], 0, 3, 998, 4, 1);
	sample_point(p, &p->row[2].points[1], 1, UINT64_MAX, 1, 1, 0);
	p->edge_count = 2;
	p->edge = calloc(2, sizeof *p->edge);
	p->edge[0] = (struct slope_profile_edge){ .caller = 0, .callee = 1, .thread = 0, .calls = 1, .cost = { 123, 98 } };
	p->edge[1] = (struct slope_profile_edge){ .caller = 1, .callee = 2, .thread = 0, .calls = 999, .cost = { UINT64_MAX, 0 } };
	p->edge[0].sizes.bits = SLOPE_POINTS_EXACT;
	p->edge[1].sizes = (struct slope_profile_sizes){ .bits = 3, .count = 3, .row = calloc(3, sizeof *p->edge[1].sizes.row) };
	p->edge[1].sizes.row[0] = (struct slope_profile_size){ .n = 0, .activations = 1, .calls = 1, .cost = { 4, 0 } };
	p->edge[1].sizes.row[1] = (struct slope_profile_size){ .n = 104, .activations = 3, .calls = 900, .cost = { 1000000, 7 } };
	p->edge[1].sizes.row[2] = (struct slope_profile_size){ .n = UINT64_C(15) << 60, .activations = 98, .calls = 98,
								.cost = { UINT64_MAX, UINT64_MAX } };
	p->lost_count = 1;
	p->lost = calloc(1, sizeof *p->lost);
	p->lost[0] = (struct slope_profile_lost){ sample_text("calls"), sample_text("calls without a frame"), 3 };
}

static inline void sample_contexts(struct slope_profile *p)
{
	static const struct slope_profile_context context[] = {
		{ .function = 0, .parent = SLOPE_CONTEXT_NONE, .site = SLOPE_CONTEXT_NONE, .calls = 1, .total = { 123456789012345, 99 } },
		{ .function = 1, .parent = 0, .site = 0, .calls = 1, .total = { 123456789012340, 98 }, .self = { 100, 10 } },
		{ .function = 2, .parent = 1, .site = 1, .calls = 998, .total = { UINT64_MAX, 44 }, .self = { 1, UINT64_MAX } },
		{ .function = 2, .parent = 2, .site = SLOPE_CONTEXT_NONE },
		{ .function = 2, .thread = 1, .parent = SLOPE_CONTEXT_NONE, .site = SLOPE_CONTEXT_NONE, .calls = 1 },
	};

	p->context_k = 3;
	p->context_collapsed = true;
	p->burst_period_ns = 2000000;
	p->burst_length_ns = 200000;
	p->context_count = sizeof context / sizeof *context;
	p->context = malloc(sizeof context);
	memcpy(p->context, context, sizeof context);
	p->place_count = 2;
	p->place = calloc(2, sizeof *p->place);
	p->place[0] = (struct slope_profile_place){ .context = 1, .module = 1, .offset = 0x1234, .self = { 60, 6 } };
	p->place[1] = (struct slope_profile_place){ .context = 4, .offset = UINT64_MAX, .self = { 0, 1 } };
	p->site_count = 2;
	p->site = calloc(2, sizeof *p->site);
	p->site[0] = (struct slope_profile_site){ .offset = 0x7f1234567899 };
	p->site[1] = (struct slope_profile_site){ .module = 1, .offset = 0x1150, .file = sample_text("wf.h"), .line = 99 };
}

static inline void sample_variants(struct slope_profile *p)
{
	p->variant_k = 2;
	p->variants_folded = 7;
	p->variant_count = 2;
	p->variant = calloc(2, sizeof *p->variant);
	for (size_t i = 0; i < 2; i++) {
		p->variant[i].row = (struct slope_profile_row){ .function = 2, .calls = 900 - 801 * i, .total = { UINT64_MAX - i, 44 },
								.self = { 200, 20 }, .rms = 4000, .trms = 4000, .external = i,
								.points = { { .bits = 64 }, { .bits = 64 } } };
		p->variant[i].caller = calloc(3, sizeof *p->variant[i].caller);
		p->variant[i].caller[0] = 1;
		p->variant[i].callers = 1 + (uint32_t)i;
		p->variant[i].rest = !i;
	}
	sample_points(p, &p->variant[1].row, SLOPE_METRIC_TRMS, 2, 64);
	sample_point(p, &p->variant[1].row.points[0], 0, 5, 98, 4, 1);
	sample_point(p, &p->variant[1].row.points[0], 1, 77, 1, 77, 0);
}

static inline void sample_graph(struct slope_profile_graph *g, const struct slope_block *block, const uint64_t *start,
				uint32_t blocks, const struct slope_arc_entry *arc, uint32_t arcs)
{
	g->paths.vertices = blocks;
	g->paths.edges = arcs;
	g->block = malloc(blocks * sizeof *block);
	memcpy(g->block, block, blocks * sizeof *block);
	g->paths.start = malloc(blocks * sizeof *start);
	memcpy(g->paths.start, start, blocks * sizeof *start);
	g->paths.edge = calloc(arcs, sizeof *g->paths.edge);
	g->way = malloc(arcs);
	for (uint32_t i = 0; i < arcs; i++) {
		g->paths.edge[i] = (struct slope_path_edge){ .from = arc[i].from, .to = arc[i].to, .cut = arc[i].cut,
							     .value = arc[i].value };
		g->way[i] = (uint8_t)arc[i].way;
		g->paths.cut_edges += arc[i].cut == SLOPE_PATH_MANY;
	}
	if (slope_build_check_graph(g) != SLOPE_GRAPH_SOUND)
		abort();
}

/* A loop with a diamond in it, and a piece that switches. */
static inline void sample_graphs(struct slope_profile *p)
{
	static const struct slope_block loop[] = {
		{ 0x1200, 12, 4, SLOPE_BLOCK_BRANCHES }, { 0x120c, 5, 1, SLOPE_BLOCK_CALLS }, { 0x1211, 9, 2, SLOPE_BLOCK_FALLS },
		{ 0x121a, 6, 2, SLOPE_BLOCK_BRANCHES }, { 0x1220, 1, 1, SLOPE_BLOCK_RETURNS },
	};
	static const uint64_t loop_start[] = { 0, 4, 6, 8, 10 };
	static const struct slope_arc_entry loop_arc[] = {
		{ 0, 1, SLOPE_WAY_NEXT, SLOPE_PATH_WHOLE, 0 }, { 0, 2, SLOPE_WAY_TAKEN, SLOPE_PATH_WHOLE, 2 },
		{ 1, 3, SLOPE_WAY_NEXT, SLOPE_PATH_WHOLE, 0 }, { 2, 3, SLOPE_WAY_NEXT, SLOPE_PATH_WHOLE, 0 },
		{ 3, 4, SLOPE_WAY_NEXT, SLOPE_PATH_WHOLE, 0 }, { 3, 0, SLOPE_WAY_TAKEN, SLOPE_PATH_BACK, 1 },
		{ 4, SLOPE_PATH_OUT, SLOPE_WAY_RETURN, SLOPE_PATH_WHOLE, 0 },
	};
	static const struct slope_block piece[] = {
		{ 0x7f1234567890, 3, 1, SLOPE_BLOCK_SWITCHES }, { 0x10f0, 2, 1, SLOPE_BLOCK_STOPS },
	};
	static const uint64_t piece_start[] = { 0, 3 };
	static const struct slope_arc_entry piece_arc[] = {
		{ 0, 0, SLOPE_WAY_TABLE, SLOPE_PATH_ASKED, 0 }, { 0, 1, SLOPE_WAY_TABLE, SLOPE_PATH_MANY, 1 },
		{ 0, SLOPE_PATH_OUT, SLOPE_WAY_TAIL, SLOPE_PATH_WHOLE, 2 },
		{ 1, SLOPE_PATH_OUT, SLOPE_WAY_NOWHERE, SLOPE_PATH_WHOLE, 0 },
	};

	p->graph_count = 2;
	p->graph = calloc(2, sizeof *p->graph);
	p->graph[0].function = 2;
	sample_graph(&p->graph[0], loop, loop_start, 5, loop_arc, 7);
	p->graph[1].function = 4;
	p->graph[1].flags = SLOPE_GRAPH_PIECE | SLOPE_GRAPH_UNRESOLVED | SLOPE_GRAPH_CUT;
	sample_graph(&p->graph[1], piece, piece_start, 2, piece_arc, 4);
}

static inline void sample_paths(struct slope_profile *p)
{
	static const struct slope_profile_path path[] = {
		{ .context = 2, .stop = SLOPE_PATH_NOT_STOPPED, .number = 1, .count = 5000, .samples = 3,
		  .metric = { { 300, 30000, 0 }, { UINT64_MAX, 1, UINT64_MAX } } },
		{ .context = 2, .stop = SLOPE_PATH_NOT_STOPPED, .number = 2, .count = 998 },
		{ .context = SLOPE_CONTEXT_NONE, .stop = 3, .stop_instructions = 1, .number = 6, .count = 1, .samples = 1 },
		{ .graph = 1, .thread = 1, .context = SLOPE_CONTEXT_NONE, .stop = SLOPE_PATH_NOT_STOPPED, .number = 3,
		  .count = UINT64_MAX },
	};

	sample_graphs(p);
	p->path_count = sizeof path / sizeof *path;
	p->path = malloc(sizeof path);
	memcpy(p->path, path, sizeof path);
	p->repeat_count = 1;
	p->repeat = calloc(1, sizeof *p->repeat);
	p->repeat[0] = (struct slope_profile_repeat){ .block = 2, .count = 123456 };
	p->path_size_count = 2;
	p->path_size = calloc(2, sizeof *p->path_size);
	p->path_size[0] = (struct slope_profile_path_size){ .number = 1, .n = 8, .activations = 2, .executions = 3 };
	p->path_size[1] = (struct slope_profile_path_size){ .number = 1, .n = UINT64_C(1) << 63, .activations = 1, .executions = 4997 };
	p->path_metrics = 2;
	p->path_metric_name[0] = sample_text("time");
	p->path_metric_name[1] = sample_text("cache-misses");
	p->path_period = 64;
}

static inline struct slope_profile *sample_profile(void)
{
	struct slope_profile *p = calloc(1, sizeof *p);

	p->source = sample_text("valgrind");
	p->program = calloc(4, sizeof *p->program);
	p->program[0] = sample_text("./wf");
	p->program[1] = sample_text("");
	p->program[2] = sample_text("a b\xff");
	p->directory = sample_text("/home/someone");
	p->created_by = sample_text("slope 0.1.0");
	p->process = 4711;
	p->parent_process = 4000;
	p->exit_code = 3;
	p->ended = sample_text("exit");
	p->runs = 1;
	p->cell_bytes = 4;
	p->units = 2;
	p->metrics = 3;
	p->unit_name[0] = sample_text("ir");
	p->unit_name[1] = sample_text("bb");
	p->max_points = 3;
	p->renumberings = 2;
	p->symbolized = p->complete = true;
	sample_places(p);
	sample_tables(p);
	sample_contexts(p);
	sample_variants(p);
	sample_paths(p);
	return p;
}

/* The same as format version 1.3 has it. */
static inline struct slope_profile *sample_profile_1_3(void)
{
	struct slope_profile *p = sample_profile();

	free(p->place);
	p->place = NULL;
	p->place_count = 0;
	return p;
}

/* The same as format version 1.2 has it. */
static inline struct slope_profile *sample_profile_1_2(void)
{
	struct slope_profile *p = sample_profile_1_3();

	for (size_t i = 0; i < p->graph_count; i++)
		slope_build_free_graph(&p->graph[i]);
	for (unsigned i = 0; i < SLOPE_PATH_METRICS; i++) {
		free(p->path_metric_name[i]);
		p->path_metric_name[i] = NULL;
	}
	free(p->graph);
	free(p->path);
	free(p->repeat);
	free(p->path_size);
	p->graph = NULL;
	p->path = NULL;
	p->repeat = NULL;
	p->path_size = NULL;
	p->graph_count = p->path_count = p->repeat_count = p->path_size_count = 0;
	p->path_metrics = 0;
	p->path_period = 0;
	return p;
}

/* The same as format version 1.1 has it. */
static inline struct slope_profile *sample_profile_1_1(void)
{
	struct slope_profile *p = sample_profile_1_2();

	free(p->site[1].file);
	for (size_t i = 0; i < p->variant_count; i++) {
		free(p->variant[i].row.points[0].rows);
		free(p->variant[i].caller);
	}
	free(p->site);
	free(p->context);
	free(p->variant);
	p->site = NULL;
	p->context = NULL;
	p->variant = NULL;
	p->site_count = p->context_count = p->variant_count = 0;
	p->context_k = p->variant_k = 0;
	p->context_collapsed = false;
	p->burst_period_ns = p->burst_length_ns = p->variants_folded = 0;
	return p;
}

/* The same as format version 1.0 has it. */
static inline struct slope_profile *sample_profile_1_0(void)
{
	struct slope_profile *p = sample_profile_1_1();

	for (size_t i = 0; i < p->edge_count; i++) {
		free(p->edge[i].sizes.row);
		p->edge[i].sizes = (struct slope_profile_sizes){ .bits = SLOPE_POINTS_EXACT };
	}
	return p;
}

static inline bool same_or_null(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static inline const char *sample_row_difference(const struct slope_profile_row *a, const struct slope_profile_row *b, uint32_t units)
{
#define NUMBER(field) if (a->field != b->field) return #field;
	NUMBER(function) NUMBER(thread) NUMBER(calls) NUMBER(rms) NUMBER(trms) NUMBER(thread_input) NUMBER(external)
	for (uint32_t u = 0; u < SLOPE_UNITS_MAX; u++) {
		NUMBER(total[u]) NUMBER(self[u])
	}
	for (unsigned m = 0; m < SLOPE_METRICS; m++) {
		NUMBER(points[m].count) NUMBER(points[m].bits)
		if (a->points[m].count && memcmp(a->points[m].rows, b->points[m].rows, a->points[m].count * slope_point_bytes(units)))
			return "points";
	}
	return NULL;
#undef NUMBER
}

static inline const char *sample_context_difference(const struct slope_profile *a, const struct slope_profile *b)
{
#define NUMBER(field) if (a->field != b->field) return #field;
	NUMBER(context_k) NUMBER(context_collapsed) NUMBER(burst_period_ns) NUMBER(burst_length_ns) NUMBER(variant_k)
	NUMBER(variants_folded) NUMBER(site_count) NUMBER(context_count) NUMBER(variant_count)
	for (size_t i = 0; i < a->site_count; i++) {
		NUMBER(site[i].module) NUMBER(site[i].offset) NUMBER(site[i].line)
		if (!same_or_null(a->site[i].file, b->site[i].file))
			return "site[i].file";
	}
	if (a->context_count && memcmp(a->context, b->context, a->context_count * sizeof *a->context))
		return "contexts";
	if (a->place_count != b->place_count || (a->place_count && memcmp(a->place, b->place, a->place_count * sizeof *a->place)))
		return "places";
	for (size_t i = 0; i < a->variant_count; i++) {
		const char *row = sample_row_difference(&a->variant[i].row, &b->variant[i].row, a->units);

		if (row)
			return row;
		NUMBER(variant[i].callers) NUMBER(variant[i].rest)
		if (memcmp(a->variant[i].caller, b->variant[i].caller, a->variant[i].callers * sizeof *a->variant[i].caller))
			return "variant[i].caller";
	}
	return NULL;
#undef NUMBER
}

static inline const char *sample_path_difference(const struct slope_profile *a, const struct slope_profile *b)
{
#define NUMBER(field) if (a->field != b->field) return #field;
	NUMBER(graph_count) NUMBER(path_count) NUMBER(repeat_count) NUMBER(path_size_count) NUMBER(path_metrics) NUMBER(path_period)
	for (uint32_t i = 0; i < a->path_metrics; i++)
		if (!same_or_null(a->path_metric_name[i], b->path_metric_name[i]))
			return "path_metric_name";
	for (size_t i = 0; i < a->graph_count; i++) {
		NUMBER(graph[i].function) NUMBER(graph[i].flags) NUMBER(graph[i].paths.vertices) NUMBER(graph[i].paths.edges)
		NUMBER(graph[i].paths.regular) NUMBER(graph[i].paths.total) NUMBER(graph[i].paths.cut_edges)
		for (uint32_t v = 0; v < a->graph[i].paths.vertices; v++) {
			NUMBER(graph[i].block[v].address) NUMBER(graph[i].block[v].bytes) NUMBER(graph[i].block[v].instructions)
			NUMBER(graph[i].block[v].end) NUMBER(graph[i].paths.start[v]) NUMBER(graph[i].paths.first[v])
		}
		for (uint32_t e = 0; e < a->graph[i].paths.edges; e++) {
			NUMBER(graph[i].paths.edge[e].from) NUMBER(graph[i].paths.edge[e].to) NUMBER(graph[i].paths.edge[e].cut)
			NUMBER(graph[i].paths.edge[e].value) NUMBER(graph[i].way[e])
		}
	}
	for (size_t i = 0; i < a->path_count; i++) {
		if (slope_build_compare_paths(&a->path[i], &b->path[i]))
			return "path";
		NUMBER(path[i].count) NUMBER(path[i].samples)
		if (memcmp(a->path[i].metric, b->path[i].metric, sizeof a->path[i].metric))
			return "metrics of paths";
	}
	for (size_t i = 0; i < a->repeat_count; i++) {
		NUMBER(repeat[i].graph) NUMBER(repeat[i].thread) NUMBER(repeat[i].block) NUMBER(repeat[i].count)
	}
	for (size_t i = 0; i < a->path_size_count; i++) {
		NUMBER(path_size[i].graph) NUMBER(path_size[i].thread) NUMBER(path_size[i].number) NUMBER(path_size[i].n)
		NUMBER(path_size[i].activations) NUMBER(path_size[i].executions)
	}
	return NULL;
#undef NUMBER
}

/* The first field in which two profiles differ, or NULL. Problems are left aside. */
static inline const char *sample_difference(const struct slope_profile *a, const struct slope_profile *b)
{
#define NUMBER(field) if (a->field != b->field) return #field;
#define TEXT(field) if (!same_or_null(a->field, b->field)) return #field;
	TEXT(source) TEXT(directory) TEXT(created_by) TEXT(ended)
	NUMBER(process) NUMBER(parent_process) NUMBER(exit_code) NUMBER(exit_signal) NUMBER(runs) NUMBER(cell_bytes)
	NUMBER(units) NUMBER(metrics) NUMBER(max_points) NUMBER(renumberings) NUMBER(symbolized) NUMBER(complete)
	NUMBER(module_count) NUMBER(function_count) NUMBER(thread_count) NUMBER(row_count) NUMBER(edge_count) NUMBER(lost_count)
	for (size_t i = 0; a->program[i] || b->program[i]; i++)
		TEXT(program[i])
	for (uint32_t u = 0; u < a->units; u++)
		TEXT(unit_name[u])
	for (size_t i = 0; i < a->module_count; i++) {
		TEXT(module[i].path) NUMBER(module[i].build_id_bytes) NUMBER(module[i].start) NUMBER(module[i].bytes)
		if (memcmp(a->module[i].build_id, b->module[i].build_id, 32))
			return "build_id";
	}
	for (size_t i = 0; i < a->function_count; i++) {
		NUMBER(function[i].module) NUMBER(function[i].flags) NUMBER(function[i].offset) NUMBER(function[i].line)
		TEXT(function[i].raw_name) TEXT(function[i].name) TEXT(function[i].file)
	}
	for (size_t i = 0; i < a->thread_count; i++) {
		NUMBER(thread[i].id) NUMBER(thread[i].parent) NUMBER(thread[i].os_id) NUMBER(thread[i].process)
		NUMBER(thread[i].calls) NUMBER(thread[i].max_depth) TEXT(thread[i].name)
	}
	for (size_t i = 0; i < a->row_count; i++) {
		const char *row = sample_row_difference(&a->row[i], &b->row[i], a->units);

		if (row)
			return row;
	}
	for (size_t i = 0; i < a->edge_count; i++) {
		NUMBER(edge[i].caller) NUMBER(edge[i].callee) NUMBER(edge[i].thread) NUMBER(edge[i].calls)
		for (uint32_t u = 0; u < SLOPE_UNITS_MAX; u++)
			NUMBER(edge[i].cost[u])
		NUMBER(edge[i].sizes.bits) NUMBER(edge[i].sizes.count)
		if (a->edge[i].sizes.count && memcmp(a->edge[i].sizes.row, b->edge[i].sizes.row,
						     a->edge[i].sizes.count * sizeof *a->edge[i].sizes.row))
			return "sizes of edges";
	}
	for (size_t i = 0; i < a->lost_count; i++) {
		TEXT(lost[i].name) TEXT(lost[i].text) NUMBER(lost[i].count)
	}
	const char *contexts = sample_context_difference(a, b);

	return contexts ? contexts : sample_path_difference(a, b);
#undef NUMBER
#undef TEXT
}

#endif
