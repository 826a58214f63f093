/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/scarce.h"

#define THREADS 40u              /* more than a set of sharers can name */
#define CELL 100u

struct world {
	struct scarce scarce;
	struct slope_session session;
	struct slope_thread *thread[THREADS + 1];
	uint64_t cost[SLOPE_UNITS_MAX];
};

static void open_world(struct world *w, unsigned threads)
{
	static const struct slope_config config = { .cell_log2 = 0, .units = 1, .metrics = 3 };

	*w = (struct world){ 0 };
	scarce_init(&w->scarce, ENDLESS);
	assert_true(slope_session_init(&w->session, &config, &w->scarce.host));
	for (unsigned id = 1; id <= threads; id++) {
		w->thread[id] = slope_thread_new(&w->session, 0, 0, w->cost);
		assert_non_null(w->thread[id]);
		assert_int_equal(w->thread[id]->id, id);
	}
}

static void close_world(struct world *w)
{
	slope_session_fini(&w->session);
	assert_int_equal(w->scarce.held_bytes, 0);
}

static bool pending(const struct world *w, unsigned id)
{
	uint32_t *word = slope_shadow_peek(&w->thread[id]->shadow, CELL);

	return word && slope_stamp_pending(*word);
}

static void read_cell(struct world *w, unsigned id)
{
	slope_thread_read(w->thread[id], CELL, 1);
}

static void write_cell(struct world *w, unsigned id)
{
	slope_thread_write(w->thread[id], CELL, 1);
}

/* What the thread's root has got so far. */
static void assert_input(const struct world *w, unsigned id, uint64_t thread, uint64_t external)
{
	assert_int_equal(w->thread[id]->frame[0].thread, thread);
	assert_int_equal(w->thread[id]->frame[0].external, external);
}

static void a_write_makes_the_words_of_its_readers_pending(void **state)
{
	struct world w;

	(void)state;
	open_world(&w, 4);
	for (unsigned id = 1; id <= 3; id++)
		read_cell(&w, id);
	write_cell(&w, 2);
	assert_true(pending(&w, 1));
	assert_false(pending(&w, 2));
	assert_true(pending(&w, 3));
	assert_false(pending(&w, 4));                            /* has never seen it */
	for (unsigned id = 1; id <= 4; id++)
		read_cell(&w, id);
	assert_input(&w, 1, 1, 0);
	assert_input(&w, 2, 0, 0);
	assert_input(&w, 3, 1, 0);
	assert_input(&w, 4, 1, 0);
	close_world(&w);
}

static void the_kernel_writes_for_everyone(void **state)
{
	struct world w;

	(void)state;
	open_world(&w, 3);
	write_cell(&w, 2);
	slope_session_kernel_write(&w.session, CELL, 1);
	for (unsigned id = 1; id <= 3; id++) {
		read_cell(&w, id);
		read_cell(&w, id);
		assert_input(&w, id, 0, 1);
	}
	close_world(&w);
}

static void the_own_mark_goes_when_another_looks(void **state)
{
	struct world w;
	uint32_t *word;

	(void)state;
	open_world(&w, 2);
	write_cell(&w, 2);
	word = slope_shadow_peek(&w.thread[2]->shadow, CELL);
	assert_true(*word & SLOPE_STAMP_OWN);
	read_cell(&w, 1);
	assert_false(*word & SLOPE_STAMP_OWN);
	write_cell(&w, 2);                                       /* must tell thread 1 */
	assert_true(*word & SLOPE_STAMP_OWN);
	assert_true(pending(&w, 1));
	close_world(&w);
}

static void more_readers_than_a_set_names(void **state)
{
	struct world w;

	(void)state;
	open_world(&w, THREADS);
	for (uint64_t round = 0; round < 3; round++) {
		for (unsigned id = 1; id <= THREADS; id++)
			read_cell(&w, id);
		write_cell(&w, 1 + (unsigned)round);
		for (unsigned id = 1; id <= THREADS; id++)
			assert_int_equal(pending(&w, id), id != 1 + round);
	}
	assert_input(&w, THREADS, 2, 0);
	close_world(&w);
}

static void sets_are_shared_between_cells(void **state)
{
	struct world w;

	(void)state;
	open_world(&w, 8);
	for (uint64_t cell = 0; cell < 5000; cell++)
		for (unsigned id = 2; id <= 8; id++)
			slope_thread_read(w.thread[id], 1000 + cell, 1);
	assert_in_range(w.session.sharing.sharers.count, 1, 8);
	close_world(&w);
}

/* The k-th of the 12 that look at a cell: others, in another order, for each cell. */
static unsigned looker(uint64_t cell, unsigned k)
{
	return 2 + (unsigned)(slope_mix64(cell * 16 + k + 1) % (THREADS - 1));
}

static void too_many_sets_mean_all_threads(void **state)
{
	struct world w;

	(void)state;
	open_world(&w, THREADS);
	for (uint64_t cell = 0; cell < 20000; cell++)
		for (unsigned k = 0; k < 12; k++)
			slope_thread_read(w.thread[looker(cell, k)], cell, 1);
	assert_in_range(w.session.sharing.sharers.count, 65536, 65536 + THREADS);
	for (uint64_t cell = 0; cell < 20000; cell++) {
		slope_thread_write(w.thread[1], cell, 1);
		for (unsigned k = 0; k < 12; k++)
			assert_true(slope_stamp_pending(*slope_shadow_peek(&w.thread[looker(cell, k)]->shadow, cell)));
	}
	close_world(&w);
}

static void ended_threads_are_left_alone(void **state)
{
	struct world w;

	(void)state;
	open_world(&w, 4);
	read_cell(&w, 3);
	write_cell(&w, 2);
	slope_thread_end(w.thread[2], w.cost);
	slope_thread_end(w.thread[3], w.cost);
	read_cell(&w, 4);
	assert_input(&w, 4, 1, 0);
	write_cell(&w, 1);
	read_cell(&w, 4);
	assert_input(&w, 4, 2, 0);
	close_world(&w);
}

static void without_memory_every_missed_look_is_counted(void **state)
{
	(void)state;
	for (size_t i = 0; i < 40; i++) {
		size_t pages = i < 39 ? i : ENDLESS;
		struct world w;
		uint64_t induced = 0, lost;

		open_world(&w, THREADS);
		w.scarce.left = pages;
		for (int round = 0; round < 3; round++)
			for (unsigned id = 1; id <= THREADS; id++) {
				read_cell(&w, id);
				if (id % 7 == 0)
					write_cell(&w, id);
			}
		for (unsigned id = 1; id <= THREADS; id++)
			induced += w.thread[id]->frame[0].thread;
		lost = w.session.lost[SLOPE_LOST_CELLS];
		assert_true(lost || induced == 33 + 40 + 40);         /* all but the first seven, then all */
		assert_int_equal(lost == 0, pages == ENDLESS);
		close_world(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_write_makes_the_words_of_its_readers_pending),
		cmocka_unit_test(the_kernel_writes_for_everyone),
		cmocka_unit_test(the_own_mark_goes_when_another_looks),
		cmocka_unit_test(more_readers_than_a_set_names),
		cmocka_unit_test(sets_are_shared_between_cells),
		cmocka_unit_test(too_many_sets_mean_all_threads),
		cmocka_unit_test(ended_threads_are_left_alone),
		cmocka_unit_test(without_memory_every_missed_look_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
