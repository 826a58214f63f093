/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A profile in memory: what analysis and report work on. It is loaded from one
 * file, or merged from many; names and lines are filled in by
 * profile/symbolize.h once, and then travel with the file.
 *
 * Everything in it belongs to it and dies with slope_profile_free: every
 * pointer is a block of its own from malloc. Indices are positions in its own
 * arrays. After loading, function 0 stands for a thread itself, module 0 for
 * code in no file, and every function has a name.
 */
#ifndef SLOPE_PROFILE_PROFILE_H
#define SLOPE_PROFILE_PROFILE_H

#include <stdio.h>

#include "core/paths.h"
#include "core/points.h"
#include "core/session.h"

struct slope_profile_module {
	char *path;
	uint8_t build_id[32];
	uint32_t build_id_bytes;
	uint64_t start, bytes;       /* where the program had it */
};

struct slope_profile_function {
	uint32_t module, flags;      /* flags: SLOPE_FN_* */
	uint64_t offset;
	char *raw_name;              /* as the source or the symbol table has it; NULL: none */
	char *name;                  /* to show: demangled, or module+0xoffset; set by symbolize (or load) */
	char *file;                  /* NULL: unknown */
	uint32_t line;               /* 0: unknown */
};

struct slope_profile_thread {
	uint32_t id, parent;
	uint64_t os_id, process;     /* process: pid, to tell threads of merged runs apart */
	char *name;                  /* may be empty */
	uint64_t calls, max_depth;
};

struct slope_profile_points {
	uint32_t bits;               /* SLOPE_POINTS_EXACT, or the digits that folded sizes keep */
	size_t count;
	unsigned char *rows;         /* struct slope_point of slope_point_bytes(units) each, sorted by n */
};

/* One function in one thread. */
struct slope_profile_row {
	uint32_t function, thread;
	uint64_t calls;
	uint64_t total[SLOPE_UNITS_MAX], self[SLOPE_UNITS_MAX];
	uint64_t rms, trms, thread_input, external;
	struct slope_profile_points points[SLOPE_METRICS];  /* empty where the metric was not kept */
};

/* Activations of a caller with sizes of one bin that called the callee at all. */
struct slope_profile_size {
	uint64_t n;                  /* the lower edge of the bin */
	uint64_t activations;
	uint64_t calls;              /* of the callee, in all of them */
	uint64_t cost[SLOPE_UNITS_MAX];  /* of these calls, inclusive, recursion too */
};

/*
 * By the caller's own input size: trms, or rms where that is all there is. The
 * total of every activation is its self cost and what its callees cost in it.
 */
struct slope_profile_sizes {
	uint32_t bits;               /* binary digits after the first that sizes keep: see slope_points_edge */
	size_t count;                /* 0 in a profile of format version 1.0 */
	struct slope_profile_size *row;  /* sorted by n */
};

struct slope_profile_edge {
	uint32_t caller, callee, thread;
	uint64_t calls;
	uint64_t cost[SLOPE_UNITS_MAX];  /* inclusive, outermost activations of the callee only */
	struct slope_profile_sizes sizes;
};

/*
 * One function in one thread as called along certain callers: its row, once
 * more, by context. The variants of a row add up to the row, points too; `total`
 * counts what is outermost among all activations of the function.
 *
 * Rare variants are folded when there are too many: then those with the same
 * nearest callers are one variant with fewer callers, the `rest`.
 */
struct slope_profile_variant {
	struct slope_profile_row row;
	uint32_t *caller;            /* functions, the nearest first */
	uint32_t callers;            /* variant_k, or fewer where the stack begins, or in a rest */
	bool rest;
};

/* Where calls come from. */
struct slope_profile_site {
	uint32_t module;
	uint64_t offset;             /* of the instruction behind the call, in the module's own address space (ELF) */
	char *file;                  /* NULL: unknown */
	uint32_t line;               /* 0: unknown */
};

#define SLOPE_CONTEXT_NONE UINT32_MAX

