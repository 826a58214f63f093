/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/pathgrowth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/pathcosts.h"
#include "analysis/sizebins.h"

/* While a function is looked at. */
struct search {
	const struct slope_profile *p;
	uint32_t function;
	const struct slope_profile_path **path;  /* of this function that came to their end, by graph and number */
	size_t paths;
	uint32_t *block, *edge;      /* of the path at hand */
	struct slope_sizebins *sizes;
	struct slope_curve curve;
};

static int by_number(const void *a, const void *b)
{
	const struct slope_profile_path *x = *(const struct slope_profile_path *const *)a;
	const struct slope_profile_path *y = *(const struct slope_profile_path *const *)b;

	if (x->graph != y->graph)
		return x->graph < y->graph ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

static uint64_t length_of(struct search *s, uint32_t graph, uint64_t number)
{
	const struct slope_profile_graph *g = &s->p->graph[graph];
	uint64_t sum = 0;

	for (uint32_t i = slope_pathcosts_walk(g, number, SLOPE_PATH_NOT_STOPPED, s->block, s->edge); i-- > 0;)
		sum += g->block[s->block[i]].instructions;
	return sum;
}

static bool prepare(struct search *s)
{
	size_t vertices = 1;

	for (size_t i = 0; i < s->p->graph_count; i++)
		if (s->p->graph[i].function == s->function && s->p->graph[i].paths.vertices > vertices)
			vertices = s->p->graph[i].paths.vertices;
	s->block = malloc(vertices * sizeof(*s->block));
	s->edge = malloc(vertices * sizeof(*s->edge));
	s->path = malloc((s->p->path_count + 1) * sizeof(*s->path));
	s->sizes = malloc(sizeof(*s->sizes));
	if (!s->block || !s->edge || !s->path || !s->sizes)
		return false;
	for (size_t i = 0; i < s->p->path_count; i++) {
		const struct slope_profile_path *path = &s->p->path[i];

		if (s->p->graph[path->graph].function == s->function && path->stop == SLOPE_PATH_NOT_STOPPED)
			s->path[s->paths++] = path;
	}
	qsort(s->path, s->paths, sizeof(*s->path), by_number);
	return true;
}

/* Activations of the function, in all threads. */
static double calls_of(const struct search *s)
{
	size_t rows;
	const struct slope_profile_row *row = slope_curve_rows(s->p, s->function, &rows);
	double calls = 0;

	for (size_t i = 0; i < rows; i++)
		calls += (double)row[i].calls;
	return calls > 0 ? calls : NAN;
}

/* The path with the most instructions, or what the one that is given has. */
static void measure(struct search *s, struct slope_pathgrowth *g, bool given)
{
	double all = 0, most = 0, executions = 0;

	for (size_t i = 0, next; i < s->paths; i = next) {
		const struct slope_profile_path *path = s->path[i];
		uint64_t each = length_of(s, path->graph, path->number);
		double count = 0;

		for (next = i; next < s->paths && !by_number(&s->path[i], &s->path[next]); next++)
			count += (double)s->path[next]->count;
		all += count * (double)each;
		if (given ? path->graph == g->graph && path->number == g->number : !g->found || count * (double)each > most) {
			g->found = true;
			g->graph = path->graph;
			g->number = path->number;
			g->each = each;
			most = count * (double)each;
			executions = count;
		}
	}
	g->share = all > 0 ? most / all : NAN;
	g->per_call = executions / calls_of(s);
}

/* Executions of one path in each bin, from row `i` of p->path_size on; the row behind the last. */
static size_t gather(const struct search *s, size_t i, double *executions)
{
	const struct slope_profile_path_size *first = &s->p->path_size[i];

	memset(executions, 0, s->sizes->count * sizeof(*executions));
	for (; i < s->p->path_size_count; i++) {
		const struct slope_profile_path_size *row = &s->p->path_size[i];
		uint64_t edge = slope_points_edge(row->n, s->sizes->bits);
		size_t at = slope_sizebins_find(s->sizes, edge);

		if (row->graph != first->graph || row->number != first->number)
			break;
		if (at < s->sizes->count && s->sizes->edge[at] == edge)
			executions[at] += (double)row->executions;
	}
	return i;
}

/* The path whose instructions rise most from the smallest to the largest sizes; false: none does. */
static bool find_steepest(struct search *s, struct slope_pathgrowth *g, double *best)
{
	const struct slope_sizebins *sizes = s->sizes;
	double executions[SLOPE_SIZEBINS_MAX], most = 0, all = 0;
	bool wide = sizes->count >= 4 && sizes->n[sizes->count - 1] >= SLOPE_SIZEBINS_RANGE * fmax(sizes->n[0], 1);

	for (size_t i = 0; wide && i < s->p->path_size_count;) {
		const struct slope_profile_path_size *row = &s->p->path_size[i];

		if (s->p->graph[row->graph].function != s->function) {
			i++;
			continue;
		}
		i = gather(s, i, executions);
		double rise = slope_sizebins_end(sizes, executions, sizes->activations, true) -
			      slope_sizebins_end(sizes, executions, sizes->activations, false);

		rise *= (double)length_of(s, row->graph, row->number);
		if (rise > 0)
			all += rise;
		if (rise > most) {
			most = rise;
			g->graph = row->graph;
			g->number = row->number;
			memcpy(best, executions, sizes->count * sizeof(*best));
		}
	}
	g->of_growth = all > 0 ? most / all : NAN;
	return most > 0;
}

static bool look_at_sizes(struct search *s, struct slope_pathgrowth *g, uint32_t metric, uint32_t unit)
{
	double executions[SLOPE_SIZEBINS_MAX] = { 0 };

	if (!slope_curve_load(&s->curve, s->p, s->function, SLOPE_CURVE_ALL_THREADS, metric, unit))
		return false;
	slope_sizebins_init(s->sizes, &s->curve);
	g->by_size = find_steepest(s, g, executions);
	if (!g->by_size)
		return true;
	slope_sizebins_fit(s->sizes, executions, s->sizes->activations, &s->curve, &g->growth);
	g->rise = slope_sizebins_rise(s->sizes, executions, s->sizes->activations);
	g->top = slope_sizebins_end(s->sizes, executions, s->sizes->activations, true);
	return true;
}

bool slope_pathgrowth_of(struct slope_pathgrowth *g, const struct slope_profile *p, uint32_t function, uint32_t metric,
			 uint32_t unit)
{
	struct search s = { .p = p, .function = function, .curve = slope_curve_none() };
	bool ok = true;

	memset(g, 0, sizeof(*g));
	g->share = g->per_call = g->of_growth = g->rise = g->top = NAN;
	if (!p->path_count)
		return true;
	ok = prepare(&s);
	if (ok && p->path_size_count)
		ok = look_at_sizes(&s, g, metric, unit);
	if (ok)
		measure(&s, g, g->by_size);
	if (ok && g->by_size && !g->found) {     /* a damaged profile: its counts are lost */
		g->by_size = false;
		measure(&s, g, false);
	}
	slope_curve_fini(&s.curve);
	free(s.path);
	free(s.block);
	free(s.edge);
	free(s.sizes);
	return ok;
}
