/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/pathcosts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_cdf.h>

#include "analysis/pathkinds.h"

#define MANY_SAMPLES 1000u       /* then Student's distribution is the normal one */

/* While rows are gathered, graph by graph. */
struct gathering {
	struct slope_pathcosts *c;
	const struct slope_profile_path **path;  /* those that count, in order */
	size_t paths;
	uint32_t *function_at;       /* 1 + position, by the profile's function */
	uint32_t *block, *edge;      /* of the path at hand */
	uint8_t *block_run, *edge_run;  /* of the graph at hand */
	struct slope_pathcosts_function *f;  /* its function */
	uint64_t to_entry;           /* executions of the graph that ended with an edge to its entry, which is cut */
};

static uint64_t times(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return product > UINT64_MAX ? UINT64_MAX : (uint64_t)product;
}

/* ---- one path ---- */

uint32_t slope_pathcosts_walk(const struct slope_profile_graph *g, uint64_t number, uint32_t stop, uint32_t *block, uint32_t *edge)
{
	uint32_t begin, blocks = 0, edges = slope_path_decode(&g->paths, number, &begin, edge, g->paths.vertices);

	if (!edges)
		return 0;
	block[blocks++] = begin;
	for (uint32_t i = 0; i + 1 < edges && block[blocks - 1] != stop; i++)
		block[blocks++] = g->paths.edge[edge[i]].to;
	return blocks;
}

/* Standard errors that 95 % of all means of so many samples are within. */
static double deviations(uint64_t samples)
{
	return gsl_cdf_tdist_Pinv(0.975, samples < MANY_SAMPLES ? (double)(samples - 1) : MANY_SAMPLES);
}

static struct slope_path_value estimate(const struct slope_path_metric *m, uint64_t samples, uint64_t count)
{
	long double n = (long double)samples, all = (long double)count;
	long double squares = (long double)m->sq_hi * 0x1p64L + (long double)m->sq_lo;
	long double mean = samples ? (long double)m->sum / n : NAN;
	struct slope_path_value v = { .value = (double)(mean * all), .error = samples ? 0 : NAN };

	if (!samples || samples >= count)
		return v;
	if (samples == 1) {
		v.error = NAN;
		return v;
	}
	long double variance = (squares - (long double)m->sum * mean) / (n - 1);

	v.error = variance > 0 ? deviations(samples) * (double)(all * sqrtl(variance / n * (1 - n / all))) : 0;
	return v;
}

static void add_metric(struct slope_path_metric *to, const struct slope_path_metric *from)
{
	uint64_t low = to->sq_lo + from->sq_lo;

	to->sum += from->sum;
	to->sq_hi += from->sq_hi + (low < from->sq_lo);
	to->sq_lo = low;
}

/* Errors of what is independent add up as squares; who ends the sum takes the root. */
static void add_value(struct slope_path_value *to, const struct slope_path_value *from)
{
	if (isnan(from->value))
		return;
	to->value += from->value;
	if (!isnan(from->error))
		to->error += from->error * from->error;
}

/* ---- gathering ---- */

static int by_path(const void *a, const void *b)
{
	const struct slope_profile_path *x = *(const struct slope_profile_path *const *)a;
	const struct slope_profile_path *y = *(const struct slope_profile_path *const *)b;

#define BY(field) if (x->field != y->field) return x->field < y->field ? -1 : 1;
	BY(graph) BY(number) BY(stop) BY(stop_instructions) BY(context) BY(thread)
#undef BY
	return 0;
}

static bool same_row(const struct slope_profile_path *a, const struct slope_profile_path *b, bool contexts)
{
	return a->graph == b->graph && a->number == b->number && a->stop == b->stop &&
	       a->stop_instructions == b->stop_instructions && (!contexts || a->context == b->context);
}

/* A row of these paths, which are one in all threads, and contexts perhaps. */
static void make_row(struct gathering *a, size_t first, size_t count, struct slope_pathcosts_row *row)
{
	const struct slope_profile_path *path = a->path[first];
	struct slope_path_metric sum[SLOPE_PATH_METRICS] = { 0 };

	*row = (struct slope_pathcosts_row){
		.graph = path->graph, .context = a->c->o.contexts ? path->context : SLOPE_CONTEXT_NONE, .stop = path->stop,
		.stop_instructions = path->stop_instructions, .number = path->number,
	};
	for (size_t i = first; i < first + count; i++) {
		row->count = slope_plus(row->count, a->path[i]->count);
		row->samples = slope_plus(row->samples, a->path[i]->samples);
		for (uint32_t m = 0; m < a->c->p->path_metrics; m++)
			add_metric(&sum[m], &a->path[i]->metric[m]);
	}
	for (uint32_t m = 0; m < SLOPE_PATH_METRICS; m++)
		row->value[m] = estimate(&sum[m], m < a->c->p->path_metrics ? row->samples : 0, row->count);
}

