/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/map.h"

void slope_map_init(struct slope_map *map, struct slope_arena *arena)
{
	*map = (struct slope_map){ .arena = arena };
}

/* The key's entry, or the free one where it would go. */
static struct slope_map_entry *find(const struct slope_map *map, uint64_t key)
{
	size_t i = slope_mix64(key) & (map->capacity - 1);

	while (map->entry[i].used && map->entry[i].key != key)
		i = (i + 1) & (map->capacity - 1);
	return &map->entry[i];
}

uint64_t *slope_map_get(const struct slope_map *map, uint64_t key)
{
	if (!map->capacity)
		return NULL;
	struct slope_map_entry *e = find(map, key);

	return e->used ? &e->value : NULL;
}

static bool grow(struct slope_map *map)
{
	struct slope_map old = *map;
	size_t capacity = old.capacity ? old.capacity * 2 : 16;
	struct slope_map_entry *entry = slope_arena_alloc(map->arena, capacity * sizeof *entry);

	if (!entry)
		return false;
	map->entry = entry;
	map->capacity = capacity;
	for (size_t i = 0; i < old.capacity; i++)
		if (old.entry[i].used)
			*find(map, old.entry[i].key) = old.entry[i];
	slope_arena_free(map->arena, old.entry, old.capacity * sizeof *entry);
	return true;
}

uint64_t *slope_map_put(struct slope_map *map, uint64_t key, bool *fresh)
{
	uint64_t *there = slope_map_get(map, key);

	*fresh = !there;
	if (there)
		return there;
	if (map->count * 4 >= map->capacity * 3 && !grow(map))
		return NULL;
	struct slope_map_entry *e = find(map, key);

	*e = (struct slope_map_entry){ .key = key, .used = 1 };
	map->count++;
	return &e->value;
}
