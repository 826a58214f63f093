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
#define HANDLER_STACK_MAX (64u << 20)    /* no alternate stack is larger */

uint64_t *pathevents_kept(struct context *ctx, uint64_t sp)
{
	return (uint64_t *)(ctx->path_window + sp);
}

/* A path begins here, in the same context as before. */
static void begin_at(struct context *ctx, uint64_t pc, uint64_t measured)
{
	ctx->path = pathplaces_begin(pc) | measured;
}

/* The same where a function begins. */
static void begin_function(struct context *ctx, uint64_t pc)
{
	begin_at(ctx, pc, 0);
	if (observer.path_contexts)
		pathcontexts_enter(codeplaces_in_linkage(pc) ? CODEPLACES_STUB : codeplaces_function(pc));
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
	uint32_t context = pathcontexts_number(path);

	path &= observer.path_contexts ? PATHS_REGISTER_MASK : ~PATHS_MEASURED;
	struct slope_path_row key = {
		.graph = p->graph->core->number, .context = context, .stop = p->vertex,
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
	p = pathplaces_find(back - 1);
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
	p = pathplaces_find(pc);
	if (p)
		leave_block(ctx, p, path, pathplaces_instructions(p->start, pc));
	lock_give(&runtime.lock);
}

/* The return address that lay there before the unwinder wrote over it, if it has begun since; or what lies there. */
static uint64_t back_at(const struct context *ctx, uint64_t slot)
{
	for (size_t i = 0; i < ctx->unwound; i++)
		if (ctx->unwinding[i].slot == slot)
			return ctx->unwinding[i].back;
	return *(const uint64_t *)slot;
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
		p = leave_call(ctx, back_at(ctx, sp), *kept);
		fn = p ? p->graph->core->function : SLOPE_FN_NONE;
		*kept = 0;
	}
	return fn;
}

/*
 * Handlers are left, and with them what they had interrupted, on this stack or on another, for a place where none of their
 * frames is. The stack pointer from which what is left now goes on upwards.
 */
static uint64_t leave_handlers(struct context *ctx, uint64_t old, uint64_t sp)
{
	while (ctx->handlers) {
		const struct interrupted *i = &ctx->handler[ctx->handlers - 1];
		uint64_t *kept = pathevents_kept(ctx, i->frame);

		if (old > i->frame || i->frame - old >= HANDLER_STACK_MAX || (sp >= old && sp <= i->frame))
			break;           /* not in it, or still in it */
		leave_between(ctx, old, i->frame);
		if (*kept)
			leave_at(ctx, i->pc, *kept);
		*kept = 0;
		old = i->sp;
		ctx->handlers--;
	}
	return old;
}

/* Control has come to pc with this stack pointer, and not by a return that we know of. */
static void land(struct context *ctx, uint64_t pc, uint64_t sp)
{
	const struct space_region *region;
	uint32_t fn = SLOPE_FN_NONE;
	uint64_t old = ctx->old_sp ? leave_handlers(ctx, ctx->old_sp, sp) : 0;

	lock_take(&runtime.lock);
	region = old ? space_at(&runtime.space, old) : NULL;
	bool same_stack = old < sp && region && sp <= region->end;

	lock_give(&runtime.lock);
	if (same_stack)
		fn = leave_between(ctx, old, sp);
	ctx->old_sp = 0;
	ctx->unwound = 0;
	lock_take(&runtime.lock);
	pathplaces_at_for(pc, fn);
	begin_at(ctx, pc, 0);
	if (observer.path_contexts && pathcontexts_number(ctx->path_context) == SLOPE_PATH_CONTEXT_NONE)
		pathcontexts_root(ctx, 0);
	lock_give(&runtime.lock);
}

/*
 * A return that does not go back to its call: the unwinder has put a landing pad's address in place of the return
 * address. Where that was to go is known from when the unwinder began.
 */
static void land_instead(struct context *ctx, uint64_t pc, uint64_t slot)
{
	if (ctx->unwound)
		leave_call(ctx, back_at(ctx, slot), path_packed(ctx));
	land(ctx, pc, slot);
}

/* The block whose call comes back to pc, its return address having been kept at `slot`; NULL: none does. With the lock held. */
static const struct path_place *called_from(const struct context *ctx, uint64_t pc, uint64_t slot)
{
	const struct path_place *p = pathplaces_find(pc - 1);

	if (!p || p->end != pc || p->graph->core->block[p->vertex].end != SLOPE_BLOCK_CALLS)
		return NULL;
	return !ctx->unwound || back_at(ctx, slot) == pc ? p : NULL;
}

/* ---- called from translated code and gate.S ---- */

void pathevents_landed(uint64_t sp)
{
	struct context *ctx = context_here();

	path_unpack(ctx, ctx->path, observer.path_contexts);
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

	if (!*kept || *(const uint64_t *)(sp - 8) != target) {
		land(ctx, target, sp);
		return;
	}
	path_unpack(ctx, *kept, observer.path_contexts);
	*kept = 0;
	lock_take(&runtime.lock);
	const struct path_place *from = called_from(ctx, target, sp - 8);

	lock_give(&runtime.lock);
	if (!from)
		land_instead(ctx, target, sp - 8);
}

