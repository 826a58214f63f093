/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One profiling session: what all threads of a process share. The source owns
 * the struct, tells it of modules, functions and memory, and makes threads in
 * it (core/thread.h).
 *
 * A source whose threads run at once says so in the config, and with
 * slope_session_parallel before the second one begins. It serializes the calls
 * of this header but slope_session_kernel_write, and slope_thread_new. All
 * that belongs to one thread (core/thread.h) happens there and needs no lock.
 */
#ifndef SLOPE_CORE_SESSION_H
#define SLOPE_CORE_SESSION_H

#include "core/map.h"
#include "core/paths.h"
#include "core/sharing.h"
#include "core/stamp.h"

/* Everything that can be lost, counted, stored in the profile, shown in every report. */
#define SLOPE_LOST_LIST(X)                                                                  \
	X(CALLS, "calls", "calls without a frame, for want of memory")                      \
	X(CELLS, "cells", "memory accesses without a shadow cell, for want of memory")      \
	X(POINTS, "points", "activations without a cost point, for want of memory")         \
	X(THREADS, "threads", "threads that could not be followed, for want of memory")     \
	X(EDGES, "edges", "calls without a caller-callee edge, for want of memory")         \
	X(FUNCTIONS, "functions", "calls of functions that found no room in the table")    \
	X(CONTEXTS, "contexts", "calls without a place among the contexts, for want of memory")

enum slope_lost {
#define X(id, name, text) SLOPE_LOST_##id,
	SLOPE_LOST_LIST(X)
#undef X
	SLOPE_LOST_COUNT
};

/* By which input size points are kept. */
#define SLOPE_METRIC_TRMS 0u
#define SLOPE_METRIC_RMS 1u
#define SLOPE_METRICS 2u

/* Callers that can be told apart where functions are recorded by context. */
#define SLOPE_VARIANT_CALLERS_MAX 32u
#define SLOPE_VARIANTS_MAX_DEFAULT 20000u

struct slope_config {
	uint32_t cell_log2;          /* 0..6: cells of 1..64 bytes */
	uint32_t units;              /* cost units, 1..SLOPE_UNITS_MAX */
	uint32_t metrics;            /* bit set of 1 << SLOPE_METRIC_* */
	uint32_t max_points;         /* per table, before it folds; 0 for the default */
	uint32_t stamp_limit;        /* renumber when the clock gets here, in numbers without marks; 0 for the default */
	bool marked;                 /* stamps are marked: core/stamp.h */
	bool toggled;                /* collect only inside functions with SLOPE_FN_TOGGLE */
	bool parallel;               /* threads may run at once */
	bool contexts;               /* keep calling contexts: core/slabs.h */
	uint32_t context_k;          /* 0: as a tree; else as a forest of slabs */
	bool context_collapse;       /* recursion goes back to the node above; for the tree */
	/* Contexts in bursts, in the first cost unit; 0: all the time. Not collapsed, and without variants. */
	uint64_t burst_period, burst_length;
	/*
	 * Functions by context: core/variants.h. At most SLOPE_VARIANT_CALLERS_MAX
	 * callers, and no more than contexts have, which are not collapsed.
	 */
	uint32_t variant_k;          /* 0: not */
	uint32_t variants_max;       /* before they fold; 0 for the default */
};

/* The only metric, or the first. */
static inline uint32_t slope_config_metric(const struct slope_config *config)
{
	return config->metrics & 1u << SLOPE_METRIC_TRMS ? SLOPE_METRIC_TRMS : SLOPE_METRIC_RMS;
}

struct slope_module {
	const char *path;
	uint8_t build_id[32];
	uint32_t build_id_bytes;     /* 0: has none */
	uint64_t start, bytes;       /* where it was seen first */
};

#define SLOPE_FN_FOLDED 1u       /* part of its caller: --skip, or not in --only */
#define SLOPE_FN_TOGGLE 2u       /* threads collect while one of these is active */
#define SLOPE_FN_INLINED 4u      /* code of this function that is part of another one: in profiles, by debug information */

struct slope_function {
	uint32_t module, flags;
	uint64_t offset;             /* as in the module's own address space (ELF) */
	const char *name;            /* what the source knows, or NULL */
};

/* Where a function is called from: the instruction behind the call. */
struct slope_site {
	uint32_t module;
	uint64_t offset;             /* as a function's */
};

#define SLOPE_SITE_NONE UINT32_MAX

/* Function 0 stands for a thread itself: the caller of its first function. */
#define SLOPE_FN_ROOT 0u
#define SLOPE_FN_NONE UINT32_MAX
/* Module 0 stands for code in no file. */
#define SLOPE_MODULE_NONE 0u

