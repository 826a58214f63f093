/* SPDX-License-Identifier: GPL-3.0-or-later */
/* First reads in the log: the same sizes as without one, whatever happens to the log meanwhile. Cells are bytes here. */
#include "core/log.h"
#include "sources/logvectors.h"
#include "tests/unit/scarce.h"

#define ENTRIES (SLOPE_LOG_BYTES / sizeof(uint32_t))
#define STACK_TOP 1000000u
#define FUNCTIONS 5u

struct world {
	struct scarce scarce;
	struct slope_session session;
	struct slope_thread *thread;
	uint64_t cost[SLOPE_UNITS_MAX];
	uint32_t fn[FUNCTIONS];
	uint32_t log[ENTRIES + 16];
	uint64_t end;
};

#define RUN 16u

/* What a source with vectors does, entry by entry. */
static size_t keep(uint32_t *entry, size_t count, uint32_t stamp, uint32_t top, size_t *counted)
{
	size_t kept = 0;

	*counted = 0;
	for (size_t n = 0; n < count; n++) {
		*counted += entry[n] < top;
		if (entry[n] < stamp)
			entry[kept++] = entry[n];
	}
	return kept;
}

static size_t pass(const uint32_t *entry, size_t count, uint32_t top, uint32_t from, uint32_t span, size_t *counted)
{
	size_t n = 0, older = 0, passed = 0;

	for (*counted = 0; n < count; n++) {
		if (entry[n] < top && entry[n] - from >= span)
			return passed;
		older += entry[n] < top;
		if ((n + 1) % RUN == 0) {
			passed = n + 1;
			*counted = older;
		}
	}
	*counted = older;
	return count;
}

static const struct slope_log_scans scans = { keep, pass };

static void open_world(struct world *w, bool with_log)
{
	static const char *const name[FUNCTIONS] = { "f", "g", "h", "i", "j" };
	const struct slope_config config = { .cell_log2 = 0, .units = 1, .metrics = 1u << SLOPE_METRIC_RMS };

	*w = (struct world){ .end = 99 };
	scarce_init(&w->scarce, ENDLESS);
	assert_true(slope_session_init(&w->session, &config, &w->scarce.host));
	for (uint32_t i = 0; i < FUNCTIONS; i++)
		w->fn[i] = slope_session_function(&w->session, 0, 16 * (i + 1), 0, name[i]);
	w->thread = slope_thread_new(&w->session, 0, 1, w->cost);
	assert_non_null(w->thread);
	if (with_log)
		slope_log_set(w->thread, w->log, &w->end, NULL);
}

static void close_world(struct world *w)
{
	slope_session_fini(&w->session);
	assert_int_equal(w->scarce.held_bytes, 0);
}

static void enter(struct world *w, uint32_t i)
{
	slope_thread_enter(w->thread, w->fn[i], STACK_TOP - 16 * slope_thread_depth(w->thread), 0, w->cost);
}

static void leave(struct world *w)
{
	slope_thread_leave(w->thread, w->cost);
}

static uint64_t input(const struct world *w, uint32_t i)
{
	struct slope_totals sum;

	slope_thread_settle(w->thread);
	slope_record_totals(slope_thread_record(w->thread, w->fn[i]), &w->session.config, &sum);
	return sum.rms;
}

static void a_word_of_the_caller_is_dropped_at_the_return(void **state)
{
	struct world w;

	(void)state;
	open_world(&w, true);
	assert_int_equal(w.end, 0);
	enter(&w, 0);
	slope_thread_write(w.thread, 100, 4);
	enter(&w, 1);
	slope_thread_read(w.thread, 100, 3);
	assert_int_equal(w.end, 3 * sizeof(uint32_t));
	leave(&w);
	assert_int_equal(w.end, 0);
	leave(&w);
	assert_int_equal(input(&w, 1), 3);
	assert_int_equal(input(&w, 0), 0);
	close_world(&w);
}

static void a_word_from_further_down_is_carried_up_to_its_owner(void **state)
{
	struct world w;

	(void)state;
	open_world(&w, true);
	enter(&w, 0);
	slope_thread_write(w.thread, 100, 2);
	enter(&w, 1);
	slope_thread_write(w.thread, 200, 1);
	enter(&w, 2);
	slope_thread_read(w.thread, 100, 2);
	slope_thread_read(w.thread, 200, 1);
	leave(&w);
	assert_int_equal(w.end, 2 * sizeof(uint32_t));
	leave(&w);
	leave(&w);
	assert_int_equal(input(&w, 2), 3);
	assert_int_equal(input(&w, 1), 2);
	assert_int_equal(input(&w, 0), 0);
	close_world(&w);
}

static void what_nobody_has_touched_is_not_in_the_log(void **state)
{
	struct world w;

	(void)state;
	open_world(&w, true);
	enter(&w, 0);
	enter(&w, 1);
	slope_thread_read(w.thread, 100, 5);
	assert_int_equal(w.end, 0);
	leave(&w);
	leave(&w);
	assert_int_equal(input(&w, 1), 5);
	assert_int_equal(input(&w, 0), 5);
	close_world(&w);
}

/* A source may leave entries of an activation that has ended to the caller. */
static void an_entry_that_is_not_older_counts_for_nobody(void **state)
{
	struct world w;

	(void)state;
	open_world(&w, true);
	enter(&w, 0);
	slope_thread_write(w.thread, 100, 2);
	enter(&w, 1);
	slope_thread_read(w.thread, 100, 1);
	assert_true(slope_log_take(w.thread, w.thread->top->stamp));
	assert_true(slope_log_take(w.thread, w.thread->top->stamp + 1));
	enter(&w, 2);
	slope_log_settle(w.thread);
	assert_int_equal(w.end, 0);
	assert_int_equal(w.thread->top->log, 0);
	leave(&w);
	leave(&w);
	leave(&w);
	assert_int_equal(input(&w, 2), 0);
	assert_int_equal(input(&w, 1), 1);
	close_world(&w);
}

