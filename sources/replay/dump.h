/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A session's tables as text, for expected results: threads in their order,
 * functions in order of first use, callers by number, points by size. The same
 * events always give the same text.
 *
 *   thread 1: calls 3, depth 3
 *   f @1: calls 1, total 10, self 4, rms 2, trms 3, thread 1, external 0
 *     from (thread): calls 1, cost 10
 *       at 8: activations 1, calls 1, cost 10              by the size of the caller
 *     trms 3: calls 1, cost 10..10 sum 10 sq 100, rms 2, thread 1, external 0
 *     rms 2: ...
 *   graph 0 of f: 4 blocks, 5 edges, paths 2 of 5, flags 0, cut 0
 *     0 at 16: 8 bytes, 3 instructions, branches
 *       to 1 by next: value 0, add 0
 *       to 0 by taken: value 1, add 1, cut (back)
 *   graph 0 path 1 @1 in context 2: blocks 0 2 3, count 7, samples 1, time 20 sq 400
 *   graph 0 path 0 @1, left in block 1 after 2: blocks 0 1, count 1
 *   graph 0 block 2 @1: repeats 16
 *   lost cells: 7                       only where something was lost
 *
 * Depth and calls of a thread count its root, the function "(thread)". With
 * several units, numbers that belong to a unit are joined by `/`. The head of
 * a folded table says `folded to B bits`. Paths are in order of graph, number,
 * context and place where they were left.
 */
#ifndef SLOPE_REPLAY_DUMP_H
#define SLOPE_REPLAY_DUMP_H

#include <stdio.h>

#include "core/thread.h"

/* False when memory runs out, before anything of the table at hand is printed. */
bool slope_dump(FILE *out, const struct slope_session *s);

#endif
