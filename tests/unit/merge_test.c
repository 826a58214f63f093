/* SPDX-License-Identifier: GPL-3.0-or-later */
/* profile/merge.c: places are recognised, threads stay apart, sums are exact. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/format/sample.h"
#include "tests/unit/failing.h"

static char error[256];

static void one_profile_merges_to_itself(void **state)
{
	struct slope_profile *p = sample_profile();
	struct slope_profile *sum = slope_profile_merge(&p, 1, error, sizeof error);

	(void)state;
	assert_non_null(sum);
	assert_null(sample_difference(p, sum));
	slope_profile_free(sum);
	slope_profile_free(p);
}

static void threads_stay_apart_and_places_are_shared(void **state)
{
	struct slope_profile *two[] = { sample_profile(), sample_profile() };

	(void)state;
	two[1]->process = two[1]->thread[0].process = 99;
	free(two[1]->module[1].path);
	two[1]->module[1].path = sample_text("/elsewhere/wf");      /* the same build */
	free(two[1]->module[2].path);
	two[1]->module[2].path = sample_text("/tmp/another.so");    /* no build id: another module */
	struct slope_profile *sum = slope_profile_merge(two, 2, error, sizeof error);

	assert_non_null(sum);
	assert_int_equal(sum->runs, 2);
	assert_int_equal(sum->module_count, 4);
	assert_int_equal(sum->function_count, 6);
	assert_int_equal(sum->thread_count, 4);
	assert_int_equal(sum->thread[2].process, 99);
	assert_int_equal(sum->row_count, 8);
	assert_int_equal(sum->edge_count, 4);
	assert_int_equal(sum->lost[0].count, 6);
	for (size_t i = 1; i < sum->row_count; i++)
		assert_true(sum->row[i - 1].function < sum->row[i].function ||
			    (sum->row[i - 1].function == sum->row[i].function && sum->row[i - 1].thread < sum->row[i].thread));
	slope_profile_free(sum);
	slope_profile_free(two[0]);
	slope_profile_free(two[1]);
}

static void equal_graphs_are_one_and_others_are_kept(void **state)
{
	struct slope_profile *two[] = { sample_profile(), sample_profile() };

	(void)state;
	two[1]->graph[0].block[1].bytes++;               /* another way to read the function */
	struct slope_profile *sum = slope_profile_merge(two, 2, error, sizeof error);

	assert_non_null(sum);
	assert_int_equal(sum->graph_count, 3);
	assert_int_equal(sum->graph[2].block[1].bytes, 6);
	assert_int_equal(sum->path_count, 8);
	assert_int_equal(sum->path[3].graph, 1);
	assert_int_equal(sum->path[4].graph, 1);
	assert_int_equal(sum->path[4].thread, 3);
	assert_int_equal(sum->path[5].graph, 2);
	assert_int_equal(sum->path[5].thread, 2);
	assert_int_equal(sum->path[5].context, 2 + two[0]->context_count);
	assert_int_equal(sum->repeat_count, 2);
	assert_int_equal(sum->path_size_count, 4);
	assert_int_equal(sum->path_metrics, 2);
	slope_profile_free(sum);
	free(two[1]->path_metric_name[1]);
	two[1]->path_metric_name[1] = sample_text("page-faults");
	assert_null(slope_profile_merge(two, 2, error, sizeof error));
	assert_non_null(strstr(error, "profile 2 has other events of paths"));
	slope_profile_free(two[0]);
	slope_profile_free(two[1]);
}

/* Functions 2 and 3 become the same place of one build under two paths, both active in thread 0. */
static struct slope_profile *doubled_profile(void)
{
	struct slope_profile *p = sample_profile();

	memcpy(p->module[2].build_id, p->module[1].build_id, 32);
	p->module[2].build_id_bytes = p->module[1].build_id_bytes;
	p->function[3].offset = p->function[2].offset;
	p->row[3].function = 3;
	p->row[3].thread = 0;
	p->max_points = 100;
	sample_points(p, &p->row[3], SLOPE_METRIC_RMS, 2, SLOPE_POINTS_EXACT);
	sample_point(p, &p->row[3].points[1], 0, 3, 7, UINT64_MAX / 32, 2);
	sample_point(p, &p->row[3].points[1], 1, 5, 1, 1, 0);
	sample_points(p, &p->row[3], SLOPE_METRIC_TRMS, 1, SLOPE_POINTS_EXACT);
	sample_point(p, &p->row[3].points[0], 0, 1025, 2, 6, 0);
	p->edge[0].caller = 1;
	p->edge[0].callee = 3;
	p->edge[0].sizes = (struct slope_profile_sizes){ .bits = 2, .count = 2, .row = calloc(2, sizeof *p->edge[0].sizes.row) };
	p->edge[0].sizes.row[0] = (struct slope_profile_size){ .n = 96, .activations = 1, .calls = 5, .cost = { 10, 20 } };
	p->edge[0].sizes.row[1] = (struct slope_profile_size){ .n = 160, .activations = 2, .calls = 7, .cost = { 30, 40 } };
	return p;
}

