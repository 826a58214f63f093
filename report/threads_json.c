/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `slope threads --json`, schema "slope-threads/1". Others rely on these keys:
 * new ones may come, none may go or change its meaning.
 */
#include <math.h>

#include "report/facts.h"
#include "report/functions.h"

static void put_busiest(struct slope_json *j, const struct slope_profile *p, const struct slope_thread_statistics *s)
{
	if (s->busiest == SLOPE_FN_ROOT) {
		slope_json_null(j, "busiest");
		return;
	}
	slope_json_object(j, "busiest", true);
	slope_json_string(j, "name", p->function[s->busiest].name);
	slope_json_uint(j, "self", s->busiest_self);
	slope_json_end(j);
}

static void put_threads(struct slope_json *j, const struct slope_profile *p, const struct slope_statistics *s)
{
	slope_json_array(j, "threads", false);
	for (size_t i = 0; i < p->thread_count; i++) {
		slope_json_object(j, NULL, true);
		slope_facts_thread(j, p, i);
		slope_json_real(j, "share", s->thread[i].known ? slope_share_of(s->thread[i].cost, s->cost) : NAN);
		put_busiest(j, p, &s->thread[i]);
		slope_json_end(j);
	}
	slope_json_end(j);
}

static void put_points(struct slope_json *j, const struct slope_statistics *s, const struct slope_function_statistics *f)
{
	slope_json_object(j, "points", true);
	for (uint32_t m = 0; m < SLOPE_METRICS; m++)
		if (s->metrics & 1u << m)
			slope_json_uint(j, slope_report_metric_name(m), f->sizes[m].points);
		else
			slope_json_null(j, slope_report_metric_name(m));
	slope_json_bool(j, "folded", f->sizes[SLOPE_METRIC_TRMS].bits < SLOPE_POINTS_EXACT ||
				     f->sizes[SLOPE_METRIC_RMS].bits < SLOPE_POINTS_EXACT);
	slope_json_end(j);
}

static void put_function(struct slope_json *j, const struct slope_profile *p, const struct slope_statistics *s,
			 const struct slope_rank_row *row)
{
	const struct slope_function_statistics *f = slope_statistics_find(s, row->function);

	slope_json_object(j, NULL, true);
	slope_facts_function(j, p, &p->function[row->function]);
	slope_json_uint(j, "calls", row->calls);
	slope_json_object(j, "cost", true);
	slope_json_uint(j, "total", row->total);
	slope_json_uint(j, "self", row->self);
	slope_json_uint(j, "costliest", f->costliest);
	slope_json_end(j);
	put_points(j, s, f);
	slope_facts_input(j, row->rms, row->trms, row->thread, row->external);
	for (int m = SLOPE_MEASURE_RICHNESS; m < SLOPE_MEASURES; m++)
		slope_json_real(j, slope_measure_name((enum slope_measure)m), slope_measure_of(s, f, (enum slope_measure)m));
	slope_json_uint(j, "threads", row->threads);
	slope_json_end(j);
}

static void put_all(struct slope_json *j, const struct slope_profile *p, const struct slope_report_options *o,
		    const struct slope_statistics *s, const struct slope_report_rows *r)
{
	slope_json_object(j, NULL, false);
	slope_json_string(j, "schema", "slope-threads/1");
	slope_facts_run(j, p);
	slope_json_string(j, "cost_unit", p->unit_name[o->unit]);
	slope_json_object(j, "cost", true);
	slope_json_uint(j, "total", s->cost);
	slope_json_uint(j, "self", r->rank.root_self);
	slope_json_end(j);
	put_threads(j, p, s);
	slope_facts_statistics(j, s);
	slope_json_uint(j, "function_count", r->count);
	slope_json_array(j, "functions", false);
	for (size_t i = 0; i < slope_report_rows_shown(r, o); i++)
		put_function(j, p, s, &r->row[i]);
	slope_json_end(j);
	slope_json_end(j);
}

bool slope_threads_json(const struct slope_profile *p, const struct slope_report_options *options, FILE *out)
{
	struct slope_report_options o = *options;
	struct slope_statistics s;
	struct slope_report_rows r;
	struct slope_json j;

	o.sort = SLOPE_SORT_INDUCED;
	if (!slope_statistics_init(&s, p, o.unit))
		return false;
	if (!slope_report_rows_init(&r, p, &o)) {
		slope_statistics_fini(&s);
		return false;
	}
	slope_json_init(&j, out);
	put_all(&j, p, &o, &s, &r);
	slope_report_rows_fini(&r);
	slope_statistics_fini(&s);
	return true;
}
