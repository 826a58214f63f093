/* SPDX-License-Identifier: GPL-3.0-or-later */
/* analysis/explanation.c: programs whose culprit is known. */
#include <math.h>

#include "analysis/explanation.h"
#include "tests/unit/calls_sample.h"
#include "tests/unit/failing.h"

#define NEXT(n) ((n) * 5 / 4 + 1)

static struct slope_explanation *explained(const struct slope_profile *p, uint32_t function)
{
	struct slope_explanation *e = malloc(sizeof(*e));

	assert_non_null(e);
	assert_true(slope_explain(e, p, function, SLOPE_METRIC_TRMS, 0));
	assert_int_equal(e->level[0].function, function);
	assert_int_equal(e->level[e->levels - 1].function, e->culprit);
	return e;
}

static void is_about(double value, double truth, double tolerance)
{
	if (!(fabs(value - truth) <= tolerance))
		fail_msg("%g is not about %g", value, truth);
}

static double sum_of_shares(const struct slope_level *level)
{
	double sum = level->rest;

	for (size_t i = 0; i < level->parts; i++)
		sum += level->part[i].share;
	return sum;
}

static void its_own_code(void **state)
{
	struct calls *c = calls_new();
	uint32_t work = calls_function(c, "work"), helper = calls_function(c, "helper");

	(void)state;
	for (uint64_t n = 4; n < 1000; n = NEXT(n)) {
		calls_enter(c, work);
		calls_work(c, n * n);
		calls_leaf(c, helper, 3, 7);
		calls_leave(c, n);
	}
	struct slope_profile *p = calls_end(c);
	struct slope_explanation *e = explained(p, work);
	const struct slope_level *level = &e->level[0];

	assert_true(e->known && level->by_growth && !level->recursive);
	assert_int_equal(e->levels, 1);
	assert_int_equal(e->blame, SLOPE_BLAME_SELF);
	assert_int_equal(e->culprit, work);
	assert_int_equal(e->callee, SLOPE_FN_NONE);
	assert_int_equal(level->part[0].callee, SLOPE_FN_NONE);
	is_about(level->part[0].share, 1, 1e-9);
	is_about(level->part[0].cost_rise, 2, 0.05);
	is_about(sum_of_shares(level), 1, 1e-9);
	free(e);
	slope_profile_free(p);
}

/* loop(n) calls body `often` ? n times : once, with n cells each where `large`. */
static struct slope_profile *loop_and_body(bool often, bool large, uint32_t *loop, uint32_t *body)
{
	struct calls *c = calls_new();

	*loop = calls_function(c, "loop");
	*body = calls_function(c, "body");
	for (uint64_t n = 4; n < 600; n = NEXT(n)) {
		calls_enter(c, *loop);
		calls_work(c, 2 * n);
		for (uint64_t i = 0; i < (often ? n : 1); i++)
			calls_leaf(c, *body, large ? n : 10, large ? 5 * n : 60);
		calls_leave(c, n);
	}
	return calls_end(c);
}

static void a_callee_is_called_often(void **state)
{
	uint32_t loop, body;
	struct slope_profile *p = loop_and_body(true, false, &loop, &body);
	struct slope_explanation *e = explained(p, loop);
	const struct slope_part *part = &e->level[0].part[0];

	(void)state;
	assert_int_equal(e->blame, SLOPE_BLAME_OFTEN);
	assert_int_equal(e->culprit, loop);
	assert_int_equal(e->callee, body);
	assert_int_equal(part->callee, body);
	is_about(part->share, 60.0 / 62, 1e-9);
	is_about(part->cost_share, 60.0 / 62, 1e-9);
	is_about(part->calls_rise, 1, 0.01);
	is_about(part->each_rise, 0, 1e-9);
	is_about(part->each_top, 60, 1e-9);
	assert_string_equal(slope_verdict_name(part->calls.verdict), "linear");
	assert_string_equal(slope_verdict_name(part->each.verdict), "constant");
	free(e);
	slope_profile_free(p);
}

