/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A small profile made by hand for the tests of report/: two threads, two
 * modules, a long C++ name, recursion, a folded table, one cost unit more than
 * is shown, losses and a problem. For one include in each test program.
 */
#ifndef SLOPE_TESTS_REPORT_SAMPLE_H
#define SLOPE_TESTS_REPORT_SAMPLE_H

#include "profile/profile.h"

enum { FN_ROOT, FN_MAIN, FN_LOWER, FN_PUSH, FN_COPY, FN_WALK, FN_IDLE, FN_COUNT };

#define UNITS 2

/* A row of slope_point_bytes(UNITS) bytes. */
struct point {
	uint64_t n, calls, rms, thread, external;
	struct slope_stat cost[UNITS];
};

_Static_assert(sizeof(struct point) == sizeof(struct slope_point) + UNITS * sizeof(struct slope_stat), "rows have no gaps");

#define STAT(low, high, total, squares) { .min = (low), .max = (high), .sum = (total), .sq_lo = (squares) }
#define POINTS(array) \
	{ .bits = SLOPE_POINTS_EXACT, .count = sizeof(array) / sizeof((array)[0]), .rows = (unsigned char *)(array) }

static struct point main_points[] = { { 40, 1, 40, 0, 10, { STAT(950, 950, 950, 902500), STAT(95, 95, 95, 9025) } } };
static struct point lower_points[] = {
	{ 1, 2, 2, 0, 0, { STAT(4, 6, 10, 52), STAT(1, 1, 2, 2) } },
	{ 46, 1, 46, 0, 0, { { .min = 590, .max = 590, .sum = 590, .sq_lo = 0, .sq_hi = 1 }, STAT(60, 60, 60, 3600) } },
};
static struct point lower_points_2[] = {
	{ 1, 1, 1, 1, 0, { STAT(5, 5, 5, 25), STAT(1, 1, 1, 1) } },
	{ 7, 3, 21, 14, 0, { STAT(10, 20, 45, 725), STAT(2, 2, 6, 12) } },
};
static struct point copy_points[] = { { 1024, 9, 9216, 0, 4608, { STAT(1, 9, 50, 300), STAT(1, 1, 9, 9) } } };
static struct point walk_points[] = {
	{ 2, 1, 2, 0, 0, { STAT(10, 10, 10, 100), STAT(1, 1, 1, 1) } },
	{ 3, 1, 3, 0, 0, { STAT(25, 25, 25, 625), STAT(2, 2, 2, 4) } },
};

static struct slope_profile_module module[] = {
	{ .path = "" },
	{ .path = "/home/ada/words/wf", .build_id = { 0xab, 0x01 }, .build_id_bytes = 2, .start = 0x400000, .bytes = 4096 },
	{ .path = "/usr/lib/libc.so.6", .start = 0x500000, .bytes = 8192 },
};

static struct slope_profile_function function[FN_COUNT] = {
	[FN_ROOT] = { .name = "(thread)" },
	[FN_MAIN] = { .module = 1, .offset = 0x1000, .raw_name = "main", .name = "main",
		      .file = "/home/ada/words/wf.c", .line = 80 },
	[FN_LOWER] = { .module = 1, .offset = 0x1100, .raw_name = "str_tolower", .name = "str_tolower",
		       .file = "/home/ada/words/src/lower.c", .line = 12 },
	[FN_PUSH] = { .module = 1, .offset = 0x1200, .raw_name = "_ZNSt6vectorISt4pairIiSsE9push_back",
		      .name = "std::vector<std::pair<int, std::string>, std::allocator<std::pair<int, std::string> > >"
			      "::push_back(std::pair<int, std::string>&&)",
		      .file = "/usr/include/c++/12/bits/stl_vector.h", .line = 1276 },
	[FN_COPY] = { .module = 2, .offset = 0x1300, .name = "libc.so.6+0x1300" },
	[FN_WALK] = { .module = 1, .offset = 0x1400, .raw_name = "walk", .name = "walk",
		      .file = "/home/ada/words/wf.c", .line = 30 },
	[FN_IDLE] = { .module = 1, .offset = 0x1500, .raw_name = "never_called", .name = "never_called" },
};

static struct slope_profile_thread thread[] = {
	{ .id = 1, .os_id = 700, .process = 700, .name = "wf", .calls = 15, .max_depth = 5 },
	{ .id = 2, .parent = 1, .os_id = 701, .process = 700, .name = "", .calls = 4, .max_depth = 2 },
};

