/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From fits to an answer. docs/growth.md tells the same in words; every
 * threshold is named here and checked by tests/growth/corpus.
 */
#include "analysis/growth.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/contest.h"
#include "analysis/regimes.h"

#define SIZES_LEAST 5u           /* below: too few sizes */
#define RANGE_FIXED 1.5          /* of many calls, up to this they count as one size */
#define RANGE_LEAST 3.0          /* largest over smallest size; below: too narrow */
#define OFFSET_MUCH 0.5          /* of the cost at the smallest size, as a negative intercept */
#define EVIDENCE_LEAST 0.15      /* to call something steep */
#define TAIL_BINS 4u             /* of the last decade, whose slope a model must not miss */
#define TAIL_APART 0.35          /* ... by so much */
#define SPREAD_MOST 0.6          /* exponents that still make one answer */
#define ERROR_MOST 0.6           /* relative; above, nothing has been described */
#define NOISE_MUCH 0.35          /* of neighbouring bins: that no model fits them is no wonder */
#define CALLS_MANY 20            /* of each size, to say that sizes hardly vary */
#define APART 1.2                /* sizes in this ratio are two; nearer ones say the same */
#define GAP_WIDE 10.0            /* a gap in the sizes, of this ratio, must be bridged by good evidence */
#define ABOVE_GAP 4u             /* separate sizes above a gap, with which it does no harm */
#define TOP_GAP 1.8              /* the topmost one or two sizes stand alone above a gap of this ratio, */
#define TOP_FORETOLD 2.5         /* ... if those below foretell this much less */
#define UNRELATED 16.0           /* costs so much farther apart than n^3 would make them have another reason than n */
#define FORETOLD 1.5             /* ... the lower sizes foretell the upper ones within this factor */
#define SHOWS 0.2                /* a steep term shows where it makes up so much of the cost: */
#define SHOWS_BINS 3u            /* in so many bins at least ... */
#define SHOWS_RANGE 2.0          /* ... that lie so far apart, */
#define SHOWS_FOLDS 2.0          /* or where it gets e^2 times as large */
#define STEEP 1.05               /* the exponent's lower end, above which a cost outgrows its input */
#define ROUNDS 40u
#define ROUNDS_THOROUGH 400u

static const struct slope_order order_n = { .power = 1 }, order_n_log_n = { .power = 1, .logs = 1 };

double slope_model_at(const struct slope_model *model, double n)
{
	return model->constant + model->linear * n + (model->factor ? model->factor * slope_order_at(model->order, n) : 0);
}

const char *slope_verdict_name(enum slope_verdict verdict)
{
	static const char *const name[] = {
#define X(id, text) text,
		SLOPE_VERDICT_LIST(X)
#undef X
	};

	return name[verdict];
}

const char *slope_reason_text(enum slope_reason reason)
{
	static const char *const name[] = {
#define X(id, text) text,
		SLOPE_REASON_LIST(X)
#undef X
	};

	return name[reason];
}

/*
 * A straight line far below zero at n = 0 bends upwards on log-log axes over the
 * sizes that were seen: n log n is not ruled out by it.
 */
static void allow_for_offset(struct slope_growth *g)
{
	if (slope_order_compare(g->most, order_n) == 0 &&
	    g->model.constant < -OFFSET_MUCH * slope_model_at(&g->model, g->from))
		g->most = order_n_log_n;
}

/* The slope of log cost over log n from bin `first` on, and its standard error. NaN with fewer than three bins. */
static double log_slope(const struct slope_bins *b, size_t first, double *error)
{
	double w = 0, x = 0, y = 0, xx = 0, xy = 0, yy = 0;
	size_t count = b->count - first;

	for (size_t i = first; i < b->count; i++) {
		double weight = b->weight[i], at = b->log_n[i], cost = log(fmax(b->cost[i], 0.5));

		w += weight;
		x += weight * at;
		y += weight * cost;
		xx += weight * at * at;
		xy += weight * at * cost;
		yy += weight * cost * cost;
	}
	xx -= x * x / w;
	xy -= x * y / w;
	yy -= y * y / w;
	if (count < 3 || xx <= 0)
		return *error = NAN;
	*error = sqrt(fmax(yy - xy * xy / xx, 0) / (double)(count - 2) / xx);
	return xy / xx;
}

