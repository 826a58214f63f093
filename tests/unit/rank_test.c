/* SPDX-License-Identifier: GPL-3.0-or-later */
/* analysis/rank.c: who will hurt, who is hot, whose growth is somebody else's, and what is foretold. */
#include <math.h>

#include "analysis/rank.h"
#include "analysis/statistics.h"
#include "tests/unit/calls_sample.h"
#include "tests/unit/failing.h"

static struct slope_rank ranked(const struct slope_profile *p, double times)
{
	const struct slope_rank_options o = { .metric = SLOPE_METRIC_TRMS, .of = SLOPE_COST_MEAN, .times = times };
	struct slope_rank r;

	assert_true(slope_rank_init(&r, p, &o));
	return r;
}

static const struct slope_rank_row *row_of(const struct slope_rank *r, const char *name)
{
	for (size_t i = 0; i < r->count; i++)
		if (!strcmp(r->row[i].name, name))
			return &r->row[i];
	fail_msg("no row for %s", name);
	return NULL;
}

static size_t place_of(const struct slope_rank *r, const char *name)
{
	return (size_t)(row_of(r, name) - r->row);
}

static void expect_group(const struct slope_rank *r, const char *name, enum slope_group group)
{
	assert_string_equal(slope_group_name(row_of(r, name)->group), slope_group_name(group));
}

/* main, once, with all kinds of functions below it. */
static struct slope_profile *all_kinds(void)
{
	struct calls *c = calls_new();
	uint32_t main = calls_function(c, "main"), square = calls_function(c, "square"), scan = calls_function(c, "scan");
	uint32_t fixed = calls_function(c, "fixed"), tiny = calls_function(c, "tiny"), once = calls_function(c, "once");

	calls_enter(c, main);
	for (uint64_t n = 4; n < 1000; n = n * 5 / 4 + 1) {
		calls_leaf(c, square, n, 50 + n * n);
		calls_leaf(c, scan, n, 900 * n);
		calls_leaf(c, tiny, n, n);
	}
	for (int i = 0; i < 1000; i++)
		calls_leaf(c, fixed, 8, 500);
	calls_leaf(c, once, 77, 400000);
	calls_work(c, 10);
	calls_leave(c, 2000);
	return calls_end(c);
}

static void everybody_has_a_group(void **state)
{
	struct slope_profile *p = all_kinds();
	struct slope_rank r = ranked(p, 10);

	(void)state;
	assert_int_equal(r.count, 6);
	expect_group(&r, "square", SLOPE_GROUP_HURTS);
	expect_group(&r, "scan", SLOPE_GROUP_HOT);
	expect_group(&r, "fixed", SLOPE_GROUP_HOT);
	expect_group(&r, "once", SLOPE_GROUP_UNCLEAR);
	expect_group(&r, "main", SLOPE_GROUP_UNCLEAR);
	expect_group(&r, "tiny", SLOPE_GROUP_REST);
	for (size_t i = 1; i < r.count; i++) {
		assert_true(r.row[i - 1].group <= r.row[i].group);
		assert_true(r.row[i - 1].group < r.row[i].group || r.row[i - 1].score >= r.row[i].score);
	}
	slope_rank_fini(&r);
	slope_profile_free(p);
}

static void numbers_are_those_of_the_profile(void **state)
{
	struct slope_profile *p = all_kinds();
	struct slope_rank r = ranked(p, 10);
	const struct slope_rank_row *fixed = row_of(&r, "fixed"), *main = row_of(&r, "main");
	uint64_t self = r.root_self;

	(void)state;
	assert_int_equal(fixed->calls, 1000);
	assert_int_equal(fixed->total, 500000);
	assert_int_equal(fixed->points, 1);
	assert_int_equal(fixed->n_min, 8);
	assert_int_equal(fixed->n_max, 8);
	assert_int_equal(fixed->trms, 8000);
	assert_int_equal(main->total, r.program);
	assert_int_equal(main->self, 10);
	assert_true(main->share == 1);
	for (size_t i = 0; i < r.count; i++)
		self += r.row[i].self;
	assert_int_equal(self, r.program);
	slope_rank_fini(&r);
	slope_profile_free(p);
}

