/* SPDX-License-Identifier: GPL-3.0-or-later */
/* core/path_sizes.c: paths by the input size of the activation that took them. */
#include "core/frames.h"
#include "tests/unit/scarce.h"

#define STACK_TOP 1000000u

struct world {
	struct scarce scarce;
	struct slope_session session;
	struct slope_thread *thread;
	uint64_t cost[SLOPE_UNITS_MAX];
	uint32_t f, g, folded;
};

static bool try_world(struct world *w, size_t pages)
{
	struct slope_config config = { .cell_log2 = 2, .units = 1, .metrics = 1 };

	*w = (struct world){ 0 };
	scarce_init(&w->scarce, pages);
	if (!slope_session_init(&w->session, &config, &w->scarce.host))
		return false;
	w->f = slope_session_function(&w->session, 0, 16, 0, "f");
	w->g = slope_session_function(&w->session, 0, 32, 0, "g");
	w->folded = slope_session_function(&w->session, 0, 48, SLOPE_FN_FOLDED, "h");
	w->thread = slope_thread_new(&w->session, 0, 1, w->cost);
	return w->thread != NULL;
}

static void open_world(struct world *w)
{
	assert_true(try_world(w, ENDLESS));
}

static void close_world(struct world *w)
{
	slope_session_fini(&w->session);
	assert_int_equal(w->scarce.held_bytes, 0);
}

static void enter(struct world *w, uint32_t fn, uint64_t cells)
{
	slope_thread_enter(w->thread, fn, STACK_TOP - 16 * slope_thread_depth(w->thread), 0, w->cost);
	/* What its callers have read as well is input to it. */
	if (cells)
		slope_thread_read(w->thread, 4096, 4 * cells);
}

static void leave(struct world *w)
{
	w->cost[0]++;
	slope_thread_leave(w->thread, w->cost);
}

static void take(struct world *w, uint32_t fn, uint32_t graph, uint64_t number, unsigned times)
{
	while (times--)
		slope_path_sizes_note(w->thread, fn, graph, number);
}

/* Executions of the path at this size, and activations in the upper half; 0: none. Each size is there once. */
static uint64_t at(const struct world *w, uint32_t graph, uint64_t number, uint64_t n)
{
	const struct slope_path_sizes *s = &w->thread->path_sizes;
	uint64_t found = 0;

	for (size_t i = 0; i < s->count; i++)
		if (s->size[i].graph == graph && s->size[i].number == number && s->size[i].n == n) {
			assert_int_equal(found, 0);
			found = s->size[i].activations << 32 | s->size[i].executions;
		}
	return found;
}

#define TIMES(activations, executions) ((uint64_t)(activations) << 32 | (executions))

static void sizes_come_when_the_activation_ends(void **state)
{
	struct world w;

	(void)state;
	open_world(&w);
	enter(&w, w.f, 5);
	take(&w, w.f, 3, 100, 7);
	take(&w, w.f, 3, 101, 1);
	take(&w, w.f, 3, 100, 2);
	assert_int_equal(w.thread->path_sizes.count, 0);
	leave(&w);
	assert_int_equal(at(&w, 3, 100, 5), TIMES(1, 9));
	assert_int_equal(at(&w, 3, 101, 5), TIMES(1, 1));
	for (uint64_t n = 1000; n-- > 0;) {
		enter(&w, w.f, n);
		take(&w, w.f, 3, 100, 2);
		take(&w, w.f, 4, 100, 1);
		leave(&w);
	}
	assert_int_equal(at(&w, 3, 100, 5), TIMES(2, 11));
	assert_int_equal(at(&w, 4, 100, 5), TIMES(1, 1));
	assert_int_equal(at(&w, 3, 100, slope_tally_least(slope_tally_bin(999))), TIMES(40, 80));
	assert_int_equal(at(&w, 3, 101, 5), TIMES(1, 1));
	assert_int_equal(w.thread->path_sizes.notes, 0);
	close_world(&w);
}

static void activations_do_not_mix(void **state)
{
	struct world w;

	(void)state;
	open_world(&w);
	enter(&w, w.f, 8);
	take(&w, w.f, 1, 5, 1);
	enter(&w, w.f, 4);               /* calls itself */
	take(&w, w.f, 1, 5, 10);
	enter(&w, w.g, 2);
	take(&w, w.g, 2, 5, 3);
	take(&w, w.f, 1, 5, 1000);       /* not a path of the function that runs */
	leave(&w);
	take(&w, w.f, 1, 5, 10);
	enter(&w, w.folded, 0);
	take(&w, w.folded, 9, 0, 50);    /* has no size */
	leave(&w);
	take(&w, w.f, 1, 6, 1);
	leave(&w);
	take(&w, w.f, 1, 5, 1);
	leave(&w);
	assert_int_equal(at(&w, 1, 5, 8), TIMES(1, 2));
	assert_int_equal(at(&w, 1, 5, 4), TIMES(1, 20));
	assert_int_equal(at(&w, 1, 6, 4), TIMES(1, 1));
	assert_int_equal(at(&w, 2, 5, 2), TIMES(1, 3));
	assert_int_equal(w.thread->path_sizes.count, 4);
	close_world(&w);
}

/* After a fork nothing is left of what was counted or noted, and activations that began before go on. */
static void a_restart_forgets(void **state)
{
	struct world w;

	(void)state;
	open_world(&w);
	enter(&w, w.f, 8);
	take(&w, w.f, 1, 5, 4);
	enter(&w, w.f, 3);
	take(&w, w.f, 1, 5, 1);
	leave(&w);
	slope_thread_restart(w.thread, w.cost);
	assert_int_equal(w.thread->path_sizes.count, 0);
	take(&w, w.f, 1, 5, 2);
	leave(&w);
	assert_int_equal(at(&w, 1, 5, 8), TIMES(1, 2));
	assert_int_equal(w.thread->path_sizes.count, 1);
	slope_thread_discard(w.thread);
	assert_int_equal(w.thread->path_sizes.count, 0);
	close_world(&w);
}

/* Whatever memory there is: what is in no size is counted as lost. */
static void what_finds_no_room_is_counted(void **state)
{
	bool lost_some = false, lost_none = false;

	(void)state;
	for (size_t pages = 1; !lost_none; pages++) {
		struct world w;
		uint64_t sum = 0, tried = 0;

		assert_in_range(pages, 1, 200);
		if (!try_world(&w, pages)) {
			slope_session_fini(&w.session);
			continue;
		}
		enter(&w, w.f, 1);
		for (uint32_t depth = 0; w.thread->top->record && w.thread->top->record->fn == w.f && depth < 20; depth++)
			enter(&w, w.f, depth);
		for (uint64_t number = 0; w.thread->top->record && w.thread->top->record->fn == w.f && number < 20000; number++, tried++)
			take(&w, w.f, 1, number, 1);
		slope_thread_cut(w.thread, 1, w.cost);
		for (size_t i = 0; i < w.thread->path_sizes.count; i++)
			sum += w.thread->path_sizes.size[i].executions;
		assert_int_equal(sum + w.thread->path_sizes.lost, tried);
		lost_some |= w.thread->path_sizes.lost != 0;
		lost_none = tried && !w.thread->path_sizes.lost;
		close_world(&w);
	}
	assert_true(lost_some);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_come_when_the_activation_ends), cmocka_unit_test(activations_do_not_mix),
		cmocka_unit_test(a_restart_forgets), cmocka_unit_test(what_finds_no_room_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