static void a_callee_is_called_often_and_has_more_to_do(void **state)
{
	uint32_t loop, body;
	struct slope_profile *p = loop_and_body(true, true, &loop, &body);
	struct slope_explanation *e = explained(p, loop);
	const struct slope_part *part = &e->level[0].part[0];

	(void)state;
	assert_int_equal(e->blame, SLOPE_BLAME_BOTH);
	assert_int_equal(e->culprit, loop);
	assert_int_equal(e->callee, body);
	is_about(part->cost_rise, 2, 0.02);
	is_about(part->calls_rise, 1, 0.02);
	is_about(part->each_rise, 1, 0.02);
	is_about(sum_of_shares(&e->level[0]), 1, 1e-9);
	free(e);
	slope_profile_free(p);
}

/* Called once a time, with ever more to do: the answer is inside it. */
static void a_callee_has_more_to_do(void **state)
{
	uint32_t loop, body;
	struct slope_profile *p = loop_and_body(false, true, &loop, &body);
	struct slope_explanation *e = explained(p, loop);

	(void)state;
	assert_int_equal(e->levels, 2);
	assert_int_equal(e->level[0].part[0].callee, body);
	assert_int_equal(e->blame, SLOPE_BLAME_SELF);
	assert_int_equal(e->culprit, body);
	free(e);
	slope_profile_free(p);
}

/* f0 hands n on to f1, and so on; the last one does the work. */
static struct slope_profile *chain(unsigned length, uint32_t *first)
{
	struct calls *c = calls_new();
	char name[8];

	*first = 1;
	for (unsigned i = 0; i < length; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		calls_function(c, name);
	}
	for (uint64_t n = 4; n < 600; n = NEXT(n)) {
		for (unsigned i = 0; i < length; i++) {
			calls_enter(c, *first + i);
			calls_work(c, 3);
		}
		calls_work(c, n * n);
		for (unsigned i = 0; i < length; i++)
			calls_leave(c, n);
	}
	return calls_end(c);
}

static void several_levels_down(void **state)
{
	uint32_t first;
	struct slope_profile *p = chain(5, &first);
	struct slope_explanation *e = explained(p, first);

	(void)state;
	assert_int_equal(e->levels, 5);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(e->level[i].function, first + i);
	assert_int_equal(e->blame, SLOPE_BLAME_SELF);
	assert_int_equal(e->culprit, first + 4);
	free(e);
	slope_profile_free(p);
}

static void no_deeper_than_so_many_levels(void **state)
{
	uint32_t first;
	struct slope_profile *p = chain(SLOPE_LEVELS_MAX + 4, &first);
	struct slope_explanation *e = explained(p, first);

	(void)state;
	assert_int_equal(e->levels, SLOPE_LEVELS_MAX);
	assert_int_equal(e->blame, SLOPE_BLAME_LARGE);
	assert_int_equal(e->culprit, first + SLOPE_LEVELS_MAX - 1);
	assert_int_equal(e->callee, first + SLOPE_LEVELS_MAX);
	free(e);
	slope_profile_free(p);
}

/* down(n) does n itself and calls down(n - 1): n^2, and no callee to blame. */
static void recursion_multiplies(void **state)
{
	struct calls *c = calls_new();
	uint32_t down = calls_function(c, "down"), step = calls_function(c, "step");

	(void)state;
	for (uint64_t k = 300; k > 0; k--) {
		calls_enter(c, down);
		calls_work(c, 2 * k);
		calls_leaf(c, step, k, 4 * k);
	}
	for (uint64_t k = 1; k <= 300; k++)
		calls_leave(c, k);
	struct slope_profile *p = calls_end(c);
	struct slope_explanation *e = explained(p, down);
	const struct slope_level *level = &e->level[0];

	assert_true(level->recursive);
	is_about(level->own_calls, 299.0 / 300, 1e-9);
	is_about(level->body_rise, 1, 0.02);
	is_about(level->growth.exponent, 2, 0.1);
	assert_int_equal(e->blame, SLOPE_BLAME_DEEP);
	assert_int_equal(e->culprit, down);
	assert_int_equal(level->parts, 2);
	assert_int_equal(level->part[0].callee, step);
	is_about(level->part[0].share, 4.0 / 6, 1e-9);
	is_about(sum_of_shares(level), 1, 1e-9);
	free(e);
	slope_profile_free(p);
}