/* A square takes k^2 as much, everything else k times; what is not known is not foretold. */
static void shares_at_so_many_times(void **state)
{
	struct slope_profile *p = all_kinds();

	(void)state;
	for (double times = 2; times <= 100; times *= 5) {
		struct slope_rank r = ranked(p, times);
		const struct slope_rank_row *square = row_of(&r, "square"), *scan = row_of(&r, "scan");
		double own = (double)square->total, others = (double)(r.program - square->total);

		assert_true(fabs(square->factor / (times * times) - 1) < 0.02);
		assert_true(fabs(square->later - square->factor * own / (square->factor * own + times * others)) < 1e-12);
		assert_true(fabs(scan->factor / times - 1) < 0.01);
		assert_true(fabs(scan->later - scan->share) < 0.01);
		assert_true(row_of(&r, "fixed")->factor == times);
		assert_true(isnan(row_of(&r, "once")->factor) && isnan(row_of(&r, "once")->later));
		slope_rank_fini(&r);
	}
	slope_profile_free(p);
}

/* Asked again for another factor, the rows are those of a ranking for that factor. */
static void another_factor_needs_no_fits(void **state)
{
	struct slope_profile *p = all_kinds();
	struct slope_rank again = ranked(p, 10);

	(void)state;
	for (double times = 1000; times >= 2; times /= 7) {
		const struct slope_rank_options o = { .metric = SLOPE_METRIC_TRMS, .of = SLOPE_COST_MEAN, .times = times };
		struct slope_rank r = ranked(p, times);

		assert_true(slope_rank_again(&again, p, &o));
		assert_int_equal(again.count, r.count);
		for (size_t i = 0; i < r.count; i++) {
			assert_string_equal(again.row[i].name, r.row[i].name);
			assert_int_equal(again.row[i].group, r.row[i].group);
			assert_int_equal(again.row[i].via, r.row[i].via);
			assert_true(again.row[i].score == r.row[i].score);
			assert_true(again.row[i].later == r.row[i].later || (isnan(again.row[i].later) && isnan(r.row[i].later)));
		}
		slope_rank_fini(&r);
	}
	slope_rank_fini(&again);
	slope_profile_free(p);
}

static void evidence_discounts_the_score(void **state)
{
	struct slope_profile *p = all_kinds();
	struct slope_rank r = ranked(p, 10);
	const struct slope_rank_row *square = row_of(&r, "square"), *scan = row_of(&r, "scan");

	(void)state;
	assert_true(square->via == SLOPE_FN_NONE);
	assert_true(square->score == square->later * square->growth.evidence);
	assert_true(scan->score == scan->share);
	slope_rank_fini(&r);
	slope_profile_free(p);
}

/* outer(n) hands n on to inner, which squares it; `own` is what it does itself, in parts of n^2. */
static struct slope_profile *handed_on(double own)
{
	struct calls *c = calls_new();
	uint32_t outer = calls_function(c, "outer"), inner = calls_function(c, "inner");

	for (uint64_t n = 4; n < 1000; n = n * 5 / 4 + 1) {
		calls_enter(c, outer);
		calls_work(c, (uint64_t)(own * (double)(n * n)));
		calls_leaf(c, inner, n, 10 + n * n);
		calls_leave(c, n);
	}
	return calls_end(c);
}

static void growth_is_inherited(void **state)
{
	struct slope_profile *p = handed_on(0.01);
	struct slope_rank r = ranked(p, 10);
	const struct slope_rank_row *outer = row_of(&r, "outer"), *inner = row_of(&r, "inner");

	(void)state;
	assert_int_equal(outer->via, inner->function);
	assert_int_equal(inner->via, SLOPE_FN_NONE);
	expect_group(&r, "outer", SLOPE_GROUP_HURTS);
	assert_true(place_of(&r, "inner") < place_of(&r, "outer"));
	assert_true(fabs(outer->score - outer->later * outer->growth.evidence * 0.1) < 1e-15);
	slope_rank_fini(&r);
	slope_profile_free(p);
}

