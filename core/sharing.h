/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Who wrote a cell last, and who may have seen that. From this the induced
 * input of the second paper follows without a clock that all threads share: a
 * write makes the words of everyone who has seen the cell pending (as a cache
 * directory does); a thread that reads a pending word, or a cell it never
 * touched but somebody else wrote, gets new input and joins.
 *
 * One 32-bit word per cell, all zero as long as only the first thread and
 * nobody else touches the cell; the first thread is always taken as one that
 * may have seen it. Sets of threads are interned; a set that would grow past
 * SLOPE_SHARERS_MAX means "all threads". The words of the threads themselves
 * say who has really seen the last write; the directory may name too many,
 * never too few.
 *
 * Threads that run at once change directory words, and each other's words, by
 * compare and exchange. What one of them does to a cell comes before or after
 * what another does if the program orders the two accesses, and so is exact;
 * accesses that race in the program are counted in one order or another, or as
 * one. Two reads need no order: a read that joins does so before it takes the
 * writer's OWN bit away, and a read that keeps no such bit cannot lose that
 * (slope_thread.own_kept). There the first thread joins as all others do, and
 * the directory knows what it wrote, so that a cell whose word names one owner
 * has been seen by nobody else.
 *
 * What comes together is done together: a write of many cells, and a read for
 * the cells of its cache line that look the same (core/quad.h). Those of them
 * that were not read are named too many, and their writer may be writing them
 * at that very moment: its word can be its own again behind our back. Whoever
 * really reads such a cell later looks at that word (slope_thread_read_handed).
 *
 * A buffer between two threads is written by one and read by the other, again
 * and again. Its cells keep their set: from the second such write on, the
 * directory's word stays as it is, and the writer's word without the OWN bit,
 * so that the writer comes here each time, and makes the words pending of those
 * in the set. A reader changes its own word, and nothing else. After some
 * writes that hardly anybody read, or when another thread writes or a few more
 * have joined, the cell is as others are again.
 */
#ifndef SLOPE_CORE_SHARING_H
#define SLOPE_CORE_SHARING_H

#include "core/shadow.h"
#include "core/sharers.h"

#define SLOPE_SHARING_NONE UINT32_MAX    /* no word of the directory */

struct slope_session;
struct slope_thread;

struct slope_sharing {
	struct slope_shadow directory;  /* threads that run at once need a window that holds all of it */
	struct slope_sharers sharers;
	/* All threads write these, and read what is around them. */
	char apart[SLOPE_APART_BYTES];
	uint32_t lock;                  /* of the sets and their map, where threads run at once */
	uint32_t kernel_visits;         /* slope_session_kernel_write, at work */
	char also_apart[SLOPE_APART_BYTES];
};

/* The last words that a thread has joined, and what they became: no lock for what comes often. */
#define SLOPE_SHARING_STEPS 32u
struct slope_sharing_steps {
	struct {
		uint32_t from, to;
	} step[SLOPE_SHARING_STEPS];
	/*
	 * What the last one became whose cell another thread wrote, and that one (NULL: threads take turns). A cell with the same
	 * word is joined already, and nothing is left to do if the writer's own word has no OWN bit any more.
	 */
	uint32_t met;
	uint32_t kept;               /* the same word where the cell keeps its set, and nothing is left to do; or SLOPE_SHARING_NONE */
	uint32_t joined;             /* what the last one of all became */
	const struct slope_thread *met_by;
};

/* It must stay where it is. */
void slope_sharing_init(struct slope_sharing *sharing, const struct slope_host *host);
void slope_sharing_fini(struct slope_sharing *sharing);

/* The directory's word of a cell that this thread wrote last, and that nobody else has looked at since. */
uint32_t slope_sharing_owned(uint32_t id);

/* Thread t looks at a cell that it has not seen since its last write; returns the last writer. */
uint32_t slope_sharing_join(struct slope_session *s, struct slope_thread *t, uint64_t cell);

/*
 * The thread's word says now that it has seen the cell, for which the directory
 * had the word `met` before. Somebody who wrote meanwhile, in a race, may not
 * have known: then the word is pending again.
 */
void slope_sharing_seen(struct slope_thread *t, uint64_t cell, uint32_t *word, uint32_t met);

/*
 * A write by thread t (NULL: the kernel) to the cells from `cell` on, up to and
 * without `end`: at least one, and as many as can be at once. How many. The
 * words of all others that have seen them become pending. t's own words, which
 * have no OWN bit, are not touched; *own: they may have it now.
 */
uint64_t slope_sharing_write_some(struct slope_session *s, struct slope_thread *t, uint64_t cell, uint64_t end, bool *own);

/*
 * The thread's words say now that these cells, which it has just written, are its own. Somebody who has looked meanwhile, in a
 * race, did not see that: then they are not.
 */
void slope_sharing_had(struct slope_thread *t, uint64_t cell, uint32_t *word, uint64_t count);

/* Threads are about to run at once: the directory is told what the first one wrote and read while it was alone. O(cells). */
void slope_sharing_tell(struct slope_session *s);

/* Around the kernel's writes. */
void slope_sharing_kernel_enters(struct slope_session *s);
void slope_sharing_kernel_leaves(struct slope_session *s);

/* Waits until nobody can be looking at words of threads that had ended before. */
void slope_sharing_await(struct slope_session *s);

/* Holds the sets still, for a copy of the process. */
void slope_sharing_lock(struct slope_session *s);
void slope_sharing_unlock(struct slope_session *s);
/* In the copy, where no other thread is. */
void slope_sharing_restart(struct slope_session *s);

#endif
