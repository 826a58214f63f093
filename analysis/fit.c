/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/fit.h"

#include <math.h>

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

#define COLUMNS 3u
#define LEAST_ERROR 0.01         /* differences below one percent are not held for or against a model */
#define LEADING 0.2              /* of the cost at the largest size: less is a correction, and no growth */
#define RATE_LEAST 0.03          /* of an exponential: one that doubles every 23 cells; slower ones are powers in disguise */
#define GRID 15u                 /* exponents that a bootstrap round tries */
#define ROUNDS_MAX 400u
#define WIDER 1.4                /* a bootstrap's interval is too narrow by about this much: tests/growth/corpus */
#define POWER_MAX 6.0

struct system {
	unsigned columns;
	double q[COLUMNS][SLOPE_BINS_MAX];   /* orthonormal */
	double r[COLUMNS][COLUMNS];
	double y[SLOPE_BINS_MAX];
};

/* Modified Gram-Schmidt on columns that are scaled already. False when one depends on the others. */
static bool orthogonalize(struct system *s, size_t count)
{
	for (unsigned c = 0; c < s->columns; c++) {
		double before = 0, norm = 0;

		for (size_t i = 0; i < count; i++)
			before += s->q[c][i] * s->q[c][i];
		for (unsigned k = 0; k < c; k++) {
			double dot = 0;

			for (size_t i = 0; i < count; i++)
				dot += s->q[k][i] * s->q[c][i];
			for (size_t i = 0; i < count; i++)
				s->q[c][i] -= dot * s->q[k][i];
			s->r[k][c] = dot;
		}
		for (size_t i = 0; i < count; i++)
			norm += s->q[c][i] * s->q[c][i];
		if (!(norm > 1e-16 * before) || !isfinite(norm))
			return false;
		norm = sqrt(norm);
		s->r[c][c] = norm;
		for (size_t i = 0; i < count; i++)
			s->q[c][i] /= norm;
	}
	return true;
}

static void solve(const struct system *s, size_t count, double *coefficient, double *residual)
{
	double along[COLUMNS];

	for (size_t i = 0; i < count; i++)
		residual[i] = s->y[i];
	for (unsigned c = 0; c < s->columns; c++) {
		along[c] = 0;
		for (size_t i = 0; i < count; i++)
			along[c] += s->q[c][i] * residual[i];
		for (size_t i = 0; i < count; i++)
			residual[i] -= along[c] * s->q[c][i];
	}
	for (unsigned c = s->columns; c-- > 0;) {
		double rest = along[c];

		for (unsigned k = c + 1; k < s->columns; k++)
			rest -= s->r[c][k] * coefficient[k];
		coefficient[c] = rest / s->r[c][c];
	}
}

static double left_out_error(const struct system *s, const double *residual, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++) {
		double leverage = 0;

		for (unsigned c = 0; c < s->columns; c++)
			leverage += s->q[c][i] * s->q[c][i];
		double alone = residual[i] / fmax(1 - leverage, 0.02);

		sum += alone * alone;
	}
	return sqrt(sum / (double)count);
}

/* The values of the order over the bins, scaled so that the largest is 1: `unit` is what was divided by. */
static double evaluate(const struct slope_bins *b, struct slope_order order, double *value)
{
	double top = b->n[b->count - 1];

	if (order.base) {
		for (size_t i = 0; i < b->count; i++)
			value[i] = exp((b->n[i] - top) * log(order.base));
		return pow(order.base, top);
	}
	double unit = slope_order_at(order, top);

	for (size_t i = 0; i < b->count; i++)
		value[i] = (order.logs || b->n[i] < 0.5 ? slope_order_at(order, b->n[i]) : exp(order.power * b->log_n[i])) / unit;
	return unit;
}

static bool is_constant(struct slope_order order)
{
	return !order.base && !order.logs && order.power == 0;
}

