/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Vector registers that are ours. Where there is AVX-512, usual.S keeps the program's general registers in zmm24 to
 * zmm31 instead of in memory, and counts with k6 and k7: code hardly ever names these. What the program has in them
 * lies in the context. An instruction that names one finds its value there before, and leaves it there
 * afterwards; signal frames show and take what is there.
 *
 * One of them, xmm30, has the sums while translated code runs: where the log ends, and what was spent (sums.h).
 */
#ifndef SLOPE_SOURCES_TRANSLATOR_VECTORS_H
#define SLOPE_SOURCES_TRANSLATOR_VECTORS_H

#include "sources/translator/emit.h"
#include "sources/translator/trace.h"

struct _xstate;

#define VECTORS_FIRST 24u
#define VECTORS_OURS 8u
#define VECTORS_SUMS 6u          /* which of them has the sums */
#define VECTORS_MASKS (1u << VECTORS_OURS)       /* k6 and k7, behind a bit for each of the others */
#define VECTORS_ALL (2 * VECTORS_MASKS - 1)

/* Those of ours that an instruction names, as a set of bits. */
uint32_t vectors_named(const ZydisDecodedInstruction *i, const ZydisDecodedOperand *operand);
uint32_t vectors_bit(ZydisRegister r);

/* They become the program's, and what they hold then goes to the context. Flags are kept. */
void vectors_load(struct emit *e, uint32_t named);
void vectors_store(struct emit *e, uint32_t named);

/* The routines of usual.S, and a register kept as they expect it: in the n-th of ours, or where these are not in the context. */
const struct usual_gates *vectors_gates(void);
void vectors_keep(struct emit *e, unsigned n, unsigned reg);

/* A general register into the n-th of ours, and back: they stay what they are until the next call, return or system call. */
void vectors_put(struct emit *e, unsigned n, unsigned reg);
void vectors_get(struct emit *e, unsigned n, unsigned reg);

/* Where the log's next entry will be, relative to %gs, into a register; one entry more, or two; and costs. Flags are kept. */
void vectors_log_end(struct emit *e, unsigned reg);
void vectors_log_more(struct emit *e, unsigned entries);
void vectors_cost_more(struct emit *e, int32_t cost);

/* The free one of ours: its lower half as more bytes of the log; 4 or 8 bytes of it to that place. */
#define VECTORS_FREE 7u
void vectors_log_entry(struct emit *e, unsigned reg, bool wide);

/*
 * The shadow word at that address into the free one. The greater of it and a stamp back to its place; for trms, and one thread, of it
 * and what a read makes of it. Then one entry more of the log if it was less than the stamp. By way of the first two of ours; flags are
 * kept.
 */
void vectors_word(struct emit *e, const struct address *at);
void vectors_fresh_word(struct emit *e, unsigned stamp, const struct address *at, bool trms);
void vectors_log_more_if_stale(struct emit *e);

/*
 * For trms, one or two cells whose words are in the free one: what a read makes of them. By way of the first two of ours; flags are
 * kept. shared: threads run at once, and cells that are read are not the thread's own any more.
 */
void vectors_seen_words(struct emit *e, unsigned stamp, const struct address *at, bool wide, bool shared);

/* Around C in a signal handler: the sums come to the context if they are not there, and go back. */
struct ucontext;
void vectors_sums_come(struct context *ctx, const struct ucontext *uc);
void vectors_sums_go(struct context *ctx, struct ucontext *uc);

/* The kernel's picture of the registers gets the program's values; the context gets those that are in it. */
void vectors_show(const struct context *ctx, struct _xstate *state);
void vectors_take(struct context *ctx, const struct _xstate *state);
/* All are as at the start of a program. */
void vectors_clear(struct context *ctx);

#endif