/*
 * One node of a thread's calling context tree, or of its forest of slabs: a
 * function on a path of callers. Every call counts in exactly one node, in
 * both: sums over all nodes are sums over all calls.
 *
 * In the tree there is a root per thread, which stands for the thread itself
 * (function 0, level 0), and one for each signal handler. In a forest (context_k = k > 0) levels go on to
 * 2k - 1: a call to a depth that k divides makes a root of its own as well, so
 * that paths can go on there. Nodes at levels k and more count what was called;
 * those at lower levels only carry the paths and count nothing, except what is
 * the bottom of a stack: of a thread, or of a signal handler. Each call has its
 * k callers above its node, or all of them.
 *
 * `total` is the sum over the node's activations, those inside another one too,
 * so that nodes can be added up in any way; in a collapsed tree that of the
 * outermost ones.
 */
struct slope_profile_context {
	uint32_t function, thread;
	uint32_t parent;             /* position of the node above, always smaller than its own; NONE: a root */
	uint32_t site;               /* position in p->site: where it is called from; NONE: not kept */
	uint64_t calls;
	uint64_t total[SLOPE_UNITS_MAX], self[SLOPE_UNITS_MAX];
};

/*
 * Where in the context's function a part of its self cost arose. Kept until the
 * profile is symbolized: what was inlined there has frames of its own then
 * (profile/inlining.h).
 */
struct slope_profile_place {
	uint32_t context;            /* position in p->context */
	uint32_t module;
	uint64_t offset;             /* of the instruction, in the module's own address space (ELF) */
	uint64_t self[SLOPE_UNITS_MAX];
};

/*
 * The control flow graph of a function, or of a piece of it: see core/paths.h. It has been checked: slope_path_decode
 * decodes every number below paths.total, and ways, ends and cuts are those of the enums.
 */
struct slope_profile_graph {
	uint32_t function;
	uint32_t flags;              /* SLOPE_GRAPH_* */
	struct slope_block *block;   /* one for each vertex */
	uint8_t *way;                /* one for each edge */
	struct slope_path_graph paths;  /* without offsets, weights and what is to be added */
};

/* A path in one thread and context. */
struct slope_profile_path {
	uint32_t graph, thread;
	uint32_t context;            /* position in p->context; SLOPE_CONTEXT_NONE: in all */
	uint32_t stop, stop_instructions;  /* as in struct slope_path_row; the stop is on the path */
	uint64_t number;             /* below the graph's total */
	uint64_t count;              /* never 0 */
	uint64_t samples;            /* at most as many */
	struct slope_path_metric metric[SLOPE_PATH_METRICS];
};

/* Executions of instructions that repeat themselves, beyond one each time. */
struct slope_profile_repeat {
	uint32_t graph, thread, block;
	uint64_t count;
};

/* Activations of a function with sizes of one bin that took a path of it. */
struct slope_profile_path_size {
	uint32_t graph, thread;
	uint64_t number;
	uint64_t n;                  /* the lower edge of the bin */
	uint64_t activations, executions;  /* at least as many executions */
};

struct slope_profile_lost {
	char *name, *text;
	uint64_t count;
};

struct slope_profile {
	char *source;                /* "valgrind", "replay", ... */
	char **program;              /* argv, NULL terminated */
	char *directory;             /* where it ran */
	char *created_by;            /* slope's version */
	uint64_t process, parent_process;
	int64_t exit_code;           /* -1: not known */
	int64_t exit_signal;         /* 0: none */
	char *ended;                 /* "exit", "signal", "exec", "running", ... */
	uint64_t runs;               /* how many were merged, 1 for a fresh one */

	uint32_t cell_bytes, units, metrics;
	char *unit_name[SLOPE_UNITS_MAX];
	uint32_t max_points;
	uint64_t renumberings;

