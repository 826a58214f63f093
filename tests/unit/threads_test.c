/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The views of statistics: slope threads as text and JSON, and the lines of
 * slope info. The profile is that of statistics_sample.h.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/report.h"
#include "tests/unit/failing.h"
#include "tests/unit/statistics_sample.h"

typedef bool view(const struct slope_profile *p, const struct slope_report_options *o, FILE *out);

static bool info_lines(const struct slope_profile *p, const struct slope_report_options *o, FILE *out)
{
	struct slope_statistics s;

	if (!slope_statistics_init(&s, p, o->unit))
		return false;
	slope_statistics_text(&s, "ir", 17, out);
	slope_statistics_fini(&s);
	return true;
}

static char *shown(view *show, const struct slope_profile *p, const struct slope_report_options *o)
{
	struct slope_report_options defaults = slope_report_defaults(p);
	size_t bytes;
	char *text = NULL;
	FILE *out = open_memstream(&text, &bytes);

	assert_non_null(out);
	assert_true(show(p, o ? o : &defaults, out));
	fclose(out);
	return text;
}

/* The parts occur in this order. A last NULL ends them. */
static void has(char *text, ...)
{
	const char *at = text, *part;
	va_list parts;

	va_start(parts, text);
	while ((part = va_arg(parts, const char *))) {
		const char *found = strstr(at, part);

		if (!found)
			fail_msg("'%s' is not where it should be in:\n%s", part, text);
		at = found;
	}
	va_end(parts);
	free(text);
}

static void lacks(char *text, const char *part)
{
	if (strstr(text, part))
		fail_msg("'%s' is in:\n%s", part, text);
	free(text);
}

static void both_tables(void **state)
{
	(void)state;
	has(shown(slope_threads_text, sample_profile(), NULL), "cost     100 ir",
	    "input    50 cells of 4 bytes: 24.0% from other threads, 22.0% from outside\n",
	    "id  parent  cost  share  calls  input  thread  extern  name     most self cost in\n"
	    " 1       -    85  85.0%     17     20       0   40.0%  wf       82.4% reader\n"
	    " 2       1    15  15.0%      2     30   40.0%   10.0%  worker?  100% reader\n",
	    "Most input from other threads:\n"
	    "calls  input  thread  extern  volume  points  by rms  function  where\n"
	    "   14    100   30.0%   20.0%   60.0%      13       5  reader    [wf]\n",
	    "Most input from outside:\n",
	    "   14    100   30.0%   20.0%   60.0%      13       5  reader    [wf]\n"
	    "    1     20       0   40.0%   40.0%       1       1  main      wf.c:3\n",
	    "2 of 3 functions (66.7%) have input of which rms would miss a tenth or more",
	    "1 of 3 functions (33.3%) have at least twice as many points", NULL);
	lacks(shown(slope_threads_text, sample_profile(), NULL), "quiet");
}

static void a_short_table_says_so(void **state)
{
	struct slope_profile *p = sample_profile();
	struct slope_report_options o = slope_report_defaults(p);

	(void)state;
	o.top = 1;
	has(shown(slope_threads_text, p, &o), "1 more, none above 15.0% of the cost (--top=0", "1 more (--top=0", NULL);
	lacks(shown(slope_threads_text, p, &o), "main  ");
}

static void a_filter(void **state)
{
	struct slope_profile *p = sample_profile();
	struct slope_report_options o = slope_report_defaults(p);

	(void)state;
	o.filter = "quiet";
	has(shown(slope_threads_text, p, &o), "None of the 1 function that fit took input from other threads", NULL);
	o.filter = "nobody";
	has(shown(slope_threads_text, p, &o), "No function matches 'nobody'", NULL);
	o.filter = "main";
	lacks(shown(slope_threads_text, p, &o), "Most input from other threads");
}

static void one_thread(void **state)
{
	struct slope_profile *p = sample_profile();

	(void)state;
	p->thread_count = 1;
	p->row += ROW_READER_1;      /* of thread 1: the own row of the thread is lost, too */
	p->row_count = 1;
	row[ROW_READER_1].thread_input = 0;
	has(shown(slope_threads_text, p, NULL), " 1       -     -      -     17      -",
	    "One thread: there are no others to take input from.", "Most input from outside", "reader", NULL);
	lacks(shown(slope_threads_text, p, NULL), "thread  ");
	lacks(shown(slope_threads_text, p, NULL), "Nothing that was read");
}

static void coroutines_and_processes(void **state)
{
	struct slope_profile *p = sample_profile();

	(void)state;
	p->thread[1].os_id = 7;
	has(shown(slope_threads_text, p, NULL), "1 thread, 1 coroutine", "from other threads or coroutines",
	    "worker? (coroutine)", NULL);
	has(shown(slope_threads_json, p, NULL), "\"coroutine\": false", "\"coroutine\": true", NULL);
	lacks(shown(slope_threads_text, p, NULL), "process");
	p->runs = 2;
	p->thread[1].process = 99;
	has(shown(slope_threads_text, p, NULL), "process", " 1       -        7", " 2       1       99", NULL);
}

