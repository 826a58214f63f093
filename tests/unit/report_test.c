/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What report/ makes of a profile built by hand. JSON is read back by Python's
 * parser and callgrind's format by callgrind_annotate: a reader that is not
 * ours is the judge.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "report/functions.h"
#include "tests/unit/failing.h"
#include "tests/unit/report_sample.h"

struct page {
	FILE *out;
	char *text;
	size_t bytes;
};

static FILE *page_open(struct page *page)
{
	page->out = open_memstream(&page->text, &page->bytes);
	assert_non_null(page->out);
	return page->out;
}

static char *page_text(struct page *page)
{
	fclose(page->out);
	return page->text;
}

/* The text goes into the command's input, at its "FILE"; gives what the command prints. */
static char *filter(const char *text, const char *command)
{
	char path[] = "/tmp/slope-report-XXXXXX", line[4096], *shell;
	int fd = mkstemp(path);
	struct page page;
	size_t bytes;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	assert_true(asprintf(&shell, "FILE=%s; %s", path, command) > 0);
	FILE *in = popen(shell, "r");

	assert_non_null(in);
	page_open(&page);
	while ((bytes = fread(line, 1, sizeof(line), in)))
		fwrite(line, 1, bytes, page.out);
	if (pclose(in))
		fail_msg("failed: %s", command);
	free(shell);
	unlink(path);
	return page_text(&page);
}

static void expect_contains(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("'%s' is not in:\n%s", part, text ? text : "");
}

static void expect_lacks(const char *text, const char *part)
{
	if (strstr(text, part))
		fail_msg("'%s' is in:\n%s", part, text ? text : "");
}

static char *text_of(const struct slope_profile *p, const struct slope_report_options *o)
{
	struct page page;

	assert_true(slope_report_text(p, o, page_open(&page)));
	return page_text(&page);
}

/* ---- rows ---- */

static void test_threads_are_added_up(void **state)
{
	(void)state;
	struct slope_profile *p = sample_profile();
	struct slope_report_options o = slope_report_defaults(p);
	struct slope_report_rows r;

	assert_true(slope_report_rows_init(&r, p, &o));
	assert_int_equal(r.count, 5);
	assert_int_equal(r.rank.program, 1000);
	const struct slope_rank_row *lower = &r.row[1];

	assert_string_equal(lower->name, "str_tolower");
	assert_int_equal(lower->calls, 7);
	assert_int_equal(lower->total, 650);
	assert_int_equal(lower->points, 3);      /* 1 and 46, 1 and 7 */
	assert_int_equal(lower->n_min, 1);
	assert_int_equal(lower->n_max, 46);
	assert_int_equal(lower->thread, 15);
	assert_int_equal(lower->threads, 2);
	slope_report_rows_fini(&r);
}

static void test_folded_tables_meet_at_the_coarser_grain(void **state)
{
	(void)state;
	struct slope_profile *p = sample_profile();
	struct slope_report_options o = slope_report_defaults(p);
	struct slope_report_rows r;

	/* With one digit after the first, 7 falls to 6 and 46 to 32. */
	p->row[4].points[SLOPE_METRIC_TRMS].bits = 1;
	assert_true(slope_report_rows_init(&r, p, &o));
	assert_int_equal(r.row[1].bits, 1);
	assert_int_equal(r.row[1].points, 3);
	assert_int_equal(r.row[1].n_max, 32);
	slope_report_rows_fini(&r);
	p->row[4].points[SLOPE_METRIC_TRMS].bits = SLOPE_POINTS_EXACT;
}

static void test_sorting(void **state)
{
	(void)state;
	static const struct {
		enum slope_report_sort sort;
		uint32_t first;
	} cases[] = {
		{ SLOPE_SORT_TOTAL, FN_MAIN }, { SLOPE_SORT_SELF, FN_LOWER },
		{ SLOPE_SORT_CALLS, FN_COPY }, { SLOPE_SORT_NAME, FN_COPY },
	};
	struct slope_profile *p = sample_profile();
	struct slope_report_options o = slope_report_defaults(p);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct slope_report_rows r;

		o.sort = cases[i].sort;
		assert_true(slope_report_rows_init(&r, p, &o));
		assert_int_equal(r.row[0].function, cases[i].first);
		slope_report_rows_fini(&r);
	}
}

