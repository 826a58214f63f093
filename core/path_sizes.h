/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How often paths are taken by activations of each input size.
 *
 * An activation's size is known when it returns. Until then each path that it
 * has taken has a note with a count. The notes of all pending activations of a
 * thread are one stack, like tallies (core/tally.h): those of the topmost
 * activation lie above all others, since what it has called has returned and
 * taken its own ones away. Each path knows its highest note, and that one the
 * next further down; so one comparison finds the note or says that there is none.
 * A frame that has notes carries SLOPE_FRAME_PATHS: others end as if there were none.
 *
 * Only paths through the activation's own function are noted: what is folded into it has no size of its own.
 */
#ifndef SLOPE_CORE_PATH_SIZES_H
#define SLOPE_CORE_PATH_SIZES_H

#include "core/arena.h"

struct slope_thread;

/* How often a path was taken in activations of its function with input sizes of one bin. */
struct slope_path_size {
	uint32_t graph;
	uint64_t number;
	uint64_t n;                  /* the lower edge of the bin: SLOPE_EDGE_BITS */
	uint64_t activations;        /* that took the path */
	uint64_t executions;         /* of the path in them */
};

/* A path that was noted. */
struct slope_path_noted {
	uint64_t number;
	uint32_t graph;
	uint32_t note;               /* position + 1 of its highest note, 0: none */
	uint32_t size;               /* position + 1 of the size used last; the others are behind it, by slope_path_sizes.next */
};

struct slope_path_note {
	uint32_t path;               /* position in `noted` */
	uint32_t outer;              /* the path's note further down, as slope_path_noted has it */
	uint64_t depth;              /* of the activation's frame */
	uint64_t count;
};

/* Of one thread. Sizes are in any order, each (graph, number, n) once. All zero at first; memory is the thread's arena's. */
struct slope_path_sizes {
	struct slope_path_size *size;
	size_t count, capacity;
	uint32_t *next;              /* for each size: position + 1 of another one of its path, 0: none */
	size_t next_capacity;
	struct slope_path_noted *noted;
	size_t noted_count, noted_capacity;
	uint32_t *bucket;            /* position + 1 in `noted`, 0: free */
	size_t buckets;
	struct slope_path_note *note;
	size_t notes, note_capacity;
	uint64_t lost;               /* executions that are in no size: memory */
};

/* The topmost activation, of the function `fn` if it is to count, has come to the end of this path. O(1). */
void slope_path_sizes_note(struct slope_thread *t, uint32_t fn, uint32_t graph, uint64_t number);

/* The topmost activation ends with size n, and has notes. O(its paths * sizes of each). */
void slope_path_sizes_flush(struct slope_thread *t, uint64_t n);

/* Forgets all sizes and notes, and which frames had some; keeps the memory. */
void slope_path_sizes_empty(struct slope_thread *t);

#endif
