/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/sharing.h"
#include "core/session.h"
#include "core/stamp.h"
#include "core/thread.h"

/*
 * A directory word: two bits of form, thirty of argument. "Sharers" are those
 * besides the first thread that may have seen the last write.
 */
#define FORM_SHIFT 30u
#define FORM_UNWRITTEN 0u        /* argument: the one sharer, or 0 */
#define FORM_KERNEL 1u           /* the kernel wrote last; argument as above */
#define FORM_OWNER 2u            /* argument: the thread that wrote last, the only sharer */
#define FORM_SET 3u              /* argument: number of a slope_sharer_set */

#define SETS_MAX 65536u          /* past this, new sets are "all threads" */
#define ALL_THREADS (SLOPE_SHARERS_MAX + 1)
#define FIRST_THREAD 1u

static uint32_t word_of(uint32_t form, uint32_t argument)
{
	return form << FORM_SHIFT | argument;
}

static uint32_t argument_of(uint32_t word)
{
	return word & ((1u << FORM_SHIFT) - 1);
}

void slope_sharing_init(struct slope_sharing *sharing, struct slope_arena *arena, const struct slope_host *host)
{
	*sharing = (struct slope_sharing){ .arena = arena };
	slope_shadow_init(&sharing->directory, host);
	slope_map_init(&sharing->set_by_step, arena);
}

void slope_sharing_fini(struct slope_sharing *sharing)
{
	slope_shadow_fini(&sharing->directory);
}

/* What a directory word says, spelled out. */
static struct slope_sharer_set decode(const struct slope_sharing *sharing, uint32_t word)
{
	uint32_t argument = argument_of(word);
	struct slope_sharer_set set = { .writer = SLOPE_WRITER_NONE };

	switch (word >> FORM_SHIFT) {
	case FORM_SET:
		return sharing->set[argument];
	case FORM_OWNER:
		set.writer = argument;
		break;
	case FORM_KERNEL:
		set.writer = SLOPE_WRITER_KERNEL;
		break;
	}
	if (argument)
		set.id[set.count++] = argument;
	return set;
}

static uint32_t writer_of(const struct slope_sharing *sharing, uint32_t word)
{
	switch (word >> FORM_SHIFT) {
	case FORM_SET:
		return sharing->set[argument_of(word)].writer;
	case FORM_OWNER:
		return argument_of(word);
	case FORM_KERNEL:
		return SLOPE_WRITER_KERNEL;
	default:
		return SLOPE_WRITER_NONE;
	}
}

/* A word for the set; 0 when memory runs out. */
static uint32_t new_set(struct slope_sharing *sharing, const struct slope_sharer_set *set)
{
	void *array = sharing->set;

	if (!slope_arena_grow(sharing->arena, &array, &sharing->set_capacity, sharing->set_count + 1, sizeof *set))
		return 0;
	sharing->set = array;
	sharing->set[sharing->set_count] = *set;
	return word_of(FORM_SET, (uint32_t)sharing->set_count++);
}

/* The word that names the writer and every thread. */
static uint32_t all_threads(struct slope_sharing *sharing, uint32_t writer)
{
	bool fresh;
	uint64_t *word = slope_map_put(&sharing->set_by_step, (uint64_t)UINT32_MAX << 32 | writer, &fresh);

	if (!word)
		return 0;
	if (fresh)
		*word = new_set(sharing, &(struct slope_sharer_set){ .writer = writer, .count = ALL_THREADS });
	return (uint32_t)*word;
}

static uint32_t join_uncached(struct slope_sharing *sharing, uint32_t word, uint32_t id)
{
	struct slope_sharer_set set = decode(sharing, word);

	if (set.count == ALL_THREADS)
		return word;
	for (uint32_t i = 0; i < set.count; i++)
		if (set.id[i] == id)
			return word;
	if (set.count == 0 && word >> FORM_SHIFT < FORM_OWNER)
		return word | id;
	if (set.count == SLOPE_SHARERS_MAX || sharing->set_count >= SETS_MAX)
		return all_threads(sharing, set.writer);
	set.id[set.count++] = id;
	return new_set(sharing, &set);
}

/* The word after thread `id` has joined; 0 when memory runs out. */
static uint32_t joined(struct slope_sharing *sharing, uint32_t word, uint32_t id)
{
	bool fresh;

	if (word >> FORM_SHIFT < FORM_OWNER && !argument_of(word))
		return word | id;
	uint64_t *next = slope_map_put(&sharing->set_by_step, (uint64_t)word << 32 | id, &fresh);

	if (!next)
		return 0;
	if (fresh) {
		uint32_t made = join_uncached(sharing, word, id);

		/* all_threads may have moved the map. */
		next = slope_map_get(&sharing->set_by_step, (uint64_t)word << 32 | id);
		*next = made;
	}
	return (uint32_t)*next;
}

static struct slope_thread *first_thread(const struct slope_session *s)
{
	return s->thread_count > FIRST_THREAD ? s->thread[FIRST_THREAD] : NULL;
}

uint32_t slope_sharing_join(struct slope_session *s, struct slope_thread *t, uint64_t cell)
{
	uint32_t *word = slope_shadow_cell(&s->sharing.directory, cell);
	struct slope_thread *first = first_thread(s);

	if (!word) {
		s->lost[SLOPE_LOST_CELLS]++;
		return SLOPE_WRITER_NONE;
	}
	/* While it was alone, the first thread wrote without telling the directory. */
	if (first && first != t) {
		uint32_t *mine = slope_shadow_peek(&first->shadow, cell);

		if (mine && !slope_stamp_pending(*mine) && (*mine & SLOPE_STAMP_OWN))
			*word = word_of(FORM_OWNER, FIRST_THREAD);
	}
	uint32_t writer = writer_of(&s->sharing, *word);

	if (writer != SLOPE_WRITER_NONE && writer != SLOPE_WRITER_KERNEL && writer != t->id) {
		uint32_t *theirs = slope_shadow_peek(&s->thread[writer]->shadow, cell);

		if (theirs)
			*theirs = slope_stamp_not_own(*theirs, t->marks);
	}
	if (t->id != FIRST_THREAD) {
		uint32_t next = joined(&s->sharing, *word, t->id);

		if (next)
			*word = next;
		else
			s->lost[SLOPE_LOST_CELLS]++;
	}
	return writer;
}

static void make_pending(struct slope_session *s, uint32_t id, const struct slope_thread *writer, uint64_t cell)
{
	struct slope_thread *t = s->thread[id];

	if (!t || t == writer)
		return;
	uint32_t *word = slope_shadow_peek(&t->shadow, cell);

	if (word && *word)
		*word = slope_stamp_invalidate(*word, t->marks);
}

void slope_sharing_write(struct slope_session *s, struct slope_thread *t, uint64_t cell)
{
	uint32_t *word = slope_shadow_cell(&s->sharing.directory, cell);

	if (!word) {
		s->lost[SLOPE_LOST_CELLS]++;
		return;
	}
	if (*word != word_of(FORM_OWNER, t ? t->id : 0)) {
		struct slope_sharer_set set = decode(&s->sharing, *word);

		if (set.count == ALL_THREADS)
			for (uint32_t id = FIRST_THREAD + 1; id < s->thread_count; id++)
				make_pending(s, id, t, cell);
		else
			for (uint32_t i = 0; i < set.count; i++)
				make_pending(s, set.id[i], t, cell);
	}
	if (s->thread_count > FIRST_THREAD)
		make_pending(s, FIRST_THREAD, t, cell);
	*word = t ? word_of(FORM_OWNER, t->id) : word_of(FORM_KERNEL, 0);
}
