/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the translator tells the core of a running program, file by file:
 *
 *   observing.c    options, the session, the shadow, memory that comes and goes
 *   codeplaces.c   addresses of code to functions and modules (symbols.c)
 *   activations.c  calls, returns, jumps between functions, signal handlers
 *   usual.S        usual calls and returns, in assembly
 *   misses.S       accesses that checks have not let pass, in assembly
 *   longreads.S    those of many cells
 *   sums.h         where the log ends and what was spent, for all of these
 *   quick.c        those that it leaves, without a way through all that (compacting.h: the log at returns)
 *   fibers.c       one fiber per stack: the program's own, and coroutines'
 *   reports.c      calls of C out of translated code; what else is added to it: making.h
 *   strings.c      repeated string instructions
 *   kerneldata.c   what system calls read and write
 *   profilefile.c  the profile
 *   counters.h     counters of the processor and the kernel (counterlist.c, eventnames.c)
 *
 * A thread tells of itself without the lock. Session-wide calls are made with it.
 *
 * With --access=call every access goes through plain C in the core: slow, and
 * the reference for the checks that are part of translated code. The rules are those of the
 * Valgrind source; its calls.c and stacks.c name what they get wrong.
 */
#ifndef SLOPE_SOURCES_TRANSLATOR_OBSERVING_H
#define SLOPE_SOURCES_TRANSLATOR_OBSERVING_H

#include "core/log.h"
#include "core/thread.h"
#include "sources/translator/context.h"
#include "sources/translator/emit.h"
#include "sources/translator/runtime.h"

#define PATTERNS_MAX 16384u
#define SIGNAL_DEPTHS 64u

struct patterns {
	const char *glob[PATTERNS_MAX];
	unsigned count;
};

/* One stack with all that happens on it. */
struct fiber {
	struct fiber *next;          /* of the same thread; its first one is the last */
	struct slope_thread *core;
	uint64_t cost[SLOPE_UNITS_MAX];
	uint64_t base;               /* highest address that is surely on this stack */
	uint64_t parked_sp;          /* where it was left; 0 while it runs */
	bool jumping;                /* the stack has just moved: the next jump is a longjmp's */
	unsigned landing;            /* it has just been switched to; 0 after a call, two returns or a function's entry */
	unsigned tail_run;           /* jumps into functions at one stack pointer, about */
	unsigned handlers;           /* signal handlers that run on it */
	size_t handler_depth[SIGNAL_DEPTHS];     /* frames below each of them */
	bool handler_alt[SIGNAL_DEPTHS];         /* it runs on the alternate stack */
};

struct observer {
	bool on;                     /* calls, costs and input sizes are observed */
	bool paths;                  /* so are paths */
	bool looks;                  /* either of them */
	bool profiles;               /* --slope-out was given: a profile is written */
	bool path_input;             /* --paths does not switch the others off */
	bool measures;               /* paths are measured by counters */
	bool path_contexts;          /* paths are told apart by calling context */
	uint64_t path_sample;        /* one activation in so many is measured */
	const char *out, *cost, *input;
	uint64_t main_pid, cell_bytes, max_points, stamp_limit;
	uint64_t allotted_bytes;     /* observing_allotted */
	uint64_t block_runs;         /* --block-runs: after so many a block is made anew (rates.h) */
	struct patterns toggle, only, skip;

	struct slope_session session;
	bool trms;
	bool apart;                  /* some stack has its words elsewhere than where checks look: C sees all writes */
	bool by_call;                /* --access=call */
	bool narrow;                 /* --access=narrow: no vectors of sixteen words, whatever the processor has */
	bool inlined;                /* translated code holds checks */
	bool vectors;                /* some vector registers are ours: vectors.h */
	uint32_t units;
	int unit_ir, unit_bb, unit_time;     /* which cost is which; -1: not counted */
	uint64_t ns_per_2_32_cycles;
	uint64_t contexts, context_k;        /* contexts: 1 + k, 0: none */
	uint64_t max_contexts;
	bool context_sites, context_collapse;
	const char *burst;
	uint32_t exec_count;
	bool written;                /* the profile is */
};

