/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What makes a function grow. A call of it costs what it does itself plus what
 * its callees cost; both are known for every size bin of its activations. So
 * each part has a curve over the function's own n: how often the callee was
 * called, what one call cost, and what they cost together. The part that
 * carries most of the growth is the one to look into, and then its parts,
 * level by level down to the culprit.
 *
 * A function that calls itself is looked through: what counts is what its
 * activations do besides, and how often each calls itself.
 */
#ifndef SLOPE_ANALYSIS_EXPLANATION_H
#define SLOPE_ANALYSIS_EXPLANATION_H

#include "analysis/growth.h"

#define SLOPE_PARTS_KEPT 8u      /* of a level, the largest; what the others add up to is `rest` */
#define SLOPE_LEVELS_MAX 8u

struct slope_part {
	uint32_t callee;             /* SLOPE_FN_NONE: the function's own code */
	double share;                /* of the growth of the cost from the smallest sizes to the largest */
	double cost_share;           /* of the cost of all activations */
	double calls_top;            /* of the callee, by one activation with the largest inputs */
	double each_top;             /* what one such call costs */
	struct slope_growth calls, each, cost;   /* per activation, per call, per activation; over the function's n */
	double calls_rise, each_rise, cost_rise; /* log-log slopes from the smallest sizes to the largest; NaN: not known */
};

struct slope_level {
	uint32_t function;
	struct slope_growth growth;
	bool by_growth;              /* shares are of the growth; false: too few sizes, they are of the cost */
	bool contradicts;            /* the callees cost more than all of it: points are lost, or the profile is wrong */
	bool recursive;
	double own_calls;            /* of itself, by one activation, on average */
	double body_rise;            /* of what an activation costs without those; as calls_rise above */
	struct slope_part part[SLOPE_PARTS_KEPT];   /* largest share first */
	size_t parts;
	double rest;                 /* share of the callees that are not kept */
};

enum slope_blame {
	SLOPE_BLAME_NOBODY,          /* nothing grows, or nothing is known */
	SLOPE_BLAME_SELF,            /* the last level's own code */
	SLOPE_BLAME_OFTEN,           /* it calls `callee` more and more often */
	SLOPE_BLAME_BOTH,            /* more often, and each call costs more */
	SLOPE_BLAME_LARGE,           /* it gives `callee` ever more to do */
	SLOPE_BLAME_DEEP,            /* it calls itself, and does as much again each time */
};

struct slope_explanation {
	struct slope_level level[SLOPE_LEVELS_MAX];   /* the first is the function that was asked about */
	size_t levels;
	enum slope_blame blame;
	uint32_t culprit;            /* the function to change: that of the last level */
	uint32_t callee;             /* what it calls; SLOPE_FN_NONE with SLOPE_BLAME_SELF */
	bool known;                  /* false: the profile has no callees by size; recorded by an older version */
};

/*
 * `e` is large: allocate it. False when memory runs out.
 * O(edges + points) for each level.
 */
bool slope_explain(struct slope_explanation *e, const struct slope_profile *p, uint32_t function, uint32_t metric,
		   uint32_t unit);

/*
 * Does the function only hand its growth on: is most of it in callees that it
 * does not call more often for larger inputs? Then `*callee` is the largest,
 * else SLOPE_FN_NONE. No fits, so it is cheap. False when memory runs out.
 * O(edges of the function + points).
 */
bool slope_explain_hands_on(const struct slope_profile *p, uint32_t function, uint32_t metric, uint32_t unit,
			    uint32_t *callee);

#endif
