/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stacks. Each has a fiber with its own frames, costs and shadow memory: the
 * thread's own stack, and one for every other stack that the thread runs on
 * (ucontext and the like). Data that passes between fibers is input from
 * another thread, as it is between threads.
 *
 * A switch shows as a stack pointer that is set to a value not derived from
 * the old one and that lies outside the topmost frame. It is then, in this order:
 *   - near the place where another fiber was left: that fiber goes on;
 *   - between the old value and this fiber's base: a longjmp or an exception,
 *     the frames passed over end;
 *   - on the thread's own stack, from a fiber elsewhere: back to that one;
 *   - anything else: a stack not seen before.
 *
 * What it gets wrong: a coroutine whose stack is a local array of the function
 * that starts it looks like a longjmp.
 */
#include "sources/valgrind/tool.h"
#include "sources/valgrind/inserted.h"
#include "pub_tool_clientstate.h"

#define PARKED_REACH 512u        /* bytes that a switch may pop before it continues */
#define BASE_REACH 256u          /* how much above its first frame a stack's top may lie */

void tool_take_costs(struct fiber *f, struct slots *slots)
{
	Bool collecting = slope_thread_collecting(f->core);
	ULong c = slots->counter;

	if (LIKELY(tool.units == 1)) {
		if (LIKELY(collecting))
			f->cost[0] = c;
		else
			slots->counter = f->cost[0];   /* it stands still */
		return;
	}
	slots->counter = 0;
	if (!collecting)
		return;
	f->cost[0] += tool.ir_first ? (UInt)c : c >> 32;
	f->cost[1] += tool.ir_first ? c >> 32 : (UInt)c;
}

void tool_fill_slots(const struct fiber *f, struct slots *slots)
{
	const struct slope_frame *top = f->core->top;

	/* Just switched to: even the topmost function's entry is worth a look (calls.c). */
	tool_show_top(slots, slope_thread_stamp(f->core), f->core->marks, f->landing ? SLOPE_FN_NONE : slope_frame_fn(top), top->sp);
}

/* Below everything on it: the root's frame. */
static void set_base(struct fiber *f, Addr base)
{
	f->base = base;
	f->core->frame[0].sp = base;
}

static struct read_log no_log;   /* always full */

/* From now on its code runs. */
static void run_fiber(struct fiber *f)
{
	tool.fiber = f;
	tool.core = f ? f->core : NULL;
	no_log.bytes = SLOPE_LOG_BYTES;
	tool.log = f && f->log ? f->log : &no_log;
	tool.usual = f && tool.plain && f->log && !tool.options.context_sites && f->core->collecting && !f->jumping && !f->landing;
}

static struct fiber *fiber_new(struct tool_thread *t, UInt parent, Addr base)
{
	static const uint64_t nothing[SLOPE_UNITS_MAX];
	struct fiber *f = VG_(calloc)("slope.fiber", 1, sizeof *f);

	f->core = slope_thread_new(&tool.session, parent, (ULong)VG_(gettid)(), nothing);
	if (!f->core) {
		VG_(free)(f);
		return NULL;
	}
	set_base(f, base);
	tool_log_new(f);
	if (tool.inlined && !tool_window_new(f))
		tool_leave_inlined();
	if (tool.session.shared && tool.trms && !tool.check_writes) {
		tool.check_writes = True;
		tool.retranslate_due = True;
	}
	f->next = t->fibers;
	t->fibers = f;
	return f;
}

static void fiber_end(struct tool_thread *t, struct fiber *f)
{
	struct fiber **at = &t->fibers;

	while (*at != f)
		at = &(*at)->next;
	*at = f->next;
	slope_thread_end(f->core, f->cost);
	tool_log_free(f);
	/* The first thread's words are asked as long as the program runs. */
	if (f->core->id != 1) {
		tool_window_free(f);
		VG_(free)(f);
	}
}

static void switch_to(struct tool_thread *t, struct fiber *f, Addr old_sp)
{
	if (t->fiber)
		t->fiber->parked_sp = old_sp;
	f->parked_sp = 0;
	t->fiber = f;
}

/* The fiber that was left at this stack pointer, or a little below it. */
static struct fiber *parked_at(const struct tool_thread *t, Addr sp)
{
	struct fiber *best = NULL;