extern struct observer observer;

/* ---- observing.c ---- */

/* True if the option is one of ours. */
bool observing_option(const char *option);
/* All options are there. */
void observing_decide(void);
/* Do calls keep their paths in a window of their own, since input sizes have the shadow? */
static inline bool observing_keeps_paths_apart(void)
{
	return observer.on && observer.paths;
}
/* Shadow bytes that a window of the program needs. */
uint64_t observing_shadow_bytes(uint64_t window_bytes);
/* The session with its first thread; the program begins at `pc` with this stack pointer. */
void observing_start(uint64_t pc, uint64_t sp);
/* `over`: there was something there before. */
void observing_mapped(uint64_t address, uint64_t bytes, bool over);
void observing_unmapped(uint64_t address, uint64_t bytes);
/* The heap has so many more, pages of them. */
void observing_grown(uint64_t address, uint64_t bytes);
/* A piece of memory of the program's own, which it may write to. */
void observing_allotted(uint64_t address, uint64_t bytes);
void observing_moved(uint64_t from, uint64_t to, uint64_t bytes);
/* A request of include/slope.h; the answer goes to the program's rdx. */
void observing_request(const uint64_t *block);
/* After a fork, in the child. */
void observing_forked(void);
/* A new thread, made by that fiber. False when memory runs out. */
bool observing_thread(struct context *ctx, const struct fiber *parent);
/* It ends, or could not begin. */
void observing_thread_ends(struct context *ctx);

/* ---- codeplaces.c ---- */

/*
 * The function that a call of this address enters; CODEPLACES_STUB for a stub
 * of the linkage table, which is part of its caller until it jumps on;
 * SLOPE_FN_NONE when memory runs out.
 */
#define CODEPLACES_STUB (UINT32_MAX - 1)
uint32_t codeplaces_function(uint64_t address);
bool codeplaces_is_stub(uint64_t address);
/* In the linkage table itself: to paths, a jump through a slot in the middle of a function is the function's. */
bool codeplaces_in_linkage(uint64_t address);
/* The call site with this return address. SLOPE_SITE_NONE when memory runs out. */
uint32_t codeplaces_site(uint64_t back);
/* Does a function with a symbol begin here? */
bool codeplaces_is_entry(uint64_t address);
/* Is that where its function begins, or is there no symbol that says otherwise? */
bool codeplaces_is_start(uint64_t address);
/* The name of the function that a call of this address comes to, through a stub or not; NULL: not known. */
const char *codeplaces_called_name(uint64_t address);
/* The slot that a stub jumps by, in memory; 0: none. */
uint64_t codeplaces_slot(uint64_t stub);
/* Does a function begin here that unwinds the stack and goes on elsewhere? */
bool codeplaces_is_unwinder(uint64_t address);
/* Or is it part of one? */
bool codeplaces_in_unwinder(uint64_t address);
/* Does a function begin here, with a symbol, or where there is none, by the unwind tables? */
bool codeplaces_is_border(uint64_t address);
/* Where the next symbol or function begins behind this address. */
uint64_t codeplaces_next_entry(uint64_t address);
/* The address in its module's own space. */
uint64_t codeplaces_own_address(uint64_t address);
/* Where the module around this code has its code, for good; NULL when there is none. */
const struct symbols_range *codeplaces_code_range(uint64_t address);
/* A number for the module in whose such range the address lies; 0: it lies in none. */
uint32_t codeplaces_module(uint64_t address);
/* Does the address show an ELF file? */
bool codeplaces_is_elf(uint64_t address);
/* Code in this range is gone. */
void codeplaces_forget(uint64_t address, uint64_t bytes);

/* ---- fibers.c ---- */

