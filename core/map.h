/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The hash table of the repository: 64-bit keys to 64-bit values, open
 * addressing, no deletion. A key and a value may be any number.
 */
#ifndef SLOPE_CORE_MAP_H
#define SLOPE_CORE_MAP_H

#include "core/arena.h"

struct slope_map_entry {
	uint64_t key, value;
	uint64_t used;
};

struct slope_map {
	struct slope_arena *arena;
	struct slope_map_entry *entry;
	size_t capacity, count;      /* capacity is a power of two, or 0 */
};

void slope_map_init(struct slope_map *map, struct slope_arena *arena);

/* The value's place, or NULL when the key is not there. Valid until the next put. */
uint64_t *slope_map_get(const struct slope_map *map, uint64_t key);

/*
 * The value's place, made with value 0 on first use (`*fresh` says so).
 * NULL when memory runs out; the map is then unchanged.
 */
uint64_t *slope_map_put(struct slope_map *map, uint64_t key, bool *fresh);

#endif
