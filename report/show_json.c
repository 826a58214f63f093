/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `slope show --json`, schema "slope-show/1". Others rely on these keys: new
 * ones may come, none may go or change its meaning.
 */
#include <math.h>
#include <stdlib.h>

#include "report/facts.h"
#include "report/functions.h"
#include "report/growth_json.h"
#include "report/path_link.h"
#include "report/show.h"

static void put_order(struct slope_json *j, const char *key, struct slope_order order)
{
	char text[SLOPE_ORDER_TEXT];

	slope_json_string(j, key, slope_order_text(order, text));
}

static void put_cost(struct slope_json *j, uint64_t total, uint64_t self)
{
	slope_json_object(j, "cost", true);
	slope_json_uint(j, "total", total);
	slope_json_uint(j, "self", self);
	slope_json_end(j);
}

static void put_points(struct slope_json *j, const struct slope_show *s)
{
	slope_json_bool(j, "folded", s->curve.bits < SLOPE_POINTS_EXACT);
	slope_json_array(j, "points", false);
	for (size_t i = 0; i < s->curve.count; i++) {
		const struct slope_curve_point *p = &s->curve.point[i];

		slope_json_object(j, NULL, true);
		slope_json_uint(j, "n", (uint64_t)p->n);
		slope_json_uint(j, "calls", (uint64_t)p->calls);
		slope_json_real(j, "mean", p->cost[SLOPE_COST_MEAN]);
		slope_json_uint(j, "max", (uint64_t)p->cost[SLOPE_COST_MAX]);
		slope_json_uint(j, "min", (uint64_t)p->cost[SLOPE_COST_MIN]);
		slope_json_real(j, "variance", p->variance);
		slope_json_end(j);
	}
	slope_json_end(j);
}

static void put_guess(struct slope_json *j, const struct slope_guess *g)
{
	slope_json_object(j, NULL, true);
	put_order(j, "order", g->order);
	slope_json_string(j, "trend", slope_trend_name(g->trend));
	slope_json_real(j, "slope", g->slope);
	slope_json_real(j, "low", g->low);
	slope_json_real(j, "high", g->high);
	slope_json_real(j, "level", g->level);
	slope_json_real(j, "level_low", g->least);
	slope_json_real(j, "level_high", g->most);
	if (isfinite(g->slope))
		slope_json_real(j, "tail_from", g->n[g->tail]);
	else
		slope_json_null(j, "tail_from");
	slope_json_array(j, "ratios", true);
	for (size_t i = 0; i < g->count; i++) {
		slope_json_object(j, NULL, true);
		slope_json_real(j, "n", g->n[i]);
		slope_json_real(j, "ratio", g->ratio[i]);
		slope_json_end(j);
	}
	slope_json_end(j);
	slope_json_end(j);
}

static void put_threads(struct slope_json *j, const struct slope_show *s)
{
	slope_json_array(j, "threads", false);
	for (size_t i = 0; i < s->threads; i++) {
		const struct slope_show_thread *t = &s->thread[i];
		const struct slope_profile_thread *thread = &s->p->thread[t->thread];

		slope_json_object(j, NULL, true);
		slope_json_uint(j, "id", thread->id);
		slope_json_uint(j, "process", thread->process);
		slope_json_string(j, "name", thread->name ? thread->name : "");
		slope_json_uint(j, "calls", t->calls);
		put_cost(j, t->total, t->self);
		slope_growth_json(j, "growth", &t->growth);
		slope_json_end(j);
	}
	slope_json_end(j);
}

/* What report and show say of a function by its callers; null where points were not recorded by context. */
static bool put_variants(struct slope_json *j, const struct slope_show *s)
{
	const struct slope_contrast *v = &s->contrast;
	char *text = slope_contrast_text(v, s->p);

	if (!v->count)
		slope_json_null(j, "by_context");
	if (!v->count || !text) {
		bool ok = text;

		free(text);
		return ok;
	}
	slope_json_object(j, "by_context", false);
	slope_json_uint(j, "k", v->k);
	slope_json_bool(j, "differ", v->differ);
	slope_json_string(j, "text", v->differ ? text : NULL);
	slope_json_array(j, "contexts", false);
	for (size_t i = 0; i < v->count; i++) {
		const struct slope_contrast_part *one = &v->part[i];

		slope_json_object(j, NULL, true);
		slope_json_array(j, "callers", true);
		for (uint32_t k = 0; k < one->callers; k++)
			slope_json_string(j, NULL, slope_profile_name(&s->p->function[one->caller[k]]));
		slope_json_end(j);
		slope_json_bool(j, "rest", one->rest);
		slope_json_uint(j, "calls", one->calls);
		put_cost(j, one->total, one->self);
		slope_growth_json(j, "growth", &one->growth);
		slope_json_end(j);
	}
	slope_json_end(j);
	slope_json_end(j);
	free(text);
	return true;
}

