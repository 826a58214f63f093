/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `slope export --format=json`: all that a profile holds, schema
 * "slope-profile/1". Functions, modules and threads are named by their
 * positions in the arrays.
 */
#include "report/facts.h"
#include "report/functions.h"
#include "report/paths_view.h"

static void put_functions(struct slope_json *j, const struct slope_profile *p)
{
	slope_json_array(j, "functions", false);
	for (size_t i = 0; i < p->function_count; i++) {
		const struct slope_profile_function *f = &p->function[i];

		slope_json_object(j, NULL, true);
		slope_json_string(j, "name", f->name);
		slope_json_string(j, "symbol", f->raw_name);
		slope_json_uint(j, "module", f->module);
		slope_json_uint(j, "offset", f->offset);
		slope_json_string(j, "file", f->file);
		slope_json_uint(j, "line", f->line);
		slope_json_bool(j, "folded", f->flags & SLOPE_FN_FOLDED);
		slope_json_end(j);
	}
	slope_json_end(j);
}

static void put_stat(struct slope_json *j, const char *unit, const struct slope_stat *s)
{
	slope_json_object(j, unit ? unit : "?", true);
	slope_json_uint(j, "min", s->min);
	slope_json_uint(j, "max", s->max);
	slope_json_uint(j, "sum", s->sum);
	slope_json_uint128(j, "sumsq", s->sq_hi, s->sq_lo);
	slope_json_end(j);
}

static void put_point(struct slope_json *j, const struct slope_profile *p, const struct slope_point *point)
{
	slope_json_object(j, NULL, true);
	slope_json_uint(j, "n", point->n);
	slope_json_uint(j, "calls", point->calls);
	slope_json_object(j, "cost", true);
	for (uint32_t u = 0; u < p->units; u++)
		put_stat(j, p->unit_name[u], &point->cost[u]);
	slope_json_end(j);
	slope_json_uint(j, "rms", point->rms);
	slope_json_uint(j, "thread_input", point->thread);
	slope_json_uint(j, "external_input", point->external);
	slope_json_end(j);
}

static void put_points(struct slope_json *j, const struct slope_profile *p, const struct slope_profile_row *row)
{
	slope_json_object(j, "points", false);
	for (uint32_t metric = 0; metric < SLOPE_METRICS; metric++) {
		const struct slope_profile_points *points = &row->points[metric];

		if (!(p->metrics & 1u << metric))
			continue;
		slope_json_object(j, slope_report_metric_name(metric), false);
		if (points->count && points->bits < SLOPE_POINTS_EXACT)
			slope_json_uint(j, "folded_to_bits", points->bits);
		slope_json_array(j, "rows", false);
		for (size_t i = 0; i < points->count; i++)
			put_point(j, p, slope_profile_point(p, points, i));
		slope_json_end(j);
		slope_json_end(j);
	}
	slope_json_end(j);
}

static void put_row(struct slope_json *j, const struct slope_profile *p, const struct slope_profile_row *row)
{
	slope_json_uint(j, "function", row->function);
	slope_json_uint(j, "thread", row->thread);
	slope_json_uint(j, "calls", row->calls);
	slope_facts_costs(j, "total", p, row->total);
	slope_facts_costs(j, "self", p, row->self);
	slope_json_object(j, "input", true);
	slope_json_uint(j, "rms", row->rms);
	slope_json_uint(j, "trms", row->trms);
	slope_json_uint(j, "thread", row->thread_input);
	slope_json_uint(j, "external", row->external);
	slope_json_end(j);
	put_points(j, p, row);
}

static void put_records(struct slope_json *j, const struct slope_profile *p)
{
	slope_json_array(j, "records", false);
	for (size_t i = 0; i < p->row_count; i++) {
		slope_json_object(j, NULL, false);
		put_row(j, p, &p->row[i]);
		slope_json_end(j);
	}
	slope_json_end(j);
}

static void put_variant(struct slope_json *j, const struct slope_profile *p, const struct slope_profile_variant *variant)
{
	slope_json_object(j, NULL, false);
	slope_json_array(j, "callers", true);
	for (uint32_t i = 0; i < variant->callers; i++)
		slope_json_uint(j, NULL, variant->caller[i]);
	slope_json_end(j);
	slope_json_bool(j, "rest", variant->rest);
	put_row(j, p, &variant->row);
	slope_json_end(j);
}

static void put_variants(struct slope_json *j, const struct slope_profile *p)
{
	if (!p->variant_k) {
		slope_json_null(j, "variants");
		return;
	}
	slope_json_object(j, "variants", false);
	slope_json_uint(j, "callers_kept", p->variant_k);
	slope_json_uint(j, "contexts_folded", p->variants_folded);
	slope_json_array(j, "rows", false);
	for (size_t i = 0; i < p->variant_count; i++)
		put_variant(j, p, &p->variant[i]);
	slope_json_end(j);
	slope_json_end(j);
}

