/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What one 32-bit word of the sharing directory says about a cell: who wrote it
 * last, and who may have seen that. Sets of threads are interned.
 *
 * Two bits of form, thirty of argument; 0 is a cell that only the first thread
 * has touched. "Sharers" are those besides the first thread, where threads take
 * turns; where they run at once, the first one is among them like all others. A
 * set that would grow past SLOPE_SHARERS_MAX means "all threads".
 *
 * Words of sets have flags besides, by which core/sharing.c knows cells that
 * are written and read again and again.
 */
#ifndef SLOPE_CORE_SHARERS_H
#define SLOPE_CORE_SHARERS_H

#include "core/map.h"

#define SLOPE_SHARERS_MAX 16u
#define SLOPE_SHARERS_ALL (SLOPE_SHARERS_MAX + 1)        /* a count: all threads */

/* Writers besides thread ids. */
#define SLOPE_WRITER_NONE 0u
#define SLOPE_WRITER_KERNEL UINT32_MAX

/* Flags of words of sets, */
#define SLOPE_SHARERS_KEPT (1u << 29)    /* the cell keeps its set, */
#define SLOPE_SHARERS_UNREAD (1u << 27)  /* and was written so many times, up to three, that hardly anybody read; alone: it was kept */
#define SLOPE_SHARERS_FLAGS (SLOPE_SHARERS_KEPT | 3 * SLOPE_SHARERS_UNREAD)

#define SLOPE_SHARERS_FORM_SHIFT 30u
#define SLOPE_SHARERS_UNWRITTEN 0u       /* argument: the one sharer, or 0 */
#define SLOPE_SHARERS_KERNEL 1u          /* the kernel wrote last; argument as above */
#define SLOPE_SHARERS_OWNER 2u           /* argument: the thread that wrote last, the only sharer */
#define SLOPE_SHARERS_SET 3u             /* argument: flags, and the number of a set */

struct slope_sharer_set {
	uint32_t writer;
	uint32_t count;              /* of ids, or SLOPE_SHARERS_ALL */
	uint32_t id[SLOPE_SHARERS_MAX];
};

struct slope_sharers {
	struct slope_arena arena;       /* under the directory's lock, not under that of the session's tables */
	struct slope_sharer_set *set;   /* never changed once they are there */
	size_t count, capacity;
	struct slope_map next;          /* (word, what a thread does) -> word */
};

/* It must stay where it is. */
void slope_sharers_init(struct slope_sharers *sharers, const struct slope_host *host);
void slope_sharers_fini(struct slope_sharers *sharers);

SLOPE_INLINE uint32_t slope_sharers_word(uint32_t form, uint32_t argument)
{
	return form << SLOPE_SHARERS_FORM_SHIFT | argument;
}

SLOPE_INLINE uint32_t slope_sharers_form(uint32_t word)
{
	return word >> SLOPE_SHARERS_FORM_SHIFT;
}

SLOPE_INLINE uint32_t slope_sharers_argument(uint32_t word)
{
	return word & ((1u << SLOPE_SHARERS_FORM_SHIFT) - 1);
}

SLOPE_INLINE uint32_t slope_sharers_flags(uint32_t word)
{
	return slope_sharers_form(word) == SLOPE_SHARERS_SET ? word & SLOPE_SHARERS_FLAGS : 0;
}

/* The set of a word of that form. Whoever has such a word sees an array that holds the set. */
SLOPE_INLINE const struct slope_sharer_set *slope_sharers_set(const struct slope_sharers *sharers, uint32_t word)
{
	return &__atomic_load_n(&sharers->set, __ATOMIC_ACQUIRE)[slope_sharers_argument(word) & ~SLOPE_SHARERS_FLAGS];
}

/* What a word says, spelled out. */
struct slope_sharer_set slope_sharers_of(const struct slope_sharers *sharers, uint32_t word);
uint32_t slope_sharers_writer(const struct slope_sharers *sharers, uint32_t word);

/* Is the thread among them? */
bool slope_sharers_name(const struct slope_sharer_set *set, uint32_t id);

/*
 * The word after the thread has joined the sharers of a word without flags, or
 * has written, as one of them, what others keep (or the kernel has: it is no
 * sharer). 0 when memory runs out. Under the directory's lock. O(1).
 */
uint32_t slope_sharers_join(struct slope_sharers *sharers, uint32_t word, uint32_t id);
uint32_t slope_sharers_pass(struct slope_sharers *sharers, uint32_t word, uint32_t writer);

#endif
