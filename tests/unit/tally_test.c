/* SPDX-License-Identifier: GPL-3.0-or-later */
/* core/tally.c: what activations called, by their own size. */
#include "core/tally.h"
#include "tests/unit/scarce.h"

#define STACK_TOP 1000000u

struct world {
	struct scarce scarce;
	struct slope_session session;
	struct slope_thread *thread;
	uint64_t cost[SLOPE_UNITS_MAX];
	uint32_t p, f, g;
};

static void open_world(struct world *w, uint32_t units)
{
	struct slope_config config = { .cell_log2 = 2, .units = units, .metrics = 1 };

	*w = (struct world){ 0 };
	scarce_init(&w->scarce, ENDLESS);
	assert_true(slope_session_init(&w->session, &config, &w->scarce.host));
	w->p = slope_session_function(&w->session, 0, 16, 0, "p");
	w->f = slope_session_function(&w->session, 0, 32, 0, "f");
	w->g = slope_session_function(&w->session, 0, 48, SLOPE_FN_FOLDED, "g");
	w->thread = slope_thread_new(&w->session, 0, 1, w->cost);
	assert_non_null(w->thread);
}

static void close_world(struct world *w)
{
	slope_session_fini(&w->session);
	assert_int_equal(w->scarce.held_bytes, 0);
}

static void enter(struct world *w, uint32_t fn)
{
	slope_thread_enter(w->thread, fn, STACK_TOP - 16 * slope_thread_depth(w->thread), 0, w->cost);
}

static void leave(struct world *w)
{
	slope_thread_leave(w->thread, w->cost);
}

/* A call that does nothing but cost. */
static void call(struct world *w, uint32_t fn, uint64_t cost)
{
	enter(w, fn);
	w->cost[0] += cost;
	w->cost[1] += 2 * cost;
	leave(w);
}

static const struct slope_edge *edge(const struct world *w, uint32_t caller, uint32_t callee)
{
	const struct slope_record *r = slope_thread_record(w->thread, callee);
	const struct slope_edge *e = r ? r->edges : NULL;

	while (e && e->caller != caller)
		e = e->next;
	return e;
}

/* The row of the bin that holds n; all zero if there is none. */
static struct slope_size { uint64_t activations, calls, cost[2]; } at(const struct world *w, const struct slope_edge *e, uint64_t n)
{
	uint32_t i = slope_tally_bin(n) - e->first, units = w->session.config.units;
	struct slope_size size = { 0 };

	if (i >= e->rows)
		return size;
	const struct slope_edge_row *row = slope_edge_row(e, i, units);

	size = (struct slope_size){ row->activations, row->calls, { row->cost[0], units > 1 ? row->cost[1] : 0 } };
	return size;
}

static void bins_are_those_of_points(void **state)
{
	uint32_t last = 0;

	(void)state;
	for (uint64_t n = 0; n < 100000; n++) {
		uint32_t bin = slope_tally_bin(n);

		assert_int_equal(slope_tally_least(bin), slope_points_edge(n, SLOPE_EDGE_BITS));
		assert_in_range(bin, last, last + 1);
		last = bin;
	}
	assert_true(slope_tally_least(slope_tally_bin(UINT64_MAX)) == slope_points_edge(UINT64_MAX, SLOPE_EDGE_BITS));
	assert_true(slope_tally_bin(UINT64_MAX) < UINT16_MAX);
}

/* Sizes come down and up, far and near: rows are made on both sides of those that are there. */
static void each_activation_counts_at_its_size(void **state)
{
	static const uint64_t sizes[] = { 100, 5, 100000, 3, 101, 0 };
	struct world w;

	(void)state;
	for (uint32_t units = 1; units <= 2; units++) {
		open_world(&w, units);
		for (size_t i = 0; i < 6; i++) {
			enter(&w, w.p);
			slope_thread_read(w.thread, 4096, 4 * sizes[i]);
			for (size_t k = 0; k <= i; k++)
				call(&w, w.f, 10 + sizes[i]);
			leave(&w);
		}
		const struct slope_edge *e = edge(&w, w.p, w.f);
		struct slope_totals sum;

		assert_int_equal(at(&w, e, 100).activations, 2);         /* 100 and 101 */
		assert_int_equal(at(&w, e, 100).calls, 1 + 5);
		assert_int_equal(at(&w, e, 100).cost[0], 110 + 5 * 111);
		assert_int_equal(at(&w, e, 100).cost[1], units > 1 ? 2 * (110 + 5 * 111) : 0);
		assert_int_equal(at(&w, e, 5).calls, 2);
		assert_int_equal(at(&w, e, 100000).calls, 3);
		assert_int_equal(at(&w, e, 100000).cost[0], 3 * 100010);
		assert_int_equal(at(&w, e, 3).activations, 1);
		assert_int_equal(at(&w, e, 0).calls, 6);
		assert_int_equal(at(&w, e, 4).activations, 0);
		slope_edge_totals(e, &w.session.config, &sum);
		assert_int_equal(sum.calls, 21);
		slope_thread_settle(w.thread);
		assert_int_equal(sum.total[0], slope_thread_record(w.thread, w.f)->self[0]);
		close_world(&w);
	}
}

