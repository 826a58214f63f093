/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "analysis/callers.h"

/* ---- reading a profile ---- */

/*
 * Gives every node the position where a node is followed by all that is below
 * it. Parents come before their children in a profile, so sizes can be summed
 * up from behind and positions dealt out from the front.
 */
static bool arrange(const struct slope_profile *p, uint32_t *position)
{
	uint32_t count = (uint32_t)p->context_count, roots = 0;
	uint32_t *size = calloc((size_t)count + 1, sizeof(*size)), *next = calloc((size_t)count + 1, sizeof(*next));

	if (!size || !next) {
		free(size);
		free(next);
		return false;
	}
	for (uint32_t i = count; i-- > 0;) {
		size[i]++;
		if (p->context[i].parent != SLOPE_CONTEXT_NONE)
			size[p->context[i].parent] += size[i];
	}
	for (uint32_t i = 0; i < count; i++) {
		uint32_t parent = p->context[i].parent, *from = parent == SLOPE_CONTEXT_NONE ? &roots : &next[parent];

		position[i] = *from;
		*from += size[i];
		next[i] = position[i] + 1;
	}
	free(size);
	free(next);
	return true;
}

static void place_nodes(struct slope_callers *c, uint32_t unit, const uint32_t *position)
{
	for (uint32_t i = 0; i < c->count; i++) {
		const struct slope_profile_context *from = &c->p->context[i];
		struct slope_callers_place *to = &c->place[position[i]];

		*to = (struct slope_callers_place){
			.function = from->function, .site = from->site, .parent = SLOPE_CONTEXT_NONE, .calls = from->calls,
			.self = from->self[unit], .total = from->total[unit], .root = position[i], .node = i,
		};
		if (from->parent != SLOPE_CONTEXT_NONE) {
			to->parent = position[from->parent];
			to->depth = c->place[to->parent].depth + 1;
			to->root = c->place[to->parent].root;
		}
		if (to->depth > c->depth)
			c->depth = to->depth;
		c->calls += to->calls;
		c->self += to->self;
	}
	for (uint32_t i = c->count; i-- > 0;) {
		struct slope_callers_place *here = &c->place[i];

		if (here->end <= i)
			here->end = i + 1;
		if (here->parent != SLOPE_CONTEXT_NONE && c->place[here->parent].end < here->end)
			c->place[here->parent].end = here->end;
	}
}

/* In a forest of slabs, nodes that only carry paths count nothing. A tree has none of them. */
static bool counts(const struct slope_callers *c, const struct slope_callers_place *at)
{
	return c->k == SLOPE_CALLERS_ALL || at->calls || at->self || at->total;
}

static void list_by_function(struct slope_callers *c)
{
	size_t functions = c->p->function_count;

	for (uint32_t i = 0; i < c->count; i++)
		if (counts(c, &c->place[i]))
			c->first[c->place[i].function + 2]++;
	for (size_t f = 2; f < functions + 2; f++)
		c->first[f] += c->first[f - 1];
	/* Entry f + 1 is where function f goes on, and ends as where it ends: the beginning of f + 1. */
	for (uint32_t i = 0; i < c->count; i++)
		if (counts(c, &c->place[i]))
			c->of[c->first[c->place[i].function + 1]++] = i;
}

bool slope_callers_init(struct slope_callers *c, const struct slope_profile *p, uint32_t unit)
{
	size_t count = p->context_count;
	uint32_t *position = calloc(count + 1, sizeof(*position));

	*c = (struct slope_callers){
		.p = p, .count = (uint32_t)count, .k = p->context_k ? p->context_k : SLOPE_CALLERS_ALL,
		.outermost = !p->context_k,
		.place = calloc(count + 1, sizeof(*c->place)),
		.of = calloc(count + 1, sizeof(*c->of)),
		.first = calloc(p->function_count + 2, sizeof(*c->first)),
	};
	bool ok = position && c->place && c->of && c->first && arrange(p, position);

	if (ok) {
		place_nodes(c, unit, position);
		list_by_function(c);
	} else {
		slope_callers_fini(c);
	}
	free(position);
	return ok;
}

void slope_callers_fini(struct slope_callers *c)
{
	free(c->place);
	free(c->of);
	free(c->first);
	*c = (struct slope_callers){ 0 };
}

/* ---- walking ---- */

/* Nodes of the profile whose last calls are the same, as a piece of the arrays below. */
struct group {
	uint32_t begin, end;
	uint32_t function, site, depth, nth, siblings;
};

struct split {
	const struct slope_callers *c;
	const struct slope_callers_walk *walk;
	uint32_t *member, *at;               /* of each piece: nodes, and the callers that they have got to */
	uint32_t *spare_member, *spare_at;
	uint32_t *slot;                      /* by key: which child, and 1; 0 between splits */
	struct group *group;                 /* those that wait, the next one last */
	size_t groups, capacity;
};

static bool more_groups(struct split *s)
{
	size_t capacity = s->capacity ? 2 * s->capacity : 256;
	struct group *group = realloc(s->group, capacity * sizeof(*group));

	if (!group)
		return false;
	s->group = group;
	s->capacity = capacity;
	return true;
}

/* What tells the calls of one caller from those of others. */
static size_t key_of(const struct split *s, uint32_t at)
{
	const struct slope_callers_place *place = &s->c->place[at];

	if (s->walk->sites && place->site != SLOPE_CONTEXT_NONE)
		return s->c->p->function_count + place->site;
	return s->c->place[place->parent].function;
}

