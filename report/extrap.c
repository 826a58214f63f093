/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `slope export --format=extrap`: the JSON Lines that Extra-P reads. A function
 * is a callpath, its input size the parameter n, a cost unit a metric, and the
 * value is the mean cost, callees included, of the calls with that size.
 * Points of several threads become one per size, at the coarsest grain of them.
 *
 * Extra-P takes "->" for a step in a calling context, so that "->" in a name
 * becomes "- >"; and it knows a callpath by its name alone, so that functions
 * of one name get their place behind it.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/functions.h"
#include "report/json.h"

/* Points of one size, of all threads. */
struct group {
	uint64_t n, calls, sum[SLOPE_UNITS_MAX];
};

struct groups {
	struct group *group;
	size_t count, capacity;
};

struct extrap {
	const struct slope_profile *p;
	const struct slope_export_options *o;
	struct slope_json j;
	bool *twin;                  /* by function: another one has its name */
	struct groups first, next;   /* of the first function shown, and of another one */
	struct slope_extrap_notes *notes;
};

static int by_size(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	return (x->n > y->n) - (x->n < y->n);
}

static bool make_room(struct groups *g, size_t count)
{
	struct group *more;

	g->count = 0;
	if (count <= g->capacity)
		return true;
	more = realloc(g->group, count * sizeof(*more));
	if (!more)
		return false;
	g->group = more;
	g->capacity = count;
	return true;
}

static void take_point(struct groups *g, const struct slope_point *point, uint32_t units, uint32_t bits)
{
	struct group *to = &g->group[g->count++];

	*to = (struct group){ .n = slope_points_edge(point->n, bits), .calls = point->calls };
	for (uint32_t u = 0; u < units; u++)
		to->sum[u] = point->cost[u].sum;
}

/* Neighbours of one size become one. */
static void join(struct groups *g, uint32_t units)
{
	size_t kept = 0;

	qsort(g->group, g->count, sizeof(*g->group), by_size);
	for (size_t i = 0; i < g->count; i++) {
		if (!kept || g->group[kept - 1].n != g->group[i].n) {
			g->group[kept++] = g->group[i];
			continue;
		}
		g->group[kept - 1].calls += g->group[i].calls;
		for (uint32_t u = 0; u < units; u++)
			g->group[kept - 1].sum[u] += g->group[i].sum[u];
	}
	g->count = kept;
}

/* The points of one function, whose rows are `count` from `row` on. False when memory runs out. */
static bool gather(struct extrap *e, struct groups *g, const struct slope_profile_row *row, size_t count)
{
	uint32_t bits = SLOPE_POINTS_EXACT;
	size_t points = 0;

	for (size_t i = 0; i < count; i++) {
		const struct slope_profile_points *from = &row[i].points[e->o->metric];

		points += from->count;
		if (from->count && from->bits < bits)
			bits = from->bits;
	}
	if (!make_room(g, points))
		return false;
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < row[i].points[e->o->metric].count; k++)
			take_point(g, slope_profile_point(e->p, &row[i].points[e->o->metric], k), e->p->units, bits);
	if (points)
		join(g, e->p->units);
	return true;
}

/* ---- names ---- */

struct named {
	const char *name;
	size_t function;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

static bool find_twins(struct extrap *e)
{
	size_t count = e->p->function_count;
	struct named *named = calloc(count + 1, sizeof(*named));

	if (!named)
		return false;
	for (size_t i = 0; i < count; i++)
		named[i] = (struct named){ e->p->function[i].name ? e->p->function[i].name : "", i };
	qsort(named, count, sizeof(*named), by_name);
	for (size_t i = 1; i < count; i++)
		if (!by_name(&named[i - 1], &named[i]))
			e->twin[named[i - 1].function] = e->twin[named[i].function] = true;
	free(named);
	return true;
}

/* A copy for free(); NULL when memory runs out. */
static char *callpath_of(const struct extrap *e, uint32_t function)
{
	const struct slope_profile_function *f = &e->p->function[function];
	const char *name = f->name && f->name[0] ? f->name : "???", *module = slope_report_module(e->p, f);
	size_t bytes = 2 * strlen(name) + strlen(module) + 32;
	char *path = malloc(bytes), *to = path;

	if (!path)
		return NULL;
	for (; *name; name++) {
		*to++ = *name;
		if (name[0] == '-' && name[1] == '>')
			*to++ = ' ';
	}
	*to = 0;
	if (e->twin[function])
		snprintf(to, bytes - (size_t)(to - path), " (%s+0x%" PRIx64 ")", module, f->offset);
	return path;
}

/* ---- lines ---- */

static void put_line(struct extrap *e, const char *callpath, const struct group *g, uint32_t unit)
{
	slope_json_object(&e->j, NULL, true);
	slope_json_object(&e->j, "params", true);
	slope_json_uint(&e->j, "n", g->n);
	slope_json_end(&e->j);
	slope_json_string(&e->j, "callpath", callpath);
	slope_json_string(&e->j, "metric", e->p->unit_name[unit] ? e->p->unit_name[unit] : "cost");
	slope_json_mean(&e->j, "value", g->sum[unit], g->calls);
	slope_json_end(&e->j);
}

static bool same_sizes(const struct groups *a, const struct groups *b)
{
	for (size_t i = 0; i < a->count && i < b->count; i++)
		if (a->group[i].n != b->group[i].n)
			return false;
	return a->count == b->count;
}

static bool put_function(struct extrap *e, const struct slope_profile_row *row, size_t count)
{
	struct groups *g = e->notes->functions ? &e->next : &e->first;
	char *callpath;

	if (!gather(e, g, row, count))
		return false;
	if (!g->count)
		return true;
	callpath = callpath_of(e, row->function);
	if (!callpath)
		return false;
	for (uint32_t u = 0; u < e->p->units; u++)
		for (size_t i = 0; i < g->count; i++)
			put_line(e, callpath, &g->group[i], u);
	free(callpath);
	if (e->notes->functions++ && !same_sizes(&e->first, &e->next))
		e->notes->sizes_differ = true;
	return true;
}

static bool is_wanted(const struct extrap *e, uint32_t function)
{
	const char *wanted = e->o->function;

	return function != SLOPE_FN_ROOT && (!wanted || slope_report_is_named(&e->p->function[function], wanted));
}

static bool put_functions(struct extrap *e)
{
	const struct slope_profile *p = e->p;

	for (size_t i = 0, next; i < p->row_count; i = next) {
		for (next = i + 1; next < p->row_count && p->row[next].function == p->row[i].function; next++)
			;
		if (is_wanted(e, p->row[i].function) && !put_function(e, p->row + i, next - i))
			return false;
	}
	return true;
}

bool slope_export_extrap(const struct slope_profile *p, const struct slope_export_options *o, FILE *out,
			 struct slope_extrap_notes *notes)
{
	struct extrap e = { .p = p, .o = o, .notes = notes, .twin = calloc(p->function_count + 1, sizeof(bool)) };
	bool ok;

	*notes = (struct slope_extrap_notes){ 0 };
	slope_json_init(&e.j, out);
	ok = e.twin && find_twins(&e) && put_functions(&e);
	free(e.twin);
	free(e.first.group);
	free(e.next.group);
	return ok;
}