static void a_full_log_is_settled(void **state)
{
	struct world w;

	(void)state;
	open_world(&w, true);
	enter(&w, 0);
	slope_thread_write(w.thread, 0, ENTRIES + 10);
	enter(&w, 1);
	slope_thread_read(w.thread, 0, ENTRIES + 10);
	assert_int_equal(w.end, 10 * sizeof(uint32_t));
	leave(&w);
	leave(&w);
	assert_int_equal(input(&w, 1), ENTRIES + 10);
	assert_int_equal(input(&w, 0), 0);
	close_world(&w);
}

static void many_entries_that_stay_are_settled(void **state)
{
	struct world w;

	(void)state;
	open_world(&w, true);
	enter(&w, 0);
	slope_thread_write(w.thread, 0, 1000);
	enter(&w, 1);
	enter(&w, 2);
	slope_thread_read(w.thread, 0, 1000);
	leave(&w);
	assert_int_equal(w.end, 0);
	slope_thread_read(w.thread, 0, 1000);
	leave(&w);
	leave(&w);
	assert_int_equal(input(&w, 2), 1000);
	assert_int_equal(input(&w, 1), 1000);
	assert_int_equal(input(&w, 0), 0);
	close_world(&w);
}

static uint32_t draw(uint32_t *random, uint32_t below)
{
	*random = *random * 1664525u + 1013904223u;
	return (*random >> 8) % below;
}

/* One of the things that a program does, or that happens to a log. */
static void step(struct world *w, uint32_t *random)
{
	uint32_t what = draw(random, 100), i = draw(random, FUNCTIONS), cell = draw(random, 300), cells = 1 + draw(random, 20);

	w->cost[0] += cells;
	if (what < 25)
		enter(w, i);
	else if (what < 48 && slope_thread_depth(w->thread) > 1)
		leave(w);
	else if (what < 60)
		slope_thread_write(w->thread, cell, cells);
	else if (what < 97)
		slope_thread_read(w->thread, cell, cells);
	else if (what == 97)
		slope_thread_renumber(w->thread);
	else if (what == 98)
		slope_log_settle(w->thread);
	else if (w->thread->log)
		slope_log_shorten(w->thread);
}

static void same_sizes(const struct slope_log_scans *with_scans)
{
	static struct world with, without;

	for (uint32_t seed = 1; seed <= 30; seed++) {
		uint32_t a = seed, b = seed;

		open_world(&with, true);
		with.thread->log_scans = with_scans;
		open_world(&without, false);
		for (int n = 0; n < 3000; n++) {
			step(&with, &a);
			step(&without, &b);
		}
		slope_thread_end(with.thread, with.cost);
		slope_thread_end(without.thread, without.cost);
		for (uint32_t i = 0; i < FUNCTIONS; i++)
			assert_int_equal(input(&with, i), input(&without, i));
		close_world(&with);
		close_world(&without);
	}
}

static void sizes_are_those_without_a_log(void **state)
{
	(void)state;
	same_sizes(NULL);
}

static void nor_does_it_matter_who_scans_the_log(void **state)
{
	(void)state;
	same_sizes(&scans);
}

static size_t keep_by_16(uint32_t *entry, size_t count, uint32_t stamp, uint32_t top, size_t *counted)
{
	return logvectors_keep(entry, count, &stamp, &top, counted);
}

static size_t pass_by_16(const uint32_t *entry, size_t count, uint32_t top, uint32_t from, uint32_t span, size_t *counted)
{
	return logvectors_pass(entry, count, top, from, span, counted);
}

/* Of every length up to four vectors, with bounds that all, some or none of the entries are below. */
static void sixteen_at_once_are_as_one_by_one(void **state)
{
	static const struct slope_log_scans by_16 = { keep_by_16, pass_by_16 };
	uint32_t one[5 * RUN], many[5 * RUN], seed = 1;
	size_t a, b;

	(void)state;
	if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("bmi2"))
		skip();
	for (size_t n = 0; n < 20000; n++) {
		size_t count = n % (4 * RUN + 1);
		uint32_t stamp = draw(&seed, 40), top = stamp + draw(&seed, 40), from = draw(&seed, 40);

		for (size_t i = 0; i < 5 * RUN; i++)
			many[i] = one[i] = 1 + draw(&seed, n % 7 ? 60 : 12);
		assert_int_equal(pass_by_16(many, count, top, from, 30, &a), pass(one, count, top, from, 30, &b));
		assert_int_equal(a, b);
		size_t stay = keep_by_16(many, count, stamp, top, &a);

		assert_int_equal(stay, keep(one, count, stamp, top, &b));
		assert_int_equal(a, b);
		assert_memory_equal(many, one, stay * sizeof *one);
	}
	same_sizes(&by_16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_word_of_the_caller_is_dropped_at_the_return),
		cmocka_unit_test(a_word_from_further_down_is_carried_up_to_its_owner),
		cmocka_unit_test(what_nobody_has_touched_is_not_in_the_log),
		cmocka_unit_test(an_entry_that_is_not_older_counts_for_nobody),
		cmocka_unit_test(a_full_log_is_settled),
		cmocka_unit_test(many_entries_that_stay_are_settled),
		cmocka_unit_test(sizes_are_those_without_a_log),
		cmocka_unit_test(nor_does_it_matter_who_scans_the_log),
		cmocka_unit_test(sixteen_at_once_are_as_one_by_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
