/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/regrow.h"

#include <stdlib.h>
#include <string.h>

#include "profile/build.h"
#include "profile/host.h"

#define NODES_FIRST 1024u

void slope_regrow_begin(struct slope_regrow *r, const struct slope_profile *p)
{
	*r = (struct slope_regrow){ .p = p };
	slope_arena_init(&r->arena, &slope_system_host);
	slope_map_init(&r->pair, &r->arena);
	slope_map_init(&r->child, &r->arena);
}

void slope_regrow_fini(struct slope_regrow *r)
{
	slope_arena_fini(&r->arena);
	free(r->node);
	r->node = NULL;
}

static bool make_room(struct slope_regrow *r)
{
	if (r->count < r->capacity)
		return true;
	size_t more = r->capacity ? 2 * r->capacity : NODES_FIRST;
	void *bigger = realloc(r->node, more * sizeof *r->node);

	if (!bigger)
		return false;
	r->node = bigger;
	r->capacity = more;
	return true;
}

uint32_t slope_regrow_node(struct slope_regrow *r, uint32_t parent, uint32_t thread, uint32_t function, uint32_t site)
{
	bool fresh = true;
	uint64_t *place = NULL;

	if (r->count >= SLOPE_CONTEXT_NONE || !make_room(r))
		return SLOPE_CONTEXT_NONE;
	if (parent != SLOPE_CONTEXT_NONE) {
		uint64_t *pair = slope_map_put(&r->pair, (uint64_t)function << 32 | site, &fresh);

		if (!pair)
			return SLOPE_CONTEXT_NONE;
		if (fresh)
			*pair = r->pair.count;
		place = slope_map_put(&r->child, (uint64_t)parent << 32 | (uint32_t)*pair, &fresh);
		if (!place)
			return SLOPE_CONTEXT_NONE;
		if (!fresh)
			return (uint32_t)*place;
		*place = r->count;
	}
	r->node[r->count] = (struct slope_profile_context){ .function = function, .thread = thread, .parent = parent, .site = site };
	return (uint32_t)r->count++;
}

/* ---- what follows from the tree ---- */

struct sums {
	struct slope_profile *to;            /* its rows and edges alone */
	struct slope_map row, edge;          /* function, thread -> position; caller, callee -> position, in this thread */
	uint32_t *child, *sibling;           /* lists by position, 1 more than it; 0 ends one */
	uint32_t *active;                    /* by function, on the way from the root */
	unsigned units;
};

static void add_totals(struct slope_regrow *r)
{
	for (size_t i = r->count; i--;) {
		struct slope_profile_context *node = &r->node[i];

		for (unsigned u = 0; u < r->p->units; u++) {
			node->total[u] += node->self[u];
			if (node->parent != SLOPE_CONTEXT_NONE)
				r->node[node->parent].total[u] += node->total[u];
		}
	}
}

static bool list_children(struct slope_regrow *r, struct sums *s)
{
	s->child = calloc(r->count + 1, sizeof *s->child);
	s->sibling = calloc(r->count + 1, sizeof *s->sibling);
	s->active = calloc(r->p->function_count + 1, sizeof *s->active);
	if (!s->child || !s->sibling || !s->active)
		return false;
	for (size_t i = r->count; i--;) {
		uint32_t parent = r->node[i].parent;

		if (parent == SLOPE_CONTEXT_NONE)
			continue;
		s->sibling[i] = s->child[parent];
		s->child[parent] = (uint32_t)i + 1;
	}
	return true;
}

static struct slope_profile_row *row_of(struct sums *s, const struct slope_profile_context *node)
{
	bool fresh;
	uint64_t *at = slope_map_put(&s->row, (uint64_t)node->function << 32 | node->thread, &fresh);
	struct slope_profile_row *row = NULL;

	if (!at || !fresh)
		return at ? &s->to->row[*at] : NULL;
	*at = s->to->row_count;
	row = slope_build_row(s->to);
	if (row) {
		row->function = node->function;
		row->thread = node->thread;
	}
	return row;
}

