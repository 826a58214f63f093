/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What following paths leaves to C: edges, switches, counts that translated code
 * does not take itself. A thread's own counters and cache are emptied into its table when it ends.
 */
#include "sources/translator/following.h"

#include <linux/mman.h>

#include "core/slabs.h"
#include "sources/translator/observing.h"

uint64_t *pathevents_kept(struct context *ctx, uint64_t sp)
{
	return (uint64_t *)(ctx->path_window + sp);
}

/* A path begins here, in the same context as before. */
void pathevents_begin_at(struct context *ctx, uint64_t pc, uint64_t measured)
{
	ctx->path = pathbegins_at(pc) | measured;
}

/* The same where a function begins. */
void pathevents_begin_function(struct context *ctx, uint64_t pc)
{
	pathevents_begin_at(ctx, pc, 0);
	if (observer.path_contexts)
		pathcontexts_enter(codeplaces_in_linkage(pc) ? CODEPLACES_STUB : codeplaces_function(pc));
}

static struct slope_path_table *table_of(struct context *ctx)
{
	return &ctx->fiber->core->paths;
}

void pathevents_row(struct context *ctx, const struct slope_path_row *key, uint64_t times)
{
	struct slope_path_row *row = slope_path_row(table_of(ctx), key);

	if (row)
		row->count += times;
	else
		table_of(ctx)->lost += times;
}

/* ---- called from translated code ---- */

/* An entry of the cache goes to the table. */
static void take_hit(struct context *ctx, const struct path_hit *hit)
{
	struct slope_path_row key = {
		.graph = (uint32_t)hit->graph - 1, .context = pathcontexts_number(hit->key), .stop = SLOPE_PATH_NOT_STOPPED,
		.number = (observer.path_contexts ? hit->key & PATHS_REGISTER_MASK : hit->key) - 1,
	};

	pathevents_row(ctx, &key, hit->count);
}

void pathevents_miss(uint64_t key, const struct path_graph *g)
{
	pathevents_miss_packed(key | context_here()->path_context, g);
}

void pathevents_miss_packed(uint64_t key, const struct path_graph *g)
{
	struct context *ctx = context_here();
	uint64_t at = path_hit_at(g, key);
	struct path_hit *hit = (struct path_hit *)(ctx->path_window + at);
	struct path_hit *other = (struct path_hit *)(ctx->path_window + (at ^ PATHS_HIT_OTHER));

	if (other->graph == g->core->number + 1 && other->key == key)
		hit = other;
	if (hit->graph == g->core->number + 1 && hit->key == key) {
		hit->count++;
		return;
	}
	/* The one that is taken more often stays. */
	if (other->count < hit->count)
		hit = other;
	if (hit->count)
		take_hit(ctx, hit);
	*hit = (struct path_hit){ key, g->core->number + 1, 1, 0 };
}

/* In the calling context of the activation that runs. */
static void count_in_tree(struct context *ctx, uint32_t graph, uint64_t number)
{
	const struct slope_thread *core = ctx->fiber->core;
	const struct slope_context *node = core->contexts->place[slope_thread_depth(core) - 1];

	pathevents_row(ctx, &(struct slope_path_row){
		.graph = graph, .context = node ? node->number : SLOPE_PATH_CONTEXT_NONE, .number = number, .stop = SLOPE_PATH_NOT_STOPPED,
	}, 1);
}

void pathevents_count(uint64_t number, const struct path_graph *g)
{
	struct context *ctx = context_here();

	if (number >= g->core->paths.total) {
		table_of(ctx)->lost++;   /* a path that control could not take, as far as we know */
		return;
	}
	if (observer.on && ctx->fiber->core->contexts)
		count_in_tree(ctx, g->core->number, number);
	else if (g->counters)
		++*(uint64_t *)(ctx->path_window + g->counters + 8 * number);
	else
		pathevents_miss(number + 1, g);
	if (observer.on)
		slope_path_sizes_note(ctx->fiber->core, g->core->function, g->core->number, number);
}

/* `last`: the activation ends, too. */
static void count_end(struct context *ctx, const struct path_graph *g, uint32_t edge, bool last)
{
	uint64_t number = (ctx->path & ~PATHS_MEASURED) + (uint64_t)(g->core->paths.edge[edge].add - g->shift);

	if (ctx->path & PATHS_MEASURED)
		measures_path(ctx, &(struct slope_path_row){
			.graph = g->core->number, .context = pathcontexts_number(ctx->path_context), .number = number,
			.stop = SLOPE_PATH_NOT_STOPPED,
		}, last);
	pathevents_count(number, g);
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
	if (way == SLOPE_WAY_TAIL && target)
		pathevents_begin_function(ctx, target);
	else if (e->to != SLOPE_PATH_OUT)
		ctx->path = path_begin(g, e->to) | (last ? 0 : measured);
	else if (target)
		pathevents_begin_at(ctx, target, last ? 0 : measured);
	if (observer.measures && !last)
		measures_went_on(ctx);
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

void pathevents_next(struct context *ctx, const struct path_place *p, uint64_t next)
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
	if (p && path_last(p) == pc)
		pathevents_next(ctx, p, next);
	lock_give(&runtime.lock);
}