static size_t top_decade(const struct slope_bins *b)
{
	size_t first = b->count - 1;

	while (first > 0 && b->n[first - 1] * 10 >= b->n[b->count - 1])
		first--;
	return first;
}

static double top_slope(const struct slope_bins *b)
{
	size_t first = top_decade(b);
	double error;

	return b->n[b->count - 1] >= 2 * b->n[first] ? log_slope(b, first, &error) : NAN;
}

/* Does the model go another way than the last decade of sizes does, beyond what scatter explains? */
static bool tail_disagrees(const struct slope_model *m, const struct slope_bins *b)
{
	size_t first = top_decade(b);
	double from = b->n[first], to = b->n[b->count - 1], error, measured = log_slope(b, first, &error);
	double below = slope_model_at(m, from), above = slope_model_at(m, to);

	if (b->count - first < TAIL_BINS || to < 3 * from || !(below > 0) || !(above > 0))
		return false;
	return fabs(measured - log(above / below) / log(to / from)) > TAIL_APART + 2.2 * error;
}

/* How wrong a fit to the lower two thirds of the range (on a log scale) is about the upper third. */
static double hold_out(const struct slope_bins *b, const struct slope_fit *f)
{
	double cut = b->log_n[0] + (b->log_n[b->count - 1] - b->log_n[0]) * 2 / 3, sum = 0;
	size_t lower = 0;
	struct slope_bins part;
	struct slope_fit again;

	while (lower < b->count && b->log_n[lower] <= cut)
		lower++;
	if (lower < 4 || b->count - lower < 2)
		return NAN;
	slope_bins_part(&part, b, 0, lower);
	if (!slope_fit_order(&again, &part, f->model.order, f->linear, 0))
		return NAN;
	for (size_t i = lower; i < b->count; i++) {
		double apart = (slope_model_at(&again.model, b->n[i]) - b->cost[i]) / b->smooth[i];

		sum += apart * apart;
	}
	return sqrt(sum / (double)(b->count - lower));
}

static double log_r2(const struct slope_bins *b, const struct slope_model *m)
{
	double w = 0, y = 0, yy = 0, rest = 0;

	for (size_t i = 0; i < b->count; i++) {
		double cost = log(fmax(b->cost[i], 0.5));
		double apart = cost - log(fmax(slope_model_at(m, b->n[i]), 1e-3 * b->smooth[i]));

		w += b->weight[i];
		y += b->weight[i] * cost;
		yy += b->weight[i] * cost * cost;
		rest += b->weight[i] * apart * apart;
	}
	yy -= y * y / w;
	return yy > 1e-12 * w ? fmax(1 - rest / yy, 0) : 1;
}

/* The orders of the range belong into the interval, whatever lower terms make of the search. */
static void reach_order(struct slope_growth *g, struct slope_order order)
{
	if (order.base)
		return;
	double slope = slope_order_slope(order, g->from, g->to);

	g->low = fmin(g->low, slope);
	g->high = fmax(g->high, slope);
}

