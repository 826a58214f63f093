/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/slabs.h"
#include "core/variants.h"

#define BLOCK_FIRST 2048u
#define BLOCK_MAX 262144u

struct slope_contexts *slope_contexts_new(struct slope_session *s, struct slope_arena *arena)
{
	struct slope_contexts *c = slope_arena_alloc(arena, sizeof *c);

	if (!c)
		return NULL;
	c->session = s;
	c->arena = arena;
	c->units = s->config.units;
	c->node_bytes = (uint32_t)(sizeof(struct slope_context) + 2 * c->units * sizeof(uint64_t));
	c->k = s->config.context_k;
	c->last = c->k && c->k <= UINT32_MAX / 2 ? 2 * c->k - 1 : UINT32_MAX;
	c->collapse = s->config.context_collapse && !c->k;
	c->bursts = s->config.burst_period != 0;
	c->recording = !c->bursts;
	c->quick = c->units == 1 && !s->config.toggled;
	c->site = SLOPE_SITE_NONE;
	slope_map_init(&c->root, arena);
	slope_map_init(&c->child, arena);
	if (s->config.variant_k && !(c->variants = slope_variants_new(s, arena))) {
		slope_arena_free(arena, c, sizeof *c);
		return NULL;
	}
	return c;
}

static void free_map(struct slope_map *map)
{
	slope_arena_free(map->arena, map->entry, map->capacity * sizeof *map->entry);
}

bool slope_contexts_grow(struct slope_contexts *c, size_t depth)
{
	void *place = c->place;
	bool good = slope_arena_grow(c->arena, &place, &c->places, depth, sizeof(struct slope_context *));

	c->place = place;
	return good;
}

void slope_contexts_free(struct slope_contexts *c)
{
	if (!c)
		return;
	for (struct slope_context_block *b = c->first, *next; b; b = next) {
		next = b->next;
		slope_arena_free(c->arena, b, b->bytes);
	}
	free_map(&c->root);
	free_map(&c->child);
	slope_variants_free(c->variants);
	slope_arena_free(c->arena, c->place, c->places * sizeof(struct slope_context *));
	slope_arena_free(c->arena, c->before, c->befores * sizeof *c->before);
	slope_arena_free(c->arena, c, sizeof *c);
}

static size_t room_in(const struct slope_contexts *c, const struct slope_context_block *b)
{
	return (b->bytes - sizeof *b) / c->node_bytes;
}

static struct slope_context_block *new_block(struct slope_contexts *c)
{
	size_t bytes = !c->newest ? BLOCK_FIRST : c->newest->bytes < BLOCK_MAX ? c->newest->bytes * 2 : BLOCK_MAX;
	struct slope_context_block *b = slope_arena_alloc(c->arena, bytes);

	if (!b)
		return NULL;
	b->bytes = bytes;
	if (c->newest)
		c->newest->next = b;
	else
		c->first = b;
	return c->newest = b;
}

static struct slope_context *new_node(struct slope_contexts *c, struct slope_context *above, uint32_t fn, uint32_t site)
{
	struct slope_context_block *b = c->newest;

	if (c->nodes == UINT32_MAX || ((!b || b->count == room_in(c, b)) && !(b = new_block(c))))
		return NULL;
	struct slope_context *node = slope_context_at(c, b, b->count++);

	node->above = above;
	node->fn = fn;
	node->site = site;
	node->level = above ? above->level + 1 : 0;
	node->number = c->nodes++;
	return node;
}

/* The newest node is not needed after all. */
static void drop_newest(struct slope_contexts *c)
{
	struct slope_context_block *b = c->newest;
	unsigned char *node = (unsigned char *)slope_context_at(c, b, --b->count);

	for (uint32_t i = 0; i < c->node_bytes; i++)
		node[i] = 0;
	c->nodes--;
}

static struct slope_context *root_of(struct slope_contexts *c, uint32_t fn)
{
	bool fresh;
	uint64_t *place = slope_map_put(&c->root, fn, &fresh);

	if (!place)
		return NULL;
	if (!*place)                     /* also one that had no memory the first time */
		*place = (uint64_t)(uintptr_t)new_node(c, NULL, fn, SLOPE_SITE_NONE);
	return (struct slope_context *)(uintptr_t)*place;
}

struct slope_context *slope_context_root(struct slope_contexts *c, uint32_t fn)
{
	struct slope_context *node = root_of(c, fn);

