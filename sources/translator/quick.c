/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Usual calls and returns: one cost unit, everything collected, a thread on
 * its own stack with its own shadow window. Millions a second go through here,
 * so these functions, called by gate.S, save only the registers that they use.
 * Whatever is not usual is for activations.c, which is called apart: all
 * registers kept.
 *
 * A signal that comes here is stepped through, as in all of gate.S.
 */
#include "sources/translator/observing.h"

#include "core/placing.h"
#include "sources/translator/compacting.h"

#define AS_ASSEMBLY_HAS_IT(what, field, value) _Static_assert(offsetof(struct what, field) == (value), "as the assembly has it")
AS_ASSEMBLY_HAS_IT(slope_thread, owned, CORE_OWNED);
AS_ASSEMBLY_HAS_IT(slope_thread, top, CORE_FRAME);
AS_ASSEMBLY_HAS_IT(slope_thread, clock, CORE_CLOCK);
AS_ASSEMBLY_HAS_IT(slope_thread, own_kept, CORE_OWN_KEPT);
AS_ASSEMBLY_HAS_IT(slope_thread, hint_stamp, CORE_HINT_STAMP);
AS_ASSEMBLY_HAS_IT(slope_thread, hint_span, CORE_HINT_SPAN);
AS_ASSEMBLY_HAS_IT(slope_thread, hint, CORE_HINT);
AS_ASSEMBLY_HAS_IT(slope_thread, steps.kept, CORE_MET_KEPT);
AS_ASSEMBLY_HAS_IT(slope_thread, stamp_limit, CORE_STAMP_LIMIT);
AS_ASSEMBLY_HAS_IT(slope_thread, last, CORE_LAST);
AS_ASSEMBLY_HAS_IT(slope_thread, tally, CORE_TALLY);
AS_ASSEMBLY_HAS_IT(slope_thread, tallies, CORE_TALLIES);
AS_ASSEMBLY_HAS_IT(slope_thread, tally_capacity, CORE_TALLIES_MAX);
AS_ASSEMBLY_HAS_IT(slope_thread, plain, CORE_PLAIN);
AS_ASSEMBLY_HAS_IT(slope_frame, record, FRAME_RECORD);
AS_ASSEMBLY_HAS_IT(slope_frame, sp, FRAME_SP);
AS_ASSEMBLY_HAS_IT(slope_frame, flags, FRAME_FLAGS);
AS_ASSEMBLY_HAS_IT(slope_frame, log, FRAME_LOG);
AS_ASSEMBLY_HAS_IT(slope_frame, back, FRAME_BACK);
AS_ASSEMBLY_HAS_IT(slope_frame, tally_base, FRAME_TALLIES);
AS_ASSEMBLY_HAS_IT(slope_frame, stamp, FRAME_STAMP);
AS_ASSEMBLY_HAS_IT(slope_frame, entry[0], FRAME_ENTRY);
AS_ASSEMBLY_HAS_IT(slope_frame, rms, FRAME_RMS);
AS_ASSEMBLY_HAS_IT(slope_frame, extra, FRAME_EXTRA);
AS_ASSEMBLY_HAS_IT(slope_frame, thread, FRAME_THREAD);
AS_ASSEMBLY_HAS_IT(slope_record, fn, RECORD_FN);
AS_ASSEMBLY_HAS_IT(slope_record, active, RECORD_ACTIVE);
AS_ASSEMBLY_HAS_IT(slope_record, tally, RECORD_TALLY);
AS_ASSEMBLY_HAS_IT(slope_record, again, RECORD_AGAIN);
AS_ASSEMBLY_HAS_IT(slope_again, like, AGAIN_LIKE);
AS_ASSEMBLY_HAS_IT(slope_again, count, AGAIN_COUNT);
AS_ASSEMBLY_HAS_IT(slope_record, edge, RECORD_EDGE);
AS_ASSEMBLY_HAS_IT(slope_record, nested, RECORD_NESTED);
AS_ASSEMBLY_HAS_IT(slope_edge, caller, EDGE_CALLER);
AS_ASSEMBLY_HAS_IT(slope_edge, first, EDGE_FIRST);
AS_ASSEMBLY_HAS_IT(slope_edge, rows, EDGE_ROWS);
AS_ASSEMBLY_HAS_IT(slope_edge, nested, EDGE_NESTED);
AS_ASSEMBLY_HAS_IT(slope_tally, callee, TALLY_CALLEE);
AS_ASSEMBLY_HAS_IT(slope_tally, outer, TALLY_OUTER);
AS_ASSEMBLY_HAS_IT(slope_tally, calls, TALLY_CALLS);
AS_ASSEMBLY_HAS_IT(slope_tally, cost, TALLY_COST);
AS_ASSEMBLY_HAS_IT(codecache_target, code, TARGET_CODE);
AS_ASSEMBLY_HAS_IT(codecache_target, fn, TARGET_FN);
AS_ASSEMBLY_HAS_IT(fiber, tail_run, FIBER_TAIL_RUN);
_Static_assert(sizeof(struct slope_frame) == FRAME_BYTES, "as usual.S has it");
AS_ASSEMBLY_HAS_IT(slope_frame, stamp_again, FRAME_STAMP + 4);
AS_ASSEMBLY_HAS_IT(slope_thread, clock_again, CORE_CLOCK + 4);
_Static_assert(FRAME_FLAGS == FRAME_TALLIES + 4 && FRAME_ENTRY == FRAME_LOG + 8, "as usual.S stores them");
_Static_assert(sizeof(struct slope_tally) + sizeof(uint64_t) == TALLY_BYTES, "as usual.S has it");
_Static_assert(SLOPE_AGAIN == AGAIN_PLACES && sizeof(struct slope_again) == AGAIN_BYTES, "as usual.S has it");
_Static_assert(SLOPE_AGAIN_SIZE_BITS == AGAIN_SIZE_BITS && SLOPE_LOG_BYTES < 1 << AGAIN_SIZE_BITS, "as usual.S has it");
_Static_assert(EDGE_NESTED + sizeof(uint64_t) == EDGE_ROW, "as usual.S has it");
_Static_assert(SLOPE_EDGE_BITS == EDGE_BITS && SLOPE_EDGE_PAIRS == EDGE_PAIRS, "as usual.S has it");
_Static_assert(SLOPE_LOG_BYTES == CTX_LOG_BYTES && SLOPE_LOG_SECTION_BYTES == LOG_SECTION_BYTES, "as the assembly has it");
_Static_assert(SLOPE_STAMP_MARKS == STAMP_MARKS && SLOPE_STAMP_STEP == STAMP_STEP, "as the assembly has it");
_Static_assert(SLOPE_PENDING == STAMP_PENDING, "as misses.S has it");
_Static_assert(SLOPE_FRAME_INDUCED == FRAME_INDUCED && SLOPE_FRAME_SUMS == FRAME_SUMS, "as misses.S has it");