/* Its blocks: how many instructions, and that they were executed. */
static void walk(struct gathering *a, const struct slope_profile_graph *g, struct slope_pathcosts_row *row)
{
	bool stopped = row->stop != SLOPE_PATH_NOT_STOPPED;

	row->blocks = slope_pathcosts_walk(g, row->number, row->stop, a->block, a->edge);
	row->begin = a->block[0];
	for (uint32_t i = 0; i < row->blocks; i++) {
		bool last = i + 1 == row->blocks;

		row->each += stopped && last ? row->stop_instructions : g->block[a->block[i]].instructions;
		a->block_run[a->block[i]] = 1;
		if (!last || !stopped)
			a->edge_run[a->edge[i]] = 1;
	}
	row->instructions = times(row->each, row->count);
	if (row->blocks && !stopped) {
		const struct slope_path_edge *end = &g->paths.edge[a->edge[row->blocks - 1]];

		if (end->cut != SLOPE_PATH_WHOLE && end->to == 0)
			a->to_entry = slope_plus(a->to_entry, row->count);
	}
}

static void add_to_function(struct gathering *a, const struct slope_pathcosts_row *row)
{
	struct slope_pathcosts_function *f = a->f;
	const struct slope_profile_graph *g = &a->c->p->graph[row->graph];

	f->rows++;
	f->instructions = slope_plus(f->instructions, row->instructions);
	for (uint32_t m = 0; m < a->c->p->path_metrics; m++)
		add_value(&f->value[m], &row->value[m]);
	if (!isnan(slope_pathcosts_value(a->c, row->instructions, row->value)))
		f->measured = slope_plus(f->measured, row->instructions);
	if (row->stop != SLOPE_PATH_NOT_STOPPED)
		f->stopped = slope_plus(f->stopped, row->count);
	if (!row->begin && !(g->flags & SLOPE_GRAPH_PIECE))
		f->entries = slope_plus(f->entries, row->count);
}

static void begin_graph(struct gathering *a, const struct slope_profile_graph *g)
{
	memset(a->block_run, 0, g->paths.vertices);
	memset(a->edge_run, 0, g->paths.edges);
	a->to_entry = 0;
	a->f = &a->c->function[a->function_at[g->function] - 1];
}

static void end_graph(struct gathering *a, const struct slope_profile_graph *g)
{
	struct slope_pathcosts_function *f = a->f;

	for (uint32_t v = 0; v < g->paths.vertices; v++)
		f->blocks_run += a->block_run[v];
	for (uint32_t e = 0; e < g->paths.edges; e++)
		f->edges_run += a->edge_run[e] && g->way[e] != SLOPE_WAY_NOWHERE;
	if (!(g->flags & SLOPE_GRAPH_PIECE))
		f->entries -= a->to_entry < f->entries ? a->to_entry : f->entries;
}

/* All rows of all graphs. */
static void gather(struct gathering *a)
{
	struct slope_pathcosts *c = a->c;
	uint32_t graph = SLOPE_PATHS_ALL;

	for (size_t i = 0, count; i < a->paths; i += count) {
		struct slope_pathcosts_row *row = &c->row[c->rows++];
		const struct slope_profile_path *path = a->path[i];
		const struct slope_profile_graph *g = &c->p->graph[path->graph];

		for (count = 1; i + count < a->paths && same_row(path, a->path[i + count], c->o.contexts);)
			count++;
		if (path->graph != graph) {
			if (graph != SLOPE_PATHS_ALL)
				end_graph(a, &c->p->graph[graph]);
			begin_graph(a, g);
			graph = path->graph;
		}
		make_row(a, i, count, row);
		walk(a, g, row);
		add_to_function(a, row);
		if (path->stop == SLOPE_PATH_NOT_STOPPED && (!i || !same_row(a->path[i - 1], path, false))) {
			a->f->paths += path->number < g->paths.regular;
			a->f->inside += path->number >= g->paths.regular;
		}
	}
	if (graph != SLOPE_PATHS_ALL)
		end_graph(a, &c->p->graph[graph]);
}

/* ---- functions ---- */

static void list_functions(struct gathering *a)
{
	struct slope_pathcosts *c = a->c;

	for (size_t i = 0; i < c->p->graph_count; i++) {
		const struct slope_profile_graph *g = &c->p->graph[i];
		uint32_t *at = &a->function_at[g->function];

		if (!*at) {
			c->function[c->functions] = (struct slope_pathcosts_function){ .function = g->function };
			*at = (uint32_t)++c->functions;
		}
		struct slope_pathcosts_function *f = &c->function[*at - 1];

		f->graphs++;
		f->pieces += g->flags & SLOPE_GRAPH_PIECE;
		f->flags |= g->flags;
		f->cut_edges += g->paths.cut_edges;
		f->regular = slope_plus(f->regular, g->paths.regular);
		f->blocks += g->paths.vertices;
		for (uint32_t e = 0; e < g->paths.edges; e++)
			f->edges += g->way[e] != SLOPE_WAY_NOWHERE;
	}
}

