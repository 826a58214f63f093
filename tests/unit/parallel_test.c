/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads that run at once in the core. Real ones report accesses that a
 * program has put in order, with barriers; what they count is exact, however
 * the machine mixes them.
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include "core/thread.h"
#include "profile/host.h"

#define READERS 4u
#define CELLS 256u
#define ROUNDS 300u
#define READS 20u                /* by the writer itself, a round */
#define WINDOW_CELLS 4096u

struct world {
	struct slope_host host;
	struct slope_session session;
	struct slope_thread *writer, *reader[READERS];
	pthread_barrier_t barrier;
	pthread_mutex_t lock;            /* what a source must serialize */
	uint64_t cost[SLOPE_UNITS_MAX];
	bool windows;                    /* of the readers */
};

struct one {
	struct world *world;
	unsigned number;
	unsigned wrong;              /* what a thread of its own has found */
};

static void let_others_run(void *ctx)
{
	(void)ctx;
	sched_yield();
}

static void give_window(struct slope_shadow *shadow)
{
	shadow->window = calloc(WINDOW_CELLS, sizeof *shadow->window);
	assert_non_null(shadow->window);
	shadow->window_cells = WINDOW_CELLS;
}

static void each_window_word(void *ctx, struct slope_thread *t, void (*visit)(void *arg, uint32_t *words, size_t count), void *arg)
{
	(void)ctx;
	if (t->shadow.window)
		visit(arg, t->shadow.window, WINDOW_CELLS);
}

static void open_world(struct world *w, bool windows, uint32_t stamp_limit)
{
	struct slope_config config = { .units = 1, .metrics = 3, .parallel = true, .stamp_limit = stamp_limit };

	*w = (struct world){ .windows = windows, .host = slope_system_host };
	w->host.yield = let_others_run;
	assert_true(slope_session_init(&w->session, &config, &w->host));
	w->session.each_window_word = each_window_word;
	give_window(&w->session.sharing.directory);
	slope_session_parallel(&w->session);
	w->writer = slope_thread_new(&w->session, 0, 0, w->cost);
	give_window(&w->writer->shadow);
	for (unsigned i = 0; i < READERS; i++) {
		w->reader[i] = slope_thread_new(&w->session, 1, 0, w->cost);
		assert_non_null(w->reader[i]);
		if (windows)
			give_window(&w->reader[i]->shadow);
	}
	pthread_barrier_init(&w->barrier, NULL, READERS + 1);
	pthread_mutex_init(&w->lock, NULL);
}

static void close_world(struct world *w)
{
	uint32_t *directory = w->session.sharing.directory.window, *first = w->writer->shadow.window, *other[READERS] = { NULL };

	for (unsigned i = 0; w->windows && i < READERS; i++)
		other[i] = w->reader[i]->shadow.window;
	slope_session_fini(&w->session);
	free(directory);
	free(first);
	for (unsigned i = 0; i < READERS; i++)
		free(other[i]);
}

static void read_all(struct world *w, struct slope_thread *t)
{
	slope_thread_enter(t, SLOPE_FN_ROOT, 0, 0, w->cost);
	for (unsigned cell = 0; cell < CELLS; cell++)
		slope_thread_read(t, cell, 1);
	slope_thread_leave(t, w->cost);
}

static void write_all(struct world *w, struct slope_thread *t)
{
	slope_thread_enter(t, SLOPE_FN_ROOT, 0, 0, w->cost);
	for (unsigned cell = 0; cell < CELLS; cell++)
		slope_thread_write(t, cell, 1);
	slope_thread_leave(t, w->cost);
}

static void *run_reader(void *arg)
{
	struct one *one = arg;
	struct world *w = one->world;

	for (unsigned round = 0; round < ROUNDS; round++) {
		pthread_barrier_wait(&w->barrier);
		read_all(w, w->reader[one->number]);
		pthread_barrier_wait(&w->barrier);
	}
	return NULL;
}

/* Between the barriers the writer itself reads what it has written, as the others do. */
static void run_all(struct world *w)
{
	pthread_t thread[READERS];
	struct one one[READERS];

	for (unsigned i = 0; i < READERS; i++) {
		one[i] = (struct one){ .world = w, .number = i };
		assert_int_equal(pthread_create(&thread[i], NULL, run_reader, &one[i]), 0);
	}
	for (unsigned round = 0; round < ROUNDS; round++) {
		write_all(w, w->writer);
		pthread_barrier_wait(&w->barrier);
		for (unsigned i = 0; i < READS; i++)
			read_all(w, w->writer);
		pthread_barrier_wait(&w->barrier);
	}
	for (unsigned i = 0; i < READERS; i++)
		pthread_join(thread[i], NULL);
}

