/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A profile whose statistics can be worked out by hand: two threads, three
 * functions, points by both input sizes.
 *
 *   main    1 size; input 20 by trms, 12 by rms, 8 of it from outside
 *   reader  13 sizes by trms over both threads, 5 by rms; input 100 and 40, 30 from threads, 20 from outside
 *   quiet   2 sizes by trms, 4 by rms; input 10 by both, none of it induced
 */
#ifndef SLOPE_TESTS_STATISTICS_SAMPLE_H
#define SLOPE_TESTS_STATISTICS_SAMPLE_H

#include "profile/profile.h"

enum { FN_ROOT, FN_MAIN, FN_READER, FN_QUIET, FN_COUNT };
enum { ROW_ROOT_1, ROW_ROOT_2, ROW_MAIN, ROW_READER_1, ROW_READER_2, ROW_QUIET, ROW_COUNT };

/* A row of slope_point_bytes(1) bytes. */
struct point {
	uint64_t n, calls, rms, thread, external;
	struct slope_stat cost[1];
};

_Static_assert(sizeof(struct point) == sizeof(struct slope_point) + sizeof(struct slope_stat), "rows have no gaps");

static struct point sizes[32];       /* 0, 1, 2, ...: a table of sizes is a part of it */
static struct slope_profile_row row[ROW_COUNT];
static struct slope_profile sample;

/* Sizes from..to; the call with size n cost n at most. */
static struct slope_profile_points points(size_t from, size_t to)
{
	return (struct slope_profile_points){
		.bits = SLOPE_POINTS_EXACT, .count = to - from + 1, .rows = (unsigned char *)&sizes[from],
	};
}

static void fill_rows(void)
{
	static const struct slope_profile_row numbers[ROW_COUNT] = {
		[ROW_ROOT_1] = { .function = FN_ROOT, .thread = 0, .calls = 1, .total = { 85 }, .rms = 12, .trms = 20, .external = 8 },
		[ROW_ROOT_2] = { .function = FN_ROOT, .thread = 1, .calls = 1, .total = { 15 }, .rms = 10, .trms = 30,
				 .thread_input = 12, .external = 3 },
		[ROW_MAIN] = { .function = FN_MAIN, .thread = 0, .calls = 1, .total = { 85 }, .self = { 10 }, .rms = 12, .trms = 20,
			       .external = 8 },
		[ROW_READER_1] = { .function = FN_READER, .thread = 0, .calls = 12, .total = { 70 }, .self = { 70 }, .rms = 30,
				   .trms = 70, .thread_input = 10, .external = 15 },
		[ROW_READER_2] = { .function = FN_READER, .thread = 1, .calls = 2, .total = { 15 }, .self = { 15 }, .rms = 10,
				   .trms = 30, .thread_input = 20, .external = 5 },
		[ROW_QUIET] = { .function = FN_QUIET, .thread = 0, .calls = 4, .total = { 5 }, .self = { 5 }, .rms = 10, .trms = 10 },
	};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		sizes[i] = (struct point){ .n = i, .calls = 1, .cost = { { .max = i } } };
	for (size_t i = 0; i < ROW_COUNT; i++)
		row[i] = numbers[i];
	row[ROW_MAIN].points[SLOPE_METRIC_TRMS] = points(20, 20);
	row[ROW_MAIN].points[SLOPE_METRIC_RMS] = points(12, 12);
	row[ROW_READER_1].points[SLOPE_METRIC_TRMS] = points(1, 12);
	row[ROW_READER_1].points[SLOPE_METRIC_RMS] = points(1, 4);
	row[ROW_READER_2].points[SLOPE_METRIC_TRMS] = points(12, 13);
	row[ROW_READER_2].points[SLOPE_METRIC_RMS] = points(4, 5);
	row[ROW_QUIET].points[SLOPE_METRIC_TRMS] = points(2, 3);
	row[ROW_QUIET].points[SLOPE_METRIC_RMS] = points(1, 4);
}

/* Fills it anew; everything in it is static. */
static struct slope_profile *sample_profile(void)
{
	static char *program[] = { "./wf", NULL };
	static struct slope_profile_module module[] = { { .path = "" }, { .path = "/home/ada/wf" } };
	static struct slope_profile_function function[FN_COUNT] = {
		[FN_ROOT] = { .name = "(thread)" },
		[FN_MAIN] = { .module = 1, .offset = 1, .raw_name = "main", .name = "main", .file = "/home/ada/wf.c", .line = 3 },
		[FN_READER] = { .module = 1, .offset = 2, .raw_name = "reader", .name = "reader" },
		[FN_QUIET] = { .module = 1, .offset = 3, .raw_name = "quiet", .name = "quiet" },
	};
	static struct slope_profile_thread thread[2];

	thread[0] = (struct slope_profile_thread){ .id = 1, .os_id = 7, .process = 7, .name = "wf", .calls = 17, .max_depth = 3 };
	thread[1] = (struct slope_profile_thread){ .id = 2, .parent = 1, .os_id = 8, .process = 7, .name = "worker\033", .calls = 2,
						   .max_depth = 2 };
	fill_rows();
	sample = (struct slope_profile){
		.source = "replay", .program = program, .directory = "/home/ada", .created_by = "0.1", .process = 7,
		.ended = "exit", .runs = 1, .cell_bytes = 4, .units = 1, .unit_name = { "ir" }, .max_points = 1000,
		.metrics = 1u << SLOPE_METRIC_TRMS | 1u << SLOPE_METRIC_RMS,
		.module = module, .module_count = 2, .function = function, .function_count = FN_COUNT,
		.thread = thread, .thread_count = 2, .row = row, .row_count = ROW_COUNT,
		.symbolized = true, .complete = true,
	};
	return &sample;
}

/* As with record --input=trms, the default: no table by rms. */
static inline struct slope_profile *sample_without_rms(void)
{
	struct slope_profile *p = sample_profile();

	p->metrics = 1u << SLOPE_METRIC_TRMS;
	for (size_t i = 0; i < ROW_COUNT; i++)
		row[i].points[SLOPE_METRIC_RMS].count = 0;
	return p;
}

/* As with record --input=rms: nothing is known of threads and the outside. */
static inline struct slope_profile *sample_without_trms(void)
{
	struct slope_profile *p = sample_profile();

	p->metrics = 1u << SLOPE_METRIC_RMS;
	for (size_t i = 0; i < ROW_COUNT; i++) {
		row[i].points[SLOPE_METRIC_TRMS].count = 0;
		row[i].trms = row[i].rms;
		row[i].thread_input = row[i].external = 0;
	}
	return p;
}

#endif
