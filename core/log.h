/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * First reads that nobody has been charged for yet. A source that has room for
 * it gives a thread a log; without one, all of this does nothing.
 *
 * A stale word that is read need not be looked up: what it was is appended to
 * the log, and it becomes the top's. Each frame remembers where the log ended
 * when it began: from there on is its section. At its end, the entries of its
 * section that are older than its stamp are the cells that it, with its
 * callees, has read first. Those older than the caller's stamp stay, and are
 * the caller's from then on; all others were the caller's own before.
 *
 * So an activation's input size is the partial sums from its frame to the top
 * (core/thread.h) and those entries from its section to the end that are less
 * than its stamp. An entry that is not less than the stamp of the frame in whose
 * section it is counts for nobody any more.
 *
 * Entries are ordinary stamps: neither 0 nor pending. What does not know of the
 * log begins with slope_log_settle, which turns entries into partial sums.
 */
#ifndef SLOPE_CORE_LOG_H
#define SLOPE_CORE_LOG_H

#include "core/thread.h"

#define SLOPE_LOG_BYTES 0xef00u          /* an entry that begins at or behind this is one too many */
#define SLOPE_LOG_SECTION_BYTES 4096u    /* a section that is longer is worth slope_log_shorten */
#define SLOPE_LOG_LONG_BYTES 16384u      /* so long a one is settled without a look at what would stay */
#define SLOPE_LOG_SETTLED_BYTES 3072u    /* as is one with more entries that are still new to it: it costs too much at returns */

/* What takes longest, by a source that has vectors for it. Up to 16 entries behind `count` may be read and written. */
struct slope_log_scans {
	/* Entries less than `stamp` close up at `entry`. How many that were, and how many less than `top`. */
	size_t (*keep)(uint32_t *entry, size_t count, uint32_t stamp, uint32_t top, size_t *counted);
	/*
	 * How many from `entry` on, sixteen at a time, are not less than `top` or lie in [from, from + span); *counted: the latter
	 * ones among those less than `top`.
	 */
	size_t (*pass)(const uint32_t *entry, size_t count, uint32_t top, uint32_t from, uint32_t span, size_t *counted);
};

/*
 * The thread has a log, still empty: room for SLOPE_LOG_BYTES and 64 more, and where the bytes that are used are kept. `scans` may
 * be NULL. A source that appends more itself has that room, to be read only, behind the last entry.
 */
static inline void slope_log_set(struct slope_thread *t, uint32_t *log, uint64_t *end_bytes, const struct slope_log_scans *scans)
{
	t->log = log;
	t->log_end = end_bytes;
	t->log_scans = scans;
	*end_bytes = 0;
}

/* Where the section of a frame that begins now begins. */
SLOPE_INLINE uint16_t slope_log_end(const struct slope_thread *t)
{
	return t->log_end ? (uint16_t)*t->log_end : 0;
}

/* Entries of all frames become partial sums, and the log is empty. O(entries), with a search for those that have another owner. */
void slope_log_settle(struct slope_thread *t);

/* The top's section becomes as short as it can be, by settling the log if that is not much. O(entries). */
void slope_log_shorten(struct slope_thread *t);

/* The topmost activation is about to end: its rms is its own, and its section is empty. O(entries of it). */
void slope_log_close(struct slope_thread *t);

/* A stale word is read, one cell: true if that is in the log now. Then the word is the top's. */
SLOPE_INLINE bool slope_log_take(struct slope_thread *t, uint32_t word)
{
	uint64_t *end = t->log_end;

	if (!end || (int32_t)word <= 0)
		return false;
	if (SLOPE_UNLIKELY(*end >= SLOPE_LOG_BYTES))
		slope_log_settle(t);
	t->log[*end / sizeof *t->log] = word;
	*end += sizeof *t->log;
	return true;
}

#endif
