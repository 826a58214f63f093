/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "report/functions.h"

struct slope_report_options slope_report_defaults(const struct slope_profile *p)
{
	return (struct slope_report_options){
		.metric = p->metrics == 1u << SLOPE_METRIC_RMS ? SLOPE_METRIC_RMS : SLOPE_METRIC_TRMS,
		.top = SLOPE_REPORT_TOP,
	};
}

struct slope_export_options slope_export_defaults(const struct slope_profile *p)
{
	return (struct slope_export_options){ .metric = slope_report_defaults(p).metric };
}

double slope_report_share(uint64_t part, uint64_t whole)
{
	return part >= whole ? (part ? 1.0 : 0.0) : (double)part / (double)whole;
}

const char *slope_report_module(const struct slope_profile *p, const struct slope_profile_function *f)
{
	const char *path = f->module < p->module_count ? p->module[f->module].path : NULL;
	const char *slash = path ? strrchr(path, '/') : NULL;

	if (f->module == SLOPE_MODULE_NONE || !path)
		return "";
	return slash && slash[1] ? slash + 1 : path;
}

const char *slope_report_file(const struct slope_profile *p, const struct slope_profile_function *f)
{
	size_t bytes = p->directory ? strlen(p->directory) : 0;

	while (bytes && p->directory[bytes - 1] == '/')
		bytes--;
	if (f->file && bytes && !strncmp(f->file, p->directory, bytes) && f->file[bytes] == '/' && f->file[bytes + 1])
		return f->file + bytes + 1;
	return f->file;
}

bool slope_report_is_named(const struct slope_profile_function *f, const char *name)
{
	return (f->name && !strcmp(f->name, name)) || (f->raw_name && !strcmp(f->raw_name, name));
}

const char *slope_report_metric_name(uint32_t metric)
{
	return metric == SLOPE_METRIC_RMS ? "rms" : "trms";
}

/* Made by a thread and running on it, a coroutine has the system's number of that thread. */
static bool is_coroutine(const struct slope_profile *p, size_t at)
{
	const struct slope_profile_thread *t = &p->thread[at];
	uint32_t back = t->id - t->parent;   /* threads of a process stand in the order of their ids */

	if (!t->parent || t->parent >= t->id || back > at)
		return false;
	const struct slope_profile_thread *parent = &p->thread[at - back];

	return parent->id == t->parent && parent->process == t->process && parent->os_id == t->os_id;
}

size_t slope_report_coroutines(const struct slope_profile *p)
{
	size_t count = 0;

	for (size_t i = 0; i < p->thread_count; i++)
		count += is_coroutine(p, i);
	return count;
}

static bool passes(const char *name, const char *filter)
{
	if (!filter || !filter[0])
		return true;
	return strpbrk(filter, "*?[") ? !fnmatch(filter, name, 0) : strstr(name, filter) != NULL;
}

static int by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static size_t count_distinct(uint64_t *n, size_t count)
{
	size_t distinct = 0;

	qsort(n, count, sizeof(*n), by_number);
	for (size_t i = 0; i < count; i++)
		distinct += !i || n[i] != n[i - 1];
	return distinct;
}

/* The sizes of one function, whose rows are `count` from `rows` on; all at the coarsest grain of them. */
static bool merge_points(struct slope_report_row *to, const struct slope_profile *p, const struct slope_profile_row *rows,
			 size_t count, uint32_t metric)
{
	size_t sizes = 0;
	uint64_t *n;

	to->bits = SLOPE_POINTS_EXACT;
	for (size_t i = 0; i < count; i++) {
		const struct slope_profile_points *points = &rows[i].points[metric];

		sizes += points->count;
		if (points->count && points->bits < to->bits)
			to->bits = points->bits;
	}
	if (!sizes)
		return true;
	n = malloc(sizes * sizeof(*n));
	if (!n)
		return false;
	sizes = 0;
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < rows[i].points[metric].count; k++)
			n[sizes++] = slope_points_edge(slope_profile_point(p, &rows[i].points[metric], k)->n, to->bits);
	to->points = count_distinct(n, sizes);
	to->n_min = n[0];
	to->n_max = n[sizes - 1];
	free(n);
	return true;
}

