/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Traces of calls, and the profiles of contexts that sources would make of
 * them: a calling context tree, or a forest of slabs by the published
 * algorithm, in which every call counts in a top and in a bottom; at the end
 * the tops are cleared as profile/profile.h says.
 *
 * A trace is a text for small ones: a letter calls a function, ')' returns.
 * "r" is function 0 and is there from the beginning.
 */
#ifndef SLOPE_TESTS_CALLERS_SAMPLE_H
#define SLOPE_TESTS_CALLERS_SAMPLE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/callers.h"

#define TRACE_FUNCTIONS 16u
#define TRACE_DEPTH 64u

/* One thread's tree, or forest of slabs, while it grows. */
struct grower {
	uint32_t k, thread;          /* k = 0: the tree */
	struct slope_profile_context *node;
	uint32_t *child, *sibling, *level;
	uint32_t count, capacity;
	uint32_t root[TRACE_FUNCTIONS];
	struct {
		uint32_t top, bottom;
	} stack[TRACE_DEPTH];
	uint32_t depth;
};

static inline void grower_init(struct grower *g, uint32_t k, uint32_t thread)
{
	*g = (struct grower){ .k = k, .thread = thread };
	for (uint32_t f = 0; f < TRACE_FUNCTIONS; f++)
		g->root[f] = SLOPE_CONTEXT_NONE;
}

static inline uint32_t grower_new(struct grower *g, uint32_t parent, uint32_t function)
{
	if (g->count == g->capacity) {
		g->capacity = g->capacity ? 2 * g->capacity : 64;
		g->node = realloc(g->node, g->capacity * sizeof(*g->node));
		g->child = realloc(g->child, g->capacity * sizeof(*g->child));
		g->sibling = realloc(g->sibling, g->capacity * sizeof(*g->sibling));
		g->level = realloc(g->level, g->capacity * sizeof(*g->level));
		assert_true(g->node && g->child && g->sibling && g->level);
	}
	g->node[g->count] = (struct slope_profile_context){
		.function = function, .thread = g->thread, .parent = parent, .site = SLOPE_CONTEXT_NONE,
	};
	g->child[g->count] = g->sibling[g->count] = SLOPE_CONTEXT_NONE;
	g->level[g->count] = parent == SLOPE_CONTEXT_NONE ? 0 : g->level[parent] + 1;
	if (parent != SLOPE_CONTEXT_NONE) {
		g->sibling[g->count] = g->child[parent];
		g->child[parent] = g->count;
	}
	return g->count++;
}

static inline uint32_t grower_child(struct grower *g, uint32_t parent, uint32_t function)
{
	for (uint32_t i = g->child[parent]; i != SLOPE_CONTEXT_NONE; i = g->sibling[i])
		if (g->node[i].function == function)
			return i;
	return grower_new(g, parent, function);
}

static inline void grower_enter(struct grower *g, uint32_t function)
{
	uint32_t top = SLOPE_CONTEXT_NONE, bottom = SLOPE_CONTEXT_NONE;

	assert_true(g->depth < TRACE_DEPTH);
	if (g->depth) {
		top = g->stack[g->depth - 1].top;
		bottom = g->stack[g->depth - 1].bottom;
	}
	if (!g->depth || (g->k && g->depth % g->k == 0)) {
		bottom = top;
		top = g->root[function];
		if (top == SLOPE_CONTEXT_NONE)
			top = g->root[function] = grower_new(g, SLOPE_CONTEXT_NONE, function);
	} else {
		top = grower_child(g, top, function);
	}
	g->node[top].calls++;
	if (bottom != SLOPE_CONTEXT_NONE) {
		bottom = grower_child(g, bottom, function);
		g->node[bottom].calls++;
	}
	g->stack[g->depth].top = top;
	g->stack[g->depth++].bottom = bottom;
}

static inline void grower_leave(struct grower *g, uint64_t self, uint64_t total)
{
	uint32_t top = g->stack[--g->depth].top, bottom = g->stack[g->depth].bottom;

	g->node[top].self[0] += self;
	g->node[top].total[0] += total;
	if (bottom != SLOPE_CONTEXT_NONE) {
		g->node[bottom].self[0] += self;
		g->node[bottom].total[0] += total;
	}
}

