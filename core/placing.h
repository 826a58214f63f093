/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where activations are among the contexts: what calls and returns have to do
 * more in a thread that keeps them. Parts of core/frames.h, for thread.c.
 *
 * Contexts can be kept in bursts: for the first `burst_length` of every
 * `burst_period`, in the first cost unit. A burst begins and ends with a look
 * at the whole stack. Calls that begin in it count, and costs that arise in it.
 * In between calls are as cheap as without contexts: only now and then one of
 * them looks at the time. So calls and costs of contexts, multiplied by
 * period / length, are about what they would be in all. A burst that should
 * begin while no calls are made begins late, or not at all: what does not call
 * for longer than a period has less than its share.
 */
#ifndef SLOPE_CORE_PLACING_H
#define SLOPE_CORE_PLACING_H

#include "core/frames.h"
#include "core/slabs.h"

/* The place of the activation at position i of the stack, once all below it have theirs. O(1). */
void slope_placing_find(struct slope_thread *t, size_t i);

/* All contexts go; pending activations have places in new ones. */
void slope_placing_restart(struct slope_thread *t);

/* Looks at the time, and does a call that would be usual without contexts. False when it is another one: it is still to do. */
bool slope_placing_push(struct slope_thread *t, struct slope_record *record, uint64_t sp, uint32_t flags, const uint64_t *cost);

/* The same for a return. */
bool slope_placing_pop(struct slope_thread *t, struct slope_frame *f, const uint64_t *cost);

/* The topmost activation, which has a place, ends with these costs; its record still has it as active. */
void slope_placing_count(struct slope_thread *t, const struct slope_frame *f, const uint64_t *spent, uint32_t units);

#endif