static void test_filter(void **state)
{
	(void)state;
	static const struct {
		const char *filter;
		size_t count;
	} cases[] = {
		{ "str_*", 1 }, { "w?lk", 1 }, { "push_back", 1 }, { "a", 3 }, { "*a", 0 }, { "nothing", 0 }, { NULL, 5 },
	};
	struct slope_profile *p = sample_profile();
	struct slope_report_options o = slope_report_defaults(p);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct slope_report_rows r;

		o.filter = cases[i].filter;
		assert_true(slope_report_rows_init(&r, p, &o));
		assert_int_equal(r.count, cases[i].count);
		slope_report_rows_fini(&r);
	}
}

static void test_no_share_exceeds_the_whole(void **state)
{
	(void)state;
	assert_true(slope_share_of(0, 0) == 0);
	assert_true(slope_share_of(1, 4) == 0.25);
	assert_true(slope_share_of(9, 4) == 1);
	assert_true(slope_share_of(9, 0) == 1);
}

static void test_program_cost_without_thread_rows(void **state)
{
	(void)state;
	struct slope_profile *p = sample_profile();
	struct slope_report_options o = slope_report_defaults(p);
	struct slope_report_rows r;

	p->row += 2;             /* a damaged file has lost them */
	p->row_count -= 2;
	assert_true(slope_report_rows_init(&r, p, &o));
	assert_int_equal(r.rank.program, 1000);
	slope_report_rows_fini(&r);
}

/* ---- text ---- */

static void test_text_at_80_columns(void **state)
{
	(void)state;
	struct slope_profile *p = sample_profile();
	struct slope_report_options o = slope_report_defaults(p);

	o.width = 80;
	char *text = text_of(p, &o);

	assert_string_equal(text,
		"program  ./wf 'a b.txt'\n"
		"run      exit status 3, 2 threads, source valgrind\n"
		"cost     1.00k ir (instructions) in all; input size n by trms, cells of 4 bytes\n"
		"LOST     3 calls without a frame, for want of memory\n"
		"PROBLEM  points: 1 of 9 chunks missing?[31m\n"
		"\n"
		"growth         exponent    now  at 10x      n  points  ev  function\n"
		"unclear\n"
		"too few sizes  -         95.0%       ?     40       1  -   main\n"
		"too few sizes  -         65.0%       ?  1..46       3  -   str_tolower\n"
		"no points      -          6.0%       ?      -       0  -   std::ve...::push_back\n"
		"too few sizes  -          5.0%       ?  1.02k      ~1  -   libc.so.6+0x1300\n"
		"too few sizes  -          3.5%       ?   2..3       2  -   walk\n"
		"\n"
		"To settle main: run inputs of at least 4 more sizes, up to n = 400 or beyond, and merge the profiles.\n"
		"To settle str_tolower: run inputs of at least 2 more sizes, up to n = 400 or beyond, and merge the profiles.\n"
		"To settle std::vector<...>::push_back(...): record its input sizes (record --input=both, and not with the sampler).\n"
		"~ above 1000 sizes: near ones share a point (record --max-points=N for more).\n"
		"growth of the mean cost with n, the size of the input; exponent: 95% interval; ev: evidence, A to D.\n"
		"now: share of the cost, with callees; at 10x: the same if the inputs n of its calls were 10 times as large.\n"
		"One function, its plot and its evidence: slope show NAME; what makes it grow: slope explain NAME\n");
	free(text);
}

static void test_text_says_what_is_not_shown(void **state)
{
	(void)state;
	struct slope_profile *p = sample_profile();
	struct slope_report_options o = slope_report_defaults(p);

	o.top = 2;
	char *text = text_of(p, &o);

	expect_contains(text, "unclear (2 of 5)\n");
	expect_contains(text, "src/lower.c:12");
	expect_lacks(text, "walk");
	free(text);
	o.filter = "zzz";
	text = text_of(p, &o);
	expect_contains(text, "No function matches 'zzz'");
	free(text);
}

