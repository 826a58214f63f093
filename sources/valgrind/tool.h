/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The Valgrind tool's inner workings, shared by its files:
 *
 *   slope-tool.c  options, callbacks, life of the process
 *   instrument.c  what is added to translated code: costs, calls
 *   shadowcode.c  what is added to its loads and stores
 *   origins.c     what a block shows of its addresses
 *   inserted.c    checks as machine code of our own instead of IR
 *   checkcode.c   that machine code
 *   kept.c        what it calls, keeping registers
 *   closing.c     the log of first reads, many at a time
 *   calls.c       calls, returns, jumps between functions, signals
 *   stacks.c      one fiber per stack: threads, coroutines, switches
 *   memory.c      shadow windows, the slow side of reads and writes, the kernel
 *   places.c      code addresses to functions and modules
 *   output.c      the profile file
 *   spared.c      what Valgrind need not do for us
 *
 * Valgrind runs one thread at a time, so one global state is enough; it holds
 * all that would otherwise be globals.
 */
#ifndef SLOPE_SOURCES_VALGRIND_TOOL_H
#define SLOPE_SOURCES_VALGRIND_TOOL_H

#include "pub_tool_basics.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_machine.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_options.h"
#include "pub_tool_threadstate.h"
#include "pub_tool_tooliface.h"
#include "pub_tool_vki.h"
#include "pub_tool_xarray.h"
#include "libvex_guest_amd64.h"

#include "core/log.h"
#include "core/thread.h"

/*
 * What translated code needs of the running fiber, per Valgrind thread, in the
 * first shadow copy of the guest registers. Valid only while client code runs:
 * filled when it starts, emptied when it stops.
 */
struct slots {
	ULong counter;               /* the fiber's cost; with two units, ir + (bb << 32) since the last look */
	ULong window_8th;            /* address of the shadow window / 8 */
	ULong top_stamps;            /* stamp of the topmost activation, twice */
	ULong stale_masks;           /* SLOPE_STALE_MASK, twice */
	ULong seen_stamps;           /* slope_stamp_seen of that stamp, twice */
	ULong top_fn;
	ULong top_sp;
};

/* First reads of a fiber that are not counted yet: core/log.h. */
struct read_log {
	_Alignas(64) uint64_t bytes; /* used; all of them where there is no memory for a log */
	_Alignas(64) uint32_t entry[(SLOPE_LOG_BYTES + 64) / sizeof(uint32_t)];
};

/* A function, as calls and jumps of translated code name it. Where it is never changes. */
struct callee {
	struct slope_thread *core;   /* the one that called it last, or NULL */
	struct slope_record *record; /* there */
	ULong fn;
};

#define SIGNAL_DEPTHS 64

/* One stack with all that happens on it: a thread, or a coroutine in it. */
struct fiber {
	struct fiber *next;          /* of the same thread */
	struct slope_thread *core;
	uint64_t cost[SLOPE_UNITS_MAX];
	Addr base;                   /* highest address that is surely on this stack */
	Bool jumping;                /* the stack has just moved: the next jump is a longjmp's */
	UInt landing;                /* it has just been switched to; 0 after a call, two returns or a function's entry */
	Addr parked_sp;              /* where it was left; 0 while it runs */
	UInt tail_run;               /* jumps into functions at one stack pointer, about */
	void *window;
	struct read_log *log;        /* NULL: none */
	UInt signal_depth_count;
	ULong signal_depth[SIGNAL_DEPTHS];  /* frames below each running handler */
	Bool signal_alt[SIGNAL_DEPTHS];     /* it runs on the alternate stack */
};

struct tool_thread {
	struct fiber *fiber;         /* the running one; NULL: no such thread */
	struct fiber *fibers;
	Bool handler_due;            /* a signal handler begins with the next instruction */
	Bool handler_on_altstack;
	Addr gs;                     /* the window in its %gs; 0: not set */
	Addr unwritten;              /* what its system call does not write here, whatever Valgrind says; 0: nothing */
};

