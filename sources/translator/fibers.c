/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stacks. Each has a fiber with its own frames, costs and shadow memory: the
 * program's own stack, and one for every other stack that it runs on. A stack
 * pointer that is set to a value not computed from the old one, and that lies
 * outside the topmost frame, is in this order: near the place where another
 * fiber was left; between the old value and this fiber's base, a longjmp; on
 * the first stack, from another one; anything else, a stack not seen before.
 */
#include "sources/translator/observing.h"

#define ABOVE_ALL UINT64_C(0x7fffffff)   /* no stamp is greater */
#define CLOCK_NS 4000000u        /* so long the two clocks are compared */
#define PARKED_REACH 512u        /* bytes that a switch may pop before it continues */
#define BASE_REACH 256u          /* how much above its first frame a stack's top may lie */

static void set_base(struct fiber *f, uint64_t base)
{
	f->base = base;
	f->core->frame[0].sp = base;
}

struct fiber *fibers_new(struct context *ctx, const struct fiber *parent, uint64_t base)
{
	static const uint64_t nothing[SLOPE_UNITS_MAX];

	lock_take(&runtime.lock);
	struct fiber *f = slope_arena_alloc(&observer.session.arena, sizeof *f);

	/* What was true for one stack is so no longer. */
	if (parent && !observer.session.parallel)
		slope_session_parallel(&observer.session);
	if (f)
		f->core = slope_thread_new(&observer.session, parent ? parent->core->id : 0, ctx->tid, nothing);
	lock_give(&runtime.lock);
	if (!f || !f->core)
		return NULL;
	set_base(f, base);
	f->next = ctx->fibers;
	ctx->fibers = f;
	return f;
}

