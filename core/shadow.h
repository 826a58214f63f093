/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Shadow memory: one 32-bit word per memory cell, for any 57-bit address.
 *
 * A cell is 1 to 64 bytes; its index is address >> cell_log2. The words live in
 * a three-level table whose leaves come on first touch. A source that knows
 * its address space may add a window: one linear array for the cells
 * [0, window_cells), so that translated code reaches a word with one addition.
 * The window's memory is the source's own, at a multiple of 16 bytes; it must
 * read as zero at first.
 */
#ifndef SLOPE_CORE_SHADOW_H
#define SLOPE_CORE_SHADOW_H

#include "core/arena.h"

#define SLOPE_LEAF_LOG2 12u
#define SLOPE_LEAF_CELLS (1u << SLOPE_LEAF_LOG2)
#define SLOPE_ADDRESS_BITS 57u
#define SLOPE_SHADOW_CACHE 16u   /* leaves remembered, direct mapped */

struct slope_shadow {
	uint32_t *window;
	uint64_t window_cells;
	uint32_t ***root;
	const struct slope_host *host;
	uint64_t leaf_count;
	struct {
		uint64_t number;     /* leaf number + 1 */
		uint32_t *leaf;
	} cache[SLOPE_SHADOW_CACHE];
};

void slope_shadow_init(struct slope_shadow *shadow, const struct slope_host *host);

/* Gives all leaves back; the window is the caller's. */
void slope_shadow_fini(struct slope_shadow *shadow);

/* The leaf's words or NULL; makes it when `make` is set. For slope_shadow_cell. */
uint32_t *slope_shadow_leaf(struct slope_shadow *shadow, uint64_t number, bool make);

/* The word of a cell, made on first use. NULL when memory runs out. O(1). */
static inline uint32_t *slope_shadow_cell(struct slope_shadow *shadow, uint64_t cell)
{
	if (SLOPE_LIKELY(cell < shadow->window_cells))
		return shadow->window + cell;
	uint64_t number = cell >> SLOPE_LEAF_LOG2;
	unsigned c = number % SLOPE_SHADOW_CACHE;
	uint32_t *leaf = shadow->cache[c].leaf;

	if (SLOPE_UNLIKELY(shadow->cache[c].number != number + 1)) {
		leaf = slope_shadow_leaf(shadow, number, true);
		if (!leaf)
			return NULL;
		shadow->cache[c].number = number + 1;
		shadow->cache[c].leaf = leaf;
	}
	return leaf + (cell & (SLOPE_LEAF_CELLS - 1));
}

/* The word of a cell if it has one; never allocates. */
static inline uint32_t *slope_shadow_peek(struct slope_shadow *shadow, uint64_t cell)
{
	if (SLOPE_LIKELY(cell < shadow->window_cells))
		return shadow->window + cell;
	uint32_t *leaf = slope_shadow_leaf(shadow, cell >> SLOPE_LEAF_LOG2, false);

	return leaf ? leaf + (cell & (SLOPE_LEAF_CELLS - 1)) : NULL;
}

/*
 * Sets `count` words from `cell` on to zero. In the three-level table only:
 * the source clears its own window, where it can give pages back.
 */
void slope_shadow_clear(struct slope_shadow *shadow, uint64_t cell, uint64_t count);

/* Calls `visit` for every leaf of the table (not for the window). */
void slope_shadow_each(struct slope_shadow *shadow, void (*visit)(void *ctx, uint32_t *words, size_t count), void *ctx);

#endif