static void fill(struct system *s, const struct slope_bins *b, const double *value, bool linear, bool constant)
{
	s->columns = constant ? 1 : linear ? 3 : 2;
	for (size_t i = 0; i < b->count; i++) {
		s->y[i] = b->cost[i] * b->scale[i];
		s->q[0][i] = b->scale[i];
		if (constant)
			continue;
		if (linear)
			s->q[1][i] = b->n[i] / b->n[b->count - 1] * b->scale[i];
		s->q[linear ? 2 : 1][i] = value[i] * b->scale[i];
	}
}

double slope_fit_criterion(const struct slope_fit *f, double effective)
{
	double k = f->parameters, rest = fmax((double)f->bins - k - 1, 0.5);

	return effective * log(f->error * f->error + LEAST_ERROR * LEAST_ERROR) + 2 * k + 2 * k * (k + 1) / rest;
}

double slope_fit_effective(const struct slope_fit *f, size_t bins)
{
	double both = 0, all = 0;

	for (size_t i = 0; i < bins; i++) {
		all += f->residual[i] * f->residual[i];
		if (i)
			both += f->residual[i] * f->residual[i - 1];
	}
	double alike = all > 0 && f->error > LEAST_ERROR / 10 ? fmin(fmax(both / all, 0), 0.8) : 0;

	return fmax((double)bins * (1 - alike) / (1 + alike), fmin((double)bins, 6));
}

/* Does the model rise over the upper sizes and stay positive where something was measured? */
static bool sensible(const struct slope_model *m, const struct slope_bins *b)
{
	double before = slope_model_at(m, b->n[0]);

	double top = b->n[b->count - 1], whole = slope_model_at(m, top);

	if (m->factor < 0)
		return false;
	if (!m->linear)
		return true;
	/* What a header takes away from n^1.5 is no multiple of n: a steeper power is in disguise. */
	if (m->linear < 0 && m->order.power > 1 && m->order.power < 2 && !m->order.logs)
		return false;
	if (m->linear > 0 && m->factor * slope_order_at(m->order, top) < LEADING * whole)
		return false;
	for (size_t i = 1; i < b->count; i++) {
		double at = slope_model_at(m, b->n[i]);

		if (at < before * 0.999 || at <= 0)
			return false;
		before = at;
	}
	return true;
}

/* A slow term above a constant far below zero rises faster than n itself: that is no slow growth. */
static bool hides_a_rise(const struct slope_model *m, const struct slope_bins *b)
{
	double first = b->n[0], top = b->n[b->count - 1], before = slope_model_at(m, first);

	return !m->order.base && m->order.power < 1 && m->constant < 0 &&
	       (before <= 0 || slope_model_at(m, top) / before > top / fmax(first, 1));
}

bool slope_fit_order(struct slope_fit *f, const struct slope_bins *b, struct slope_order order, bool linear, unsigned free)
{
	struct system s;
	double value[SLOPE_BINS_MAX], coefficient[COLUMNS], sum = 0;
	bool constant = is_constant(order);
	double unit = constant ? 1 : evaluate(b, order, value);

	if (!isfinite(unit))
		return false;
	fill(&s, b, value, linear, constant);
	if (b->count <= s.columns || !orthogonalize(&s, b->count))
		return false;
	solve(&s, b->count, coefficient, f->residual);
	for (size_t i = 0; i < b->count; i++)
		sum += f->residual[i] * f->residual[i];
	f->error = sqrt(sum / (double)b->count);
	f->left_out = left_out_error(&s, f->residual, b->count);
	f->bins = b->count;
	f->parameters = s.columns + 1 + free;
	f->linear = linear;
	f->criterion = slope_fit_criterion(f, (double)b->count);
	f->model = (struct slope_model){ .order = order, .constant = coefficient[0] };
	f->certainty = INFINITY;
	if (constant)
		return true;
	double deviation = sqrt(sum / (double)(b->count - s.columns)) + LEAST_ERROR / 10;

	f->certainty = coefficient[s.columns - 1] * s.r[s.columns - 1][s.columns - 1] / deviation;
	f->model.factor = coefficient[s.columns - 1] / unit;
	if (linear)
		f->model.linear = coefficient[1] / b->n[b->count - 1];
	return sensible(&f->model, b) && (free || !hides_a_rise(&f->model, b));
}