	for (struct fiber *f = t->fibers; f; f = f->next)
		if (f->parked_sp && f->parked_sp <= sp && sp - f->parked_sp <= PARKED_REACH &&
		    (!best || f->parked_sp > best->parked_sp))
			best = f;
	return best;
}

/*
 * A handler on the alternate stack that is left by a jump: its frames end,
 * whatever their stack pointers say. True when sp stays in the topmost one.
 */
static Bool stays_in_handler(struct tool_thread *t, Addr sp, Addr old_sp)
{
	struct fiber *f = t->fiber;
	struct slope_thread *core = f->core;

	for (; f->signal_depth_count; f->signal_depth_count--) {
		ULong depth = f->signal_depth[f->signal_depth_count - 1];

		if (depth >= slope_thread_depth(core))
			continue;        /* left long ago */
		if (!f->signal_alt[f->signal_depth_count - 1])
			return False;
		if (old_sp < sp && sp <= core->frame[depth].sp)
			return True;
		slope_thread_cut(core, depth, t->fiber->cost);
	}
	return False;
}

/* A longjmp or an exception: the frames that the stack pointer has passed end. */
static void jump_within(struct fiber *f, Addr sp)
{
	struct slope_thread *core = f->core;

	while (slope_thread_depth(core) > 1 && core->top->sp < sp)
		slope_thread_leave(core, f->cost);
}

static Bool on_thread_stack(ThreadId tid, Addr sp)
{
	Addr top = VG_(thread_get_stack_max)(tid);
	SizeT bytes = VG_(thread_get_stack_size)(tid);

	return sp <= top && top - sp < bytes;
}

static struct fiber *own_stack_of(ThreadId tid)
{
	struct fiber *f = tool.thread[tid].fibers;

	while (f && f->next)
		f = f->next;             /* the first one made is the last in the list */
	return f;
}

/* A stack not seen before, or one whose place is used again from its top. */
static struct fiber *new_stack(struct tool_thread *t, Addr sp)
{
	for (struct fiber *f = t->fibers; f; f = f->next)
		if (f != t->fiber && f->next && f->base >= sp && f->base - sp < 2 * BASE_REACH) {
			/* One fiber for all that run there in turn: programs make millions of coroutines. */
			slope_thread_cut(f->core, 1, f->cost);
			set_base(f, sp + BASE_REACH);
			f->signal_depth_count = 0;
			return f;
		}
	return fiber_new(t, t->fiber->core->id, sp + BASE_REACH);
}

VG_REGPARM(3) void tool_stack_moved(void *guest_state, Addr sp, Addr old_sp)
{
	ThreadId tid = VG_(get_running_tid)();
	struct tool_thread *t = &tool.thread[tid];
	struct slots *slots = slots_of(guest_state);
	struct fiber *f = t->fiber, *next = parked_at(t, sp);

	tool_take_costs(f, slots);
	if (next) {
		switch_to(t, next, old_sp);
		next->landing = 2;
	} else if (stays_in_handler(t, sp, old_sp)) {
		jump_within(f, sp);
	} else if (sp > old_sp && sp <= f->base) {
		jump_within(f, sp);
	} else if (on_thread_stack(tid, sp)) {
		next = own_stack_of(tid);
		if (next != f)
			switch_to(t, next, old_sp);
		jump_within(next, sp);
	} else if ((next = new_stack(t, sp))) {
		switch_to(t, next, old_sp);
	}
	t->fiber->jumping = True;
	run_fiber(t->fiber);
	slots->counter = tool.units == 1 ? t->fiber->cost[0] : 0;
	slots->window_8th = tool_window_of(t->fiber) / 8;
	inserted_window(t, tool_window_of(t->fiber));
	tool_fill_slots(t->fiber, slots);
	if (tool.retranslate_due)
		tool_stop_soon(guest_state);
}

void tool_thread_created(ThreadId parent, ThreadId child)
{
	struct tool_thread *t = &tool.thread[child];
	UInt parent_id = parent != VG_INVALID_THREADID && tool.thread[parent].fiber ? tool.thread[parent].fiber->core->id : 0;

	VG_(memset)(t, 0, sizeof *t);
	t->fiber = fiber_new(t, parent_id, 0);
	tool_retranslate_if_due();
}

