/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/bins.h"

#include <math.h>
#include <string.h>

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

#define MODEL_ERROR 0.05         /* no model is truer than this: bounds what many calls of one size may weigh */
#define NEIGHBOURS 3u            /* on each side, that the smooth curve looks at */
#define DISTRUST 0.01            /* what a bin far off counts for the smooth curve */
#define TAIL 0.25                /* a weight grows with n to this power */
#define HEAVY 0.25               /* of the cost: a bin with so much of it is no outlier */
#define ENDS 2u                  /* bins at each end, where the smooth curve only extrapolates */

static size_t count_bins(const struct slope_curve *curve, double per_octave)
{
	size_t bins = 0;
	long last = 0;

	for (size_t i = 0; i < curve->count; i++) {
		long at = slope_curve_bin(curve->point[i].n, per_octave);

		bins += !bins || at != last;
		last = at;
	}
	return bins;
}

struct gathering {
	double n, cost, weight, calls;
};

static void put_bin(struct slope_bins *b, const struct gathering *sum, double variation)
{
	size_t i = b->count++;

	b->n[i] = sum->n / sum->weight;
	b->cost[i] = sum->cost / sum->weight;
	b->total[i] = b->cost[i] * sum->calls;
	b->weight[i] = 1 / (MODEL_ERROR * MODEL_ERROR + variation / sum->calls);
}

/*
 * The mean cost of a bin is that of its calls; the worst and the best are
 * means over its sizes, since the worst of all would belong to the largest n.
 */
static void gather(struct slope_bins *b, const struct slope_curve *curve, enum slope_statistic of, double per_octave)
{
	double single = of == SLOPE_COST_MEAN ? slope_curve_variation(curve) : 0;
	struct gathering sum = { 0 };
	long last = 0;

	for (size_t i = 0; i < curve->count; i++) {
		const struct slope_curve_point *point = &curve->point[i];
		double weight = of == SLOPE_COST_MEAN ? point->calls : 1;
		long at = per_octave ? slope_curve_bin(point->n, per_octave) : (long)i;

		if (i && at != last) {
			put_bin(b, &sum, single);
			sum = (struct gathering){ 0 };
		}
		last = at;
		sum.n += point->n * weight;
		sum.cost += point->cost[of] * weight;
		sum.weight += weight;
		sum.calls += point->calls;
	}
	if (curve->count)
		put_bin(b, &sum, single);
}

static void normalize(struct slope_bins *b)
{
	double sum = 0;

	for (size_t i = 0; i < b->count; i++)
		sum += b->weight[i];
	for (size_t i = 0; i < b->count; i++) {
		b->weight[i] *= (double)b->count / sum;
		b->scale[i] = sqrt(b->weight[i]) / b->smooth[i];
	}
}

/*
 * A line through the neighbours on log-log axes, near ones counting more, and
 * each as much as it is trusted. Returns the logarithm of the cost at bin i;
 * `own` is how much of that is the bin's own.
 */
static double local_line(const struct slope_bins *b, const double *log_cost, const double *trust, size_t i, double *own)
{
	size_t first = i > NEIGHBOURS ? i - NEIGHBOURS : 0;
	size_t last = i + NEIGHBOURS < b->count ? i + NEIGHBOURS : b->count - 1;
	double reach = fmax(b->log_n[i] - b->log_n[first], b->log_n[last] - b->log_n[i]) * 1.2 + 1e-9;
	double w0 = 0, w1 = 0, w2 = 0, y0 = 0, y1 = 0;

	for (size_t k = first; k <= last; k++) {
		double x = b->log_n[k] - b->log_n[i], far = fabs(x) / reach;
		double w = pow(1 - far * far * far, 3) * trust[k];

		w0 += w;
		w1 += w * x;
		w2 += w * x * x;
		y0 += w * log_cost[k];
		y1 += w * x * log_cost[k];
	}
	double determinant = w0 * w2 - w1 * w1;

	if (determinant <= 1e-12 * w0 * w2) {
		*own = trust[i] / w0;
		return y0 / w0;
	}
	*own = trust[i] * w2 / determinant;
	return (w2 * y0 - w1 * y1) / determinant;
}

static double median_of_sizes(const double *value, size_t count)
{
	double sorted[SLOPE_BINS_MAX];

	for (size_t i = 0; i < count; i++)
		sorted[i] = fabs(value[i]);
	gsl_sort(sorted, 1, count);
	return gsl_stats_median_from_sorted_data(sorted, 1, count);
}

/*
 * At the ends only what falls is held against a bin: a last one below the three
 * before it, a first one above the three after it. A last bin that is higher
 * than expected may be the growth that is looked for, and counts in full.
 */
