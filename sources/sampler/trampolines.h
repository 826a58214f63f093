/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The trampoline: a return address of the stack is replaced by the address of
 * a stub. When the function returns, the stub's code counts that, puts itself
 * at the place of the caller's return address, and goes on where the function
 * would have. So the part of the stack above it is known to be as it was, and
 * a sample walks only what is new.
 *
 * A thread has at most one, and only on its own stack. Each of them is a stub
 * of its own: whatever becomes of the stack, be it copied away and back, the
 * stub's number tells the true return address. A stub that was passed by (a
 * longjmp, an exception) is not used again for a long time.
 *
 * Unwinders that ask the C library for unwind tables, as those of exceptions
 * do, find no stub: it is taken away when they ask, and none is placed while
 * they are on the stack. Others pass through stubs: stubs.S tells them how.
 * Functions that note their return address come through us first
 * (slope_trampoline_capturing), so that it is the true one that they note.
 */
#ifndef SLOPE_SAMPLER_TRAMPOLINES_H
#define SLOPE_SAMPLER_TRAMPOLINES_H

#include "sources/sampler/sampler.h"

#define SLOPE_STUB_BYTES 8u

extern const uint8_t slope_stubs[], slope_stubs_end[], slope_stub_fired[], slope_stub_fired_end[];
extern uint64_t slope_stub_target[];

/* Is the address in code of stubs.S that makes returns? */
static inline bool slope_trampoline_covers(uint64_t ip)
{
	return ip - (uint64_t)(uintptr_t)slope_stubs < (uint64_t)(slope_stub_fired_end - slope_stubs);
}

static inline uint64_t slope_trampoline_address(uint32_t stub)
{
	return (uint64_t)(uintptr_t)slope_stubs + (uint64_t)stub * SLOPE_STUB_BYTES;
}

/* The number of the stub at this address; 0: it is none. */
static inline uint32_t slope_trampoline_stub(uint64_t address)
{
	uint64_t distance = address - (uint64_t)(uintptr_t)slope_stubs;

	return distance < (uint64_t)(slope_stubs_end - slope_stubs) && distance % SLOPE_STUB_BYTES == 0 ?
		(uint32_t)(distance / SLOPE_STUB_BYTES) : 0;
}

/* Can there be any? Not where the processor keeps return addresses itself, and tells by them. */
bool slope_trampolines_possible(void);

/*
 * No more of them, from now on: there is an unwinder that keeps what it has
 * learnt, asks nobody before it looks, and takes stubs for the end (libunwind).
 */
void slope_trampolines_stop(void);

/* Notes the functions where they must not be. */
void slope_trampolines_begin(void);

/* Is the thread's trampoline still where it was put, and the stack below `sp`? */
bool slope_trampoline_there(const struct slope_sampled *t, uint64_t sp);

/* Takes the thread's trampoline away; it is there. */
void slope_trampoline_remove(struct slope_sampled *t);

/* The thread's trampoline was passed by: forget it. */
void slope_trampoline_forget(struct slope_sampled *t);

/*
 * Puts a trampoline at the last activation of t->kept that allows it, and cuts
 * `kept` there. False when it is not the last one, or none at all.
 */
bool slope_trampoline_place(struct slope_sampled *t);

#endif
