/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "analysis/match.h"
#include "report/functions.h"

struct slope_report_options slope_report_defaults(const struct slope_profile *p)
{
	return (struct slope_report_options){
		.metric = p->metrics == 1u << SLOPE_METRIC_RMS ? SLOPE_METRIC_RMS : SLOPE_METRIC_TRMS,
		.top = SLOPE_REPORT_TOP,
		.times = 10,
	};
}

struct slope_export_options slope_export_defaults(const struct slope_profile *p)
{
	return (struct slope_export_options){
		.metric = slope_report_defaults(p).metric, .k = p->context_count && !p->context_k ? UINT32_MAX : 0,
	};
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

const char *slope_report_short_file(const struct slope_profile *p, const struct slope_profile_function *f)
{
	const char *file = slope_report_file(p, f), *slash = file ? strrchr(file, '/') : NULL;

	return slash && file == f->file ? slash + 1 : file;
}

bool slope_report_is_named(const struct slope_profile_function *f, const char *name)
{
	return (f->name && !strcmp(f->name, name)) || (f->raw_name && !strcmp(f->raw_name, name));
}

const char *slope_report_metric_name(uint32_t metric)
{
	return metric == SLOPE_METRIC_RMS ? "rms" : "trms";
}

bool slope_report_is_coroutine(const struct slope_profile *p, size_t at)
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
		count += slope_report_is_coroutine(p, i);
	return count;
}

static int by_name(const void *a, const void *b)
{
	const struct slope_rank_row *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : (x->function > y->function) - (x->function < y->function);
}

static int compare(uint64_t x, uint64_t y, const void *a, const void *b)
{
	return x != y ? (x < y ? 1 : -1) : by_name(a, b);
}

static int by_total(const void *a, const void *b)
{
	const struct slope_rank_row *x = a, *y = b;

	return x->total != y->total ? (x->total < y->total ? 1 : -1) : compare(x->self, y->self, a, b);
}

static int by_self(const void *a, const void *b)
{
	return compare(((const struct slope_rank_row *)a)->self, ((const struct slope_rank_row *)b)->self, a, b);
}

static int by_calls(const void *a, const void *b)
{
	return compare(((const struct slope_rank_row *)a)->calls, ((const struct slope_rank_row *)b)->calls, a, b);
}

static int by_induced(const void *a, const void *b)
{
	const struct slope_rank_row *x = a, *y = b;
	uint64_t from = x->thread + x->external, to = y->thread + y->external;

	return from == to && x->trms != y->trms ? (x->trms > y->trms ? 1 : -1) : compare(from, to, a, b);
}

static void sort_rows(struct slope_report_rows *r, enum slope_report_sort sort)
{
	static int (*const order[])(const void *, const void *) = {
		[SLOPE_SORT_TOTAL] = by_total, [SLOPE_SORT_SELF] = by_self,
		[SLOPE_SORT_CALLS] = by_calls, [SLOPE_SORT_NAME] = by_name,
		[SLOPE_SORT_INDUCED] = by_induced,
	};

	if (sort != SLOPE_SORT_RANK)
		qsort(r->row, r->count, sizeof(*r->row), order[sort]);
}

bool slope_report_rows_init(struct slope_report_rows *r, const struct slope_profile *p, const struct slope_report_options *o)
{
	const struct slope_rank_options how = { .unit = o->unit, .metric = o->metric, .of = o->of, .times = o->times };

	*r = (struct slope_report_rows){ 0 };
	if (!slope_rank_init(&r->rank, p, &how))
		return false;
	r->row = r->rank.row;
	for (size_t i = 0; i < r->rank.count; i++) {
		if (!slope_match_filter(o->filter, r->row[i].name))
			continue;
		r->thread += r->row[i].thread;
		r->external += r->row[i].external;
		r->row[r->count++] = r->row[i];
	}
	sort_rows(r, o->sort);
	return true;
}

void slope_report_rows_fini(struct slope_report_rows *r)
{
	slope_rank_fini(&r->rank);
	*r = (struct slope_report_rows){ 0 };
}
