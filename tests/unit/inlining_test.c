/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Frames for what was inlined, and without them: the same cost, told in two ways. regrow makes the tree. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "profile/build.h"
#include "profile/inlining.h"
#include "profile/regrow.h"
#include "tests/unit/failing.h"

enum { ROOT, MAIN, OUTER, LEAF, INNER, MIDDLE, FUNCTIONS };

static uint32_t add(struct slope_profile *p, uint32_t parent, uint32_t function, uint32_t site, uint64_t calls, uint64_t self)
{
	struct slope_profile_context *c = slope_build_context(p);

	assert_non_null(c);
	*c = (struct slope_profile_context){ .parent = parent, .function = function, .site = site, .calls = calls };
	c->self[0] = self;
	return (uint32_t)(p->context_count - 1);
}

/*
 * main calls outer from two sites; in outer, middle is inlined, and inner in it;
 * inner calls leaf, and leaf calls itself.
 */
static struct slope_profile *sample(void)
{
	struct slope_profile *p = slope_build_profile();

	assert_non_null(p);
	p->units = 1;
	p->unit_name[0] = strdup("samples");
	while (p->function_count < FUNCTIONS)
		assert_non_null(slope_build_function(p));
	p->function[INNER].flags = p->function[MIDDLE].flags = SLOPE_FN_INLINED;
	assert_non_null(slope_build_thread(p));
	uint32_t root = add(p, SLOPE_CONTEXT_NONE, ROOT, SLOPE_CONTEXT_NONE, 0, 0);
	uint32_t at = add(p, root, MAIN, SLOPE_CONTEXT_NONE, 1, 1);

	for (uint32_t site = 0; site < 2; site++) {
		uint32_t outer = add(p, at, OUTER, site, 2, 10);
		uint32_t inner = add(p, add(p, outer, MIDDLE, 5, 0, 100), INNER, 6, 0, 1000);
		uint32_t leaf = add(p, inner, LEAF, 7, 3, 10000);

		add(p, leaf, LEAF, 8, 4, 100000);
		add(p, outer, LEAF, 7, 5, 1000000);      /* called beside what is inlined: the same site by chance */
	}
	return p;
}

static const struct slope_profile_row *row(const struct slope_profile *p, uint32_t function)
{
	return slope_build_find_row(p, function, 0);
}

static void test_inlined_functions_become_part_of_others(void **state)
{
	struct slope_profile *p = sample();

	(void)state;
	assert_true(slope_inlining_fold(p));
	assert_null(row(p, INNER));
	assert_null(row(p, MIDDLE));
	assert_int_equal(row(p, OUTER)->self[0], 2 * 1110);
	assert_int_equal(row(p, OUTER)->total[0], 2 * 1111110);
	assert_int_equal(row(p, OUTER)->calls, 4);
	assert_int_equal(row(p, LEAF)->calls, 2 * 12);
	assert_int_equal(row(p, LEAF)->self[0], 2 * 1110000);
	assert_int_equal(row(p, LEAF)->total[0], 2 * 1110000);   /* the recursion counts once */
	assert_int_equal(row(p, MAIN)->total[0], 2 * 1111110 + 1);
	assert_int_equal(row(p, ROOT)->total[0], 2 * 1111110 + 1);
	/* thread, main, outer twice, each with leaf and leaf in leaf */
	assert_int_equal(p->context_count, 2 + 2 * 3);
	assert_int_equal(slope_build_find_edge(p, OUTER, LEAF, 0)->calls, 2 * 8);
	assert_int_equal(slope_build_find_edge(p, OUTER, LEAF, 0)->cost[0], 2 * 1110000);
	assert_int_equal(slope_build_find_edge(p, LEAF, LEAF, 0)->calls, 2 * 4);
	assert_int_equal(slope_build_find_edge(p, LEAF, LEAF, 0)->cost[0], 0);
	assert_null(slope_build_find_edge(p, INNER, LEAF, 0));
	slope_profile_free(p);
}

static void test_nothing_inlined_nothing_done(void **state)
{
	struct slope_profile *p = sample();
	const struct slope_profile_context *before = p->context;

	(void)state;
	p->function[INNER].flags = p->function[MIDDLE].flags = 0;
	assert_true(slope_inlining_fold(p));
	assert_ptr_equal(p->context, before);
	slope_profile_free(p);
}

static void test_the_same_node_once(void **state)
{
	struct slope_profile *p = sample();
	struct slope_regrow r;

	(void)state;
	slope_regrow_begin(&r, p);
	uint32_t root = slope_regrow_node(&r, SLOPE_CONTEXT_NONE, 0, ROOT, SLOPE_CONTEXT_NONE);
	uint32_t other = slope_regrow_node(&r, SLOPE_CONTEXT_NONE, 0, LEAF, SLOPE_CONTEXT_NONE);
	uint32_t node = slope_regrow_node(&r, root, 0, MAIN, 1);

	assert_int_not_equal(root, other);
	assert_int_equal(slope_regrow_node(&r, root, 0, MAIN, 1), node);
	assert_int_not_equal(slope_regrow_node(&r, root, 0, MAIN, 2), node);
	assert_int_not_equal(slope_regrow_node(&r, other, 0, MAIN, 1), node);
	assert_int_not_equal(slope_regrow_node(&r, root, 0, OUTER, 1), node);
	r.node[node].self[0] = 7;
	assert_true(slope_regrow_end(&r, p));
	slope_regrow_fini(&r);
	assert_int_equal(p->context_count, 6);
	assert_int_equal(p->context[root].total[0], 7);
	assert_int_equal(row(p, ROOT)->total[0], 7);
	slope_profile_free(p);
}

static void test_every_allocation_may_fail(void **state)
{
	bool good = false;
	size_t tries = 0;

	(void)state;
	for (; !good; tries++) {
		struct slope_profile *p = sample();

		failing_after(tries);
		good = slope_inlining_fold(p);
		failing_never();
		assert_int_equal(p->context_count, good ? 8 : 14);
		slope_profile_free(p);
	}
	assert_true(tries > 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_inlined_functions_become_part_of_others),
		cmocka_unit_test(test_nothing_inlined_nothing_done),
		cmocka_unit_test(test_the_same_node_once),
		cmocka_unit_test(test_every_allocation_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
