/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two curves of one function, size by size: how the cost of the second compares
 * with the first where both were measured, and whether the sizes themselves
 * changed.
 *
 * Sizes are gathered in the same geometric bins for both. The logarithm of the
 * ratio of the costs, over the logarithm of n, is 0 everywhere when nothing has
 * changed, whatever the law is: no model has to be chosen. A line through it
 * gives the level (a constant factor) and the tilt (another growth), each
 * with a p value from Student's t; neighbours that err alike count for less.
 */
#ifndef SLOPE_ANALYSIS_RATIO_H
#define SLOPE_ANALYSIS_RATIO_H

#include "analysis/curve.h"

#define SLOPE_RATIO_BINS 40u

struct slope_ratio {
	size_t bins;                 /* sizes (bins) that both have; 0: nothing below has a value but `distance` */
	double from, to;             /* the least and the greatest of them */
	double level, level_error;   /* logarithm of the cost ratio new / old, mean over the bins; its standard error */
	double tilt, tilt_error;     /* how it changes with log n; NaN below three bins */
	double top_tilt, top_error;  /* the same over the upper half of the bins; NaN where that has too few */
	double at_from, at_to;       /* the ratio at both ends: the line, corrected by the bins there */
	double p_level, p_tilt;      /* that chance alone gives so much or more; NaN: no test */
	double distance;             /* part of the calls that have other sizes, by Kolmogorov and Smirnov, but that
				      * sizes nearly alike count as one. NaN without calls */
	double p_sizes;
};

/* No memory is allocated. O(points of both). */
void slope_ratio_of(struct slope_ratio *r, const struct slope_curve *old, const struct slope_curve *now,
		    enum slope_statistic of);

/* Two-sided p value of a count that was `a` and is `b` after `times` as much of the same, when both come from one rate. */
double slope_ratio_counts(double a, double b, double times);

/*
 * Benjamini-Hochberg: of `count` p values (NaN: no test), the greatest that is
 * still a discovery when a share of `level` of all discoveries may be false.
 * -1: none is. Sorts `p`.
 */
double slope_ratio_discoveries(double *p, size_t count, double level);

#endif