struct options {
	const HChar *out;
	Int main_pid;
	Int cell_bytes;
	Int max_points;
	Int stamp_limit;
	const HChar *cost, *input;
	Bool access_by_call;         /* no inlined checks: slower, the reference */
	Bool access_by_ir;           /* checks as where VEX is not as inserted.h expects */
	Bool narrow;                 /* without AVX-512, whatever the processor has */
	Int contexts;                /* -1: none; 0: a tree; else the k of a forest */
	Bool context_sites, context_collapse;
	const HChar *burst;          /* period/length, in units of cost; NULL: contexts are kept all the time */
	Int context, max_contexts;   /* points by so many callers; 0: not */
	XArray *toggle, *only, *skip;   /* of const HChar*; NULL: none given */
};

struct tool {
	struct options options;
	struct slope_session session;
	struct slope_host host;
	Bool running;                /* the session exists */

	UInt units;
	Bool count_ir, count_bb;
	Bool ir_first;               /* the order of two units */
	Bool plain;                  /* one unit, no toggles: the counter is the cost */
	Bool usual;                  /* plain, no call sites, the running fiber has a log, collects and has not just been switched to */
	Bool trms;
	Bool retranslate_due;        /* one of the two below has changed, or a stub's target is gone */
	Bool inlined;                /* translated code holds the checks itself */
	Bool check_writes;           /* there are several stacks: writes must be checked too */

	struct tool_thread *thread;  /* by Valgrind's thread id */
	struct fiber *fiber;         /* the one whose code runs */
	struct slope_thread *core;   /* its core */
	struct read_log *log;        /* its log, or one that is always full */
	UInt log_lanes;              /* of closing.h; 0: none */
	UInt exec_count;             /* images that this process has left by exec */
	Int exit_code;               /* -1 until the program names one */
};

extern struct tool tool;

#define STACK_POINTER ((UInt)offsetof(VexGuestAMD64State, guest_RSP))
#define SLOTS_OFFSET ((UInt)sizeof(VexGuestAMD64State))    /* the first shadow copy lies behind it */

static inline struct slots *slots_of(void *guest_state)
{
	return (struct slots *)((HChar *)guest_state + SLOTS_OFFSET);
}

/* A system call that Valgrind does not hear of; errors are -4095..-1, as the kernel has them. */
static inline UWord tool_syscall(UWord number, UWord a, UWord b, UWord c, UWord d, UWord e, UWord f)
{
	UWord result;
	register UWord r10 __asm__("r10") = d;
	register UWord r8 __asm__("r8") = e;
	register UWord r9 __asm__("r9") = f;

	__asm__ volatile("syscall" : "=a"(result)
			 : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9) : "rcx", "r11", "memory");
	return result;
}

/* instrument.c */
IRSB *tool_instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout,
		      const VexGuestExtents *extents, const VexArchInfo *archinfo, IRType guest_word, IRType host_word);

/* calls.c: called from translated code, at the end of the block that has the instruction. */
VG_REGPARM(3) void tool_call(void *guest_state, struct callee *callee, Addr sp);
VG_REGPARM(3) void tool_call_address(void *guest_state, Addr target, Addr sp);
VG_REGPARM(2) void tool_call_stub(void *guest_state, Addr sp);
VG_REGPARM(3) void tool_jump(void *guest_state, struct callee *callee, Addr sp);
VG_REGPARM(3) void tool_jump_address(void *guest_state, Addr target, Addr sp);
VG_REGPARM(3) void tool_jump_from_stub(void *guest_state, Addr target, Addr sp);
VG_REGPARM(2) void tool_return(void *guest_state, Addr sp);
void tool_before_signal(ThreadId tid, Int signal, Bool alt_stack);
void tool_after_signal(ThreadId tid, Int signal);
/* The handler that is due begins. */
void tool_begin_handler(ThreadId tid);
/* The process begins with its first function. */
void tool_begin_process(ThreadId tid);

