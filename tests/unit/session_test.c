/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What all threads share: modules, file ranges, what the kernel writes, memory that moves. Cells are bytes here. */
#include "tests/unit/scarce.h"

#define PAGE 4096u
#define FAR (UINT64_C(1) << 44)

struct world {
	struct scarce scarce;
	struct slope_session session;
	struct slope_thread *thread;
	uint64_t cost[SLOPE_UNITS_MAX];
};

static void open_world(struct world *w, uint32_t metrics)
{
	const struct slope_config config = { .cell_log2 = 0, .units = 1, .metrics = metrics };

	*w = (struct world){ 0 };
	scarce_init(&w->scarce, ENDLESS);
	assert_true(slope_session_init(&w->session, &config, &w->scarce.host));
	w->thread = slope_thread_new(&w->session, 0, 1, w->cost);
	assert_non_null(w->thread);
}

static void close_world(struct world *w)
{
	slope_session_fini(&w->session);
	assert_int_equal(w->scarce.held_bytes, 0);
}

/* Reads, and says what that brought the thread: new cells, and how many of all from outside. */
static void expect_input(struct world *w, uint64_t address, uint64_t bytes, int64_t first_reads, uint64_t external)
{
	const struct slope_frame *root = &w->thread->frame[0];
	int64_t rms = root->rms;
	uint64_t before = root->external;

	slope_thread_read(w->thread, address, bytes);
	assert_int_equal(root->rms - rms, first_reads);
	assert_int_equal(root->external - before, external);
}

static void modules_are_known_again(void **state)
{
	struct slope_module a = { .path = "/a", .build_id = { 1, 2 }, .build_id_bytes = 2 }, b = a, c = a;
	struct world w;

	(void)state;
	open_world(&w, 3);
	b.path = "/b";
	c.build_id[1] = 3;
	assert_int_equal(slope_session_module(&w.session, &a), 1);
	assert_int_equal(slope_session_module(&w.session, &b), 2);
	assert_int_equal(slope_session_module(&w.session, &c), 3);
	assert_int_equal(slope_session_module(&w.session, &a), 1);
	assert_string_equal(w.session.module[2].path, "/b");
	close_world(&w);
}

static void a_function_is_its_first_description(void **state)
{
	char name[] = "f";
	struct world w;

	(void)state;
	open_world(&w, 3);
	uint32_t f = slope_session_function(&w.session, 0, 16, SLOPE_FN_FOLDED, name);

	name[0] = 'x';                   /* it has a copy */
	assert_int_equal(slope_session_function(&w.session, 0, 16, 0, "g"), f);
	assert_int_equal(w.session.function[f].flags, SLOPE_FN_FOLDED);
	assert_string_equal(w.session.function[f].name, "f");
	assert_int_not_equal(slope_session_function(&w.session, 1, 16, 0, "f"), f);
	close_world(&w);
}

static void a_file_is_input_where_it_is_mapped(void **state)
{
	struct world w;

	(void)state;
	open_world(&w, 3);
	slope_session_map_file(&w.session, 10 * PAGE, 4 * PAGE);
	assert_false(slope_session_in_file(&w.session, 10 * PAGE - 1));
	assert_true(slope_session_in_file(&w.session, 10 * PAGE));
	assert_true(slope_session_in_file(&w.session, 14 * PAGE - 1));
	assert_false(slope_session_in_file(&w.session, 14 * PAGE));
	expect_input(&w, 10 * PAGE, 8, 8, 8);
	expect_input(&w, 10 * PAGE, 8, 0, 0);
	expect_input(&w, 9 * PAGE, 8, 8, 0);
	slope_session_map_file(&w.session, 12 * PAGE, 4 * PAGE);    /* over the end of the first */
	assert_true(slope_session_in_file(&w.session, 15 * PAGE));
	slope_session_forget(&w.session, 11 * PAGE, PAGE);          /* a hole in it */
	assert_true(slope_session_in_file(&w.session, 11 * PAGE - 1));
	assert_false(slope_session_in_file(&w.session, 11 * PAGE));
	assert_false(slope_session_in_file(&w.session, 12 * PAGE - 1));
	assert_true(slope_session_in_file(&w.session, 12 * PAGE));
	slope_session_forget(&w.session, 0, 100 * PAGE);
	assert_int_equal(w.session.range_count, 0);
	expect_input(&w, 10 * PAGE, 8, 8, 0);                       /* forgotten, and of no file */
	close_world(&w);
}

