/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One candidate fitted to bins: cost = constant + linear * n + factor * order(n)
 * by weighted least squares of the relative error. All candidates share the
 * scale of the bins, so their errors can be compared.
 */
#ifndef SLOPE_ANALYSIS_FIT_H
#define SLOPE_ANALYSIS_FIT_H

#include "analysis/bins.h"

struct slope_fit {
	struct slope_model model;
	size_t bins;
	unsigned parameters;         /* that were fitted, the scatter included */
	bool linear;                 /* has a linear term besides its order */
	double error;                /* relative, root of the mean square */
	double left_out;             /* the same, each bin predicted by a fit without it */
	double criterion;            /* AICc; smaller is better */
	double certainty;            /* factor over its standard error */
	double residual[SLOPE_BINS_MAX];   /* weighted relative errors */
};

/*
 * Fits the order; with `linear` also a linear term. `free` counts parameters of
 * the order itself (an exponent that was searched for). False when the bins
 * cannot tell the columns apart or the curve would fall; `f` is then of no use.
 */
bool slope_fit_order(struct slope_fit *f, const struct slope_bins *b, struct slope_order order, bool linear, unsigned free);

/* AICc of a fit when its bins count as `effective` independent ones. */
double slope_fit_criterion(const struct slope_fit *f, double effective);

/* How many independent bins the residuals are worth: neighbours that err alike say less. */
double slope_fit_effective(const struct slope_fit *f, size_t bins);

/* The best power of n, or base of b^n: searched for. False as above. */
bool slope_fit_power(struct slope_fit *f, const struct slope_bins *b, bool linear);
bool slope_fit_exponential(struct slope_fit *f, const struct slope_bins *b);

/*
 * An interval for the exponent of a power law (with a linear term, of the rest)
 * by bootstrap: `rounds` times the bins get random weights and the power is
 * searched for again near the best one. 95 %. O(rounds * bins).
 */
void slope_fit_interval(const struct slope_bins *b, double power, bool linear, unsigned rounds, double *low, double *high);

#endif
