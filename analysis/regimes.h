/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A curve that follows one law for small sizes and another for large ones: where it breaks. */
#ifndef SLOPE_ANALYSIS_REGIMES_H
#define SLOPE_ANALYSIS_REGIMES_H

#include "analysis/fit.h"

struct slope_break {
	size_t at;                   /* position of the first bin of the upper regime */
	struct slope_model below;    /* what describes the lower one */
	double error;                /* relative, of the two together */
};

/*
 * Looks for a break that makes two simple models describe the bins clearly
 * better than `best`, the best single one, does. False: there is none.
 */
bool slope_regimes_find(struct slope_break *found, const struct slope_bins *b, const struct slope_fit *best);

#endif