/* It does nothing but call: both cost the same, and the one that does the work is the one to look at. */
static void growth_is_inherited_where_totals_are_equal(void **state)
{
	struct slope_profile *p = handed_on(0);
	struct slope_rank r = ranked(p, 10);

	(void)state;
	assert_int_equal(row_of(&r, "outer")->total, row_of(&r, "inner")->total);
	assert_int_equal(row_of(&r, "outer")->via, row_of(&r, "inner")->function);
	assert_int_equal(row_of(&r, "inner")->via, SLOPE_FN_NONE);
	slope_rank_fini(&r);
	slope_profile_free(p);
}

static void growth_of_ones_own_is_not(void **state)
{
	struct slope_profile *p = handed_on(1);
	struct slope_rank r = ranked(p, 10);

	(void)state;
	assert_int_equal(row_of(&r, "outer")->via, SLOPE_FN_NONE);
	slope_rank_fini(&r);
	slope_profile_free(p);
}

/* Two that call each other cannot both be the other's fault. */
static void growth_is_not_inherited_in_circles(void **state)
{
	struct calls *c = calls_new();
	uint32_t ping = calls_function(c, "ping"), pong = calls_function(c, "pong");

	(void)state;
	for (uint64_t n = 4; n < 200; n = n * 5 / 4 + 1) {
		for (uint64_t k = n; k > 0; k--) {
			calls_enter(c, k % 2 ? ping : pong);
			calls_work(c, k);
		}
		for (uint64_t k = 1; k <= n; k++)
			calls_leave(c, k);
	}
	struct slope_profile *p = calls_end(c);
	struct slope_rank r = ranked(p, 10);

	assert_true(row_of(&r, "ping")->via == SLOPE_FN_NONE || row_of(&r, "pong")->via == SLOPE_FN_NONE);
	slope_rank_fini(&r);
	slope_profile_free(p);
}

/* start -> main, once, and nothing besides: nobody needs two unclear lines. */
static struct slope_profile *wrapped(unsigned times)
{
	struct calls *c = calls_new();
	uint32_t start = calls_function(c, "start"), main = calls_function(c, "main");

	calls_enter(c, start);
	calls_work(c, 5);
	for (unsigned i = 0; i < times; i++)
		calls_leaf(c, main, 40 + i, 1000);
	calls_leave(c, 50);
	return calls_end(c);
}

static void wrappers_are_left_out(void **state)
{
	struct slope_profile *p = wrapped(1), *twice = wrapped(2);
	struct slope_rank r = ranked(p, 10), s = ranked(twice, 10);

	(void)state;
	expect_group(&r, "start", SLOPE_GROUP_REST);
	expect_group(&r, "main", SLOPE_GROUP_UNCLEAR);
	expect_group(&s, "start", SLOPE_GROUP_UNCLEAR);
	slope_rank_fini(&r);
	slope_rank_fini(&s);
	slope_profile_free(p);
	slope_profile_free(twice);
}

static void without_edges_nothing_is_passed_on(void **state)
{
	struct slope_profile *p = wrapped(1), *q = handed_on(0.01);
	size_t edges = p->edge_count, others = q->edge_count;

	(void)state;
	p->edge_count = q->edge_count = 0;
	struct slope_rank r = ranked(p, 10), s = ranked(q, 10);

	expect_group(&r, "start", SLOPE_GROUP_UNCLEAR);
	assert_int_equal(row_of(&s, "outer")->via, SLOPE_FN_NONE);
	slope_rank_fini(&r);
	slope_rank_fini(&s);
	p->edge_count = edges;
	q->edge_count = others;
	slope_profile_free(p);
	slope_profile_free(q);
}

