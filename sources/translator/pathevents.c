/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What following paths leaves to C. Where control comes to a place in another way
 * than its graph knows, the path that was being followed is noted as left, and another begins.
 *
 * A thread's own counters and cache are emptied into its table when it ends,
 * and the activations that are still there are found in the shadow of its stacks.
 */
#include "sources/translator/following.h"

#include <linux/fcntl.h>
#include <linux/mman.h>

#include "sources/translator/observing.h"

#define PAGEMAP_RUN 512u

uint64_t *pathevents_kept(struct context *ctx, uint64_t sp)
{
	return (uint64_t *)((char *)context_window(ctx) + sp);
}

static struct slope_path_table *table_of(struct context *ctx)
{
	return &ctx->fiber->core->paths;
}

static void count(struct context *ctx, const struct slope_path_row *key, uint64_t times)
{
	struct slope_path_row *row = slope_path_row(table_of(ctx), key);

	if (row)
		row->count += times;
	else
		table_of(ctx)->lost += times;
}

/* ---- paths that are left ---- */

/* A path is left in this block, of which so many instructions were executed. */
static void leave_block(struct context *ctx, const struct path_place *p, uint64_t path, uint32_t instructions)
{
	path &= ~PATHS_MEASURED;
	struct slope_path_row key = {
		.graph = p->graph->core->number, .context = SLOPE_PATH_CONTEXT_NONE, .stop = p->vertex,
		.stop_instructions = instructions,
		.number = slope_path_partial(&p->graph->core->paths, p->vertex, (int64_t)path - p->graph->shift),
	};

	if (path >= PATHS_FIRST)
		count(ctx, &key, 1);
}

/* The activation that has called, and to which this address is where it would have come back. Its place, or NULL. */
static const struct path_place *leave_call(struct context *ctx, uint64_t back, uint64_t path)
{
	const struct path_place *p;

	lock_take(&runtime.lock);
	p = space_allows(&runtime.space, back - 1, 1, PROT_READ) ? pathplaces_at(back - 1) : NULL;
	if (p && p->end == back)
		leave_block(ctx, p, path, p->graph->core->block[p->vertex].instructions);
	lock_give(&runtime.lock);
	return p;
}

/* It is at pc, whose instruction has not been executed. */
static void leave_at(struct context *ctx, uint64_t pc, uint64_t path)
{
	const struct path_place *p;

	lock_take(&runtime.lock);
	p = space_allows(&runtime.space, pc, 1, PROT_READ) ? pathplaces_at(pc) : NULL;
	if (p)
		leave_block(ctx, p, path, pathplaces_instructions(p->start, pc));
	lock_give(&runtime.lock);
}

/* What is kept in the shadow of [from, to) belongs to activations that will not go on. The function of the last of them. */
static uint32_t leave_between(struct context *ctx, uint64_t from, uint64_t to)
{
	uint32_t fn = SLOPE_FN_NONE;

	for (uint64_t sp = (from + 7) & ~UINT64_C(7); sp + 8 <= to; sp += 8) {
		uint64_t *kept = pathevents_kept(ctx, sp);
		const struct path_place *p;

		if (!*kept)
			continue;
		p = leave_call(ctx, *(const uint64_t *)sp, *kept);
		fn = p ? p->graph->core->function : SLOPE_FN_NONE;
		*kept = 0;
	}
	return fn;
}

/* Control has come to pc with this stack pointer, and not by a return that we know of. */
static void land(struct context *ctx, uint64_t pc, uint64_t sp)
{
	const struct space_region *region;
	uint32_t fn = SLOPE_FN_NONE;
	uint64_t old = ctx->old_sp;

	lock_take(&runtime.lock);
	region = space_at(&runtime.space, old);
	bool same_stack = old < sp && region && sp <= region->end;

	lock_give(&runtime.lock);
	if (same_stack)
		fn = leave_between(ctx, old, sp);
	ctx->old_sp = 0;
	lock_take(&runtime.lock);
	pathplaces_at_for(pc, fn);
	ctx->path = pathplaces_begin(pc);
	lock_give(&runtime.lock);
}

