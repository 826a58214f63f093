/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One thread of the program (or one coroutine: whatever has a stack of its
 * own): shadow stack, shadow memory, tables. The source reports calls, returns
 * and memory accesses; each activation's input size and cost end up in the
 * tables when it returns.
 *
 * Stack pointers grow downwards. A frame's `sp` is the address of its return
 * address; a source without stack pointers invents falling numbers.
 *
 * Costs are the thread's running totals, one per unit, never falling.
 */
#ifndef SLOPE_CORE_THREAD_H
#define SLOPE_CORE_THREAD_H

#include "core/late.h"
#include "core/points.h"
#include "core/session.h"
#include "core/stamp.h"

/* Binary digits after the first that sizes of edges keep: see slope_points_edge. */
#define SLOPE_EDGE_BITS 3u
/* Callers of a function are told apart by so many pairs of edges at hand. */
#define SLOPE_EDGE_PAIRS 4u

/* Activations of the caller with sizes of one bin, and what they called. `cost` has one entry per unit. */
struct slope_edge_row {
	uint64_t activations;        /* that called the callee; 0: a gap */
	uint64_t calls;              /* of the callee */
	uint64_t cost[];             /* of these calls, inclusive */
};

/*
 * A caller and a callee. The rows go by the caller's own input size (trms
 * where the session keeps it, else rms), in bins that core/tally.h numbers.
 * They lie behind `nested`: most edges are one or two cache lines in all. What
 * they add up to: slope_edge_totals.
 */
struct slope_edge {
	struct slope_edge *next, **at;   /* the next one of the same callee; what points to this one */
	uint32_t caller;
	uint16_t first, rows;        /* bins first .. first + rows - 1 have a row */
	uint64_t nested[];           /* per unit: inclusive, of the callee's activations inside another one of it */
};

/* Nobody's: its caller is no function. */
extern const struct slope_edge slope_edge_none;

/*
 * Most activations are as one of the last few of their function: these are only
 * counted, until another one comes in their place or somebody wants to know (slope_record_settle).
 */
struct slope_again {
	uint64_t like;               /* size and cost: slope_again_like; SLOPE_AGAIN_NONE: nothing to compare with */
	uint64_t count;              /* so many like it that are not in the points */
};

#define SLOPE_AGAIN 16u
#define SLOPE_AGAIN_SIZE_BITS 16u        /* of four times the size: so many bytes of the log */
#define SLOPE_AGAIN_NONE UINT64_MAX

/* Size and cost as one number, or SLOPE_AGAIN_NONE when they are too large for that. */
SLOPE_INLINE uint64_t slope_again_like(uint64_t n, uint64_t cost)
{
	bool fits = n < 1u << (SLOPE_AGAIN_SIZE_BITS - 2) && cost >> (64 - SLOPE_AGAIN_SIZE_BITS) == 0;

	return SLOPE_LIKELY(fits) ? cost << SLOPE_AGAIN_SIZE_BITS | n << 2 : SLOPE_AGAIN_NONE;
}

SLOPE_INLINE uint64_t slope_again_n(const struct slope_again *a)
{
	return a->like % (1u << SLOPE_AGAIN_SIZE_BITS) / 4;
}

SLOPE_INLINE uint64_t slope_again_cost(const struct slope_again *a)
{
	return a->like >> SLOPE_AGAIN_SIZE_BITS;
}

/*
 * One function in one thread. What its points add up to is not kept twice: see slope_record_totals.
 * Calls, edges at hand and activations like the last ones have cache lines of their own.
 */
struct slope_record {
	uint32_t fn, flags;          /* flags: the function's, SLOPE_FN_*, and SLOPE_RECORD_CONTEXTS */
	uint32_t active;             /* activations on the stack now */
	uint32_t tally;              /* position + 1 of its highest tally (core/tally.h); 0: none */
	uint64_t nested[SLOPE_UNITS_MAX];  /* inclusive, of activations inside another one of the same function */
	struct slope_edge *edges;    /* all of them */
	uint32_t metric;             /* of the points that `again` is for */
	struct slope_edge *edge[2 * SLOPE_EDGE_PAIRS] __attribute__((aligned(64)));     /* some that were used last: slope_record_pair */
	struct slope_again again[SLOPE_AGAIN];     /* slope_record_again */
	uint64_t self[SLOPE_UNITS_MAX];    /* as slope_thread_settle has found it */
	struct slope_points points[SLOPE_METRICS];
};

