/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `slope paths --json`, schema "slope-paths/1". Others rely on these keys: new
 * ones may come, none may go or change its meaning.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/statistics.h"
#include "report/facts.h"
#include "report/path_steps.h"
#include "report/paths_view.h"

#define CALLERS_MAX 1000u

static void put_value(struct slope_json *j, const char *key, const struct slope_path_value *value, double whole)
{
	slope_json_object(j, key, true);
	slope_json_real(j, "value", value->value);
	slope_json_real(j, "error", value->error);
	slope_json_real(j, "share", whole > 0 ? value->value / whole : NAN);
	slope_json_end(j);
}

static void put_values(struct slope_json *j, const struct slope_paths_view *v, const struct slope_path_value *value)
{
	slope_json_object(j, "metrics", true);
	for (uint32_t m = 0; m < v->p->path_metrics; m++)
		put_value(j, v->p->path_metric_name[m], &value[m], v->c.value[m].value);
	slope_json_end(j);
}

/* ---- the run ---- */

static void put_recorded(struct slope_json *j, const struct slope_paths_view *v)
{
	const struct slope_profile *p = v->p;

	slope_json_object(j, "recorded", true);
	slope_json_array(j, "metrics", true);
	for (uint32_t m = 0; m < p->path_metrics; m++)
		slope_json_string(j, NULL, p->path_metric_name[m]);
	slope_json_end(j);
	if (p->path_period)
		slope_json_uint(j, "period", p->path_period);
	else
		slope_json_null(j, "period");
	bool contexts = false;

	for (size_t i = 0; i < p->path_count && !contexts; i++)
		contexts = p->path[i].context != SLOPE_CONTEXT_NONE;
	slope_json_bool(j, "contexts", contexts);
	slope_json_bool(j, "sizes", p->path_size_count != 0);
	slope_json_bool(j, "paths_only", slope_profile_paths_only(p));
	slope_json_end(j);
}

static void put_group(struct slope_json *j, const struct slope_paths_view *v, const char *key, struct slope_pathcosts_group g,
		      bool functions)
{
	slope_json_object(j, key, true);
	slope_json_uint(j, "count", g.count);
	slope_json_real(j, "instructions", slope_share_of(g.instructions, v->c.instructions));
	slope_json_real(j, "metric", v->c.whole > 0 ? g.value / v->c.whole : NAN);
	if (functions)
		slope_json_real(j, "paths_per_function", g.count ? (double)g.paths / (double)g.count : NAN);
	slope_json_end(j);
}

/* Dense and sparse say something only where there is a metric besides instructions. */
static void put_groups(struct slope_json *j, const struct slope_paths_view *v, const char *key,
		       const struct slope_pathcosts_group *group, bool functions)
{
	slope_json_object(j, key, false);
	put_group(j, v, "executed", slope_pathcosts_all(group), functions);
	for (unsigned k = 0; k < SLOPE_PATH_KINDS; k++)
		if ((k != SLOPE_PATH_DENSE && k != SLOPE_PATH_SPARSE) || !isnan(v->c.average))
			put_group(j, v, slope_path_kind_name(k), group[k], functions);
		else
			slope_json_null(j, slope_path_kind_name(k));
	slope_json_end(j);
}

static void put_coverage(struct slope_json *j, uint64_t paths, uint64_t regular, uint64_t blocks_run, uint64_t blocks,
			 uint64_t edges_run, uint64_t edges)
{
	slope_json_object(j, "coverage", true);
	slope_json_uint(j, "paths", paths);
	slope_paths_json_number(j, "of_paths", regular);
	slope_json_uint(j, "blocks", blocks_run);
	slope_json_uint(j, "of_blocks", blocks);
	slope_json_uint(j, "edges", edges_run);
	slope_json_uint(j, "of_edges", edges);
	slope_json_end(j);
}