static void put_neighbours(struct slope_json *j, const char *key, const struct slope_show *s,
			   const struct slope_show_neighbour *list, size_t count)
{
	slope_json_array(j, key, false);
	for (size_t i = 0; i < count; i++) {
		slope_json_object(j, NULL, true);
		slope_facts_function(j, s->p, &s->p->function[list[i].function]);
		slope_json_uint(j, "calls", list[i].calls);
		slope_json_uint(j, "cost", list[i].cost);
		slope_json_end(j);
	}
	slope_json_end(j);
}

static void put_source(struct slope_json *j, const struct slope_show *s)
{
	const struct slope_listing *l = &s->listing;

	if (!l->path) {
		slope_json_null(j, "source_lines");
		return;
	}
	slope_json_object(j, "source_lines", false);
	slope_json_string(j, "path", l->path);
	slope_json_uint(j, "first", l->first);
	slope_json_uint(j, "more", l->more);
	slope_json_bool(j, "newer", s->o.recorded && l->changed > s->o.recorded);
	slope_json_array(j, "lines", false);
	for (size_t i = 0; i < l->count; i++)
		slope_json_string(j, NULL, l->line[i]);
	slope_json_end(j);
	slope_json_end(j);
}

static void put_numbers(struct slope_json *j, const struct slope_show *s)
{
	slope_json_object(j, "function", true);
	slope_facts_function(j, s->p, s->f);
	slope_json_end(j);
	slope_json_uint(j, "calls", s->calls);
	put_cost(j, s->total, s->self);
	slope_json_uint(j, "program_cost", s->program);
	slope_facts_input(j, s->rms, s->trms, s->thread_input, s->external);
	slope_json_real(j, "scatter", s->scatter);
}

/* Growth, guesses, threads and contexts. */
static bool put_analysis(struct slope_json *j, const struct slope_show *s)
{
	slope_json_object(j, "growth", false);
	slope_growth_json(j, "mean", &s->growth[SLOPE_COST_MEAN]);
	slope_growth_json(j, "max", &s->growth[SLOPE_COST_MAX]);
	slope_growth_json(j, "min", &s->growth[SLOPE_COST_MIN]);
	slope_json_end(j);
	slope_json_array(j, "guesses", false);
	for (size_t i = 0; i < s->guesses; i++)
		put_guess(j, &s->guess[i]);
	slope_json_end(j);
	put_threads(j, s);
	return put_variants(j, s);
}

bool slope_show_analysis_json(const struct slope_show *s, FILE *out)
{
	struct slope_json j;

	slope_json_init(&j, out);
	slope_json_object(&j, NULL, false);
	slope_json_real(&j, "scatter", s->scatter);
	bool ok = put_analysis(&j, s);

	put_source(&j, s);
	slope_json_end(&j);
	return ok;
}

bool slope_show_json(const struct slope_show *s, FILE *out)
{
	struct slope_json j;

	slope_json_init(&j, out);
	slope_json_object(&j, NULL, false);
	slope_json_string(&j, "schema", "slope-show/1");
	slope_facts_run(&j, s->p);
	slope_json_string(&j, "cost_unit", s->p->unit_name[s->o.unit]);
	slope_json_string(&j, "input_metric", slope_report_metric_name(s->o.metric));
	put_numbers(&j, s);
	bool ok = put_analysis(&j, s);

	put_neighbours(&j, "callers", s, s->caller, s->callers);
	put_neighbours(&j, "callees", s, s->callee, s->callees);
	struct slope_path_link link = { s->p, s->o.function, s->o.metric, s->o.unit, slope_blocklines_new(s->p, NULL), s->o.ascii };

	ok = link.lines && slope_path_link_json(&link, &j, "path") && ok;
	slope_blocklines_free(link.lines);
	put_source(&j, s);
	put_points(&j, s);
	slope_json_end(&j);
	return ok;
}
