/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Calling contexts of one thread: for every path of callers a node with calls
 * and costs. Two kinds, by the config's context_k:
 *
 * 0: the calling context tree. One root for the thread itself, and one for each
 * function that begins on another stack (a signal handler). With recursion
 * collapsed, a call of a function that is above already goes back to its node.
 *
 * k > 0: the k-slab forest. Levels that k divides begin a slab; a tree has a
 * slab and the one below it, levels 0 to 2k-1, and trees whose roots are the
 * same function are one. Wherever an activation is, it is in two trees: in the
 * lower slab of one, and, with the callers since its slab began, in the upper
 * slab of another. The latter path is the end of the former, so the node in the
 * lower slab knows the other one (`twin`), and it alone is where the activation
 * is and where it counts. A call hence costs the same as in the tree: one child
 * to be found. Below the last level the search goes on at the twin. Nodes in
 * upper slabs count only what is really at the bottom of a stack.
 *
 * The children of a node are a list, the one used last in front. Those of a
 * node that has many are in a map instead, so that a call is O(1) in any case.
 */
#ifndef SLOPE_CORE_SLABS_H
#define SLOPE_CORE_SLABS_H

#include "core/map.h"
#include "core/session.h"

/*
 * A node with more children than this has them in the map. Of children called
 * in random order the map finds one in the time in which a list of four does;
 * a list takes no memory, and most nodes have fewer.
 */
#define SLOPE_CONTEXT_LIST_MAX 4u

/* The level of what is no node. */
#define SLOPE_CONTEXT_WAY_BACK UINT32_MAX

struct slope_context {
	struct slope_context *above;       /* NULL: a root */
	struct slope_context *child;       /* the one used last */
	struct slope_context *sibling;     /* the next child; in the map: the next with the same function, of another site */
	struct slope_context *twin;        /* in a lower slab: see above. In a collapsed tree: this is no node, but a way back */
	struct slope_variant *variant;     /* core/variants.h; NULL: not known yet */
	uint32_t fn, site;                 /* site: SLOPE_SITE_NONE where they are not told apart */
	uint32_t level, children;
	uint32_t number;                   /* smaller than those of its children */
	uint32_t active;                   /* activations on the stack; only kept where recursion is collapsed */
	uint64_t calls;
	uint64_t cost[];                   /* per unit the self cost, then per unit the total of all activations */
};

/* Nodes in order of their numbers, from `first` on. */
struct slope_context_block {
	struct slope_context_block *next;
	size_t count, bytes;               /* bytes: of the block itself */
};

struct slope_contexts {
	struct slope_session *session;
	struct slope_arena *arena;
	uint32_t units, node_bytes;
	uint32_t k;                        /* 0: the tree */
	uint32_t last;                     /* the last level of a tree */
	bool collapse;
	bool recording;                    /* calls get places; always, or in bursts: core/placing.h */
	bool bursts;
	bool quick;                        /* one unit, no toggles */
	struct slope_context **place;      /* of each pending activation; a folded one has its caller's; NULL: lost */
	size_t places;                     /* room for so many */
	uint64_t *before;                  /* per place and unit: its self cost when the burst began; for bursts only */
	size_t befores;
	uint64_t burst_start[SLOPE_UNITS_MAX], burst_end;   /* the end in the first unit */
	uint64_t looked_at, looked_calls;  /* the time and the thread's calls when the time was looked at last */
	uint32_t site;                     /* of the call to come; the source sets it, the call takes it */
	uint32_t nodes;                    /* numbers given */
	struct slope_map root;             /* function -> node */
	struct slope_map child;            /* (number of the node above, function) -> node */
	struct slope_context_block *first, *newest;
	struct slope_variants *variants;   /* NULL: none are kept */
};

/* As the session's config says. NULL when memory runs out. All memory is the arena's. */
struct slope_contexts *slope_contexts_new(struct slope_session *s, struct slope_arena *arena);

/* NULL is fine. */
void slope_contexts_free(struct slope_contexts *c);

/* The rest of slope_contexts_room. */
bool slope_contexts_grow(struct slope_contexts *c, size_t depth);

/* Makes room for the places of so many activations. False when memory runs out; nothing changes then. */
SLOPE_INLINE bool slope_contexts_room(struct slope_contexts *c, size_t depth)
{
	return SLOPE_LIKELY(depth <= c->places) || slope_contexts_grow(c, depth);
}

/* Where the function is when it begins a stack. NULL when memory runs out. O(1). */
struct slope_context *slope_context_root(struct slope_contexts *c, uint32_t fn);

/* The rest of slope_context_call: any child, made on first use. */
struct slope_context *slope_context_find(struct slope_contexts *c, struct slope_context *above, uint32_t fn, uint32_t site);

/* Where the function is when it is called at `node`, from c->site. NULL when memory runs out. O(1). */
SLOPE_INLINE struct slope_context *slope_context_call(struct slope_contexts *c, struct slope_context *node, uint32_t fn)
{
	struct slope_context *above = node->level == c->last ? node->twin : node, *child = above->child;
	uint32_t site = c->site;

	c->site = SLOPE_SITE_NONE;
	if (SLOPE_UNLIKELY(!child || child->fn != fn || child->site != site || c->collapse))
		return slope_context_find(c, above, fn, site);
	return child;
}

/* An activation at `node` ends; costs by unit. */
SLOPE_INLINE void slope_context_count(const struct slope_contexts *c, struct slope_context *node, const uint64_t *total,
				      const uint64_t *self, uint32_t units)
{
	bool outer = !c->collapse || !--node->active;

	for (uint32_t u = 0; u < units; u++) {
		node->cost[u] += self[u];
		node->cost[units + u] += outer ? total[u] : 0;
	}
}

/* No node, but what leads back to one above: not to be shown. */
SLOPE_INLINE bool slope_context_is_way_back(const struct slope_context *node)
{
	return node->level == SLOPE_CONTEXT_WAY_BACK;
}

/* The node, or way back, at position i < count of a block. */
SLOPE_INLINE struct slope_context *slope_context_at(const struct slope_contexts *c, const struct slope_context_block *block, size_t i)
{
	return (struct slope_context *)((unsigned char *)(uintptr_t)(block + 1) + i * c->node_bytes);
}

#endif
