/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `slope diff --json`, schema "slope-diff/1". Others rely on these keys: new
 * ones may come, none may go or change its meaning.
 */
#include <math.h>

#include "analysis/pairing.h"
#include "report/diff.h"
#include "report/facts.h"
#include "report/functions.h"
#include "report/growth_json.h"

static void put_profile(struct slope_json *j, const char *key, const struct slope_profile *p, const char *path,
			uint64_t cost)
{
	slope_json_object(j, key, false);
	slope_json_string(j, "file", path);
	slope_facts_run(j, p);
	slope_json_uint(j, "cost", cost);
	slope_json_end(j);
}

static void put_options(struct slope_json *j, const struct slope_diff_view *v)
{
	const struct slope_compare_options *o = v->options;

	slope_json_string(j, "cost_unit", v->now->unit_name[o->now_unit]);
	slope_json_string(j, "input_metric", slope_report_metric_name(o->metric));
	slope_json_string(j, "of", slope_statistic_name(o->of));
	slope_json_object(j, "thresholds", true);
	slope_json_real(j, "level", o->level);
	slope_json_real(j, "factor", o->least_factor);
	slope_json_real(j, "exponent", o->least_exponent);
	slope_json_real(j, "workload", o->least_workload);
	slope_json_real(j, "share", o->share);
	slope_json_end(j);
}

static void put_counts(struct slope_json *j, const struct slope_comparison *c)
{
	slope_json_object(j, "counts", true);
	slope_json_uint(j, "functions", c->count);
	slope_json_uint(j, "compared", c->compared);
	slope_json_uint(j, "nameless", c->nameless);
	slope_json_uint(j, "growth_worse", c->worse);
	slope_json_uint(j, "growth_better", c->better);
	slope_json_uint(j, "cost_more", c->costlier);
	slope_json_uint(j, "cost_less", c->cheaper);
	slope_json_uint(j, "workload", c->workload);
	slope_json_uint(j, "appeared", c->appeared);
	slope_json_uint(j, "gone", c->gone);
	slope_json_uint(j, "unclear", c->unclear);
	slope_json_end(j);
}

static const char *way(int news)
{
	return news > 0 ? "worse" : news < 0 ? "better" : NULL;
}

static void put_ratio(struct slope_json *j, const struct slope_ratio *r)
{
	if (!r->bins) {
		slope_json_null(j, "ratio");
		return;
	}
	slope_json_object(j, "ratio", true);
	slope_json_uint(j, "sizes", r->bins);
	slope_json_real(j, "from", r->from);
	slope_json_real(j, "to", r->to);
	slope_json_real(j, "mean", exp(r->level));
	slope_json_real(j, "low", exp(r->level - 1.96 * r->level_error));
	slope_json_real(j, "high", exp(r->level + 1.96 * r->level_error));
	slope_json_real(j, "at_from", r->at_from);
	slope_json_real(j, "at_to", r->at_to);
	slope_json_real(j, "tilt", r->tilt);
	slope_json_real(j, "tilt_error", r->tilt_error);
	slope_json_end(j);
}

/* p values, as they are before the correction for many tests. */
static void put_tests(struct slope_json *j, const struct slope_difference *d)
{
	slope_json_object(j, "p", true);
	slope_json_real(j, "growth", d->p_growth);
	slope_json_real(j, "cost", d->ratio.p_level);
	slope_json_real(j, "sizes", d->ratio.p_sizes);
	slope_json_real(j, "calls", d->p_calls);
	slope_json_end(j);
}

static bool put_side(struct slope_json *j, const char *key, const struct slope_profile *p, const struct slope_side *s,
		     uint32_t unit, const struct slope_compare_options *o, struct slope_curve *curve)
{
	if (s->function == SLOPE_PAIRING_NONE) {
		slope_json_null(j, key);
		return true;
	}
	if (!slope_curve_load(curve, p, s->function, SLOPE_CURVE_ALL_THREADS, o->metric, unit))
		return false;
	slope_json_object(j, key, true);
	slope_json_uint(j, "calls", s->calls);
	slope_json_uint(j, "cost", s->total);
	slope_json_uint(j, "self", s->self);
	slope_json_real(j, "share", s->share);
	slope_growth_json(j, "growth", &s->growth);
	slope_curve_json(j, "points", curve, o->of);
	slope_json_end(j);
	return true;
}

static bool put_function(struct slope_json *j, const struct slope_diff_view *v, const struct slope_difference *d,
			 struct slope_curve *curve)
{
	bool there = d->now.function != SLOPE_PAIRING_NONE;
	const struct slope_profile *p = there ? v->now : v->old;
	const struct slope_profile_function *f = &p->function[there ? d->now.function : d->old.function];

	slope_json_object(j, NULL, false);
	slope_facts_function(j, p, f);
	slope_json_object(j, "change", true);
	slope_json_string(j, "growth", way(d->growth));
	slope_json_string(j, "cost", way(d->cost));
	slope_json_bool(j, "rising", d->rising);
	slope_json_bool(j, "workload", d->workload);
	slope_json_bool(j, "appeared", d->appeared);
	slope_json_bool(j, "gone", d->gone);
	slope_json_end(j);
	slope_json_real(j, "impact_at_10x", d->impact);
	slope_json_real(j, "cross", d->cross);
	slope_json_real(j, "in_callees", d->in_callees);
	put_ratio(j, &d->ratio);
	slope_json_real(j, "sizes_moved", d->ratio.distance);
	put_tests(j, d);
	bool good = put_side(j, "old", v->old, &d->old, v->options->old_unit, v->options, curve) &&
		    put_side(j, "new", v->now, &d->now, v->options->now_unit, v->options, curve);

	slope_json_end(j);
	return good;
}

bool slope_diff_json(const struct slope_diff_view *v, FILE *out)
{
	const struct slope_comparison *c = v->comparison;
	struct slope_curve curve = slope_curve_none();
	struct slope_json j;
	bool good = true;

	slope_json_init(&j, out);
	slope_json_object(&j, NULL, false);
	slope_json_string(&j, "schema", "slope-diff/1");
	slope_json_string(&j, "gate", v->result);
	put_options(&j, v);
	put_profile(&j, "old", v->old, v->old_path, c->old_program);
	put_profile(&j, "new", v->now, v->now_path, c->now_program);
	put_counts(&j, c);
	slope_json_array(&j, "unclear", true);
	for (size_t i = 0; i < c->count; i++)
		if (c->entry[i].unclear)
			slope_json_string(&j, NULL, v->now->function[c->entry[i].now.function].name);
	slope_json_end(&j);
	slope_json_array(&j, "functions", false);
	for (size_t i = 0; good && i < c->count; i++)
		if (slope_difference_is_news(&c->entry[i]))
			good = put_function(&j, v, &c->entry[i], &curve);
	slope_json_end(&j);
	slope_json_end(&j);
	slope_curve_fini(&curve);
	return good;
}