/* An address range that is a file's contents: first reads there are external input. */
struct slope_range {
	uint64_t start, end;
};

struct slope_session {
	struct slope_config config;
	const struct slope_host *host;
	struct slope_arena arena;

	struct slope_module *module;
	size_t module_count, module_capacity;

	struct slope_function *function;
	size_t function_count, function_capacity;
	struct slope_map function_by_place;

	struct slope_site *site;        /* only where the source tells them */
	size_t site_count, site_capacity;
	struct slope_map site_by_place;

	struct slope_thread **thread;   /* by id; [0] is unused, ended ones stay for their tables */
	size_t thread_count, thread_capacity;
	bool shared;                    /* a second thread has existed */
	bool parallel;                  /* threads run at once */
	bool stopped;                   /* collecting is off in all threads, new ones included */

	struct slope_sharing sharing;
	struct slope_range *file_range; /* sorted, disjoint */
	size_t range_count, range_capacity;
	uint32_t range_version;         /* odd while the ranges change: those who read look again */

	/*
	 * For a source whose threads have shadow windows: calls `visit` with every
	 * touched word of t's window. Set after slope_session_init; NULL: no windows.
	 */
	void (*each_window_word)(void *ctx, struct slope_thread *t,
				 void (*visit)(void *arg, uint32_t *words, size_t count), void *arg);
	void *window_ctx;

	/* Where a source follows paths: see core/paths.h. */
	struct slope_graphs graphs;     /* the session's arena */
	uint32_t path_metrics;          /* what is measured of paths, besides how often they are taken */
	const char *path_metric_name[SLOPE_PATH_METRICS];
	uint64_t path_period;           /* one activation in so many is measured; 0: none */

	uint64_t lost[SLOPE_LOST_COUNT];
	uint64_t renumberings;
	uint64_t variants;              /* that are kept, of all threads */
	uint64_t variants_folded;
};

/* False when memory runs out at once. The host must outlive the session. */
bool slope_session_init(struct slope_session *s, const struct slope_config *config, const struct slope_host *host);

/*
 * Threads run at once from now on; only one of them is there yet, and its
 * words are all in a window. The config must have said so.
 */
void slope_session_parallel(struct slope_session *s);

/* Bits that every stamp has: see core/stamp.h. */
static inline uint32_t slope_session_marks(const struct slope_session *s)
{
	return s->config.marked ? SLOPE_STAMP_MARKS : 0;
}

/* Counts a loss. */
static inline void slope_session_lose(struct slope_session *s, enum slope_lost what, uint64_t count)
{
	__atomic_fetch_add(&s->lost[what], count, __ATOMIC_RELAXED);
}

/* Gives everything back, threads included. */
void slope_session_fini(struct slope_session *s);

/* A module's number, known already by (path, build id) or new. Copies. SLOPE_MODULE_NONE when memory runs out. */
uint32_t slope_session_module(struct slope_session *s, const struct slope_module *module);

/*
 * A function's number by its place; `flags` and `name` (copied, may be NULL)
 * count on first use. SLOPE_FN_NONE when memory runs out. O(1).
 */
uint32_t slope_session_function(struct slope_session *s, uint32_t module, uint64_t offset, uint32_t flags, const char *name);

/* A call site's number by its place. SLOPE_SITE_NONE when memory runs out. O(1). */
uint32_t slope_session_site(struct slope_session *s, uint32_t module, uint64_t offset);

/*
 * Switches collecting for all threads. Activations that begin while it is off
 * are folded into their callers; a source lets the costs stand still meanwhile.
 */
void slope_session_collect(struct slope_session *s, bool on);

/* The kernel has put new data into memory. O(cells). */
void slope_session_kernel_write(struct slope_session *s, uint64_t address, uint64_t bytes);

/* The range is now a file's contents (mmap), nobody has touched it yet. */
void slope_session_map_file(struct slope_session *s, uint64_t address, uint64_t bytes);

/* The range is gone or new: all forget its cells. Windows are the source's to clear. */
void slope_session_forget(struct slope_session *s, uint64_t address, uint64_t bytes);

/*
 * The range's contents now live elsewhere (mremap), with all that is known of
 * them. Within a window, words are the source's to move. O(cells).
 */
void slope_session_move(struct slope_session *s, uint64_t from, uint64_t to, uint64_t bytes);

/* Is the address in a file's range? O(log ranges). */
bool slope_session_in_file(const struct slope_session *s, uint64_t address);

/*
 * Empties all tables but keeps the stack and shadow of the one thread that
 * goes on, at these costs: the child of a fork starts its own profile here.
 * Pending activations count their costs from now on.
 */
void slope_session_restart(struct slope_session *s, struct slope_thread *only, const uint64_t *cost);

#endif
