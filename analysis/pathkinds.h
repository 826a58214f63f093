/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The second half of analysis/pathcosts.h: shares, kinds and order, once everything is counted. */
#ifndef SLOPE_ANALYSIS_PATHKINDS_H
#define SLOPE_ANALYSIS_PATHKINDS_H

#include "analysis/pathcosts.h"

/* Sums over the run, shares and kinds of rows and functions; functions by share. Rows stay where they are. */
void slope_pathkinds_of(struct slope_pathcosts *c);

/* Counts in a file may be anything: sums stop at the largest number. */
static inline uint64_t slope_plus(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

#endif
