/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Paths that are left and begun out of the ordinary. Where control comes to a
 * place in another way than its graph knows, the paths of all activations that will not go on are
 * noted as left where they were, and another begins: behind longjmp, in landing pads of
 * exceptions, in signal handlers and behind them, at the end of a thread.
 *
 * Who is left is found in the shadow of the stack, from where the stack pointer
 * was to where it is now. That it is the same stack, and not another one of a coroutine,
 * shows in the function: the topmost activation below the new stack pointer is the one that
 * control has come to. A signal handler on a stack of its own has interrupted
 * an activation on another, and with it all that are above that one.
 *
 * The unwinder puts a landing pad's address in place of a return address. So these are noted when
 * one of its functions begins, as long as it is at work.
 */
#include "sources/translator/following.h"

#include <linux/fcntl.h>
#include <linux/mman.h>

#include "sources/translator/observing.h"
#include "sources/translator/signals.h"

#define PAGEMAP_RUN 512u
#define HANDLER_REACH (UINT64_C(64) << 20)       /* a handler's activations are no further from its frame */

/* ---- paths that are left ---- */

static uint64_t register_of(uint64_t path)
{
	return path & (observer.path_contexts ? PATHS_REGISTER_MASK : ~PATHS_MEASURED);
}

/* A path is left in this block, of which so many instructions were executed. */
static void leave_block(struct context *ctx, const struct path_place *p, uint64_t path, uint32_t instructions)
{
	struct slope_path_row key = {
		.graph = p->graph->core->number, .context = pathcontexts_number(path), .stop = p->vertex,
		.stop_instructions = instructions,
		.number = slope_path_partial(&p->graph->core->paths, p->vertex, (int64_t)register_of(path) - p->graph->shift),
	};

	if (register_of(path) >= PATHS_FIRST)
		pathevents_row(ctx, &key, 1);
}

/* The activation that has called, and to which this address is where it would have come back. */
static void leave_call(struct context *ctx, uint64_t back, uint64_t path)
{
	const struct path_place *p;

	lock_take(&runtime.lock);
	p = pathindex_find(back - 1);
	if (p && p->end == back)
		leave_block(ctx, p, path, p->graph->core->block[p->vertex].instructions);
	else if (register_of(path) >= PATHS_FIRST)
		ctx->fiber->core->paths.lost++;
	lock_give(&runtime.lock);
}

/* It is at pc, whose instruction has not been executed. */
static void leave_at(struct context *ctx, uint64_t pc, uint64_t path)
{
	const struct path_place *p;

	lock_take(&runtime.lock);
	p = pathindex_find(pc);
	if (p)
		leave_block(ctx, p, path, pathplaces_instructions(p->start, pc));
	lock_give(&runtime.lock);
}

/* The return address there, as the unwinder has found it; `*next`: where it may be noted, so that asking in order is fast. */
static uint64_t back_at(const struct context *ctx, uint64_t slot, size_t *next)
{
	for (size_t i = 0; i < ctx->unwound; i++) {
		const struct unwinding *u = &ctx->unwinding[(*next + i) % ctx->unwound];

		if (u->slot == slot) {
			*next = (size_t)(u - ctx->unwinding) + 1;
			return u->back;
		}
	}
	return *(const uint64_t *)slot;
}

/* What is kept in the shadow of [from, to) belongs to activations that will not go on. */
static void leave_between(struct context *ctx, uint64_t from, uint64_t to)
{
	size_t next = 0;

	for (uint64_t sp = (from + 7) & ~UINT64_C(7); sp + 8 <= to; sp += 8) {
		uint64_t *kept = pathevents_kept(ctx, sp);

		if (!*kept)
			continue;
		leave_call(ctx, back_at(ctx, sp, &next), *kept);
		*kept = 0;
	}
}

/* The handlers from number n on will not go on, nor what they have interrupted. */
static void leave_handlers(struct context *ctx, size_t n)
{
	for (; ctx->handlers > n; ctx->handlers--) {
		const struct interrupted *i = &ctx->handler[ctx->handlers - 1];

		leave_at(ctx, i->pc, i->path);
	}
}

/* ---- where control has come to ---- */