static void points_of_one_size_add_up_exactly(void **state)
{
	struct slope_profile *p = doubled_profile();
	struct slope_profile *sum = slope_profile_merge(&p, 1, error, sizeof error);
	const struct slope_point *a = slope_profile_point(p, &p->row[2].points[1], 0);
	const struct slope_point *b = slope_profile_point(p, &p->row[3].points[1], 0);

	(void)state;
	assert_int_equal(sum->row_count, 3);
	const struct slope_profile_row *row = &sum->row[2];
	const struct slope_point *both = slope_profile_point(sum, &row->points[1], 0);

	assert_int_equal(row->calls, 1000);
	assert_int_equal(row->points[1].count, 3);
	assert_int_equal(both->n, 3);
	assert_int_equal(both->calls, 1005);
	for (uint32_t u = 0; u < 2; u++) {
		unsigned __int128 want = ((unsigned __int128)a->cost[u].sq_hi << 64) + a->cost[u].sq_lo;

		want += ((unsigned __int128)b->cost[u].sq_hi << 64) + b->cost[u].sq_lo;
		assert_true(both->cost[u].sq_lo == (uint64_t)want && both->cost[u].sq_hi == (uint64_t)(want >> 64));
		assert_true(both->cost[u].min == a->cost[u].min && both->cost[u].max == b->cost[u].max);
		assert_true(both->cost[u].sum == a->cost[u].sum + b->cost[u].sum);
	}
	slope_profile_free(sum);
	slope_profile_free(p);
}

static void the_coarser_table_decides(void **state)
{
	struct slope_profile *p = doubled_profile();
	struct slope_profile *sum = slope_profile_merge(&p, 1, error, sizeof error);
	const struct slope_profile_points *points = &sum->row[2].points[SLOPE_METRIC_TRMS];

	(void)state;
	assert_int_equal(points->bits, 10);
	assert_int_equal(points->count, 4);
	assert_int_equal(slope_profile_point(sum, points, 1)->n, 1024);
	assert_int_equal(slope_profile_point(sum, points, 2)->n, 1025);  /* eleven digits are exact */
	slope_profile_free(sum);
	p->max_points = 3;               /* now they must be folded further */
	sum = slope_profile_merge(&p, 1, error, sizeof error);
	points = &sum->row[2].points[SLOPE_METRIC_TRMS];
	assert_int_equal(points->bits, 9);
	assert_int_equal(points->count, 3);
	assert_int_equal(slope_profile_point(sum, points, 1)->calls, 9);
	slope_profile_free(sum);
	slope_profile_free(p);
}

/* One of the two edges has bins of 3 digits, the other of 2: 96 and 104 become one. */
static void sizes_of_edges_add_up_in_the_coarser_bins(void **state)
{
	struct slope_profile *p = doubled_profile();
	struct slope_profile *sum = slope_profile_merge(&p, 1, error, sizeof error);

	(void)state;
	assert_int_equal(sum->edge_count, 1);
	assert_int_equal(sum->edge[0].calls, 1000);
	const struct slope_profile_sizes *sizes = &sum->edge[0].sizes;

	assert_int_equal(sizes->bits, 2);
	assert_int_equal(sizes->count, 4);
	assert_int_equal(sizes->row[0].n, 0);
	assert_int_equal(sizes->row[1].n, 96);
	assert_int_equal(sizes->row[1].activations, 4);
	assert_int_equal(sizes->row[1].calls, 905);
	assert_int_equal(sizes->row[1].cost[0], 1000010);
	assert_int_equal(sizes->row[1].cost[1], 27);
	assert_int_equal(sizes->row[2].n, 160);
	assert_true(sizes->row[3].n == UINT64_C(7) << 61);
	slope_profile_free(sum);
	slope_profile_free(p);
}