	c->site = SLOPE_SITE_NONE;
	if (node && c->collapse)
		node->active++;
	return node;
}

/* ---- children ---- */

static uint64_t *place_of(struct slope_contexts *c, const struct slope_context *above, uint32_t fn)
{
	bool fresh;

	return slope_map_put(&c->child, (uint64_t)above->number << 32 | fn, &fresh);
}

static bool put_in_map(struct slope_contexts *c, const struct slope_context *above, struct slope_context *node)
{
	uint64_t *place = place_of(c, above, node->fn);

	if (!place)
		return false;
	node->sibling = (struct slope_context *)(uintptr_t)*place;
	*place = (uint64_t)(uintptr_t)node;
	return true;
}

/*
 * All children go from the list into the map. Their places are made first, and
 * that of the one to come: when there is no memory for them, the list stays.
 */
static bool list_to_map(struct slope_contexts *c, struct slope_context *above, uint32_t coming)
{
	struct slope_context *node, *next;

	if (!place_of(c, above, coming))
		return false;
	for (node = above->child; node; node = node->sibling)
		if (!place_of(c, above, node->fn))
			return false;
	for (node = above->child; node; node = next) {
		next = node->sibling;
		put_in_map(c, above, node);
	}
	return true;
}

/* Makes it a child; false when memory runs out. */
static bool adopt(struct slope_contexts *c, struct slope_context *above, struct slope_context *node)
{
	if (above->children == SLOPE_CONTEXT_LIST_MAX && !list_to_map(c, above, node->fn))
		return false;
	if (above->children < SLOPE_CONTEXT_LIST_MAX)
		node->sibling = above->child;
	else if (!put_in_map(c, above, node))
		return false;
	above->child = node;
	above->children++;
	return true;
}

static struct slope_context *in_list(struct slope_context *above, uint32_t fn, uint32_t site)
{
	struct slope_context **at = &above->child, *node;

	while ((node = *at) && (node->fn != fn || node->site != site))
		at = &node->sibling;
	if (node && node != above->child) {
		*at = node->sibling;
		node->sibling = above->child;
		above->child = node;
	}
	return node;
}

static struct slope_context *in_map(const struct slope_contexts *c, struct slope_context *above, uint32_t fn, uint32_t site)
{
	const uint64_t *place = slope_map_get(&c->child, (uint64_t)above->number << 32 | fn);
	struct slope_context *node = place ? (struct slope_context *)(uintptr_t)*place : NULL;

	while (node && node->site != site)
		node = node->sibling;
	if (node)
		above->child = node;
	return node;
}

static struct slope_context *child_of(struct slope_contexts *c, struct slope_context *above, uint32_t fn, uint32_t site);

/* What a new child of `above` has as its twin; NULL and `*ok` false when memory runs out. */
static struct slope_context *twin_for(struct slope_contexts *c, struct slope_context *above, uint32_t fn, uint32_t site, bool *ok)
{
	struct slope_context *twin = NULL;

	*ok = true;
	if (c->k && above->level + 1 >= c->k) {
		twin = above->level + 1 == c->k ? root_of(c, fn) : child_of(c, above->twin, fn, site);
		*ok = twin;
	}
	for (struct slope_context *up = above; c->collapse && up && !twin; up = up->above)
		if (up->fn == fn)
			twin = up;
	return twin;
}

static struct slope_context *child_of(struct slope_contexts *c, struct slope_context *above, uint32_t fn, uint32_t site)
{
	bool listed = above->children <= SLOPE_CONTEXT_LIST_MAX, ok;
	struct slope_context *node = listed ? in_list(above, fn, site) : in_map(c, above, fn, site);

	if (node)
		return node;
	struct slope_context *twin = twin_for(c, above, fn, site, &ok);

	node = ok ? new_node(c, above, fn, site) : NULL;
	if (!node)
		return NULL;
	node->twin = twin;
	if (c->collapse && twin)
		node->level = SLOPE_CONTEXT_WAY_BACK;
	if (adopt(c, above, node))
		return node;
	drop_newest(c);
	return NULL;
}

struct slope_context *slope_context_find(struct slope_contexts *c, struct slope_context *above, uint32_t fn, uint32_t site)
{
	struct slope_context *node = child_of(c, above, fn, site);

	if (!node || !c->collapse)
		return node;
	if (node->twin)
		node = node->twin;
	node->active++;
	return node;
}
