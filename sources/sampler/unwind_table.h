/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a module's unwind table (.eh_frame, found through its sorted index,
 * .eh_frame_hdr) says of one place in its code: how the caller's registers are
 * to be had there. Reads memory and computes: no calls, no memory of its own,
 * so a signal handler may.
 *
 * Understood is what compilers write for x86-64: the caller's stack pointer
 * (the CFA) is a register and an offset, or a word in memory at such a place
 * (functions that align their stack); the return address lies below it; saved
 * registers lie at a distance from it or from rbp. The linkage table and the
 * kernel's signal frames have rules of their own. Anything else is NONE.
 */
#ifndef SLOPE_SAMPLER_UNWIND_TABLE_H
#define SLOPE_SAMPLER_UNWIND_TABLE_H

#include "core/base.h"

/* Registers by their numbers in unwind tables. */
enum { SLOPE_REG_RBX = 3, SLOPE_REG_RBP = 6, SLOPE_REG_RSP = 7, SLOPE_REG_R12 = 12, SLOPE_REGS = 16 };

enum slope_recipe_kind {
	SLOPE_RECIPE_NONE,           /* nothing is known */
	SLOPE_RECIPE_END,            /* nobody has called this: the stack begins here */
	SLOPE_RECIPE_FRAME,          /* CFA = register + offset */
	SLOPE_RECIPE_DEREF,          /* CFA = the word at register + offset */
	SLOPE_RECIPE_SIGNAL,         /* the kernel's frame: the stack pointer is that of a ucontext */
};

/* Registers that a function saves for its caller: rbx, rbp, r12 to r15. */
#define SLOPE_RECIPE_SAVED 6u
#define SLOPE_SAVE_SAME 0u           /* not saved here */
#define SLOPE_SAVE_RBP 128u          /* 128 + k: at rbp - 8k; smaller: at CFA - 8k */

struct slope_recipe {
	uint8_t kind, base;
	bool after_call;             /* the instruction before is a call: a return address can be here */
	bool keep_off;               /* functions that do things with their return address: no trampoline */
	bool unwinder;               /* part of an unwinder: while it is on the stack, nothing there may change */
	bool own;                    /* the sampler's code */
	uint16_t code;               /* which slope_code it is in; 0: none */
	int32_t offset;
	uint8_t save[SLOPE_RECIPE_SAVED];
};

/* A register's position in `save`, or -1. */
static inline int slope_recipe_saved(unsigned reg)
{
	return reg == SLOPE_REG_RBX ? 0 : reg == SLOPE_REG_RBP ? 1 : reg >= SLOPE_REG_R12 && reg < SLOPE_REGS ? (int)reg - 10 : -1;
}

static inline unsigned slope_recipe_register(unsigned i)
{
	return i == 0 ? SLOPE_REG_RBX : i == 1 ? SLOPE_REG_RBP : i + 10;
}

/* Room to work in that a small signal stack may not have. */
struct slope_unwind_scratch {
	uint64_t word[480];
};

/*
 * The rule for the instruction at `ip`, from the table whose index is at
 * `header`. Sets kind, base, offset, save and unwinder, and leaves the rest alone.
 */
void slope_unwind_recipe(const uint8_t *header, uint64_t ip, struct slope_recipe *recipe, struct slope_unwind_scratch *scratch);

/* The function that `ip` is in: all addresses from *start to *end. False when the table has none. O(log functions). */
bool slope_unwind_function(const uint8_t *header, uint64_t ip, uint64_t *start, uint64_t *end);

/*
 * The sorted index as it is in memory: pairs of distances from the header, of
 * functions' starts and of their entries. 0 where it is not of the usual kind.
 */
size_t slope_unwind_index(const uint8_t *header, const int32_t **pairs);

#endif