static void put_sizes(struct slope_json *j, const struct slope_profile *p, const struct slope_profile_sizes *sizes)
{
	slope_json_array(j, "sizes", false);
	for (size_t i = 0; i < sizes->count; i++) {
		const struct slope_profile_size *row = &sizes->row[i];

		slope_json_object(j, NULL, true);
		slope_json_uint(j, "n", row->n);
		slope_json_uint(j, "activations", row->activations);
		slope_json_uint(j, "calls", row->calls);
		slope_facts_costs(j, "cost", p, row->cost);
		slope_json_end(j);
	}
	slope_json_end(j);
}

static void put_edges(struct slope_json *j, const struct slope_profile *p)
{
	slope_json_array(j, "edges", false);
	for (size_t i = 0; i < p->edge_count; i++) {
		const struct slope_profile_edge *e = &p->edge[i];

		slope_json_object(j, NULL, false);
		slope_json_uint(j, "caller", e->caller);
		slope_json_uint(j, "callee", e->callee);
		slope_json_uint(j, "thread", e->thread);
		slope_json_uint(j, "calls", e->calls);
		slope_facts_costs(j, "cost", p, e->cost);
		if (e->sizes.count)
			slope_json_uint(j, "sizes_folded_to_bits", e->sizes.bits);
		put_sizes(j, p, &e->sizes);
		slope_json_end(j);
	}
	slope_json_end(j);
}

static void put_position(struct slope_json *j, const char *key, uint32_t position)
{
	if (position == SLOPE_CONTEXT_NONE)
		slope_json_null(j, key);
	else
		slope_json_uint(j, key, position);
}

static void put_sites(struct slope_json *j, const struct slope_profile *p)
{
	slope_json_array(j, "sites", false);
	for (size_t i = 0; i < p->site_count; i++) {
		slope_json_object(j, NULL, true);
		slope_json_uint(j, "module", p->site[i].module);
		slope_json_uint(j, "offset", p->site[i].offset);
		slope_json_string(j, "file", p->site[i].file);
		slope_json_uint(j, "line", p->site[i].line);
		slope_json_end(j);
	}
	slope_json_end(j);
}

static void put_contexts(struct slope_json *j, const struct slope_profile *p)
{
	slope_json_uint(j, "context_k", p->context_k);
	slope_json_bool(j, "context_collapsed", p->context_collapsed);
	put_sites(j, p);
	slope_json_array(j, "contexts", false);
	for (size_t i = 0; i < p->context_count; i++) {
		const struct slope_profile_context *c = &p->context[i];

		slope_json_object(j, NULL, true);
		slope_json_uint(j, "function", c->function);
		slope_json_uint(j, "thread", c->thread);
		put_position(j, "parent", c->parent);
		put_position(j, "site", c->site);
		slope_json_uint(j, "calls", c->calls);
		slope_facts_costs(j, "total", p, c->total);
		slope_facts_costs(j, "self", p, c->self);
		slope_json_end(j);
	}
	slope_json_end(j);
}

bool slope_export_json(const struct slope_profile *p, FILE *out)
{
	struct slope_json j;

	slope_json_init(&j, out);
	slope_json_object(&j, NULL, false);
	slope_json_string(&j, "schema", "slope-profile/1");
	slope_facts_run(&j, p);
	slope_json_array(&j, "cost_units", true);
	for (uint32_t u = 0; u < p->units; u++)
		slope_json_string(&j, NULL, p->unit_name[u]);
	slope_json_end(&j);
	slope_json_array(&j, "input_metrics", true);
	for (uint32_t metric = 0; metric < SLOPE_METRICS; metric++)
		if (p->metrics & 1u << metric)
			slope_json_string(&j, NULL, slope_report_metric_name(metric));
	slope_json_end(&j);
	slope_json_uint(&j, "max_points", p->max_points);
	slope_json_uint(&j, "renumberings", p->renumberings);
	slope_facts_modules(&j, p);
	slope_facts_threads(&j, p);
	put_functions(&j, p);
	put_records(&j, p);
	put_edges(&j, p);
	put_contexts(&j, p);
	put_variants(&j, p);
	slope_json_uint(&j, "burst_period_ns", p->burst_period_ns);
	slope_json_uint(&j, "burst_length_ns", p->burst_length_ns);
	bool ok = slope_paths_graphs(&j, p);

	slope_json_end(&j);
	return ok;
}