static void what_was_not_recorded_is_said(void **state)
{
	(void)state;
	has(shown(slope_threads_text, sample_without_rms(), NULL), "volume  points  function", "record with --input=both", NULL);
	has(shown(slope_threads_text, sample_without_trms(), NULL), "NOTE     recorded with --input=rms", "calls  input  name",
	    "Record again without --input=rms", NULL);
	has(shown(info_lines, sample_without_rms(), NULL), "richness          not known", NULL);
	has(shown(info_lines, sample_without_trms(), NULL), "was not measured (--input=rms)", NULL);
	lacks(shown(info_lines, sample_without_trms(), NULL), "input volume");
	has(shown(slope_threads_json, sample_without_rms(), NULL), "\"richness\": null", "\"rms\": null", NULL);
}

static void nothing_there(void **state)
{
	struct slope_profile *p = sample_profile();

	(void)state;
	p->row_count = p->thread_count = 0;
	has(shown(slope_threads_text, p, NULL), "No thread is in the profile", "No function was recorded", NULL);
	has(shown(slope_threads_json, p, NULL), "\"threads\": []", "\"points\": null", "\"functions\": []", NULL);
	lacks(shown(info_lines, p, NULL), "curves");
}

static void losses_are_shown(void **state)
{
	static struct slope_profile_lost lost = { .name = "calls", .text = "calls without a frame", .count = 3 };
	struct slope_profile *p = sample_profile();

	(void)state;
	p->lost = &lost;
	p->lost_count = 1;
	has(shown(slope_threads_text, p, NULL), "LOST     3 calls without a frame", NULL);
}

static void json(void **state)
{
	(void)state;
	has(shown(slope_threads_json, sample_profile(), NULL), "\"schema\": \"slope-threads/1\"", "\"cost_unit\": \"ir\"",
	    "\"id\": 2, \"parent\": 1, \"process\": 7, \"os_id\": 8,", "\"cost\": {\"ir\": 15},",
	    "\"input\": {\"rms\": 10, \"trms\": 30, \"thread\": 12, \"external\": 3}", "\"share\": 0.15",
	    "\"busiest\": {\"name\": \"reader\", \"self\": 15}",
	    "\"cells\": 50, \"thread\": 12, \"external\": 11, \"thread_of_input\": 0.24", "\"input_volume\": 0.523077",
	    "{\"at_least\": 10, \"functions\": 1, \"share\": 0.333333, \"self_cost\": 0.85}",
	    "\"name\": \"reader\"", "\"costliest\": 13", "\"points\": {\"trms\": 13, \"rms\": 5, \"folded\": false}",
	    "\"richness\": 1.6, \"volume\": 0.6, \"thread_of_input\": 0.3, \"external_of_input\": 0.2, "
	    "\"thread_of_induced\": 0.6, \"external_of_induced\": 0.4",
	    "\"name\": \"main\"", "\"name\": \"quiet\"", "\"richness\": -0.5", NULL);
}

static void lines_of_info(void **state)
{
	(void)state;
	has(shown(info_lines, sample_profile(), NULL),
	    "curves            1 of 3 functions have 10 points or more; they hold 85.0% of the cost\n"
	    "  points at least      1     2     5    10\n"
	    "  functions            3     2     1     1\n"
	    "  cost in them      100% 90.0% 85.0% 85.0%\n"
	    "poor functions    2 have fewer than 10 points; those with a call this costly:\n"
	    "  ir at least          1    10\n"
	    "  functions         100% 50.0%\n"
	    "input             50 cells, 24.0% from other threads, 22.0% from outside\n"
	    "input volume      rms misses 52.3% of the input of all calls; a tenth or more in 2 functions\n"
	    "richness          1 function has more points by trms than by rms (1 twice as many), 1 fewer\n", NULL);
}

/* Every view either says that memory ran out, or shows everything; it never crashes. */
static void memory_may_run_out(void **state)
{
	static view *const views[] = { slope_threads_text, slope_threads_json, info_lines };
	struct slope_profile *p = sample_profile();
	struct slope_report_options o = slope_report_defaults(p);
	FILE *out = fopen("/dev/null", "w");

	(void)state;
	assert_non_null(out);
	setvbuf(out, NULL, _IONBF, 0);
	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
		size_t failures = 0;
		bool good = false;

		for (; !good; failures += !good) {
			failing_after(failures);
			good = views[i](p, &o, out);
			failing_never();
		}
		assert_true(failures >= 3);
	}
	fclose(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_tables),
		cmocka_unit_test(a_short_table_says_so),
		cmocka_unit_test(a_filter),
		cmocka_unit_test(one_thread),
		cmocka_unit_test(coroutines_and_processes),
		cmocka_unit_test(what_was_not_recorded_is_said),
		cmocka_unit_test(nothing_there),
		cmocka_unit_test(losses_are_shown),
		cmocka_unit_test(json),
		cmocka_unit_test(lines_of_info),
		cmocka_unit_test(memory_may_run_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