static void add_row(struct slope_report_row *to, const struct slope_profile_row *from, uint32_t unit)
{
	to->calls += from->calls;
	to->total += from->total[unit];
	to->self += from->self[unit];
	to->rms += from->rms;
	to->trms += from->trms;
	to->thread += from->thread_input;
	to->external += from->external;
	to->threads++;
}

/* What all threads cost; their sum of self costs where the file has lost the threads' own rows. */
static void measure_program(struct slope_report_rows *r, const struct slope_profile *p, uint32_t unit)
{
	uint64_t root = 0, self = 0;

	for (size_t i = 0; i < p->row_count; i++) {
		self += p->row[i].self[unit];
		if (p->row[i].function == SLOPE_FN_ROOT) {
			root += p->row[i].total[unit];
			r->root_self += p->row[i].self[unit];
		}
	}
	r->program = root > self ? root : self;
}

static int by_name(const void *a, const void *b)
{
	const struct slope_report_row *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : (x->function > y->function) - (x->function < y->function);
}

static int compare(uint64_t x, uint64_t y, const void *a, const void *b)
{
	return x != y ? (x < y ? 1 : -1) : by_name(a, b);
}

static int by_total(const void *a, const void *b)
{
	const struct slope_report_row *x = a, *y = b;

	return x->total != y->total ? (x->total < y->total ? 1 : -1) : compare(x->self, y->self, a, b);
}

static int by_self(const void *a, const void *b)
{
	return compare(((const struct slope_report_row *)a)->self, ((const struct slope_report_row *)b)->self, a, b);
}

static int by_calls(const void *a, const void *b)
{
	return compare(((const struct slope_report_row *)a)->calls, ((const struct slope_report_row *)b)->calls, a, b);
}

static void sort_rows(struct slope_report_rows *r, enum slope_report_sort sort)
{
	static int (*const order[])(const void *, const void *) = {
		[SLOPE_SORT_TOTAL] = by_total, [SLOPE_SORT_SELF] = by_self,
		[SLOPE_SORT_CALLS] = by_calls, [SLOPE_SORT_NAME] = by_name,
	};

	qsort(r->row, r->count, sizeof(*r->row), order[sort]);
}

/* The profile's rows are sorted by function: one run of them makes one row here. */
bool slope_report_rows_init(struct slope_report_rows *r, const struct slope_profile *p, const struct slope_report_options *o)
{
	*r = (struct slope_report_rows){ .row = calloc(p->row_count + 1, sizeof(*r->row)) };
	if (!r->row)
		return false;
	measure_program(r, p, o->unit);
	for (size_t i = 0, next; i < p->row_count; i = next) {
		uint32_t function = p->row[i].function;
		const char *name = p->function[function].name;
		struct slope_report_row *to = &r->row[r->count];

		for (next = i + 1; next < p->row_count && p->row[next].function == function; next++)
			;
		if (function == SLOPE_FN_ROOT || !passes(name ? name : "", o->filter))
			continue;
		*to = (struct slope_report_row){ .function = function, .name = name ? name : "" };
		for (size_t k = i; k < next; k++)
			add_row(to, &p->row[k], o->unit);
		if (!merge_points(to, p, p->row + i, next - i, o->metric)) {
			slope_report_rows_fini(r);
			return false;
		}
		r->thread += to->thread;
		r->external += to->external;
		r->count++;
	}
	sort_rows(r, o->sort);
	return true;
}

void slope_report_rows_fini(struct slope_report_rows *r)
{
	free(r->row);
	*r = (struct slope_report_rows){ 0 };
}
