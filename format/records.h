/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the sections are made of, as structs: format/encode.h writes them,
 * format/decode.h reads them back. Texts point into the caller's memory when
 * written and into the file's bytes when read; nothing here owns anything.
 *
 * Modules, functions, files and threads carry a number of their own, by which
 * other sections name them, so that a missing chunk shifts nothing.
 */
#ifndef SLOPE_FORMAT_RECORDS_H
#define SLOPE_FORMAT_RECORDS_H

#include "core/paths.h"
#include "core/points.h"
#include "core/session.h"

/* Not terminated. bytes == NULL: there is none (which is not the empty text). */
struct slope_text {
	const char *bytes;
	size_t count;
};

static inline struct slope_text slope_text_of(const char *text)
{
	return (struct slope_text){ text, text ? slope_length(text) : 0 };
}

/*
 * The facts of section META that have a name and one value. X(field, key) for
 * texts and signed numbers, X(field, key, greatest) for unsigned ones. The
 * fields are named alike in struct slope_facts and in struct slope_profile.
 */
#define SLOPE_FACT_TEXTS(X)        \
	X(source, "source")        \
	X(directory, "directory")  \
	X(created_by, "created-by") \
	X(ended, "ended")

#define SLOPE_FACT_SIGNED(X)         \
	X(exit_code, "exit-code")    \
	X(exit_signal, "exit-signal")

#define SLOPE_FACT_NUMBERS(X)                       \
	X(process, "process", UINT64_MAX)           \
	X(parent_process, "parent", UINT64_MAX)     \
	X(runs, "runs", UINT64_MAX)                 \
	X(cell_bytes, "cell", 64)                   \
	X(metrics, "metrics", 3)                    \
	X(max_points, "max-points", UINT32_MAX)     \
	X(renumberings, "renumberings", UINT64_MAX) \
	X(symbolized, "symbolized", 1)

/* More numbers, written only where they are not 0. */
#define SLOPE_FACT_RARE_NUMBERS(X)                  \
	X(context_k, "context-k", UINT32_MAX)       \
	X(context_collapsed, "context-collapsed", 1) \
	X(burst_period_ns, "burst-period", UINT64_MAX) \
	X(burst_length_ns, "burst-length", UINT64_MAX) \
	X(variant_k, "variant-callers", SLOPE_VARIANT_CALLERS_MAX) \
	X(variants_folded, "variants-folded", UINT64_MAX) \
	X(path_period, "path-period", UINT64_MAX)

/* Facts that come several times, in order. */
#define SLOPE_FACT_ARGUMENT "argument"
#define SLOPE_FACT_UNIT "unit"
#define SLOPE_FACT_PROBLEM "problem"
#define SLOPE_FACT_PATH_METRIC "path-metric"

struct slope_facts {
	const char *source, *directory, *created_by, *ended;
	int64_t exit_code, exit_signal;
	uint64_t process, parent_process, runs;
	uint32_t cell_bytes, units, metrics, max_points;
	uint64_t renumberings;
	bool symbolized;
	uint32_t context_k;
	bool context_collapsed;
	uint64_t burst_period_ns, burst_length_ns;
	uint32_t variant_k;
	uint64_t variants_folded;
	uint64_t path_period;
	uint32_t path_metrics;
	const char *path_metric_name[SLOPE_PATH_METRICS];
	const char *unit_name[SLOPE_UNITS_MAX];
	const char *const *argument;
	size_t argument_count;
	const char *const *problem;      /* `problem_count` sentences that must not be forgotten */
	size_t problem_count;
};

enum slope_meta_kind {
	SLOPE_META_NUMBER,
	SLOPE_META_SIGNED,
	SLOPE_META_TEXT,
};

struct slope_meta_entry {
	struct slope_text key;
	enum slope_meta_kind kind;
	uint64_t number;
	int64_t value;
	struct slope_text text;
};

struct slope_module_entry {
	uint32_t number;
	struct slope_text path;
	uint8_t build_id[32];
	uint32_t build_id_bytes;
	uint64_t start, bytes;
};

struct slope_function_entry {
	uint32_t number, module, flags;
	uint64_t offset;
	struct slope_text raw_name;
};

struct slope_file_entry {
	uint32_t number;                 /* from 1 on */
	struct slope_text path;
};