/* The second run's nodes, sites and variants come behind the first one's and refer to their own. */
static void contexts_stay_apart(void **state)
{
	struct slope_profile *one = sample_profile(), *all[2] = { one, sample_profile() };
	struct slope_profile *p = slope_profile_merge(all, 2, error, sizeof error);

	(void)state;
	assert_non_null(p);
	assert_int_equal(p->context_count, 2 * one->context_count);
	assert_int_equal(p->site_count, 2 * one->site_count);
	assert_int_equal(p->variant_count, 2 * one->variant_count);
	assert_int_equal(p->variants_folded, 2 * one->variants_folded);
	assert_int_equal(p->context_k, one->context_k);
	for (size_t i = 0; i < one->context_count; i++) {
		const struct slope_profile_context *a = &one->context[i], *b = &p->context[one->context_count + i];

		assert_int_equal(b->function, a->function);
		assert_int_equal(b->thread, a->thread + one->thread_count);
		assert_int_equal(b->parent, a->parent == SLOPE_CONTEXT_NONE ? a->parent : a->parent + one->context_count);
		assert_int_equal(b->site, a->site == SLOPE_CONTEXT_NONE ? a->site : a->site + one->site_count);
		assert_int_equal(b->calls, a->calls);
	}
	all[1]->context_k++;
	assert_null(slope_profile_merge(all, 2, error, sizeof error));
	assert_non_null(strstr(error, "profile 2 has other contexts than the first"));
	slope_profile_free(p);
	slope_profile_free(all[0]);
	slope_profile_free(all[1]);
}

static void names_of_one_run_help_another(void **state)
{
	struct slope_profile *two[] = { sample_profile(), sample_profile() };

	(void)state;
	free(two[0]->function[2].raw_name);
	free(two[0]->function[2].name);
	free(two[0]->function[2].file);
	two[0]->function[2].raw_name = two[0]->function[2].file = NULL;
	two[0]->function[2].name = sample_text("wf+0x1200");
	struct slope_profile *sum = slope_profile_merge(two, 2, error, sizeof error);

	assert_string_equal(sum->function[2].name, "words::lower(char*)");
	assert_string_equal(sum->function[2].file, "wf.c");
	assert_int_equal(sum->function[2].line, 12);
	slope_profile_free(sum);
	slope_profile_free(two[0]);
	slope_profile_free(two[1]);
}

static void problems_name_their_process(void **state)
{
	struct slope_profile *p = sample_profile();

	(void)state;
	p->problem = calloc(1, sizeof *p->problem);
	p->problem[0] = sample_text("cut off");
	p->problem_count = 1;
	p->complete = false;
	struct slope_profile *sum = slope_profile_merge(&p, 1, error, sizeof error);

	assert_int_equal(sum->problem_count, 1);
	assert_string_equal(sum->problem[0], "process 4711: cut off");
	assert_false(sum->complete);
	slope_profile_free(sum);
	slope_profile_free(p);
}

static void what_cannot_be_compared_is_refused(void **state)
{
	struct slope_profile *two[] = { sample_profile(), sample_profile() };

	(void)state;
	two[1]->cell_bytes = 8;
	assert_null(slope_profile_merge(two, 2, error, sizeof error));
	assert_non_null(strstr(error, "profile 2 has other cell sizes"));
	two[1]->metrics = 1;
	assert_null(slope_profile_merge(two, 2, error, sizeof error));
	assert_non_null(strstr(error, "input metrics"));
	strcpy(two[1]->unit_name[1], "ns");
	assert_null(slope_profile_merge(two, 2, error, sizeof error));
	assert_non_null(strstr(error, "cost units"));
	assert_null(slope_profile_merge(two, 0, error, sizeof error));
	slope_profile_free(two[0]);
	slope_profile_free(two[1]);
}

static void every_allocation_may_fail(void **state)
{
	struct slope_profile *two[] = { doubled_profile(), sample_profile() }, *sum = NULL;

	(void)state;
	for (size_t k = 0; !sum; k++) {
		*error = '\0';
		failing_after(k);
		sum = slope_profile_merge(two, 2, error, sizeof error);
		failing_never();
		assert_true(sum || !strcmp(error, "not enough memory to merge"));
	}
	assert_int_equal(sum->runs, 2);
	slope_profile_free(sum);
	slope_profile_free(two[0]);
	slope_profile_free(two[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_profile_merges_to_itself),
		cmocka_unit_test(threads_stay_apart_and_places_are_shared),
		cmocka_unit_test(equal_graphs_are_one_and_others_are_kept),
		cmocka_unit_test(points_of_one_size_add_up_exactly),
		cmocka_unit_test(the_coarser_table_decides),
		cmocka_unit_test(sizes_of_edges_add_up_in_the_coarser_bins),
		cmocka_unit_test(contexts_stay_apart),
		cmocka_unit_test(names_of_one_run_help_another),
		cmocka_unit_test(problems_name_their_process),
		cmocka_unit_test(what_cannot_be_compared_is_refused),
		cmocka_unit_test(every_allocation_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