/* ---- called from translated code and gate.S ---- */

void pathevents_landed(uint64_t sp)
{
	struct context *ctx = context_here();

	if (ctx->path)
		measures_resume(ctx, sp);
	else
		land(ctx, *(const uint64_t *)sp, sp);
}

/* A return that is a jump finds what the call has kept below the stack pointer. */
void pathevents_jump(uint64_t target, uint64_t sp)
{
	struct context *ctx = context_here();
	uint64_t *kept = pathevents_kept(ctx, sp - 8);

	if (*kept && *(const uint64_t *)(sp - 8) == target) {
		ctx->path = *kept;
		*kept = 0;
		return;
	}
	land(ctx, target, sp);
}

void pathevents_return(uint64_t sp)
{
	struct context *ctx = context_here();
	uint64_t *kept = pathevents_kept(ctx, sp);

	ctx->path = *kept;
	*kept = 0;
	if ((int64_t)ctx->path <= 0)
		pathevents_landed(sp);
}

void pathevents_unexpected(uint64_t target, const struct path_place *place)
{
	struct context *ctx = context_here();

	lock_take(&runtime.lock);
	leave_block(ctx, place, ctx->path, place->graph->core->block[place->vertex].instructions);
	pathplaces_at_for(target, place->graph->core->function);
	ctx->path = pathplaces_begin(target);         /* and if it was measured, it is no longer */
	lock_give(&runtime.lock);
}

void pathevents_miss(uint64_t number, uint64_t graph)
{
	struct context *ctx = context_here();
	uint32_t place = (uint32_t)(number * (PATHS_HASH & 0x7fffffff)) >> (32 - PATHS_CACHE_LOG2);
	struct path_hit *hit = (struct path_hit *)((char *)context_window(ctx) + PATHS_CACHE_AT) + place;
	struct slope_path_row key = { .context = SLOPE_PATH_CONTEXT_NONE, .stop = SLOPE_PATH_NOT_STOPPED };

	if (hit->graph == graph + 1 && hit->number == number) {
		hit->count++;
		return;
	}
	if (hit->count) {
		key.graph = (uint32_t)hit->graph - 1;
		key.number = hit->number;
		count(ctx, &key, hit->count);
	}
	*hit = (struct path_hit){ number, graph + 1, 1, 0 };
}

/* `last`: the activation ends, too. */
static void count_end(struct context *ctx, const struct path_graph *g, uint32_t edge, bool last)
{
	uint64_t number = (ctx->path & ~PATHS_MEASURED) + (uint64_t)(g->core->paths.edge[edge].add - g->shift);

	if (ctx->path & PATHS_MEASURED)
		measures_path(ctx, &(struct slope_path_row){
			.graph = g->core->number, .context = SLOPE_PATH_CONTEXT_NONE, .number = number,
			.stop = SLOPE_PATH_NOT_STOPPED,
		}, last);
	if (g->counters)
		++*(uint64_t *)((char *)context_window(ctx) + g->counters + 8 * number);
	else
		pathevents_miss(number, g->core->number);
}

static void take_edge(struct context *ctx, const struct path_graph *g, uint32_t edge, uint64_t target)
{
	const struct slope_path_edge *e = &g->core->paths.edge[edge];

	if (!e->cut && e->to != SLOPE_PATH_OUT) {
		ctx->path += (uint64_t)e->add;
		return;
	}
	enum slope_edge_way way = g->core->way[edge];
	uint64_t measured = ctx->path & PATHS_MEASURED;
	bool last = way == SLOPE_WAY_RETURN || way == SLOPE_WAY_TAIL || !target;

	count_end(ctx, g, edge, last);
	if (e->to != SLOPE_PATH_OUT)
		ctx->path = path_begin(g, e->to) | measured;
	else if (target)
		ctx->path = pathplaces_begin(target) | (last ? 0 : measured);
}

