/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/guess.h"

#include <math.h>
#include <string.h>

#include <gsl/gsl_cdf.h>

#define TAIL_BINS 5u             /* fewer tell nothing */
#define TAIL_BINS_WANTED 6u      /* the tail reaches further down for so many */
#define TAIL_RANGE 2.5           /* largest over smallest size of the tail */
#define HALF_BINS 3u
#define STILL 0.03               /* an interval must lie beyond this for the ratio to move */
#define LEVEL 0.06               /* an interval within this, on both sides of 0, is level */
#define FADING 0.6               /* slope of the tail's upper half over the lower one's: it will come to rest */
#define QUIET 0.6                /* of the slope that a factor of log n would have; less is no order of growth */
#define VISIBLE 0.05             /* difference in slope that makes two orders two curves */
#define LEAST_COST 0.5           /* a cost of nothing has no logarithm */

static const struct slope_order usual[] = {
	{ 0, 0, 0 }, { 0, 1, 0 }, { 0.5, 0, 0 }, { 1, 0, 0 }, { 1, 1, 0 }, { 1.5, 0, 0 },
	{ 2, 0, 0 }, { 2, 1, 0 }, { 3, 0, 0 }, { 4, 0, 0 }, { 0, 0, 2 },
};
#define USUAL (sizeof(usual) / sizeof(*usual))

const char *slope_trend_name(enum slope_trend trend)
{
	static const char *const name[] = {
#define X(id, text, meaning) text,
		SLOPE_TREND_LIST(X)
#undef X
	};

	return name[trend];
}

const char *slope_trend_meaning(enum slope_trend trend)
{
	static const char *const name[] = {
#define X(id, text, meaning) meaning,
		SLOPE_TREND_LIST(X)
#undef X
	};

	return name[trend];
}

/* A weighted line through a part of the logarithms of n and ratio. */
struct line {
	size_t count;
	double slope, xx, rest;      /* xx: weighted squares of x about its mean; rest: of the residuals */
};

struct logs {
	double n[SLOPE_BINS_MAX], ratio[SLOPE_BINS_MAX], weight[SLOPE_BINS_MAX];
};

static struct line line_through(const struct logs *l, size_t first, size_t end)
{
	double w = 0, x = 0, y = 0, xx = 0, xy = 0, yy = 0;

	for (size_t i = first; i < end; i++) {
		w += l->weight[i];
		x += l->weight[i] * l->n[i];
		y += l->weight[i] * l->ratio[i];
	}
	x /= w;
	y /= w;
	for (size_t i = first; i < end; i++) {
		xx += l->weight[i] * (l->n[i] - x) * (l->n[i] - x);
		xy += l->weight[i] * (l->n[i] - x) * (l->ratio[i] - y);
		yy += l->weight[i] * (l->ratio[i] - y) * (l->ratio[i] - y);
	}
	return (struct line){ end - first, xy / xx, xx, fmax(yy - xy * xy / xx, 0) };
}

/* In logarithms from the start: b^n and n^99 have no other way to stay numbers. */
static double log_order(struct slope_order order, double n)
{
	return order.base ? n * log(order.base) : order.power * log(n) + order.logs * log(log2(n + 1));
}

static void fill(struct slope_guess *g, struct logs *l, const struct slope_bins *b)
{
	for (size_t i = 0; i < b->count; i++) {
		if (b->n[i] < 1)
			continue;
		l->n[g->count] = log(b->n[i]);
		l->ratio[g->count] = log(fmax(b->cost[i], LEAST_COST)) - log_order(g->order, b->n[i]);
		l->weight[g->count] = b->weight[i];
		g->n[g->count] = b->n[i];
		g->ratio[g->count] = exp(l->ratio[g->count]);
		g->count++;
	}
}

/* The upper half on a log scale, or more of the curve where that has few bins or little range. */
static bool find_tail(struct slope_guess *g, const struct logs *l)
{
	if (!g->count)
		return false;
	double end = l->n[g->count - 1], least = fmin((l->n[0] + end) / 2, end - log(TAIL_RANGE));

	for (g->tail = 0; l->n[g->tail] < least; g->tail++)
		;
	g->tail -= g->tail > 0 && l->n[g->tail] > end - log(TAIL_RANGE);
	if (g->count - g->tail < TAIL_BINS_WANTED)
		g->tail = g->count > TAIL_BINS_WANTED ? g->count - TAIL_BINS_WANTED : 0;
	return g->count - g->tail >= TAIL_BINS && end - l->n[g->tail] >= log(TAIL_RANGE);
}

static void set_slope(struct slope_guess *g, const struct line *all)
{
	double freedom = (double)all->count - 2;
	double apart = gsl_cdf_tdist_Pinv(0.975, freedom) * sqrt(all->rest / freedom / all->xx);

	g->slope = all->slope;
	g->low = all->slope - apart;
	g->high = all->slope + apart;
}

/* Level in the tail: the weighted mean of the ratio, and its interval. */
static void set_level(struct slope_guess *g, const struct logs *l)
{
	double w = 0, sum = 0, squares = 0, count = (double)(g->count - g->tail);

	for (size_t i = g->tail; i < g->count; i++) {
		w += l->weight[i];
		sum += l->weight[i] * l->ratio[i];
	}
	sum /= w;
	for (size_t i = g->tail; i < g->count; i++)
		squares += l->weight[i] / w * (l->ratio[i] - sum) * (l->ratio[i] - sum);
	double apart = gsl_cdf_tdist_Pinv(0.975, count - 1) * sqrt(squares / (count - 1));

	g->level = exp(sum);
	g->least = exp(sum - apart);
	g->most = exp(sum + apart);
}