#define QUICK __attribute__((no_caller_saved_registers, section("slope_gate_code"), used))

/* What gate.S calls. */
void quick_call(uint64_t fn, uint64_t sp);
void quick_call_address(uint64_t target, uint64_t sp);
void quick_jump_from_stub(uint64_t target, uint64_t sp);
void quick_return(uint64_t sp);
bool quick_read_handed(uint64_t address);

extern const char slope_gate_return_missed[];

#define CTX ((struct context __seg_gs *)(intptr_t)CTX_AT)

SLOPE_INLINE void apart(const void *function, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	__asm__ volatile("call slope_gate_apart_in_c" : "+a"(function), "+D"(a), "+S"(b), "+d"(c), "+c"(d) : : "memory", "cc");
}

SLOPE_INLINE void show(uint32_t stamp, uint64_t sp)
{
	CTX->top = (uint64_t)stamp << 32 | stamp;
	CTX->top_sp = sp;
}

/* The record of a function that calls here may use; NULL: none. */
SLOPE_INLINE struct slope_record *usual_record(uint64_t fn)
{
	return fn < CTX_QUICKS ? *(struct slope_record *__seg_gs *)(CTX_QUICK_AT + fn * 8) : NULL;
}

/* The new activation among the contexts: core/placing.h. */
SLOPE_INLINE void find_place(struct slope_thread *core, uint32_t fn)
{
	struct slope_contexts *c = core->contexts;
	struct slope_context **place = &c->place[slope_thread_depth(core) - 1], *above = place[-1], *child = NULL;

	core->top->flags |= SLOPE_FRAME_PLACED;
	if (SLOPE_LIKELY(above != NULL))
		child = (above->level == c->last ? above->twin : above)->child;
	if (SLOPE_LIKELY(child && child->fn == fn))
		*place = child;
	else
		apart((const void *)slope_placing_find, (uint64_t)core, slope_thread_depth(core) - 1, 0, 0);
}

/* It ends, having spent so much. */
SLOPE_INLINE void count_at_place(const struct slope_thread *core, const struct slope_frame *f, uint64_t spent)
{
	struct slope_context *node = core->contexts->place[slope_thread_depth(core) - 1];

	if (SLOPE_UNLIKELY(!node))
		return;
	node->calls++;
	node->cost[0] += spent - f->child[0];
	node->cost[1] += spent;
}