void tool_thread_began(ThreadId tid)
{
	struct fiber *f = tool.thread[tid].fiber;

	if (!f)
		return;
	f->core->os_id = (ULong)VG_(gettid)();
	set_base(f, VG_(get_SP)(tid) + BASE_REACH);
	/* Nobody calls the first function of a process. */
	if (!f->core->parent)
		tool_begin_process(tid);
}

static void note_name(struct slope_thread *core)
{
	HChar path[64];
	Int fd, got;

	if (core->name[0])
		return;
	VG_(sprintf)(path, "/proc/self/task/%llu/comm", (ULong)core->os_id);
	fd = VG_(fd_open)(path, VKI_O_RDONLY, 0);
	if (fd < 0)
		return;
	got = VG_(read)(fd, core->name, sizeof core->name - 1);
	VG_(close)(fd);
	if (got > 0 && core->name[got - 1] == '\n')
		got--;
	core->name[got > 0 ? got : 0] = 0;
	/* What the program did not name has our name: natively it would have the program's. */
	if (VG_(strncmp)(core->name, "slope-amd64-", 12) == 0) {
		VG_(strncpy)(core->name, VG_(basename)(VG_(args_the_exename)), 15);
		core->name[15] = 0;
	}
}

void tool_thread_exits(ThreadId tid)
{
	struct tool_thread *t = &tool.thread[tid];

	for (struct fiber *f = t->fibers; f; f = f->next)
		note_name(f->core);
	while (t->fibers)
		fiber_end(t, t->fibers);
	t->fiber = NULL;
	if (tool.running)
		run_fiber(NULL);
}

void tool_code_starts(ThreadId tid, ULong blocks)
{
	struct tool_thread *t = &tool.thread[tid];
	struct slots slots = { 0 };

	if (!t->fiber)
		tool_thread_created(VG_INVALID_THREADID, tid);
	if (!t->fiber)
		return;
	run_fiber(t->fiber);
	if (t->handler_due)
		tool_begin_handler(tid);
	slots.counter = tool.units == 1 ? t->fiber->cost[0] : 0;
	slots.window_8th = tool_window_of(t->fiber) / 8;
	inserted_window(t, tool_window_of(t->fiber));
	slots.stale_masks = (ULong)SLOPE_STALE_MASK << 32 | SLOPE_STALE_MASK;
	tool_fill_slots(t->fiber, &slots);
	VG_(set_shadow_regs_area)(tid, 1, 0, sizeof slots, (UChar *)&slots);
}

void tool_code_stops(ThreadId tid, ULong blocks)
{
	struct slots slots;

	tool_retranslate_if_due();
	if (!tool.thread[tid].fiber)
		return;
	VG_(get_shadow_regs_area)(tid, (UChar *)&slots, 1, 0, sizeof slots);
	tool_take_costs(tool.thread[tid].fiber, &slots);
}

Bool tool_only_thread(ThreadId tid)
{
	for (ThreadId other = 1; other < VG_N_THREADS; other++)
		if (other != tid && tool.thread[other].fiber)
			return False;
	return True;
}

void tool_end_all_threads(void)
{
	for (ThreadId tid = 1; tid < VG_N_THREADS; tid++)
		if (tool.thread[tid].fiber)
			tool_thread_exits(tid);
}

void tool_fork_child(ThreadId tid)
{
	struct tool_thread *t = &tool.thread[tid];

	if (!t->fiber)
		return;
	/* Only the thread that forked lives on; other stacks of it have no past here. */
	for (ThreadId other = 1; other < VG_N_THREADS; other++)
		if (other != tid)
			tool.thread[other].fiber = tool.thread[other].fibers = NULL;
	slope_session_restart(&tool.session, t->fiber->core, t->fiber->cost);
	t->fiber->next = NULL;
	t->fibers = t->fiber;
	t->fiber->core->os_id = (ULong)VG_(gettid)();
	if (t->unwritten)                /* in the parent; here the kernel has left the new id */
		slope_session_kernel_write(&tool.session, t->unwritten, sizeof(Int));
}