/* Sums over all activations of a function in a thread. */
struct slope_totals {
	uint64_t calls;
	uint64_t total[SLOPE_UNITS_MAX];   /* inclusive, outermost activations only */
	uint64_t self[SLOPE_UNITS_MAX];
	uint64_t rms, trms, thread, external;
};

/* Beside the function's flags in a record: all its activations have contexts, and no call of it is usual. */
#define SLOPE_RECORD_CONTEXTS 0x80000000u

#define SLOPE_FRAME_FOLDED 1u    /* counts as part of its caller: skipped, or begun while collecting was off */
#define SLOPE_FRAME_BASE 2u      /* first frame on another stack (signal handler): sp below is another world */
#define SLOPE_FRAME_INDUCED 4u   /* extra, thread and external hold something: see slope_frame_induced */
#define SLOPE_FRAME_FLAGGED 8u   /* its function has flags */
#define SLOPE_FRAME_PLACED 16u   /* it counts among the contexts: core/placing.h */
#define SLOPE_FRAME_EARLIER 32u  /* it began before the burst in which it is */
#define SLOPE_FRAME_PATHS 64u    /* it has notes of paths: core/path_sizes.h */
#define SLOPE_FRAME_SUMS 128u    /* rms holds something: see slope_frame_add */

/*
 * An activation, with what a usual call and return need in the first 64 bytes.
 * rms and extra are partial sums: an activation's value is the sum from its
 * frame to the top, and what is still in the log (core/log.h).
 */
struct slope_frame {
	struct slope_record *record;
	uint64_t sp;
	uint32_t stamp, stamp_again; /* the same, for two words at once */
	uint32_t tally_base;         /* where its tallies begin; a folded frame has its caller's */
	uint32_t flags;
	uint64_t back;               /* the source's: where it returns to */
	uint16_t log;                /* where its section of the log begins, in bytes: core/log.h */
	uint16_t beside;             /* a source may write to it */
	uint32_t fn;                 /* of one without a record: slope_frame_fn */
	uint64_t entry[SLOPE_UNITS_MAX];   /* the thread's cost when it began */
	uint64_t child[SLOPE_UNITS_MAX];   /* of what it has called, where there are contexts */
	int64_t rms;                 /* first reads; see slope_frame_add */
	int64_t extra;               /* trms - rms */
	uint64_t thread, external;   /* induced reads */
} __attribute__((aligned(64)));

#define SLOPE_RECORD_PAGE_LOG2 9u

struct slope_thread {
	struct slope_frame *top;     /* the topmost one, frame + depth - 1 */
	uint32_t clock, clock_again; /* the stamp of the last call, for two words at once */
	/*
	 * SLOPE_STAMP_OWN: a read of a stale cell keeps that bit. 0 where threads
	 * run at once: another one may be taking it away at the same time. The
	 * next write gets it back from the directory.
	 */
	uint32_t own_kept;
	/*
	 * The activation besides the caller that lost cells to the top last: words
	 * with (word - hint_stamp) < hint_span are its own, as long as it lives.
	 */
	uint32_t hint_stamp, hint_span;
	struct slope_frame *hint;
	uint32_t stamp_limit, marks; /* the session's, within reach */
	/* The topmost one that a call may lie upon without a look at capacity and max_depth; NULL: not plain. */
	struct slope_frame *last;
	uint64_t other_calls;        /* that the clock does not tell: slope_thread_calls */
	uint32_t *log;               /* core/log.h; NULL: none */
	uint64_t *log_end;           /* bytes of it that are used */
	unsigned char *tally;        /* struct slope_tally, of all pending activations: core/tally.h */
	uint32_t tallies, tally_capacity;
	bool plain;                  /* slope_thread_is_plain */
	uint32_t visiting;           /* it may be looking at other threads' words */
	uint64_t owned;              /* slope_sharing_owned, twice */
	const struct slope_log_scans *log_scans;
	struct slope_sharing_steps steps;