struct slope_symbol_entry {
	uint32_t function;
	uint32_t file;                   /* 0: not known */
	uint32_t line;
	struct slope_text name;          /* none: as raw_name, or made of module and offset */
};

struct slope_thread_entry {
	uint32_t number, id, parent;
	uint64_t os_id, process;
	uint64_t calls, max_depth;
	struct slope_text name;
};

/* One function in one thread. Only the session's units count. */
struct slope_cost_entry {
	uint32_t function, thread;
	uint64_t calls;
	uint64_t total[SLOPE_UNITS_MAX], self[SLOPE_UNITS_MAX];
	uint64_t rms, trms, thread_input, external;
};

/* The head of a table of points; its rows are struct slope_point. */
struct slope_points_entry {
	uint32_t metric, function, thread, bits;
};

/*
 * The first byte of a row says how the rest is stored; 0 ends the table.
 * FLAT: all calls cost the same, only that cost is stored. PLAIN: the rms is
 * n * calls, there is no thread or external input, and none is stored.
 */
#define SLOPE_ROW_THERE 1u
#define SLOPE_ROW_FLAT 2u
#define SLOPE_ROW_PLAIN 4u

struct slope_edge_entry {
	uint32_t thread, caller, callee;
	uint64_t calls;
	uint64_t cost[SLOPE_UNITS_MAX];
};

/* The head of a table of an edge's sizes. */
struct slope_sizes_entry {
	uint32_t thread, caller, callee;
	uint32_t bits;                   /* binary digits after the first that sizes keep */
};

/* Activations of the caller with sizes of one bin, and what they called of the callee. */
struct slope_size_entry {
	uint64_t n;                      /* the lower edge of the bin */
	uint64_t activations;            /* of the caller, never 0 */
	uint64_t calls;                  /* of the callee in them */
	uint64_t cost[SLOPE_UNITS_MAX];  /* of these calls, inclusive */
};

struct slope_site_entry {
	uint32_t number, module;
	uint64_t offset;
	uint32_t file, line;             /* 0: not known */
};

#define SLOPE_NUMBER_NONE UINT32_MAX

/* A node of a thread's contexts. Numbers are the thread's own; a parent's is smaller. */
struct slope_context_entry {
	uint32_t thread, number;
	uint32_t parent;                 /* SLOPE_NUMBER_NONE: a root */
	uint32_t function;
	uint32_t site;                   /* SLOPE_NUMBER_NONE: not kept */
	uint64_t calls;
	uint64_t total[SLOPE_UNITS_MAX], self[SLOPE_UNITS_MAX];
};

/* Where in its function the self cost of a context arose, as far as that is known. Number as in the thread's contexts. */
struct slope_place_entry {
	uint32_t thread, context;
	uint32_t module;
	uint64_t offset;                 /* of the instruction */
	uint64_t self[SLOPE_UNITS_MAX];
};

/* A function's costs as called along these callers, the nearest first. Numbers are the thread's own. */
struct slope_variant_entry {
	uint32_t number;
	bool rest;
	uint32_t callers;
	uint32_t caller[SLOPE_VARIANT_CALLERS_MAX];
	struct slope_cost_entry cost;
};

/* A control flow graph: its blocks and edges come in tables. */
struct slope_graph_entry {
	uint32_t number, function, flags;
	uint32_t blocks, edges;          /* how many */
};

/* The head of a table of a graph's blocks, or of its edges: the position of the first row. */
struct slope_graph_part {
	uint32_t graph, first;
};

struct slope_block_entry {
	struct slope_block block;
	uint64_t start;                  /* number of the first path that begins there */
};

/* An edge of a graph. */
struct slope_arc_entry {
	uint32_t from, to;               /* to: SLOPE_PATH_OUT where the graph is left */
	uint32_t way, cut;               /* enum slope_edge_way, enum slope_path_cut */
	uint64_t value;
};

struct slope_path_entry {
	uint32_t thread;
	uint32_t metrics;                /* of the row that count; none without samples */
	struct slope_path_row row;
};

struct slope_repeats_entry {
	uint32_t thread;
	struct slope_path_repeats repeats;
};

struct slope_path_size_entry {
	uint32_t thread;
	struct slope_path_size size;
};

struct slope_lost_entry {
	struct slope_text name, text;
	uint64_t count;
};

/* What the whole file has of one section; for points and sizes of edges, records are rows. */
struct slope_end_entry {
	uint32_t tag;
	uint64_t chunks, records;
};

#endif
