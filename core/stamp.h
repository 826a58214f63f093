/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What one 32-bit shadow word of a thread says about a cell.
 *
 *   0                      the thread has never touched the cell
 *   1 <= s < 2^30          last touched when the activation with the greatest
 *                          stamp <= s was the topmost one (the first paper's
 *                          timestamp; activations have odd stamps)
 *   bit 0                  the last write to the cell was this thread's own,
 *                          and no other thread has looked at it since
 *   s + SLOPE_PENDING      as s, but somebody else (a thread, the kernel) has
 *                          written the cell since: the next read is induced
 *
 * Any stamp from the topmost activation's own up to the thread's clock behaves
 * the same later, so two are stored: the activation's stamp T itself when it
 * writes, and the even one behind it, slope_stamp_seen(T), when it only reads.
 * A cell that is up to date needs no store.
 *
 * The numbers are chosen so that one comparison decides: as signed numbers,
 * words older than T, pending ones and zero are less than T, all others are
 * not. Two words side by side can be tested with one 64-bit subtraction: one of the
 * two highest bits of a half of (words - TT) is set exactly if its word is
 * stale; a borrow from the lower half only happens when that is stale itself.
 *
 * Marked stamps, for a source whose checks may read a word at an odd address:
 * bits 7, 15 and 23 of every word but 0 are set, and all stamps are above
 * 2^24. Four bytes out of two neighbouring words are then less than any stamp,
 * negative or below 2^24, unless they are one word. `marks` is that mask, or 0.
 */
#ifndef SLOPE_CORE_STAMP_H
#define SLOPE_CORE_STAMP_H

#include "core/base.h"

#define SLOPE_STAMP_STEP 2u
#define SLOPE_STAMP_OWN 1u
#define SLOPE_STAMP_LIMIT (1u << 30)
#define SLOPE_STAMP_MARKS 0x00808080u
#define SLOPE_PENDING 0xC0000000u
#define SLOPE_STALE_MASK 0xC0000000u

/* The stamp of the activation number i, from 0 on. Rising. */
static inline uint32_t slope_stamp_number(uint32_t i, uint32_t marks)
{
	uint32_t n = 2 * i + 1;

	if (!marks)
		return n;
	return 0x01000000u + ((n >> 21) << 24) + ((n >> 14 & 0x7f) << 16) + ((n >> 7 & 0x7f) << 8) + (n & 0x7f) + marks;
}

/* Its number again. */
static inline uint32_t slope_stamp_index(uint32_t stamp, uint32_t marks)
{
	if (!marks)
		return stamp / 2;
	stamp -= 0x01000000u;
	return ((stamp >> 24) << 21 | (stamp >> 16 & 0x7f) << 14 | (stamp >> 8 & 0x7f) << 7 | (stamp & 0x7f)) / 2;
}

/* The stamp behind this one. */
static inline uint32_t slope_stamp_next(uint32_t stamp, uint32_t marks)
{
	return (stamp + SLOPE_STAMP_STEP) | marks;
}

/* What a read stores in a cell that is not the thread's own, for an activation's stamp. */
static inline uint32_t slope_stamp_seen(uint32_t stamp, uint32_t marks)
{
	return (stamp + 1) | marks;
}

static inline bool slope_stamp_fresh(uint32_t word, uint32_t top)
{
	return ((word - top) & SLOPE_STALE_MASK) == 0;
}

static inline bool slope_stamp_pending(uint32_t word)
{
	return word >= SLOPE_PENDING;
}

/* The word when another thread has looked at the cell. */
static inline uint32_t slope_stamp_not_own(uint32_t word, uint32_t marks)
{
	return word & SLOPE_STAMP_OWN && !slope_stamp_pending(word) ? slope_stamp_seen(word, marks) : word;
}

/* The word after a foreign write. */
static inline uint32_t slope_stamp_invalidate(uint32_t word, uint32_t marks)
{
	if (slope_stamp_pending(word))
		return word;
	return (word ? slope_stamp_not_own(word, marks) : marks) + SLOPE_PENDING;
}

/* What a pending word was before; below any stamp if it was 0. */
static inline uint32_t slope_stamp_before(uint32_t word)
{
	return word - SLOPE_PENDING;
}

#endif