/* A new stack of the thread; `parent` is who has made it, or NULL. NULL when memory runs out. */
struct fiber *fibers_new(struct context *ctx, const struct fiber *parent, uint64_t base);
/* Time has a unit: how long a cycle is. */
void fibers_look_at_clock(void);
/* What translated code has counted goes to the running fiber; its costs. */
const uint64_t *fibers_costs(void);
/* The same for a thread that stands still. */
const uint64_t *fibers_costs_of(struct context *ctx);
/* The topmost activation has changed: what inlined checks compare with. */
void fibers_show_top(void);
void fibers_stack_moved(uint64_t sp, uint64_t old_sp);
/* The thread ends. */
void fibers_end_all(struct context *ctx);

/* ---- activations.c: called from translated code ---- */

void activations_call(uint64_t fn, uint64_t sp);
void activations_call_address(uint64_t target, uint64_t sp);
void activations_call_stub(uint64_t sp);
void activations_before_stub(uint64_t sp);
void activations_jump(uint64_t fn, uint64_t sp);
void activations_jump_address(uint64_t target, uint64_t sp, const struct symbols_range *code);
void activations_jump_from_stub(uint64_t target, uint64_t sp);
void activations_return(uint64_t sp);
void activations_begin(uint64_t pc, uint64_t sp);
void activations_handler(uint64_t handler, uint64_t sp, bool on_altstack);
void activations_handler_ends(void);

/* ---- reports.c: calls of C out of translated code, keeping all registers and flags ---- */

enum argument_kind { ARGUMENT_NONE, ARGUMENT_CONSTANT, ARGUMENT_REGISTER, ARGUMENT_CONTEXT };
struct argument {
	enum argument_kind kind;
	uint64_t value;              /* the constant, the register's number, or the word's offset in the context */
};
void reports_call(struct emit *e, const void *function, const struct argument argument[3]);
void reports_access(struct emit *e, const struct access *a);
/* What they call. */
void reports_read(uint64_t address, uint64_t bytes);
void reports_seen(uint64_t address);     /* a cell that was taken over while somebody changed the directory's word: core/sharing.h */
void reports_write(uint64_t address, uint64_t bytes);
void reports_had(uint64_t address, uint64_t bytes);      /* the same of cells that were written as the thread's own */
/* Those elements of a vector that the mask has bits for; `kind` as context.h says. */
void reports_masked(uint64_t address, uint64_t kind, uint64_t mask);

/* Does this processor, with cells of this size, have what the checks of checks.c need? */
bool checks_possible(void);
/* And what compacting.h has AVX-512 for? */
bool checks_have_16(void);

/* ---- logscans.c ---- */

/* Where checks_have_16. */
extern const struct slope_log_scans logscans_by_16;

/* ---- strings.c ---- */

void strings_before(struct emit *e);
void strings_after(struct emit *e, const ZydisDecodedInstruction *i);
/* Instead: calls function(kind, rcx, argument), which asks how often it was repeated beyond the first time. */
void strings_count(struct emit *e, const ZydisDecodedInstruction *i, const void *function, const void *argument);
uint64_t strings_extra(uint64_t kind, uint64_t left);
/* Does nothing but the counter end it, all of rcx? */
bool strings_run_out(const ZydisDecodedInstruction *i);

/* ---- kerneldata.c ---- */

void kerneldata_before(long number, const uint64_t *args);
void kerneldata_after(long number, const uint64_t *args, long result);

/* ---- profilefile.c ---- */

/* All other threads stand still from then on. */
void profilefile_write(int64_t exit_code, const char *ended);
/* The program may be about to give up the right to write it, or to leave the place where it is to be. */
void profilefile_keep_open(void);
/* What the system calls the thread, into its tables. */
void profilefile_note_names(struct context *ctx);
/* The image is about to be replaced: all other threads stand still, its profile is written by a copy of the process. */
void profilefile_before_exec(void);
void profilefile_after_failed_exec(void);

#endif
