/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_cdf.h>

#include "analysis/pairing.h"
#include "analysis/statistics.h"

#define LATER 10.0               /* sizes at which the impact is foretold, in sizes of now */
#define INCREASE_MOST 1e6        /* times the cost of now: what exponentials foretell is cut off here */
#define WORTH_A_LOOK 0.05        /* p values above cannot make news: 40 rounds of the bootstrap are enough for them */
#define RANGE_FOR_TILT 3.0       /* largest over smallest common size, and ... */
#define BINS_FOR_TILT 5u         /* ... common sizes: below, the intervals of the exponents decide */
#define EXPONENT_ERROR_LEAST 0.02
#define HALF_INTERVAL 1.96       /* standard errors that 95 % reach to each side */
#define BEGINNING 0.5            /* of the least change of the exponent: what only begins is not yet as steep */
#define PACE_LEAST 0.6           /* of the old curve's range of sizes, on a log scale */
#define SAME_CALLS 0.02          /* calls more or less that still make the same workload */
#define CROSS_NEAR 2.0           /* a crossing so far outside of the sizes is still told */
#define CROSS_STEPS 400

/* ---- options ---- */

static bool choose_unit(struct slope_compare_options *o, const struct slope_profile *old,
			const struct slope_profile *now, const char *unit, char *error, size_t bytes)
{
	for (uint32_t u = 0; u < old->units; u++) {
		int there = slope_profile_unit(now, old->unit_name[u]);

		if (there < 0 || (unit && strcmp(unit, old->unit_name[u])))
			continue;
		o->old_unit = u;
		o->now_unit = (uint32_t)there;
		return true;
	}
	if (unit)
		snprintf(error, bytes, "--unit=%s: not both profiles have this cost unit", unit);
	else
		snprintf(error, bytes,
			 "the profiles have different cost units, %s and %s; record both with the same --cost",
			 old->unit_name[0], now->unit_name[0]);
	return false;
}

bool slope_compare_defaults(struct slope_compare_options *o, const struct slope_profile *old,
			    const struct slope_profile *now, const char *unit, uint32_t metric, char *error,
			    size_t error_bytes)
{
	uint32_t both = old->metrics & now->metrics;

	*o = (struct slope_compare_options){ .of = SLOPE_COST_MEAN, .level = 0.05, .least_factor = 1.05,
					     .least_exponent = 0.1, .least_workload = 0.1, .share = 0.01 };
	if (!choose_unit(o, old, now, unit, error, error_bytes))
		return false;
	if (old->cell_bytes != now->cell_bytes) {
		snprintf(error, error_bytes,
			 "the profiles count input in different cells, of %u and %u bytes; record both with one --cell",
			 (unsigned)old->cell_bytes, (unsigned)now->cell_bytes);
		return false;
	}
	o->metric = both & 1u << SLOPE_METRIC_TRMS ? SLOPE_METRIC_TRMS : SLOPE_METRIC_RMS;
	if (metric != SLOPE_METRICS)
		o->metric = metric;
	if (!(both & 1u << o->metric)) {
		snprintf(error, error_bytes, "not both profiles have input sizes by %s; record both with --input=both",
			 metric == SLOPE_METRICS ? "trms or by rms" : metric == SLOPE_METRIC_RMS ? "rms" : "trms");
		return false;
	}
	return true;
}

/* ---- one function ---- */

static bool load_side(struct slope_side *s, struct slope_curve *curve, const struct slope_profile *p, uint32_t function,
		      uint32_t unit, const struct slope_compare_options *o)
{
	size_t rows;
	const struct slope_profile_row *row;

	s->function = function;
	if (function == SLOPE_PAIRING_NONE) {
		curve->count = 0;
		return true;
	}
	row = slope_curve_rows(p, function, &rows);
	for (size_t i = 0; i < rows; i++) {
		s->calls += row[i].calls;
		s->total += row[i].total[unit];
		s->self += row[i].self[unit];
	}
	if (!slope_curve_load(curve, p, function, SLOPE_CURVE_ALL_THREADS, o->metric, unit))
		return false;
	slope_growth_of(&s->growth, curve, o->of, false);
	return true;
}

static bool has_verdict(const struct slope_growth *g)
{
	return g->verdict != SLOPE_VERDICT_INCONCLUSIVE;
}

/* What the calls of a workload cost by a model, at so many times their sizes. */
static double foretell(const struct slope_growth *g, const struct slope_curve *workload, double times)
{
	double sum = 0;

	for (size_t i = 0; i < workload->count; i++)
		sum += workload->point[i].calls * fmax(slope_model_at(&g->model, workload->point[i].n * times), 0);
	return sum;
}

/*
 * What the new calls will cost at LATER times their sizes, less what the old
 * code would take for them; in cost units, to become a share of the program's
 * cost. Without two models, cost is taken to follow the input.
 */
