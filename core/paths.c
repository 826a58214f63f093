/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/paths.h"

#define BUCKETS_FIRST 64u
#define ROWS_GROW 4u             /* times: pages that are not used yet cost nothing, moved ones do */

void slope_path_table_init(struct slope_path_table *t, struct slope_arena *arena)
{
	*t = (struct slope_path_table){ .arena = arena };
}

void slope_path_table_empty(struct slope_path_table *t)
{
	for (size_t i = 0; i < t->buckets; i++)
		t->bucket[i] = 0;
	t->rows = t->repeat_count = t->expected = 0;
	t->lost = 0;
}

static uint64_t hash(const struct slope_path_row *key)
{
	uint64_t place = (uint64_t)key->graph << 32 | key->context, stop = (uint64_t)key->stop << 32 | key->stop_instructions;

	return slope_mix64(slope_mix64(place) ^ slope_mix64(stop) ^ key->number);
}

static bool same_path(const struct slope_path_row *a, const struct slope_path_row *b)
{
	return a->number == b->number && a->graph == b->graph && a->context == b->context && a->stop == b->stop &&
	       a->stop_instructions == b->stop_instructions;
}

/* The bucket of the key's row, or the free one where it would go. */
static uint32_t *find(const struct slope_path_table *t, const struct slope_path_row *key)
{
	size_t i = hash(key) & (t->buckets - 1);

	while (t->bucket[i] && !same_path(&t->row[t->bucket[i] - 1], key))
		i = (i + 1) & (t->buckets - 1);
	return &t->bucket[i];
}

/* For so many rows, a quarter free. */
static bool grow_buckets(struct slope_path_table *t, size_t rows)
{
	struct slope_path_table old = *t;
	size_t buckets = old.buckets ? old.buckets * 2 : BUCKETS_FIRST;

	while (rows * 4 >= buckets * 3)
		buckets *= 2;
	uint32_t *bucket = slope_arena_alloc(t->arena, buckets * sizeof *bucket);

	if (!bucket)
		return false;
	t->bucket = bucket;
	t->buckets = buckets;
	for (size_t i = 0; i < t->rows; i++)
		*find(t, &t->row[i]) = (uint32_t)i + 1;
	slope_arena_free(t->arena, old.bucket, old.buckets * sizeof *bucket);
	return true;
}

void slope_path_table_expect(struct slope_path_table *t, size_t rows)
{
	t->expected = (t->expected > t->rows ? t->expected : t->rows) + rows;
}

/* Room for one more row, and for all that are expected. */
static bool make_room(struct slope_path_table *t)
{
	void *row = t->row;
	size_t most = t->expected > t->rows ? t->expected : t->rows + 1, wider = t->row_capacity * ROWS_GROW;

	if (t->rows == UINT32_MAX || (t->rows == t->row_capacity &&
	    !slope_arena_grow(t->arena, &row, &t->row_capacity, most > wider ? most : wider, sizeof *t->row) &&
	    !slope_arena_grow(t->arena, &row, &t->row_capacity, t->rows + 1, sizeof *t->row)))
		return false;
	t->row = row;
	return t->rows * 4 < t->buckets * 3 || grow_buckets(t, most) || grow_buckets(t, t->rows + 1);
}

struct slope_path_row *slope_path_row(struct slope_path_table *t, const struct slope_path_row *key)
{
	uint32_t *there = t->buckets ? find(t, key) : NULL;
	size_t buckets = t->buckets;

	if (SLOPE_LIKELY(there && *there))
		return &t->row[*there - 1];
	if (!make_room(t))
		return NULL;
	struct slope_path_row *row = &t->row[t->rows++];

	*row = (struct slope_path_row){
		.graph = key->graph, .context = key->context, .number = key->number,
		.stop = key->stop, .stop_instructions = key->stop_instructions,
	};
	if (buckets != t->buckets)
		there = find(t, key);
	*there = (uint32_t)t->rows;
	return row;
}

/* Where the block's repeats are, or would be. */
static size_t repeat_at(const struct slope_path_table *t, uint32_t graph, uint32_t block)
{
	uint64_t place = (uint64_t)graph << 32 | block;
	size_t low = 0, high = t->repeat_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct slope_path_repeats *r = &t->repeats[middle];

		if (((uint64_t)r->graph << 32 | r->block) < place)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool slope_path_repeat(struct slope_path_table *t, uint32_t graph, uint32_t block, uint64_t count)
{
	size_t at = repeat_at(t, graph, block);
	void *repeats = t->repeats;

	if (at < t->repeat_count && t->repeats[at].graph == graph && t->repeats[at].block == block) {
		t->repeats[at].count += count;
		return true;
	}
	if (!slope_arena_grow(t->arena, &repeats, &t->repeat_capacity, t->repeat_count + 1, sizeof *t->repeats))
		return false;
	t->repeats = repeats;
	for (size_t i = t->repeat_count++; i > at; i--)
		t->repeats[i] = t->repeats[i - 1];
	t->repeats[at] = (struct slope_path_repeats){ .graph = graph, .block = block, .count = count };
	return true;
}

struct slope_graph *slope_graphs_add(struct slope_graphs *graphs, const struct slope_graph *g, uint64_t limit)
{
	void *array = graphs->graph;

	if (!slope_arena_grow_read(graphs->arena, &array, &graphs->capacity, graphs->count + 1, sizeof g))
		return NULL;
	__atomic_store_n(&graphs->graph, array, __ATOMIC_RELEASE);
	struct slope_graph *kept = slope_arena_alloc(graphs->arena, sizeof *kept);

	if (!kept)
		return NULL;
	*kept = *g;
	if (!slope_path_number(&kept->paths, graphs->arena, limit)) {
		slope_arena_free(graphs->arena, kept, sizeof *kept);
		return NULL;
	}
	kept->number = (uint32_t)graphs->count;
	kept->flags |= kept->paths.cut_edges ? SLOPE_GRAPH_CUT : 0;
	graphs->graph[graphs->count] = kept;
	__atomic_store_n(&graphs->count, graphs->count + 1, __ATOMIC_RELEASE);
	return kept;
}