static void set_exponent(struct slope_growth *g, const struct slope_contest *c, const struct slope_bins *b, unsigned rounds)
{
	const struct slope_fit *best = &c->fit[c->best];
	struct slope_fit power = c->fit[c->power];
	double error;

	if (best->model.order.base) {
		g->exponent = g->low = g->high = INFINITY;
		return;
	}
	if (c->best == SLOPE_CANDIDATE_CONSTANT) {
		double slope = log_slope(b, 0, &error);

		g->exponent = 0;
		g->low = fmin(slope - 2.2 * error, 0);
		g->high = fmax(slope + 2.2 * error, 0);
		return;
	}
	/* With a linear term besides, a logarithm cannot be told from a power just above 1. */
	bool linear = best->linear && !best->model.order.logs && slope_fit_power(&power, b, true);

	if (linear || c->there[c->power]) {
		g->exponent = power.model.order.power;
		slope_fit_interval(b, g->exponent, linear, rounds, &g->low, &g->high);
	} else {
		g->exponent = log_slope(b, 0, &error);
		g->low = g->exponent - 2.2 * error;
		g->high = g->exponent + 2.2 * error;
	}
	g->low = fmin(g->low, g->exponent);
	g->high = fmax(g->high, g->exponent);
	reach_order(g, g->least);
	reach_order(g, best->model.order);
	reach_order(g, g->most);
}

static enum slope_verdict verdict_of(struct slope_order order)
{
	if (order.base)
		return SLOPE_VERDICT_EXPONENTIAL;
	if (!order.logs && fabs(order.power - 1) <= SLOPE_POWER_SAME)
		return SLOPE_VERDICT_LINEAR;
	if (order.power == 0 && !order.logs)
		return SLOPE_VERDICT_CONSTANT;
	if (order.power < 1)
		return SLOPE_VERDICT_SUBLINEAR;
	return order.power == 1 && order.logs == 1 ? SLOPE_VERDICT_LINEARITHMIC : SLOPE_VERDICT_SUPERLINEAR;
}

static double spread(const struct slope_growth *g)
{
	if (g->most.base)
		return g->least.base || g->least.power > SLOPE_POWER_CONVEX ? 0 : INFINITY;   /* steep either way */
	return slope_order_slope(g->most, g->from, g->to) - slope_order_slope(g->least, g->from, g->to);
}

/* How many bins lie clearly apart from each other. */
static size_t separate(const struct slope_bins *b, size_t first)
{
	double last = 0;
	size_t count = 0;

	for (size_t i = first; i < b->count; i++)
		if (!count || b->n[i] >= APART * fmax(last, 1)) {
			last = b->n[i];
			count++;
		}
	return count;
}

static size_t widest_gap(const struct slope_bins *b)
{
	size_t at = 1;

	for (size_t i = 1; i < b->count; i++)
		if (b->log_n[i] - b->log_n[i - 1] >= b->log_n[at] - b->log_n[at - 1])
			at = i;
	return at;
}

/*
 * A few large sizes far above all others: whatever joins the two groups gives an
 * order, and says little. Unless the lower sizes alone foretell the upper ones.
 */
static bool rests_on_a_gap(const struct slope_growth *g, const struct slope_bins *b)
{
	size_t at = widest_gap(b);
	struct slope_bins lower;
	struct slope_fit again;

	if (b->n[at] < GAP_WIDE * fmax(b->n[at - 1], 1) || separate(b, at) >= 3 ||
	    verdict_of(g->model.order) == SLOPE_VERDICT_CONSTANT)
		return false;
	slope_bins_part(&lower, b, 0, at);
	if (!slope_fit_order(&again, &lower, g->model.order, g->model.linear != 0, 0))
		return true;
	for (size_t i = at; i < b->count; i++) {
		double foretold = slope_model_at(&again.model, b->n[i]);

		if (foretold < b->cost[i] / FORETOLD || foretold > b->cost[i] * FORETOLD)
			return true;
	}
	return false;
}

/*
 * A steep order that only the topmost sizes speak for: they stand alone above a
 * gap, and those below it, by the order that they have themselves, foretell
 * much less. That may be one event.
 */
