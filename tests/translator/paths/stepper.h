/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What stepper.c writes and follow.c reads: one record for each instruction
 * that was executed, in order, as the kernel's single steps show them.
 *
 * `place` is the module's number (bits 48 to 61; in the file of modules, one
 * path on a line) and the address in the module's own space; `sp` is the stack
 * pointer before the instruction. A repeated string instruction is a step for
 * each repetition, each marked. Events are records too.
 */
#ifndef SLOPE_TEST_STEPPER_H
#define SLOPE_TEST_STEPPER_H

#include <stdint.h>

#define STEP_REPEATS (UINT64_C(1) << 62)
#define STEP_EVENT (UINT64_C(1) << 63)
#define STEP_MODULE_SHIFT 48
#define STEP_MODULE_MASK 0x3fffu
#define STEP_ADDRESS_MASK ((UINT64_C(1) << STEP_MODULE_SHIFT) - 1)

/* Kinds of events, in bits 0 to 7 of `place`; what `sp` holds. */
enum step_event {
	STEP_THREAD,                 /* what follows is another thread's: its number, 0 for the first */
	STEP_SIGNAL,                 /* the next record is a handler's first instruction: the signal */
	STEP_SIGNAL_RETURN,          /* the next record is where the handler interrupted: 0 */
	STEP_EXEC,                   /* another program begins: 0 */
	STEP_THREAD_END,             /* the thread has ended: its number */
	STEP_COUNTED_OUT,            /* the repeated instruction before has ended because its count was at zero, and not at once: 0 */
};

struct step {
	uint64_t place, sp;
};

#endif
