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

/* Is it the hint that a stale word of that stamp is taken from? */
SLOPE_INLINE bool slope_thread_hinted(const struct slope_thread *t, uint32_t s)
{
	return s - t->hint_stamp < t->hint_span && t->hint < t->top && t->hint->stamp == t->hint_stamp;
}

/* Is the stale word one of the common kinds? Then `cells` of it have been counted. */
SLOPE_INLINE bool slope_thread_moved(struct slope_thread *t, uint32_t word, uint32_t cells)
{
	struct slope_frame *top = t->top, *from = slope_thread_hinted(t, word) ? t->hint : top - 1;

	/* Stale: less than the top's stamp, or negative. */
	if (SLOPE_UNLIKELY((int32_t)word < (int32_t)from->stamp))
		return false;
	slope_frame_add(top, cells);
	slope_frame_add(from, -(int64_t)cells);
	return true;
}

/*
 * Is it a cell that another thread has handed on, with others like it of which one was read before? Then it has been counted.
 * What slope_thread_read_stale does, without what is settled for cells of the same writer; threads run at once.
 */
SLOPE_INLINE bool slope_thread_read_handed(struct slope_thread *t, uint64_t cell, uint32_t *word)
{
	const struct slope_shadow *directory = &t->session->sharing.directory;
	const struct slope_thread *writer = t->steps.met_by;
	uint32_t w = *word, old = w ? slope_stamp_before(w) : 0;
	struct slope_frame *top = t->top, *from = t->hint;

	if (!writer || (w && !slope_stamp_pending(w)) || cell >= writer->shadow.window_cells || cell >= directory->window_cells ||
	    __atomic_load_n(&directory->window[cell], __ATOMIC_ACQUIRE) != t->steps.met ||
	    (t->steps.kept != t->steps.met && __atomic_load_n(&writer->shadow.window[cell], __ATOMIC_ACQUIRE) & SLOPE_STAMP_OWN))
		return false;
	if (old < top->stamp) {
		if (slope_thread_hinted(t, old)) {
			slope_frame_add(from, -1);
			slope_frame_induced(from);
			from->extra++;
		} else if (old >= t->frame->stamp) {
			return false;
		}
		slope_frame_induced(top);
		slope_frame_add(top, 1);
	} else {
		slope_frame_induced(top);
		top->extra++;
	}
	top->thread++;
	/* The writer sees this word, or we the directory's after its write. What is kept is written more than once before that matters. */
	if (t->steps.kept == t->steps.met)
		*word = slope_stamp_seen(top->stamp, t->marks);
	else
		__atomic_store_n(word, slope_stamp_seen(top->stamp, t->marks), __ATOMIC_SEQ_CST);
	if (SLOPE_UNLIKELY(__atomic_load_n(&directory->window[cell], __ATOMIC_RELAXED) != t->steps.met))
		slope_sharing_seen(t, cell, word, t->steps.met);
	return true;
}

/* `count` words from the one of `cell` on. */
SLOPE_INLINE void slope_thread_read_words(struct slope_thread *t, uint64_t cell, uint32_t *word, uint64_t count)
{
	uint32_t top = slope_thread_stamp(t), seen = slope_stamp_seen(top, t->marks);

	for (uint64_t i = 0; i < count; i++) {
		uint32_t w = word[i];

		if (slope_stamp_fresh(w, top))
			continue;
		if (SLOPE_LIKELY(slope_log_take(t, w) || slope_thread_moved(t, w, 1)))
			word[i] = w & t->own_kept ? top : seen;
		else if (!slope_thread_read_handed(t, cell + i, &word[i]))
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
	uint32_t w = word[0], top = slope_thread_stamp(t);

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
