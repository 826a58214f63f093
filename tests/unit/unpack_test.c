/* SPDX-License-Identifier: GPL-3.0-or-later */
/* profile/unpack.c and those beside it: what records mean, and what becomes of those that no slope would write. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "format/encode.h"
#include "tests/unit/problems.h"

static char error[256];

/* A file made record by record, for what no slope would write. */
struct made {
	struct slope_encoder e;
	unsigned char bytes[4096];
	size_t count;
};

static bool write_made(void *ctx, const void *bytes, size_t count)
{
	struct made *m = ctx;

	assert_true(m->count + count <= sizeof m->bytes);
	memcpy(m->bytes + m->count, bytes, count);
	m->count += count;
	return true;
}

static struct made *begin_made(uint32_t units)
{
	struct made *m = calloc(1, sizeof *m);

	m->e.writer = (struct slope_writer){ write_made, m };
	slope_encode_begin(&m->e, units);
	slope_encode_function(&m->e, &(struct slope_function_entry){ .number = 0 });
	slope_encode_function(&m->e, &(struct slope_function_entry){ .number = 5, .module = 1, .offset = 16 });
	slope_encode_thread(&m->e, &(struct slope_thread_entry){ .number = 1, .id = 1 });
	slope_encode_cost(&m->e, &(struct slope_cost_entry){ .function = 5, .thread = 1, .calls = 8 });
	return m;
}

static struct slope_profile *end_made(struct made *m)
{
	assert_true(slope_encode_end(&m->e));
	struct slope_profile *p = slope_profile_decode(m->bytes, m->count, error, sizeof error);

	assert_non_null(p);
	free(m);
	return p;
}

static void what_refers_to_nothing_is_left_out_and_said(void **state)
{
	struct made *m = begin_made(1);
	struct slope_profile *p;

	(void)state;
	slope_encode_cost(&m->e, &(struct slope_cost_entry){ .function = 6, .thread = 1, .calls = 1 });
	slope_encode_cost(&m->e, &(struct slope_cost_entry){ .function = 5, .thread = 2, .calls = 1 });
	slope_encode_edge(&m->e, &(struct slope_edge_entry){ .caller = UINT32_MAX, .callee = 5, .thread = 1 });
	slope_encode_symbol(&m->e, &(struct slope_symbol_entry){ .function = 7 });
	slope_encode_symbol(&m->e, &(struct slope_symbol_entry){ .function = 5, .file = 3, .line = 4 });
	slope_encode_points_begin(&m->e, &(struct slope_points_entry){ .function = 0, .thread = 1, .bits = 64 });
	slope_encode_points_end(&m->e);
	p = end_made(m);
	assert_int_equal(p->row_count, 1);
	assert_int_equal(p->edge_count, 0);
	assert_true(has_problem(p, "records: 2 left out, because what they refer to is missing"));
	assert_true(has_problem(p, "edges: 1 left out, because what they refer to is missing"));
	assert_true(has_problem(p, "symbols: 1 left out, because what they refer to is missing"));
	assert_true(has_problem(p, "symbols: 1 kept without what they refer to, which is missing"));
	assert_true(has_problem(p, "points: 1 left out, because what they refer to is missing"));
	assert_true(has_problem(p, "functions: 1 kept without what they refer to, which is missing"));
	assert_string_equal(p->function[1].name, "(no file)+0x10");
	slope_profile_free(p);
}