static struct slope_profile_row row[] = {
	{ .function = FN_ROOT, .thread = 0, .calls = 1, .total = { 950, 95 }, .self = { 0, 0 } },
	{ .function = FN_ROOT, .thread = 1, .calls = 1, .total = { 50, 7 }, .self = { 0, 0 } },
	{ .function = FN_MAIN, .thread = 0, .calls = 1, .total = { 950, 95 }, .self = { 205, 14 }, .rms = 40, .trms = 40,
	  .external = 10, .points = { POINTS(main_points) } },
	{ .function = FN_LOWER, .thread = 0, .calls = 3, .total = { 600, 62 }, .self = { 600, 62 }, .rms = 48, .trms = 48,
	  .points = { POINTS(lower_points) } },
	{ .function = FN_LOWER, .thread = 1, .calls = 4, .total = { 50, 7 }, .self = { 50, 7 }, .rms = 7, .trms = 22,
	  .thread_input = 15, .points = { POINTS(lower_points_2) } },
	{ .function = FN_PUSH, .thread = 0, .calls = 1, .total = { 60, 8 }, .self = { 60, 8 } },
	{ .function = FN_COPY, .thread = 0, .calls = 9, .total = { 50, 9 }, .self = { 50, 9 }, .rms = 4608, .trms = 9216,
	  .external = 4608, .points = { { .bits = 5, .count = 1, .rows = (unsigned char *)copy_points } } },
	{ .function = FN_WALK, .thread = 0, .calls = 2, .total = { 35, 2 }, .self = { 35, 2 }, .rms = 5, .trms = 5,
	  .points = { POINTS(walk_points) } },
};

static struct slope_profile_size lower_sizes[] = {
	{ .n = 40, .activations = 1, .calls = 3, .cost = { 600, 62 } },
};

static struct slope_profile_edge edge[] = {
	{ .caller = FN_ROOT, .callee = FN_MAIN, .thread = 0, .calls = 1, .cost = { 950, 95 } },
	{ .caller = FN_MAIN, .callee = FN_LOWER, .thread = 0, .calls = 3, .cost = { 600, 62 },
	  .sizes = { .bits = 3, .count = 1, .row = lower_sizes } },
	{ .caller = FN_ROOT, .callee = FN_LOWER, .thread = 1, .calls = 4, .cost = { 50, 7 } },
	{ .caller = FN_MAIN, .callee = FN_PUSH, .thread = 0, .calls = 1, .cost = { 60, 8 } },
	{ .caller = FN_MAIN, .callee = FN_COPY, .thread = 0, .calls = 9, .cost = { 50, 9 } },
	{ .caller = FN_MAIN, .callee = FN_WALK, .thread = 0, .calls = 1, .cost = { 35, 2 } },
	{ .caller = FN_WALK, .callee = FN_WALK, .thread = 0, .calls = 1, .cost = { 0, 0 } },
};

static struct slope_profile_lost lost[] = {
	{ .name = "calls", .text = "calls without a frame, for want of memory", .count = 3 },
	{ .name = "cells", .text = "memory accesses without a shadow cell, for want of memory", .count = 0 },
};

static char *program[] = { "./wf", "a b.txt", NULL };
static char *problem[] = { "points: 1 of 9 chunks missing\033[31m" };
static struct slope_profile sample;

/* Fills it anew; everything in it is static. */
static struct slope_profile *sample_profile(void)
{
	sample = (struct slope_profile){
		.source = "valgrind", .program = program, .directory = "/home/ada/words", .created_by = "0.1",
		.process = 700, .parent_process = 699, .exit_code = 3, .ended = "exit", .runs = 1,
		.cell_bytes = 4, .units = UNITS, .metrics = 1u << SLOPE_METRIC_TRMS,
		.unit_name = { "ir", "bb" }, .max_points = 1000,
		.module = module, .module_count = 3, .function = function, .function_count = FN_COUNT,
		.thread = thread, .thread_count = 2, .row = row, .row_count = sizeof(row) / sizeof(row[0]),
		.edge = edge, .edge_count = sizeof(edge) / sizeof(edge[0]), .lost = lost, .lost_count = 2,
		.symbolized = true, .complete = true, .problem = problem, .problem_count = 1,
	};
	return &sample;
}

#endif