static void put_summary(struct slope_json *j, const struct slope_paths_view *v)
{
	uint64_t sum[6] = { 0 };

	for (size_t i = 0; i < v->c.functions; i++) {
		const struct slope_pathcosts_function *f = &v->c.function[i];

		sum[0] += f->paths;
		sum[1] = f->regular > UINT64_MAX - sum[1] ? UINT64_MAX : sum[1] + f->regular;
		sum[2] += f->blocks_run;
		sum[3] += f->blocks;
		sum[4] += f->edges_run;
		sum[5] += f->edges;
	}
	slope_json_object(j, "summary", false);
	slope_json_uint(j, "instructions", v->c.instructions);
	slope_json_uint(j, "repeats", v->c.repeats);
	put_values(j, v, v->c.value);
	slope_json_object(j, "measured", true);
	for (uint32_t m = 0; m < v->p->path_metrics; m++)
		slope_json_real(j, v->p->path_metric_name[m],
				slope_share_of(v->c.measured[m], v->c.instructions - v->c.repeats));
	slope_json_end(j);
	slope_json_real(j, "metric_per_instruction", v->c.average);
	put_coverage(j, sum[0], sum[1], sum[2], sum[3], sum[4], sum[5]);
	put_groups(j, v, "paths", v->c.path_kind, false);
	put_groups(j, v, "functions", v->c.function_kind, true);
	slope_json_end(j);
}

/* ---- functions ---- */

static void put_function(struct slope_json *j, const struct slope_paths_view *v, const struct slope_pathcosts_function *f)
{
	slope_json_object(j, NULL, false);
	slope_facts_function(j, v->p, &v->p->function[f->function]);
	slope_json_uint(j, "instructions", f->instructions);
	slope_json_uint(j, "repeats", f->repeats);
	slope_json_real(j, "share", f->share);
	slope_json_string(j, "kind", slope_path_kind_name(f->kind));
	put_values(j, v, f->value);
	put_coverage(j, f->paths, f->regular, f->blocks_run, f->blocks, f->edges_run, f->edges);
	slope_json_uint(j, "entries", f->entries);
	slope_json_uint(j, "inside", f->inside);
	slope_json_uint(j, "stopped", f->stopped);
	slope_json_uint(j, "graphs", f->graphs);
	slope_json_uint(j, "pieces", f->pieces);
	slope_json_uint(j, "cut_edges", f->cut_edges);
	slope_json_bool(j, "unresolved", f->flags & SLOPE_GRAPH_UNRESOLVED);
	slope_json_bool(j, "short", f->flags & SLOPE_GRAPH_SHORT);
	slope_json_end(j);
}

static void put_functions(struct slope_json *j, const struct slope_paths_view *v)
{
	slope_json_array(j, "functions", false);
	for (size_t i = 0; i < v->c.functions; i++)
		if (v->o->costs.function == SLOPE_PATHS_ALL || v->o->costs.function == v->c.function[i].function)
			put_function(j, v, &v->c.function[i]);
	slope_json_end(j);
}

/* ---- paths ---- */

static void put_step(struct slope_json *j, const struct slope_path_step *step)
{
	char address[24];

	slope_json_object(j, NULL, true);
	if (step->kind != SLOPE_STEP_CODE)
		slope_json_string(j, "way", slope_step_words(step->kind));
	if (step->file) {
		slope_json_string(j, "file", step->file);
		slope_json_array(j, "lines", true);
		slope_json_uint(j, NULL, step->first);
		slope_json_uint(j, NULL, step->last);
		slope_json_end(j);
	} else if (step->end) {
		snprintf(address, sizeof(address), "0x%" PRIx64, step->address);
		slope_json_string(j, "address", address);
	}
	slope_json_end(j);
}

static bool put_steps(struct slope_json *j, const struct slope_paths_view *v, const struct slope_pathcosts_row *row)
{
	struct slope_path_steps s;

	if (!slope_path_steps_init(&s, v->p, &v->p->graph[row->graph], row->number, row->stop, v->lines))
		return false;
	slope_json_array(j, "steps", true);
	for (size_t i = 0; i < s.count; i++)
		put_step(j, &s.step[i]);
	slope_json_end(j);
	char *text = slope_path_steps_text(&s, v->p->function[v->p->graph[row->graph].function].file, false);

	slope_json_string(j, "text", text);
	slope_path_steps_fini(&s);
	free(text);
	return text;
}

