/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What one 32-bit shadow word of a thread says about a cell.
 *
 *   0                      the thread has never touched the cell
 *   2 <= s < 2^30          last touched when the activation with the greatest
 *                          stamp <= s was the topmost one (the first paper's
 *                          timestamp; activations have even stamps)
 *   bit 0                  the last write to the cell was this thread's own,
 *                          and no other thread has looked at it since
 *   s + SLOPE_PENDING      as s, but somebody else (a thread, the kernel) has
 *                          written the cell since: the next read is induced
 *
 * Any stamp from the topmost activation's own up to the thread's clock behaves
 * the same later, so the topmost activation's is the one that is stored: an
 * up-to-date cell needs no store.
 *
 * The numbers are chosen so that one subtraction decides: for a topmost stamp
 * T, (word - T) has one of its two highest bits set exactly when the word is
 * older than T, pending or zero. Two words side by side can be tested with one
 * 64-bit subtraction: a borrow from the lower one only happens when the lower
 * one is stale itself.
 */
#ifndef SLOPE_CORE_STAMP_H
#define SLOPE_CORE_STAMP_H

#include "core/base.h"

#define SLOPE_STAMP_FIRST 2u
#define SLOPE_STAMP_STEP 2u
#define SLOPE_STAMP_OWN 1u
#define SLOPE_STAMP_LIMIT (1u << 30)
#define SLOPE_PENDING 0xC0000000u
#define SLOPE_STALE_MASK 0xC0000000u

static inline bool slope_stamp_fresh(uint32_t word, uint32_t top)
{
	return ((word - top) & SLOPE_STALE_MASK) == 0;
}

static inline bool slope_stamp_pending(uint32_t word)
{
	return word >= SLOPE_PENDING;
}

/* The word after a foreign write. */
static inline uint32_t slope_stamp_invalidate(uint32_t word)
{
	return slope_stamp_pending(word) ? word : (word & ~SLOPE_STAMP_OWN) + SLOPE_PENDING;
}

#endif
