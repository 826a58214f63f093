/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From places to functions. A path of places (return addresses, and where the
 * sample was taken) becomes one of functions, each with the place that it was
 * called from; places in one function become one node. Which function a place
 * is in is what the unwind table says: it has every function, symbols or not.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "sources/sampler/sampler.h"

#define NAMELESS_BYTES 4096u     /* code in no module: so much of it is taken for one function */
#define BROKEN_OFFSET 1u
#define BROKEN_NAME "(callers unknown)"

struct fold {
	struct slope_folded *to;
	struct slope_session *session;
	struct slope_arena *arena;
	struct slope_context **node_of;      /* by number of the node of places */
	uint32_t *module;                    /* the session's, by number of the code; 0: not known yet */
};

/* The file itself, where ld.so knows a link to it; the path as it is when it cannot be opened. */
static const char *real_path(const char *path, char *room, size_t bytes)
{
	int fd = open(path, O_PATH | O_CLOEXEC);
	char link[64];

	if (fd < 0)
		return path;
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	ssize_t length = readlink(link, room, bytes - 1);

	close(fd);
	if (length <= 0 || room[0] != '/')
		return path;
	room[length] = '\0';
	return room;
}

/* The session's module; `*known` is what it was the last time, 0: not known yet. */
static uint32_t module_of(struct slope_session *session, const struct slope_code *code, uint32_t *known)
{
	struct slope_module module = { .build_id_bytes = code->id_bytes, .start = code->start, .bytes = code->end - code->start };
	char room[PATH_MAX];

	if (*known)
		return *known;
	module.path = real_path(code->path, room, sizeof room);
	slope_copy(module.build_id, code->build_id, sizeof module.build_id);
	return *known = slope_session_module(session, &module);
}

/* The place of a node, in the words of the session: module, and offset there. */
static const struct slope_code *place_of(struct fold *f, const struct slope_context *node, uint32_t *module, uint64_t *offset)
{
	const struct slope_code *code = node->site & SLOPE_PLACE_ANYWHERE ? NULL : slope_codemap_code(node->site);

	*module = code ? module_of(f->session, code, &f->module[node->site]) : SLOPE_MODULE_NONE;
	*offset = code ? node->fn : (uint64_t)(node->site & ~SLOPE_PLACE_ANYWHERE) << 32 | node->fn;
	return code;
}

static bool is_broken(const struct slope_context *node)
{
	return node->fn == SLOPE_PLACE_BROKEN && !node->site;
}

static uint32_t function_of(struct fold *f, const struct slope_context *node)
{
	struct slope_session *session = f->session;
	uint32_t module;
	uint64_t offset;

	if (is_broken(node))
		return slope_session_function(session, SLOPE_MODULE_NONE, BROKEN_OFFSET, 0, BROKEN_NAME);
	const struct slope_code *code = place_of(f, node, &module, &offset);

	offset = code ? slope_code_function(code, offset) : offset & ~(uint64_t)(NAMELESS_BYTES - 1);
	return slope_session_function(session, module, offset, 0, NULL);
}

/* Where a call is made: behind the place of the caller. */
static uint32_t site_of(struct fold *f, const struct slope_context *caller)
{
	uint32_t module;
	uint64_t offset;

	if (!caller->above || is_broken(caller))
		return SLOPE_SITE_NONE;
	place_of(f, caller, &module, &offset);
	return slope_session_site(f->session, module, offset + 1);
}

static bool fold_node(struct fold *f, const struct slope_context *node)
{
	struct slope_contexts *tree = f->to->tree;
	struct slope_context *to;

	if (node->above) {
		uint32_t function = function_of(f, node);

		tree->site = site_of(f, node->above);
		to = function == SLOPE_FN_NONE ? NULL : slope_context_call(tree, f->node_of[node->above->number], function);
	} else {
		to = slope_context_root(tree, SLOPE_FN_ROOT);
	}
	if (!to)
		return false;
	f->node_of[node->number] = to;
	to->calls += node->calls;
	for (unsigned u = 0; u < tree->units; u++)
		to->cost[u] += node->cost[u];
	return true;
}

static bool each_node(const struct slope_contexts *tree, bool (*visit)(struct fold *f, const struct slope_context *node), struct fold *f)
{
	for (const struct slope_context_block *b = tree->first; b; b = b->next)
		for (size_t i = 0; i < b->count; i++)
			if (!visit(f, slope_context_at(tree, b, i)))
				return false;
	return true;
}

static bool note_node(struct fold *f, const struct slope_context *node)
{
	f->to->node[node->number] = (struct slope_context *)(uintptr_t)node;
	return true;
}

/* Self costs of all nodes go into the totals of those above. */
static void add_totals(struct slope_folded *to)
{
	uint32_t units = to->tree->units;

	for (uint32_t i = to->nodes; i--;) {
		struct slope_context *node = to->node[i];

		for (unsigned u = 0; u < units; u++) {
			uint64_t *total = &node->cost[units + u];

			*total += node->cost[u];
			if (node->above)
				node->above->cost[units + u] += *total;
		}
	}
}

