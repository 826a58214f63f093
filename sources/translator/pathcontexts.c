/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Calling contexts for paths: the thread's tree of core/slabs.h, walked by calls
 * alone. Where an activation is in the tree is kept by calls and brought back by returns together with its path. Costs
 * come from paths at the end.
 */
#include "sources/translator/following.h"

#include "core/slabs.h"
#include "sources/translator/observing.h"

#define QUICK __attribute__((no_caller_saved_registers, section("slope_gate_code"), used))
#define CTX ((struct context __seg_gs *)(intptr_t)CTX_AT)
#define NODES_MAX (UINT32_MAX >> 2)
#define EDGES_MAX 4096u

static uint32_t index_of(uint64_t packed)
{
	return (uint32_t)((packed & ~PATHS_MEASURED) >> PATHS_CONTEXT_SHIFT);
}

uint32_t pathcontexts_number(uint64_t packed)
{
	return observer.path_contexts && index_of(packed) ? index_of(packed) - 1 : SLOPE_PATH_CONTEXT_NONE;
}

static void set_node(struct context *ctx, const struct slope_context *node)
{
	ctx->path_context = (uint64_t)(node ? node->number + 1 : 0) << PATHS_CONTEXT_SHIFT;
}

/* Nodes are found by their numbers. False when memory runs out. */
static bool keep(struct context *ctx, struct slope_context *node)
{
	if (!node || node->number >= NODES_MAX ||
	    !slope_arena_grow(&ctx->fiber->core->arena, (void **)&ctx->node, &ctx->node_capacity, node->number + 1u, sizeof *ctx->node))
		return false;
	ctx->node[node->number] = node;
	return true;
}

static struct slope_context *node_at(struct context *ctx)
{
	uint32_t index = index_of(ctx->path_context);

	return index && index <= ctx->node_capacity ? ctx->node[index - 1] : NULL;
}

void pathcontexts_root(struct context *ctx, uint32_t fn)
{
	struct slope_context *root = slope_context_root(ctx->fiber->core->contexts, fn);

	set_node(ctx, keep(ctx, root) ? root : NULL);
}

static uint64_t bits_of(const struct slope_context *node)
{
	return (uint64_t)(node ? node->number + 1 : 0) << PATHS_CONTEXT_SHIFT;
}

/* Calls that were counted in front of the tree go to their node. */
static void take_calls(struct context *ctx, struct path_enter *e)
{
	if (e->calls && e->context)
		ctx->node[(e->context >> PATHS_CONTEXT_SHIFT) - 1]->calls += e->calls;
	e->calls = 0;
}

void pathcontexts_enter(uint64_t fn)
{
	struct context *ctx = context_here();
	uint64_t key = ctx->path_context | (uint32_t)fn;
	struct path_enter *e = (struct path_enter *)(ctx->path_window + PATHS_ENTERS_AT + path_enter_at(key));
	struct slope_context *node = node_at(ctx), *child;

	if (fn >= CODEPLACES_STUB)
		return;                  /* part of its caller until it jumps on */
	child = node ? slope_context_call(ctx->fiber->core->contexts, node, (uint32_t)fn) : NULL;
	if (!child || !keep(ctx, child)) {
		slope_session_lose(&observer.session, SLOPE_LOST_CONTEXTS, 1);
		set_node(ctx, NULL);
		return;
	}
	take_calls(ctx, e);
	*e = (struct path_enter){ key, bits_of(child), 1, 0 };
	set_node(ctx, child);
}

SLOPE_INLINE void apart(const void *function, uint64_t a)
{
	uint64_t b = 0, c = 0, d = 0;

	__asm__ volatile("call slope_gate_apart" : "+a"(function), "+D"(a), "+S"(b), "+d"(c), "+c"(d) : : "memory", "cc");
}

QUICK void pathcontexts_quick(uint64_t fn)
{
	uint64_t key = CTX->path_context | fn;
	struct path_enter __seg_gs *e = (struct path_enter __seg_gs *)(uint64_t)(PATHS_ENTERS_AT - GS_PLACE + path_enter_at(key));

	if (SLOPE_UNLIKELY(e->key != key)) {
		apart((const void *)pathcontexts_enter, fn);
		return;
	}
	e->calls++;
	CTX->path_context = e->context;
}

/* ---- costs ---- */

/* Instructions that the row's path has, each time. */
static uint64_t instructions_of(const struct slope_path_row *row, uint32_t *edge)
{
	const struct slope_graph *g = observer.session.graphs.graph[row->graph];
	uint32_t v, count = slope_path_decode(&g->paths, row->number, &v, edge, EDGES_MAX);
	uint64_t sum = 0;

	for (uint32_t i = 0; i < count && i < EDGES_MAX; i++) {
		if (v == row->stop)
			return sum + row->stop_instructions;
		sum += g->block[v].instructions;
		v = g->paths.edge[edge[i]].to;
	}
	return sum;
}

void pathcontexts_end(struct context *ctx)
{
	const struct slope_path_table *t = &ctx->fiber->core->paths;
	const struct slope_contexts *c = ctx->fiber->core->contexts;
	uint32_t *edge = system_pages(slope_page_round(EDGES_MAX * sizeof *edge), false), units = c->units;

	struct path_enter *e = (struct path_enter *)(ctx->path_window + PATHS_ENTERS_AT);

	for (uint32_t i = 0; i < 1u << PATHS_ENTERS_LOG2; i++)
		take_calls(ctx, &e[i]);
	if (!edge)
		return;
	for (size_t i = 0; i < t->rows; i++) {
		const struct slope_path_row *row = &t->row[i];

		if (row->context < ctx->node_capacity && ctx->node[row->context])
			ctx->node[row->context]->cost[0] += instructions_of(row, edge) * row->count;
	}
	/* A node's number is larger than that of the one above. */
	for (size_t i = ctx->node_capacity; i-- > 0;) {
		struct slope_context *node = ctx->node[i];

		if (!node)
			continue;
		node->cost[units] += node->cost[0];
		if (node->above)
			node->above->cost[units] += node->cost[units];
	}
	system_release(edge, slope_page_round(EDGES_MAX * sizeof *edge));
}
