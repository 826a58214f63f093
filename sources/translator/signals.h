/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the files about signals share:
 *
 *   signals.c       our handler, and the program's: stepping to where one can begin, its frame, its end
 *   faults.c        where in the program a fault happened, and those that are ours: writes to code,
 *   lending.c       and our own writes below the end of a stack
 *   raising.c       code that raises a signal instead of running
 *   stepping.c      programs that set the trap flag
 *   held.c          signals for faults that are sent, and blocked
 *   dispositions.c  the program's system calls about handlers, masks and stacks
 *
 * What others call is in runtime.h.
 */
#ifndef SLOPE_SOURCES_TRANSLATOR_SIGNALS_H
#define SLOPE_SOURCES_TRANSLATOR_SIGNALS_H

#include "sources/translator/runtime.h"

#include <linux/signal.h>
#include <asm/sigcontext.h>
#include <asm/ucontext.h>

#define SIGNAL_SET_BYTES 8
#define SIGNAL_FAULTS (signal_bit(SIGSEGV) | signal_bit(SIGBUS) | signal_bit(SIGFPE) | signal_bit(SIGILL) | signal_bit(SIGTRAP))
#define HANDLER_DEFAULT ((uint64_t)0)
#define HANDLER_IGNORED ((uint64_t)1)

static inline uint64_t signal_bit(int number)
{
	return UINT64_C(1) << (number - 1);
}

/* ---- dispositions.c ---- */

/* What the kernel is told about one signal. */
struct disposition {
	uint64_t handler, flags, restorer, mask;
};

/* The program's, where our handler stands for it. */
struct disposition dispositions_of(int number);
/* The signal's default, from now on. */
void dispositions_reset(int number);

/* ---- signals.c ---- */

/* The one that the kernel knows. */
void signals_handle(int number, siginfo_t *info, struct ucontext *uc);
/* Faults must reach us: of checks, of writes to code, and steps. A fault that the program has blocked ends it. */
uint64_t signals_allowed(uint64_t mask);
/* Is the stack pointer on the program's alternate stack? Of one that is disarmed when it comes into use nobody asks. */
bool signals_on_altstack(uint64_t sp);
/* On at the program's address, with the registers that are the program's. */
void signals_go_to(struct ucontext *uc, uint64_t pc);

/* ---- held.c ---- */

/* Has the program blocked this signal, which the kernel has delivered? Then it waits. */
bool held_take(struct context *ctx, int number, const siginfo_t *info);
/* Some may have been unblocked: they come now. */
void held_release(struct context *ctx);

/* ---- lending.c ---- */

/* Is this instruction of gate.S, or a call that leads there? */
bool lending_is_gates(uint64_t rip);
/* Was it such a call, about a read or write? Then it is told, and the block goes on behind. */
bool lending_tell(struct ucontext *uc);
/* Was it to write to the program's stack where none can be written? Then it can, until the cache is reached again. */
bool lending_begin(struct context *ctx, const siginfo_t *info, const struct ucontext *uc);
void lending_end(struct context *ctx, uint64_t rip);

/* ---- raising.c ---- */

/* Is the trap there the program's own int1? */
bool raising_is_trap(const siginfo_t *info, uint64_t rip);
/* Is this a step on the way to a copy that may run, or not? Refuses the program where it did run. */
bool raising_tries(uint64_t rip);
/* Is the signal the copy's? Then *pc is the program's address, any there is, and its words are as they should be. */
bool raising_has(int number, siginfo_t *info, struct ucontext *uc, uint64_t *pc);

/* ---- stepping.c ---- */

/* Before a step in the cache, and after one: what pushf and popf have to do with the trap flag is the program's. */
void stepping_mind_flags(struct ucontext *uc);
/* Nothing of ours has set the flag: has the program, by popf? */
bool stepping_has_popped(uint64_t rip);
/* One instruction of the program's, and then it is to be told. */
void stepping_begin(struct ucontext *uc, uint64_t pc);

/* ---- faults.c ---- */

#define FAULTS_NOWHERE UINT64_MAX
#define FAULTS_SKIPPED (UINT64_MAX - 1)

/* The block around a place in the cache; elsewhere C may be at work on the list of blocks. */
const struct block *faults_block(uint64_t rip);
/* The program's register with this number. */
uint64_t *faults_register(struct ucontext *uc, int number);
/* A breakpoint counts itself, and ends a basic block. */
void faults_count_trap(void);
/* The register that the block has borrowed gets the program's value. */
void faults_give_back(struct ucontext *uc, const struct block *block);
/*
 * The program's address of the instruction that faulted, and its registers;
 * FAULTS_NOWHERE when it was not one of the program's. FAULTS_SKIPPED: it was a check, which
 * has been left out: its instruction will fault itself.
 */
uint64_t faults_pc(struct ucontext *uc);
/*
 * A write to a page with code that was translated, which is watched: the
 * page is writable again, the blocks made of it die, and the instruction runs anew:
 * in a new block, if its own was one of them; then the page is doubted, or the write would never come to be.
 * False: the fault was another.
 */
bool faults_code_written(int number, const siginfo_t *info, struct ucontext *uc);

/* A store of stalereads.c behind the end of the log: it is settled, and the store goes to its beginning. False: the fault was another. */
bool faults_log_full(const siginfo_t *info, struct ucontext *uc);

#endif
