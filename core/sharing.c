/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/sharing.h"
#include "core/quad.h"
#include "core/session.h"
#include "core/stamp.h"
#include "core/thread.h"

#define KEEPERS_MAX 4u           /* a cell with more sharers does not keep its set: locks have many */
#define FIRST_THREAD 1u
#define LINE_CELLS 16u           /* so many words of the directory, or of a thread, are a cache line */
#define SPINS 100u               /* before the host is asked to let others run */

static bool is_kept(uint32_t word)
{
	return slope_sharers_flags(word) & SLOPE_SHARERS_KEPT;
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

void slope_sharing_init(struct slope_sharing *sharing, const struct slope_host *host)
{
	*sharing = (struct slope_sharing){ .lock = 0 };
	slope_sharers_init(&sharing->sharers, host);
	slope_shadow_init(&sharing->directory, host);
}

void slope_sharing_fini(struct slope_sharing *sharing)
{
	slope_shadow_fini(&sharing->directory);
	slope_sharers_fini(&sharing->sharers);
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

/*
 * The thread's word of a cell (quads: the words of so many fours from it on), of which others may be making something else at
 * the same time.
 */
static void change(const struct slope_session *s, struct slope_thread *t, uint64_t cell, unsigned quads,
		   uint32_t (*how)(uint32_t word, uint32_t marks))
{
	uint64_t end = cell + quads * SLOPE_QUAD_WORDS, window = t->shadow.window_cells;
	uint32_t *words = slope_shadow_peek(&t->shadow, cell), marks = slope_session_marks(s), old, next;

	if (SLOPE_UNLIKELY(cell < window && end > window)) {
		while (cell < end)
			change(s, t, cell++, 0, how);
		return;
	}
	/* Who changes many mostly goes on with the next line. */
	if (words && quads >= LINE_CELLS / SLOPE_QUAD_WORDS / 2)
		slope_quad_want(words + LINE_CELLS);
	for (; words && quads; quads--, words += SLOPE_QUAD_WORDS)
		slope_quad_change(words, how, marks);
	if (!words || cell < end)
		return;
	do {
		old = __atomic_load_n(words, __ATOMIC_ACQUIRE);
		next = how(old, marks);
	} while (next != old && !replace(s, words, old, next));
}

/*
 * Words of the directory, from the first of four on, before `end` and up to the end of their cache line: how many fours were
 * `old`, and now are `next`.
 */
static unsigned replace_quads(const struct slope_session *s, uint32_t *words, uint64_t cell, uint64_t end, uint32_t old, uint32_t next)
{
	struct slope_quad was = slope_quad_of(old), is = slope_quad_of(next);
	uint64_t line_end = (cell | (LINE_CELLS - 1)) + 1, window = s->sharing.directory.window_cells;
	unsigned quads = 0;

	if (!s->parallel || (cell < window && line_end > window))
		return 0;
	for (end = line_end < end ? line_end : end; cell + SLOPE_QUAD_WORDS <= end; cell += SLOPE_QUAD_WORDS, quads++) {
		if (!slope_quad_equal(slope_quad_at(words), was) || (old != next && !slope_quad_replace(words, was, is)))
			break;
		words += SLOPE_QUAD_WORDS;
	}
	return quads;
}

/* ---- reads ---- */

/* The word after the thread has joined; 0 when memory runs out. */
static uint32_t joined(struct slope_session *s, struct slope_thread *t, uint32_t word)
{
	if (slope_sharers_flags(word)) {
		uint32_t next = joined(s, t, word & ~SLOPE_SHARERS_FLAGS);
		bool keeps = is_kept(word) && next && slope_sharers_set(&s->sharing.sharers, next)->count <= KEEPERS_MAX;

		return next ? next | (keeps ? SLOPE_SHARERS_KEPT : SLOPE_SHARERS_UNREAD) : 0;
	}
	uint32_t next, at = (slope_sharers_form(word) ^ word << 1) % SLOPE_SHARING_STEPS;

	if (slope_sharers_form(word) < SLOPE_SHARERS_OWNER && !slope_sharers_argument(word))
		return word | t->id;
	if (!s->parallel)
		return slope_sharers_join(&s->sharing.sharers, word, t->id);
	if (t->steps.step[at].from == word)
		return t->steps.step[at].to;
	slope_sharing_lock(s);
	next = slope_sharers_join(&s->sharing.sharers, word, t->id);
	slope_sharing_unlock(s);
	if (next) {
		t->steps.step[at].from = word;
		t->steps.step[at].to = next;
	}
	return next;
}

/* While it was alone, the first thread wrote without telling the directory: slope_sharing_tell. */
static bool first_wrote(struct slope_session *s, const struct slope_thread *reader, uint64_t cell)
{
	struct slope_thread *first = s->thread_count > FIRST_THREAD && !s->parallel ? s->thread[FIRST_THREAD] : NULL;
	const uint32_t *word = first && first != reader ? slope_shadow_peek(&first->shadow, cell) : NULL;
	uint32_t w = word ? *word : 0;

	return w & SLOPE_STAMP_OWN && !slope_stamp_pending(w);
}

/* Somebody else has looked at the cell (quads: as above): the writer's next write must tell. */
static void disown(struct slope_session *s, struct slope_thread *writer, uint64_t cell, unsigned quads)
{
	if (!gone(writer))
		change(s, writer, cell, quads, slope_stamp_not_own);
}

/*
 * A word of the directory becomes `next`, if it still is `old`; so do those around it if they are the same (`quads` fours): who
 * looks at one cell mostly looks at the next ones too, and it may name too many.
 */
static bool join_near(const struct slope_session *s, uint32_t *word, uint64_t cell, uint32_t old, uint32_t next, unsigned *quads)
{
	uint64_t first = slope_quad_first(cell);

	*quads = replace_quads(s, word - (cell - first), first, UINT64_MAX, old, next);
	return *quads || replace(s, word, old, next);
}

uint32_t slope_sharing_join(struct slope_session *s, struct slope_thread *t, uint64_t cell)
{
	uint32_t *word = slope_shadow_cell(&s->sharing.directory, cell), old, from, next, writer;
	unsigned quads = 0;
	bool lost;

	if (!word) {
		slope_session_lose(s, SLOPE_LOST_CELLS, 1);
		return SLOPE_WRITER_NONE;
	}
	enters(s, t);
	do {
		bool alone = first_wrote(s, t, cell);

		old = from = __atomic_load_n(word, __ATOMIC_ACQUIRE);
		writer = slope_sharers_writer(&s->sharing.sharers, from);
		if (alone && writer != FIRST_THREAD)
			from = slope_sharers_word(SLOPE_SHARERS_OWNER, writer = FIRST_THREAD);
		next = t->id != FIRST_THREAD || s->config.parallel ? joined(s, t, from) : from;
		lost = !next && from;
		if (lost) {
			slope_session_lose(s, SLOPE_LOST_CELLS, 1);
			next = from;
		}
	} while (next != old && !join_near(s, word, cell, old, next, &quads));
	if (by_thread(writer) && writer != t->id) {
		struct slope_thread *other = thread_at(s, writer);

		/* It is seen that we visit, where words go with their thread; a replacement says so too. */
		if (s->parallel && next == old && cell >= other->shadow.window_cells)
			__atomic_thread_fence(__ATOMIC_SEQ_CST);
		if (!is_kept(next))
			disown(s, other, quads ? slope_quad_first(cell) : cell, quads);
		t->steps.met = next;
		t->steps.met_by = s->parallel && !lost ? other : NULL;
		t->steps.kept = t->steps.met_by && is_kept(next) ? next : SLOPE_SHARING_NONE;
	}
	t->steps.joined = next;
	leaves(s, t);
	return writer;
}

void slope_sharing_seen(struct slope_thread *t, uint64_t cell, uint32_t *word, uint32_t met)
{
	struct slope_sharing *sharing = &t->session->sharing;
	uint32_t *at = slope_shadow_peek(&sharing->directory, cell), now = at ? __atomic_load_n(at, __ATOMIC_ACQUIRE) : met;
	struct slope_sharer_set set;

	if (SLOPE_LIKELY(now == met))
		return;
	set = slope_sharers_of(&sharing->sharers, now);
	if (!slope_sharers_name(&set, t->id))
		*word = slope_stamp_invalidate(*word, t->marks);
}

static void join_first(struct slope_session *s, uint32_t *word)
{
	uint32_t next = slope_sharers_word(slope_sharers_form(*word), FIRST_THREAD);

	if (slope_sharers_form(*word) >= SLOPE_SHARERS_OWNER || slope_sharers_argument(*word))
		next = slope_sharers_join(&s->sharing.sharers, *word, FIRST_THREAD);
	if (next)
		*word = next;
	else
		slope_session_lose(s, SLOPE_LOST_CELLS, 1);
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
		if (!words[i] || slope_stamp_pending(words[i]) || slope_sharers_writer(&s->sharing.sharers, word[i]) == FIRST_THREAD)
			continue;
		if (words[i] & SLOPE_STAMP_OWN)
			word[i] = slope_sharers_word(SLOPE_SHARERS_OWNER, FIRST_THREAD);
		else
			join_first(s, &word[i]);
	}
}

void slope_sharing_tell(struct slope_session *s)
{
	if (s->thread_count > FIRST_THREAD && s->each_window_word)
		s->each_window_word(s->window_ctx, s->thread[FIRST_THREAD], tell_own, s);
}

/* ---- writes ---- */

/* The word after a write by somebody else; who has never touched the cell will ask anyway. */
static uint32_t told(uint32_t word, uint32_t marks)
{
	return word ? slope_stamp_invalidate(word, marks) : 0;
}

static void make_pending(struct slope_session *s, uint32_t id, const struct slope_thread *writer, uint64_t cell, unsigned quads)
{
	struct slope_thread *t = thread_at(s, id);

	if (t && t != writer && !gone(t))
		change(s, t, cell, quads, told);
}

/* All that the directory's word names, but not the writer itself. */
static void tell_sharers(struct slope_session *s, uint32_t word, const struct slope_thread *writer, uint64_t cell, unsigned quads)
{
	const struct slope_sharer_set *set;

	if (slope_sharers_form(word) != SLOPE_SHARERS_SET) {
		if (slope_sharers_argument(word))
			make_pending(s, slope_sharers_argument(word), writer, cell, quads);
		return;
	}
	set = slope_sharers_set(&s->sharing.sharers, word);
	if (set->count == SLOPE_SHARERS_ALL)
		for (uint32_t id = FIRST_THREAD, end = (uint32_t)__atomic_load_n(&s->thread_count, __ATOMIC_ACQUIRE); id < end; id++)
			make_pending(s, id, writer, cell, quads);
	else
		for (uint32_t i = 0; i < set->count; i++)
			make_pending(s, set->id[i], writer, cell, quads);
}

/* The directory's word was `old` before the write. */
static void tell(struct slope_session *s, uint32_t old, struct slope_thread *t, uint64_t cell, unsigned quads)
{
	tell_sharers(s, old, t, cell, quads);
	/* It may have seen the cell while it was alone; where there are windows, slope_sharing_tell has said so. */
	if (s->thread_count > FIRST_THREAD && (!s->parallel || cell >= s->sharing.directory.window_cells))
		make_pending(s, FIRST_THREAD, t, cell, quads);
}

uint32_t slope_sharing_owned(uint32_t id)
{
	return slope_sharers_word(SLOPE_SHARERS_OWNER, id);
}

/* The directory's word after a write; NULL: the kernel's. */
static uint32_t written_by(const struct slope_thread *t)
{
	return t ? slope_sharing_owned(t->id) : slope_sharers_word(SLOPE_SHARERS_KERNEL, 0);
}

/* Of those that the directory's word names besides the writer, have at least half seen what was there before? */
static bool was_read(const struct slope_session *s, const struct slope_sharer_set *set, uint64_t cell)
{
	uint32_t seen = 0;

	/* It is seen that we visit, where words go with their thread. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	for (uint32_t i = 0; i < set->count; i++) {
		struct slope_thread *t = set->id[i] == set->writer ? NULL : thread_at(s, set->id[i]);
		uint32_t *word = t && !gone(t) ? slope_shadow_peek(&t->shadow, cell) : NULL;
		uint32_t w = 0;

		if (word) {
			slope_quad_want(word);
			w = __atomic_load_n(word, __ATOMIC_ACQUIRE);
		}
		seen += w && !slope_stamp_pending(w);
	}
	return seen && 2 * seen + 1 >= set->count;
}

/* The directory's word when somebody else writes to a cell whose word has flags. 0: there is no memory. */
static uint32_t passed(struct slope_session *s, uint32_t word, uint32_t writer)
{
	slope_sharing_lock(s);
	uint32_t next = slope_sharers_pass(&s->sharing.sharers, word & ~SLOPE_SHARERS_FLAGS, writer);

	slope_sharing_unlock(s);
	return next;
}

/*
 * The directory's word after a write. The writer's own again (or the kernel's), unless others come back for what is written again
 * and again. A cell that has kept its set is nobody's own for another write or more: a reader that has seen the old word, and whose
 * own was not to be seen yet, is told then.
 */
static uint32_t written(struct slope_session *s, const struct slope_thread *t, uint32_t old, uint64_t cell)
{
	uint32_t writer = t ? t->id : SLOPE_WRITER_KERNEL, next = 0;

	if (!s->parallel || slope_sharers_form(old) != SLOPE_SHARERS_SET)
		return written_by(t);
	const struct slope_sharer_set *set = slope_sharers_set(&s->sharing.sharers, old);

	if (set->writer != writer)
		next = slope_sharers_flags(old) ? passed(s, old, writer) : 0;
	else if (set->count > KEEPERS_MAX || !t)
		next = slope_sharers_flags(old) ? old & ~SLOPE_SHARERS_FLAGS : 0;
	else if (was_read(s, set, cell))
		next = (old & ~SLOPE_SHARERS_FLAGS) | SLOPE_SHARERS_KEPT;
	else if (is_kept(old) && slope_sharers_flags(old) != SLOPE_SHARERS_FLAGS)
		next = old + SLOPE_SHARERS_UNREAD;
	return next ? next : written_by(t);
}

/* How many cells from `cell` on, which are alike in the directory, have been written; 0: somebody was faster. */
static uint64_t write_alike(struct slope_session *s, struct slope_thread *t, uint32_t *word, uint64_t cell, uint64_t end, bool *own)
{
	uint32_t old = __atomic_load_n(word, __ATOMIC_ACQUIRE), owned = written_by(t), next = written(s, t, old, cell);
	unsigned quads = cell % SLOPE_QUAD_WORDS == 0 ? replace_quads(s, word, cell, end, old, next) : 0;

	*own = next == owned;
	if (!quads && next != old && !replace(s, word, old, next))
		return 0;
	if (old != owned || !t || !s->parallel)
		tell(s, old, t, cell, quads);
	return quads ? quads * SLOPE_QUAD_WORDS : 1;
}

uint64_t slope_sharing_write_some(struct slope_session *s, struct slope_thread *t, uint64_t cell, uint64_t end, bool *own)
{
	uint32_t *word = slope_shadow_cell(&s->sharing.directory, cell);
	uint64_t cells;

	*own = true;
	if (!word) {
		slope_session_lose(s, SLOPE_LOST_CELLS, 1);
		return 1;
	}
	if (t && s->config.parallel && cell + 1 == end && __atomic_load_n(word, __ATOMIC_ACQUIRE) == slope_sharing_owned(t->id))
		return 1;                /* nobody has looked */
	enters(s, t);
	while (!(cells = write_alike(s, t, word, cell, end, own)))
		;
	leaves(s, t);
	return cells;
}

void slope_sharing_had(struct slope_thread *t, uint64_t cell, uint32_t *word, uint64_t count)
{
	uint32_t own = slope_sharing_owned(t->id);

	/* Who looks sees these words, or we see the directory's after that. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	for (uint64_t i = 0; i < count; i++) {
		const uint32_t *at = slope_shadow_peek(&t->session->sharing.directory, cell + i);

		if (at && __atomic_load_n(at, __ATOMIC_ACQUIRE) != own)
			word[i] = slope_stamp_not_own(word[i], t->marks);
	}
}