/* The way from one stack pointer to another: what is left behind. */
struct way_up {
	uint64_t from;               /* on the stack that it leads to */
	size_t handlers;             /* that are not left */
	uint64_t pc, path;           /* of the activation that it leads to; pc 0: there is none */
};

static bool on_one_stack(uint64_t from, uint64_t to)
{
	const struct space_region *region;

	lock_take(&runtime.lock);
	region = space_at(&runtime.space, from);
	bool one = from < to && region && to <= region->end;

	lock_give(&runtime.lock);
	return one;
}

/* Is the handler left on the way, since `from` is below its frame, and `to` is not? */
static bool passes(const struct interrupted *i, uint64_t from, uint64_t to)
{
	return from <= i->frame && i->frame - from < HANDLER_REACH && !(from < to && to <= i->frame);
}

static bool find_way(const struct context *ctx, struct way_up *w, uint64_t to)
{
	w->handlers = ctx->handlers;
	while (w->handlers && passes(&ctx->handler[w->handlers - 1], w->from, to)) {
		const struct interrupted *i = &ctx->handler[--w->handlers];

		if (i->apart)
			w->from = i->sp;
	}
	return on_one_stack(w->from, to);
}

/* The topmost activation on the way has called, or was interrupted itself. */
static void find_owner(struct context *ctx, struct way_up *w, uint64_t to)
{
	const struct interrupted *i = w->handlers < ctx->handlers ? &ctx->handler[w->handlers] : NULL;
	uint64_t lowest = i && !i->apart ? i->frame : w->from;
	size_t next = 0;

	for (uint64_t sp = (to & ~UINT64_C(7)) - 8; sp >= lowest; sp -= 8)
		if (*pathevents_kept(ctx, sp)) {
			w->pc = back_at(ctx, sp, &next) - 1;
			w->path = *pathevents_kept(ctx, sp);
			return;
		}
	if (i) {
		w->pc = i->pc;
		w->path = i->path;
	}
}

static void leave_way(struct context *ctx, const struct way_up *w, uint64_t from, uint64_t to)
{
	for (size_t n = ctx->handlers; n > w->handlers; n--) {
		const struct interrupted *i = &ctx->handler[n - 1];

		if (i->apart) {
			leave_between(ctx, from, i->frame);
			from = i->sp;
		}
	}
	leave_handlers(ctx, w->handlers);
	leave_between(ctx, from, to);
}

static uint32_t function_of(uint64_t pc)
{
	const struct path_place *p = pathindex_find(pc);

	return p ? p->graph->core->function : codeplaces_function(pc);
}

/* Control has come to pc with this stack pointer, and not by a return that we know of. */
static void land(struct context *ctx, uint64_t pc, uint64_t sp)
{
	struct way_up w = { .from = ctx->old_sp };
	bool surely = ctx->unwound;

	lock_take(&runtime.lock);
	if (w.from && find_way(ctx, &w, sp))
		find_owner(ctx, &w, sp);
	if (w.pc && !surely && function_of(w.pc) != function_of(pc) && codeplaces_function(w.pc) != codeplaces_function(pc))
		w.pc = 0;
	if (w.pc)
		leave_way(ctx, &w, ctx->old_sp, sp);
	ctx->old_sp = 0;
	ctx->unwound = 0;
	ctx->landed = 1;
	pathplaces_at_for(pc, w.pc ? function_of(w.pc) : SLOPE_FN_NONE);
	if (w.pc)
		path_unpack(ctx, w.path, observer.path_contexts);
	if (!w.pc && codeplaces_is_entry(pc))
		pathevents_begin_function(ctx, pc);
	else
		pathevents_begin_at(ctx, pc, 0);
	if (observer.path_contexts && pathcontexts_number(ctx->path_context) == SLOPE_PATH_CONTEXT_NONE)
		pathcontexts_root(ctx, 0);
	lock_give(&runtime.lock);
}

/* ---- called from translated code and gate.S ---- */

/* The caller's path, which was kept at this place, goes on. */
static void resume(struct context *ctx, uint64_t slot, uint64_t path)
{
	path_unpack(ctx, path, observer.path_contexts);
	if ((int64_t)path < 0)
		measures_resume(ctx, slot);
}

