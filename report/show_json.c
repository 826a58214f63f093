/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `slope show --json`, schema "slope-show/1". Others rely on these keys: new
 * ones may come, none may go or change its meaning.
 */
#include <math.h>

#include "report/facts.h"
#include "report/functions.h"
#include "report/show.h"

static void put_order(struct slope_json *j, const char *key, struct slope_order order)
{
	char text[SLOPE_ORDER_TEXT];

	slope_json_string(j, key, slope_order_text(order, text));
}

static void put_model(struct slope_json *j, const char *key, const struct slope_model *m)
{
	slope_json_object(j, key, true);
	put_order(j, "order", m->order);
	slope_json_real(j, "constant", m->constant);
	slope_json_real(j, "linear", m->linear);
	slope_json_real(j, "factor", m->factor);
	slope_json_end(j);
}

static void put_outliers(struct slope_json *j, const struct slope_growth *g)
{
	size_t kept = g->outliers < SLOPE_OUTLIERS_KEPT ? g->outliers : SLOPE_OUTLIERS_KEPT;

	slope_json_uint(j, "outlier_count", g->outliers);
	slope_json_array(j, "outliers", true);
	for (size_t i = 0; i < kept; i++) {
		slope_json_object(j, NULL, true);
		slope_json_real(j, "n", g->outlier[i].n);
		slope_json_real(j, "cost", g->outlier[i].cost);
		slope_json_real(j, "expected", g->outlier[i].expected);
		slope_json_real(j, "weight", g->outlier[i].weight);
		slope_json_end(j);
	}
	slope_json_end(j);
}

/* An infinite exponent is null; the verdict says exponential. */
static void put_growth(struct slope_json *j, const char *key, const struct slope_growth *g, bool tight)
{
	char text[SLOPE_GROWTH_TEXT], advice[SLOPE_ADVICE_TEXT];
	bool unsettled = g->reason != SLOPE_REASON_NONE;

	slope_json_object(j, key, tight);
	slope_json_string(j, "verdict", slope_verdict_name(g->verdict));
	slope_json_string(j, "text", slope_growth_text(g, text));
	slope_json_string(j, "reason", unsettled ? slope_reason_text(g->reason) : NULL);
	slope_json_string(j, "advice", unsettled ? slope_growth_advice(g, advice) : NULL);
	slope_json_uint(j, "sizes", g->sizes);
	slope_json_uint(j, "bins", g->bins);
	slope_json_string(j, "model", g->fitted ? slope_order_text(g->model.order, text) : NULL);
	slope_json_real(j, "exponent", g->exponent);
	slope_json_real(j, "low", g->low);
	slope_json_real(j, "high", g->high);
	slope_json_real(j, "r2", g->r2);
	slope_json_real(j, "error", g->error);
	slope_json_real(j, "holdout", g->holdout);
	slope_json_real(j, "top_slope", g->top_slope);
	slope_json_real(j, "evidence", g->evidence);
	slope_json_string(j, "grade", g->grade == '-' ? NULL : (char[]){ g->grade, '\0' });
	if (g->fitted) {
		put_order(j, "least", g->least);
		put_order(j, "most", g->most);
		put_model(j, "formula", &g->model);
		slope_json_real(j, "from", g->from);
		slope_json_real(j, "to", g->to);
		if (g->broken)
			put_model(j, "formula_below", &g->below);
		else
			slope_json_null(j, "formula_below");
	}
	put_outliers(j, g);
	slope_json_end(j);
}

static void put_function(struct slope_json *j, const struct slope_profile *p, const struct slope_profile_function *f)
{
	const char *file = slope_report_file(p, f);

	slope_json_string(j, "name", f->name);
	slope_json_string(j, "symbol", f->raw_name);
	slope_json_string(j, "module", slope_report_module(p, f));
	slope_json_string(j, "file", file);
	if (file && f->line)
		slope_json_uint(j, "line", f->line);
	else
		slope_json_null(j, "line");
	slope_json_uint(j, "offset", f->offset);
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
		put_growth(j, "growth", &t->growth, true);
		slope_json_end(j);
	}
	slope_json_end(j);
}

static void put_neighbours(struct slope_json *j, const char *key, const struct slope_show *s,
			   const struct slope_show_neighbour *list, size_t count)
{
	slope_json_array(j, key, false);
	for (size_t i = 0; i < count; i++) {
		slope_json_object(j, NULL, true);
		put_function(j, s->p, &s->p->function[list[i].function]);
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
	put_function(j, s->p, s->f);
	slope_json_end(j);
	slope_json_uint(j, "calls", s->calls);
	put_cost(j, s->total, s->self);
	slope_json_uint(j, "program_cost", s->program);
	slope_json_object(j, "input", true);
	slope_json_uint(j, "rms", s->rms);
	slope_json_uint(j, "trms", s->trms);
	slope_json_uint(j, "thread", s->thread_input);
	slope_json_uint(j, "external", s->external);
	slope_json_end(j);
	slope_json_real(j, "scatter", s->scatter);
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
	slope_json_object(&j, "growth", false);
	put_growth(&j, "mean", &s->growth[SLOPE_COST_MEAN], true);
	put_growth(&j, "max", &s->growth[SLOPE_COST_MAX], true);
	put_growth(&j, "min", &s->growth[SLOPE_COST_MIN], true);
	slope_json_end(&j);
	slope_json_array(&j, "guesses", false);
	for (size_t i = 0; i < s->guesses; i++)
		put_guess(&j, &s->guess[i]);
	slope_json_end(&j);
	put_threads(&j, s);
	put_neighbours(&j, "callers", s, s->caller, s->callers);
	put_neighbours(&j, "callees", s, s->callee, s->callees);
	put_source(&j, s);
	put_points(&j, s);
	slope_json_end(&j);
	return true;
}
