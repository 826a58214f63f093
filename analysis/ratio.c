/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/ratio.h"

#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_cdf.h>

#define LEAST_SCATTER 0.005      /* of a log ratio: counts are exact, programs are not */
#define OCTAVE_BINS 16u          /* per octave, to begin with */
#define OCTAVE_LEAST 4u          /* where the two runs have different sizes */
#define COMMON_ENOUGH 0.75       /* of the bins of the poorer curve */
#define ALIKE_MOST 0.8           /* correlation of neighbours that is still believed */
#define ALIKE_FACTOR 1.1         /* sizes up to so many times, and ... */
#define ALIKE_CELLS 4            /* ... so many cells, apart are alike: another build has other frames */
#define LINE_LEAST 3u            /* bins that make a line with something left over */
#define SLOPE_MOST 4.0           /* costs that rise faster between two sizes are not due to the sizes */
#define SCATTER_LEAST 4u         /* points that tell how much a curve scatters */
#define TOP_LEAST 5u             /* bins of an upper half that has a tilt of its own */
#define END_BINS 3u              /* what the ends of the line are corrected by; at most LINE_LEAST */

struct bin {
	double log_n, cost, weight, calls;   /* log_n and cost: sums while gathering, then means */
};

struct line {                    /* what is compared: one entry for each common bin */
	size_t count;
	double x[SLOPE_RATIO_BINS], y[SLOPE_RATIO_BINS], w[SLOPE_RATIO_BINS];
};

/* ---- bins ---- */

/* Gathers the bin that begins at *i and moves *i behind it. */
static struct bin take_bin(const struct slope_curve *curve, size_t *i, unsigned per_octave, enum slope_statistic of)
{
	long here = slope_curve_bin(curve->point[*i].n, per_octave);
	struct bin b = { 0 };

	for (; *i < curve->count && slope_curve_bin(curve->point[*i].n, per_octave) == here; ++*i) {
		const struct slope_curve_point *point = &curve->point[*i];
		double weight = of == SLOPE_COST_MEAN ? point->calls : 1;

		b.log_n += weight * log(fmax(point->n, 0.5));
		b.cost += weight * point->cost[of];
		b.weight += weight;
		b.calls += point->calls;
	}
	b.log_n /= b.weight;
	b.cost = fmax(b.cost / b.weight, SLOPE_LEAST_COST);
	return b;
}

/* Bins of both curves, side by side; `keep` NULL only counts them. */
static size_t common_bins(const struct slope_curve *old, const struct slope_curve *now, unsigned per_octave,
			  enum slope_statistic of, struct bin (*keep)[2])
{
	size_t i = 0, k = 0, count = 0;

	while (i < old->count && k < now->count) {
		long a = slope_curve_bin(old->point[i].n, per_octave), b = slope_curve_bin(now->point[k].n, per_octave);

		if (a != b) {
			if (a < b)
				i++;
			else
				k++;
			continue;
		}
		struct bin left = take_bin(old, &i, per_octave, of), right = take_bin(now, &k, per_octave, of);

		if (keep) {
			keep[count][0] = left;
			keep[count][1] = right;
		}
		count++;
	}
	return count;
}

/* Bins of a curve that have sizes from `least` to `most`. */
static size_t own_bins(const struct slope_curve *curve, unsigned per_octave, double least, double most)
{
	size_t bins = 0;
	long last = -1;

	for (size_t i = 0; i < curve->count; i++) {
		long here = slope_curve_bin(curve->point[i].n, per_octave);

		if (curve->point[i].n < least || curve->point[i].n > most)
			continue;
		bins += here != last;
		last = here;
	}
	return bins;
}

/* Do the sizes of two runs miss each other's bins although their ranges overlap? */
static bool too_sparse(const struct slope_curve *old, const struct slope_curve *now, unsigned per_octave)
{
	if (!old->count || !now->count)
		return false;
	double least = fmax(old->point[0].n, now->point[0].n);
	double most = fmin(old->point[old->count - 1].n, now->point[now->count - 1].n);
	size_t a = own_bins(old, per_octave, least, most), b = own_bins(now, per_octave, least, most);

	return (double)common_bins(old, now, per_octave, SLOPE_COST_MEAN, NULL) <
	       COMMON_ENOUGH * (double)(a < b ? a : b);
}

/* Of the old curve around bin i, on log-log axes: sizes may differ a little within a bin. */
static double local_slope(struct bin (*b)[2], size_t count, size_t i)
{
	size_t first = i ? i - 1 : 0, last = i + 1 < count ? i + 1 : i;
	double across = b[last][0].log_n - b[first][0].log_n;

	double slope = across > 1e-6 ? (log(b[last][0].cost) - log(b[first][0].cost)) / across : 0;

	return fmin(fmax(slope, 0), SLOPE_MOST);
}

static void make_line(struct line *l, const struct slope_curve *old, const struct slope_curve *now,
		      enum slope_statistic of)
{
	struct bin b[SLOPE_RATIO_BINS][2];
	unsigned per_octave = OCTAVE_BINS;
	double before = of == SLOPE_COST_MEAN ? slope_curve_variation(old) : 0;
	double after = of == SLOPE_COST_MEAN ? slope_curve_variation(now) : 0;