bool slope_folding(struct slope_folded *folded, struct slope_sampled *thread, struct slope_session *session,
		   struct slope_arena *arena)
{
	struct fold f = { .to = folded, .session = session, .arena = arena };

	*folded = (struct slope_folded){ .thread = thread, .tree = slope_contexts_new(session, arena) };
	f.node_of = slope_arena_alloc(arena, thread->tree->nodes * sizeof *f.node_of);
	f.module = slope_arena_alloc(arena, SLOPE_CODE_MAX * sizeof *f.module);
	if (!folded->tree || !f.node_of || !f.module || !each_node(thread->tree, fold_node, &f))
		return false;
	/* What has not returned yet has been called all the same. */
	for (size_t i = 0; i < thread->kept_count && slope_sampler.trampolines; i++)
		f.node_of[thread->kept[i].node->number]->calls++;
	folded->nodes = folded->tree->nodes;
	folded->node = slope_arena_alloc(arena, folded->nodes * sizeof *folded->node);
	if (!folded->node)
		return false;
	each_node(folded->tree, note_node, &f);
	add_totals(folded);
	folded->node_of = f.node_of;
	folded->module = f.module;
	return true;
}

bool slope_folding_place(const struct slope_folded *folded, const struct slope_context *node, uint32_t *module, uint64_t *offset)
{
	if (!node->above || is_broken(node) || node->site & SLOPE_PLACE_ANYWHERE || !folded->module[node->site])
		return false;
	*module = folded->module[node->site];
	*offset = node->fn;
	return true;
}

/* ---- sums ---- */

/* The tree as lists of children, by number; 0 ends one, since the root is nobody's child. */
struct lists {
	uint32_t *child, *sibling;
};

static struct slope_sum *edge_of(struct slope_sums *sums, uint32_t caller, uint32_t callee, struct slope_arena *arena)
{
	bool fresh;
	uint64_t *place = slope_map_put(&sums->edge, (uint64_t)caller << 32 | callee, &fresh);
	void *call = sums->call;

	if (!place || (fresh && !slope_arena_grow(arena, &call, &sums->call_capacity, sums->calls + 1, sizeof *sums->call)))
		return NULL;
	sums->call = call;
	if (fresh)
		*place = sums->calls++;
	return &sums->call[*place];
}

/* A node of a function that is active so many times already above it. */
static bool add_node(struct slope_sums *sums, const struct slope_context *node, uint32_t active, struct slope_arena *arena)
{
	struct slope_sum *function = &sums->function[node->fn], *edge = NULL;
	uint32_t units = sums->units;

	if (node->above && !(edge = edge_of(sums, node->above->fn, node->fn, arena)))
		return false;
	function->calls += node->calls;
	if (edge)
		edge->calls += node->calls;
	for (unsigned u = 0; u < units; u++) {
		uint64_t total = active ? 0 : node->cost[units + u];

		function->self[u] += node->cost[u];
		function->total[u] += total;
		if (edge)
			edge->total[u] += total;
	}
	return true;
}

/* From the root down and up again: `active` counts each function on the way. */
static bool descend(struct slope_sums *sums, const struct slope_folded *folded, const struct lists *lists, uint32_t *active,
		    struct slope_arena *arena)
{
	uint32_t at = 0;

	for (;;) {
		const struct slope_context *node = folded->node[at];

		if (!add_node(sums, node, active[node->fn]++, arena))
			return false;
		if (lists->child[at]) {
			at = lists->child[at];
			continue;
		}
		while (!lists->sibling[at]) {
			active[folded->node[at]->fn]--;
			if (!folded->node[at]->above)
				return true;
			at = folded->node[at]->above->number;
		}
		active[folded->node[at]->fn]--;
		at = lists->sibling[at];
	}
}

bool slope_folding_sums(struct slope_sums *sums, const struct slope_folded *folded, const struct slope_session *session,
			struct slope_arena *arena)
{
	struct lists lists = { slope_arena_alloc(arena, folded->nodes * sizeof *lists.child),
			       slope_arena_alloc(arena, folded->nodes * sizeof *lists.sibling) };
	uint32_t *active = slope_arena_alloc(arena, session->function_count * sizeof *active);

	*sums = (struct slope_sums){ .units = folded->tree->units,
				     .function = slope_arena_alloc(arena, session->function_count * sizeof *sums->function) };
	slope_map_init(&sums->edge, arena);
	if (!lists.child || !lists.sibling || !active || !sums->function)
		return false;
	for (uint32_t i = folded->nodes; i--;) {
		const struct slope_context *above = folded->node[i]->above;

		if (above) {
			lists.sibling[i] = lists.child[above->number];
			lists.child[above->number] = i;
		}
	}
	return descend(sums, folded, &lists, active, arena);
}