static size_t handler_at(const struct context *ctx, uint64_t frame)
{
	size_t n = ctx->handlers;

	while (n && ctx->handler[n - 1].frame != frame)
		n--;
	return n;
}

/* Nothing was kept at sp: a handler returns to the code that ends it, or the return is none. */
void pathevents_landed(uint64_t sp)
{
	struct context *ctx = context_here();

	path_unpack(ctx, ctx->path, observer.path_contexts);
	if (ctx->path) {
		measures_resume(ctx, sp);
		return;
	}
	if (!handler_at(ctx, sp)) {
		land(ctx, *(const uint64_t *)sp, sp + 8);
		return;
	}
	lock_take(&runtime.lock);
	pathevents_begin_at(ctx, *(const uint64_t *)sp, 0);
	ctx->landed = 1;
	lock_give(&runtime.lock);
}

/* A return that is a jump finds what the call has kept below the stack pointer; and so does the unwinder. */
void pathevents_jump(uint64_t target, uint64_t sp)
{
	struct context *ctx = context_here();
	uint64_t slot = sp - 8, *kept = pathevents_kept(ctx, slot), path = *kept;
	size_t next = 0;

	if (path && back_at(ctx, slot, &next) == target) {
		*kept = 0;
		resume(ctx, slot, path);
		return;
	}
	land(ctx, target, sp);
}

void pathevents_unwound(uint64_t sp)
{
	pathevents_jump(*(const uint64_t *)sp, sp + 8);
}

void pathevents_return(uint64_t sp)
{
	struct context *ctx = context_here();
	uint64_t *kept = pathevents_kept(ctx, sp);

	ctx->path = *kept;
	*kept = 0;
	if ((int64_t)ctx->path > 0) {
		path_unpack(ctx, ctx->path, observer.path_contexts);
		return;
	}
	pathevents_landed(sp);
	if (!ctx->landed || !observing_keeps_paths_apart() || runtime.flags_cross_calls)
		return;
	/* What returns next does not look at that, and goes by way of the call. */
	lock_take(&runtime.lock);
	if (pathplaces_call_before(*(const uint64_t *)sp)) {
		ctx->path = pathbegins_behind(*(const uint64_t *)sp);
		ctx->landed = 0;
	}
	lock_give(&runtime.lock);
}

void pathevents_unexpected(uint64_t target, const struct path_place *place)
{
	struct context *ctx = context_here();

	lock_take(&runtime.lock);
	leave_block(ctx, place, path_packed(ctx), place->graph->core->block[place->vertex].instructions);
	pathplaces_at_for(target, place->graph->core->function);
	pathevents_begin_at(ctx, target, 0);     /* and if it was measured, it is no longer */
	lock_give(&runtime.lock);
}

void pathevents_returned(struct context *ctx, uint64_t pc)
{
	const struct path_place *p;

	if (ctx->landed)
		return;
	lock_take(&runtime.lock);
	p = pathindex_find(pc - 1);
	uint32_t end = p && p->end == pc ? p->graph->core->block[p->vertex].end : SLOPE_BLOCK_JUMPS;

	if (end == SLOPE_BLOCK_CALLS) {
		pathevents_next(ctx, p, pc);
	} else if (end == SLOPE_BLOCK_STOPS) {
		pathevents_unexpected(pc, p);
	} else {
		/* The return address is another than that of the call, which nobody knows any more. */
		if (register_of(ctx->path) >= PATHS_FIRST)
			ctx->fiber->core->paths.lost++;
		pathevents_begin_at(ctx, pc, 0);
	}
	lock_give(&runtime.lock);
}

/* ---- exceptions ---- */

static void note_returns(struct context *ctx, uint64_t sp)
{
	const struct space_region *region = space_at(&runtime.space, sp);

	for (uint64_t end = region ? region->end : sp; sp + 8 <= end; sp += 8) {
		if (!*pathevents_kept(ctx, sp))
			continue;
		if (!slope_arena_grow(&observer.session.arena, (void **)&ctx->unwinding, &ctx->unwinding_capacity, ctx->unwound + 1,
				      sizeof *ctx->unwinding))
			return;
		ctx->unwinding[ctx->unwound++] = (struct unwinding){ sp, *(const uint64_t *)sp };
	}
}

