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

#include "analysis/curve.h"
#include "report/functions.h"
#include "report/json.h"

struct extrap {
	const struct slope_profile *p;
	const struct slope_export_options *o;
	struct slope_json j;
	bool *twin;                  /* by function: another one has its name */
	struct slope_curve first, next;  /* of the first function shown, and of another one */
	struct slope_extrap_notes *notes;
};

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
		named[i] = (struct named){ slope_profile_name(&e->p->function[i]), i };
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
	const char *name = f->name && f->name[0] ? f->name : "???", *module = slope_profile_module_of(e->p, f);
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

static void put_line(struct extrap *e, const char *callpath, const struct slope_curve_point *point, uint32_t unit)
{
	slope_json_object(&e->j, NULL, true);
	slope_json_object(&e->j, "params", true);
	slope_json_double(&e->j, "n", point->n);
	slope_json_end(&e->j);
	slope_json_string(&e->j, "callpath", callpath);
	slope_json_string(&e->j, "metric", e->p->unit_name[unit] ? e->p->unit_name[unit] : "cost");
	slope_json_double(&e->j, "value", point->cost[SLOPE_COST_MEAN]);
	slope_json_end(&e->j);
}

static bool same_sizes(const struct slope_curve *a, const struct slope_curve *b)
{
	for (size_t i = 0; i < a->count && i < b->count; i++)
		if (a->point[i].n != b->point[i].n)
			return false;
	return a->count == b->count;
}

/* False when memory runs out. Sizes are the same in every unit. */
static bool put_unit(struct extrap *e, struct slope_curve *curve, const char *callpath, uint32_t function, uint32_t unit)
{
	if (!slope_curve_load(curve, e->p, function, SLOPE_CURVE_ALL_THREADS, e->o->metric, unit))
		return false;
	for (size_t i = 0; i < curve->count; i++)
		put_line(e, callpath, &curve->point[i], unit);
	return true;
}

static bool put_function(struct extrap *e, uint32_t function)
{
	struct slope_curve *curve = e->notes->functions ? &e->next : &e->first;
	char *callpath = callpath_of(e, function);
	bool ok = callpath != NULL;

	for (uint32_t u = 0; ok && u < e->p->units; u++)
		ok = put_unit(e, curve, callpath, function, u);
	free(callpath);
	if (ok && curve->count && e->notes->functions++ && !same_sizes(&e->first, &e->next))
		e->notes->sizes_differ = true;
	return ok;
}

static bool is_wanted(const struct extrap *e, uint32_t function)
{
	const char *wanted = e->o->function;

	return function != SLOPE_FN_ROOT && (!wanted || slope_report_is_named(&e->p->function[function], wanted));
}

static bool put_functions(struct extrap *e)
{
	for (size_t i = 0; i < e->p->row_count; i++) {
		uint32_t function = e->p->row[i].function;

		if (i && e->p->row[i - 1].function == function)
			continue;
		if (is_wanted(e, function) && !put_function(e, function))
			return false;
	}
	return true;
}

bool slope_export_extrap(const struct slope_profile *p, const struct slope_export_options *o, FILE *out,
			 struct slope_extrap_notes *notes)
{
	struct extrap e = {
		.p = p, .o = o, .notes = notes, .first = slope_curve_none(), .next = slope_curve_none(),
		.twin = calloc(p->function_count + 1, sizeof(bool)),
	};
	bool ok;

	*notes = (struct slope_extrap_notes){ 0 };
	slope_json_init(&e.j, out);
	ok = e.twin && find_twins(&e) && put_functions(&e);
	free(e.twin);
	slope_curve_fini(&e.first);
	slope_curve_fini(&e.next);
	return ok;
}