void pathevents_return(uint64_t sp)
{
	struct context *ctx = context_here();
	uint64_t *kept = pathevents_kept(ctx, sp);

	ctx->path = *kept;
	*kept = 0;
	if ((int64_t)ctx->path <= 0)
		pathevents_landed(sp);
	else
		path_unpack(ctx, ctx->path, observer.path_contexts);
}

void pathevents_unexpected(uint64_t target, const struct path_place *place)
{
	struct context *ctx = context_here();

	lock_take(&runtime.lock);
	leave_block(ctx, place, path_packed(ctx), place->graph->core->block[place->vertex].instructions);
	pathplaces_at_for(target, place->graph->core->function);
	begin_at(ctx, target, 0);        /* and if it was measured, it is no longer */
	lock_give(&runtime.lock);
}

/* An entry of the cache goes to the table. */
static void take_hit(struct context *ctx, const struct path_hit *hit)
{
	struct slope_path_row key = {
		.graph = (uint32_t)hit->graph - 1, .context = pathcontexts_number(hit->number), .stop = SLOPE_PATH_NOT_STOPPED,
		.number = observer.path_contexts ? hit->number & PATHS_REGISTER_MASK : hit->number,
	};

	count(ctx, &key, hit->count);
}

void pathevents_miss(uint64_t number, uint64_t graph)
{
	pathevents_miss_packed(number | context_here()->path_context, graph);
}

void pathevents_miss_packed(uint64_t number, uint64_t graph)
{
	struct context *ctx = context_here();
	struct path_hit *hit = (struct path_hit *)(ctx->path_window + PATHS_CACHE_AT + path_hit_at(number));

	if (hit->graph == graph + 1 && hit->number == number) {
		hit->count++;
		return;
	}
	if (hit->count)
		take_hit(ctx, hit);
	*hit = (struct path_hit){ number, graph + 1, 1, 0 };
}