	while (per_octave > OCTAVE_LEAST && too_sparse(old, now, per_octave))
		per_octave /= 2;
	while (per_octave > 1 && common_bins(old, now, per_octave, of, NULL) > SLOPE_RATIO_BINS)
		per_octave /= 2;
	l->count = common_bins(old, now, per_octave, of, NULL);
	if (l->count > SLOPE_RATIO_BINS)   /* 64 octaves have 64 bins at most: no program has measured so many */
		l->count = 0;
	else
		common_bins(old, now, per_octave, of, b);
	for (size_t i = 0; i < l->count; i++) {
		double apart = b[i][1].log_n - b[i][0].log_n;

		l->x[i] = (b[i][0].log_n + b[i][1].log_n) / 2;
		l->y[i] = log(b[i][1].cost / b[i][0].cost) - local_slope(b, l->count, i) * apart;
		l->w[i] = 1 / (LEAST_SCATTER * LEAST_SCATTER + before / b[i][0].calls + after / b[i][1].calls);
	}
}

/* ---- the line ---- */

/* How much wider an error gets because neighbours err alike. */
static double widening(const struct line *l, const double *rest)
{
	double both = 0, all = 0;

	for (size_t i = 0; i < l->count; i++) {
		all += rest[i] * rest[i];
		if (i)
			both += rest[i] * rest[i - 1];
	}
	double alike = all > 0 ? fmin(fmax(both / all, 0), ALIKE_MOST) : 0;

	return sqrt((1 + alike) / (1 - alike));
}

static double p_of(double value, double error, double freedom)
{
	double t = fabs(value) / error;

	return freedom > 0 ? 2 * gsl_cdf_tdist_Q(t, freedom) : 2 * gsl_cdf_ugaussian_Q(t);
}

/* How far the bins at one end lie off the line: a ratio is not always straight. */
static double end_rest(const struct line *l, const double *rest, size_t first)
{
	double sum = 0, w = 0;

	for (size_t i = first; i < first + END_BINS; i++) {
		sum += rest[i] * sqrt(l->w[i]);
		w += l->w[i];
	}
	return sum / w;
}

/* How much the costs of a curve scatter around a straight line on log-log axes; a guess where it has few points. */
static double own_scatter(const struct slope_curve *curve, enum slope_statistic of)
{
	double x = 0, y = 0, xx = 0, xy = 0, yy = 0, count = (double)curve->count;

	if (curve->count < 2)
		return sqrt(SLOPE_VARIATION_UNKNOWN);
	for (size_t i = 0; i < curve->count; i++) {
		double at = log(fmax(curve->point[i].n, 0.5)), cost = log(fmax(curve->point[i].cost[of], SLOPE_LEAST_COST));

		x += at;
		y += cost;
		xx += at * at;
		xy += at * cost;
		yy += cost * cost;
	}
	xx -= x * x / count;
	xy -= x * y / count;
	yy -= y * y / count;
	double slope = xx > 0 ? fmin(fmax(xy / xx, 0), SLOPE_MOST) : 0;
	double scatter = sqrt(fmax(yy - 2 * slope * xy + slope * slope * xx, 0) / fmax(count - 2, 1));

	return curve->count < SCATTER_LEAST ? fmax(scatter, sqrt(SLOPE_VARIATION_UNKNOWN)) : scatter;
}

/* One or two bins: nothing is left over to learn the scatter from; what each curve scatters as a whole is used. */
static void only_level(struct slope_ratio *r, double mean, double w, double scatter)
{
	r->level = mean;
	r->level_error = fmax(1 / sqrt(w), scatter / sqrt((double)r->bins));
	r->tilt = r->tilt_error = r->p_tilt = NAN;
	r->at_from = r->at_to = exp(mean);
	r->p_level = p_of(r->level, r->level_error, 0);
}

/* Weighted sums of the bins from `first` on, around their mean. */
struct sums {
	double w, x, y, xx, xy;
};

static struct sums sum_up(const struct line *l, size_t first)
{
	struct sums s = { 0 };

	for (size_t i = first; i < l->count; i++) {
		s.w += l->w[i];
		s.x += l->w[i] * l->x[i];
		s.y += l->w[i] * l->y[i];
	}
	s.x /= s.w;
	s.y /= s.w;
	for (size_t i = first; i < l->count; i++) {
		s.xx += l->w[i] * (l->x[i] - s.x) * (l->x[i] - s.x);
		s.xy += l->w[i] * (l->x[i] - s.x) * (l->y[i] - s.y);
	}
	return s;
}

/* The root of the mean square that is left over, in `rest` bin by bin; never less than what counts scatter. */
static double scatter_of(const struct line *l, const struct sums *s, size_t first, double *rest)
{
	double squares = 0, count = (double)(l->count - first), least = LEAST_SCATTER * sqrt(s->w / count);

	for (size_t i = first; i < l->count; i++) {
		rest[i] = sqrt(l->w[i]) * (l->y[i] - s->y - s->xy / s->xx * (l->x[i] - s->x));
		squares += rest[i] * rest[i];
	}
	return fmax(sqrt(squares / (count - 2)), least);
}