/* ping calls pong, pong calls ping: followed once round, no further. */
static void two_that_call_each_other(void **state)
{
	struct calls *c = calls_new();
	uint32_t ping = calls_function(c, "ping"), pong = calls_function(c, "pong");

	(void)state;
	for (uint64_t k = 300; k > 0; k--) {
		calls_enter(c, k % 2 ? ping : pong);
		calls_work(c, k);
	}
	for (uint64_t k = 1; k <= 300; k++)
		calls_leave(c, k);
	struct slope_profile *p = calls_end(c);
	struct slope_explanation *e = explained(p, ping);

	assert_int_equal(e->levels, 2);
	assert_int_equal(e->level[1].function, pong);
	assert_int_equal(e->blame, SLOPE_BLAME_LARGE);
	assert_int_equal(e->callee, ping);
	assert_false(e->level[0].recursive);
	for (size_t i = 0; i < 2; i++)
		is_about(sum_of_shares(&e->level[i]), 1, 1e-9);
	free(e);
	slope_profile_free(p);
}

/* As older versions recorded it: what callees cost cannot be told from the function's own code, and this is said. */
static void a_profile_without_sizes_of_edges(void **state)
{
	uint32_t loop, body;
	struct slope_profile *p = loop_and_body(true, true, &loop, &body);

	(void)state;
	for (size_t i = 0; i < p->edge_count; i++)
		p->edge[i].sizes.count = 0;
	struct slope_explanation *e = explained(p, loop);

	assert_false(e->known);
	assert_int_equal(e->level[0].parts, 1);
	assert_int_equal(e->level[0].part[0].callee, SLOPE_FN_NONE);
	is_about(sum_of_shares(&e->level[0]), 1, 1e-9);
	free(e);
	slope_profile_free(p);
}

/* No growth to speak of: parts of the cost. */
static void one_size_only(void **state)
{
	struct calls *c = calls_new();
	uint32_t main = calls_function(c, "main"), most = calls_function(c, "most"), less = calls_function(c, "less");

	(void)state;
	calls_enter(c, main);
	calls_work(c, 100);
	calls_leaf(c, most, 10, 600);
	calls_leaf(c, less, 10, 200);
	calls_leaf(c, less, 10, 100);
	calls_leave(c, 50);
	struct slope_profile *p = calls_end(c);
	struct slope_explanation *e = explained(p, main);
	const struct slope_level *level = &e->level[0];

	assert_false(level->by_growth);
	assert_int_equal(level->parts, 3);
	assert_int_equal(level->part[0].callee, most);
	assert_int_equal(level->part[1].callee, less);
	assert_int_equal(level->part[2].callee, SLOPE_FN_NONE);
	is_about(level->part[0].share, 0.6, 1e-12);
	is_about(level->part[1].share, 0.3, 1e-12);
	is_about(level->part[2].share, 0.1, 1e-12);
	is_about(level->part[1].calls_top, 2, 1e-12);
	is_about(level->part[1].each_top, 150, 1e-12);
	assert_true(isnan(level->part[0].cost_rise));
	free(e);
	slope_profile_free(p);
}