	/* Other threads look at these. */
	SLOPE_FAR_APART struct slope_session *session;
	uint32_t metrics;            /* the session's, within reach */
	uint32_t id;                 /* 1 is the first thread; never reused */
	uint32_t parent;             /* id of the creator, 0 if none */
	uint64_t os_id;              /* what the system calls it */
	char name[32];
	bool ended, collecting;
	uint32_t toggles;            /* activations of SLOPE_FN_TOGGLE functions on the stack */

	struct slope_shadow shadow;

	SLOPE_FAR_APART size_t capacity;
	struct slope_frame *frame;
	struct slope_record ***record;   /* pages of pointers, by function */
	size_t record_pages;
	struct slope_arena arena;    /* of all its tables */
	struct slope_map edge_by_ends;
	struct slope_contexts *contexts;  /* NULL: none are kept */
	uint64_t max_depth;
	struct slope_late late;      /* activations of its records, not of its variants */
	struct slope_path_table paths;
	struct slope_path_sizes path_sizes;
};

/* A new thread with its root frame. NULL when memory runs out (counted as lost). */
struct slope_thread *slope_thread_new(struct slope_session *s, uint32_t parent, uint64_t os_id, const uint64_t *cost);

/* All frames return, the shadow goes back to the host; the tables stay for the profile. */
void slope_thread_end(struct slope_thread *t, const uint64_t *cost);

/* Forgets a thread with all its tables; the struct stays as an ended thread without a past. */
void slope_thread_discard(struct slope_thread *t);

/* Empties the tables; activations on the stack count their costs from now on. */
void slope_thread_restart(struct slope_thread *t, const uint64_t *cost);

/* A function begins. O(1). */
void slope_thread_enter(struct slope_thread *t, uint32_t fn, uint64_t sp, uint32_t flags, const uint64_t *cost);

/* The topmost activation ends; never the root. O(1). */
void slope_thread_leave(struct slope_thread *t, const uint64_t *cost);

/* Ends every activation whose sp is at or below `sp`, up to and with the next SLOPE_FRAME_BASE. How many. */
size_t slope_thread_unwind(struct slope_thread *t, uint64_t sp, const uint64_t *cost);

/* Ends activations until `depth` are left, whatever their stack. */
void slope_thread_cut(struct slope_thread *t, size_t depth, const uint64_t *cost);

/* Memory accesses of any size. O(cells) but for the rare search of an ancestor, O(log depth). */
void slope_thread_read(struct slope_thread *t, uint64_t address, uint64_t bytes);
void slope_thread_write(struct slope_thread *t, uint64_t address, uint64_t bytes);

/* For inlined checks: a word that is not fresh is read; a word is written that is not the thread's own. */
void slope_thread_read_stale(struct slope_thread *t, uint64_t cell, uint32_t *word);
void slope_thread_write_shared(struct slope_thread *t, uint64_t cell, uint32_t *word);

/*
 * Switches collecting; activations that begin while it is off are folded into
 * their callers. A source lets the costs stand still meanwhile.
 */
void slope_thread_collect(struct slope_thread *t, bool on);

/* Its function. */
SLOPE_INLINE uint32_t slope_frame_fn(const struct slope_frame *f)
{
	return f->record ? f->record->fn : f->fn;
}

/* First reads, or less than none, of which the log does not tell. */
SLOPE_INLINE void slope_frame_add(struct slope_frame *f, int64_t cells)
{
	if (!(f->flags & SLOPE_FRAME_SUMS))
		f->rms = 0;
	f->flags |= SLOPE_FRAME_SUMS;
	f->rms += cells;
}

SLOPE_INLINE int64_t slope_frame_rms(const struct slope_frame *f)
{
	return SLOPE_UNLIKELY(f->flags & SLOPE_FRAME_SUMS) ? f->rms : 0;
}

/* The frame is about to count what others have brought into it. */
static inline void slope_frame_induced(struct slope_frame *f)
{
	if (f->flags & SLOPE_FRAME_INDUCED)
		return;
	f->flags |= SLOPE_FRAME_INDUCED;
	f->extra = 0;
	f->thread = f->external = 0;
}

/* Frames on the stack. */
SLOPE_INLINE size_t slope_thread_depth(const struct slope_thread *t)
{
	return t->frame ? (size_t)(t->top - t->frame) + 1 : 0;
}