static void fit_top(struct slope_ratio *r, const struct line *l)
{
	size_t first = l->count / 2;
	double rest[SLOPE_RATIO_BINS];

	if (l->count - first < TOP_LEAST)
		return;
	struct sums s = sum_up(l, first);

	if (!(s.xx > 0))
		return;
	r->top_tilt = s.xy / s.xx;
	r->top_error = scatter_of(l, &s, first, rest) / sqrt(s.xx);
}

static void fit_line(struct slope_ratio *r, const struct line *l, double own)
{
	struct sums s = sum_up(l, 0);
	double rest[SLOPE_RATIO_BINS], freedom = (double)l->count - 2, last = l->x[l->count - 1];

	if (l->count < LINE_LEAST || !(s.xx > 0)) {
		only_level(r, s.y, s.w, own);
		return;
	}
	r->level = s.y;
	r->tilt = s.xy / s.xx;
	double scatter = scatter_of(l, &s, 0, rest);

	scatter *= widening(l, rest);
	r->level_error = scatter / sqrt(s.w);
	r->tilt_error = scatter / sqrt(s.xx);
	r->p_level = p_of(r->level, r->level_error, freedom);
	r->p_tilt = p_of(r->tilt, r->tilt_error, freedom);
	r->at_from = exp(s.y + r->tilt * (l->x[0] - s.x) + end_rest(l, rest, 0));
	r->at_to = exp(s.y + r->tilt * (last - s.x) + end_rest(l, rest, l->count - END_BINS));
	fit_top(r, l);
}

/* ---- sizes ---- */

static double all_calls(const struct slope_curve *curve)
{
	double calls = 0;

	for (size_t i = 0; i < curve->count; i++)
		calls += curve->point[i].calls;
	return calls;
}

/* The part of calls up to n that `a` has more than `b` has up to a little more than n, where that is most. */
static double ahead(const struct slope_curve *a, const struct slope_curve *b, double all_a, double all_b)
{
	double below_a = 0, below_b = 0, most = 0;
	size_t k = 0;

	for (size_t i = 0; i < a->count; i++) {
		below_a += a->point[i].calls;
		for (; k < b->count && b->point[k].n <= a->point[i].n * ALIKE_FACTOR + ALIKE_CELLS; k++)
			below_b += b->point[k].calls;
		most = fmax(most, below_a / all_a - below_b / all_b);
	}
	return most;
}

/* Kolmogorov's distribution, for a distance that is scaled by the root of the calls. */
static double kolmogorov(double x)
{
	double sum = 0, sign = 1;

	if (x < 0.2)
		return 1;
	for (int k = 1; k <= 100; k++, sign = -sign) {
		double term = exp(-2.0 * k * k * x * x);

		sum += sign * term;
		if (term < 1e-12)
			break;
	}
	return fmin(fmax(2 * sum, 0), 1);
}

static void compare_sizes(struct slope_ratio *r, const struct slope_curve *old, const struct slope_curve *now)
{
	double before = all_calls(old), after = all_calls(now);

	r->distance = r->p_sizes = NAN;
	if (!(before > 0) || !(after > 0))
		return;
	double root = sqrt(before * after / (before + after));

	r->distance = fmax(ahead(old, now, before, after), ahead(now, old, after, before));
	r->p_sizes = kolmogorov((root + 0.12 + 0.11 / root) * r->distance);
}

double slope_ratio_counts(double a, double b, double times)
{
	return a + b > 0 ? 2 * gsl_cdf_ugaussian_Q(fabs(b - a * times) / sqrt(times * (a + b))) : 1;
}

void slope_ratio_of(struct slope_ratio *r, const struct slope_curve *old, const struct slope_curve *now,
		    enum slope_statistic of)
{
	struct line l;

	*r = (struct slope_ratio){
		.from = NAN, .to = NAN, .level = NAN, .level_error = NAN, .tilt = NAN, .tilt_error = NAN,
		.top_tilt = NAN, .top_error = NAN, .at_from = NAN, .at_to = NAN, .p_level = NAN, .p_tilt = NAN,
	};
	compare_sizes(r, old, now);
	make_line(&l, old, now, of);
	r->bins = l.count;
	if (!l.count)
		return;
	r->from = exp(l.x[0]);
	r->to = exp(l.x[l.count - 1]);
	fit_line(r, &l, hypot(own_scatter(old, of), own_scatter(now, of)));
}

/* ---- many tests ---- */

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double slope_ratio_discoveries(double *p, size_t count, double level)
{
	size_t tests = 0;
	double last = -1;

	for (size_t i = 0; i < count; i++)
		if (!isnan(p[i]))
			p[tests++] = p[i];
	qsort(p, tests, sizeof(*p), by_size);
	for (size_t i = 0; i < tests; i++)
		if (p[i] <= level * (double)(i + 1) / (double)tests)
			last = p[i];
	return last;
}