static bool rests_on_the_top(const struct slope_growth *g, const struct slope_bins *b)
{
	size_t at = SIZES_LEAST;
	struct slope_bins lower;
	struct slope_contest below;

	if (slope_order_compare(g->model.order, order_n_log_n) <= 0)
		return false;
	while (at < b->count && (b->n[at] < TOP_GAP * fmax(b->n[at - 1], 1) || separate(b, at) >= 3))
		at++;
	if (at >= b->count)
		return false;
	slope_bins_part(&lower, b, 0, at);
	slope_contest_hold(&below, &lower);
	for (size_t i = at; i < b->count; i++) {
		double foretold = slope_model_at(&below.fit[below.best].model, b->n[i]);

		if (below.there[below.power])
			foretold = fmax(foretold, slope_model_at(&below.fit[below.power].model, b->n[i]));
		if (foretold < b->cost[i] / TOP_FORETOLD)
			return true;
	}
	return false;
}

/*
 * Below, the constant and the linear term cover a steep one, so that a bend or
 * the last few sizes alone decide how steep it is. It must show over some range.
 */
static bool begins_late(const struct slope_growth *g, const struct slope_bins *b)
{
	const struct slope_model *m = &g->model;
	size_t first = b->count;

	if (slope_order_compare(m->order, order_n) <= 0)
		return false;
	while (first > 0 && m->factor * slope_order_at(m->order, b->n[first - 1]) >= SHOWS * slope_model_at(m, b->n[first - 1]))
		first--;
	if (b->count - first < SHOWS_BINS)
		return true;
	if (m->order.base)
		return (g->to - b->n[first]) * log(m->order.base) < SHOWS_FOLDS;
	return g->to < SHOWS_RANGE * b->n[first];
}

/* Enough to be believed? Otherwise, why not. */
static enum slope_reason doubt(const struct slope_growth *g, const struct slope_bins *b)
{
	double error, slope = log_slope(b, 0, &error);

	if (slope + 2.2 * error < -0.1)
		return SLOPE_REASON_FALLING;
	if (g->error > ERROR_MOST || (g->error > 0.25 && g->error > 3 * b->noise))
		return b->noise < NOISE_MUCH ? SLOPE_REASON_NO_FIT : SLOPE_REASON_SCATTERED;
	if (verdict_of(g->model.order) == SLOPE_VERDICT_CONSTANT && (g->high > 0.3 || g->low < -0.3))
		return SLOPE_REASON_SCATTERED;
	if (tail_disagrees(&g->model, b))
		return SLOPE_REASON_NO_FIT;
	if (begins_late(g, b))
		return SLOPE_REASON_LATE;
	if (spread(g) > SPREAD_MOST)
		return SLOPE_REASON_SEVERAL;
	return rests_on_a_gap(g, b) || rests_on_the_top(g, b) ? SLOPE_REASON_GAP : SLOPE_REASON_NONE;
}

static double falloff(double x, double half)
{
	return isfinite(x) ? 1 / (1 + x / half * x / half) : 0.5;
}

/* Sizes, range, gaps, error, how wide the answer is, and whether the lower sizes foretold the upper ones. */
static void set_evidence(struct slope_growth *g, const struct slope_bins *b)
{
	double range = log(g->to / fmax(g->from, 1)) / log(64), width = isfinite(g->high) ? g->high - g->low : 0;
	double e = fmin((double)b->count / 12, 1) * fmin(fmax(range, 0.1), 1);

	/* A gap below which there is little tells nothing; one above which there is little tells too much. */
	if (separate(b, widest_gap(b)) < ABOVE_GAP)
		e *= falloff(fmax(log10(g->gap_to / fmax(g->gap_from, 1) / 2), 0), 1);
	/* No lower part of an exponential foretells its upper one. */
	e *= falloff(g->error, 0.4) * falloff(width, 0.6) * falloff(g->model.order.base ? NAN : g->holdout, 0.8);
	g->evidence = fmin(fmax(e, 0), 1);
}

static void set_grade(struct slope_growth *g)
{
	double e = g->evidence;

	g->grade = g->verdict == SLOPE_VERDICT_INCONCLUSIVE ? '-' : e >= 0.7 ? 'A' : e >= 0.45 ? 'B' : e >= 0.2 ? 'C' : 'D';
}

