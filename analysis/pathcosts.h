/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the paths through functions cost: how often each was taken, how many
 * instructions that were, and what was measured of it; which of them are hot,
 * dense and sparse; how much of each function was executed at all.
 *
 * Instructions are counted: those of a path's blocks, times how often it was
 * taken. Other metrics were measured for some of the executions only; a path's
 * value is then the mean of those, times how often it was taken, with an error
 * bar of 95 %. What repeats itself (rep movs) is known for blocks, not for paths:
 * it is in the totals of functions and of the run.
 */
#ifndef SLOPE_ANALYSIS_PATHCOSTS_H
#define SLOPE_ANALYSIS_PATHCOSTS_H

#include "profile/profile.h"

#define SLOPE_PATHS_ALL UINT32_MAX      /* functions, threads */
#define SLOPE_PATHS_IR UINT32_MAX       /* as a metric: instructions */

/*
 * Hot: the share of the run's metric reaches the threshold. Dense: hot, with more of the metric for each instruction
 * than the run has on average; sparse: hot, with as much or less. Without a metric besides instructions, or where it was not
 * measured, hot is all that can be said.
 */
enum slope_path_kind {
	SLOPE_PATH_COLD,
	SLOPE_PATH_HOT,
	SLOPE_PATH_DENSE,
	SLOPE_PATH_SPARSE,
	SLOPE_PATH_KINDS
};

/* What was measured, for all executions. NaN: not at all; the error also where one sample tells nothing of it. */
struct slope_path_value {
	double value, error;
};

struct slope_pathcosts_options {
	uint32_t function;           /* rows of this one only; SLOPE_PATHS_ALL */
	uint32_t thread;             /* position; SLOPE_PATHS_ALL */
	bool contexts;               /* a row for each context that the profile tells apart */
	uint32_t metric;             /* what makes hot: position of a metric, or SLOPE_PATHS_IR */
	double threshold;            /* 0..1 */
};

/* A path, in all threads that count. */
struct slope_pathcosts_row {
	uint32_t graph, context;     /* context: position, or SLOPE_CONTEXT_NONE */
	uint32_t stop, stop_instructions;
	uint64_t number;
	uint64_t count, samples;
	uint32_t begin, blocks;      /* where it begins; how many blocks it has, the one where it was left with them */
	uint64_t each;               /* instructions of one execution */
	uint64_t instructions;       /* of all */
	struct slope_path_value value[SLOPE_PATH_METRICS];
	double share;                /* of the run's metric; NaN: not measured */
	enum slope_path_kind kind;
};

/* A function with all its graphs. */
struct slope_pathcosts_function {
	uint32_t function;
	uint32_t graphs, pieces, flags;  /* flags: those of all its graphs together */
	uint64_t cut_edges;
	uint64_t instructions, repeats;  /* repeats are in the instructions */
	struct slope_path_value value[SLOPE_PATH_METRICS];
	uint64_t measured;           /* instructions of paths for which the metric that makes hot was measured */
	double share;
	enum slope_path_kind kind;
	uint64_t rows;               /* of this function; without a filter, `paths` and those that did not run to their end */
	uint64_t paths, regular;     /* executed to their end, of those that begin at an entry or behind a cut edge; how many there are */
	uint64_t inside;             /* more paths that were executed: they began elsewhere, where control came in */
	uint64_t stopped;            /* executions that were left in the middle */
	uint64_t entries;            /* executions that began where the function does */
	uint32_t blocks, blocks_run, edges, edges_run;   /* edges without those that lead nowhere */
};

/* Paths, or functions, of one kind. */
struct slope_pathcosts_group {
	uint64_t count;
	uint64_t instructions;
	double value;                /* of the metric */
	uint64_t paths;              /* that functions of this kind have executed */
};

struct slope_pathcosts {
	const struct slope_profile *p;
	struct slope_pathcosts_options o;
	struct slope_pathcosts_row *row;       /* by share, the largest first */
	size_t rows;
	struct slope_pathcosts_function *function;  /* by share, the largest first */
	size_t functions;
	uint64_t instructions, repeats;        /* of the run (or thread); repeats are in the instructions */
	struct slope_path_value value[SLOPE_PATH_METRICS];
	uint64_t measured[SLOPE_PATH_METRICS]; /* instructions of paths that were measured, once at least */
	double whole;                          /* of the metric that makes hot */
	double average;                        /* of it for each instruction; NaN: there is no other metric */
	struct slope_pathcosts_group path_kind[SLOPE_PATH_KINDS], function_kind[SLOPE_PATH_KINDS];  /* of the whole run */
};

/* False when memory runs out; `c` then holds nothing. O(rows * (blocks of a graph + log rows)). */
bool slope_pathcosts_init(struct slope_pathcosts *c, const struct slope_profile *p, const struct slope_pathcosts_options *o);
void slope_pathcosts_fini(struct slope_pathcosts *c);

/* All of them, cold and hot. */
struct slope_pathcosts_group slope_pathcosts_all(const struct slope_pathcosts_group kind[SLOPE_PATH_KINDS]);

/* By what rows can be put in order besides their share; the order of the words is that of the enum. */
enum slope_paths_sort { SLOPE_PATHS_BY_SHARE, SLOPE_PATHS_BY_COUNT, SLOPE_PATHS_BY_LENGTH, SLOPE_PATHS_BY_RATIO };
#define SLOPE_PATHS_SORTS "share|count|length|ratio"

void slope_pathcosts_sort(struct slope_pathcosts *c, enum slope_paths_sort by);

/* The metric for each instruction of a row; NaN: not measured. */
double slope_pathcosts_ratio(const struct slope_pathcosts *c, const struct slope_pathcosts_row *row);

/* The metric of a row, and of a function: instructions where that is the metric. */
double slope_pathcosts_value(const struct slope_pathcosts *c, uint64_t instructions, const struct slope_path_value *value);

/*
 * The blocks of a path in order, as far as it was executed, and the edges between them; `edge` has one more where the path
 * came to its end. Arrays have room for as many as the graph has blocks. The number of blocks.
 */
uint32_t slope_pathcosts_walk(const struct slope_profile_graph *g, uint64_t number, uint32_t stop, uint32_t *block,
			      uint32_t *edge);

/* The function's row among c->function; NULL: it has none. */
const struct slope_pathcosts_function *slope_pathcosts_find(const struct slope_pathcosts *c, uint32_t function);

/* Which of its blocks a graph has executed, in threads that count: one byte for each, to be given to free(); NULL: no memory. */
uint8_t *slope_pathcosts_executed(const struct slope_pathcosts *c, uint32_t graph);

#endif