void pathevents_edge(const struct path_place *place, uint64_t target, uint64_t way)
{
	struct context *ctx = context_here();
	uint32_t edge;

	lock_take(&runtime.lock);
	edge = pathplaces_edge(place, (enum slope_edge_way)way, target);
	if (edge != UINT32_MAX)
		take_edge(ctx, place->graph, edge, target);
	lock_give(&runtime.lock);
}

static void take_next(struct context *ctx, const struct path_place *p, uint64_t next)
{
	uint32_t edge = pathplaces_edge(p, SLOPE_WAY_NEXT, next);

	if (edge != UINT32_MAX && (ctx->path & ~PATHS_MEASURED) >= PATHS_FIRST)
		take_edge(ctx, p->graph, edge, next);
}

void pathevents_called(struct context *ctx, uint64_t pc, uint64_t next)
{
	const struct path_place *p;

	lock_take(&runtime.lock);
	p = pathplaces_at(pc);
	if (p && p->last == pc)
		take_next(ctx, p, next);
	lock_give(&runtime.lock);
}

void pathevents_returned(struct context *ctx, uint64_t pc)
{
	const struct path_place *p;

	lock_take(&runtime.lock);
	p = space_allows(&runtime.space, pc - 1, 1, PROT_READ) ? pathplaces_at(pc - 1) : NULL;
	if (p && p->end == pc && p->graph->core->block[p->vertex].end == SLOPE_BLOCK_CALLS)
		take_next(ctx, p, pc);
	lock_give(&runtime.lock);
}

/* A switch that translated code leaves to us. */
void pathevents_switch(uint64_t target, const struct path_place *place)
{
	struct context *ctx = context_here();
	uint32_t edge;

	lock_take(&runtime.lock);
	edge = pathplaces_edge(place, SLOPE_WAY_TABLE, target);
	if (edge == UINT32_MAX)
		pathevents_unexpected(target, place);
	else
		take_edge(ctx, place->graph, edge, target);
	lock_give(&runtime.lock);
}

void pathevents_repeated(uint64_t kind, uint64_t left, const struct path_place *place)
{
	uint64_t extra = strings_extra(kind, left);

	if (extra)
		slope_path_repeat(table_of(context_here()), place->graph->core->number, place->vertex, extra);
}

void pathevents_lazy(uint64_t sp, uint64_t instructions)
{
	const struct path_place *p;
	uint64_t back = *(const uint64_t *)sp;

	lock_take(&runtime.lock);
	p = space_allows(&runtime.space, back - 1, 1, PROT_READ) ? pathplaces_at(back - 1) : NULL;
	lock_give(&runtime.lock);
	if (p)
		slope_path_repeat(table_of(context_here()), p->graph->core->number, p->vertex, instructions);
}

void pathevents_lazy_common(uint64_t sp, uint64_t instructions)
{
	pathevents_lazy(sp + 8, instructions);
}

/* ---- signal handlers ---- */

/* Interrupted at pc; the handler returns to an address that lies at sp. */
void pathevents_handler(struct context *ctx, uint64_t pc, uint64_t handler, uint64_t sp)
{
	*pathevents_kept(ctx, sp) = ctx->path;
	ctx->path_pc = pc;
	lock_take(&runtime.lock);
	ctx->path = pathplaces_begin(handler);
	lock_give(&runtime.lock);
}

/* It goes on at pc. The handler may have returned, or not; and it may have chosen another place. */
void pathevents_handler_ends(struct context *ctx, uint64_t pc, uint64_t sp)
{
	uint64_t *kept = pathevents_kept(ctx, sp - 8);

	(void)pc;
	if (*kept) {
		ctx->path = *kept;
		*kept = 0;
	}
}

/* ---- the beginning and the end of threads ---- */