static double impact_of(const struct slope_difference *d, const struct slope_curve *workload)
{
	double total = (double)d->now.total, here;

	if (d->now.function == SLOPE_PAIRING_NONE)
		return -(double)d->old.total * LATER;
	if (d->old.function == SLOPE_PAIRING_NONE)
		return total * LATER;
	if (has_verdict(&d->old.growth) && has_verdict(&d->now.growth)) {
		here = foretell(&d->now.growth, workload, 1);
		double more = foretell(&d->now.growth, workload, LATER) - foretell(&d->old.growth, workload, LATER);

		if (here > 0 && !isnan(more))
			return total * fmin(fmax(more / here, -INCREASE_MOST), INCREASE_MOST);
	}
	return d->ratio.bins ? total * LATER * fmin(fmax(1 - exp(-d->ratio.level), -INCREASE_MOST), INCREASE_MOST) : 0;
}

static double exponent_error(const struct slope_growth *g, bool upper)
{
	double side = upper ? g->high - g->exponent : g->exponent - g->low;

	return fmax(side / HALF_INTERVAL, EXPONENT_ERROR_LEAST);
}

/* Are there common sizes enough, and far enough apart, to see another growth? */
static bool can_tilt(const struct slope_ratio *r)
{
	return r->bins >= BINS_FOR_TILT && r->to >= RANGE_FOR_TILT * fmax(r->from, 1);
}

/* From the tilt of the ratio where there are sizes for it, else from the two intervals. */
static double p_of_growth(const struct slope_difference *d)
{
	const struct slope_growth *a = &d->old.growth, *b = &d->now.growth;
	const struct slope_ratio *r = &d->ratio;

	if (can_tilt(r))
		return r->p_tilt;
	if (!has_verdict(a) || !has_verdict(b) || !isfinite(a->exponent) || !isfinite(b->exponent))
		return NAN;
	bool up = b->exponent > a->exponent;

	return 2 * gsl_cdf_ugaussian_Q(fabs(b->exponent - a->exponent) /
				       hypot(exponent_error(a, up), exponent_error(b, !up)));
}

static double log_apart(const struct slope_difference *d, double n)
{
	double a = slope_model_at(&d->old.growth.model, n), b = slope_model_at(&d->now.growth.model, n);

	return a > 0 && b > 0 && isfinite(a) && isfinite(b) ? log(b / a) : NAN;
}

/* Do the fits say the same as the measured ratio about which curve is above, at both ends? */
static bool fits_agree(const struct slope_difference *d)
{
	const struct slope_ratio *r = &d->ratio;

	return !r->bins || (log_apart(d, r->from) * log(r->at_from) > 0 && log_apart(d, r->to) * log(r->at_to) > 0);
}

/* The largest size at which the fitted curves cross, in and near what both models describe. */
static double crossing(const struct slope_difference *d)
{
	const struct slope_growth *a = &d->old.growth, *b = &d->now.growth;

	if (!has_verdict(a) || !has_verdict(b) || !fits_agree(d))
		return NAN;
	double from = fmax(fmax(a->from, b->from), 1) / CROSS_NEAR, to = fmin(a->to, b->to) * CROSS_NEAR;
	double last = NAN, step = log(to / from) / CROSS_STEPS;

	if (!(to > from))
		return NAN;
	for (int i = CROSS_STEPS; i >= 0; i--) {
		double apart = log_apart(d, from * exp(step * i));

		if (!isnan(last) && !isnan(apart) && apart * last < 0)
			return from * exp(step * (i + fabs(apart) / (fabs(apart) + fabs(last))));
		if (apart != 0)
			last = apart;
	}
	return NAN;
}

/* Only for about as many calls as before: otherwise the change is in them. */
static double in_callees(const struct slope_difference *d)
{
	double calls = (double)d->now.calls - (double)d->old.calls, total = (double)d->now.total - (double)d->old.total;
	double self = (double)d->now.self - (double)d->old.self;

	if (fabs(calls) > SAME_CALLS * (double)d->old.calls || total == 0)
		return NAN;
	return fmin(fmax(1 - self / total, 0), 1);
}

/* ---- news ---- */

struct bounds {                  /* p values up to these are discoveries */
	double tilt, level, workload;
};

/* 1 when `b` lies above `a` as a whole, -1 below, 0 when they touch. */
static int apart(const struct slope_growth *a, const struct slope_growth *b)
{
	if (a->model.order.base && b->model.order.base)
		return slope_order_compare(b->model.order, a->model.order);
	if (slope_order_compare(b->least, a->most) > 0 || b->low > a->high)
		return 1;
	return slope_order_compare(b->most, a->least) < 0 || b->high < a->low ? -1 : 0;
}