	struct slope_profile_module *module;
	size_t module_count;
	struct slope_profile_function *function;
	size_t function_count;
	struct slope_profile_thread *thread;
	size_t thread_count;
	struct slope_profile_row *row;    /* sorted by function, then thread */
	size_t row_count;
	struct slope_profile_edge *edge;  /* sorted by caller, callee, thread */
	size_t edge_count;
	struct slope_profile_context *context;  /* by thread, parents first; none: not recorded */
	size_t context_count;
	uint32_t context_k;          /* 0: calling context trees; else forests of slabs of this k */
	bool context_collapsed;      /* recursion: a call of an ancestor counts in the ancestor's node */
	/*
	 * Contexts were recorded in bursts: calls that began and costs that arose in the first part of every period;
	 * 0: all the time. In the first cost unit, one per nanosecond.
	 */
	uint64_t burst_period_ns, burst_length_ns;
	struct slope_profile_site *site;
	size_t site_count;
	struct slope_profile_place *place;
	size_t place_count;
	struct slope_profile_variant *variant;  /* sorted by function, thread, callers; none: not recorded */
	size_t variant_count;
	uint32_t variant_k;          /* callers that were told apart */
	uint64_t variants_folded;    /* contexts that were too rare to be kept apart */
	struct slope_profile_graph *graph;  /* none: paths were not recorded */
	size_t graph_count;
	struct slope_profile_path *path;  /* sorted by graph, thread, context, number, stop */
	size_t path_count;
	struct slope_profile_repeat *repeat;  /* sorted by graph, thread, block */
	size_t repeat_count;
	struct slope_profile_path_size *path_size;  /* sorted by graph, number, thread, n; none: not recorded */
	size_t path_size_count;
	uint32_t path_metrics;       /* what was measured of paths, besides how often they were taken */
	char *path_metric_name[SLOPE_PATH_METRICS];
	uint64_t path_period;        /* paths were measured about one time in so many; 0: never */
	struct slope_profile_lost *lost;
	size_t lost_count;

	bool symbolized;
	bool complete;               /* the file had its end mark */
	char **problem;              /* one sentence each: what of the file is missing or damaged */
	size_t problem_count;
};

/*
 * Loads a file: a profile, or a page that holds one (profile/page.h). Returns
 * NULL and a sentence in `error` (always terminated) only when nothing at all
 * can be used: no such file, not a profile, another version. What is damaged or cut off is left out and said in `problem`.
 */
struct slope_profile *slope_profile_load(const char *path, char *error, size_t error_bytes);

/* The same from memory; for tests and the fuzzer. */
struct slope_profile *slope_profile_decode(const void *bytes, size_t count, char *error, size_t error_bytes);

/* Writes `path` as a whole: to a temporary neighbour, then renamed. False and `error` on failure. */
bool slope_profile_save(const struct slope_profile *p, const char *path, char *error, size_t error_bytes);

/* The same bytes to whoever takes them all, or returns false. False when that, or memory, fails. */
bool slope_profile_encode(const struct slope_profile *p, bool (*write)(void *ctx, const void *bytes, size_t count), void *ctx);

/*
 * One profile of many: functions are the same by (build id, or path without
 * one) and offset; threads stay apart; points of one size add up. NULL and
 * `error` when cost units, metrics or cell sizes differ.
 */
struct slope_profile *slope_profile_merge(struct slope_profile *const *profiles, size_t count, char *error, size_t error_bytes);

void slope_profile_free(struct slope_profile *p);

/* The last component of the path of the function's module; "" for code in no file. */
const char *slope_profile_module_of(const struct slope_profile *p, const struct slope_profile_function *f);

/* The name to show; "" for a function without one, which no file yields. */
static inline const char *slope_profile_name(const struct slope_profile_function *f)
{
	return f->name ? f->name : "";
}

/* Position of a unit by name, or -1. */
int slope_profile_unit(const struct slope_profile *p, const char *name);

/* Was it sampled: has it time by call path, but no input sizes? */
static inline bool slope_profile_is_sampled(const struct slope_profile *p)
{
	return !p->metrics && slope_profile_unit(p, "samples") >= 0;
}

/* The same for what was measured of paths. */
int slope_profile_path_metric(const struct slope_profile *p, const char *name);

/* Paths are all that it has: no function has a cost or an input size. */
static inline bool slope_profile_paths_only(const struct slope_profile *p)
{
	return p->graph_count && (!p->row_count || p->row[p->row_count - 1].function == SLOPE_FN_ROOT);
}

static inline const struct slope_point *slope_profile_point(const struct slope_profile *p,
							     const struct slope_profile_points *points, size_t i)
{
	return (const struct slope_point *)(points->rows + i * slope_point_bytes(p->units));
}

#endif
