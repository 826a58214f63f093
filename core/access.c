/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Memory accesses of a thread: the first paper's latest-access algorithm, and
 * the second paper's induced input on top of it (see core/stamp.h and
 * core/sharing.h for how the words are read). Renumbering is here too, since
 * it must keep what the words mean.
 */
#include "core/access.h"
#include "core/quad.h"

/* In two words; those that are pending never have it. */
#define OWN (UINT64_C(0x0000000100000001) * SLOPE_STAMP_OWN)

#define LINE_CELLS 16u
#define NEAR_FRAMES 6u           /* so far down, a scan beats a binary search */

/* Near the top, or by binary search. */
size_t slope_thread_owner(const struct slope_thread *t, uint32_t s)
{
	const struct slope_frame *frame = t->frame;
	size_t lo = 0, hi = slope_thread_depth(t) - 1;

	for (size_t near = 0; hi && near < NEAR_FRAMES; near++)
		if (frame[--hi].stamp <= s)
			return hi;
	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;

		if (frame[mid].stamp <= s)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

/* The same for a cell that moves to the top: where one came from, more will. */
static struct slope_frame *loser_of(struct slope_thread *t, uint32_t s)
{
	t->hint = t->frame + slope_thread_owner(t, s);
	t->hint_stamp = t->hint->stamp;
	t->hint_span = t->hint[1].stamp - t->hint_stamp;
	return t->hint;
}

/* The last writer of a cell that the thread has not seen since; it sees it now. */
static uint32_t new_to(struct slope_thread *t, uint64_t cell, bool pending)
{
	struct slope_session *s = t->session;
	uint32_t writer = pending ? SLOPE_WRITER_KERNEL : SLOPE_WRITER_NONE;

	if (!(s->config.metrics & 1u << SLOPE_METRIC_TRMS))
		return SLOPE_WRITER_NONE;
	if (s->shared)
		writer = slope_sharing_join(s, t, cell);
	if (writer == SLOPE_WRITER_NONE && s->range_count && slope_session_in_file(s, cell << s->config.cell_log2))
		writer = SLOPE_WRITER_KERNEL;
	return writer == t->id ? SLOPE_WRITER_NONE : writer;
}

static void count_induced(struct slope_frame *top, uint32_t writer)
{
	if (writer == SLOPE_WRITER_NONE)
		return;
	slope_frame_induced(top);
	if (writer == SLOPE_WRITER_KERNEL)
		top->external++;
	else
		top->thread++;
}

void slope_thread_read_stale(struct slope_thread *t, uint64_t cell, uint32_t *word)
{
	struct slope_frame *top = t->top;
	uint32_t w = *word, seen = slope_stamp_seen(slope_thread_stamp(t), t->marks);

	if (SLOPE_LIKELY(w - 1 < SLOPE_PENDING - 1)) {
		/* A first read for the top, but not for the activation that touched it last. */
		slope_frame_add(top, 1);
		slope_frame_add(loser_of(t, w), -1);
		*word = w & t->own_kept ? slope_thread_stamp(t) : seen;
		return;
	}
	bool pending = slope_stamp_pending(w);
	uint32_t old = pending ? slope_stamp_before(w) : 0;

	count_induced(top, new_to(t, cell, pending));
	if (old >= slope_thread_stamp(t)) {
		slope_frame_induced(top);
		top->extra++;            /* new data in a cell that is not new */
	} else {
		slope_frame_add(top, 1);
		if (old >= t->frame->stamp) {
			struct slope_frame *owner = loser_of(t, old);

			slope_frame_add(owner, -1);
			slope_frame_induced(owner);
			owner->extra++;  /* new to all of the stack */
		}
	}
	if (t->session->parallel && t->metrics & 1u << SLOPE_METRIC_TRMS) {
		__atomic_store_n(word, seen, __ATOMIC_SEQ_CST);
		slope_sharing_seen(t, cell, word, t->steps.joined);
	} else {
		*word = seen;
	}
}

SLOPE_APART void slope_thread_read_apart(struct slope_thread *t, uint64_t cell, uint32_t *word, uint64_t count)
{
	slope_thread_read_words(t, cell, word, count);
}

/* The thread's own word becomes `top`. False: somebody else has looked at the cell just now, and it is its own no more. */
static bool keep_own(const struct slope_thread *t, uint32_t *word, uint32_t w, uint32_t top)
{
	if (t->session->parallel)
		return __atomic_compare_exchange_n(word, &w, top, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	*word = top;
	return true;
}

void slope_thread_write_shared(struct slope_thread *t, uint64_t cell, uint32_t *word)
{
	uint32_t w = *word, top = slope_thread_stamp(t);
	bool own = true;

	if (!slope_stamp_pending(w) && w & SLOPE_STAMP_OWN && keep_own(t, word, w, top))
		return;
	slope_sharing_write_some(t->session, t, cell, cell + 1, &own);
	*word = own ? top : slope_stamp_seen(top, t->marks);
	if (own && t->session->parallel)
		slope_sharing_had(t, cell, word, 1);
}

void slope_thread_read(struct slope_thread *t, uint64_t address, uint64_t bytes)
{
	unsigned log2 = t->session->config.cell_log2;
	uint64_t cell = address >> log2, last = (address + bytes - 1) >> log2;

	if (!bytes)
		return;
	if (SLOPE_LIKELY(last < t->shadow.window_cells)) {
		slope_thread_read_words(t, cell, t->shadow.window + cell, last - cell + 1);
		return;
	}
	for (; cell <= last; cell++) {
		uint32_t *word = slope_shadow_cell(&t->shadow, cell);

		if (SLOPE_UNLIKELY(!word))
			slope_session_lose(t->session, SLOPE_LOST_CELLS, 1);
		else
			slope_thread_read_words(t, cell, word, 1);
	}
}

/* Two words side by side, the first one in the lower half. */
static uint64_t pair_at(const uint32_t *word)
{
	uint64_t pair;

	__builtin_memcpy(&pair, word, sizeof pair);
	return pair;
}

/* How many of the `count` words at least are not the thread's own: all, or those before a four that has one that is. */
static uint64_t foreign_words(const uint32_t *word, uint64_t count)
{
	uint64_t n = 0;

	while (count - n >= SLOPE_QUAD_WORDS && !((pair_at(word + n) | pair_at(word + n + 2)) & OWN))
		n += SLOPE_QUAD_WORDS;
	return n;
}

/* Four words that are all the thread's own become `top`, as keep_own says. */
static bool keep_own_four(const struct slope_thread *t, uint32_t *words, struct slope_quad top)
{
	struct slope_quad q = slope_quad_at(words);

	if ((q.low & q.high & OWN) != OWN)
		return false;
	if (t->session->parallel)
		return slope_quad_replace(words, q, top);
	__builtin_memcpy(words, &top, sizeof top);
	return true;
}

/* Where others may have seen the cells: what is the thread's own needs no question, of the rest as many as can be at once. */
static void write_window_shared(struct slope_thread *t, uint64_t cell, uint64_t count)
{
	uint32_t *word = t->shadow.window + cell, top = slope_thread_stamp(t), seen = slope_stamp_seen(top, t->marks);
	struct slope_quad four = slope_quad_of(top);
	uint64_t i = 0;
	bool own;

	while (i < count) {
		if (count - i >= SLOPE_QUAD_WORDS && (cell + i) % SLOPE_QUAD_WORDS == 0 && keep_own_four(t, word + i, four)) {
			i += SLOPE_QUAD_WORDS;
			continue;
		}
		uint64_t left = count - i < LINE_CELLS ? count - i : LINE_CELLS, some = foreign_words(word + i, left);

		if (!some) {
			slope_thread_write_shared(t, cell + i, &word[i]);
			i++;
			continue;
		}
		some = slope_sharing_write_some(t->session, t, cell + i, cell + i + some, &own);
		for (uint64_t k = 0; k < some; k++)
			word[i + k] = own ? top : seen;
		if (own && t->session->parallel)
			slope_sharing_had(t, cell + i, word + i, some);
		i += some;
	}
}

static void write_window(struct slope_thread *t, uint64_t cell, uint64_t count)
{
	uint32_t *word = t->shadow.window + cell, top = slope_thread_stamp(t);
	uint64_t both = (uint64_t)top << 32 | top, i = 0;

	for (; i + 1 < count; i += 2)
		__builtin_memcpy(&word[i], &both, sizeof both);
	if (i < count)
		word[i] = top;
}

void slope_thread_write(struct slope_thread *t, uint64_t address, uint64_t bytes)
{
	unsigned log2 = t->session->config.cell_log2;
	bool shared = t->session->shared && t->session->config.metrics & 1u << SLOPE_METRIC_TRMS;
	uint64_t cell = address >> log2, last = (address + bytes - 1) >> log2;

	if (!bytes)
		return;
	if (SLOPE_LIKELY(last < t->shadow.window_cells)) {
		if (shared)
			write_window_shared(t, cell, last - cell + 1);
		else
			write_window(t, cell, last - cell + 1);
		return;
	}
	for (; cell <= last; cell++) {
		uint32_t *word = slope_shadow_cell(&t->shadow, cell);

		if (SLOPE_UNLIKELY(!word))
			slope_session_lose(t->session, SLOPE_LOST_CELLS, 1);
		else if (shared)
			slope_thread_write_shared(t, cell, word);
		else
			*word = slope_thread_stamp(t);
	}
}

/* The new stamp of the activations that have the same old stamp as `at`: by the deepest of them. */
static uint32_t new_stamp(const struct slope_thread *t, size_t at)
{
	size_t lo = 0, hi = at;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (t->frame[mid].stamp < t->frame[at].stamp)
			lo = mid + 1;
		else
			hi = mid;
	}
	return slope_stamp_number((uint32_t)lo, t->marks);
}

static void restamp(void *arg, uint32_t *words, size_t count)
{
	struct slope_thread *t = arg;
	uint32_t top = t->top->stamp, new_top = new_stamp(t, slope_thread_depth(t) - 1);
	uint32_t from = top, span = SLOPE_STAMP_LIMIT - top, fresh_from = new_top;

	for (size_t i = 0; i < count; i++) {
		uint32_t w = __atomic_load_n(&words[i], __ATOMIC_RELAXED), flag = slope_stamp_pending(w) ? SLOPE_PENDING : 0;
		uint32_t s = w - flag;

		if (s < t->frame->stamp)
			continue;
		/* Most have the same owner as the one before. */
		if (s - from >= span) {
			size_t owner = s >= top ? slope_thread_depth(t) - 1 : slope_thread_owner(t, s);

			from = t->frame[owner].stamp;
			span = (s >= top ? SLOPE_STAMP_LIMIT : t->frame[owner + 1].stamp) - from;
			fresh_from = s >= top ? new_top : new_stamp(t, owner);
		}
		uint32_t fresh = fresh_from;

		fresh = flag + (s & SLOPE_STAMP_OWN ? fresh : slope_stamp_seen(fresh, t->marks));
		if (!t->session->parallel)
			words[i] = fresh;
		else if (!__atomic_compare_exchange_n(&words[i], &w, fresh, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			i--;             /* somebody else has looked at it, or written it: once more */
	}
}

void slope_thread_renumber(struct slope_thread *t)
{
	struct slope_session *s = t->session;

	slope_log_settle(t);
	slope_shadow_each(&t->shadow, restamp, t);
	if (s->each_window_word)
		s->each_window_word(s->window_ctx, t, restamp, t);
	uint32_t old = 0, fresh = 0;

	for (size_t i = 0; i < slope_thread_depth(t); i++) {
		if (t->frame[i].stamp != old)
			fresh = slope_stamp_number((uint32_t)i, t->marks);
		old = t->frame[i].stamp;
		t->frame[i].stamp = t->frame[i].stamp_again = fresh;
	}
	t->other_calls = slope_thread_calls(t) - slope_thread_depth(t);
	slope_thread_set_clock(t, slope_stamp_number((uint32_t)slope_thread_depth(t), t->marks));
	t->hint_span = 0;
	__atomic_fetch_add(&s->renumberings, 1, __ATOMIC_RELAXED);
}

void slope_thread_make_room(struct slope_thread *t)
{
	if (t->clock >= slope_stamp_number((uint32_t)(2 * slope_thread_depth(t) + 8), t->marks))
		slope_thread_renumber(t);
}
