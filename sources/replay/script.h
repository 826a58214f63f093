/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Texts of events: a trace that a person can write and read. One event per
 * line, words apart by blanks, `#` begins a comment:
 *
 *   options cell=4 units=ir,bb metrics=both max-points=100 stamp-limit=64 window=4096 contexts=2 variants=1
 *   options path-metrics=time,misses path-period=8
 *                           first, if at all; what is left out has its default
 *                           (4, ir, both, 100000, 2^30, 0, none, 0); contexts are tree, collapsed,
 *                           or the k of a forest of slabs; variants are functions by so many
 *                           callers, max-variants of them; of paths, one activation in path-period
 *                           is said to be measured
 *   function NAME [folded]  only needed for `folded`: the function is part of its callers
 *   thread N [parent M]     thread N begins; threads are numbered 1, 2, 3, ... and 1 is there
 *   on N                    the lines that follow are thread N's
 *   N: EVENT                this line is thread N's
 *   call NAME [base] [at N] base: on another stack, as a signal handler's first function; at: from call site N
 *   return [K]              K activations return (1)
 *   unwind [K]              a non-local exit leaves K activations at once
 *   cut [K]                 the same, across stacks
 *   read ADDRESS [BYTES]    1 byte unless told, or all of b[i..j]
 *   write ADDRESS [BYTES]
 *   kread, kwrite ADDRESS [BYTES]    by the kernel: kread for the thread, kwrite new data
 *   mapfile, forget ADDRESS [BYTES]
 *   move ADDRESS BYTES TO   as mremap: the bytes, of whole cells, live elsewhere from now on
 *   cost N [M ...]          one number per unit
 *   collect on|off
 *   renumber                the thread's stamps are renumbered now
 *   end                     the thread ends
 *   graph, block, edge, number, walk, repeats ...    control flow graphs and paths: sources/replay/walks.h
 *   for I FIRST LAST        the lines up to the matching `next`, with $I from FIRST to LAST
 *   next
 *
 * An ADDRESS is a number, or a variable: x, b[3], b[$i-1], b[0..9], x+2. An
 * index counts cells, what is added to a name counts bytes; each name has a
 * megabyte of its own. A number is decimal or 0x..., or a sum, difference or
 * product without blanks: 2*$i+1.
 */
#ifndef SLOPE_REPLAY_SCRIPT_H
#define SLOPE_REPLAY_SCRIPT_H

#include "sources/replay/replay.h"

#define SLOPE_SCRIPT_NAME_BYTES 16

struct slope_script_options {
	struct slope_config config;
	char unit_name[SLOPE_UNITS_MAX][SLOPE_SCRIPT_NAME_BYTES];
	uint64_t window_bytes;
	uint32_t path_metrics;       /* the session's fields of these names */
	char path_metric_name[SLOPE_PATH_METRICS][SLOPE_SCRIPT_NAME_BYTES];
	uint64_t path_period;
};

/*
 * The options of a text: what a session for it needs. False and a sentence
 * with name and line in `error` when they are wrong. `name` is only for that.
 */
bool slope_script_options(const char *name, const char *text, struct slope_script_options *options, char *error,
			  size_t error_bytes);

/* Plays a text. False and a sentence on the first line that is wrong; the events before it have been played. */
bool slope_script_play(const char *name, const char *text, struct slope_replay *r, uint32_t cell_bytes, char *error,
		       size_t error_bytes);

#endif