static void assert_exact(const struct world *w)
{
	for (unsigned i = 0; i < READERS; i++) {
		assert_int_equal(w->reader[i]->frame[0].thread, (uint64_t)CELLS * ROUNDS);
		assert_int_equal(w->reader[i]->frame[0].rms + w->reader[i]->frame[0].extra, (int64_t)CELLS * ROUNDS);
	}
	assert_int_equal(w->writer->frame[0].thread, 0);
	assert_int_equal(w->writer->frame[0].rms, 0);
}

static void readers_at_once_see_every_write_once(void **state)
{
	struct world w;

	(void)state;
	open_world(&w, true, 0);
	run_all(&w);
	assert_exact(&w);
	close_world(&w);
}

static void so_do_threads_without_a_window(void **state)
{
	struct world w;

	(void)state;
	open_world(&w, false, 0);
	run_all(&w);
	assert_exact(&w);
	close_world(&w);
}

static void numbering_anew_loses_nothing_that_others_do(void **state)
{
	struct world w;

	(void)state;
	open_world(&w, false, 64);
	run_all(&w);
	assert_exact(&w);
	assert_true(w.session.renumberings > READERS);
	close_world(&w);
}

static void *come_and_go(void *arg)
{
	struct one *one = arg;
	struct world *w = one->world;

	for (unsigned round = 0; round < ROUNDS; round++) {
		pthread_mutex_lock(&w->lock);
		struct slope_thread *t = slope_thread_new(&w->session, 1, 0, w->cost);

		pthread_mutex_unlock(&w->lock);
		read_all(w, t);
		if (round % 3 == 0)
			write_all(w, t);
		slope_thread_end(t, w->cost);
	}
	return NULL;
}

/* These race: what counts is that nobody touches the words of one that is gone. */
static void threads_end_while_others_ask_for_their_words(void **state)
{
	pthread_t thread[READERS];
	struct one one[READERS];
	struct world w;

	(void)state;
	open_world(&w, false, 0);
	for (unsigned i = 0; i < READERS; i++) {
		one[i] = (struct one){ .world = &w, .number = i };
		assert_int_equal(pthread_create(&thread[i], NULL, come_and_go, &one[i]), 0);
	}
	for (unsigned i = 0; i < READERS; i++)
		pthread_join(thread[i], NULL);
	assert_int_equal(w.session.thread_count, 1 + 1 + READERS + READERS * ROUNDS);
	for (int i = 0; i < SLOPE_LOST_COUNT; i++)
		assert_int_equal(w.session.lost[i], 0);
	close_world(&w);
}

/* A source has a lock for the session's tables, and the directory's sets have another: they must not share an arena. */
static void sets_take_no_memory_of_the_sessions(void **state)
{
	struct world w;

	(void)state;
	open_world(&w, false, 0);
	write_all(&w, w.writer);
	const unsigned char *bump = w.session.arena.bump;
	size_t held = w.session.arena.held_bytes;

	for (unsigned i = 0; i < READERS; i++)
		read_all(&w, w.reader[i]);
	assert_true(w.session.sharing.sharers.count >= READERS - 1);
	assert_ptr_equal(w.session.arena.bump, bump);
	assert_int_equal(w.session.arena.held_bytes, held);
	close_world(&w);
}

/* ---- readers close behind a writer ---- */

#define FOLLOWERS 1u
#define HANDED (400 * ROUNDS * LINE)      /* cells, one after the other, round and round in two lines */
#define LINE 16u

struct follower {
	struct world *world;
	struct slope_thread *thread;
	const unsigned *written;
	unsigned read;
};

static void wait_until(const unsigned *count, unsigned least)
{
	for (unsigned tries = 0; __atomic_load_n(count, __ATOMIC_ACQUIRE) < least; tries++)
		if (tries > 200)
			sched_yield();
}