static bool put_context(struct slope_json *j, const struct slope_paths_view *v, uint32_t context)
{
	uint32_t *caller = malloc(CALLERS_MAX * sizeof(*caller));
	uint32_t count = caller ? slope_paths_callers(v->p, context, caller, CALLERS_MAX) : 0;

	if (context == SLOPE_CONTEXT_NONE) {
		slope_json_null(j, "context");
		slope_json_null(j, "callers");
	} else {
		slope_json_uint(j, "context", context);
		slope_json_array(j, "callers", true);
		for (uint32_t i = 0; i < count && i < CALLERS_MAX; i++)
			slope_json_string(j, NULL, slope_profile_name(&v->p->function[caller[i]]));
		slope_json_end(j);
	}
	free(caller);
	return caller;
}

static bool put_row(struct slope_json *j, const struct slope_paths_view *v, const struct slope_pathcosts_row *row)
{
	slope_json_object(j, NULL, true);
	slope_json_string(j, "function", slope_profile_name(&v->p->function[v->p->graph[row->graph].function]));
	slope_json_uint(j, "graph", row->graph);
	slope_paths_json_number(j, "number", row->number);
	slope_json_bool(j, "whole", row->stop == SLOPE_PATH_NOT_STOPPED);
	slope_json_string(j, "kind", slope_path_kind_name(row->kind));
	slope_json_real(j, "share", row->share);
	slope_json_uint(j, "count", row->count);
	slope_json_uint(j, "blocks", row->blocks);
	slope_json_uint(j, "instructions_each", row->each);
	slope_json_uint(j, "instructions", row->instructions);
	slope_json_real(j, "instructions_share", slope_share_of(row->instructions, v->c.instructions));
	slope_json_uint(j, "samples", row->samples);
	put_values(j, v, row->value);
	slope_json_real(j, "metric_per_instruction", slope_pathcosts_ratio(&v->c, row));
	bool ok = put_steps(j, v, row) && put_context(j, v, row->context);

	slope_json_end(j);
	return ok;
}

static bool put_rows(struct slope_json *j, const struct slope_paths_view *v)
{
	bool ok = true;

	slope_json_uint(j, "path_count", v->of);
	slope_json_array(j, "paths", false);
	for (size_t i = 0; ok && i < v->shown; i++)
		ok = put_row(j, v, &v->c.row[i]);
	slope_json_end(j);
	return ok;
}

/* ---- graphs ---- */

static void put_contexts(struct slope_json *j, const struct slope_profile *p)
{
	slope_json_array(j, "contexts", false);
	for (size_t i = 0; i < p->context_count; i++) {
		slope_json_object(j, NULL, true);
		slope_json_uint(j, "function", p->context[i].function);
		slope_json_uint(j, "thread", p->context[i].thread);
		if (p->context[i].parent == SLOPE_CONTEXT_NONE)
			slope_json_null(j, "parent");
		else
			slope_json_uint(j, "parent", p->context[i].parent);
		slope_json_end(j);
	}
	slope_json_end(j);
}

bool slope_paths_json(const struct slope_paths_view *v, FILE *out)
{
	struct slope_json j;
	bool ok;

	slope_json_init(&j, out);
	slope_json_object(&j, NULL, false);
	slope_json_string(&j, "schema", "slope-paths/1");
	slope_facts_run(&j, v->p);
	put_recorded(&j, v);
	slope_json_string(&j, "metric", slope_paths_metric_name(v));
	slope_json_real(&j, "threshold", v->c.o.threshold);
	put_summary(&j, v);
	put_functions(&j, v);
	ok = put_rows(&j, v);
	if (ok && v->o->graphs) {
		slope_facts_threads(&j, v->p);
		slope_facts_modules(&j, v->p);
		put_contexts(&j, v->p);
		ok = slope_paths_graphs(&j, v->p);
	}
	slope_json_end(&j);
	return ok;
}