/* False, with nothing done, when it is not usual. */
SLOPE_INLINE bool usual_call(uint64_t fn, uint64_t sp)
{
	struct slope_thread *core = CTX->core;
	uint64_t cost = CTX->cost[0];
	struct slope_record *record;

	if (SLOPE_UNLIKELY(CTX->odd) || !(record = usual_record(fn)) || SLOPE_UNLIKELY(core->top->sp <= sp || !core->plain) ||
	    SLOPE_UNLIKELY(record->flags && slope_thread_depth(core) == core->contexts->places) ||
	    SLOPE_UNLIKELY(!slope_frames_push_usual(core, record, sp, &cost, 1, (uint32_t)CTX->log)))
		return false;
	if (SLOPE_UNLIKELY(record->flags))
		find_place(core, (uint32_t)fn);
	show(slope_thread_stamp(core), sp);
	return true;
}

QUICK void quick_call(uint64_t fn, uint64_t sp)
{
	if (SLOPE_UNLIKELY(!usual_call(fn, sp)))
		apart((const void *)activations_call, fn, sp, 0, 0);
}

QUICK void quick_call_address(uint64_t target, uint64_t sp)
{
	const struct codecache_target *known = codecache_target(target);

	if (SLOPE_UNLIKELY(!known || !usual_call(known->fn, sp)))
		apart((const void *)activations_call_address, target, sp, 0, 0);
}

QUICK void quick_jump_from_stub(uint64_t target, uint64_t sp)
{
	const struct codecache_target *known = codecache_target(target);

	if (SLOPE_UNLIKELY(!known || !usual_call(known->fn, sp)))
		apart((const void *)activations_jump_from_stub, target, sp, 0, 0);
}

/* False, with nothing done, when it is not usual. */
SLOPE_INLINE bool usual_return(uint64_t sp)
{
	struct slope_thread *core = CTX->core;
	struct slope_frame *f = core->top;

	if (SLOPE_UNLIKELY(CTX->odd | (f->flags & ~(SLOPE_FRAME_PLACED | SLOPE_FRAME_SUMS))) ||
	    SLOPE_UNLIKELY(f->sp != sp || core->tallies == core->tally_capacity || !core->plain || CTX->log > SLOPE_LOG_BYTES))
		return false;
	uint64_t spent = CTX->cost[0] - f->entry[0], end = (uint32_t)CTX->log, n = (uint64_t)slope_frame_rms(f);

	if (SLOPE_UNLIKELY(f->flags & SLOPE_FRAME_PLACED))
		count_at_place(core, f, spent);
	if (core->tallies == f->tally_base) {
		/* It has called nobody: all entries are its own, and the caller may look at them later. */
		n += (end - f->log) / sizeof *core->log;
	} else {
		if (end != f->log) {
			n += compacting_count(f, &f[-1].stamp, end);
			end = (uint32_t)CTX->log;
		}
		if (SLOPE_UNLIKELY(!slope_tally_flush_known(core, f, n, 1)))
			apart((const void *)slope_tally_flush_any, (uint64_t)core, (uint64_t)f, n, 0);
	}
	if (!slope_frames_pop_usual(core, f, n, spent))
		apart((const void *)slope_frames_point, (uint64_t)core, (uint64_t)f->record, n, spent);
	if (SLOPE_UNLIKELY(end - f[-1].log > SLOPE_LOG_SECTION_BYTES))
		apart((const void *)slope_log_shorten, (uint64_t)core, 0, 0, 0);
	show(slope_thread_stamp(core), f[-1].sp);
	return true;
}

/*
 * The address on the program's stack becomes that of its translation, so that
 * a real return goes there, as the processor expects after a real call. `back`: what the frame that has ended says of it,
 * or 0. Whether that is right gate.S learns from the target, 0 then.
 */
SLOPE_INLINE void place_return(uint64_t *at, uint64_t back)
{
	uint64_t pc = *at;

	if (SLOPE_LIKELY(back && (uint32_t)back == pc)) {
		*at = back >> 32;
		CTX->guest_target = 0;
		return;
	}
	const struct codecache_target *known = codecache_target(pc);

	CTX->guest_target = pc;
	*at = known ? known->code : (uint64_t)slope_gate_return_missed;
}

/* After tail calls more than one activation ends. */
QUICK void quick_return(uint64_t sp)
{
	uint64_t back;

	do {
		back = 0;
		if (SLOPE_UNLIKELY(!usual_return(sp))) {
			apart((const void *)activations_return, sp, 0, 0, 0);
			break;
		}
		back = CTX->core->top[1].back;
	} while (SLOPE_UNLIKELY(CTX->top_sp <= sp));
	place_return((uint64_t *)sp, back);
}

/* The cell at that address, if another thread has handed it on: else false, and nothing is done. Threads run at once. */
QUICK bool quick_read_handed(uint64_t address)
{
	struct slope_thread *core = CTX->core;
	uint64_t cell = address >> 2;

	return address % 4 == 0 && cell < core->shadow.window_cells && slope_thread_read_handed(core, cell, core->shadow.window + cell);
}