void pathevents_count(uint64_t number, const struct path_graph *g)
{
	struct context *ctx = context_here();

	if (number >= g->core->paths.total) {
		table_of(ctx)->lost++;   /* a path that control could not take, as far as we know */
		return;
	}
	if (g->counters)
		++*(uint64_t *)(ctx->path_window + g->counters + 8 * number);
	else
		pathevents_miss(number, g->core->number);
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
		begin_function(ctx, target);
	else if (e->to != SLOPE_PATH_OUT)
		ctx->path = path_begin(g, e->to) | (last ? 0 : measured);
	else if (target)
		begin_at(ctx, target, last ? 0 : measured);
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

static void take_next(struct context *ctx, const struct path_place *p, uint64_t next)
{
	uint32_t edge = pathplaces_edge(p, SLOPE_WAY_NEXT, next);

	if (edge != UINT32_MAX && (ctx->path & ~PATHS_MEASURED) >= PATHS_FIRST)
		take_edge(ctx, p->graph, edge, next);
}

/* Whoever is on the stack may be left, and return addresses may be overwritten. */
void pathevents_unwinds(uint64_t sp)
{
	struct context *ctx = context_here();
	const struct space_region *region;

	lock_take(&runtime.lock);
	region = space_at(&runtime.space, sp);
	uint64_t end = region ? region->end : sp;

	ctx->unwound = 0;
	for (; sp + 8 <= end; sp += 8) {
		if (!*pathevents_kept(ctx, sp))
			continue;
		if (!slope_arena_grow(&observer.session.arena, (void **)&ctx->unwinding, &ctx->unwinding_capacity, ctx->unwound + 1,
				      sizeof *ctx->unwinding))
			break;
		ctx->unwinding[ctx->unwound].slot = sp;
		ctx->unwinding[ctx->unwound++].back = *(const uint64_t *)sp;
	}
	lock_give(&runtime.lock);
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
	uint64_t slot = ctx->reg[REG_RSP] - 8;
	const struct path_place *from;

	/* A handler returns to the code that ends it; what is on now is the path that it has interrupted. */
	if (ctx->handlers && ctx->handler[ctx->handlers - 1].frame == slot)
		return;
	lock_take(&runtime.lock);
	from = called_from(ctx, pc, slot);
	if (from)
		take_next(ctx, from, pc);
	lock_give(&runtime.lock);
	if (!from)
		land_instead(ctx, pc, slot);
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
	p = pathplaces_find(back - 1);
	lock_give(&runtime.lock);
	if (p)
		slope_path_repeat(table_of(context_here()), p->graph->core->number, p->vertex, instructions);
}

void pathevents_lazy_common(uint64_t sp, uint64_t instructions)
{
	pathevents_lazy(sp + 8, instructions);
}

/* ---- signal handlers ---- */

/* The code that a handler returns to ends with the system call before `next`; it has been executed, and will not be left. */
void pathevents_restorer(struct context *ctx, uint64_t next)
{
	const struct path_place *p;

	lock_take(&runtime.lock);
	p = pathplaces_find(next - 1);
	if (p)
		leave_block(ctx, p, path_begin(p->graph, p->vertex), pathplaces_instructions(p->start, next));
	lock_give(&runtime.lock);
}


/* Interrupted at pc; the handler returns to an address that lies at sp. */
void pathevents_handler(struct context *ctx, uint64_t pc, uint64_t interrupted_sp, uint64_t handler, uint64_t sp)
{
	*pathevents_kept(ctx, sp) = path_packed(ctx);
	if (ctx->handlers == CONTEXT_HANDLERS) {
		for (unsigned i = 1; i < CONTEXT_HANDLERS; i++)
			ctx->handler[i - 1] = ctx->handler[i];
		ctx->handlers--;
	}
	ctx->handler[ctx->handlers++] = (struct interrupted){ interrupted_sp, sp, pc };
	ctx->path_pc = pc;
	lock_take(&runtime.lock);
	begin_at(ctx, handler, 0);
	if (observer.path_contexts)
		pathcontexts_root(ctx, codeplaces_function(handler));
	lock_give(&runtime.lock);
}

/* It goes on at pc. The handler may have returned, or not; and it may have chosen another place. */
void pathevents_handler_ends(struct context *ctx, uint64_t pc, uint64_t sp)
{
	uint64_t *kept = pathevents_kept(ctx, sp - 8);

	while (ctx->handlers && ctx->handler[ctx->handlers - 1].frame != sp - 8)
		ctx->handlers--;
	if (*kept) {
		path_unpack(ctx, *kept, observer.path_contexts);
		*kept = 0;
	}
	/* The handler may have chosen another place to go on at. */
	if (ctx->handlers && ctx->handler[ctx->handlers - 1].pc != pc) {
		leave_at(ctx, ctx->handler[ctx->handlers - 1].pc, path_packed(ctx));
		lock_take(&runtime.lock);
		begin_at(ctx, pc, 0);
		lock_give(&runtime.lock);
	}
	if (ctx->handlers)
		ctx->handlers--;
}

/* ---- the beginning and the end of threads ---- */

void pathevents_start(struct context *ctx, uint64_t pc)
{
	lock_take(&runtime.lock);
	if (observer.path_contexts && !ctx->path_context)
		pathcontexts_root(ctx, 0);
	begin_function(ctx, pc);
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
	uint64_t window = (uint64_t)ctx->path_window, entry[PAGEMAP_RUN];

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
	leave_at(ctx, ctx->path_pc, path_packed(ctx));
	ctx->path = PATHS_NONE;
	for (size_t i = 0; i < runtime.space.count; i++) {
		const struct space_region *region = &runtime.space.region[i];

		if (region->prot & PROT_WRITE && region->start >= PLAN_LOWEST)
			each_page(ctx, region->start, region->end, leave_page);
	}
}

/* A page of counters. */
static void take_counters(struct context *ctx, uint64_t at)
{
	const uint64_t *counter = (const uint64_t *)(ctx->path_window + at);
	struct slope_path_row key = { .context = SLOPE_PATH_CONTEXT_NONE, .stop = SLOPE_PATH_NOT_STOPPED };

	for (uint64_t i = 0; i < SLOPE_PAGE_BYTES / sizeof *counter; i++) {
		const struct path_graph *g = counter[i] ? pathplaces_counted(at + 8 * i) : NULL;

		if (!g)
			continue;
		key.graph = g->core->number;
		key.number = (at + 8 * i - g->counters) / 8;
		count(ctx, &key, counter[i]);
	}
}

static void take_cache(struct context *ctx)
{
	struct path_hit *hit = (struct path_hit *)(ctx->path_window + PATHS_CACHE_AT);

	for (uint32_t i = 0; i < 1u << PATHS_CACHE_LOG2; i++, hit++) {
		if (!hit->count)
			continue;
		take_hit(ctx, hit);
		hit->count = 0;
	}
}

static void forget_counts(struct context *ctx)
{
	char *window = ctx->path_window;

	system_call(__NR_madvise, (long)(window + PATHS_COUNTERS_AT), PATHS_COUNTERS_END - PATHS_COUNTERS_AT, MADV_DONTNEED, 0, 0, 0);
	if (observer.path_contexts)
		system_call(__NR_madvise, (long)(window + PATHS_ENTERS_AT), sizeof(struct path_enter) << PATHS_ENTERS_LOG2, MADV_DONTNEED, 0, 0, 0);
	system_call(__NR_madvise, (long)(window + PATHS_CACHE_AT), sizeof(struct path_hit) << PATHS_CACHE_LOG2, MADV_DONTNEED, 0, 0, 0);
}

void pathevents_end(struct context *ctx)
{
	if (!ctx->fiber)
		return;
	leave_all(ctx);
	each_page(ctx, PATHS_COUNTERS_AT, slope_page_round(pathplaces_counters_end()), take_counters);
	take_cache(ctx);
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
