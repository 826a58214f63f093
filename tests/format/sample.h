/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A small profile with something of everything, and a comparison of whole
 * profiles. tests/format/golden-1.1.slope is this profile, written by
 * make_golden.c with format version 1.1; golden.slope is the same without what
 * version 1.0 did not have. They must load to it for ever.
 */
#ifndef SLOPE_TESTS_SAMPLE_H
#define SLOPE_TESTS_SAMPLE_H

#include <stdlib.h>
#include <string.h>

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
	return p;
}

/* The same as format version 1.0 has it. */
static inline struct slope_profile *sample_profile_1_0(void)
{
	struct slope_profile *p = sample_profile();

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
		NUMBER(row[i].function) NUMBER(row[i].thread) NUMBER(row[i].calls) NUMBER(row[i].rms) NUMBER(row[i].trms)
		NUMBER(row[i].thread_input) NUMBER(row[i].external)
		for (uint32_t u = 0; u < SLOPE_UNITS_MAX; u++) {
			NUMBER(row[i].total[u]) NUMBER(row[i].self[u])
		}
		for (unsigned m = 0; m < SLOPE_METRICS; m++) {
			NUMBER(row[i].points[m].count) NUMBER(row[i].points[m].bits)
			if (a->row[i].points[m].count && memcmp(a->row[i].points[m].rows, b->row[i].points[m].rows,
								a->row[i].points[m].count * slope_point_bytes(a->units)))
				return "points";
		}
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
	return NULL;
#undef NUMBER
#undef TEXT
}

#endif