static double exponent_change(const struct slope_growth *a, const struct slope_growth *b)
{
	if (a->model.order.base && b->model.order.base)
		return log(b->model.order.base) / log(a->model.order.base) - 1;
	return b->exponent - a->exponent;
}

static int judge_growth(const struct slope_difference *d, const struct slope_compare_options *o,
			const struct bounds *most)
{
	const struct slope_growth *a = &d->old.growth, *b = &d->now.growth;

	if (!has_verdict(a) || !has_verdict(b) || !(d->p_growth <= most->tilt))
		return 0;
	int way = apart(a, b);
	double change = exponent_change(a, b);

	if (!way || fabs(change) < o->least_exponent || (change > 0) != (way > 0))
		return 0;
	return can_tilt(&d->ratio) && (d->ratio.tilt > 0) != (way > 0) ? 0 : way;
}

static int judge_cost(const struct slope_difference *d, const struct slope_compare_options *o,
		      const struct bounds *most)
{
	const struct slope_ratio *r = &d->ratio;
	double least = log(o->least_factor);

	if (!r->bins)
		return 0;
	bool tilted = r->p_tilt <= most->tilt, moved = r->p_level <= most->level;

	if (tilted && fabs(log(r->at_to)) >= least)
		return r->at_to > 1 ? 1 : -1;
	if (moved && fabs(r->level) >= least)
		return r->level > 0 ? 1 : -1;
	return tilted && fabs(log(r->at_from)) >= least ? (r->at_from > 1 ? 1 : -1) : 0;
}

static bool judge_workload(const struct slope_difference *d, const struct slope_compare_options *o,
			   const struct bounds *most)
{
	double before = (double)d->old.calls * d->runs, after = (double)d->now.calls;
	bool calls = fabs(after - before) >= o->least_workload * fmax(before, after);

	return (d->ratio.p_sizes <= most->workload && d->ratio.distance >= o->least_workload) ||
	       (d->p_calls <= most->workload && calls);
}

/*
 * Without a verdict of its own the new curve may still be seen not to grow
 * faster than the old one, over most of the sizes that this had: the ratio does
 * not rise.
 */
static bool keeps_pace(const struct slope_difference *d, const struct slope_compare_options *o)
{
	const struct slope_growth *a = &d->old.growth;
	const struct slope_ratio *r = &d->ratio;

	return can_tilt(r) && log(r->to / fmax(r->from, 1)) >= PACE_LEAST * log(a->to / fmax(a->from, 1)) &&
	       r->tilt + HALF_INTERVAL * r->tilt_error < o->least_exponent;
}

/*
 * A steep term that only begins to show is no other growth to the fits yet, but
 * the ratio rises where n is large. One that levels off, as a larger factor of
 * the same law does, is none.
 */
static bool pulls_away(const struct slope_difference *d, const struct slope_compare_options *o,
		       const struct bounds *most)
{
	const struct slope_ratio *r = &d->ratio;

	return d->growth <= 0 && can_tilt(r) && r->p_tilt <= most->tilt && r->at_to >= o->least_factor &&
	       r->top_tilt - HALF_INTERVAL * r->top_error >= BEGINNING * o->least_exponent;
}

static void judge(struct slope_difference *d, const struct slope_compare_options *o, const struct bounds *most)
{
	bool before = d->old.function != SLOPE_PAIRING_NONE, after = d->now.function != SLOPE_PAIRING_NONE;

	d->matters = fmax(fmax(d->old.share, d->now.share), fabs(d->impact)) >= o->share;
	d->cross = NAN;
	if (!d->matters)
		return;
	d->appeared = !before;
	d->gone = !after;
	if (!before || !after)
		return;
	d->growth = judge_growth(d, o, most);
	d->cost = judge_cost(d, o, most);
	d->workload = judge_workload(d, o, most);
	d->rising = pulls_away(d, o, most);
	d->unclear = has_verdict(&d->old.growth) && !has_verdict(&d->now.growth) && !keeps_pace(d, o);
	if (d->growth || d->cost)
		d->cross = crossing(d);
}

static void count_news(struct slope_comparison *c, const struct slope_difference *d)
{
	c->worse += d->growth > 0;
	c->better += d->growth < 0;
	c->costlier += d->cost > 0;
	c->cheaper += d->cost < 0;
	c->workload += d->workload;
	c->appeared += d->appeared;
	c->gone += d->gone;
	c->unclear += d->unclear;
}

