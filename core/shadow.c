/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/shadow.h"

/* Three tables of 2^15 entries above leaves of 2^12 words: 57 bits of cells. */
#define TABLE_LOG2 15u
#define TABLE_ENTRIES (1u << TABLE_LOG2)
#define TABLE_BYTES (TABLE_ENTRIES * sizeof(void *))
#define LEAF_BYTES (SLOPE_LEAF_CELLS * sizeof(uint32_t))

void slope_shadow_init(struct slope_shadow *shadow, const struct slope_host *host)
{
	*shadow = (struct slope_shadow){ .host = host };
}

static void *pages(struct slope_shadow *shadow, size_t bytes)
{
	return shadow->host->pages(shadow->host->ctx, bytes);
}

static unsigned part(uint64_t number, unsigned level)
{
	return (unsigned)(number >> (level * TABLE_LOG2)) & (TABLE_ENTRIES - 1);
}

uint32_t *slope_shadow_leaf(struct slope_shadow *shadow, uint64_t number, bool make)
{
	if (!shadow->root) {
		if (!make || !(shadow->root = pages(shadow, TABLE_BYTES)))
			return NULL;
	}
	uint32_t ***middle = (uint32_t ***)&shadow->root[part(number, 2)];

	if (!*middle) {
		if (!make || !(*middle = pages(shadow, TABLE_BYTES)))
			return NULL;
	}
	uint32_t ***table = (uint32_t ***)&(*middle)[part(number, 1)];

	if (!*table) {
		if (!make || !(*table = pages(shadow, TABLE_BYTES)))
			return NULL;
	}
	uint32_t **leaf = &(*table)[part(number, 0)];

	if (!*leaf && make) {
		__atomic_store_n(leaf, pages(shadow, LEAF_BYTES), __ATOMIC_RELEASE);
		shadow->leaf_count += *leaf != NULL;
	}
	return *leaf;
}

/* Calls `visit` on every leaf; with `release`, gives leaves and tables back. */
static void walk(struct slope_shadow *shadow, void (*visit)(void *, uint32_t *, size_t), void *ctx, bool release)
{
	const struct slope_host *host = shadow->host;
	void ***middle_of = (void ***)shadow->root;

	for (unsigned i = 0; middle_of && i < TABLE_ENTRIES; i++) {
		void ***table_of = (void ***)middle_of[i];

		for (unsigned j = 0; table_of && j < TABLE_ENTRIES; j++) {
			void **leaf_of = table_of[j];

			for (unsigned k = 0; leaf_of && k < TABLE_ENTRIES; k++) {
				if (leaf_of[k] && visit)
					visit(ctx, leaf_of[k], SLOPE_LEAF_CELLS);
				if (leaf_of[k] && release)
					host->release(host->ctx, leaf_of[k], LEAF_BYTES);
			}
			if (leaf_of && release)
				host->release(host->ctx, leaf_of, TABLE_BYTES);
		}
		if (table_of && release)
			host->release(host->ctx, table_of, TABLE_BYTES);
	}
	if (middle_of && release)
		host->release(host->ctx, middle_of, TABLE_BYTES);
}

void slope_shadow_each(struct slope_shadow *shadow, void (*visit)(void *ctx, uint32_t *words, size_t count), void *ctx)
{
	walk(shadow, visit, ctx, false);
}

void slope_shadow_fini(struct slope_shadow *shadow)
{
	walk(shadow, NULL, NULL, true);
	slope_shadow_init(shadow, shadow->host);
}

/* The leaf, or NULL; and how many cells (log2) it or the missing table stands for. The root is there. */
static uint32_t *leaf_or_gap(const struct slope_shadow *shadow, uint64_t number, unsigned *cells_log2)
{
	void **table = (void **)shadow->root;

	for (unsigned level = 3; level-- > 0 && table;) {
		*cells_log2 = SLOPE_LEAF_LOG2 + level * TABLE_LOG2;
		table = table[part(number, level)];
	}
	return (uint32_t *)table;
}

void slope_shadow_clear(struct slope_shadow *shadow, uint64_t cell, uint64_t count)
{
	uint64_t end = cell + count;

	if (cell < shadow->window_cells)
		cell = shadow->window_cells;
	while (cell < end && shadow->root) {
		unsigned cells_log2;
		uint32_t *leaf = leaf_or_gap(shadow, cell >> SLOPE_LEAF_LOG2, &cells_log2);
		uint64_t stop = (cell | ((UINT64_C(1) << cells_log2) - 1)) + 1;

		if (stop > end)
			stop = end;
		for (; leaf && cell < stop; cell++)
			leaf[cell & (SLOPE_LEAF_CELLS - 1)] = 0;
		cell = stop;
	}
}