struct halves {
	struct line lower, upper;
	double width;                /* of one half, in log n */
	double upper_n;              /* the middle of the upper one, log n */
	double error;                /* of the difference of their slopes, 95 % */
};

static bool split(struct halves *h, const struct slope_guess *g, const struct logs *l)
{
	double middle = (l->n[g->tail] + l->n[g->count - 1]) / 2;
	size_t at = g->tail;

	while (at < g->count && l->n[at] < middle)
		at++;
	while (g->count - at < HALF_BINS && at > g->tail)
		at--;
	if (at - g->tail < HALF_BINS)
		return false;
	h->lower = line_through(l, g->tail, at);
	h->upper = line_through(l, at, g->count);
	h->width = middle - l->n[g->tail];
	h->upper_n = fmax((l->n[at] + l->n[g->count - 1]) / 2, 1);
	double freedom = (double)(g->count - g->tail) - 4;
	double scatter = (h->lower.rest + h->upper.rest) / freedom;

	h->error = gsl_cdf_tdist_Pinv(0.975, freedom) * sqrt(scatter * (1 / h->lower.xx + 1 / h->upper.xx));
	return true;
}

/*
 * A ratio that moves ever less: if each further half of the tail moved by the
 * same fraction less, this is where it would end. The range has the upper half
 * of the tail in it.
 */
static void set_end(struct slope_guess *g, const struct halves *h)
{
	double last = g->ratio[g->count - 1];
	double fading = fmin(fmax(h->upper.slope / h->lower.slope, 0), FADING);

	g->level = last * exp(h->upper.slope * h->width * fading / (1 - fading));
	g->least = g->most = g->level;
	for (size_t i = g->count - h->upper.count; i < g->count; i++) {
		g->least = fmin(g->least, g->ratio[i]);
		g->most = fmax(g->most, g->ratio[i]);
	}
}

/* Clearly less in the upper half than in the lower one. */
static bool fades(const struct halves *h)
{
	double lower = fabs(h->lower.slope), upper = fabs(h->upper.slope);

	return upper <= FADING * lower && lower - upper >= h->error;
}

static enum slope_trend level_or_unclear(struct slope_guess *g, const struct logs *l)
{
	if (g->low < -LEVEL || g->high > LEVEL)
		return SLOPE_TREND_UNCLEAR;
	set_level(g, l);
	return SLOPE_TREND_LEVELS;
}

/* Lower-order terms fade, and so do logarithms, but slower: what still moves like one may be one. */
static enum slope_trend judge(struct slope_guess *g, const struct logs *l)
{
	double middle = fmax((l->n[g->tail] + l->n[g->count - 1]) / 2, 1);
	struct halves h;
	bool moves = g->low > STILL || g->high < -STILL, halved = moves && split(&h, g, l);

	if (halved && fades(&h)) {
		if (fabs(h.upper.slope) > QUIET / h.upper_n)
			return SLOPE_TREND_UNCLEAR;
		set_end(g, &h);
		return SLOPE_TREND_LEVELS;
	}
	if (!moves || fabs(g->slope) <= QUIET / middle)
		return level_or_unclear(g, l);
	if (halved && fabs(h.upper.slope) <= fmin(FADING * fabs(h.lower.slope), h.error))
		return SLOPE_TREND_UNCLEAR;
	return g->slope < 0 ? SLOPE_TREND_FALLS : SLOPE_TREND_RISES;
}

void slope_guess_of(struct slope_guess *guess, const struct slope_curve *curve, enum slope_statistic of,
		    struct slope_order order)
{
	struct slope_growth unused;
	struct slope_bins b;
	struct logs l;

	memset(guess, 0, sizeof(*guess));
	guess->order = order;
	guess->slope = guess->low = guess->high = guess->level = guess->least = guess->most = NAN;
	if (!curve->count)
		return;
	memset(&unused, 0, sizeof(unused));
	slope_bins_init(&b, curve, of, &unused);
	fill(guess, &l, &b);
	if (!find_tail(guess, &l))
		return;
	struct line all = line_through(&l, guess->tail, guess->count);

	set_slope(guess, &all);
	guess->trend = judge(guess, &l);
}

/* How far an order lies above the model, in slope over the model's sizes. */
static double above(const struct slope_growth *g, struct slope_order order)
{
	return slope_order_slope(order, g->from, g->to) - slope_order_slope(g->model.order, g->from, g->to);
}

bool slope_guess_below(const struct slope_growth *g, struct slope_order *order)
{
	bool found = false;

	for (size_t i = 0; g->fitted && i < USUAL; i++)
		if (slope_order_compare(usual[i], g->model.order) < 0 && above(g, usual[i]) < -VISIBLE) {
			*order = usual[i];
			found = true;
		}
	return found;
}

bool slope_guess_above(const struct slope_growth *g, struct slope_order *order)
{
	for (size_t i = 0; g->fitted && i < USUAL; i++)
		if (slope_order_compare(usual[i], g->model.order) > 0 && above(g, usual[i]) > VISIBLE) {
			*order = usual[i];
			return true;
		}
	return false;
}

size_t slope_guess_standard(const struct slope_growth *g, struct slope_order order[SLOPE_GUESSES_STANDARD])
{
	size_t count = 0;

	if (!g->fitted)
		return 0;
	count += slope_guess_below(g, &order[count]);
	order[count++] = g->model.order;
	count += slope_guess_above(g, &order[count]);
	return count;
}