static void test_text_of_another_unit(void **state)
{
	(void)state;
	struct slope_profile *p = sample_profile();
	struct slope_report_options o = slope_report_defaults(p);

	o.unit = 1;
	char *text = text_of(p, &o);

	expect_contains(text, "cost     102 bb (basic blocks) in all");
	expect_contains(text, "93.1%       ?  13.7%      1     40");
	free(text);
}

static void test_text_of_an_empty_cut_profile(void **state)
{
	(void)state;
	struct slope_profile *p = sample_profile();
	struct slope_report_options o = slope_report_defaults(p);

	p->row_count = 0;
	p->complete = false;
	p->problem_count = 0;        /* a file would have said it there */
	p->exit_signal = 9;
	char *text = text_of(p, &o);

	expect_contains(text, "killed by signal 9 (SIGKILL), 2 threads, source");
	expect_contains(text, "has no end mark");
	expect_contains(text, "No function was recorded");
	free(text);
}

static void test_coroutines_are_no_threads(void **state)
{
	(void)state;
	struct slope_profile *p = sample_profile();
	struct slope_report_options o = slope_report_defaults(p);

	assert_int_equal(slope_report_coroutines(p), 0);
	p->thread[1].os_id = p->thread[0].os_id;
	assert_int_equal(slope_report_coroutines(p), 1);
	char *text = text_of(p, &o);

	expect_contains(text, "1 thread, 1 coroutine, source");
	expect_contains(text, "other threads or coroutines have written");
	free(text);
	p->thread[1].process++;          /* of another run */
	assert_int_equal(slope_report_coroutines(p), 0);
	p->thread[1].process--;
	p->thread[1].os_id++;
}

static void test_columns_without_data_are_left_out(void **state)
{
	(void)state;
	struct slope_profile *p = sample_profile();
	struct slope_report_options o = slope_report_defaults(p);

	o.filter = "walk";
	char *text = text_of(p, &o);

	expect_lacks(text, "thread: ");
	expect_lacks(text, "  extern  ");
	free(text);
}

static void test_code_without_symbols_is_named(void **state)
{
	(void)state;
	struct slope_profile *p = sample_profile();
	struct slope_report_options o = slope_report_defaults(p);

	o.unit = 0;
	p->function[FN_LOWER].raw_name = NULL;
	char *text = text_of(p, &o);

	expect_contains(text, "70.0% of the cost is in code without symbols, most of it in /home/ada/words/wf:");
	free(text);
	p->function[FN_LOWER].raw_name = "str_tolower";
}

/* ---- JSON, CSV, callgrind ---- */

static void test_report_json_is_read_by_others(void **state)
{
	(void)state;
	struct slope_profile *p = sample_profile();
	struct slope_report_options o = slope_report_defaults(p);
	struct page page;

	o.top = 0;
	assert_true(slope_report_json(p, &o, page_open(&page)));
	char *text = page_text(&page);
	char *facts = filter(text, "python3 - $FILE <<'END'\n"
		"import json, sys\n"
		"d = json.load(open(sys.argv[1]))\n"
		"print(d['schema'], d['source'], d['program'], d['cost_unit'], d['input_metric'], d['lost'])\n"
		"f = d['functions'][1]\n"
		"print(len(d['functions']), f['name'], f['module'], f['file'], f['line'])\n"
		"print(f['calls'], f['cost'], f['points'], f['n'], f['input'], f['growth']['reason'], f['group'], f['share'])\n"
		"print(d['exit'], d['process'], len(d['threads']), d['modules'][1]['build_id'])\n"
		"END");

	assert_string_equal(facts,
		"slope-report/1 valgrind ['./wf', 'a b.txt'] ir trms {'calls': 3, 'cells': 0}\n"
		"5 str_tolower wf src/lower.c 12\n"
		"7 {'total': 650, 'self': 650} 3 {'min': 1, 'max': 46} "
		"{'rms': 55, 'trms': 70, 'thread': 15, 'external': 0} too few sizes unclear {'now': 0.65, 'at_10x': None}\n"
		"{'ended': 'exit', 'code': 3, 'signal': None} {'id': 700, 'parent': 699} 2 ab01\n");
	free(facts);
	free(text);
}

