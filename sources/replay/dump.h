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
 *   lost cells: 7                       only where something was lost
 *
 * Depth and calls of a thread count its root, the function "(thread)". With
 * several units, numbers that belong to a unit are joined by `/`. The head of
 * a folded table says `folded to B bits`.
 */
#ifndef SLOPE_REPLAY_DUMP_H
#define SLOPE_REPLAY_DUMP_H

#include <stdio.h>

#include "core/thread.h"

/* False when memory runs out, before anything of the table at hand is printed. */
bool slope_dump(FILE *out, const struct slope_session *s);

#endif
