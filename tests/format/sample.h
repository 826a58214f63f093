/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A small profile with something of everything, and a comparison of whole
 * profiles. tests/format/golden-1.2.slope is this profile, written by
 * make_golden.c with format version 1.2; golden-1.1.slope and golden.slope are
 * the same without what versions 1.1 and 1.0 did not have. They must load to it
 * for ever.
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
	return p;
}

/* The same as format version 1.1 has it. */
static inline struct slope_profile *sample_profile_1_1(void)
{
	struct slope_profile *p = sample_profile();

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
	return sample_context_difference(a, b);
#undef NUMBER
#undef TEXT
}

#endif