static void test_export_json_holds_everything(void **state)
{
	(void)state;
	struct slope_profile *p = sample_profile();
	struct page page;

	assert_true(slope_export_json(p, page_open(&page)));
	char *text = page_text(&page);
	char *facts = filter(text, "python3 - $FILE <<'END'\n"
		"import json, sys\n"
		"d = json.load(open(sys.argv[1]))\n"
		"print(d['schema'], d['cost_units'], d['input_metrics'])\n"
		"print(len(d['functions']), len(d['records']), len(d['edges']))\n"
		"r = d['records'][3]\n"
		"print(r['function'], r['thread'], r['total'], r['points']['trms']['rows'][1])\n"
		"print(d['records'][6]['points']['trms']['folded_to_bits'], d['edges'][2])\n"
		"print(d['edges'][1]['sizes_folded_to_bits'], d['edges'][1]['sizes'])\n"
		"END");

	assert_string_equal(facts,
		"slope-profile/1 ['ir', 'bb'] ['trms']\n7 8 7\n"
		"2 0 {'ir': 600, 'bb': 62} {'n': 46, 'calls': 1, 'cost': {'ir': {'min': 590, 'max': 590, 'sum': 590, "
		"'sumsq': 18446744073709551616}, 'bb': {'min': 60, 'max': 60, 'sum': 60, 'sumsq': 3600}}, 'rms': 46, "
		"'thread_input': 0, 'external_input': 0}\n"
		"5 {'caller': 0, 'callee': 2, 'thread': 1, 'calls': 4, 'cost': {'ir': 50, 'bb': 7}, 'sizes': []}\n"
		"3 [{'n': 40, 'activations': 1, 'calls': 3, 'cost': {'ir': 600, 'bb': 62}}]\n");
	free(facts);
	free(text);
}

static void test_csv(void **state)
{
	(void)state;
	struct slope_profile *p = sample_profile();
	struct page page;

	p->row += 3;             /* str_tolower in both threads */
	p->row_count = 2;
	p->units = 2;
	p->function[FN_LOWER].name = "lower(int, \"x\")";
	assert_true(slope_export_csv(p, page_open(&page)));
	char *text = page_text(&page);

	p->function[FN_LOWER].name = "str_tolower";
	assert_string_equal(text,
		"function,module,file,thread,context,metric,unit,n,calls,min,max,sum,sumsq,rms,thread_input,external_input\n"
		"\"lower(int, \"\"x\"\")\",wf,src/lower.c,1,,trms,ir,1,2,4,6,10,52,2,0,0\n"
		"\"lower(int, \"\"x\"\")\",wf,src/lower.c,1,,trms,ir,46,1,590,590,590,18446744073709551616,46,0,0\n"
		"\"lower(int, \"\"x\"\")\",wf,src/lower.c,1,,trms,bb,1,2,1,1,2,2,2,0,0\n"
		"\"lower(int, \"\"x\"\")\",wf,src/lower.c,1,,trms,bb,46,1,60,60,60,3600,46,0,0\n"
		"\"lower(int, \"\"x\"\")\",wf,src/lower.c,2,,trms,ir,1,1,5,5,5,25,1,1,0\n"
		"\"lower(int, \"\"x\"\")\",wf,src/lower.c,2,,trms,ir,7,3,10,20,45,725,21,14,0\n"
		"\"lower(int, \"\"x\"\")\",wf,src/lower.c,2,,trms,bb,1,1,1,1,1,1,1,1,0\n"
		"\"lower(int, \"\"x\"\")\",wf,src/lower.c,2,,trms,bb,7,3,2,2,6,12,21,14,0\n");
	free(text);
}

static void test_csv_tells_processes_apart(void **state)
{
	(void)state;
	struct slope_profile *p = sample_profile();
	struct page page;

	p->thread[1].process = 800;
	assert_true(slope_export_csv(p, page_open(&page)));
	p->thread[1].process = 700;
	char *text = page_text(&page);

	expect_contains(text, ",src/lower.c,700.1,,trms,ir,46,");
	expect_contains(text, ",src/lower.c,800.2,,trms,ir,7,");
	free(text);
}

