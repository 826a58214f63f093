/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Blocks of memory that were sampled when they were allocated, and are not
 * freed yet. Any thread may add and remove at any time, signal handlers too:
 * no locks, and memory that is pages of our own. A block is looked for in one
 * cache line of each table; there are more than one when many blocks live.
 */
#ifndef SLOPE_SAMPLER_LIVEBLOCKS_H
#define SLOPE_SAMPLER_LIVEBLOCKS_H

#include "sources/sampler/sampler.h"

/* A block: where it was allocated, and how many bytes it stands for. */
struct slope_liveblock {
	struct slope_context *node;
	uint64_t bytes;
};

/* It is not there yet. False when memory runs out: then it counts as freed. */
bool slope_liveblocks_add(const void *address, struct slope_liveblock block);

/* Before the memory is given back. False: it was not sampled. */
bool slope_liveblocks_remove(const void *address, struct slope_liveblock *block);

/* Sets the column in all trees to what lives now. No sample is taken meanwhile. */
void slope_liveblocks_settle(int column);

/* Forgets all: after a fork they are the parent's. */
void slope_liveblocks_forget(void);

#endif
