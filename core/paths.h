/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Control flow graphs of functions, and how often each path through them was
 * taken, what it cost, in which thread and calling context.
 *
 * Graphs belong to the session and never change once they are there. A
 * function may have several: one begins where it does, others ("pieces") at places
 * that only showed up at run time, as behind a jump that could not be
 * resolved. A block belongs to one graph only; a path that runs from one graph
 * into another ends there, and another one begins.
 *
 * Counts are rows of a thread's own table, found by hash.
 */
#ifndef SLOPE_CORE_PATHS_H
#define SLOPE_CORE_PATHS_H

#include "core/path_number.h"
#include "core/path_sizes.h"

#define SLOPE_PATH_METRICS 4u
#define SLOPE_PATH_CONTEXT_NONE UINT32_MAX
#define SLOPE_PATH_NOT_STOPPED UINT32_MAX

/* How a block ends: what its edges are for, and what a reader may say of them. */
enum slope_block_end {
	SLOPE_BLOCK_FALLS,           /* into the next, which others jump to */
	SLOPE_BLOCK_JUMPS,
	SLOPE_BLOCK_BRANCHES,        /* conditionally */
	SLOPE_BLOCK_CALLS,
	SLOPE_BLOCK_SWITCHES,        /* an indirect jump whose targets are known */
	SLOPE_BLOCK_JUMPS_ANYWHERE,  /* one whose targets are not */
	SLOPE_BLOCK_RETURNS,
	SLOPE_BLOCK_TAIL_CALLS,      /* jumps to another function */
	SLOPE_BLOCK_STOPS,           /* never goes on: an instruction that traps, a call that does not return, no code */
};

struct slope_block {
	uint64_t address;            /* in the module's own space */
	uint32_t bytes, instructions;
	uint32_t end;                /* enum slope_block_end */
};

/* What an edge is to the block that it leaves. */
enum slope_edge_way {
	SLOPE_WAY_NEXT,              /* falls through, or comes back from a call */
	SLOPE_WAY_TAKEN,             /* the branch's or jump's target */
	SLOPE_WAY_TABLE,             /* one of a switch's targets */
	SLOPE_WAY_RETURN,
	SLOPE_WAY_TAIL,              /* into another function */
	SLOPE_WAY_ELSEWHERE,         /* into another graph, or to a place that only the run shows */
	SLOPE_WAY_NOWHERE,           /* where control never goes */
};

#define SLOPE_GRAPH_PIECE 1u         /* begins elsewhere than its function */
#define SLOPE_GRAPH_UNRESOLVED 2u    /* has an indirect jump whose targets are not known */
#define SLOPE_GRAPH_CUT 4u           /* had too many paths: edges are cut */
#define SLOPE_GRAPH_SHORT 8u         /* not all of the function: it is too long, or its code could not be read */

struct slope_graph {
	uint32_t number, function;
	uint32_t flags;              /* SLOPE_GRAPH_* */
	struct slope_block *block;   /* one for each vertex; the first one is the entry */
	uint8_t *way;                /* one for each edge: enum slope_edge_way */
	struct slope_path_graph paths;
};

struct slope_path_metric {
	uint64_t sum;
	uint64_t sq_lo, sq_hi;       /* sum of squares, 128 bits */
};

/* A path in one context. */
struct slope_path_row {
	uint32_t graph, context;     /* context: a node of the thread's tree; SLOPE_PATH_CONTEXT_NONE: in all */
	uint64_t number;
	/*
	 * SLOPE_PATH_NOT_STOPPED, or the block where it was left in the middle (the program ended, an exception passed), of
	 * which `stop_instructions` were executed.
	 */
	uint32_t stop, stop_instructions;
	uint64_t count;
	uint64_t samples;            /* of them, measured */
	struct slope_path_metric metric[SLOPE_PATH_METRICS];
};

/* Instructions that repeat themselves (rep movs): executions beyond one each time, of all in this block. */
struct slope_path_repeats {
	uint32_t graph, block;
	uint64_t count;
};

/* What one thread has counted. */
struct slope_path_table {
	struct slope_arena *arena;
	struct slope_path_row *row;
	uint32_t *bucket;            /* 1 + position, 0: free */
	size_t rows, row_capacity, buckets;
	size_t expected;             /* rows in all, as far as the caller has told */
	struct slope_path_repeats *repeats;
	size_t repeat_count, repeat_capacity;
	uint64_t lost;               /* paths that could not be counted: memory. The caller adds to it, who knows how many */
};

void slope_path_table_init(struct slope_path_table *t, struct slope_arena *arena);

/* Forgets all rows, repeats and losses; keeps the memory. */
void slope_path_table_empty(struct slope_path_table *t);

/* So many more rows may come: when the next is made, there is room for all of them, so that none is moved later. */
void slope_path_table_expect(struct slope_path_table *t, size_t rows);

/*
 * The row of the path that `key` tells by graph, context, number, stop and stop_instructions, made on first use, with
 * nothing counted then. NULL only when memory runs out. Valid until the next one is made. O(1).
 */
struct slope_path_row *slope_path_row(struct slope_path_table *t, const struct slope_path_row *key);

/* One execution was measured: the metric rose by so much. */
static inline void slope_path_measure(struct slope_path_metric *metric, uint64_t value)
{
	unsigned __int128 square = (unsigned __int128)value * value;
	uint64_t low = metric->sq_lo + (uint64_t)square;

	metric->sum += value;
	metric->sq_hi += (uint64_t)(square >> 64) + (low < (uint64_t)square);
	metric->sq_lo = low;
}

/* Adds to the repeats of a block, which are in order of graph and block. False when memory runs out. O(log(blocks)) but for the first. */
bool slope_path_repeat(struct slope_path_table *t, uint32_t graph, uint32_t block, uint64_t count);

/* All graphs of a session. */
struct slope_graphs {
	struct slope_arena *arena;
	struct slope_graph **graph;
	size_t count, capacity;
};

/*
 * Numbers the graph's paths and keeps it: `*g` is copied, its arrays must stay (the arena's, usually). It gets its number
 * and, where that is so, SLOPE_GRAPH_CUT. NULL when memory runs out or slope_path_number fails; nothing has changed then.
 * Other threads may read graphs that they know of meanwhile.
 */
struct slope_graph *slope_graphs_add(struct slope_graphs *graphs, const struct slope_graph *g, uint64_t limit);

#endif