/* The topmost activation's stamp. */
SLOPE_INLINE uint32_t slope_thread_stamp(const struct slope_thread *t)
{
	return t->top->stamp;
}

SLOPE_INLINE void slope_thread_set_clock(struct slope_thread *t, uint32_t stamp)
{
	t->clock = t->clock_again = stamp;
}

/* How many activations have begun. */
static inline uint64_t slope_thread_calls(const struct slope_thread *t)
{
	return t->other_calls + slope_stamp_index(t->clock, t->marks);
}

static inline bool slope_thread_collecting(const struct slope_thread *t)
{
	return t->collecting && (t->toggles || !t->session->config.toggled);
}

/* Collecting, whatever functions do, and no burst of contexts just now. */
bool slope_thread_is_plain(const struct slope_thread *t);

/* Something that this depends on, or max_depth, has changed. */
static inline void slope_thread_set_plain(struct slope_thread *t)
{
	t->plain = slope_thread_is_plain(t);
	t->last = t->plain && t->frame ? t->frame + t->max_depth - 1 : NULL;
}

/* The function's record in this thread, or NULL if it never ran here. */
static inline struct slope_record *slope_thread_record(const struct slope_thread *t, uint32_t fn)
{
	size_t page = fn >> SLOPE_RECORD_PAGE_LOG2;

	if (page >= t->record_pages || !t->record[page])
		return NULL;
	return t->record[page][fn & ((1u << SLOPE_RECORD_PAGE_LOG2) - 1)];
}

/* Where a caller's edge is found: here if it was used last, or SLOPE_EDGE_PAIRS further. What has none there has slope_edge_none. */
SLOPE_INLINE struct slope_edge **slope_record_pair(struct slope_record *callee, uint32_t caller)
{
	return &callee->edge[caller % SLOPE_EDGE_PAIRS];
}

/* Where activations of this size and cost are counted, if they are. */
SLOPE_INLINE struct slope_again *slope_record_again(struct slope_record *record, uint64_t n, uint64_t cost)
{
	return &record->again[(n + cost) % SLOPE_AGAIN];
}

/* The points that activations go into which have only been counted: those of the session's only metric. */
SLOPE_INLINE struct slope_points *slope_record_counted(struct slope_record *record)
{
	return &record->points[record->metric];
}

/* Nothing is there to compare with, and no edge is at hand; what was counted must be settled. */
static inline void slope_record_forget(struct slope_record *record)
{
	for (unsigned i = 0; i < SLOPE_AGAIN; i++)
		record->again[i] = (struct slope_again){ .like = SLOPE_AGAIN_NONE };
	for (unsigned i = 0; i < 2 * SLOPE_EDGE_PAIRS; i++)
		record->edge[i] = (struct slope_edge *)(uintptr_t)&slope_edge_none;
}

/*
 * All activations that have ended are in the points, and every function has its self cost: that of its activations, less that of what
 * they have called, which is in the edges. Records and variants may be read afterwards. O(points and edges).
 */
void slope_thread_settle(const struct slope_thread *t);

/*
 * What has only been counted goes into the points, but for what waits in slope_thread.late. How many activations are lost because
 * memory ran out.
 */
uint64_t slope_record_settle(struct slope_record *record);

/* Of a settled thread's record, or of a variant. O(points). */
void slope_record_totals(const struct slope_record *record, const struct slope_config *config, struct slope_totals *totals);

/* The row at position i < rows. */
SLOPE_INLINE struct slope_edge_row *slope_edge_row(const struct slope_edge *edge, size_t i, uint32_t units)
{
	return (struct slope_edge_row *)(uintptr_t)(edge->nested + units + i * (2 + units));
}

/* Only `calls` and `total` are set: those of the callee from this caller. O(rows). */
void slope_edge_totals(const struct slope_edge *edge, const struct slope_config *config, struct slope_totals *totals);

/*
 * Gives activations the smallest stamps that keep every order, and all cells
 * with them. The source visits the words of its window itself: see
 * slope_session.each_window_word. O(cells touched * log depth).
 */
void slope_thread_renumber(struct slope_thread *t);

/* The clock is at its limit: renumbers, unless the stack is so deep that it would not help for long. */
void slope_thread_make_room(struct slope_thread *t);

#endif
