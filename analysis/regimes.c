/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/regimes.h"

#include <math.h>

#define BINS_LEAST 5u            /* of each regime */
#define RANGE_LEAST 3.0          /* of the upper regime: largest over smallest size */
#define ERROR_FINE 0.04          /* a single model this good needs no second one */
#define ERROR_GAIN 0.6           /* of the error, at most so much is left with two models */
#define UPPER_LEAST 8u           /* bins that have a law of their own, whatever the lower ones do */
#define CRITERION_GAIN 10.0
#define PLACES 3u                /* breaks that are tried with models, on each side of the best by lines */

static const struct slope_order simple[] = {
	{ 0, 0, 0 }, { 0, 1, 0 }, { 0.5, 0, 0 }, { 1, 0, 0 }, { 1, 1, 0 }, { 1.5, 0, 0 }, { 2, 0, 0 }, { 3, 0, 0 },
};

/* Sums for a line through (log n, log cost): prefix sums make every part of the curve a subtraction. */
struct sums {
	double w, x, y, xx, xy, yy;
};

static double line_remainder(const struct sums *to, const struct sums *from)
{
	double w = to->w - from->w, x = to->x - from->x, y = to->y - from->y;
	double xx = to->xx - from->xx - x * x / w, xy = to->xy - from->xy - x * y / w, yy = to->yy - from->yy - y * y / w;

	return xx > 0 ? yy - xy * xy / xx : yy;
}

static bool allowed(const struct slope_bins *b, size_t at)
{
	return at >= BINS_LEAST && at + BINS_LEAST <= b->count && b->n[b->count - 1] >= RANGE_LEAST * b->n[at];
}

/* The break that two straight lines on log-log axes like best. */
static size_t break_by_lines(const struct slope_bins *b)
{
	struct sums sum[SLOPE_BINS_MAX + 1] = { { 0 } };
	double least = INFINITY;
	size_t best = 0;

	for (size_t i = 0; i < b->count; i++) {
		double w = b->weight[i], x = b->log_n[i], y = log(fmax(b->cost[i], 0.5));

		sum[i + 1] = (struct sums){ sum[i].w + w, sum[i].x + w * x, sum[i].y + w * y, sum[i].xx + w * x * x,
					    sum[i].xy + w * x * y, sum[i].yy + w * y * y };
	}
	for (size_t at = BINS_LEAST; at < b->count; at++) {
		if (!allowed(b, at))
			continue;
		double rest = line_remainder(&sum[at], &sum[0]) + line_remainder(&sum[b->count], &sum[at]);

		if (rest < least) {
			least = rest;
			best = at;
		}
	}
	return best;
}

static bool best_simple(struct slope_fit *best, const struct slope_bins *part)
{
	struct slope_fit f;
	bool found = false;

	for (size_t i = 0; i < sizeof(simple) / sizeof(*simple); i++)
		if (slope_fit_order(&f, part, simple[i], false, 0) && (!found || f.criterion < best->criterion)) {
			*best = f;
			found = true;
		}
	return found;
}

/* The error of both parts together, relative to the whole's bins. */
static bool try_break(struct slope_break *b, const struct slope_bins *all, size_t at, double *upper_error)
{
	struct slope_bins part;
	struct slope_fit lower, upper;

	slope_bins_part(&part, all, 0, at);
	if (!best_simple(&lower, &part))
		return false;
	slope_bins_part(&part, all, at, all->count - at);
	if (!best_simple(&upper, &part))
		return false;
	double count = (double)all->count, low = (double)at;

	*upper_error = upper.error;
	*b = (struct slope_break){
		.at = at,
		.below = lower.model,
		.error = sqrt((lower.error * lower.error * low + upper.error * upper.error * (count - low)) / count),
	};
	return true;
}

/* The error of the single model over the upper bins alone. */
static double error_from(const struct slope_fit *f, size_t at, size_t count)
{
	double sum = 0;

	for (size_t i = at; i < count; i++)
		sum += f->residual[i] * f->residual[i];
	return sqrt(sum / (double)(count - at));
}

static double log_gain(double before, double after)
{
	return log((before * before + 1e-4) / (after * after + 1e-4));
}

/*
 * The lower sizes may be too ragged for any model and still mislead about the
 * upper ones: where those have a law of their own that describes them clearly
 * better, it is what counts for larger inputs.
 */
static bool upper_stands_apart(const struct slope_bins *b, const struct slope_fit *best, size_t at, double own)
{
	double before = error_from(best, at, b->count), bins = (double)(b->count - at);

	return b->count - at >= UPPER_LEAST && own < before * ERROR_GAIN && bins / 2 * log_gain(before, own) > CRITERION_GAIN;
}

bool slope_regimes_find(struct slope_break *found, const struct slope_bins *b, const struct slope_fit *best)
{
	if (best->error < ERROR_FINE || b->count < 2 * BINS_LEAST)
		return false;
	size_t middle = break_by_lines(b);
	struct slope_break one;
	double upper, upper_found = 0;

	if (!middle)
		return false;
	found->error = INFINITY;
	for (size_t at = middle - PLACES; at <= middle + PLACES; at++)
		if (allowed(b, at) && try_break(&one, b, at, &upper) && one.error < found->error) {
			*found = one;
			upper_found = upper;
		}
	struct slope_fit both = { .error = found->error, .parameters = 6, .bins = b->count };
	double effective = slope_fit_effective(best, b->count);

	effective = fmax(effective, (double)b->count / 2);
	if (found->error < best->error * ERROR_GAIN &&
	    slope_fit_criterion(&both, effective) < slope_fit_criterion(best, effective) - CRITERION_GAIN)
		return true;
	return upper_stands_apart(b, best, found->at, upper_found);
}
