/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Calls and returns as translated code reports them.
 *
 * A call is reported where it is made, with the stack pointer after the return
 * address has been pushed: that address is the frame's `sp` and tells, from
 * then on, whether the frame is alive. A return is reported with the address
 * that it pops; it ends all frames at or below it. A jump that arrives at a
 * function's first instruction while another function is on top is a tail
 * call: it gets a frame with the same `sp` as its caller's, and both end with
 * one return. Jumps out of stubs of the linkage table count the same way, so a
 * call through such a stub is a call of the function itself.
 *
 * What it gets wrong: a function that jumps to its own first instruction looks
 * like a loop (it is one to the machine). In code without symbols, tail calls
 * are part of their caller. A chain of more than TAIL_RUN_MAX tail calls at
 * one stack pointer replaces its last frame instead of growing.
 */
#include "sources/valgrind/closing.h"

#include "core/frames.h"
#include "core/slabs.h"

#define TAIL_RUN_MAX 256u

/* ---- the usual case: one cost unit, collecting, no stack switch just behind us (tool.usual) ---- */

static inline const uint64_t *counter_of(const struct slots *slots)
{
	return (const uint64_t *)&slots->counter;
}

/* False, with nothing changed, when the function is not usual or was last called by another fiber, or there is no room. */
static inline Bool enter_usual(struct slope_thread *core, struct slots *slots, const struct callee *callee, Addr sp)
{
	struct slope_record *record = callee->record;

	if (UNLIKELY(callee->core != core || !core->plain || record->flags ||
		     !slope_frames_push_usual(core, record, sp, counter_of(slots), 1, tool.log->bytes)))
		return False;
	tool_show_top(slots, core->clock, core->marks, callee->fn, sp);
	return True;
}

/* ---- any case ---- */

static const uint64_t *costs(struct fiber *f, struct slots *slots)
{
	if (tool.plain && f->core->collecting)
		return counter_of(slots);
	tool_take_costs(f, slots);
	return f->cost;
}

/* The return address says where a call came from; a function that was jumped to has that of another one. */
static void tell_site(struct fiber *f, Addr sp)
{
	if (f->core->contexts && slope_thread_depth(f->core) > 1 && f->core->top->sp > sp)
		f->core->contexts->site = tool_site_at(*(const Addr *)sp);
}

static void enter(struct fiber *f, UInt fn, Addr sp, UInt flags, const uint64_t *cost)
{
	if (tool.options.context_sites && !(flags & SLOPE_FRAME_BASE))
		tell_site(f, sp);
	if (UNLIKELY(fn >= TOOL_FN_STUB))
		tool.session.lost[SLOPE_LOST_FUNCTIONS]++;
	else
		slope_thread_enter(f->core, fn, sp, flags, cost);
}

static Addr top_sp(const struct fiber *f)
{
	return f->core->top->sp;
}

static void settled(struct fiber *f)
{
	f->jumping = False;
	f->landing = 0;
	tool.usual = tool.plain && f->log && !tool.options.context_sites && f->core->collecting;
}

/* The next call of it here will find its record. */
static void remember_record(struct callee *callee, struct slope_thread *core)
{
	callee->record = slope_thread_record(core, (UInt)callee->fn);
	callee->core = callee->record ? core : NULL;
}

static SLOPE_APART void call_unusual(struct slots *slots, struct callee *callee, Addr sp)
{
	struct fiber *f = tool.fiber;
	const uint64_t *cost = costs(f, slots);

	settled(f);
	slope_thread_unwind(f->core, sp, cost);
	enter(f, (UInt)callee->fn, sp, 0, cost);
	remember_record(callee, f->core);
	tool_fill_slots(f, slots);
}

VG_REGPARM(3) void tool_call(void *guest_state, struct callee *callee, Addr sp)
{
	struct slots *slots = slots_of(guest_state);
	struct slope_thread *core = tool.core;

	/* Frames at or below sp were left without a return that we saw. */
	if (UNLIKELY(!tool.usual || slots->top_sp <= sp || !enter_usual(core, slots, callee, sp)))
		call_unusual(slots, callee, sp);
}

VG_REGPARM(2) void tool_call_stub(void *guest_state, Addr sp)
{
	struct slots *slots = slots_of(guest_state);
	struct fiber *f = tool.fiber;

	if (slots->top_sp > sp)
		return;
	slope_thread_unwind(f->core, sp, costs(f, slots));
	tool_fill_slots(f, slots);
}