static struct slope_profile_edge *edge_of(struct sums *s, uint32_t caller, const struct slope_profile_context *node)
{
	bool fresh;
	uint64_t *at = slope_map_put(&s->edge, (uint64_t)caller << 32 | node->function, &fresh);
	struct slope_profile_edge *edge = NULL;

	if (!at || !fresh)
		return at ? &s->to->edge[*at] : NULL;
	*at = s->to->edge_count;
	edge = slope_build_edge(s->to);
	if (edge) {
		edge->caller = caller;
		edge->callee = node->function;
		edge->thread = node->thread;
	}
	return edge;
}

/* A node of a function that is active so many times already above it. */
static bool add_node(struct slope_regrow *r, struct sums *s, const struct slope_profile_context *node, uint32_t active)
{
	struct slope_profile_row *row = row_of(s, node);
	struct slope_profile_edge *edge = NULL;

	if (!row || (node->parent != SLOPE_CONTEXT_NONE && !(edge = edge_of(s, r->node[node->parent].function, node))))
		return false;
	row->calls += node->calls;
	if (edge)
		edge->calls += node->calls;
	for (unsigned u = 0; u < s->units; u++) {
		row->self[u] += node->self[u];
		row->total[u] += active ? 0 : node->total[u];
		if (edge)
			edge->cost[u] += active ? 0 : node->total[u];
	}
	return true;
}

/* From a root down and up again. */
static bool descend(struct slope_regrow *r, struct sums *s, uint32_t root)
{
	uint32_t at = root;

	for (;;) {
		const struct slope_profile_context *node = &r->node[at];

		if (!add_node(r, s, node, s->active[node->function]++))
			return false;
		if (s->child[at]) {
			at = s->child[at] - 1;
			continue;
		}
		while (at != root && !s->sibling[at]) {
			s->active[r->node[at].function]--;
			at = r->node[at].parent;
		}
		s->active[r->node[at].function]--;
		if (at == root)
			return true;
		at = s->sibling[at] - 1;
	}
}

static bool sum_up(struct slope_regrow *r, struct sums *s)
{
	uint32_t thread = SLOPE_CONTEXT_NONE;

	slope_map_init(&s->row, &r->arena);
	for (size_t i = 0; i < r->count; i++) {
		if (r->node[i].parent != SLOPE_CONTEXT_NONE)
			continue;
		if (r->node[i].thread != thread)
			slope_map_init(&s->edge, &r->arena);     /* nodes are by thread */
		thread = r->node[i].thread;
		if (!descend(r, s, (uint32_t)i))
			return false;
	}
	return true;
}

/* With what a profile that was not sampled may have there. */
static void free_rows(struct slope_profile *p)
{
	for (size_t i = 0; i < p->row_count; i++)
		for (unsigned m = 0; m < SLOPE_METRICS; m++)
			free(p->row[i].points[m].rows);
	for (size_t i = 0; i < p->edge_count; i++)
		free(p->edge[i].sizes.row);
	free(p->row);
	free(p->edge);
}

static void take_over(struct slope_regrow *r, struct sums *s, struct slope_profile *p)
{
	qsort(s->to->row, s->to->row_count, sizeof *s->to->row, slope_build_compare_rows);
	if (s->to->edge_count)
		qsort(s->to->edge, s->to->edge_count, sizeof *s->to->edge, slope_build_compare_edges);
	free_rows(p);
	free(p->context);
	p->row = s->to->row;
	p->row_count = s->to->row_count;
	p->edge = s->to->edge;
	p->edge_count = s->to->edge_count;
	p->context = r->node;
	p->context_count = r->count;
	r->node = NULL;
}

bool slope_regrow_end(struct slope_regrow *r, struct slope_profile *p)
{
	struct slope_profile fresh = { 0 };
	struct sums s = { .to = &fresh, .units = p->units };

	if (!r->count)
		return true;
	add_totals(r);
	bool good = list_children(r, &s) && sum_up(r, &s);

	if (good) {
		take_over(r, &s, p);
	} else {
		free(fresh.row);
		free(fresh.edge);
	}
	free(s.child);
	free(s.sibling);
	free(s.active);
	return good;
}