/* f alone, in another callee, in itself, and in a folded function: p has all of it in one tally. */
static void a_callee_has_one_tally(void **state)
{
	struct world w;

	(void)state;
	open_world(&w, 1);
	uint32_t q = slope_session_function(&w.session, 0, 64, 0, "q");

	enter(&w, w.p);
	for (int i = 0; i < 1000; i++) {
		call(&w, w.f, 1);
		enter(&w, q);
		call(&w, w.f, 10);
		leave(&w);
		enter(&w, w.f);
		call(&w, w.f, 100);
		leave(&w);
		enter(&w, w.g);
		call(&w, w.f, 1000);
		leave(&w);
		assert_int_equal(w.thread->tallies, 2);
	}
	leave(&w);
	assert_int_equal(at(&w, edge(&w, w.p, w.f), 0).activations, 1);
	assert_int_equal(at(&w, edge(&w, w.p, w.f), 0).calls, 3000);
	assert_int_equal(at(&w, edge(&w, w.p, w.f), 0).cost[0], 1101000);
	assert_int_equal(at(&w, edge(&w, q, w.f), 0).activations, 1000);
	assert_int_equal(at(&w, edge(&w, w.f, w.f), 0).cost[0], 100000);
	assert_int_equal(edge(&w, w.f, w.f)->nested[0], 100000);
	close_world(&w);
}

static void any_number_of_callees(void **state)
{
	struct world w;

	(void)state;
	open_world(&w, 1);
	enter(&w, w.p);
	for (uint64_t round = 0; round < 3; round++)
		for (uint32_t i = 0; i < 5000; i++)
			call(&w, slope_session_function(&w.session, 1, i, 0, NULL), i);
	assert_int_equal(w.thread->tallies, 5000);
	leave(&w);
	assert_int_equal(w.thread->tallies, 1);          /* the root's, for p */
	for (uint32_t i = 0; i < 5000; i++) {
		const struct slope_edge *e = edge(&w, w.p, slope_session_function(&w.session, 1, i, 0, NULL));

		assert_int_equal(at(&w, e, 0).calls, 3);
		assert_int_equal(at(&w, e, 0).cost[0], 3 * i);
	}
	close_world(&w);
}

static void a_restart_forgets_tallies(void **state)
{
	struct world w;

	(void)state;
	open_world(&w, 1);
	enter(&w, w.p);
	call(&w, w.f, 1000);
	enter(&w, w.p);
	call(&w, w.f, 1000);
	leave(&w);
	enter(&w, w.g);
	call(&w, w.f, 1000);
	slope_session_restart(&w.session, w.thread, w.cost);
	assert_int_equal(w.thread->tallies, 0);
	call(&w, w.f, 7);
	leave(&w);
	call(&w, w.f, 8);
	slope_thread_end(w.thread, w.cost);
	assert_int_equal(at(&w, edge(&w, w.p, w.f), 0).activations, 1);
	assert_int_equal(at(&w, edge(&w, w.p, w.f), 0).calls, 2);
	assert_int_equal(at(&w, edge(&w, w.p, w.f), 0).cost[0], 15);
	assert_null(edge(&w, w.p, w.p));                 /* it was in a tally only */
	close_world(&w);
}

/* Calls of edges and lost ones, of all that were made with so many pages. */
static void live(size_t pages, uint64_t *counted, uint64_t *lost)
{
	struct world w;

	open_world(&w, 2);
	w.scarce.left = pages;
	for (uint64_t i = 0; i < 3000; i++) {
		enter(&w, w.p);
		if (i % 3)
			enter(&w, w.p);
		call(&w, w.f, i);
		if (i % 500 == 0)
			slope_thread_read(w.thread, 4096, 4 * i);
		for (uint64_t k = i; i % 2 && k < i + 4; k++) {
			uint32_t fn = slope_session_function(&w.session, 1, k, 0, NULL);

			if (fn != SLOPE_FN_NONE)
				call(&w, fn, 1);
		}
		slope_thread_cut(w.thread, i % 5 ? 1 : 2, w.cost);
	}
	slope_thread_end(w.thread, w.cost);
	*counted = 0;
	for (uint32_t fn = 0; fn < w.session.function_count; fn++) {
		const struct slope_record *r = slope_thread_record(w.thread, fn);
		struct slope_totals sum, all = { 0 };

		for (const struct slope_edge *e = r ? r->edges : NULL; e; e = e->next) {
			slope_edge_totals(e, &w.session.config, &sum);
			all.calls += sum.calls;
		}
		if (r)
			assert_int_equal(r->tally, 0);
		*counted += all.calls;
	}
	/* Every activation but the root, less those that had no record or no frame. */
	*lost = w.session.lost[SLOPE_LOST_EDGES];
	if (!w.session.lost[SLOPE_LOST_CALLS])
		assert_int_equal(*counted + *lost, slope_thread_calls(w.thread) - 1);
	close_world(&w);
}

static void what_finds_no_memory_is_counted(void **state)
{
	uint64_t all, lost, some;
	size_t short_of = 0;

	(void)state;
	live(ENDLESS, &all, &lost);
	assert_int_equal(lost, 0);
	assert_true(all > 10000);
	for (size_t pages = 0; pages < 40; pages++) {
		live(pages, &some, &lost);
		short_of += lost > 0;
	}
	assert_true(short_of > 2);               /* or this would test nothing */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bins_are_those_of_points),
		cmocka_unit_test(each_activation_counts_at_its_size),
		cmocka_unit_test(a_callee_has_one_tally),
		cmocka_unit_test(any_number_of_callees),
		cmocka_unit_test(a_restart_forgets_tallies),
		cmocka_unit_test(what_finds_no_memory_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