static void what_comes_twice_counts_once(void **state)
{
	struct slope_point *row = calloc(1, slope_point_bytes(1));
	struct made *m = begin_made(1);
	struct slope_profile *p;

	(void)state;
	slope_encode_function(&m->e, &(struct slope_function_entry){ .number = 5 });
	slope_encode_function(&m->e, &(struct slope_function_entry){ .number = 0 });
	slope_encode_thread(&m->e, &(struct slope_thread_entry){ .number = 1 });
	slope_encode_cost(&m->e, &(struct slope_cost_entry){ .function = 5, .thread = 1, .calls = 8 });
	for (int i = 0; i < 3; i++)
		slope_encode_edge(&m->e, &(struct slope_edge_entry){ .caller = 0, .callee = 5, .thread = 1, .calls = 8 });
	row->calls = 4;
	slope_encode_points_begin(&m->e, &(struct slope_points_entry){ .function = 5, .thread = 1, .bits = 64 });
	slope_encode_point_row(&m->e, row);
	slope_encode_point_row(&m->e, row);
	slope_encode_points_end(&m->e);
	p = end_made(m);
	assert_int_equal(p->function_count, 2);
	assert_int_equal(p->thread_count, 1);
	assert_int_equal(p->row_count, 1);
	assert_int_equal(p->edge_count, 1);
	assert_int_equal(p->row[0].points[0].count, 1);
	assert_true(has_problem(p, "functions: 2 left out, because they come twice"));
	assert_true(has_problem(p, "threads: 1 left out, because they come twice"));
	assert_true(has_problem(p, "records: 1 left out, because they come twice"));
	assert_true(has_problem(p, "edges: 2 left out, because they come twice"));
	assert_true(has_problem(p, "points: 1 left out, because they come twice"));
	slope_profile_free(p);
	free(row);
}

static void contexts_are_checked(void **state)
{
	struct made *m = begin_made(1);
	struct slope_context_entry node = { .thread = 1, .number = 3, .parent = SLOPE_NUMBER_NONE, .function = 5, .site = 2 };
	struct slope_variant_entry variant = { .number = 4, .callers = 1, .caller = { 5 }, .cost = { .function = 5, .thread = 1 } };
	struct slope_profile *p;

	(void)state;
	slope_encode_site(&m->e, &(struct slope_site_entry){ .number = 8, .module = 7, .offset = 3 });
	slope_encode_context(&m->e, &node);                      /* kept, without its site */
	slope_encode_context(&m->e, &node);                      /* twice */
	node = (struct slope_context_entry){ .thread = 1, .number = 9, .parent = 3, .site = 8, .calls = 2 };
	slope_encode_context(&m->e, &node);                      /* good */
	node.parent = 4;
	node.number = 10;
	slope_encode_context(&m->e, &node);                      /* there is no 4 */
	node.parent = 3;
	node.thread = 2;
	slope_encode_context(&m->e, &node);                      /* no thread 2 */
	slope_encode_variant(&m->e, &variant);
	slope_encode_variant(&m->e, &variant);                   /* twice by number */
	variant.number = 5;
	slope_encode_variant(&m->e, &variant);                   /* twice by callers */
	variant.number = 6;
	variant.caller[0] = 77;
	slope_encode_variant(&m->e, &variant);                   /* no such caller */
	slope_encode_variant_points_begin(&m->e, &(struct slope_points_entry){ .function = 6, .thread = 1, .bits = 64 });
	slope_encode_points_end(&m->e);
	p = end_made(m);
	assert_int_equal(p->context_count, 2);
	assert_int_equal(p->context[0].site, SLOPE_CONTEXT_NONE);
	assert_int_equal(p->context[1].parent, 0);
	assert_int_equal(p->context[1].site, 0);
	assert_int_equal(p->variant_count, 1);
	assert_true(has_problem(p, "call sites: 1 kept without what they refer to, which is missing"));
	assert_true(has_problem(p, "contexts: 1 kept without what they refer to, which is missing"));
	assert_true(has_problem(p, "contexts: 1 left out, because they come twice"));
	assert_true(has_problem(p, "contexts: 2 left out, because what they refer to is missing"));
	assert_true(has_problem(p, "variants: 2 left out, because they come twice"));
	assert_true(has_problem(p, "variants: 1 left out, because what they refer to is missing"));
	assert_true(has_problem(p, "points of variants: 1 left out, because what they refer to is missing"));
	slope_profile_free(p);
}