static void what_the_kernel_writes_is_new(void **state)
{
	struct world w;

	(void)state;
	open_world(&w, 3);
	expect_input(&w, 100, 8, 8, 0);
	slope_session_kernel_write(&w.session, 102, 4);
	expect_input(&w, 100, 8, 0, 4);
	expect_input(&w, 100, 8, 0, 0);
	slope_session_kernel_write(&w.session, 102, 4);
	slope_thread_write(w.thread, 102, 2);                       /* overwritten before it was read */
	expect_input(&w, 100, 8, 0, 2);
	slope_session_kernel_write(&w.session, 100, 0);
	expect_input(&w, 100, 8, 0, 0);
	close_world(&w);
	open_world(&w, 1u << SLOPE_METRIC_RMS);                     /* rms does not look outside */
	expect_input(&w, 100, 8, 8, 0);
	slope_session_kernel_write(&w.session, 100, 8);
	expect_input(&w, 100, 8, 0, 0);
	close_world(&w);
}

static void what_is_known_moves_with_the_memory(void **state)
{
	const uint64_t from = 3 * SLOPE_LEAF_CELLS - 100, to = FAR + 55;
	struct world w;

	(void)state;
	open_world(&w, 3);
	slope_thread_read(w.thread, from, 300);                     /* over the end of a leaf */
	slope_session_kernel_write(&w.session, from + 10, 5);
	slope_session_map_file(&w.session, from + 1000, 50);
	slope_session_map_file(&w.session, from + 1980, 50);        /* the last 30 stay */
	slope_session_move(&w.session, from, to, 2000);
	expect_input(&w, to, 300, 0, 5);
	expect_input(&w, to + 300, 10, 10, 0);
	expect_input(&w, to + 1000, 50, 50, 50);
	assert_false(slope_session_in_file(&w.session, from + 1000));
	assert_true(slope_session_in_file(&w.session, to + 1999));
	assert_false(slope_session_in_file(&w.session, to + 2000));
	assert_true(slope_session_in_file(&w.session, from + 2000));
	close_world(&w);
}

/* A little of each with so many pages of memory; true when nothing was lost. */
static bool live(size_t pages)
{
	static const struct slope_config config = { .units = 1, .metrics = 3 };
	struct slope_session s;
	struct scarce scarce;
	uint64_t cost[SLOPE_UNITS_MAX] = { 0 }, lost = 0;

	scarce_init(&scarce, pages);
	if (!slope_session_init(&s, &config, &scarce.host)) {
		assert_int_equal(scarce.held_bytes, 0);
		return false;
	}
	struct slope_thread *t = slope_thread_new(&s, 0, 1, cost);

	for (uint64_t i = 0; i < 600; i++) {
		slope_session_map_file(&s, 2 * i * PAGE, PAGE);
		slope_session_kernel_write(&s, i << 24, 3);
		if (t)
			slope_thread_read(t, i << 24, 3);
		lost += slope_session_function(&s, 0, i, 0, "a name of some length") == SLOPE_FN_NONE;
	}
	slope_session_move(&s, 0, FAR, PAGE);
	for (int i = 0; i < SLOPE_LOST_COUNT; i++)
		lost += s.lost[i];
	if (!lost)
		assert_int_equal(s.thread[1]->frame[0].external, 600 * 3);
	slope_session_fini(&s);
	assert_int_equal(scarce.held_bytes, 0);
	return !lost;
}

static void whatever_memory_is_missing_is_said(void **state)
{
	size_t pages = 0;

	(void)state;
	assert_true(live(ENDLESS));
	while (pages < 5000 && !live(pages))
		pages += 1 + pages / 16;
	assert_in_range(pages, 100, 4999);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(modules_are_known_again),
		cmocka_unit_test(a_function_is_its_first_description),
		cmocka_unit_test(a_file_is_input_where_it_is_mapped),
		cmocka_unit_test(what_the_kernel_writes_is_new),
		cmocka_unit_test(what_is_known_moves_with_the_memory),
		cmocka_unit_test(whatever_memory_is_missing_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
