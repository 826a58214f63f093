/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where functions begin and end, by what a file says for unwinding: its
 * .eh_frame has an entry for every piece of code that a compiler has made,
 * with or without a symbol, and .eh_frame_hdr finds them by address. Pieces
 * that were moved away from their function have entries of their own; most of
 * those begin with a stack that something lies on already, and so can be told.
 *
 * Nothing is kept, nothing is trusted: whatever is damaged or written in ways
 * that linkers for x86-64 do not use is not found.
 */
#ifndef SLOPE_SOURCES_TRANSLATOR_FRAMERANGE_H
#define SLOPE_SOURCES_TRANSLATOR_FRAMERANGE_H

#include "core/base.h"

struct framerange_table {
	const unsigned char *memory; /* what is at the address `low` */
	uint64_t low, high;
	uint64_t head;               /* of .eh_frame_hdr */
	uint32_t count;
};

struct framerange {
	uint64_t start, end;
	bool late;                   /* does not begin like a function: a piece of one */
};

/*
 * The table at the address `head` (that of PT_GNU_EH_FRAME), in memory that shows the addresses from `low` to `high`,
 * .eh_frame among them. False when there is none.
 */
bool framerange_open(struct framerange_table *t, const void *memory, uint64_t low, uint64_t high, uint64_t head);

/* The entry of that number; they are in order of their addresses. False when it cannot be read. */
bool framerange_at(const struct framerange_table *t, uint32_t number, struct framerange *r);

/* The one around an address. False when there is none. O(log entries). */
bool framerange_around(const struct framerange_table *t, uint64_t pc, struct framerange *r);

#endif