static void points_out_of_range_are_left_out(void **state)
{
	struct slope_point *row = calloc(1, slope_point_bytes(1));
	struct made *m = begin_made(1);
	struct slope_profile *p;

	(void)state;
	slope_encode_points_begin(&m->e, &(struct slope_points_entry){ .function = 5, .thread = 1, .bits = 2 });
	slope_encode_point_row(&m->e, row);      /* no calls */
	row->calls = 1;
	row->n = 9;                              /* no edge of a bin with three binary digits */
	slope_encode_point_row(&m->e, row);
	row->n = 10;
	slope_encode_point_row(&m->e, row);
	slope_encode_points_end(&m->e);
	slope_encode_points_begin(&m->e, &(struct slope_points_entry){ .metric = 2, .function = 5, .thread = 1, .bits = 64 });
	slope_encode_points_end(&m->e);
	p = end_made(m);
	assert_int_equal(p->row[0].points[0].count, 1);
	assert_true(has_problem(p, "points: 3 out of range and left out"));
	slope_profile_free(p);
	free(row);
}

static void sizes_of_edges_are_checked_and_sorted(void **state)
{
	static const uint64_t n[] = { 12, 0, 9, 10, 12 };        /* 9 is no bin of three binary digits */
	struct slope_sizes_entry known = { .thread = 1, .callee = 5, .bits = 2 }, unknown = known, other = known;
	struct slope_size_entry row = { .activations = 2, .calls = 2 };
	struct made *m = begin_made(1);
	struct slope_profile *p;

	(void)state;
	unknown.caller = 5;                      /* both ends are there, the edge is not */
	other.bits = 3;
	slope_encode_edge(&m->e, &(struct slope_edge_entry){ .caller = 0, .callee = 5, .thread = 1, .calls = 8 });
	slope_encode_sizes_begin(&m->e, &known);
	for (int i = 0; i < 5; i++) {
		row.n = n[i];
		row.cost[0] = i;
		slope_encode_size_row(&m->e, &row);
	}
	row.n = 6;
	row.calls = 1;                           /* of two activations one did not call it */
	slope_encode_size_row(&m->e, &row);
	slope_encode_sizes_end(&m->e);
	slope_encode_sizes_begin(&m->e, &unknown);
	slope_encode_size_row(&m->e, &row);
	slope_encode_sizes_end(&m->e);
	slope_encode_sizes_begin(&m->e, &other);
	slope_encode_size_row(&m->e, &row);
	slope_encode_sizes_end(&m->e);
	p = end_made(m);
	assert_int_equal(p->edge_count, 1);
	assert_int_equal(p->edge[0].sizes.bits, 2);
	assert_int_equal(p->edge[0].sizes.count, 3);
	assert_int_equal(p->edge[0].sizes.row[0].n, 0);
	assert_int_equal(p->edge[0].sizes.row[1].n, 10);
	assert_int_equal(p->edge[0].sizes.row[1].cost[0], 3);
	assert_int_equal(p->edge[0].sizes.row[2].n, 12);
	assert_true(has_problem(p, "sizes of edges: 2 out of range and left out"));
	assert_true(has_problem(p, "sizes of edges: 2 left out, because they come twice"));
	assert_true(has_problem(p, "sizes of edges: 1 left out, because what they refer to is missing"));
	slope_profile_free(p);
}

static void points_are_sorted_by_size(void **state)
{
	static const uint64_t n[] = { 7, UINT64_MAX, 0, 3, 9 };
	static const uint64_t sorted[] = { 0, 3, 7, 9, UINT64_MAX };
	struct slope_point *row = calloc(1, slope_point_bytes(1));
	struct made *m = begin_made(1);
	struct slope_profile *p;

	(void)state;
	row->calls = 1;
	slope_encode_points_begin(&m->e, &(struct slope_points_entry){ .function = 5, .thread = 1, .bits = 64 });
	for (int i = 0; i < 5; i++) {
		row->n = n[i];
		slope_encode_point_row(&m->e, row);
	}
	slope_encode_points_end(&m->e);
	p = end_made(m);
	for (size_t i = 0; i < 5; i++)
		assert_true(slope_profile_point(p, &p->row[0].points[0], i)->n == sorted[i]);
	slope_profile_free(p);
	free(row);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_refers_to_nothing_is_left_out_and_said),
		cmocka_unit_test(what_comes_twice_counts_once),
		cmocka_unit_test(contexts_are_checked),
		cmocka_unit_test(points_out_of_range_are_left_out),
		cmocka_unit_test(sizes_of_edges_are_checked_and_sorted),
		cmocka_unit_test(points_are_sorted_by_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