/* A switch that translated code leaves to us. */
void pathevents_switch(uint64_t target, const struct path_place *place, struct path_cases *cases)
{
	struct context *ctx = context_here();
	uint32_t edge;

	lock_take(&runtime.lock);
	edge = pathplaces_edge(place, SLOPE_WAY_TABLE, target);
	ctx->path_case = cases && edge != UINT32_MAX && target - place->graph->lowest < place->graph->span ?
			 &cases->at[target - place->graph->lowest] : NULL;
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
	p = pathindex_find(back - 1);
	lock_give(&runtime.lock);
	if (p)
		slope_path_repeat(table_of(context_here()), p->graph->core->number, p->vertex, instructions);
}

void pathevents_lazy_common(uint64_t sp, uint64_t instructions)
{
	pathevents_lazy(sp + 8, instructions);
}

/* ---- the beginning and the end of threads ---- */

void pathevents_start(struct context *ctx, uint64_t pc)
{
	lock_take(&runtime.lock);
	if (observer.path_contexts && !ctx->path_context)
		pathcontexts_root(ctx, 0);
	pathevents_begin_function(ctx, pc);
	lock_give(&runtime.lock);
	if (ctx->path >= PATHS_FIRST)
		ctx->path |= ctx->path_flag;
	ctx->path_flag = 0;
	ctx->path_pc = pc;
}

/* How many rows a page of counters, or of the cache, may become. */
static void expect_counters(struct context *ctx, uint64_t at)
{
	const uint64_t *counter = (const uint64_t *)(ctx->path_window + at);
	size_t rows = 0;

	for (uint64_t i = 0; i < SLOPE_PAGE_BYTES / sizeof *counter; i++)
		rows += counter[i] != 0;
	slope_path_table_expect(table_of(ctx), rows);
}

static void expect_cache(struct context *ctx, uint64_t at)
{
	const struct path_hit *hit = (const struct path_hit *)(ctx->path_window + at);
	size_t rows = 0;

	for (uint64_t i = 0; i < SLOPE_PAGE_BYTES / sizeof *hit; i++)
		rows += hit[i].count != 0;
	slope_path_table_expect(table_of(ctx), rows);
}

static void take_counter(struct context *ctx, uint64_t counter, uint64_t count)
{
	struct slope_path_row key = { .context = SLOPE_PATH_CONTEXT_NONE, .stop = SLOPE_PATH_NOT_STOPPED };
	const struct path_graph *g = pathplaces_counted(counter);
	const struct path_counter *single = g ? NULL : pathplaces_path_of(counter);
	const struct path_place *p = g || single ? NULL : pathplaces_repeated(counter);

	if (p)
		slope_path_repeat(table_of(ctx), p->graph->core->number, p->vertex, count);
	if (!g && !single)
		return;
	key.graph = single ? single->graph->core->number : g->core->number;
	key.number = single ? single->number : (counter - g->counters) / 8;
	pathevents_row(ctx, &key, count);
}

/* A page of counters. */
static void take_counters(struct context *ctx, uint64_t at)
{
	const uint64_t *counter = (const uint64_t *)(ctx->path_window + at);

	for (uint64_t i = 0; i < SLOPE_PAGE_BYTES / sizeof *counter; i++)
		if (counter[i])
			take_counter(ctx, at + 8 * i, counter[i]);
}

/* A page of the cache. */
static void take_cache(struct context *ctx, uint64_t at)
{
	const struct path_hit *hit = (const struct path_hit *)(ctx->path_window + at);

	for (uint64_t i = 0; i < SLOPE_PAGE_BYTES / sizeof *hit; i++)
		if (hit[i].count)
			take_hit(ctx, &hit[i]);
}

static void forget_counts(struct context *ctx)
{
	char *window = ctx->path_window;

	system_call(__NR_madvise, (long)(window + PATHS_COUNTERS_AT), PATHS_COUNTERS_END - PATHS_COUNTERS_AT, MADV_DONTNEED, 0, 0, 0);
	if (observer.path_contexts)
		system_call(__NR_madvise, (long)(window + PATHS_ENTERS_AT), sizeof(struct path_enter) << PATHS_ENTERS_LOG2,
			    MADV_DONTNEED, 0, 0, 0);
	system_call(__NR_madvise, (long)(window + PATHS_CACHE_AT), sizeof(struct path_hit) << PATHS_CACHE_LOG2, MADV_DONTNEED, 0, 0, 0);
	system_call(__NR_madvise, (long)(window + PATHS_OWN_AT), PATHS_OWN_END - PATHS_OWN_AT, MADV_DONTNEED, 0, 0, 0);
}

typedef void visit_page(struct context *ctx, uint64_t at);

static void each_count(struct context *ctx, visit_page *counters, visit_page *cache)
{
	pathlandings_each_page(ctx, PATHS_COUNTERS_AT, slope_page_round(pathplaces_counters_end()), counters);
	pathlandings_each_page(ctx, PATHS_CACHE_AT, PATHS_CACHE_AT + (sizeof(struct path_hit) << PATHS_CACHE_LOG2), cache);
	pathlandings_each_page(ctx, PATHS_OWN_AT, pathplaces_hits_end(), cache);
}

void pathevents_end(struct context *ctx)
{
	if (!ctx->fiber)
		return;
	pathlandings_end(ctx);
	each_count(ctx, expect_counters, expect_cache);
	each_count(ctx, take_counters, take_cache);
	if (observer.path_contexts)
		pathcontexts_end(ctx);
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