/* Every activation is a point; what they cost together is counted once. */
static void recursion_counts_once(void **state)
{
	struct calls *c = calls_new();
	uint32_t down = calls_function(c, "down");

	(void)state;
	for (uint64_t k = 40; k > 0; k--) {
		calls_enter(c, down);
		calls_work(c, 100);
	}
	for (uint64_t k = 1; k <= 40; k++)
		calls_leave(c, k);
	struct slope_profile *p = calls_end(c);
	struct slope_rank r = ranked(p, 10);
	const struct slope_rank_row *row = row_of(&r, "down");

	assert_int_equal(row->calls, 40);
	assert_int_equal(row->points, 40);
	assert_int_equal(row->total, 4000);
	assert_int_equal(row->self, 4000);
	assert_true(row->share == 1);
	assert_int_equal(row->via, SLOPE_FN_NONE);
	assert_string_equal(slope_verdict_name(row->growth.verdict), "linear");
	slope_rank_fini(&r);
	slope_profile_free(p);
}

static void threads_add_up(void **state)
{
	struct calls *c = calls_new();
	uint32_t scan = calls_function(c, "scan"), alone = calls_function(c, "alone");

	(void)state;
	for (uint64_t n = 4; n < 1000; n = n * 2)
		calls_leaf(c, scan, n, 10 * n);
	calls_next_thread(c);
	for (uint64_t n = 5; n < 1000; n = n * 2)
		calls_leaf(c, scan, n, 10 * n);
	calls_leaf(c, scan, 4, 40);
	calls_leaf(c, alone, 1, 1);
	struct slope_profile *p = calls_end(c);
	struct slope_rank r = ranked(p, 10);
	const struct slope_rank_row *row = row_of(&r, "scan");

	assert_int_equal(row->threads, 2);
	assert_int_equal(row_of(&r, "alone")->threads, 1);
	assert_int_equal(row->calls, 8 + 8 + 1);
	assert_int_equal(row->points, 16);
	assert_int_equal(row->n_min, 4);
	assert_int_equal(row->n_max, 640);
	assert_int_equal(row->total, 10 * (4 * 255 + 5 * 255 + 4));
	assert_int_equal(r.program, row->total + 1);
	assert_string_equal(slope_verdict_name(row->growth.verdict), "linear");
	slope_rank_fini(&r);
	slope_profile_free(p);
}

static void nothing_ran(void **state)
{
	struct slope_profile *p = calls_end(calls_new());
	struct slope_rank r = ranked(p, 10);

	(void)state;
	assert_int_equal(r.count, 0);
	assert_int_equal(r.program, 0);
	slope_rank_fini(&r);
	p->row_count = 0;
	r = ranked(p, 10);
	assert_int_equal(r.count, 0);
	slope_rank_fini(&r);
	slope_profile_free(p);
}

static void memory_may_run_out(void **state)
{
	const struct slope_rank_options o = { .metric = SLOPE_METRIC_TRMS, .times = 10 };
	struct slope_profile *p = all_kinds();
	struct slope_rank r;
	bool whole = false;
	size_t k = 0;

	(void)state;
	for (; !whole; k++) {
		assert_true(k < 100);
		failing_after(k);
		whole = slope_rank_init(&r, p, &o);
		failing_never();
		if (!whole)
			assert_true(!r.row && !r.count);
	}
	assert_true(k > 3);          /* rows, a curve, callees */
	slope_rank_fini(&r);
	slope_profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everybody_has_a_group),
		cmocka_unit_test(numbers_are_those_of_the_profile),
		cmocka_unit_test(shares_at_so_many_times),
		cmocka_unit_test(another_factor_needs_no_fits),
		cmocka_unit_test(evidence_discounts_the_score),
		cmocka_unit_test(growth_is_inherited),
		cmocka_unit_test(growth_is_inherited_where_totals_are_equal),
		cmocka_unit_test(growth_of_ones_own_is_not),
		cmocka_unit_test(growth_is_not_inherited_in_circles),
		cmocka_unit_test(wrappers_are_left_out),
		cmocka_unit_test(without_edges_nothing_is_passed_on),
		cmocka_unit_test(recursion_counts_once),
		cmocka_unit_test(threads_add_up),
		cmocka_unit_test(nothing_ran),
		cmocka_unit_test(memory_may_run_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