/* stacks.c */
void tool_take_costs(struct fiber *f, struct slots *slots);
void tool_fill_slots(const struct fiber *f, struct slots *slots);
/* Shows the topmost activation to translated code. */
static inline void tool_show_top(struct slots *slots, uint32_t stamp, uint32_t marks, UWord fn, Addr sp)
{
	uint32_t seen = slope_stamp_seen(stamp, marks);

	slots->top_stamps = (ULong)stamp << 32 | stamp;
	slots->seen_stamps = (ULong)seen << 32 | seen;
	slots->top_fn = fn;
	slots->top_sp = sp;
}
VG_REGPARM(3) void tool_stack_moved(void *guest_state, Addr sp, Addr old_sp);
void tool_thread_created(ThreadId parent, ThreadId child);
void tool_thread_began(ThreadId tid);
void tool_thread_exits(ThreadId tid);
void tool_code_starts(ThreadId tid, ULong blocks);
void tool_code_stops(ThreadId tid, ULong blocks);
/* Is there no other thread? */
Bool tool_only_thread(ThreadId tid);
void tool_end_all_threads(void);
void tool_fork_child(ThreadId tid);

/* memory.c */
Bool tool_window_new(struct fiber *f);
void tool_window_free(struct fiber *f);
/* Its address for translated code. */
Addr tool_window_of(const struct fiber *f);
/* The fiber gets a log, if there is memory for one. */
void tool_log_new(struct fiber *f);
void tool_log_free(struct fiber *f);
/* For renumbering: visits the touched words of a fiber's window. */
void tool_each_window_word(void *ctx, struct slope_thread *t, void (*visit)(void *arg, uint32_t *words, size_t count), void *arg);
/* From now on accesses go through calls; code is due to be translated anew. */
void tool_leave_inlined(void);
/* Throws all translations away if that is due. Not while client code runs. */
void tool_retranslate_if_due(void);
/* From a helper: client code stops before its next block. */
void tool_stop_soon(void *guest_state);
VG_REGPARM(2) void tool_read(Addr a, UWord bytes);
VG_REGPARM(2) void tool_write(Addr a, UWord bytes);
/* The same for the commonest sizes, in a window of 4-byte cells. */
VG_REGPARM(1) void tool_read_8(Addr a);
VG_REGPARM(1) void tool_read_4(Addr a);
VG_REGPARM(1) void tool_read_1(Addr a);
void tool_watch_memory(void);
void *tool_pages(void *ctx, size_t bytes);
void tool_release(void *ctx, void *p, size_t bytes);

/* places.c */
/*
 * The function that a call of this address enters. Its fn is TOOL_FN_STUB for a stub of
 * the linkage table, which is part of its caller until it jumps on;
 * SLOPE_FN_NONE when memory runs out.
 */
#define TOOL_FN_STUB (UINT32_MAX - 1)
struct callee *tool_callee_at(Addr a);
static inline UInt tool_function_at(Addr a)
{
	return (UInt)tool_callee_at(a)->fn;
}
Bool tool_is_stub(Addr a);
/* As tool_callee_at, for code that will be translated anew when what is there is gone; or NULL. */
struct callee *tool_stub_target(Addr a);
/* The call site with this return address. SLOPE_SITE_NONE when memory runs out. */
UInt tool_site_at(Addr back);
/* Does a function with a symbol begin here? */
Bool tool_is_entry(Addr a);
/* Where the module around this code has its code; False when there is none. */
Bool tool_code_range(Addr a, Addr *start, SizeT *bytes);
/* Code in this range is gone. */
void tool_forget_code(Addr a, SizeT bytes);
Bool tool_is_elf(const HChar *path);

/* output.c */
void tool_write_profile(Int exit_code, const HChar *ended);
/* The image is about to be replaced: its profile is written by a copy of the process. */
void tool_before_exec(void);
/* The program may be about to give up the right to write the profile, or to leave the place where it is to be. */
void tool_keep_open(void);
void tool_after_failed_exec(void);

#endif
