/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Curves and bins made by hand, for the tests of what fits them. */
#ifndef SLOPE_TESTS_CURVE_SAMPLE_H
#define SLOPE_TESTS_CURVE_SAMPLE_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/bins.h"
#include "tests/growth/random.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static inline void curve_add(struct slope_curve *curve, double n, double calls, double cost)
{
	if (curve->count == curve->capacity) {
		curve->capacity = curve->capacity ? 2 * curve->capacity : 64;
		curve->point = realloc(curve->point, curve->capacity * sizeof(*curve->point));
		assert_non_null(curve->point);
	}
	curve->point[curve->count++] = (struct slope_curve_point){ .n = n, .calls = calls, .cost = { cost, cost, cost } };
}

/* Sizes `ratio` apart, from..to, one call each; not rounded, so that laws are exact. */
static inline struct slope_curve curve_of(const struct slope_model *model, double from, double to, double ratio)
{
	struct slope_curve curve = slope_curve_none();

	for (double n = from; n <= to; n *= ratio)
		curve_add(&curve, n, 1, slope_model_at(model, n));
	return curve;
}

/* Every cost gets a relative error; its logarithm is normal. */
static inline void curve_shake(struct slope_curve *curve, double noise, struct random *r)
{
	for (size_t i = 0; i < curve->count; i++) {
		double times = exp(noise * random_normal(r));

		for (int of = 0; of < SLOPE_STATISTICS; of++)
			curve->point[i].cost[of] *= times;
	}
}

/* The curve's bins; the curve is gone. What lies off the curve is counted in `outliers` if that is not NULL. */
static inline struct slope_bins bins_and_end(struct slope_curve *curve, size_t *outliers)
{
	struct slope_growth g = { 0 };
	struct slope_bins b;

	slope_bins_init(&b, curve, SLOPE_COST_MEAN, &g);
	if (outliers)
		*outliers = g.outliers;
	slope_curve_fini(curve);
	return b;
}

static inline struct slope_bins bins_of(const struct slope_model *model, double from, double to, double ratio)
{
	struct slope_curve curve = curve_of(model, from, to, ratio);

	return bins_and_end(&curve, NULL);
}

/* Equal up to a part of the larger one. */
static inline void alike(double a, double b, double part)
{
	if (!(fabs(a - b) <= part * fmax(fabs(a), fabs(b))))
		fail_msg("%.12g is not %.12g", a, b);
}

#endif
