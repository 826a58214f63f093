/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The lock of what all threads share: the program's memory map, translations
 * and their links, symbols and functions. Nothing that runs often takes it.
 * Whoever holds it may take it again. A thread that waits for it sleeps.
 */
#ifndef SLOPE_SOURCES_TRANSLATOR_LOCKING_H
#define SLOPE_SOURCES_TRANSLATOR_LOCKING_H

#include "core/base.h"

struct context;

struct lock {
	uint32_t word;               /* 0: free, 1: held, 2: held, and somebody may be waiting */
	uint32_t depth;              /* how often the owner has taken it */
	struct context *owner;
};

void lock_take(struct lock *lock);
void lock_give(struct lock *lock);
/* Gives it back as often as this thread has taken it. */
void lock_drop(struct lock *lock);

/* Sleeps while `*word` is `value`; for `nanoseconds` at most, where that is not 0. */
void lock_wait(const uint32_t *word, uint32_t value, uint64_t nanoseconds);
/* Wakes up to `count` of those that sleep there. */
void lock_wake(const uint32_t *word, int count);

#endif
