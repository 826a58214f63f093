/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A profile of calls that a test plays: enter a function, let it work, leave it
 * and say what n was. Rows, points, edges and their sizes come out as a source
 * would have them, counted in the plainest way.
 */
#ifndef SLOPE_TESTS_CALLS_SAMPLE_H
#define SLOPE_TESTS_CALLS_SAMPLE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "profile/profile.h"

#define CALLS_FUNCTIONS 24u
#define CALLS_DEPTH 512u
#define CALLS_BITS 3u            /* as the core folds the sizes of edges */

struct calls_frame {
	uint32_t function;
	uint64_t self, below;
	struct {
		uint64_t calls, cost;
	} callee[CALLS_FUNCTIONS];
};

struct calls {
	struct slope_profile *p;
	uint32_t thread;
	size_t depth;
	struct calls_frame frame[CALLS_DEPTH];
};

static inline void *calls_more(void *array, size_t count, size_t bytes)
{
	char *more = realloc(array, (count + 1) * bytes);

	assert_non_null(more);
	memset(more + count * bytes, 0, bytes);
	return more;
}

static inline uint32_t calls_function(struct calls *c, const char *name)
{
	struct slope_profile *p = c->p;

	assert_true(p->function_count < CALLS_FUNCTIONS);
	p->function = calls_more(p->function, p->function_count, sizeof(*p->function));
	p->function[p->function_count] = (struct slope_profile_function){
		.module = p->function_count ? 1 : 0, .offset = p->function_count * 16, .raw_name = strdup(name), .name = strdup(name),
	};
	return (uint32_t)p->function_count++;
}

static inline struct slope_profile_row *calls_row(struct slope_profile *p, uint32_t function, uint32_t thread)
{
	for (size_t i = 0; i < p->row_count; i++)
		if (p->row[i].function == function && p->row[i].thread == thread)
			return &p->row[i];
	p->row = calls_more(p->row, p->row_count, sizeof(*p->row));
	p->row[p->row_count] = (struct slope_profile_row){
		.function = function, .thread = thread, .points = { { .bits = SLOPE_POINTS_EXACT }, { .bits = SLOPE_POINTS_EXACT } },
	};
	return &p->row[p->row_count++];
}

static inline struct slope_profile_edge *calls_edge(struct slope_profile *p, uint32_t caller, uint32_t callee, uint32_t thread)
{
	for (size_t i = 0; i < p->edge_count; i++)
		if (p->edge[i].caller == caller && p->edge[i].callee == callee && p->edge[i].thread == thread)
			return &p->edge[i];
	p->edge = calls_more(p->edge, p->edge_count, sizeof(*p->edge));
	p->edge[p->edge_count] = (struct slope_profile_edge){
		.caller = caller, .callee = callee, .thread = thread, .sizes.bits = CALLS_BITS,
	};
	return &p->edge[p->edge_count++];
}

static inline void calls_add_point(struct slope_profile_points *points, uint64_t n, uint64_t cost)
{
	size_t bytes = slope_point_bytes(1), at = 0;

	while (at < points->count && ((struct slope_point *)(points->rows + at * bytes))->n < n)
		at++;
	struct slope_point *row = (struct slope_point *)(points->rows + at * bytes);

	if (at == points->count || row->n != n) {
		points->rows = calls_more(points->rows, points->count, bytes);
		row = (struct slope_point *)(points->rows + at * bytes);
		memmove((char *)row + bytes, row, (points->count++ - at) * bytes);
		memset(row, 0, bytes);
		row->n = n;
		row->cost[0].min = UINT64_MAX;
	}
	row->calls++;
	slope_stat_add(&row->cost[0], cost);
}

static inline void calls_add_size(struct slope_profile_sizes *sizes, uint64_t n, uint64_t calls, uint64_t cost)
{
	uint64_t edge = slope_points_edge(n, CALLS_BITS);
	size_t at = 0;

	while (at < sizes->count && sizes->row[at].n < edge)
		at++;
	if (at == sizes->count || sizes->row[at].n != edge) {
		sizes->row = calls_more(sizes->row, sizes->count, sizeof(*sizes->row));
		memmove(&sizes->row[at + 1], &sizes->row[at], (sizes->count++ - at) * sizeof(*sizes->row));
		sizes->row[at] = (struct slope_profile_size){ .n = edge };
	}
	sizes->row[at].activations++;
	sizes->row[at].calls += calls;
	sizes->row[at].cost[0] += cost;
}