static void conclude(struct slope_growth *g, const struct slope_contest *c, const struct slope_bins *b, unsigned rounds)
{
	const struct slope_fit *best = &c->fit[c->best];

	g->fitted = true;
	g->model = best->model;
	g->error = best->error;
	g->from = b->n[0];
	g->to = b->n[b->count - 1];
	slope_contest_range(c, &g->least, &g->most);
	allow_for_offset(g);
	set_exponent(g, c, b, rounds);
	g->r2 = log_r2(b, &g->model);
	g->top_slope = top_slope(b);
	g->holdout = hold_out(b, best);
	g->gap_from = b->n[widest_gap(b) - 1];
	g->gap_to = b->n[widest_gap(b)];
	g->reason = doubt(g, b);
	set_evidence(g, b);
	if (!g->reason && g->evidence < EVIDENCE_LEAST && verdict_of(g->model.order) > SLOPE_VERDICT_LINEARITHMIC)
		g->reason = SLOPE_REASON_WEAK;
	g->verdict = g->reason ? SLOPE_VERDICT_INCONCLUSIVE : verdict_of(g->model.order);
	set_grade(g);
}

static void answer_nothing(struct slope_growth *g, enum slope_reason reason)
{
	g->verdict = SLOPE_VERDICT_INCONCLUSIVE;
	g->reason = reason;
	g->evidence = 0;
	g->grade = '-';
}

/* Called often, and always with about the same size: it will hardly be another with larger inputs. */
static bool is_fixed(const struct slope_curve *curve)
{
	double calls = 0;

	for (size_t i = 0; i < curve->count; i++)
		calls += curve->point[i].calls;
	return calls >= CALLS_MANY * (double)curve->count &&
	       curve->point[curve->count - 1].n <= RANGE_FIXED * fmax(curve->point[0].n, 1);
}

/* The sizes are all about the same, and the costs far apart: the work does not come from what is read. */
static bool is_unrelated(const struct slope_curve *curve)
{
	double least = INFINITY, most = 0;

	for (size_t i = 0; i < curve->count; i++) {
		least = fmin(least, curve->point[i].cost[SLOPE_COST_MIN]);
		most = fmax(most, curve->point[i].cost[SLOPE_COST_MAX]);
	}
	double range = curve->point[curve->count - 1].n / fmax(curve->point[0].n, 1);

	return most > UNRELATED * range * range * range * fmax(least, 1);
}

void slope_growth_of(struct slope_growth *g, const struct slope_curve *curve, enum slope_statistic of, bool thorough)
{
	struct slope_bins all, upper;
	struct slope_break found;
	struct slope_contest c;
	unsigned rounds = thorough ? ROUNDS_THOROUGH : ROUNDS;

	memset(g, 0, sizeof(*g));
	g->exponent = g->low = g->high = g->r2 = g->error = g->top_slope = g->holdout = NAN;
	g->sizes = curve->count;
	if (!curve->count) {
		answer_nothing(g, SLOPE_REASON_NO_POINTS);
		return;
	}
	g->n_min = g->from = curve->point[0].n;
	g->n_max = g->to = curve->point[curve->count - 1].n;
	slope_bins_init(&all, curve, of, g);
	g->bins = all.count;
	if (is_fixed(curve)) {
		answer_nothing(g, is_unrelated(curve) ? SLOPE_REASON_UNRELATED : SLOPE_REASON_FIXED);
		return;
	}
	if (all.count < SIZES_LEAST) {       /* many sizes in few bins lie close together */
		answer_nothing(g, curve->count < SIZES_LEAST ? SLOPE_REASON_FEW_SIZES : SLOPE_REASON_NARROW);
		return;
	}
	slope_contest_hold(&c, &all);
	if (slope_regimes_find(&found, &all, &c.fit[c.best])) {
		slope_bins_part(&upper, &all, found.at, all.count - found.at);
		slope_contest_hold(&c, &upper);
		g->broken = true;
		g->below = found.below;
		conclude(g, &c, &upper, rounds);
	} else {
		conclude(g, &c, &all, rounds);
	}
	if (g->verdict != SLOPE_VERDICT_EXPONENTIAL && g->to < RANGE_LEAST * fmax(g->from, 1))
		answer_nothing(g, is_unrelated(curve) ? SLOPE_REASON_UNRELATED : SLOPE_REASON_NARROW);
	else if (separate(&all, 0) < SIZES_LEAST)
		answer_nothing(g, SLOPE_REASON_FEW_SIZES);
}

