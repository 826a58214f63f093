/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A k-calling-context forest that is kept: all of it, or the part of it in
 * which most of each function happens (the similar forest), with or without
 * callers that add nothing (the pruned forest).
 */
#ifndef SLOPE_ANALYSIS_FOREST_H
#define SLOPE_ANALYSIS_FOREST_H

#include "analysis/callers.h"

struct slope_forest_node {
	uint32_t function, site;     /* as in struct slope_callers_node */
	uint32_t parent, child, sibling;  /* positions; SLOPE_CONTEXT_NONE: none. Children stand by weight, the heaviest first */
	uint32_t depth;
	uint32_t place;              /* a node of struct slope_callers that has this path above it */
	uint32_t cut;                /* callers further up that pruning has left out */
	uint64_t calls, self, total, ended;
};

struct slope_forest {
	struct slope_forest_node *node;   /* parents before children */
	uint32_t count, capacity;
	uint32_t root;               /* the first tree; the others are its siblings. SLOPE_CONTEXT_NONE: none */
};

struct slope_forest_options {
	uint32_t function;           /* SLOPE_CALLERS_ALL: trees of all functions but the threads themselves */
	uint32_t k;
	bool sites;
	double similar;              /* only nodes with this part of their root's weight, 0..1; 0: all */
	enum slope_callers_weight by;
	bool prune;                  /* of a chain that leads to a leaf, keep the first node */
};

/* False when memory runs out; `f` then holds nothing. */
bool slope_forest_init(struct slope_forest *f, const struct slope_callers *c, const struct slope_forest_options *o);
void slope_forest_fini(struct slope_forest *f);

static inline uint64_t slope_forest_weight(const struct slope_forest_node *n, enum slope_callers_weight by)
{
	return slope_callers_weight(by, n->calls, n->self, n->total);
}

/* The caller `nth` (from 0) of those that pruning has left out behind a node. O(depth). */
uint32_t slope_forest_cut_caller(const struct slope_callers *c, const struct slope_forest_node *n, uint32_t nth);

#endif