static void add_repeats(struct gathering *a)
{
	struct slope_pathcosts *c = a->c;

	for (size_t i = 0; i < c->p->repeat_count; i++) {
		const struct slope_profile_repeat *r = &c->p->repeat[i];
		struct slope_pathcosts_function *f = &c->function[a->function_at[c->p->graph[r->graph].function] - 1];

		if (c->o.thread != SLOPE_PATHS_ALL && r->thread != c->o.thread)
			continue;
		f->repeats = slope_plus(f->repeats, r->count);
		f->instructions = slope_plus(f->instructions, r->count);
	}
}

/* ---- all of it ---- */

static bool prepare(struct gathering *a)
{
	struct slope_pathcosts *c = a->c;
	const struct slope_profile *p = c->p;
	size_t vertices = 1, edges = 1;

	for (size_t i = 0; i < p->graph_count; i++) {
		if (p->graph[i].paths.vertices > vertices)
			vertices = p->graph[i].paths.vertices;
		if (p->graph[i].paths.edges > edges)
			edges = p->graph[i].paths.edges;
	}
	a->path = malloc((p->path_count + 1) * sizeof(*a->path));
	a->function_at = calloc(p->function_count + 1, sizeof(*a->function_at));
	a->block = malloc(vertices * sizeof(*a->block));
	a->edge = malloc(vertices * sizeof(*a->edge));
	a->block_run = malloc(vertices);
	a->edge_run = malloc(edges);
	c->row = malloc((p->path_count + 1) * sizeof(*c->row));
	c->function = malloc((p->graph_count + 1) * sizeof(*c->function));
	return a->path && a->function_at && a->block && a->edge && a->block_run && a->edge_run && c->row && c->function;
}

/* Rows of one function only. */
static void keep_function(struct slope_pathcosts *c)
{
	size_t kept = 0;

	for (size_t i = 0; i < c->rows; i++)
		if (c->p->graph[c->row[i].graph].function == c->o.function)
			c->row[kept++] = c->row[i];
	c->rows = kept;
}

bool slope_pathcosts_init(struct slope_pathcosts *c, const struct slope_profile *p, const struct slope_pathcosts_options *o)
{
	struct gathering a = { .c = c };

	*c = (struct slope_pathcosts){ .p = p, .o = *o };
	bool good = prepare(&a);

	if (good) {
		for (size_t i = 0; i < p->path_count; i++)
			if (o->thread == SLOPE_PATHS_ALL || p->path[i].thread == o->thread)
				a.path[a.paths++] = &p->path[i];
		qsort(a.path, a.paths, sizeof(*a.path), by_path);
		list_functions(&a);
		gather(&a);
		add_repeats(&a);
		slope_pathkinds_of(c);
		if (o->function != SLOPE_PATHS_ALL)
			keep_function(c);
		slope_pathcosts_sort(c, SLOPE_PATHS_BY_SHARE);
	} else {
		slope_pathcosts_fini(c);
	}
	free(a.path);
	free(a.function_at);
	free(a.block);
	free(a.edge);
	free(a.block_run);
	free(a.edge_run);
	return good;
}

void slope_pathcosts_fini(struct slope_pathcosts *c)
{
	free(c->row);
	free(c->function);
	*c = (struct slope_pathcosts){ 0 };
}

const struct slope_pathcosts_function *slope_pathcosts_find(const struct slope_pathcosts *c, uint32_t function)
{
	for (size_t i = 0; i < c->functions; i++)
		if (c->function[i].function == function)
			return &c->function[i];
	return NULL;
}

uint8_t *slope_pathcosts_executed(const struct slope_pathcosts *c, uint32_t graph)
{
	const struct slope_profile_graph *g = &c->p->graph[graph];
	uint32_t *block = malloc(g->paths.vertices * sizeof(*block)), *edge = malloc(g->paths.vertices * sizeof(*edge));
	uint8_t *run = calloc(g->paths.vertices, 1);
	bool good = block && edge && run;

	for (size_t i = 0; good && i < c->p->path_count; i++) {
		const struct slope_profile_path *path = &c->p->path[i];

		if (path->graph != graph || (c->o.thread != SLOPE_PATHS_ALL && path->thread != c->o.thread))
			continue;
		for (uint32_t k = slope_pathcosts_walk(g, path->number, path->stop, block, edge); k-- > 0;)
			run[block[k]] = 1;
	}
	free(block);
	free(edge);
	if (good)
		return run;
	free(run);
	return NULL;
}
