/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How many contexts a run has, and how many of them matter: sizes of the call
 * graph, the calling context tree, its slabs and its k-calling-context forests
 * for every k; how few functions and contexts make up most of the calls; how
 * far up one has to look. Nothing of it is built; docs/contexts.md has the words.
 */
#ifndef SLOPE_ANALYSIS_CENSUS_H
#define SLOPE_ANALYSIS_CENSUS_H

#include "analysis/callers.h"

#define SLOPE_CENSUS_HOT 0.9     /* hot: the fewest that make up this part of the whole */

/* A run as a whole. The threads themselves count as functions here: they are where contexts begin. */
struct slope_census {
	uint64_t functions, edges;   /* of the call graph */
	uint64_t nodes, roots;       /* of the profile's tree or forest */
	uint64_t calls;
	uint32_t depth;              /* of the deepest context; in slabs at most 2k - 1 */
	double mean_depth;           /* of a call; NaN without calls, and for slabs */
	uint64_t hot_functions, hot_nodes;   /* the latter are whole contexts in a tree, and no answer in slabs */
	uint32_t levels;             /* of the two below: k = 0 .. levels - 1. Beyond the depth they stay as they are */
	uint64_t *forest;            /* nodes of the k-calling-context forest */
	uint64_t *pruned;            /* of the pruned one */
};

/*
 * Sizes for all k up to the given one. False when memory runs out; `s` then
 * holds nothing. O(nodes * k) at worst; paths that do not branch cost O(1).
 */
bool slope_census_init(struct slope_census *s, const struct slope_callers *c, enum slope_callers_weight by, uint32_t k);
void slope_census_fini(struct slope_census *s);

/* Nodes of a forest, pruned or not, for any k. */
static inline uint64_t slope_census_size(const struct slope_census *s, const uint64_t *sizes, uint32_t k)
{
	return !s->levels ? 0 : sizes[k < s->levels ? k : s->levels - 1];
}

/* k-contexts: paths of k callers, and shorter ones where the stack begins. */
struct slope_census_contexts {
	uint64_t contexts, hot;
};

/* False when memory runs out. O(nodes * k). */
bool slope_census_contexts(const struct slope_callers *c, uint32_t k, enum slope_callers_weight by,
			   struct slope_census_contexts *answer);

/* The forest of all callers, reduced to nodes with the part `similar` (0..1) of their function's weight. */
struct slope_census_similar {
	uint64_t nodes, trees;
	double mean_depth;           /* of the trees; NaN without trees */
	double hot_depth;            /* of those of hot functions */
};

/* With at most k callers. */
bool slope_census_similar(const struct slope_callers *c, double similar, uint32_t k, enum slope_callers_weight by,
			  struct slope_census_similar *answer);

/*
 * How many nodes a forest of slabs of this k would have: of a calling context
 * tree. 0 for k = 0 and for what is slabs already. False when memory runs out.
 * O(nodes log nodes).
 */
bool slope_census_slabs(const struct slope_callers *c, uint32_t k, uint64_t *nodes);

#endif
