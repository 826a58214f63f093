/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `slope report --json`, schema "slope-report/1". Others rely on these keys: new
 * ones may come, none may go or change its meaning.
 */
#include <stdlib.h>

#include "analysis/contrast.h"
#include "report/facts.h"
#include "report/functions.h"
#include "report/growth_json.h"
#include "report/path_link.h"

static void put_sizes(struct slope_json *j, const struct slope_rank_row *row)
{
	slope_json_uint(j, "points", row->points);
	slope_json_bool(j, "folded", row->bits < SLOPE_POINTS_EXACT);
	if (!row->points) {
		slope_json_null(j, "n");
		return;
	}
	slope_json_object(j, "n", true);
	slope_json_uint(j, "min", row->n_min);
	slope_json_uint(j, "max", row->n_max);
	slope_json_end(j);
}

/* Null where points were not recorded by context. */
static bool put_contexts(struct slope_json *j, const struct slope_profile *p, const struct slope_rank_row *row,
			 const struct slope_report_options *o)
{
	struct slope_contrast v;

	if (!p->variant_count) {
		slope_json_null(j, "by_context");
		return true;
	}
	if (!slope_contrast_init(&v, p, row->function, 0, o->metric, o->unit, false))
		return false;
	char *text = slope_contrast_text(&v, p);

	slope_json_object(j, "by_context", true);
	slope_json_uint(j, "k", v.k);
	slope_json_bool(j, "differ", v.differ);
	slope_json_string(j, "text", v.differ ? text : NULL);
	slope_json_end(j);
	slope_contrast_fini(&v);
	free(text);
	return text;
}

static bool put_function(struct slope_json *j, const struct slope_profile *p, const struct slope_rank_row *row,
			 const struct slope_report_options *o, struct slope_blocklines *lines)
{
	char later[32];
	const struct slope_profile_function *f = &p->function[row->function];

	slope_json_object(j, NULL, true);
	slope_facts_function(j, p, f);
	slope_json_uint(j, "calls", row->calls);
	slope_json_object(j, "cost", true);
	slope_json_uint(j, "total", row->total);
	slope_json_uint(j, "self", row->self);
	slope_json_end(j);
	put_sizes(j, row);
	slope_facts_input(j, row->rms, row->trms, row->thread, row->external);
	slope_json_uint(j, "threads", row->threads);
	slope_growth_json(j, "growth", &row->growth);
	slope_json_object(j, "share", true);
	slope_json_real(j, "now", row->share);
	snprintf(later, sizeof(later), "at_%gx", o->times);
	slope_json_real(j, later, row->later);
	slope_json_end(j);
	slope_json_string(j, "group", slope_group_name(row->group));
	slope_json_real(j, "score", row->score);
	slope_json_bool(j, "ramp", row->ramp);
	slope_json_string(j, "via", row->via == SLOPE_FN_NONE ? NULL : p->function[row->via].name);
	struct slope_path_link link = { p, row->function, o->metric, o->unit, lines, o->ascii };
	bool ok = put_contexts(j, p, row, o);

	if (row->group == SLOPE_GROUP_HURTS)
		ok &= slope_path_link_json(&link, j, "path");
	else
		slope_json_null(j, "path");
	slope_json_end(j);
	return ok;
}

bool slope_report_json(const struct slope_profile *p, const struct slope_report_options *o, FILE *out)
{
	struct slope_report_rows r;
	struct slope_blocklines *lines = slope_blocklines_new(p, NULL);
	struct slope_json j;
	bool ok = true;

	if (!lines || !slope_report_rows_init(&r, p, o)) {
		slope_blocklines_free(lines);
		return false;
	}
	slope_json_init(&j, out);
	slope_json_object(&j, NULL, false);
	slope_json_string(&j, "schema", "slope-report/1");
	slope_facts_run(&j, p);
	slope_json_string(&j, "cost_unit", p->unit_name[o->unit]);
	slope_json_string(&j, "input_metric", slope_report_metric_name(o->metric));
	slope_json_string(&j, "statistic", slope_statistic_name(o->of));
	slope_json_real(&j, "times", o->times);
	slope_json_object(&j, "cost", true);
	slope_json_uint(&j, "total", r.rank.program);
	slope_json_uint(&j, "self", r.rank.root_self);
	slope_json_end(&j);
	slope_facts_threads(&j, p);
	slope_facts_modules(&j, p);
	slope_json_uint(&j, "function_count", r.count);
	slope_json_array(&j, "functions", false);
	for (size_t i = 0; i < slope_report_rows_shown(&r, o); i++)
		ok &= put_function(&j, p, &r.row[i], o, lines);
	slope_json_end(&j);
	slope_json_end(&j);
	slope_report_rows_fini(&r);
	slope_blocklines_free(lines);
	return ok;
}
