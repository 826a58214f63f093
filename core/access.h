/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads of shadow words that lie side by side: what a source calls after its
 * inlined check has found a stale word, and what slope_thread_read is made of.
 *
 * Most stale words were last touched in the direct caller, or in the one other
 * activation that the last such word came from. They move one cell from there
 * to the top.
 */
#ifndef SLOPE_CORE_ACCESS_H
#define SLOPE_CORE_ACCESS_H

#include "core/log.h"
#include "core/thread.h"

/* Position of the deepest activation with a stamp <= s: the one that a stale word of that stamp is taken from. */
size_t slope_thread_owner(const struct slope_thread *t, uint32_t s);

/* Is the stale word one of the common kinds? Then `cells` of it have been counted. */
SLOPE_INLINE bool slope_thread_moved(struct slope_thread *t, uint32_t word, uint32_t cells)
{
	struct slope_frame *top = t->top, *from = word - t->hint_stamp < t->hint_span ? t->hint : top - 1;

	/* Stale: less than the top's stamp, or negative. */
	if (SLOPE_UNLIKELY((int32_t)word < (int32_t)from->stamp))
		return false;
	top->rms += cells;
	from->rms -= cells;
	return true;
}

/* `count` words from the one of `cell` on. */
SLOPE_INLINE void slope_thread_read_words(struct slope_thread *t, uint64_t cell, uint32_t *word, uint64_t count)
{
	uint32_t top = t->top_stamp, seen = slope_stamp_seen(top, t->marks);

	for (uint64_t i = 0; i < count; i++) {
		uint32_t w = word[i];

		if (slope_stamp_fresh(w, top))
			continue;
		if (SLOPE_LIKELY(slope_log_take(t, w) || slope_thread_moved(t, w, 1)))
			word[i] = w & t->own_kept ? top : seen;
		else
			slope_thread_read_stale(t, cell + i, &word[i]);
	}
}

/* The same as a function of its own, for the rare cases of others. */
void slope_thread_read_apart(struct slope_thread *t, uint64_t cell, uint32_t *word, uint64_t count);

/*
 * Two words, most often touched together before: then they are one, also for
 * the store, which an 8-byte load by the next check can then be served from.
 */
SLOPE_INLINE void slope_thread_read_pair(struct slope_thread *t, uint64_t cell, uint32_t *word)
{
	uint32_t w = word[0], top = t->top_stamp;

	if (SLOPE_LIKELY(w == word[1])) {
		if (slope_stamp_fresh(w, top))
			return;
		if (SLOPE_LIKELY(slope_thread_moved(t, w, 2))) {
			uint64_t both = w & t->own_kept ? top : slope_stamp_seen(top, t->marks);

			__builtin_memcpy(word, &(uint64_t){ both << 32 | both }, sizeof both);
			return;
		}
	}
	slope_thread_read_apart(t, cell, word, 2);
}

#endif