static uint64_t cycles(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

static uint64_t nanoseconds(void)
{
	struct { int64_t seconds, nanoseconds; } now;

	system_call(__NR_clock_gettime, 1, (long)&now, 0, 0, 0, 0);          /* CLOCK_MONOTONIC */
	return (uint64_t)now.seconds * 1000000000 + (uint64_t)now.nanoseconds;
}

/* A few thousandths of a second are enough to compare the two clocks to four digits. */
void fibers_look_at_clock(void)
{
	uint64_t ns = nanoseconds(), from = cycles(), passed, ticks;

	do {
		passed = nanoseconds() - ns;
		ticks = cycles() - from;
	} while (passed < CLOCK_NS);
	observer.ns_per_2_32_cycles = (passed << 32) / ticks;
	context_here()->clock = cycles();
}

/* Time passes for whatever is on top, waiting included. */
static void count_time(struct context *ctx)
{
	uint64_t now = cycles(), ticks = ctx->clock && now > ctx->clock ? now - ctx->clock : 0;

	ctx->cost[observer.unit_time] += (uint64_t)((unsigned __int128)ticks * observer.ns_per_2_32_cycles >> 32);
	ctx->clock = now;
}

const uint64_t *fibers_costs(void)
{
	return fibers_costs_of(context_here());
}

const uint64_t *fibers_costs_of(struct context *ctx)
{
	struct fiber *f = ctx->fiber;
	bool collecting = slope_thread_collecting(f->core);

	if (observer.unit_time >= 0)
		count_time(ctx);
	for (uint32_t u = 0; u < observer.units; u++) {
		if (collecting)
			f->cost[u] = ctx->cost[u];
		else
			ctx->cost[u] = f->cost[u];       /* they stand still */
	}
	return f->cost;
}

/*
 * Only the thread's first fiber has its words where inlined code looks. For others, a
 * number that no word fits: every check fails, and C decides. Once there are
 * several, C must look at writes too: others may have seen the cell.
 */
void fibers_show_top(void)
{
	/* No call may lie upon its frame, and no return ends it. */
	static struct slope_frame nowhere;
	static struct slope_thread none = { .top = &nowhere };
	struct context *ctx = context_here();
	const struct slope_thread *core = ctx->fiber->core;

	ctx->top_mask = core->shadow.window ? 0 : ABOVE_ALL << 32 | ABOVE_ALL;
	ctx->top = UINT64_C(0x100000001) * slope_thread_stamp(core) | ctx->top_mask;
	ctx->top_sp = core->top->sp;
	ctx->core = ctx->fiber->core;
	bool odd = !core->shadow.window || observer.units != 1 || observer.unit_time >= 0 || ctx->fiber->jumping ||
		   ctx->fiber->landing || (core->contexts && (observer.context_sites || observer.context_collapse || observer.context_k));

	ctx->odd = odd;
	/* Costs beyond those that slope_again_like has room for are for C as well. */
	ctx->usual = odd || core->contexts || ctx->cost[0] >> (64 - SLOPE_AGAIN_SIZE_BITS) ? &none : ctx->fiber->core;
	ctx->directory = observer.session.sharing.directory.window;
	ctx->span = core->shadow.window ? runtime.space.window - PLAN_LOWEST : 0;
	ctx->log = (ctx->log & UINT16_MAX) | (core->shadow.window ? 0 : CTX_LOG_CLOSED);
}

static void switch_to(struct fiber *f, uint64_t old_sp)
{
	struct context *ctx = context_here();

	ctx->fiber->parked_sp = old_sp;
	f->parked_sp = 0;
	for (uint32_t u = 0; u < observer.units; u++)
		context_here()->cost[u] = f->cost[u];
	ctx->fiber = f;
}

/* The fiber that was left at this stack pointer, or a little below it. */
static struct fiber *parked_at(uint64_t sp)
{
	struct fiber *best = NULL;

	for (struct fiber *f = context_here()->fibers; f; f = f->next)
		if (f->parked_sp && f->parked_sp <= sp && sp - f->parked_sp <= PARKED_REACH &&
		    (!best || f->parked_sp > best->parked_sp))
			best = f;
	return best;
}

/* A handler on the alternate stack that is left by a jump. True when sp stays in the topmost one. */
static bool stays_in_handler(struct fiber *f, uint64_t sp, uint64_t old_sp)
{
	struct slope_thread *core = f->core;

	for (; f->handlers; f->handlers--) {
		size_t depth = f->handler_depth[f->handlers - 1];

		if (depth >= slope_thread_depth(core))
			continue;        /* left long ago */
		if (!f->handler_alt[f->handlers - 1])
			return false;
		if (old_sp < sp && sp <= core->frame[depth].sp)
			return true;
		slope_thread_cut(core, depth, f->cost);
	}
	return false;
}

/* The frames that the stack pointer has passed end. */
static void jump_within(struct fiber *f, uint64_t sp)
{
	struct slope_thread *core = f->core;

	while (slope_thread_depth(core) > 1 && core->top->sp < sp)
		slope_thread_leave(core, f->cost);
}

/* On the stack that the thread began on? */
static bool on_first_stack(uint64_t sp)
{
	const struct context *ctx = context_here();

	return sp >= ctx->own_stack && sp < ctx->own_stack_end;
}

static struct fiber *first_fiber(void)
{
	struct fiber *f = context_here()->fibers;

	while (f->next)
		f = f->next;
	return f;
}

/* A stack not seen before, or one whose place is used again from its top. */
static struct fiber *new_stack(uint64_t sp)
{
	for (struct fiber *f = context_here()->fibers; f; f = f->next)
		if (f != context_here()->fiber && f->next && f->base >= sp && f->base - sp < 2 * BASE_REACH) {
			slope_thread_cut(f->core, 1, f->cost);
			set_base(f, sp + BASE_REACH);
			f->handlers = 0;
			return f;
		}
	observer.apart = true;
	return fibers_new(context_here(), context_here()->fiber, sp + BASE_REACH);
}

void fibers_stack_moved(uint64_t sp, uint64_t old_sp)
{
	struct fiber *f = context_here()->fiber, *next;

	if (sp >= old_sp && sp <= f->core->top->sp)
		return;
	fibers_costs();
	next = parked_at(sp);
	if (next) {
		switch_to(next, old_sp);
		next->landing = 2;
	} else if (stays_in_handler(f, sp, old_sp) || (sp > old_sp && sp <= f->base)) {
		jump_within(f, sp);
	} else if (on_first_stack(sp)) {
		next = first_fiber();
		if (next != f)
			switch_to(next, old_sp);
		jump_within(next, sp);
	} else if ((next = new_stack(sp))) {
		switch_to(next, old_sp);
	}
	context_here()->fiber->jumping = true;
	fibers_show_top();
}

void fibers_end_all(struct context *ctx)
{
	fibers_costs_of(ctx);
	for (struct fiber *f = ctx->fibers; f; f = f->next)
		slope_thread_end(f->core, f->cost);
	ctx->fibers = ctx->fiber = NULL;
}