VG_REGPARM(3) void tool_call_address(void *guest_state, Addr target, Addr sp)
{
	struct callee *callee = tool_callee_at(target);

	if (callee->fn != TOOL_FN_STUB)
		tool_call(guest_state, callee, sp);
	else
		tool_call_stub(guest_state, sp);
}

/* How many frames on top have this stack pointer, TAIL_RUN_MAX at most. */
static UInt tail_run(const struct fiber *f, Addr sp)
{
	UInt run = 0;

	while (run < TAIL_RUN_MAX && run + 1 < slope_thread_depth(f->core) && f->core->top[-(Word)run].sp == sp)
		run++;
	return run;
}

static SLOPE_APART void jump_unusual(void *guest_state, struct callee *callee, Addr sp)
{
	struct fiber *f = tool.fiber;
	struct slots *slots = slots_of(guest_state);
	const uint64_t *cost = costs(f, slots);
	Bool landing = f->landing != 0;

	settled(f);
	if (top_sp(f) < sp)
		slope_thread_unwind(f->core, sp - 1, cost);
	/* Another coroutine begins on the stack of one that was never finished. */
	if (landing && slope_thread_depth(f->core) > 1 && f->core->frame[1].sp == sp) {
		slope_thread_cut(f->core, 1, cost);
	} else if (landing && slope_frame_fn(f->core->top) == callee->fn) {
		tool_fill_slots(f, slots);
		return;                  /* a loop */
	}
	if (top_sp(f) == sp && ++f->tail_run >= TAIL_RUN_MAX) {
		f->tail_run = tail_run(f, sp);
		if (f->tail_run >= TAIL_RUN_MAX)
			slope_thread_leave(f->core, cost);
	}
	enter(f, (UInt)callee->fn, sp, 0, cost);
	remember_record(callee, f->core);
	tool_fill_slots(f, slots);
}

VG_REGPARM(3) void tool_jump(void *guest_state, struct callee *callee, Addr sp)
{
	struct slots *slots = slots_of(guest_state);

	if (UNLIKELY(!tool.usual || slots->top_sp < sp || (slots->top_sp == sp && ++tool.fiber->tail_run >= TAIL_RUN_MAX) ||
		     !enter_usual(tool.core, slots, callee, sp)))
		jump_unusual(guest_state, callee, sp);
}

VG_REGPARM(3) void tool_jump_address(void *guest_state, Addr target, Addr sp)
{
	struct callee *callee = tool_callee_at(target);
	Bool lands = tool.fiber->jumping;

	tool.fiber->jumping = False;
	/* A longjmp lands in the middle of a function that is on top already. */
	if (!lands && callee->fn != TOOL_FN_STUB && callee->fn != slots_of(guest_state)->top_fn)
		tool_jump(guest_state, callee, sp);
}

VG_REGPARM(3) void tool_jump_from_stub(void *guest_state, Addr target, Addr sp)
{
	struct callee *callee = tool_callee_at(target);

	tool.fiber->jumping = False;
	/* Also when the function calls itself through the table: then it is on top already. */
	if (callee->fn != TOOL_FN_STUB)
		tool_jump(guest_state, callee, sp);
}

static SLOPE_APART void return_unusual(struct slots *slots, Addr sp)
{
	struct fiber *f = tool.fiber;

	f->jumping = False;
	if (f->landing)
		f->landing--;
	if (!f->landing)
		settled(f);
	if (top_sp(f) <= sp)             /* otherwise it is a return used as a jump */
		slope_thread_unwind(f->core, sp, costs(f, slots));
	tool_fill_slots(f, slots);
}

/* What most returns need not do: a new point, a shorter log, the end of the frames from which the last one was jumped to. */
static SLOPE_APART void return_more(void *guest_state, Addr sp, struct slope_record *record, UWord n, UWord spent, Bool counted)
{
	struct slope_thread *core = tool.core;

	if (!counted)
		slope_frames_point(core, record, n, spent);
	if (tool.log->bytes - core->top->log > SLOPE_LOG_SECTION_BYTES)
		slope_log_shorten(core);
	if (core->top->sp <= sp)
		tool_return(guest_state, sp);
}