static void test_callgrind_annotate_agrees(void **state)
{
	(void)state;
	if (system("command -v callgrind_annotate >/dev/null 2>&1"))
		skip();
	struct slope_profile *p = sample_profile();
	struct page page;

	assert_true(slope_export_callgrind(p, &(struct slope_export_options){ 0 }, page_open(&page)));
	char *text = page_text(&page);
	char *self = filter(text, "callgrind_annotate --auto=no --threshold=100 $FILE 2>&1");
	char *inclusive = filter(text, "callgrind_annotate --auto=no --threshold=100 "
				       "--inclusive=yes --tree=calling $FILE 2>&1");

	expect_contains(self, "1,000 (100.0%) 102 (100.0%)  PROGRAM TOTALS");
	expect_contains(self, "650 (65.00%) 69 (67.65%)  src/lower.c:str_tolower [/home/ada/words/wf]");
	expect_contains(self, "50 ( 5.00%)  9 ( 8.82%)  ???:libc.so.6+0x1300 [/usr/lib/libc.so.6]");
	expect_contains(inclusive, "950 (95.00%)  95 (93.14%)  *  wf.c:main");
	expect_contains(inclusive, "600 (60.00%)  62 (60.78%)  >   src/lower.c:str_tolower (3x)");
	expect_contains(inclusive, "35 ( 3.50%)   2 ( 1.96%)  *  wf.c:walk");
	free(self);
	free(inclusive);
	free(text);
}

/* ---- memory runs out ---- */

static bool view_text(const struct slope_profile *p, FILE *out)
{
	struct slope_report_options o = slope_report_defaults(p);

	o.width = 80;
	return slope_report_text(p, &o, out);
}

static bool view_json(const struct slope_profile *p, FILE *out)
{
	struct slope_report_options o = slope_report_defaults(p);

	return slope_report_json(p, &o, out);
}

static bool view_callgrind(const struct slope_profile *p, FILE *out)
{
	return slope_export_callgrind(p, &(struct slope_export_options){ 0 }, out);
}

/* With the k-th allocation failing, for all k: no crash, and false until there is enough. How many it takes. */
static size_t allocations_of(bool (*view)(const struct slope_profile *, FILE *))
{
	struct slope_profile *p = sample_profile();
	FILE *out = fopen("/dev/null", "w");
	bool whole = false;
	size_t k = 0;

	assert_non_null(out);
	for (; !whole && k < 2000; k++) {
		failing_after(k);
		whole = view(p, out);
		failing_never();
	}
	fclose(out);
	assert_true(whole);
	return k - 1;
}

static void test_every_allocation_may_fail(void **state)
{
	(void)state;
	assert_true(allocations_of(view_text) > 50);     /* each cell is one */
	assert_true(allocations_of(view_json) > 3);
	assert_int_equal(allocations_of(view_callgrind), 6);
	assert_int_equal(allocations_of(slope_export_csv), 0);
	assert_int_equal(allocations_of(slope_export_json), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threads_are_added_up),
		cmocka_unit_test(test_folded_tables_meet_at_the_coarser_grain),
		cmocka_unit_test(test_sorting),
		cmocka_unit_test(test_filter),
		cmocka_unit_test(test_no_share_exceeds_the_whole),
		cmocka_unit_test(test_program_cost_without_thread_rows),
		cmocka_unit_test(test_text_at_80_columns),
		cmocka_unit_test(test_text_says_what_is_not_shown),
		cmocka_unit_test(test_text_of_another_unit),
		cmocka_unit_test(test_text_of_an_empty_cut_profile),
		cmocka_unit_test(test_coroutines_are_no_threads),
		cmocka_unit_test(test_columns_without_data_are_left_out),
		cmocka_unit_test(test_code_without_symbols_is_named),
		cmocka_unit_test(test_report_json_is_read_by_others),
		cmocka_unit_test(test_export_json_holds_everything),
		cmocka_unit_test(test_csv),
		cmocka_unit_test(test_csv_tells_processes_apart),
		cmocka_unit_test(test_callgrind_annotate_agrees),
		cmocka_unit_test(test_every_allocation_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