/* The sum of squares that is left when only `value` (and constant, and linear term) explain the cost. */
static double remainder_of(const struct slope_bins *b, const double *value, const double *scale, bool linear)
{
	double s00 = 0, s01 = 0, s11 = 0, y0 = 0, y1 = 0, yy = 0, s02 = 0, s12 = 0, s22 = 0, y2 = 0;
	double top = b->n[b->count - 1];

	for (size_t i = 0; i < b->count; i++) {
		double w = scale[i] * scale[i], wv = w * value[i];

		s00 += w;
		s01 += wv;
		s11 += wv * value[i];
		y0 += w * b->cost[i];
		y1 += wv * b->cost[i];
		yy += w * b->cost[i] * b->cost[i];
		if (linear) {
			double x = b->n[i] / top;

			s02 += w * x;
			s12 += wv * x;
			s22 += w * x * x;
			y2 += w * x * b->cost[i];
		}
	}
	/* Take out the constant, then the linear term, then the order. */
	double v = s11 - s01 * s01 / s00, yv = y1 - s01 * y0 / s00, rest = yy - y0 * y0 / s00;

	if (linear) {
		double l = s22 - s02 * s02 / s00, yl = y2 - s02 * y0 / s00, vl = s12 - s01 * s02 / s00;

		rest -= yl * yl / l;
		v -= vl * vl / l;
		yv -= vl * yl / l;
	}
	return v > 0 && yv > 0 ? rest - yv * yv / v : rest;
}

static void raise(const struct slope_bins *b, double power, double *value)
{
	double top = b->log_n[b->count - 1];

	for (size_t i = 0; i < b->count; i++)
		value[i] = b->n[i] > 0 ? exp(power * (b->log_n[i] - top)) : 0;
}

static void grow(const struct slope_bins *b, double rate, double *value)
{
	double top = b->n[b->count - 1];

	for (size_t i = 0; i < b->count; i++)
		value[i] = exp(rate * (b->n[i] - top));
}

/* The least value of a function of one number: a grid from `low` to `high`, then golden section around its best place. */
static double search(const struct slope_bins *b, void (*make)(const struct slope_bins *, double, double *), double low,
		     double high, unsigned steps, bool linear)
{
	const double golden = 0.381966;
	double value[SLOPE_BINS_MAX], best = low, least = INFINITY, step = (high - low) / steps;

	for (unsigned i = 0; i <= steps; i++) {
		make(b, low + step * i, value);
		double rest = remainder_of(b, value, b->scale, linear);

		if (rest < least) {
			least = rest;
			best = low + step * i;
		}
	}
	double from = fmax(best - step, low), to = fmin(best + step, high);
	double x = from + golden * (to - from), y = to - golden * (to - from), at_x, at_y;

	make(b, x, value);
	at_x = remainder_of(b, value, b->scale, linear);
	make(b, y, value);
	at_y = remainder_of(b, value, b->scale, linear);
	for (unsigned i = 0; i < 10; i++) {
		if (at_x < at_y) {
			to = y;
			y = x;
			at_y = at_x;
			x = from + golden * (to - from);
			make(b, x, value);
			at_x = remainder_of(b, value, b->scale, linear);
		} else {
			from = x;
			x = y;
			at_x = at_y;
			y = to - golden * (to - from);
			make(b, y, value);
			at_y = remainder_of(b, value, b->scale, linear);
		}
	}
	return (from + to) / 2;
}