static inline void calls_enter(struct calls *c, uint32_t function)
{
	assert_true(c->depth < CALLS_DEPTH);
	memset(&c->frame[c->depth], 0, sizeof(*c->frame));
	c->frame[c->depth++].function = function;
}

static inline void calls_work(struct calls *c, uint64_t cost)
{
	c->frame[c->depth - 1].self += cost;
}

static inline bool calls_is_outermost(const struct calls *c, uint32_t function)
{
	for (size_t i = 0; i < c->depth; i++)
		if (c->frame[i].function == function)
			return false;
	return true;
}

/* Ends the topmost activation, which had n cells of input. */
static inline void calls_leave(struct calls *c, uint64_t n)
{
	struct calls_frame *f = &c->frame[--c->depth];
	struct slope_profile_row *row = calls_row(c->p, f->function, c->thread);
	uint64_t total = f->self + f->below;
	bool outermost = calls_is_outermost(c, f->function);

	row->calls++;
	row->self[0] += f->self;
	row->total[0] += outermost ? total : 0;
	row->rms += n;
	row->trms += n;
	if (f->function != SLOPE_FN_ROOT)
		calls_add_point(&row->points[SLOPE_METRIC_TRMS], n, total);
	for (uint32_t k = 0; k < c->p->function_count; k++)
		if (f->callee[k].calls)
			calls_add_size(&calls_edge(c->p, f->function, k, c->thread)->sizes, n, f->callee[k].calls, f->callee[k].cost);
	if (!c->depth)
		return;
	struct calls_frame *caller = &c->frame[c->depth - 1];
	struct slope_profile_edge *edge = calls_edge(c->p, caller->function, f->function, c->thread);

	caller->below += total;
	caller->callee[f->function].calls++;
	caller->callee[f->function].cost += total;
	edge->calls++;
	edge->cost[0] += outermost ? total : 0;
}

/* A call that calls nothing. */
static inline void calls_leaf(struct calls *c, uint32_t function, uint64_t n, uint64_t cost)
{
	calls_enter(c, function);
	calls_work(c, cost);
	calls_leave(c, n);
}

/* Ends the thread that runs and begins another. */
static inline void calls_next_thread(struct calls *c)
{
	struct slope_profile *p = c->p;

	if (p->thread_count)
		calls_leave(c, 0);
	assert_int_equal(c->depth, 0);
	c->thread = (uint32_t)p->thread_count;
	p->thread = calls_more(p->thread, p->thread_count, sizeof(*p->thread));
	p->thread[p->thread_count++] = (struct slope_profile_thread){ .id = c->thread + 1, .name = strdup("") };
	calls_enter(c, SLOPE_FN_ROOT);
}

static inline struct calls *calls_new(void)
{
	struct calls *c = calloc(1, sizeof(*c));

	assert_non_null(c);
	c->p = calloc(1, sizeof(*c->p));
	assert_non_null(c->p);
	*c->p = (struct slope_profile){ .source = strdup("replay"), .runs = 1, .cell_bytes = 4, .units = 1,
					.unit_name = { strdup("ir") }, .metrics = 1u << SLOPE_METRIC_TRMS,
					.complete = true, .symbolized = true };
	c->p->module = calloc(2, sizeof(*c->p->module));
	assert_non_null(c->p->module);
	c->p->module_count = 2;
	c->p->module[0].path = strdup("");
	c->p->module[1].path = strdup("/home/ada/made");
	calls_function(c, "(thread)");
	calls_next_thread(c);
	return c;
}

static inline int calls_by_row(const void *a, const void *b)
{
	const struct slope_profile_row *x = a, *y = b;

	return x->function != y->function ? (x->function > y->function ? 1 : -1) :
	       (x->thread > y->thread) - (x->thread < y->thread);
}

static inline int calls_by_edge(const void *a, const void *b)
{
	const struct slope_profile_edge *x = a, *y = b;

	if (x->caller != y->caller)
		return x->caller > y->caller ? 1 : -1;
	return x->callee != y->callee ? (x->callee > y->callee ? 1 : -1) : (x->thread > y->thread) - (x->thread < y->thread);
}

/* All calls have been played. The profile is for slope_profile_free. */
static inline struct slope_profile *calls_end(struct calls *c)
{
	struct slope_profile *p = c->p;

	calls_leave(c, 0);
	assert_int_equal(c->depth, 0);
	qsort(p->row, p->row_count, sizeof(*p->row), calls_by_row);
	if (p->edge_count)
		qsort(p->edge, p->edge_count, sizeof(*p->edge), calls_by_edge);
	free(c);
	return p;
}

#endif
