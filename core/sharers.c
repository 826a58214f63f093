/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/sharers.h"

#define SETS_MAX 65536u          /* past this, new sets are "all threads" */

/* What a thread does to a word, in keys: it joins, or writes. */
#define PASSED (1u << 31)

void slope_sharers_init(struct slope_sharers *sharers, const struct slope_host *host)
{
	*sharers = (struct slope_sharers){ .count = 0 };
	slope_arena_init(&sharers->arena, host);
	slope_map_init(&sharers->next, &sharers->arena);
}

void slope_sharers_fini(struct slope_sharers *sharers)
{
	slope_arena_fini(&sharers->arena);
}

struct slope_sharer_set slope_sharers_of(const struct slope_sharers *sharers, uint32_t word)
{
	struct slope_sharer_set set = { .writer = SLOPE_WRITER_NONE };

	if (slope_sharers_form(word) == SLOPE_SHARERS_SET)
		return *slope_sharers_set(sharers, word);
	set.writer = slope_sharers_writer(sharers, word);
	if (slope_sharers_argument(word))
		set.id[set.count++] = slope_sharers_argument(word);
	return set;
}

uint32_t slope_sharers_writer(const struct slope_sharers *sharers, uint32_t word)
{
	switch (slope_sharers_form(word)) {
	case SLOPE_SHARERS_SET:
		return slope_sharers_set(sharers, word)->writer;
	case SLOPE_SHARERS_OWNER:
		return slope_sharers_argument(word);
	case SLOPE_SHARERS_KERNEL:
		return SLOPE_WRITER_KERNEL;
	default:
		return SLOPE_WRITER_NONE;
	}
}

bool slope_sharers_name(const struct slope_sharer_set *set, uint32_t id)
{
	bool found = set->count == SLOPE_SHARERS_ALL;

	for (uint32_t i = 0; i < set->count && !found; i++)
		found = set->id[i] == id;
	return found;
}

/* A word for the set; 0 when memory runs out. */
static uint32_t new_set(struct slope_sharers *sharers, const struct slope_sharer_set *set)
{
	void *array = sharers->set;

	if (!slope_arena_grow_read(&sharers->arena, &array, &sharers->capacity, sharers->count + 1, sizeof *set))
		return 0;
	__atomic_store_n(&sharers->set, array, __ATOMIC_RELEASE);
	sharers->set[sharers->count] = *set;
	return slope_sharers_word(SLOPE_SHARERS_SET, (uint32_t)sharers->count++);
}

/* The word that names the writer and every thread. */
static uint32_t all_threads(struct slope_sharers *sharers, uint32_t writer)
{
	bool fresh;
	uint64_t *word = slope_map_put(&sharers->next, (uint64_t)UINT32_MAX << 32 | writer, &fresh);

	if (!word)
		return 0;
	if (fresh)
		*word = new_set(sharers, &(struct slope_sharer_set){ .writer = writer, .count = SLOPE_SHARERS_ALL });
	return (uint32_t)*word;
}

static uint32_t make_joined(struct slope_sharers *sharers, uint32_t word, uint32_t id)
{
	struct slope_sharer_set set = slope_sharers_of(sharers, word);

	if (slope_sharers_name(&set, id))
		return word;
	if (set.count == 0 && slope_sharers_form(word) < SLOPE_SHARERS_OWNER)
		return word | id;
	if (set.count == SLOPE_SHARERS_MAX || sharers->count >= SETS_MAX)
		return all_threads(sharers, set.writer);
	set.id[set.count++] = id;
	return new_set(sharers, &set);
}

static uint32_t make_passed(struct slope_sharers *sharers, uint32_t word, uint32_t writer)
{
	uint32_t next = writer == SLOPE_WRITER_KERNEL ? word : make_joined(sharers, word, writer);
	struct slope_sharer_set set = slope_sharers_of(sharers, next);

	if (!next || set.count == SLOPE_SHARERS_ALL || sharers->count >= SETS_MAX)
		return next ? all_threads(sharers, writer) : 0;
	set.writer = writer;
	return new_set(sharers, &set);
}

/* As `make` says, once for each word and thread. */
static uint32_t next_of(struct slope_sharers *sharers, uint32_t word, uint32_t id, uint32_t how,
			uint32_t (*make)(struct slope_sharers *sharers, uint32_t word, uint32_t id))
{
	uint64_t key = (uint64_t)word << 32 | how | id, *next;
	bool fresh;

	next = slope_map_put(&sharers->next, key, &fresh);
	if (!next)
		return 0;
	if (fresh) {
		uint32_t made = make(sharers, word, id);

		/* all_threads may have moved the map. */
		next = slope_map_get(&sharers->next, key);
		*next = made;
	}
	return (uint32_t)*next;
}

uint32_t slope_sharers_join(struct slope_sharers *sharers, uint32_t word, uint32_t id)
{
	return next_of(sharers, word, id, 0, make_joined);
}

uint32_t slope_sharers_pass(struct slope_sharers *sharers, uint32_t word, uint32_t writer)
{
	return next_of(sharers, word, writer, PASSED, make_passed);
}