bool slope_fit_power(struct slope_fit *f, const struct slope_bins *b, bool linear)
{
	double power = linear ? search(b, raise, 1.15, 4.15, 15, true) : search(b, raise, 0.1, 4.1, 20, false);

	if (power > 4.05 && !linear)
		power = search(b, raise, 4, POWER_MAX, 10, false);
	return slope_fit_order(f, b, (struct slope_order){ .power = power }, linear, 1);
}

bool slope_fit_exponential(struct slope_fit *f, const struct slope_bins *b)
{
	double range = b->n[b->count - 1] - b->n[0];

	if (!(range > 0))
		return false;
	double rate = search(b, grow, 1 / range, fmin(3, 300 / range), 24, false);

	if (rate < RATE_LEAST)
		return false;
	return slope_fit_order(f, b, (struct slope_order){ .base = exp(rate) }, false, 1);
}

/* Where the exponents of a bootstrap are looked for: wide enough that the error at the ends is clearly larger. */
static double reach_of(const struct slope_bins *b, double power, bool linear)
{
	double value[SLOPE_BINS_MAX], reach = 0.02;

	raise(b, power, value);
	double best = fmax(remainder_of(b, value, b->scale, linear), LEAST_ERROR * LEAST_ERROR / 16 * (double)b->count);

	while (reach < 2.5) {
		raise(b, fmax(power - reach, 0.01), value);
		double below = remainder_of(b, value, b->scale, linear);

		raise(b, power + reach, value);
		if (fmin(below, remainder_of(b, value, b->scale, linear)) > best * (1 + 20 / (double)b->count))
			break;
		reach *= 1.6;
	}
	return reach;
}

/* The lowest point of a parabola through three neighbours of the grid. */
static double refine(const double *rest, unsigned at)
{
	if (at == 0 || at == GRID - 1)
		return at;
	double bend = rest[at - 1] - 2 * rest[at] + rest[at + 1];

	return at + (bend > 0 ? 0.5 * (rest[at - 1] - rest[at + 1]) / bend : 0);
}

static unsigned lowest(const double *rest)
{
	unsigned at = 0;

	for (unsigned k = 1; k < GRID; k++)
		if (rest[k] < rest[at])
			at = k;
	return at;
}

/* Exponentially distributed with mean 1; the same row of numbers every time, so that one curve has one answer. */
static double draw(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15u;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	x ^= x >> 31;
	return -log(((double)(x >> 11) + 0.5) * 0x1p-53);
}

void slope_fit_interval(const struct slope_bins *b, double power, bool linear, unsigned rounds, double *low, double *high)
{
	double value[GRID][SLOPE_BINS_MAX], found[ROUNDS_MAX], scale[SLOPE_BINS_MAX], rest[GRID];
	double reach = reach_of(b, power, linear);
	double from = fmax(power - reach, linear ? 1.05 : 0.01), step = (power + reach - from) / (GRID - 1);
	uint64_t state = 1;

	if (rounds > ROUNDS_MAX)
		rounds = ROUNDS_MAX;
	for (unsigned k = 0; k < GRID; k++)
		raise(b, from + step * k, value[k]);
	for (unsigned r = 0; r < rounds; r++) {
		for (size_t i = 0; i < b->count; i++)
			scale[i] = b->scale[i] * sqrt(draw(&state));
		for (unsigned k = 0; k < GRID; k++)
			rest[k] = remainder_of(b, value[k], scale, linear);
		found[r] = from + step * refine(rest, lowest(rest));
	}
	gsl_sort(found, 1, rounds);
	/* Few bins make a bootstrap too sure of itself. */
	double spare = (double)b->count - (linear ? 3.5 : 2.5), wider = WIDER * sqrt((double)b->count / fmax(spare, 0.5));

	*low = fmax(power - (power - gsl_stats_quantile_from_sorted_data(found, 1, rounds, 0.025)) * wider, 0);
	*high = power + (gsl_stats_quantile_from_sorted_data(found, 1, rounds, 0.975) - power) * wider;
}
