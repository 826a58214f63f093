/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/scarce.h"

#define STACK_TOP 1000000u

struct world {
	struct scarce scarce;
	struct slope_session session;
	struct slope_thread *thread;
	uint64_t cost[SLOPE_UNITS_MAX];
	uint32_t f, g;
};

static const struct slope_config usual = { .cell_log2 = 2, .units = 1, .metrics = 3 };

static void open_world(struct world *w, const struct slope_config *config)
{
	*w = (struct world){ 0 };
	scarce_init(&w->scarce, ENDLESS);
	assert_true(slope_session_init(&w->session, config, &w->scarce.host));
	w->f = slope_session_function(&w->session, 0, 16, 0, "f");
	w->g = slope_session_function(&w->session, 0, 32, 0, "g");
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

static const struct slope_record *record(const struct world *w, uint32_t fn)
{
	return slope_thread_record(w->thread, fn);
}

static struct slope_totals totals(const struct world *w, uint32_t fn)
{
	struct slope_totals sum;

	slope_thread_settle(w->thread);
	slope_record_totals(record(w, fn), &w->session.config, &sum);
	return sum;
}

static void a_thread_has_a_root(void **state)
{
	struct world w;

	(void)state;
	open_world(&w, &usual);
	assert_int_equal(w.thread->id, 1);
	assert_int_equal(slope_thread_depth(w.thread), 1);
	w.cost[0] = 7;
	slope_thread_end(w.thread, w.cost);
	assert_true(w.thread->ended);
	assert_int_equal(totals(&w, SLOPE_FN_ROOT).total[0], 7);
	assert_int_equal(totals(&w, SLOPE_FN_ROOT).self[0], 7);
	assert_int_equal(totals(&w, SLOPE_FN_ROOT).calls, 1);
	assert_null(record(&w, w.f));
	slope_thread_end(w.thread, w.cost);                      /* a second end does nothing */
	assert_int_equal(totals(&w, SLOPE_FN_ROOT).calls, 1);
	close_world(&w);
}

static void costs_are_own_and_with_callees(void **state)
{
	struct slope_totals edge;
	struct world w;

	(void)state;
	open_world(&w, &usual);
	enter(&w, w.f);
	w.cost[0] += 3;
	enter(&w, w.g);
	w.cost[0] += 40;
	enter(&w, w.f);
	w.cost[0] += 500;
	slope_thread_cut(w.thread, 1, w.cost);
	assert_int_equal(totals(&w, w.f).calls, 2);
	assert_int_equal(totals(&w, w.f).total[0], 543);        /* the outermost one only */
	assert_int_equal(totals(&w, w.f).self[0], 503);
	assert_int_equal(totals(&w, w.g).total[0], 540);
	assert_int_equal(totals(&w, w.g).self[0], 40);
	assert_int_equal(record(&w, w.g)->edges->caller, w.f);
	slope_edge_totals(record(&w, w.g)->edges, &w.session.config, &edge);
	assert_int_equal(edge.total[0], 540);
	close_world(&w);
}

static void unwinding_goes_by_stack_pointer(void **state)
{
	struct world w;

	(void)state;
	open_world(&w, &usual);
	for (int i = 0; i < 5; i++)
		enter(&w, w.f);
	assert_int_equal(slope_thread_unwind(w.thread, STACK_TOP - 16 * 6, w.cost), 0);
	assert_int_equal(slope_thread_unwind(w.thread, STACK_TOP - 16 * 4, w.cost), 2);
	assert_int_equal(slope_thread_depth(w.thread), 4);
	slope_thread_enter(w.thread, w.g, 5, SLOPE_FRAME_BASE, w.cost);
	slope_thread_enter(w.thread, w.g, 3, 0, w.cost);
	assert_int_equal(slope_thread_unwind(w.thread, 3, w.cost), 1);
	assert_int_equal(slope_thread_unwind(w.thread, 4, w.cost), 0);
	assert_int_equal(slope_thread_unwind(w.thread, STACK_TOP, w.cost), 1);   /* the base, and no further */
	assert_int_equal(slope_thread_depth(w.thread), 4);
	assert_int_equal(slope_thread_unwind(w.thread, UINT64_MAX, w.cost), 3);  /* never the root */
	assert_int_equal(slope_thread_depth(w.thread), 1);
	close_world(&w);
}

static void functions_are_found_by_place(void **state)
{
	struct world w;

	(void)state;
	open_world(&w, &usual);
	for (uint32_t i = 0; i < 3000; i++) {
		uint32_t fn = slope_session_function(&w.session, i % 3, 1000 + i / 3, 0, NULL);

		assert_int_equal(fn, 3 + i);
		enter(&w, fn);
		w.cost[0] += i;
		slope_thread_leave(w.thread, w.cost);
	}
	for (uint32_t i = 0; i < 3000; i++) {
		assert_int_equal(slope_session_function(&w.session, i % 3, 1000 + i / 3, 0, NULL), 3 + i);
		assert_int_equal(totals(&w, 3 + i).self[0], i);
	}
	/* Two places that look alike to the hash table. */
	for (int round = 0; round < 2; round++) {
		assert_int_equal(slope_session_function(&w.session, 1, 0, 0, NULL), 3003);
		assert_int_equal(slope_session_function(&w.session, 0, UINT64_C(1) << 48, 0, NULL), 3004);
	}
	close_world(&w);
}

static void renumbering_comes_before_the_limit(void **state)
{
	struct slope_config config = usual;
	struct world w;

	(void)state;
	config.stamp_limit = 100;
	open_world(&w, &config);
	enter(&w, w.f);
	slope_thread_write(w.thread, 64, 4);
	for (int i = 0; i < 1000; i++) {
		enter(&w, w.g);
		slope_thread_read(w.thread, 64, 4);              /* new to g, never to f */
		assert_true(w.thread->clock <= 100);
		slope_thread_leave(w.thread, w.cost);
	}
	slope_thread_leave(w.thread, w.cost);
	assert_in_range(w.session.renumberings, 10, 100);
	assert_int_equal(totals(&w, w.g).rms, 1000);
	assert_int_equal(totals(&w, w.f).rms, 0);
	close_world(&w);
}

static void a_deep_stack_outgrows_any_limit(void **state)
{
	struct slope_config config = usual;
	struct world w;

	(void)state;
	config.stamp_limit = 100;
	open_world(&w, &config);
	for (uint64_t i = 0; i < 20000; i++) {
		enter(&w, w.f);
		slope_thread_read(w.thread, 4 * i, 4);
	}
	slope_thread_read(w.thread, 0, 4);                       /* the first one's */
	assert_int_equal(slope_thread_depth(w.thread), 20001);
	slope_thread_cut(w.thread, 1, w.cost);
	assert_int_equal(w.session.renumberings, 0);             /* it would not help */
	assert_int_equal(record(&w, w.f)->points[SLOPE_METRIC_RMS].count, 19999);  /* the two outermost share 20000 */
	assert_int_equal(totals(&w, w.f).rms, 20000u * 20001u / 2 + 19999);
	close_world(&w);
}

static void a_restart_counts_from_now_on(void **state)
{
	struct world w;

	(void)state;
	open_world(&w, &usual);
	struct slope_thread *other = slope_thread_new(&w.session, 1, 2, w.cost);

	slope_thread_enter(other, w.g, 100, 0, w.cost);
	enter(&w, w.f);
	enter(&w, w.g);
	w.cost[0] = 1000;
	slope_thread_leave(w.thread, w.cost);
	slope_session_restart(&w.session, w.thread, w.cost);
	assert_true(other->ended);
	assert_null(slope_thread_record(other, w.g));
	assert_int_equal(totals(&w, w.g).calls, 0);
	assert_int_equal(record(&w, w.g)->points[SLOPE_METRIC_TRMS].count, 0);
	w.cost[0] += 5;
	slope_thread_end(w.thread, w.cost);
	assert_int_equal(totals(&w, w.f).calls, 1);
	assert_int_equal(totals(&w, w.f).total[0], 5);
	assert_int_equal(totals(&w, SLOPE_FN_ROOT).total[0], 5);
	close_world(&w);
}

/* A bit of everything, with as many `pages` as there are; what the first thread has found at its end. */
static bool live(size_t pages, uint64_t sums[5], uint64_t *lost)
{
	static const struct slope_config config = { .cell_log2 = 2, .units = 2, .metrics = 3, .max_points = 50, .stamp_limit = 64 };
	struct slope_session s;
	struct scarce scarce;
	uint64_t cost[SLOPE_UNITS_MAX] = { 0 };

	memset(sums, 0, 5 * sizeof *sums);
	*lost = 0;
	scarce_init(&scarce, pages);
	if (!slope_session_init(&s, &config, &scarce.host)) {
		assert_int_equal(scarce.held_bytes, 0);
		return false;
	}
	struct slope_thread *t[3];

	for (int i = 0; i < 3; i++)
		t[i] = slope_thread_new(&s, 0, 0, cost);
	for (uint64_t i = 0; i < 2500; i++) {
		struct slope_thread *me = t[i % 3];
		uint32_t fn = slope_session_function(&s, 0, 1 + i % 700, 0, "name");
		uint64_t address = i * 7919 % 8000 + (i % 4 << 40), sp = STACK_TOP - i % 1300 * 16;

		cost[0] += i;
		if (!me)
			continue;
		slope_thread_unwind(me, sp, cost);
		if (fn != SLOPE_FN_NONE)
			slope_thread_enter(me, fn, sp, 0, cost);
		slope_thread_write(me, address, 8);
		slope_thread_read(me, address / 2, 1 + i % 90);
		slope_thread_read(me, 64, 256);
		if (i % 50 == 0)
			slope_session_kernel_write(&s, address, 100);
		if (i % 500 == 0)
			slope_session_map_file(&s, address, 5000);
		if (i % 700 == 0)
			slope_session_forget(&s, address, 2000);
		slope_thread_write(me, 64 + i % 64 * 4, 4);
	}
	for (int i = 0; i < 3; i++)
		if (t[i])
			slope_thread_end(t[i], cost);
	if (t[0])
		slope_thread_settle(t[0]);
	for (uint32_t fn = 0; t[0] && fn < s.function_count; fn++) {
		const struct slope_record *r = slope_thread_record(t[0], fn);

		if (r) {
			assert_int_equal(r->active, 0);
			struct slope_totals t0;

			slope_record_totals(r, &s.config, &t0);
			sums[0] += t0.calls, sums[1] += t0.rms, sums[2] += t0.trms, sums[3] += t0.thread, sums[4] += t0.external;
		}
	}
	for (int i = 0; i < SLOPE_LOST_COUNT; i++)
		*lost += s.lost[i];
	slope_session_fini(&s);
	assert_int_equal(scarce.held_bytes, 0);
	return true;
}

static void whatever_memory_is_missing_is_said(void **state)
{
	uint64_t all[5], some[5], lost;
	size_t enough = 1;

	(void)state;
	assert_true(live(ENDLESS, all, &lost));
	assert_int_equal(lost, 0);
	assert_true(all[0] > 800 && all[1] > 1000 && all[3] > 100 && all[4] > 100);
	assert_false(live(0, some, &lost));
	for (size_t pages = 1; pages < 150; pages++) {
		bool began = live(pages, some, &lost);

		assert_true(!began || lost || !memcmp(all, some, sizeof all));
		if (began && !lost)
			enough++;
	}
	assert_true(enough > 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thread_has_a_root),
		cmocka_unit_test(costs_are_own_and_with_callees),
		cmocka_unit_test(unwinding_goes_by_stack_pointer),
		cmocka_unit_test(functions_are_found_by_place),
		cmocka_unit_test(renumbering_comes_before_the_limit),
		cmocka_unit_test(a_deep_stack_outgrows_any_limit),
		cmocka_unit_test(a_restart_counts_from_now_on),
		cmocka_unit_test(whatever_memory_is_missing_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