/* Whoever is on the stack may be left, and return addresses may be overwritten. */
void pathevents_unwinds(uint64_t sp)
{
	struct context *ctx = context_here();

	lock_take(&runtime.lock);
	ctx->unwound = 0;
	note_returns(ctx, sp);
	for (size_t n = ctx->handlers; n; n--)
		if (ctx->handler[n - 1].apart)
			note_returns(ctx, (ctx->handler[n - 1].sp + 7) & ~UINT64_C(7));
	lock_give(&runtime.lock);
}

/* ---- signal handlers ---- */

/* Handlers whose frames lie where there is a new one have been left, in a way that has not shown. */
static void leave_overwritten(struct context *ctx, uint64_t frame, uint64_t interrupted_sp, bool apart)
{
	for (size_t n = 0; n < ctx->handlers; n++) {
		uint64_t other = ctx->handler[n].frame;

		if (apart ? signals_on_altstack(other) : other >= frame && other < interrupted_sp) {
			leave_handlers(ctx, n);
			return;
		}
	}
}

/* Interrupted at pc; the handler returns to an address that lies at sp. */
void pathevents_handler(struct context *ctx, uint64_t pc, uint64_t interrupted_sp, uint64_t handler, uint64_t sp)
{
	bool apart = signals_on_altstack(sp) && !signals_on_altstack(interrupted_sp);

	lock_take(&runtime.lock);
	leave_overwritten(ctx, sp, interrupted_sp, apart);
	*pathevents_kept(ctx, sp) = 0;
	if (slope_arena_grow(&observer.session.arena, (void **)&ctx->handler, &ctx->handler_capacity, ctx->handlers + 1,
			     sizeof *ctx->handler))
		ctx->handler[ctx->handlers++] = (struct interrupted){ interrupted_sp, sp, pc, path_packed(ctx), apart };
	else
		ctx->fiber->core->paths.lost++;
	ctx->path_pc = pc;
	pathevents_begin_at(ctx, handler, 0);
	if (observer.path_contexts)
		pathcontexts_root(ctx, codeplaces_function(handler));
	lock_give(&runtime.lock);
}

/* The code that a handler returns to ends with the system call before `next`; it has been executed, and will not be left. */
void pathevents_restorer(struct context *ctx, uint64_t next)
{
	const struct path_place *p;

	lock_take(&runtime.lock);
	p = pathindex_find(next - 1);
	if (p)
		leave_block(ctx, p, path_packed(ctx), pathplaces_instructions(p->start, next));
	lock_give(&runtime.lock);
}

/* It goes on at pc. The handler may have chosen another place, and another stack pointer. */
void pathevents_handler_ends(struct context *ctx, uint64_t pc, uint64_t sp)
{
	size_t n = handler_at(ctx, sp - 8);

	if (!n) {
		ctx->old_sp = 0;
		land(ctx, pc, ctx->reg[REG_RSP]);
		return;
	}
	struct interrupted i = ctx->handler[n - 1];

	leave_handlers(ctx, n);
	ctx->handlers--;
	if (i.pc == pc) {
		resume(ctx, ctx->reg[REG_RSP] - 8, i.path);
		return;
	}
	leave_at(ctx, i.pc, i.path);
	path_unpack(ctx, i.path, observer.path_contexts);
	ctx->old_sp = i.sp;
	land(ctx, pc, ctx->reg[REG_RSP]);
}

/* ---- the end of threads ---- */

void pathlandings_each_page(struct context *ctx, uint64_t from, uint64_t to, void (*visit)(struct context *ctx, uint64_t at))
{
	long pagemap = system_open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC, 0);
	uint64_t window = (uint64_t)pathevents_kept(ctx, 0), entry[PAGEMAP_RUN];

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

void pathlandings_end(struct context *ctx)
{
	leave_at(ctx, ctx->path_pc, path_packed(ctx));
	ctx->path = PATHS_NONE;
	leave_handlers(ctx, 0);
	for (size_t i = 0; i < runtime.space.count; i++) {
		const struct space_region *region = &runtime.space.region[i];

		if (region->prot & PROT_WRITE && region->start >= PLAN_LOWEST)
			pathlandings_each_page(ctx, region->start, region->end, leave_page);
	}
}
