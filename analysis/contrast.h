/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Does a function grow otherwise when others call it? Where points were
 * recorded by context, its calls are told apart by their nearest callers, and
 * each part has a curve and a growth of its own.
 */
#ifndef SLOPE_ANALYSIS_CONTRAST_H
#define SLOPE_ANALYSIS_CONTRAST_H

#include "analysis/growth.h"

/* Calls of a function that came along the same callers, in all threads. */
struct slope_contrast_part {
	const uint32_t *caller;      /* functions, the nearest first; the profile's */
	uint32_t callers;            /* fewer than asked for: nobody is above them, or they are a rest */
	bool rest;                   /* of calls along more callers, too rare to be kept apart */
	uint64_t calls, total, self;
	const struct slope_profile_row **row;   /* what it is made of */
	size_t rows;
	struct slope_curve curve;
	struct slope_growth growth;  /* of the mean cost */
};

struct slope_contrast {
	struct slope_contrast_part *part;      /* the most costly first */
	size_t count;                /* 0: points were not recorded by context, or the function did not run */
	uint32_t k;                  /* callers by which they are told apart */
	bool differ;                 /* at least one is steeper than another, beyond doubt; what follows has values */
	size_t steepest;             /* position */
	size_t steep, flat;          /* how many are as steep as that one, and how many are less steep beyond doubt */
	struct slope_growth flat_growth;  /* of the latter together; if that is inconclusive, of the most costly of them */
};

/*
 * A function told apart by k callers, or by as few as show a difference when k
 * is 0 (by one if nothing does). `thorough` as in slope_growth_of. False when
 * memory runs out; `v` then holds nothing. O(points of the function) for each k.
 */
bool slope_contrast_init(struct slope_contrast *v, const struct slope_profile *p, uint32_t function, uint32_t k,
			 uint32_t metric, uint32_t unit, bool thorough);
void slope_contrast_fini(struct slope_contrast *v);

/* Is it less steep than the steepest one, beyond doubt; or as steep as that? Neither, where its growth is not known. */
bool slope_contrast_is_flat(const struct slope_contrast *v, const struct slope_contrast_part *part);
bool slope_contrast_is_steep(const struct slope_contrast *v, const struct slope_contrast_part *part);

/*
 * "n^2 from parse_list, n elsewhere", where they differ; else "". To be given to
 * free(); NULL when memory runs out.
 */
char *slope_contrast_text(const struct slope_contrast *v, const struct slope_profile *p);

/* "parse_list", with more callers "parse_list <- parse"; "(start)", "(other callers)". As the above. */
char *slope_contrast_callers(const struct slope_contrast_part *part, const struct slope_profile *p, const char *arrow);

/*
 * What can be known without contexts: calls of one size differ, and those that
 * cost least grow less than those that cost most, beyond doubt. Then the mean is
 * that of a mixture. Both growths are set where this is true.
 */
bool slope_contrast_mixed(const struct slope_curve *curve, struct slope_growth *best, struct slope_growth *worst);

/* How many functions call it. O(edges). */
size_t slope_contrast_callers_of(const struct slope_profile *p, uint32_t function);

#endif
