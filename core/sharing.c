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
#define SPINS 100u               /* before the host is asked to let others run */

static uint32_t word_of(uint32_t form, uint32_t argument)
{
	return form << FORM_SHIFT | argument;
}

static uint32_t argument_of(uint32_t word)
{
	return word & ((1u << FORM_SHIFT) - 1);
}

static struct slope_thread *thread_at(const struct slope_session *s, uint32_t id)
{
	return __atomic_load_n(&s->thread, __ATOMIC_ACQUIRE)[id];
}

static bool by_thread(uint32_t writer)
{
	return writer != SLOPE_WRITER_NONE && writer != SLOPE_WRITER_KERNEL;
}

/* Nobody asks for its words any more. */
static bool gone(const struct slope_thread *t)
{
	return t->id != FIRST_THREAD && __atomic_load_n(&t->ended, __ATOMIC_ACQUIRE);
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

/* Whoever has a set's number sees an array that holds it. */
static const struct slope_sharer_set *set_at(const struct slope_sharing *sharing, uint32_t number)
{
	return &__atomic_load_n(&sharing->set, __ATOMIC_ACQUIRE)[number];
}

/* What a directory word says, spelled out. */
static struct slope_sharer_set decode(const struct slope_sharing *sharing, uint32_t word)
{
	uint32_t argument = argument_of(word);
	struct slope_sharer_set set = { .writer = SLOPE_WRITER_NONE };

	switch (word >> FORM_SHIFT) {
	case FORM_SET:
		return *set_at(sharing, argument);
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
		return set_at(sharing, argument_of(word))->writer;
	case FORM_OWNER:
		return argument_of(word);
	case FORM_KERNEL:
		return SLOPE_WRITER_KERNEL;
	default:
		return SLOPE_WRITER_NONE;
	}
}

/* ---- one at a time ---- */

static void wait_a_little(const struct slope_session *s, uint32_t *tries)
{
	if (++*tries > SPINS && s->host->yield)
		s->host->yield(s->host->ctx);
}

void slope_sharing_lock(struct slope_session *s)
{
	uint32_t tries = 0;

	while (__atomic_exchange_n(&s->sharing.lock, 1, __ATOMIC_ACQUIRE))
		wait_a_little(s, &tries);
}

void slope_sharing_unlock(struct slope_session *s)
{
	__atomic_store_n(&s->sharing.lock, 0, __ATOMIC_RELEASE);
}

static void enters(const struct slope_session *s, struct slope_thread *t)
{
	if (s->parallel && t)
		__atomic_store_n(&t->visiting, 1, __ATOMIC_RELAXED);
}

static void leaves(const struct slope_session *s, struct slope_thread *t)
{
	if (s->parallel && t)
		__atomic_store_n(&t->visiting, 0, __ATOMIC_RELEASE);
}

void slope_sharing_kernel_enters(struct slope_session *s)
{
	if (s->parallel)
		__atomic_fetch_add(&s->sharing.kernel_visits, 1, __ATOMIC_SEQ_CST);
}

void slope_sharing_kernel_leaves(struct slope_session *s)
{
	if (s->parallel)
		__atomic_fetch_sub(&s->sharing.kernel_visits, 1, __ATOMIC_RELEASE);
}

void slope_sharing_await(struct slope_session *s)
{
	uint32_t tries = 0;

	if (!s->parallel)
		return;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	for (size_t i = FIRST_THREAD, end = __atomic_load_n(&s->thread_count, __ATOMIC_ACQUIRE); i < end; i++)
		while (__atomic_load_n(&thread_at(s, (uint32_t)i)->visiting, __ATOMIC_ACQUIRE))
			wait_a_little(s, &tries);
	while (__atomic_load_n(&s->sharing.kernel_visits, __ATOMIC_ACQUIRE))
		wait_a_little(s, &tries);
}

void slope_sharing_restart(struct slope_session *s)
{
	s->sharing.lock = s->sharing.kernel_visits = 0;
	for (size_t i = FIRST_THREAD; i < s->thread_count; i++)
		s->thread[i]->visiting = 0;
}

/* `*word` becomes `next` if it still is `old`. */
static bool replace(const struct slope_session *s, uint32_t *word, uint32_t old, uint32_t next)
{
	if (s->parallel)
		return __atomic_compare_exchange_n(word, &old, next, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	*word = next;
	return true;
}

/* ---- sets ---- */

/* A word for the set; 0 when memory runs out. */
static uint32_t new_set(struct slope_sharing *sharing, const struct slope_sharer_set *set)
{
	void *array = sharing->set;

	if (!slope_arena_grow_read(sharing->arena, &array, &sharing->set_capacity, sharing->set_count + 1, sizeof *set))
		return 0;
	__atomic_store_n(&sharing->set, array, __ATOMIC_RELEASE);
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

static uint32_t step(struct slope_sharing *sharing, uint32_t word, uint32_t id)
{
	bool fresh;
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

/* The word after the thread has joined; 0 when memory runs out. */
static uint32_t joined(struct slope_session *s, struct slope_thread *t, uint32_t word)
{
	uint32_t next, at = word % SLOPE_SHARING_STEPS;

	if (word >> FORM_SHIFT < FORM_OWNER && !argument_of(word))
		return word | t->id;
	if (!s->parallel)
		return step(&s->sharing, word, t->id);
	if (t->steps.step[at].from == word)
		return t->steps.step[at].to;
	slope_sharing_lock(s);
	next = step(&s->sharing, word, t->id);
	slope_sharing_unlock(s);
	if (next) {
		t->steps.step[at].from = word;
		t->steps.step[at].to = next;
	}
	return next;
}

/* ---- reads ---- */

/* While it was alone, the first thread wrote without telling the directory: slope_sharing_tell. */
static bool first_wrote(struct slope_session *s, const struct slope_thread *reader, uint64_t cell)
{
	struct slope_thread *first = s->thread_count > FIRST_THREAD && !s->parallel ? s->thread[FIRST_THREAD] : NULL;
	const uint32_t *word = first && first != reader ? slope_shadow_peek(&first->shadow, cell) : NULL;
	uint32_t w = word ? *word : 0;

	return w & SLOPE_STAMP_OWN && !slope_stamp_pending(w);
}

/* Somebody else has looked at the cell: the writer's next write must tell. */
static void disown(struct slope_session *s, uint32_t writer, uint64_t cell)
{
	struct slope_thread *t = thread_at(s, writer);
	uint32_t *word = gone(t) ? NULL : slope_shadow_peek(&t->shadow, cell), old, next;

	do {
		old = word ? __atomic_load_n(word, __ATOMIC_ACQUIRE) : 0;
		next = slope_stamp_not_own(old, slope_session_marks(s));
	} while (next != old && !replace(s, word, old, next));
}

uint32_t slope_sharing_join(struct slope_session *s, struct slope_thread *t, uint64_t cell)
{
	uint32_t *word = slope_shadow_cell(&s->sharing.directory, cell), old, from, next, writer;

	if (!word) {
		slope_session_lose(s, SLOPE_LOST_CELLS, 1);
		return SLOPE_WRITER_NONE;
	}
	enters(s, t);
	do {
		bool alone = first_wrote(s, t, cell);

		old = from = __atomic_load_n(word, __ATOMIC_ACQUIRE);
		writer = writer_of(&s->sharing, from);
		if (alone && writer != FIRST_THREAD)
			from = word_of(FORM_OWNER, writer = FIRST_THREAD);
		next = t->id != FIRST_THREAD || s->config.parallel ? joined(s, t, from) : from;
		if (!next && from) {
			slope_session_lose(s, SLOPE_LOST_CELLS, 1);
			next = from;
		}
	} while (next != old && !replace(s, word, old, next));
	if (by_thread(writer) && writer != t->id) {
		if (s->parallel && next == old)
			__atomic_thread_fence(__ATOMIC_SEQ_CST);     /* it is seen that we visit; a replacement says so too */
		disown(s, writer, cell);
	}
	leaves(s, t);
	return writer;
}

/* `words` are the first thread's, of a window. */
static void tell_own(void *arg, uint32_t *words, size_t count)
{
	struct slope_session *s = arg;
	const struct slope_shadow *directory = &s->sharing.directory;
	uint64_t cell = (uint64_t)(words - s->thread[FIRST_THREAD]->shadow.window);
	uint32_t *word = directory->window + cell;

	SLOPE_ASSERT(cell + count <= directory->window_cells);
	for (size_t i = 0; i < count; i++) {
		if (!(words[i] & SLOPE_STAMP_OWN) || slope_stamp_pending(words[i]))
			continue;
		if (!word[i] || writer_of(&s->sharing, word[i]) != FIRST_THREAD)
			word[i] = word_of(FORM_OWNER, FIRST_THREAD);
	}
}

void slope_sharing_tell(struct slope_session *s)
{
	if (s->thread_count > FIRST_THREAD && s->each_window_word)
		s->each_window_word(s->window_ctx, s->thread[FIRST_THREAD], tell_own, s);
}

/* ---- writes ---- */

static void make_pending(struct slope_session *s, uint32_t id, const struct slope_thread *writer, uint64_t cell)
{
	struct slope_thread *t = thread_at(s, id);
	uint32_t *word, old;

	if (!t || t == writer || gone(t))
		return;
	word = slope_shadow_peek(&t->shadow, cell);
	do {
		old = word ? __atomic_load_n(word, __ATOMIC_ACQUIRE) : 0;
	} while (old && !replace(s, word, old, slope_stamp_invalidate(old, slope_session_marks(s))));
}

/* All that the directory's word names, but not the writer itself. */
static void tell_sharers(struct slope_session *s, uint32_t word, const struct slope_thread *writer, uint64_t cell)
{
	struct slope_sharer_set set = decode(&s->sharing, word);

	if (set.count == ALL_THREADS)
		for (uint32_t id = FIRST_THREAD, end = (uint32_t)__atomic_load_n(&s->thread_count, __ATOMIC_ACQUIRE); id < end; id++)
			make_pending(s, id, writer, cell);
	else
		for (uint32_t i = 0; i < set.count; i++)
			make_pending(s, set.id[i], writer, cell);
}

uint32_t slope_sharing_owned(uint32_t id)
{
	return word_of(FORM_OWNER, id);
}

void slope_sharing_write(struct slope_session *s, struct slope_thread *t, uint64_t cell)
{
	uint32_t *word = slope_shadow_cell(&s->sharing.directory, cell);
	uint32_t own = t ? slope_sharing_owned(t->id) : word_of(FORM_KERNEL, 0), old;

	if (!word) {
		slope_session_lose(s, SLOPE_LOST_CELLS, 1);
		return;
	}
	if (t && s->config.parallel && __atomic_load_n(word, __ATOMIC_ACQUIRE) == own)
		return;                  /* nobody has looked */
	enters(s, t);
	if (s->parallel) {
		old = __atomic_exchange_n(word, own, __ATOMIC_SEQ_CST);
	} else {
		old = *word;
		*word = own;
	}
	if (old != own || !t)
		tell_sharers(s, old, t, cell);
	/* It may have seen the cell while it was alone, unless a thread has written since. */
	if (s->thread_count > FIRST_THREAD && (!s->config.parallel || !by_thread(writer_of(&s->sharing, old))))
		make_pending(s, FIRST_THREAD, t, cell);
	leaves(s, t);
}
