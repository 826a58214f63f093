/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A curve made ready for fitting: sizes gathered in geometric bins, so that
 * thousands of small calls do not outvote the tail, each with a weight from
 * its calls and their variance. A smooth curve through the bins sets the scale
 * for relative errors, the same for all candidates, and shows outliers: they
 * count less, and are never dropped.
 */
#ifndef SLOPE_ANALYSIS_BINS_H
#define SLOPE_ANALYSIS_BINS_H

#include "analysis/growth.h"

#define SLOPE_BINS_MAX 48u

struct slope_bins {
	size_t count;
	double n[SLOPE_BINS_MAX];
	double log_n[SLOPE_BINS_MAX];
	double cost[SLOPE_BINS_MAX];
	double total[SLOPE_BINS_MAX];    /* cost of all calls; slope_bins_part leaves it out */
	double smooth[SLOPE_BINS_MAX];   /* of the cost; never 0 */
	double weight[SLOPE_BINS_MAX];   /* 1 on average */
	double scale[SLOPE_BINS_MAX];    /* sqrt(weight) / smooth: makes a residual a weighted relative error */
	double noise;                /* typical relative distance of the bins from the smooth curve */
};

/* Bins of one statistic of the curve; outliers go into `g`. O(sizes + bins^2). */
void slope_bins_init(struct slope_bins *b, const struct slope_curve *curve, enum slope_statistic of,
		     struct slope_growth *g);

/* The bins from position `first` on, `count` of them, alone; weights are 1 on average again. */
void slope_bins_part(struct slope_bins *part, const struct slope_bins *b, size_t first, size_t count);

#endif