/* The topmost activation ends, of size n. */
static inline void leave_usual(void *guest_state, Addr sp, struct slope_thread *core, struct slope_frame *f, UWord n)
{
	struct slots *slots = slots_of(guest_state);
	UWord spent = slots->counter - f->entry[0];
	const struct slope_frame *below = f - 1;
	Bool counted = slope_frames_pop_usual(core, f, n, spent);

	tool_show_top(slots, below->stamp, core->marks, slope_frame_fn(below), below->sp);
	if (UNLIKELY(!counted || tool.log->bytes - below->log > SLOPE_LOG_SECTION_BYTES || below->sp <= sp))
		return_more(guest_state, sp, f->record, n, spent, counted);
}

/* As tool_return, where others have been called. */
static SLOPE_APART void return_of_caller(void *guest_state, Addr sp, struct slope_thread *core, struct slope_frame *f)
{
	struct read_log *log = tool.log;
	UWord n = (UWord)slope_frame_rms(f), entries = (log->bytes - f->log) / sizeof log->entry[0];
	size_t counted;

	if (entries && LIKELY(tool.log_lanes)) {
		uint32_t *first = (uint32_t *)((HChar *)log->entry + f->log);
		UWord kept = LIKELY(tool.log_lanes == 16) ? logvectors_keep(first, entries, &f[-1].stamp, &f->stamp, &counted) :
							    closing_keep_8(first, entries, &f[-1].stamp, &f->stamp, &counted);

		log->bytes = f->log + kept * sizeof log->entry[0];
		n += counted;
	} else if (entries) {
		slope_log_close(core);
		n = (UWord)slope_frame_rms(f);
	}
	if (UNLIKELY(!slope_tally_flush_known(core, f, n, 1)))
		slope_tally_flush_any(core, f, n);
	leave_usual(guest_state, sp, core, f, n);
}

VG_REGPARM(2) void tool_return(void *guest_state, Addr sp)
{
	struct slots *slots = slots_of(guest_state);
	struct slope_thread *core = tool.core;
	struct slope_frame *f = core->top;

	if (UNLIKELY(!tool.usual || slots->top_sp != sp || f->flags & ~SLOPE_FRAME_SUMS || core->tallies == core->tally_capacity))
		return_unusual(slots, sp);
	else if (core->tallies != f->tally_base)
		return_of_caller(guest_state, sp, core, f);
	else                             /* all entries are its own, and the caller may look at them later */
		leave_usual(guest_state, sp, core, f, (UWord)slope_frame_rms(f) + (tool.log->bytes - f->log) / sizeof tool.log->entry[0]);
}

void tool_before_signal(ThreadId tid, Int signal, Bool alt_stack)
{
	tool.thread[tid].handler_due = True;
	tool.thread[tid].handler_on_altstack = alt_stack;
}

void tool_begin_handler(ThreadId tid)
{
	struct tool_thread *t = &tool.thread[tid];
	struct fiber *f = t->fiber;

	t->handler_due = False;
	/* Handlers that were left by a jump never came to tool_after_signal. */
	while (f->signal_depth_count && f->signal_depth[f->signal_depth_count - 1] > slope_thread_depth(f->core))
		f->signal_depth_count--;
	if (f->signal_depth_count == SIGNAL_DEPTHS) {
		for (UInt i = 1; i < SIGNAL_DEPTHS; i++) {
			f->signal_depth[i - 1] = f->signal_depth[i];
			f->signal_alt[i - 1] = f->signal_alt[i];
		}
		f->signal_depth_count--;
	}
	f->signal_alt[f->signal_depth_count] = t->handler_on_altstack;
	f->signal_depth[f->signal_depth_count++] = slope_thread_depth(f->core);
	enter(f, tool_function_at(VG_(get_IP)(tid)), VG_(get_SP)(tid), SLOPE_FRAME_BASE, f->cost);
}

void tool_after_signal(ThreadId tid, Int signal)
{
	struct tool_thread *t = &tool.thread[tid];
	struct fiber *f = t->fiber;

	if (t->handler_due || !f->signal_depth_count) {
		t->handler_due = False;
		return;
	}
	ULong depth = f->signal_depth[--f->signal_depth_count];

	if (slope_thread_depth(t->fiber->core) > depth)
		slope_thread_cut(t->fiber->core, depth, t->fiber->cost);
}

void tool_begin_process(ThreadId tid)
{
	struct fiber *f = tool.thread[tid].fiber;

	enter(f, tool_function_at(VG_(get_IP)(tid)), VG_(get_SP)(tid), 0, f->cost);
}