bool slope_growth_is_steep(const struct slope_growth *g)
{
	return (g->verdict == SLOPE_VERDICT_SUPERLINEAR && g->low > STEEP) || g->verdict == SLOPE_VERDICT_EXPONENTIAL;
}

char *slope_growth_text(const struct slope_growth *g, char text[SLOPE_GROWTH_TEXT])
{
	char least[SLOPE_ORDER_TEXT], most[SLOPE_ORDER_TEXT];

	slope_order_text(g->least, least);
	slope_order_text(g->most, most);
	if (g->verdict == SLOPE_VERDICT_INCONCLUSIVE)
		snprintf(text, SLOPE_GROWTH_TEXT, "inconclusive");
	else if (!strcmp(least, most))       /* n^3 and n^2.998 look alike */
		snprintf(text, SLOPE_GROWTH_TEXT, "%s", most);
	else
		snprintf(text, SLOPE_GROWTH_TEXT, "%s .. %s", least, most);
	return text;
}

char *slope_growth_interval(const struct slope_growth *g, char text[SLOPE_INTERVAL_TEXT])
{
	if (isfinite(g->low) && isfinite(g->high))
		snprintf(text, SLOPE_INTERVAL_TEXT, "%.2f..%.2f", fmax(g->low, 0), fmax(g->high, 0));
	else
		text[0] = '\0';
	return text;
}

/* A round number at or above x. */
static double rounded_up(double x)
{
	double unit = pow(10, floor(log10(fmax(x, 1))));

	return ceil(x / unit) * unit;
}

char *slope_growth_advice(const struct slope_growth *g, char text[SLOPE_ADVICE_TEXT])
{
	size_t missing = g->sizes < SIZES_LEAST ? SIZES_LEAST - g->sizes : 1;

	switch (g->reason) {
	case SLOPE_REASON_NONE:
	case SLOPE_REASON_FIXED:
		text[0] = '\0';
		break;
	case SLOPE_REASON_NO_POINTS:
		snprintf(text, SLOPE_ADVICE_TEXT, "record its input sizes (record --input=both, and not with the sampler)");
		break;
	case SLOPE_REASON_FEW_SIZES:
		snprintf(text, SLOPE_ADVICE_TEXT,
			 "run inputs of at least %zu more size%s, up to n = %.0f or beyond, and merge the profiles",
			 missing, missing == 1 ? "" : "s", rounded_up(g->n_max * 8));
		break;
	case SLOPE_REASON_NARROW:
		snprintf(text, SLOPE_ADVICE_TEXT, "run inputs with n up to %.0f or beyond, and merge the profiles",
			 rounded_up(g->n_min * 64));
		break;
	case SLOPE_REASON_UNRELATED:
		snprintf(text, SLOPE_ADVICE_TEXT, "its work does not come from what it reads; slope explain has its callees");
		break;
	case SLOPE_REASON_GAP:
		snprintf(text, SLOPE_ADVICE_TEXT, "run inputs with n between %.0f and %.0f, and merge the profiles", g->gap_from,
			 g->gap_to);
		break;
	default:
		snprintf(text, SLOPE_ADVICE_TEXT, "run inputs with n up to %.0f or beyond; slope show has the plot",
			 rounded_up(g->n_max * 8));
	}
	return text;
}