/* Clears the tops, but not the one where the stack begins. */
static inline void grower_end(struct grower *g)
{
	for (uint32_t i = 0; i < g->count; i++) {
		uint32_t root = i;

		while (g->node[root].parent != SLOPE_CONTEXT_NONE)
			root = g->node[root].parent;
		if (!g->k || g->level[i] >= g->k || g->node[root].function == 0)
			continue;
		g->node[i].calls = g->node[i].self[0] = g->node[i].total[0] = 0;
	}
	free(g->child);
	free(g->sibling);
	free(g->level);
}

/* A profile with these functions ('r', 'a', 'b', ...) and nothing else. */
static inline struct slope_profile *contexts_profile(uint32_t k)
{
	struct slope_profile *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	*p = (struct slope_profile){
		.source = strdup("replay"), .runs = 1, .cell_bytes = 4, .units = 1, .unit_name = { strdup("ir") }, .context_k = k,
		.metrics = 1u << SLOPE_METRIC_TRMS, .complete = true, .symbolized = true, .exit_code = 0, .ended = strdup("exit"),
		.module = calloc(2, sizeof(*p->module)), .module_count = 2,
		.function = calloc(TRACE_FUNCTIONS, sizeof(*p->function)), .function_count = TRACE_FUNCTIONS,
		.thread = calloc(1, sizeof(*p->thread)), .thread_count = 1,
	};
	assert_true(p->module && p->function && p->thread);
	p->module[0].path = strdup("");
	p->module[1].path = strdup("/home/ada/made");
	p->thread[0] = (struct slope_profile_thread){ .id = 1, .name = strdup("") };
	for (uint32_t f = 0; f < TRACE_FUNCTIONS; f++) {
		char name[2] = { f ? (char)('a' + f - 1) : 'r', 0 };

		p->function[f] = (struct slope_profile_function){ .module = f != 0, .offset = 16 * f, .name = strdup(name) };
	}
	return p;
}

/* Takes what has grown, behind what the profile has already. */
static inline void contexts_take(struct slope_profile *p, struct grower *g)
{
	uint32_t before = (uint32_t)p->context_count;

	grower_end(g);
	p->context = realloc(p->context, (before + g->count) * sizeof(*p->context));
	assert_non_null(p->context);
	for (uint32_t i = 0; i < g->count; i++) {
		p->context[before + i] = g->node[i];
		if (g->node[i].parent != SLOPE_CONTEXT_NONE)
			p->context[before + i].parent += before;
	}
	p->context_count += g->count;
	free(g->node);
}

static inline uint32_t trace_function(char letter)
{
	return letter == 'r' ? 0 : (uint32_t)(letter - 'a' + 1);
}

struct player {
	struct grower g;
	uint64_t self[TRACE_DEPTH], total[TRACE_DEPTH];
	size_t depth;
};

static inline void player_enter(struct player *p, uint32_t function, uint64_t self)
{
	grower_enter(&p->g, function);
	p->self[p->depth] = p->total[p->depth] = self;
	p->depth++;
}

static inline void player_leave(struct player *p)
{
	assert_true(p->depth);
	p->depth--;
	grower_leave(&p->g, p->self[p->depth], p->total[p->depth]);
	if (p->depth)
		p->total[p->depth - 1] += p->total[p->depth];
}

/* The trace as a thread of the profile: its calls cost 10, 11, 12, ... themselves, the thread 5. */
static inline void contexts_play(struct slope_profile *p, const char *trace, uint32_t thread)
{
	struct player player = { 0 };
	uint64_t cost = 10;

	grower_init(&player.g, p->context_k, thread);
	player_enter(&player, 0, 5);
	for (; *trace; trace++)
		if (*trace == ')')
			player_leave(&player);
		else
			player_enter(&player, trace_function(*trace), cost++);
	player_leave(&player);
	assert_int_equal(player.depth, 0);
	contexts_take(p, &player.g);
}

#endif