static double off_at_end(const double *log_cost, size_t i, size_t count)
{
	double level = 0;

	if (count < 2 * (ENDS + 3))
		return 0;
	if (i < ENDS) {
		level = fmax(fmax(log_cost[ENDS], log_cost[ENDS + 1]), log_cost[ENDS + 2]);
		return fmax(log_cost[i] - level, 0);
	}
	level = fmin(fmin(log_cost[count - ENDS - 1], log_cost[count - ENDS - 2]), log_cost[count - ENDS - 3]);
	return fmin(log_cost[i] - level, 0);
}

static void note_outlier(struct slope_growth *g, double n, double cost, double expected, double weight)
{
	if (g->outliers < SLOPE_OUTLIERS_KEPT)
		g->outlier[g->outliers] = (struct slope_outlier){ n, cost, expected, weight };
	g->outliers++;
}

/* Sets the smooth curve, how far the bins lie off what their neighbours say, and the noise. */
static void follow(struct slope_bins *b, const double *log_cost, const double *trust, double least, double *apart)
{
	for (size_t i = 0; i < b->count; i++) {
		double own, at = local_line(b, log_cost, trust, i, &own);

		b->smooth[i] = fmax(exp(at), least);
		apart[i] = own < 0.95 ? (log_cost[i] - at) / (1 - own) : 0;
	}
	b->noise = 1.4826 * median_of_sizes(apart, b->count);
}

static double bearable(const struct slope_bins *b)
{
	return fmax(4 * b->noise, 3 * MODEL_ERROR);
}

/* A bin far off makes its neighbours look far off: the farthest among them is the one not to trust. */
static bool distrust(const struct slope_bins *b, const double *apart, double *trust)
{
	bool any = false;

	for (size_t i = ENDS; i + ENDS < b->count; i++) {
		size_t first = i > NEIGHBOURS ? i - NEIGHBOURS : 0, farthest = first;

		for (size_t k = first; k <= i + NEIGHBOURS && k < b->count; k++)
			if (fabs(apart[k]) > fabs(apart[farthest]))
				farthest = k;
		if (farthest != i || fabs(apart[i]) <= bearable(b))
			continue;
		trust[i] = DISTRUST;
		any = true;
	}
	return any;
}

/* Sets the smooth curve; a bin far from what its neighbours say counts less. */
static void smooth(struct slope_bins *b, struct slope_growth *g)
{
	double log_cost[SLOPE_BINS_MAX], apart[SLOPE_BINS_MAX], trust[SLOPE_BINS_MAX];
	double least = SLOPE_LEAST_COST;

	for (size_t i = 0; i < b->count; i++) {
		b->log_n[i] = log(fmax(b->n[i], 0.5));
		log_cost[i] = log(fmax(b->cost[i], SLOPE_LEAST_COST));
		least = fmax(least, b->cost[i] * 1e-9);
		trust[i] = 1;
	}
	follow(b, log_cost, trust, least, apart);
	if (distrust(b, apart, trust))
		follow(b, log_cost, trust, least, apart);
	double most = bearable(b), all = 0;

	for (size_t k = 0; k < b->count; k++)
		all += b->total[k];

	for (size_t i = 0; i < b->count; i++) {
		double off = i >= ENDS && i + ENDS < b->count ? apart[i] : off_at_end(log_cost, i, b->count);

		if (fabs(off) <= most || b->total[i] >= HEAVY * all)
			continue;
		double times = most / fabs(expm1(off)), weight = fmin(times * times, 1);

		b->weight[i] *= weight;
		b->smooth[i] = fmax(exp(log_cost[i] - off), least);
		note_outlier(g, b->n[i], b->cost[i], b->smooth[i], weight);
	}
}

/* Small sizes have their own ways (headers, first calls); what larger inputs will cost is seen at the upper end. */
static void lean_to_the_tail(struct slope_bins *b)
{
	for (size_t i = 0; i < b->count; i++)
		b->weight[i] *= exp(TAIL * (b->log_n[i] - b->log_n[b->count - 1]));
}

void slope_bins_init(struct slope_bins *b, const struct slope_curve *curve, enum slope_statistic of,
		     struct slope_growth *g)
{
	double per_octave = 0;

	b->count = 0;
	b->noise = 0;
	if (curve->count > SLOPE_BINS_MAX)
		for (per_octave = 16; count_bins(curve, per_octave) > SLOPE_BINS_MAX; per_octave /= 2)
			;
	gather(b, curve, of, per_octave);
	if (!b->count)
		return;
	smooth(b, g);
	lean_to_the_tail(b);
	normalize(b);
}

void slope_bins_part(struct slope_bins *part, const struct slope_bins *b, size_t first, size_t count)
{
	part->count = count;
	part->noise = b->noise;
	memcpy(part->n, b->n + first, count * sizeof(*b->n));
	memcpy(part->log_n, b->log_n + first, count * sizeof(*b->n));
	memcpy(part->cost, b->cost + first, count * sizeof(*b->n));
	memcpy(part->smooth, b->smooth + first, count * sizeof(*b->n));
	memcpy(part->weight, b->weight + first, count * sizeof(*b->n));
	normalize(part);
}