/* Puts a group for each caller of `from` behind those that wait; their `end` is the number of their members for now. */
static bool find_callers(struct split *s, const struct group *from)
{
	size_t before = s->groups;

	for (uint32_t i = from->begin; i < from->end; i++) {
		const struct slope_callers_place *place = &s->c->place[s->at[i]];

		if (place->parent == SLOPE_CONTEXT_NONE)
			continue;
		uint32_t *slot = &s->slot[key_of(s, s->at[i])];

		if (!*slot) {
			if (s->groups == s->capacity && !more_groups(s))
				return false;
			s->group[s->groups++] = (struct group){
				.function = s->c->place[place->parent].function, .depth = from->depth + 1,
				.site = s->walk->sites ? place->site : SLOPE_CONTEXT_NONE,
			};
			*slot = (uint32_t)(s->groups - before);
		}
		s->group[before + *slot - 1].end++;
	}
	return true;
}

/* Moves the members to where their group is to be, in their order; those that nobody called stay in front. */
static void move_members(struct split *s, const struct group *from, struct group *child)
{
	uint32_t left = from->begin;

	for (uint32_t i = from->begin; i < from->end; i++) {
		uint32_t at = s->at[i], parent = s->c->place[at].parent;
		uint32_t to = parent == SLOPE_CONTEXT_NONE ? left++ : child[s->slot[key_of(s, at)] - 1].end++;

		s->spare_member[to] = s->member[i];
		s->spare_at[to] = at;
	}
	for (uint32_t i = left; i < from->end; i++) {
		s->member[i] = s->spare_member[i];
		s->at[i] = s->spare_at[i];
	}
}

static void reverse(struct group *group, size_t count)
{
	for (size_t i = 0; i < count / 2; i++) {
		struct group other = group[i];

		group[i] = group[count - 1 - i];
		group[count - 1 - i] = other;
	}
}

static bool split_group(struct split *s, struct group from)
{
	size_t before = s->groups;

	if (!find_callers(s, &from))
		return false;
	struct group *child = s->group + before;
	size_t children = s->groups - before;
	uint32_t begin = from.end;

	for (size_t i = children; i-- > 0;) {
		begin -= child[i].end;
		child[i].begin = child[i].end = begin;
		child[i].nth = (uint32_t)i;
		child[i].siblings = (uint32_t)children;
	}
	move_members(s, &from, child);
	for (size_t i = 0; i < children; i++) {
		s->slot[key_of(s, s->at[child[i].begin])] = 0;
		for (uint32_t k = child[i].begin; k < child[i].end; k++)
			s->at[k] = s->c->place[s->at[k]].parent;
	}
	reverse(child, children);
	return true;
}

/* Members stand in the order of the tree: one that lies below the last outermost one is inside its calls. */
static struct slope_callers_node sum_up(const struct split *s, const struct group *g)
{
	struct slope_callers_node node = {
		.function = g->function, .site = g->site, .depth = g->depth, .members = g->end - g->begin,
		.member = s->member + g->begin, .nth = g->nth, .siblings = g->siblings,
	};
	uint32_t covered = 0;

	for (uint32_t i = g->begin; i < g->end; i++) {
		const struct slope_callers_place *place = &s->c->place[s->member[i]];

		node.calls += place->calls;
		node.self += place->self;
		if (s->c->place[s->at[i]].parent == SLOPE_CONTEXT_NONE)
			node.ended += place->calls;
		if (s->c->outermost && s->member[i] < covered)
			continue;
		node.total += place->total;
		covered = place->end;
	}
	return node;
}

static bool walk_function(struct split *s, uint32_t function)
{
	uint32_t first = s->c->first[function], count = s->c->first[function + 1] - first;
	uint32_t k = s->walk->k < s->c->k ? s->walk->k : s->c->k;

	if (!count)
		return true;
	memcpy(s->member, s->c->of + first, count * sizeof(*s->member));
	memcpy(s->at, s->c->of + first, count * sizeof(*s->at));
	if (!s->capacity && !more_groups(s))
		return false;
	s->group[s->groups++] = (struct group){ .end = count, .function = function, .site = SLOPE_CONTEXT_NONE, .siblings = 1 };
	while (s->groups) {
		struct group next = s->group[--s->groups];
		struct slope_callers_node node = sum_up(s, &next);

		if (s->walk->visit(s->walk->to, &node) && next.depth < k && !split_group(s, next))
			return false;
	}
	return true;
}

static bool walk_functions(struct split *s)
{
	if (s->walk->function != SLOPE_CALLERS_ALL)
		return walk_function(s, s->walk->function);
	for (size_t f = 0; f < s->c->p->function_count; f++)
		if (!walk_function(s, (uint32_t)f))
			return false;
	return true;
}

/* The longest list of nodes of one function. */
static size_t most_members(const struct slope_callers *c)
{
	size_t most = 0;

	for (size_t f = 0; f < c->p->function_count; f++)
		if (c->first[f + 1] - c->first[f] > most)
			most = c->first[f + 1] - c->first[f];
	return most;
}

bool slope_callers_walk(const struct slope_callers *c, const struct slope_callers_walk *walk)
{
	size_t most = most_members(c) + 1;
	struct split s = {
		.c = c, .walk = walk,
		.member = calloc(most, sizeof(*s.member)), .at = calloc(most, sizeof(*s.at)),
		.spare_member = calloc(most, sizeof(*s.spare_member)), .spare_at = calloc(most, sizeof(*s.spare_at)),
		.slot = calloc(c->p->function_count + c->p->site_count + 1, sizeof(*s.slot)),
	};
	bool ok = s.member && s.at && s.spare_member && s.spare_at && s.slot && walk_functions(&s);

	free(s.member);
	free(s.at);
	free(s.spare_member);
	free(s.spare_at);
	free(s.slot);
	free(s.group);
	return ok;
}