void pathevents_start(struct context *ctx, uint64_t pc)
{
	lock_take(&runtime.lock);
	ctx->path = pathplaces_begin(pc);
	lock_give(&runtime.lock);
	if (ctx->path >= PATHS_FIRST)
		ctx->path |= ctx->path_flag;
	ctx->path_flag = 0;
	ctx->path_pc = pc;
}

/* Calls `visit` for each page of the window's part that exists. */
static void each_page(struct context *ctx, uint64_t from, uint64_t to, void (*visit)(struct context *ctx, uint64_t at))
{
	long pagemap = system_open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC, 0);
	uint64_t window = (uint64_t)context_window(ctx), entry[PAGEMAP_RUN];

	for (uint64_t at = from; at < to;) {
		uint64_t pages = (to - at) / SLOPE_PAGE_BYTES;

		if (pages > PAGEMAP_RUN)
			pages = PAGEMAP_RUN;
		bool known = pagemap >= 0 && system_read_at(pagemap, entry, (window + at) / SLOPE_PAGE_BYTES * 8, pages * 8);

		for (uint64_t i = 0; i < pages; i++, at += SLOPE_PAGE_BYTES)
			if (!known || entry[i] >> 62)
				visit(ctx, at);
	}
	if (pagemap >= 0)
		system_close(pagemap);
}

static void leave_page(struct context *ctx, uint64_t at)
{
	leave_between(ctx, at, at + SLOPE_PAGE_BYTES);
}

/* Activations that have not returned, wherever the program has memory. */
static void leave_all(struct context *ctx)
{
	leave_at(ctx, ctx->path_pc, ctx->path);
	ctx->path = PATHS_NONE;
	for (size_t i = 0; i < runtime.space.count; i++) {
		const struct space_region *region = &runtime.space.region[i];

		if (region->prot & PROT_WRITE && region->start >= PLAN_LOWEST)
			each_page(ctx, region->start, region->end, leave_page);
	}
}

static void take_counters(struct context *ctx, const struct path_graph *g)
{
	const uint64_t *counter = (const uint64_t *)((char *)context_window(ctx) + g->counters);
	struct slope_path_row key = {
		.graph = g->core->number, .context = SLOPE_PATH_CONTEXT_NONE, .stop = SLOPE_PATH_NOT_STOPPED,
	};

	for (uint64_t n = 0; n < g->core->paths.total; n++)
		if (counter[n]) {
			key.number = n;
			count(ctx, &key, counter[n]);
		}
}

static void take_cache(struct context *ctx)
{
	struct path_hit *hit = (struct path_hit *)((char *)context_window(ctx) + PATHS_CACHE_AT);
	struct slope_path_row key = { .context = SLOPE_PATH_CONTEXT_NONE, .stop = SLOPE_PATH_NOT_STOPPED };

	for (uint32_t i = 0; i < 1u << PATHS_CACHE_LOG2; i++, hit++) {
		if (!hit->count)
			continue;
		key.graph = (uint32_t)hit->graph - 1;
		key.number = hit->number;
		count(ctx, &key, hit->count);
		hit->count = 0;
	}
}

static void forget_counts(struct context *ctx)
{
	char *window = context_window(ctx);

	system_call(__NR_madvise, (long)(window + PATHS_COUNTERS_AT), PATHS_COUNTERS_END - PATHS_COUNTERS_AT, MADV_DONTNEED, 0, 0, 0);
	system_call(__NR_madvise, (long)(window + PATHS_CACHE_AT), sizeof(struct path_hit) << PATHS_CACHE_LOG2, MADV_DONTNEED, 0, 0, 0);
}

void pathevents_end(struct context *ctx)
{
	if (!ctx->fiber)
		return;
	leave_all(ctx);
	pathplaces_each(ctx, take_counters);
	take_cache(ctx);
	forget_counts(ctx);
	measures_end(ctx);
}

/* The child has counted nothing yet. */
void pathevents_forked(void)
{
	struct context *ctx = context_here();

	forget_counts(ctx);
	slope_path_table_empty(table_of(ctx));
	measures_forked(ctx);
}
