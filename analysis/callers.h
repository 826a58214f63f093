/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From where are functions called? A profile's calling context trees, or its
 * forests of slabs, are turned round: for each function a tree that has the
 * function at its root, its callers below it, their callers below them, and so
 * on. A node of it stands for a short path of calls wherever that path occurs,
 * and its numbers are those of all calls that came along it. With at most k
 * callers this is the k-calling-context forest; see docs/contexts.md.
 *
 * The forest of all callers can be hundreds of times the tree that it comes
 * from. So it is walked, not built: the calls of a function are split by their
 * callers level after level, and who watches says where to go on. What is
 * wanted of it is counted (analysis/census.h) or kept (analysis/forest.h).
 */
#ifndef SLOPE_ANALYSIS_CALLERS_H
#define SLOPE_ANALYSIS_CALLERS_H

#include "profile/profile.h"

#define SLOPE_CALLERS_ALL UINT32_MAX        /* callers without end; all functions */

/* A node of the profile's tree or forest. Positions are such that a node and all below it stand together. */
struct slope_callers_place {
	uint32_t function;
	uint32_t site;               /* of the call to it: position in the profile, or SLOPE_CONTEXT_NONE */
	uint32_t parent;             /* SLOPE_CONTEXT_NONE: a root */
	uint32_t root;               /* the first node of its tree: itself, for a root */
	uint32_t depth;              /* calls between it and its root */
	uint32_t end;                /* position behind all that is below it */
	uint32_t node;               /* its position in the profile */
	uint64_t calls, self, total;
};

struct slope_callers {
	const struct slope_profile *p;
	struct slope_callers_place *place;
	uint32_t count;
	uint32_t *of;                /* positions of nodes that count something, by function, ascending within it */
	uint32_t *first;             /* by function: where it begins in `of`; and the end */
	uint32_t k;                  /* callers that the profile knows; SLOPE_CALLERS_ALL for a calling context tree */
	uint32_t depth;              /* of the deepest node */
	uint64_t calls, self;        /* of all nodes */
	bool outermost;              /* totals count a recursion once; from slabs they count every activation */
};

/*
 * Reads the profile for one cost unit; it must outlive the answer. A profile
 * without contexts makes an empty one. False when memory runs out; `c` then
 * holds nothing. O(nodes).
 */
bool slope_callers_init(struct slope_callers *c, const struct slope_profile *p, uint32_t unit);
void slope_callers_fini(struct slope_callers *c);

/*
 * A node of the k-calling-context forest. `calls` and `self` are sums over all
 * calls along this path. `total` is their cost with callees: from a calling
 * context tree, that of calls which are not inside another call along the same
 * path, so that it never exceeds the cost of the run; from slabs, where outer
 * calls are not known, that of every call.
 */
struct slope_callers_node {
	uint32_t function;           /* the caller at this distance; the function itself at depth 0 */
	uint32_t site;               /* where it makes the call, if sites are told apart; SLOPE_CONTEXT_NONE */
	uint32_t depth;              /* callers on the path, 0 at the root */
	uint32_t members;            /* nodes of the profile that it is made of */
	const uint32_t *member;      /* their positions in `place`, ascending; until the visit ends */
	uint32_t nth, siblings;      /* which child of its parent this is, of how many; 0 of 1 for a root */
	uint64_t calls, self, total;
	uint64_t ended;              /* calls for which the path is the whole stack: nobody called its last function */
};

/* Is told of each node, parents first. False: not to go below it. */
typedef bool slope_callers_visit(void *to, const struct slope_callers_node *node);

struct slope_callers_walk {
	uint32_t function;           /* whose callers; SLOPE_CALLERS_ALL: of all functions, one after the other */
	uint32_t k;                  /* at most so many callers; never more than the profile knows */
	bool sites;                  /* calls from different places in one function are different */
	slope_callers_visit *visit;
	void *to;
};

/*
 * O(nodes of the function) for each level that is visited. False when memory
 * runs out, perhaps in the middle.
 */
bool slope_callers_walk(const struct slope_callers *c, const struct slope_callers_walk *walk);

/* By what contexts are hot. The order of the words is that of the enum. */
enum slope_callers_weight { SLOPE_WEIGHT_SELF, SLOPE_WEIGHT_TOTAL, SLOPE_WEIGHT_CALLS };
#define SLOPE_CALLERS_WEIGHTS "self|total|calls"

static inline uint64_t slope_callers_weight(enum slope_callers_weight by, uint64_t calls, uint64_t self, uint64_t total)
{
	return by == SLOPE_WEIGHT_SELF ? self : by == SLOPE_WEIGHT_TOTAL ? total : calls;
}

#endif
