/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * analysis FUNCTIONS FILE
 *
 * Writes a profile as a large program would leave it: functions with a hundred
 * points each that grow by all kinds of laws, an eighth of them in four
 * threads, with names of C and C++, files, lines and a call graph. The same
 * arguments give the same file.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/build.h"
#include "tests/growth/law.h"
#include "tests/growth/random.h"

#define POINTS 100u
#define THREADS 4u
#define FILES_EACH 20u               /* functions in a source file */
#define MODULE_EACH 1000u            /* functions in a module */
#define EDGES 3u                     /* callees of a function */

static void *checked(const void *p)
{
	if (!p) {
		fprintf(stderr, "analysis: out of memory\n");
		exit(1);
	}
	return (void *)p;
}

static char *text(const char *format, ...) __attribute__((format(printf, 1, 2)));

static char *text(const char *format, ...)
{
	va_list args;
	char *out;

	va_start(args, format);
	int length = vasprintf(&out, format, args);

	va_end(args);
	return checked(length < 0 ? NULL : out);
}

static char *make_name(size_t i, struct random *r)
{
	static const char *const verb[] = { "parse", "read", "merge", "sort", "find", "insert", "hash", "flush", "walk", "emit" };
	static const char *const noun[] = { "header", "table", "node", "string", "page", "index", "token", "frame", "row", "key" };
	const char *what = verb[random_below(r, 10)], *whom = noun[random_below(r, 10)];

	switch (random_below(r, 4)) {
	case 0:
		return text("engine::%s_%s<std::pair<int, std::string>, std::allocator<int> >::%s%zu(char const*, unsigned long)",
			    whom, what, what, i);
	case 1:
		return text("%s::%s_%zu(int)", whom, what, i);
	default:
		return text("%s_%s_%zu", what, whom, i);
	}
}

static void make_functions(struct slope_profile *p, size_t count, struct random *r)
{
	p->function[0].raw_name = text("(thread)");
	p->function[0].name = text("(thread)");
	for (size_t i = 1; i <= count; i++) {
		struct slope_profile_function *f = checked(slope_build_function(p));

		if (i % MODULE_EACH == 1) {
			struct slope_profile_module *m = checked(slope_build_module(p));

			m->path = text("/usr/lib/libpart%zu.so", i / MODULE_EACH);
			m->start = (uint64_t)i << 24;
			m->bytes = 1u << 24;
		}
		f->module = (uint32_t)p->module_count - 1;
		f->offset = i * 64;
		f->name = make_name(i, r);
		f->raw_name = text("%s", f->name);
		f->file = text("/home/build/project/source/part%zu/file%zu.c", i / MODULE_EACH, i / FILES_EACH);
		f->line = (uint32_t)(i % FILES_EACH) * 40 + 10;
	}
}

static struct law make_law(struct random *r)
{
	static const struct slope_order order[] = {
		{ 0, 0, 0 }, { 0, 0, 0 }, { 0, 1, 0 }, { 0.5, 0, 0 }, { 1, 0, 0 }, { 1, 0, 0 }, { 1, 0, 0 }, { 1, 1, 0 },
		{ 1.5, 0, 0 }, { 1.7, 0, 0 }, { 2, 0, 0 }, { 2, 1, 0 }, { 3, 0, 0 },
	};
	struct law law = { .truth = order[random_below(r, sizeof(order) / sizeof(*order))],
			   .constant = random_magnitude(r, 5, 5000), .factor = random_magnitude(r, 1, 100) };

	if (random_below(r, 8) == 0) {
		law.broken_at = random_magnitude(r, 20, 500);
		law.factor_below = law.factor * law_order_at(law.truth, law.broken_at);
	}
	return law;
}

/* One size: many calls where it is small, one where it is large. */
static void make_point(struct slope_point *point, uint64_t n, size_t rank, const struct law *law, double noise, struct random *r)
{
	unsigned calls = 1 + 60 / (unsigned)(rank + 1);

	*point = (struct slope_point){ .n = n, .calls = calls, .rms = n * calls };
	point->cost[0] = (struct slope_stat){ .min = UINT64_MAX };
	for (unsigned i = 0; i < calls; i++)
		slope_stat_add(&point->cost[0], (uint64_t)(1 + law_at(law, (double)n) * random_between(r, 1 - noise, 1 + noise)));
}

