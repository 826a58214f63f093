/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "analysis/forest.h"

#define NODES_MAX (UINT32_MAX / 2)

struct builder {
	struct slope_forest *f;
	const struct slope_callers *c;
	const struct slope_forest_options *o;
	uint32_t k;                  /* callers at most */
	uint32_t *path;              /* by depth: the node that was met last */
	size_t path_capacity;
	double least;                /* weight that a node of this tree must have */
	bool failed;
};

static bool grow(struct slope_forest *f)
{
	uint32_t capacity = f->capacity ? 2 * f->capacity : 256;
	struct slope_forest_node *node = capacity > NODES_MAX ? NULL : realloc(f->node, capacity * sizeof(*node));

	if (!node)
		return false;
	f->node = node;
	f->capacity = capacity;
	return true;
}

static bool reach(struct builder *b, uint32_t depth)
{
	if (depth < b->path_capacity)
		return true;
	size_t capacity = 2 * (size_t)depth + 64;
	uint32_t *path = realloc(b->path, capacity * sizeof(*path));

	if (!path)
		return false;
	b->path = path;
	b->path_capacity = capacity;
	return true;
}

/* Callers above a path that all have one node of the profile at its end. */
static uint32_t left_above(const struct builder *b, const struct slope_callers_node *node)
{
	uint32_t above = b->c->place[node->member[0]].depth - node->depth, more = b->k - node->depth;

	return above < more ? above : more;
}

static bool keep(void *to, const struct slope_callers_node *node)
{
	struct builder *b = to;
	struct slope_forest *f = b->f;
	uint64_t weight = slope_callers_weight(b->o->by, node->calls, node->self, node->total);

	if (!node->depth)
		b->least = b->o->similar * (double)weight;
	if (b->failed || (double)weight < b->least ||
	    (!node->depth && b->o->function == SLOPE_CALLERS_ALL && node->function == SLOPE_FN_ROOT))
		return false;
	if ((f->count == f->capacity && !grow(f)) || !reach(b, node->depth)) {
		b->failed = true;
		return false;
	}
	bool single = b->o->prune && node->members == 1;

	f->node[f->count] = (struct slope_forest_node){
		.function = node->function, .site = node->site, .depth = node->depth, .place = node->member[0],
		.parent = node->depth ? b->path[node->depth - 1] : SLOPE_CONTEXT_NONE,
		.child = SLOPE_CONTEXT_NONE, .sibling = SLOPE_CONTEXT_NONE,
		.cut = single && b->o->similar <= 0 ? left_above(b, node) : 0,
		.calls = node->calls, .self = node->self, .total = node->total, .ended = node->ended,
	};
	b->path[node->depth] = f->count++;
	return !single || b->o->similar > 0;
}

/* ---- pruning ---- */

/*
 * A node stays when something below its parent branches. Nodes stand parents
 * first, so what is below is known when they are looked at from behind.
 */
static bool prune(struct slope_forest *f)
{
	uint32_t *children = calloc((size_t)f->count + 1, sizeof(*children)), *moved = calloc((size_t)f->count + 1, sizeof(*moved));
	bool *branches = calloc((size_t)f->count + 1, sizeof(*branches));
	uint32_t kept = 0;

	if (!children || !moved || !branches) {
		free(children);
		free(moved);
		free(branches);
		return false;
	}
	for (uint32_t i = f->count; i-- > 0;) {
		struct slope_forest_node *n = &f->node[i];

		branches[i] |= children[i] > 1;
		if (n->parent == SLOPE_CONTEXT_NONE)
			continue;
		children[n->parent]++;
		branches[n->parent] |= branches[i];
		if (!branches[i]) {                    /* counts only where the parent does not branch either */
			f->node[n->parent].cut = n->cut + 1;
			f->node[n->parent].place = n->place;
		}
	}
	for (uint32_t i = 0; i < f->count; i++) {
		struct slope_forest_node n = f->node[i];

		if (n.parent != SLOPE_CONTEXT_NONE && !branches[n.parent])
			continue;
		if (branches[i])
			n.cut = 0;
		if (n.parent != SLOPE_CONTEXT_NONE)
			n.parent = moved[n.parent];
		moved[i] = kept;
		f->node[kept++] = n;
	}
	f->count = kept;
	free(children);
	free(moved);
	free(branches);
	return true;
}

/* ---- order ---- */

struct rank {
	uint32_t parent, at, function;
	uint64_t weight;
};

static int by_rank(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;

	if (x->parent != y->parent)
		return x->parent > y->parent ? 1 : -1;
	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	if (x->function != y->function)
		return x->function > y->function ? 1 : -1;
	return (x->at > y->at) - (x->at < y->at);
}

static bool link_children(struct slope_forest *f, enum slope_callers_weight by)
{
	struct rank *rank = calloc((size_t)f->count + 1, sizeof(*rank));

	if (!rank)
		return false;
	for (uint32_t i = 0; i < f->count; i++)
		rank[i] = (struct rank){ f->node[i].parent, i, f->node[i].function, slope_forest_weight(&f->node[i], by) };
	qsort(rank, f->count, sizeof(*rank), by_rank);
	f->root = SLOPE_CONTEXT_NONE;
	for (uint32_t i = f->count; i-- > 0;) {
		uint32_t *first = rank[i].parent == SLOPE_CONTEXT_NONE ? &f->root : &f->node[rank[i].parent].child;

		f->node[rank[i].at].sibling = *first;
		*first = rank[i].at;
	}
	free(rank);
	return true;
}

bool slope_forest_init(struct slope_forest *f, const struct slope_callers *c, const struct slope_forest_options *o)
{
	struct builder b = { .f = f, .c = c, .o = o, .k = o->k < c->k ? o->k : c->k };
	struct slope_callers_walk walk = { .function = o->function, .k = o->k, .sites = o->sites, .visit = keep, .to = &b };

	*f = (struct slope_forest){ .root = SLOPE_CONTEXT_NONE };
	bool ok = slope_callers_walk(c, &walk) && !b.failed && (!o->prune || prune(f)) && link_children(f, o->by);

	free(b.path);
	if (!ok)
		slope_forest_fini(f);
	return ok;
}

void slope_forest_fini(struct slope_forest *f)
{
	free(f->node);
	*f = (struct slope_forest){ .root = SLOPE_CONTEXT_NONE };
}

uint32_t slope_forest_cut_caller(const struct slope_callers *c, const struct slope_forest_node *n, uint32_t nth)
{
	uint32_t at = n->place;

	for (uint32_t i = 0; i < n->depth + nth + 1; i++)
		at = c->place[at].parent;
	return c->place[at].function;
}