static void *follow(void *arg)
{
	struct follower *f = arg;

	for (unsigned i = 0; i < HANDED; i++) {
		wait_until(f->written, i + 1);
		slope_thread_read(f->thread, i % (2 * LINE), 1);
		__atomic_store_n(&f->read, i + 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

/* What a read does to the other cells of its line must be right for those that are just being written. */
static void readers_close_behind_see_every_write_once(void **state)
{
	struct follower follower[FOLLOWERS];
	pthread_t thread[FOLLOWERS];
	unsigned written = 0;
	struct world w;

	(void)state;
	open_world(&w, true, 0);
	for (unsigned i = 0; i < FOLLOWERS; i++) {
		follower[i] = (struct follower){ &w, w.reader[i], &written, 0 };
		assert_int_equal(pthread_create(&thread[i], NULL, follow, &follower[i]), 0);
	}
	for (unsigned i = 0; i < HANDED; i++) {
		for (unsigned k = 0; k < FOLLOWERS && i >= 2 * LINE; k++)
			wait_until(&follower[k].read, i - 2 * LINE + 1);
		slope_thread_write(w.writer, i % (2 * LINE), 1);
		__atomic_store_n(&written, i + 1, __ATOMIC_RELEASE);
	}
	for (unsigned i = 0; i < FOLLOWERS; i++)
		pthread_join(thread[i], NULL);
	for (unsigned i = 0; i < FOLLOWERS; i++)
		assert_int_equal(w.reader[i]->frame[0].thread, HANDED);
	close_world(&w);
}

/* ---- accesses that race, and then some that do not ---- */

#define RACES 2000u
#define RACING 40u               /* accesses of either, in a race */

static void *race(void *arg)
{
	struct one *one = arg;
	struct world *w = one->world;
	struct slope_thread *t = w->reader[one->number];

	for (unsigned round = 0; round < RACES; round++) {
		pthread_barrier_wait(&w->barrier);
		for (unsigned i = 0; i < RACING; i++)
			slope_thread_read(t, i % LINE, 1);
		pthread_barrier_wait(&w->barrier);
		slope_thread_read(t, 0, LINE);
		uint64_t before = t->frame[0].thread;

		pthread_barrier_wait(&w->barrier);
		pthread_barrier_wait(&w->barrier);
		slope_thread_read(t, 0, LINE);
		one->wrong += t->frame[0].thread - before != LINE;
	}
	return NULL;
}

/* How often a race counts nobody can say; what is in order afterwards counts once, whatever the race has left. */
static void a_race_does_no_lasting_harm(void **state)
{
	pthread_t thread[READERS];
	struct one one[READERS];
	struct world w;

	(void)state;
	open_world(&w, true, 0);
	for (unsigned i = 0; i < READERS; i++) {
		one[i] = (struct one){ .world = &w, .number = i };
		assert_int_equal(pthread_create(&thread[i], NULL, race, &one[i]), 0);
	}
	for (unsigned round = 0; round < RACES; round++) {
		pthread_barrier_wait(&w.barrier);
		for (unsigned i = 0; i < RACING; i++)
			slope_thread_write(w.writer, round % 3 ? i % LINE : 0, round % 3 ? 1 : LINE);
		pthread_barrier_wait(&w.barrier);
		pthread_barrier_wait(&w.barrier);
		slope_thread_write(w.writer, 0, round % 2 ? LINE : 1);
		for (unsigned cell = 1; cell < LINE; cell++)
			slope_thread_write(w.writer, cell, 1);
		pthread_barrier_wait(&w.barrier);
	}
	for (unsigned i = 0; i < READERS; i++) {
		pthread_join(thread[i], NULL);
		assert_int_equal(one[i].wrong, 0);
	}
	close_world(&w);
}

/* ---- buffers that are filled and read again and again ---- */

static void fill(struct world *w)
{
	slope_thread_write(w->writer, 0, LINE);
}

/* What reader `i` has got from others when it reads the line. */
static uint64_t drain(struct world *w, unsigned i)
{
	struct slope_thread *t = w->reader[i];
	uint64_t before = t->frame[0].thread;

	slope_thread_read(t, 0, LINE);
	return t->frame[0].thread - before;
}

/* The directory's word of all of the line. */
static uint32_t word_of_line(const struct world *w)
{
	const uint32_t *word = w->session.sharing.directory.window;

	for (unsigned i = 1; i < LINE; i++)
		assert_int_equal(word[i], word[0]);
	return word[0];
}

/* A line that keeps its set: the writer's and the first reader's. */
static uint32_t open_kept(struct world *w)
{
	open_world(w, true, 0);
	for (unsigned i = 0; i < 3; i++) {
		fill(w);
		assert_int_equal(drain(w, 0), LINE);
	}
	assert_true(slope_sharers_flags(word_of_line(w)) & SLOPE_SHARERS_KEPT);
	return word_of_line(w);
}

static void a_buffer_keeps_its_set(void **state)
{
	struct world w;
	uint32_t kept = open_kept(&w);

	(void)state;
	for (unsigned i = 0; i < 10; i++) {
		fill(&w);
		assert_int_equal(word_of_line(&w), kept);
		assert_int_equal(drain(&w, 0), LINE);
		assert_int_equal(word_of_line(&w), kept);
		assert_int_equal(drain(&w, 0), 0);
	}
	close_world(&w);
}

static void what_nobody_reads_is_the_writers_own_again(void **state)
{
	struct world w;
	unsigned writes = 0;

	(void)state;
	open_kept(&w);
	for (; word_of_line(&w) != slope_sharing_owned(w.writer->id); writes++)
		fill(&w);
	assert_in_range(writes, 2, 6);
	assert_int_equal(drain(&w, 0), LINE);
	fill(&w);
	assert_int_equal(drain(&w, 0), LINE);
	close_world(&w);
}

static void others_may_come_to_what_is_kept(void **state)
{
	struct world w;

	(void)state;
	open_kept(&w);
	fill(&w);
	for (unsigned i = 0; i < READERS; i++)
		assert_int_equal(drain(&w, i), LINE);
	fill(&w);
	/* A reader writes: to the other readers and to the writer that is new, once. */
	slope_thread_write(w.reader[1], 0, LINE);
	for (unsigned i = 0; i < READERS; i++)
		assert_int_equal(drain(&w, i), i == 1 ? 0 : LINE);
	uint64_t before = w.writer->frame[0].thread;

	slope_thread_read(w.writer, 0, LINE);
	assert_int_equal(w.writer->frame[0].thread - before, LINE);
	/* The kernel writes: new to everyone, and from no thread. */
	slope_session_kernel_write(&w.session, 0, LINE);
	for (unsigned i = 0; i < READERS; i++)
		assert_int_equal(drain(&w, i), 0);
	assert_int_equal(w.reader[1]->frame[0].external, LINE);
	fill(&w);
	for (unsigned i = 0; i < READERS; i++)
		assert_int_equal(drain(&w, i), LINE);
	close_world(&w);
}

/* Sixteen cells and their neighbours, written at once and read one by one, or the other way round. */
static void what_is_written_at_once_counts_cell_by_cell(void **state)
{
	struct world w;

	(void)state;
	for (unsigned first = 1; first < 20; first++) {
		open_world(&w, true, 0);
		for (unsigned round = 1; round < 4; round++) {
			slope_thread_write(w.writer, first, 23);
			for (unsigned i = 0; i < READERS; i++) {
				for (unsigned cell = first - 1; cell < first + 24; cell++)
					slope_thread_read(w.reader[i], cell, 1);
				assert_int_equal(w.reader[i]->frame[0].thread, 23 * round);
			}
		}
		slope_session_kernel_write(&w.session, first, 19);
		for (unsigned i = 0; i < READERS; i++) {
			slope_thread_read(w.reader[i], first - 1, 25);
			assert_int_equal(w.reader[i]->frame[0].thread, 23 * 3);
			assert_int_equal(w.reader[i]->frame[0].external, 19);
		}
		close_world(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(readers_at_once_see_every_write_once),
		cmocka_unit_test(so_do_threads_without_a_window),
		cmocka_unit_test(numbering_anew_loses_nothing_that_others_do),
		cmocka_unit_test(readers_close_behind_see_every_write_once),
		cmocka_unit_test(a_race_does_no_lasting_harm),
		cmocka_unit_test(a_buffer_keeps_its_set),
		cmocka_unit_test(what_nobody_reads_is_the_writers_own_again),
		cmocka_unit_test(others_may_come_to_what_is_kept),
		cmocka_unit_test(what_is_written_at_once_counts_cell_by_cell),
		cmocka_unit_test(threads_end_while_others_ask_for_their_words),
		cmocka_unit_test(sets_take_no_memory_of_the_sessions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
