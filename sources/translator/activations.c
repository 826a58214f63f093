/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Calls and returns as translated code reports them; observing.h says whose
 * rules these are. A frame's `sp` is the address of its return address.
 */
#include "sources/translator/observing.h"

#include "core/frames.h"
#include "core/slabs.h"
#include "sources/translator/symbols.h"


/* From now on calls of the function are for quick.c. */
static void show_record(struct fiber *f, uint32_t fn)
{
	struct slope_record **quick = (struct slope_record **)((char *)context_window(context_here()) + CTX_QUICK_PLACE);
	struct slope_record *r = slope_thread_record(f->core, fn);

	if (f->core->shadow.window && fn < CTX_QUICKS && r && !(r->flags & ~SLOPE_RECORD_CONTEXTS))
		quick[fn] = r;
}

/* The call site, for contexts that are told apart by it. */
static void tell_site(struct fiber *f, uint64_t sp)
{
	if (f->core->contexts && slope_thread_depth(f->core) > 1 && f->core->top->sp > sp)
		f->core->contexts->site = codeplaces_site(*(const uint64_t *)sp);
}

static void enter(struct fiber *f, uint64_t fn, uint64_t sp, uint32_t flags, const uint64_t *cost)
{
	if (fn >= CODEPLACES_STUB) {
		slope_session_lose(&observer.session, SLOPE_LOST_FUNCTIONS, 1);
	} else {
		if (observer.context_sites && !(flags & SLOPE_FRAME_BASE))
			tell_site(f, sp);
		slope_thread_enter(f->core, (uint32_t)fn, sp, flags, cost);
		show_record(f, (uint32_t)fn);
	}
	fibers_show_top();
}

static void settled(struct fiber *f)
{
	f->jumping = false;
	f->landing = 0;
}

void activations_call(uint64_t fn, uint64_t sp)
{
	struct fiber *f = context_here()->fiber;
	const uint64_t *cost = fibers_costs();

	settled(f);
	/* Frames at or below sp were left without a return that we saw. */
	if (SLOPE_UNLIKELY(f->core->top->sp <= sp))
		slope_thread_unwind(f->core, sp, cost);
	enter(f, fn, sp, 0, cost);
}

/* The stub will jump to a function; frames at or below sp were left without a return that we saw. */
void activations_call_stub(uint64_t sp)
{
	struct fiber *f = context_here()->fiber;

	if (f->core->top->sp > sp)
		return;
	slope_thread_unwind(f->core, sp, fibers_costs());
	fibers_show_top();
}

void activations_before_stub(uint64_t sp)
{
	activations_call_stub(sp - 8);
}

void activations_call_address(uint64_t target, uint64_t sp)
{
	uint32_t fn = codeplaces_function(target);

	if (fn != CODEPLACES_STUB)
		activations_call(fn, sp);
	else
		activations_call_stub(sp);
}

/* How many frames on top have this stack pointer, TAIL_RUN_MAX at most. */
static unsigned tail_run(const struct fiber *f, uint64_t sp)
{
	unsigned run = 0;

	while (run < TAIL_RUN_MAX && run + 1 < slope_thread_depth(f->core) && f->core->top[-(ptrdiff_t)run].sp == sp)
		run++;
	return run;
}

static void jump_into(uint64_t fn, uint64_t sp)
{
	struct fiber *f = context_here()->fiber;
	const uint64_t *cost = fibers_costs();
	bool landing = f->landing != 0;

	settled(f);
	if (f->core->top->sp < sp)
		slope_thread_unwind(f->core, sp - 1, cost);
	/* Another coroutine begins on the stack of one that was never finished. */
	if (landing && slope_thread_depth(f->core) > 1 && f->core->frame[1].sp == sp) {
		slope_thread_cut(f->core, 1, cost);
	} else if (landing && slope_frame_fn(f->core->top) == fn) {
		fibers_show_top();
		return;                  /* a loop */
	}
	if (f->core->top->sp == sp && ++f->tail_run >= TAIL_RUN_MAX) {
		f->tail_run = tail_run(f, sp);
		if (f->tail_run >= TAIL_RUN_MAX)
			slope_thread_leave(f->core, cost);
	}
	enter(f, fn, sp, 0, cost);
}

/* At a function's first instruction: were we called, or did somebody jump here? */
void activations_jump(uint64_t fn, uint64_t sp)
{
	struct fiber *f = context_here()->fiber;

	if (f->landing || slope_frame_fn(f->core->top) != fn)
		jump_into(fn, sp);
}

void activations_jump_address(uint64_t target, uint64_t sp, const struct symbols_range *code)
{
	struct fiber *f = context_here()->fiber;
	bool lands = f->jumping;

	if (target >= code->start && target < code->end)
		return;
	uint32_t fn = codeplaces_function(target);

	f->jumping = false;
	/* A longjmp lands in the middle of a function that is on top already. */
	if (!lands && fn != CODEPLACES_STUB && (f->landing || fn != slope_frame_fn(f->core->top)))
		jump_into(fn, sp);
}

void activations_jump_from_stub(uint64_t target, uint64_t sp)
{
	uint32_t fn = codeplaces_function(target);

	context_here()->fiber->jumping = false;
	/* Also when the function calls itself through the table: then it is on top already. */
	if (fn != CODEPLACES_STUB)
		jump_into(fn, sp);
}

void activations_return(uint64_t sp)
{
	struct fiber *f = context_here()->fiber;

	f->jumping = false;
	if (f->landing)
		f->landing--;
	/* More than one after tail calls; none, if it is a return used as a jump. */
	if (f->core->top->sp <= sp)
		slope_thread_unwind(f->core, sp, fibers_costs());
	fibers_show_top();
}

void activations_begin(uint64_t pc, uint64_t sp)
{
	enter(context_here()->fiber, codeplaces_function(pc), sp, 0, fibers_costs());
}

void activations_handler(uint64_t handler, uint64_t sp, bool on_altstack)
{
	struct fiber *f = context_here()->fiber;

	/* Handlers that were left by a jump never came to their end. */
	while (f->handlers && f->handler_depth[f->handlers - 1] > slope_thread_depth(f->core))
		f->handlers--;
	if (f->handlers == SIGNAL_DEPTHS) {
		for (unsigned i = 1; i < SIGNAL_DEPTHS; i++) {
			f->handler_depth[i - 1] = f->handler_depth[i];
			f->handler_alt[i - 1] = f->handler_alt[i];
		}
		f->handlers--;
	}
	f->handler_alt[f->handlers] = on_altstack;
	f->handler_depth[f->handlers++] = slope_thread_depth(f->core);
	enter(f, codeplaces_function(handler), sp, SLOPE_FRAME_BASE, fibers_costs());
}

void activations_handler_ends(void)
{
	struct fiber *f = context_here()->fiber;

	if (!f->handlers)
		return;
	size_t depth = f->handler_depth[--f->handlers];

	if (slope_thread_depth(f->core) > depth)
		slope_thread_cut(f->core, depth, fibers_costs());
	fibers_show_top();
}