/* Which p values are discoveries, for each kind of test by itself. False when memory runs out. */
static bool find_bounds(struct bounds *most, const struct slope_comparison *c, double level)
{
	double *p = malloc((2 * c->count + 1) * sizeof(*p));

	if (!p)
		return false;
	for (size_t i = 0; i < c->count; i++)
		p[i] = c->entry[i].p_growth;
	most->tilt = slope_ratio_discoveries(p, c->count, level);
	for (size_t i = 0; i < c->count; i++)
		p[i] = c->entry[i].ratio.p_level;
	most->level = slope_ratio_discoveries(p, c->count, level);
	for (size_t i = 0; i < c->count; i++) {
		p[2 * i] = c->entry[i].ratio.p_sizes;
		p[2 * i + 1] = c->entry[i].p_calls;
	}
	most->workload = slope_ratio_discoveries(p, 2 * c->count, level);
	free(p);
	return true;
}

/* ---- all functions ---- */

static bool compare(struct slope_difference *d, struct slope_curve *curve, const struct slope_profile *old,
		    const struct slope_profile *now, struct slope_pair pair, const struct slope_compare_options *o)
{
	if (!load_side(&d->old, &curve[0], old, pair.old, o->old_unit, o) ||
	    !load_side(&d->now, &curve[1], now, pair.now, o->now_unit, o))
		return false;
	d->runs = fmax((double)now->runs, 1) / fmax((double)old->runs, 1);
	d->p_growth = d->p_calls = d->in_callees = NAN;
	slope_ratio_of(&d->ratio, &curve[0], &curve[1], o->of);
	if (pair.old != SLOPE_PAIRING_NONE && pair.now != SLOPE_PAIRING_NONE) {
		d->p_growth = p_of_growth(d);
		d->in_callees = in_callees(d);
		if (d->p_growth <= WORTH_A_LOOK) {
			slope_growth_of(&d->old.growth, &curve[0], o->of, true);
			slope_growth_of(&d->now.growth, &curve[1], o->of, true);
		}
		d->p_calls = slope_ratio_counts((double)d->old.calls, (double)d->now.calls, d->runs);
	}
	d->impact = impact_of(d, &curve[1]);
	return true;
}

static void set_shares(struct slope_comparison *c)
{
	double later = LATER * fmax((double)c->old_program, (double)c->now_program);

	for (size_t i = 0; i < c->count; i++)
		later = fmax(later, fabs(c->entry[i].impact));
	for (size_t i = 0; i < c->count; i++) {
		struct slope_difference *d = &c->entry[i];

		d->old.share = slope_share_of(d->old.total, c->old_program);
		d->now.share = slope_share_of(d->now.total, c->now_program);
		d->impact = later > 0 ? d->impact / later : 0;
	}
}

static int by_impact(const void *left, const void *right)
{
	const struct slope_difference *a = left, *b = right;
	double x = fabs(a->impact), y = fabs(b->impact);

	if (x != y)
		return x < y ? 1 : -1;
	if (a->now.function != b->now.function)
		return a->now.function < b->now.function ? -1 : 1;
	return (a->old.function > b->old.function) - (a->old.function < b->old.function);
}

static bool compare_all(struct slope_comparison *c, const struct slope_pairing *pairing,
			const struct slope_profile *old, const struct slope_profile *now,
			const struct slope_compare_options *o)
{
	struct slope_curve curve[2] = { slope_curve_none(), slope_curve_none() };
	bool good = true;

	for (size_t i = 0; good && i < pairing->count; i++) {
		struct slope_difference *d = &c->entry[c->count++];

		good = compare(d, curve, old, now, pairing->pair[i], o);
		c->compared += good && !isnan(d->p_growth);
	}
	slope_curve_fini(&curve[0]);
	slope_curve_fini(&curve[1]);
	return good;
}

bool slope_comparison_init(struct slope_comparison *c, const struct slope_profile *old, const struct slope_profile *now,
			   const struct slope_compare_options *o)
{
	struct slope_pairing pairing;
	struct bounds most;

	*c = (struct slope_comparison){ .old_program = slope_program_cost(old, o->old_unit, NULL),
					.now_program = slope_program_cost(now, o->now_unit, NULL) };
	if (!slope_pairing_init(&pairing, old, now))
		return false;
	c->nameless = pairing.nameless;
	c->entry = calloc(pairing.count + 1, sizeof(*c->entry));
	bool good = c->entry && compare_all(c, &pairing, old, now, o) && find_bounds(&most, c, o->level);

	slope_pairing_fini(&pairing);
	if (!good) {
		slope_comparison_fini(c);
		return false;
	}
	set_shares(c);
	for (size_t i = 0; i < c->count; i++) {
		judge(&c->entry[i], o, &most);
		count_news(c, &c->entry[i]);
	}
	qsort(c->entry, c->count, sizeof(*c->entry), by_impact);
	return true;
}

void slope_comparison_fini(struct slope_comparison *c)
{
	free(c->entry);
	*c = (struct slope_comparison){ 0 };
}
