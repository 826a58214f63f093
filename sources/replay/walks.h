/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Control flow graphs in a text, and walks through them: what instrumented
 * code does with its register, done by hand (core/path_number.h). Lines:
 *
 *   graph NAME [piece] [unresolved] [short] [at ADDRESS]
 *                           a graph of function NAME begins; ADDRESS: of its first block, else the function's
 *   block BYTES INSTRUCTIONS END [at ADDRESS]
 *                           its next block, behind the one before; END: falls, jumps, branches, calls, switches,
 *                           jumps-anywhere, returns, tail-calls, stops. The first one is the entry
 *   edge TO WAY [cut] [weight N]
 *                           from that block; TO: a block's number or out; WAY: next, taken, table, return, tail,
 *                           elsewhere, nowhere
 *   number [LIMIT]          that was all of it: its paths are numbered, at most LIMIT from each block
 *   walk GRAPH B,B,...,B [stop N] [times K] [measured V,V,...]
 *                           the thread walks along these blocks of graph 0, 1, 2, ...; the last one may be `out`. Where
 *                           it is not, the walk is left in the middle of it, after N instructions (0); K times (1). Each
 *                           path on the way costs V by the metrics; without `measured` it is no sample. Paths are counted
 *                           in the thread's context where contexts are kept
 *   repeats GRAPH BLOCK N   instructions of the block have repeated themselves N times
 */
#ifndef SLOPE_REPLAY_WALKS_H
#define SLOPE_REPLAY_WALKS_H

#include "core/thread.h"

/* How blocks end and what edges are, in words; after the last one comes NULL. */
extern const char *const slope_block_end_word[];
extern const char *const slope_edge_way_word[];

struct slope_walks;

/* One line of a text, taken apart. */
struct slope_walks_line {
	char **word;
	int words;
	uint32_t function;           /* for `graph`: word[1]'s number */
	struct slope_thread *thread; /* who acts; NULL: the core had no memory for it */
	bool (*number)(void *ctx, const char *text, uint64_t *value);  /* false: not a number, and said so already */
	void *ctx;
};

/* NULL when memory runs out. */
struct slope_walks *slope_walks_new(struct slope_session *s);

/* NULL is fine. The session keeps its graphs and counts. */
void slope_walks_free(struct slope_walks *w);

/* Is this the first word of such a line? */
bool slope_walks_is(const char *word);

/* Plays a line. NULL, or a sentence that says what is wrong with it ("": a number, which has been said). */
const char *slope_walks_play(struct slope_walks *w, const struct slope_walks_line *line);

/* At the end of a text: NULL, or a sentence that says what is missing. */
const char *slope_walks_missing(const struct slope_walks *w);

#endif