static void make_row(struct slope_profile *p, uint32_t function, uint32_t thread, size_t count, const struct law *law,
		     struct random *r)
{
	struct slope_profile_row *row = checked(slope_build_row(p));
	struct slope_profile_points *points = &row->points[SLOPE_METRIC_TRMS];
	double ratio = random_magnitude(r, 1.02, 1.08), noise = random_between(r, 0, 0.3);
	uint64_t n = 2 + random_below(r, 4);

	*row = (struct slope_profile_row){ .function = function, .thread = thread };
	row->points[SLOPE_METRIC_RMS].bits = points->bits = SLOPE_POINTS_EXACT;
	points->rows = checked(calloc(count, slope_point_bytes(p->units)));
	for (points->count = 0; points->count < count; points->count++) {
		struct slope_point *point = (struct slope_point *)(points->rows + points->count * slope_point_bytes(p->units));

		make_point(point, n, points->count, law, noise, r);
		n += 1 + (uint64_t)((double)n * (ratio - 1));
		row->calls += point->calls;
		row->rms += point->rms;
		row->total[0] += point->cost[0].sum;
	}
	row->trms = row->rms;
	row->self[0] = (uint64_t)((double)row->total[0] * random_between(r, 0, 1));
}

static void make_rows(struct slope_profile *p, size_t count, struct random *r)
{
	for (uint32_t t = 0; t < THREADS; t++) {
		struct slope_profile_thread *thread = checked(slope_build_thread(p));
		struct slope_profile_row *row = checked(slope_build_row(p));

		*thread = (struct slope_profile_thread){ .id = t + 1, .parent = t ? 1 : 0, .os_id = 1000 + t, .process = 1000,
							 .name = text("worker%u", t), .calls = 1, .max_depth = 30 };
		*row = (struct slope_profile_row){ .thread = t };
		row->points[0].bits = row->points[1].bits = SLOPE_POINTS_EXACT;
	}
	for (uint32_t i = 1; i <= count; i++) {
		struct law law = make_law(r);

		if (random_below(r, 8))
			make_row(p, i, 0, POINTS, &law, r);
		else
			for (uint32_t t = 0; t < THREADS; t++)
				make_row(p, i, t, POINTS / THREADS, &law, r);
	}
	for (size_t i = THREADS; i < p->row_count; i++)
		p->row[p->row[i].thread].total[0] += p->row[i].self[0];
}

/* Callees come later than their callers, as in a program that was written top down; the thread calls function 1. */
static void make_edges(struct slope_profile *p, size_t count, struct random *r)
{
	for (uint32_t caller = 0; caller < count; caller++)
		for (unsigned k = 0; k < (caller ? EDGES : 1); k++) {
			struct slope_profile_edge *edge = checked(slope_build_edge(p));
			uint32_t ahead = (uint32_t)(count - caller) / EDGES;

			*edge = (struct slope_profile_edge){ .caller = caller, .thread = 0, .calls = 1 + random_below(r, 1000) };
			edge->callee = caller ? caller + 1 + k * ahead : 1;
			edge->cost[0] = edge->calls * (1 + random_below(r, 100000));
			if (edge->callee > count || (k && edge->callee == edge[-1].callee))
				p->edge_count--;
		}
}

int main(int argc, char **argv)
{
	struct slope_profile *p = checked(slope_build_profile());
	struct random r = { 1 };
	size_t count = argc == 3 ? strtoull(argv[1], NULL, 10) : 0;
	char error[256];

	if (!count)
		return fprintf(stderr, "usage: analysis FUNCTIONS FILE\n"), 2;
	p->source = text("synthetic");
	p->program = checked(calloc(2, sizeof(*p->program)));
	p->program[0] = text("/usr/bin/large");
	p->directory = text("/");
	p->created_by = text("bench/analysis");
	p->ended = text("exit");
	p->process = 1000;
	p->runs = p->units = 1;
	p->cell_bytes = 4;
	p->metrics = 1u << SLOPE_METRIC_TRMS;
	p->unit_name[0] = text("ir");
	p->max_points = SLOPE_POINTS_MAX_DEFAULT;
	p->symbolized = p->complete = true;
	make_functions(p, count, &r);
	make_rows(p, count, &r);
	make_edges(p, count, &r);
	if (!slope_profile_save(p, argv[2], error, sizeof(error)))
		return fprintf(stderr, "analysis: %s\n", error), 1;
	slope_profile_free(p);
	return 0;
}