/* More callees than are kept: the largest are, and the rest adds up to the whole. */
static void the_rest_makes_a_whole(void **state)
{
	enum { CALLEES = 14 };
	struct calls *c = calls_new();
	uint32_t many = calls_function(c, "many");
	char name[8];

	(void)state;
	for (unsigned i = 0; i < CALLEES; i++) {
		snprintf(name, sizeof(name), "g%u", i);
		calls_function(c, name);
	}
	for (uint64_t n = 8; n < 600; n = NEXT(n)) {
		calls_enter(c, many);
		calls_work(c, n);
		for (unsigned i = 0; i < CALLEES; i++)
			calls_leaf(c, many + 1 + i, n, (i + 2) * n);
		calls_leave(c, n);
	}
	struct slope_profile *p = calls_end(c);
	struct slope_explanation *e = explained(p, many);
	const struct slope_level *level = &e->level[0];

	assert_int_equal(level->parts, SLOPE_PARTS_KEPT);
	for (size_t i = 0; i < level->parts; i++)
		assert_int_equal(level->part[i].callee, many + CALLEES - i);
	is_about(level->part[0].share, 15.0 / 120, 1e-9);
	is_about(level->rest, (1 + 2 + 3 + 4 + 5 + 6 + 7) / 120.0, 1e-9);
	is_about(sum_of_shares(level), 1, 1e-9);
	free(e);
	slope_profile_free(p);
}

static void a_function_without_points(void **state)
{
	uint32_t loop, body;
	struct slope_profile *p = loop_and_body(true, true, &loop, &body);
	struct slope_explanation *e = malloc(sizeof(*e));

	(void)state;
	assert_non_null(e);
	assert_true(slope_explain(e, p, loop, SLOPE_METRIC_RMS, 0));
	assert_int_equal(e->levels, 1);
	assert_int_equal(e->level[0].parts, 0);
	assert_int_equal(e->blame, SLOPE_BLAME_NOBODY);
	free(e);
	slope_profile_free(p);
}

/* Called ever more often, and steep itself: the callee is the one to look into. */
static struct slope_profile *steep_body(uint32_t *loop, uint32_t *body)
{
	struct calls *c = calls_new();

	*loop = calls_function(c, "loop");
	*body = calls_function(c, "body");
	for (uint64_t n = 4; n < 300; n = NEXT(n)) {
		calls_enter(c, *loop);
		for (uint64_t i = 0; i < n; i++)
			calls_leaf(c, *body, n, n * n);
		calls_leave(c, n);
	}
	return calls_end(c);
}

static void a_steep_callee_is_looked_into(void **state)
{
	uint32_t loop, body;
	struct slope_profile *p = steep_body(&loop, &body);
	struct slope_explanation *e = explained(p, loop);

	(void)state;
	assert_int_equal(e->levels, 2);
	assert_int_equal(e->blame, SLOPE_BLAME_SELF);
	assert_int_equal(e->culprit, body);
	free(e);
	slope_profile_free(p);
}

/* No memory is no answer, never another one. */
static void memory_may_run_out(void **state)
{
	struct slope_explanation *e = malloc(sizeof(*e));
	uint32_t loop, body;
	struct slope_profile *p = steep_body(&loop, &body);
	bool whole = false;
	size_t k = 0;

	(void)state;
	assert_non_null(e);
	for (; !whole; k++) {
		assert_true(k < 100);
		failing_after(k);
		whole = slope_explain(e, p, loop, SLOPE_METRIC_TRMS, 0);
		failing_never();
	}
	assert_true(k > 3);          /* scratch, a curve, tallies */
	assert_int_equal(e->levels, 2);
	assert_int_equal(e->culprit, body);
	free(e);
	slope_profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(its_own_code),
		cmocka_unit_test(a_callee_is_called_often),
		cmocka_unit_test(a_callee_is_called_often_and_has_more_to_do),
		cmocka_unit_test(a_callee_has_more_to_do),
		cmocka_unit_test(several_levels_down),
		cmocka_unit_test(no_deeper_than_so_many_levels),
		cmocka_unit_test(recursion_multiplies),
		cmocka_unit_test(two_that_call_each_other),
		cmocka_unit_test(a_profile_without_sizes_of_edges),
		cmocka_unit_test(one_size_only),
		cmocka_unit_test(the_rest_makes_a_whole),
		cmocka_unit_test(a_function_without_points),
		cmocka_unit_test(a_steep_callee_is_looked_into),
		cmocka_unit_test(memory_may_run_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
