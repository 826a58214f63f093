/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What `slope show` makes of a profile built by hand: the facts, the page, the
 * JSON (read back by Python), the gnuplot script, and source lines.
 */
#define _GNU_SOURCE
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "report/clip.h"
#include "report/gnuplot.h"
#include "tests/unit/failing.h"
#include "tests/unit/report_sample.h"

#define GROWN 24u

/* A quadratic function of 24 sizes instead of the sample's walk. */
static struct point grown_points[GROWN];

static struct slope_profile *grown_profile(void)
{
	struct slope_profile *p = sample_profile();

	for (uint64_t i = 0; i < GROWN; i++) {
		uint64_t n = 10 + 40 * i, cost = 3 * n * n;

		grown_points[i] = (struct point){ n, 2, 2 * n, 0, 0,
			{ STAT(cost - 2 * n, cost + 2 * n, 2 * cost, 2 * (cost * cost + 4 * n * n)),
				STAT(1, 1, 2, 2) } };
	}
	p->row[7].points[SLOPE_METRIC_TRMS] = (struct slope_profile_points)POINTS(grown_points);
	return p;
}

static struct slope_show_options options_for(uint32_t fn)
{
	return (struct slope_show_options){ .function = fn };
}

typedef bool print_fn(const struct slope_show *s, FILE *out);

static bool script(const struct slope_show *s, FILE *out)
{
	return slope_gnuplot_script(s, SLOPE_PICTURE_SVG, out);
}

static char *printed(const struct slope_profile *p, const struct slope_show_options *o, print_fn *print)
{
	struct slope_show s;
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	assert_non_null(out);
	assert_true(slope_show_init(&s, p, o));
	assert_true(print(&s, out));
	fclose(out);
	slope_show_fini(&s);
	assert_non_null(text);
	return text;
}

static void expect_contains(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("'%s' is not in:\n%s", part, text ? text : "");
}

/* ---- facts ---- */

static void test_threads_and_neighbours(void **state)
{
	(void)state;
	struct slope_profile *p = sample_profile();
	struct slope_show_options o = options_for(FN_LOWER);
	struct slope_show s;

	assert_true(slope_show_init(&s, p, &o));
	assert_int_equal(s.calls, 7);
	assert_int_equal(s.total, 650);
	assert_int_equal(s.program, 1000);
	assert_int_equal(s.curve.count, 3);
	assert_int_equal(s.threads, 2);
	assert_int_equal(s.thread[0].thread, 0);
	assert_int_equal(s.thread[0].total, 600);
	assert_int_equal(s.thread[1].growth.sizes, 2);
	assert_int_equal(s.callers, 2);
	assert_int_equal(s.caller[0].function, FN_MAIN);
	assert_int_equal(s.caller[1].function, FN_ROOT);
	assert_int_equal(s.callees, 0);
	slope_show_fini(&s);
}

static void test_edges_of_threads_are_one(void **state)
{
	(void)state;
	static struct slope_profile_edge edges[] = {
		{ .caller = FN_MAIN, .callee = FN_WALK, .thread = 0, .calls = 1, .cost = { 10 } },
		{ .caller = FN_MAIN, .callee = FN_COPY, .thread = 0, .calls = 1, .cost = { 15 } },
		{ .caller = FN_MAIN, .callee = FN_WALK, .thread = 1, .calls = 2, .cost = { 20 } },
	};
	struct slope_profile *p = sample_profile();
	struct slope_show_options o = options_for(FN_MAIN);
	struct slope_show s;

	p->edge = edges;
	p->edge_count = 3;
	assert_true(slope_show_init(&s, p, &o));
	assert_int_equal(s.callees, 2);
	assert_int_equal(s.callee[0].function, FN_WALK);
	assert_int_equal(s.callee[0].calls, 3);
	assert_int_equal(s.callee[0].cost, 30);
	slope_show_fini(&s);
}

static void test_guesses_asked_for(void **state)
{
	(void)state;
	const struct slope_order order[] = { { 1, 0, 0 }, { 2, 0, 0 } };
	struct slope_profile *p = grown_profile();
	struct slope_show_options o = options_for(FN_WALK);
	struct slope_show s;

	o.guess = order;
	o.guesses = 2;
	assert_true(slope_show_init(&s, p, &o));
	assert_int_equal(s.guesses, 2);
	assert_int_equal(s.guess[0].trend, SLOPE_TREND_RISES);
	assert_int_equal(s.guess[1].trend, SLOPE_TREND_LEVELS);
	assert_true(fabs(s.guess[1].level - 3) < 0.05);
	slope_show_fini(&s);
}

static void test_reference_meets_the_model(void **state)
{
	(void)state;
	const struct slope_order linear = { 1, 0, 0 }, doubling = { 0, 0, 2 };
	struct slope_profile *p = grown_profile();
	struct slope_show_options o = options_for(FN_WALK);
	struct slope_show s;

	assert_true(slope_show_init(&s, p, &o));
	const struct slope_growth *g = &s.growth[SLOPE_COST_MEAN];
	double middle = sqrt(g->from * g->to), there = slope_model_at(&g->model, middle);

	assert_true(g->fitted);
	assert_true(fabs(slope_show_reference(&s, linear, middle) / there - 1) < 1e-9);
	assert_true(fabs(slope_show_reference(&s, linear, 2 * middle) / there - 2) < 1e-9);
	assert_true(fabs(slope_show_reference(&s, doubling, middle + 1) / there - 2) < 1e-9);
	slope_show_fini(&s);
}

/* ---- page ---- */

static void expect_within(const char *text, size_t columns)
{
	char line[1024];

	for (const char *c = text; *c; c += strcspn(c, "\n") + 1) {
		snprintf(line, sizeof(line), "%.*s", (int)strcspn(c, "\n"), c);
		if (slope_clip_columns(line) > columns)
			fail_msg("longer than %zu columns: %s", columns, line);
	}
}

static void test_page_fits(void **state)
{
	(void)state;
	static const unsigned widths[] = { 0, 72, 80, 100, 120, 300 };

	for (size_t i = 0; i < sizeof(widths) / sizeof(*widths); i++)
		for (uint32_t fn = FN_MAIN; fn < FN_COUNT; fn++) {
			struct slope_show_options o = options_for(fn);

			o.width = widths[i];
			char *text = printed(grown_profile(), &o, slope_show_text);

			expect_within(text, widths[i] ? (widths[i] > 120 ? 120 : widths[i]) : 80);
			free(text);
		}
}

static void test_page_of_a_curve(void **state)
{
	(void)state;
	struct slope_show_options o = options_for(FN_WALK);
	char *text = printed(grown_profile(), &o, slope_show_text);

	expect_contains(text, "walk  wf.c:30  2 calls  35 ir  3.5% of the run\n");
	expect_contains(text, "growth    n^2");
	expect_contains(text, "24 sizes over 10..930");
	expect_contains(text, "● mean");
	expect_contains(text, "\ncalls\n");
	expect_contains(text, "grows slower");
	expect_contains(text, "levels off at 3");
	expect_contains(text, "walk (recursion)");
	expect_contains(text, "LOST      3 calls without a frame");
	expect_contains(text, "PROBLEM   points: 1 of 9 chunks missing?[31m\n");
	free(text);
}

static void test_a_missing_end_is_told(void **state)
{
	(void)state;
	struct slope_show_options o = options_for(FN_WALK);
	struct slope_profile *p = grown_profile();

	p->complete = false;
	p->problem_count = 0;        /* a file would have said it there */
	char *text = printed(p, &o, slope_show_text);

	expect_contains(text, "PROBLEM   the profile has no end mark: ");
	free(text);
}

static void test_ascii_page(void **state)
{
	(void)state;
	struct slope_show_options o = options_for(FN_WALK);

	o.ascii = true;
	char *text = printed(grown_profile(), &o, slope_show_text);

	for (const char *c = text; *c; c++)
		assert_true((*c >= ' ' && *c <= '~') || *c == '\n');
	free(text);
}

static void test_page_says_what_is_missing(void **state)
{
	(void)state;
	struct slope_show_options o = options_for(FN_LOWER);
	char *text = printed(sample_profile(), &o, slope_show_text);

	expect_contains(text, "inconclusive: too few sizes");
	expect_contains(text, "to settle it: ");
	expect_contains(text, "of it came from other threads");
	expect_contains(text, "thread  calls");
	free(text);
	o = options_for(FN_PUSH);                        /* has no points */
	text = printed(sample_profile(), &o, slope_show_text);
	expect_contains(text, "inconclusive: no points");
	free(text);
}

/* ---- for other programs ---- */

static char *run_on(const char *text, const char *command)
{
	char path[] = "/tmp/slope-show-XXXXXX", *shell, *said = calloc(1, 4096);
	int fd = mkstemp(path);

	assert_true(fd >= 0 && said);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	assert_true(asprintf(&shell, "FILE=%s; %s", path, command) > 0);
	FILE *in = popen(shell, "r");

	assert_non_null(in);
	assert_true(fread(said, 1, 4095, in) > 0);
	assert_int_equal(pclose(in), 0);
	free(shell);
	unlink(path);
	return said;
}

static void test_json_is_read_by_others(void **state)
{
	(void)state;
	struct slope_show_options o = options_for(FN_WALK);
	char *text = printed(grown_profile(), &o, slope_show_json);
	char *said = run_on(text, "python3 -c '\n"
		"import json, sys\n"
		"d = json.load(open(sys.argv[1]))\n"
		"g = d[\"growth\"]\n"
		"print(d[\"schema\"], d[\"function\"][\"name\"], len(d[\"points\"]), d[\"points\"][1])\n"
		"print(g[\"mean\"][\"verdict\"], sorted(g), [x[\"trend\"] for x in d[\"guesses\"]],\n"
		"      d[\"callees\"][0][\"name\"], d[\"threads\"][0][\"id\"])\n"
		"' $FILE");

	assert_string_equal(said, "slope-show/1 walk 24 "
				  "{'n': 50, 'calls': 2, 'mean': 7500, 'max': 7600, 'min': 7400, 'variance': 20000}\n"
				  "superlinear ['max', 'mean', 'min'] ['rises', 'levels_off', 'falls'] walk 1\n");
	free(said);
	free(text);
	for (uint32_t fn = FN_MAIN; fn < FN_COUNT; fn++) {       /* also where there is little to say */
		o = options_for(fn);
		text = printed(sample_profile(), &o, slope_show_json);
		said = run_on(text,
			      "python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))[\"schema\"])' $FILE");
		assert_string_equal(said, "slope-show/1\n");
		free(said);
		free(text);
	}
}

/* A name cannot leave its quotes. */
static void test_script_is_safe(void **state)
{
	(void)state;
	struct slope_profile *p = grown_profile();
	char *name = p->function[FN_WALK].name;
	struct slope_show_options o = options_for(FN_WALK);

	char *unit = p->unit_name[0];

	p->function[FN_WALK].name = "'it's\n`date`\\";
	p->unit_name[0] = "ir';system('date');x='";
	char *text = printed(p, &o, script);

	p->function[FN_WALK].name = name;
	p->unit_name[0] = unit;
	expect_contains(text, "'\xe2\x80\x99it\xe2\x80\x99s?`date`\\'\n");
	expect_contains(text, "(ir\xe2\x80\x99;system(\xe2\x80\x99" "date\xe2\x80\x99);x=\xe2\x80\x99");
	expect_contains(text, "$points << END\n10 320 300 280\n50 7600 7500 7400\n");
	expect_contains(text, "title 'fitted: n^2'");
	assert_null(strstr(text, "nan"));
	assert_null(strstr(text, "inf"));
	free(text);
}

static void test_pictures_by_name(void **state)
{
	(void)state;
	enum slope_picture kind;

	assert_true(slope_picture_by_name("a.svg", &kind) && kind == SLOPE_PICTURE_SVG);
	assert_true(slope_picture_by_name("a.b/c.png", &kind) && kind == SLOPE_PICTURE_PNG);
	assert_true(slope_picture_by_name("x.gp", &kind) && kind == SLOPE_PICTURE_SCRIPT);
	assert_false(slope_picture_by_name("x.pdf", &kind));
	assert_false(slope_picture_by_name(".png", &kind));
	assert_false(slope_picture_by_name("png", &kind));
}

/* ---- source lines ---- */

static void expect_listing(const char *source, uint32_t line, size_t count, uint32_t more, const char *last)
{
	char path[] = "/tmp/slope-listing-XXXXXX";
	int fd = mkstemp(path);
	struct slope_profile_function f = { .file = path, .line = line };
	struct slope_listing l;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, source, strlen(source)), strlen(source));
	close(fd);
	assert_true(slope_listing_init(&l, sample_profile(), &f));
	unlink(path);
	assert_int_equal(l.count, count);
	assert_int_equal(l.more, more);
	if (count) {
		assert_string_equal(l.path, path);
		assert_string_equal(l.line[count - 1], last);
	} else {
		assert_null(l.path);
	}
	slope_listing_fini(&l);
}

static void test_listing_ends_with_the_function(void **state)
{
	(void)state;
	char plain[600] = "", longer[900] = "f\n{\n";

	expect_listing("a\nint f(void)\n{\n\tif (x) { y(); }\n}\nint g;\n", 2, 4, 0, "}");
	expect_listing("int f(void) { return 1; }\nint g;\n", 1, 1, 0, "int f(void) { return 1; }");
	expect_listing("f()\n{\n\tputs(\"}\\\"}\"); /* } */ // }\n\tc = '}';\n /* }\n } */\n}  \nx\n", 1, 7, 0, "}");
	expect_listing("int f(void);\nint g;\n", 1, 1, 0, "int f(void);");
	expect_listing("a\nb\n", 9, 0, 0, NULL);                         /* the file has become shorter */
	for (int i = 0; i < 40; i++) {
		strcat(plain, "x = 1\n");
		strcat(longer, "\tx = 1;\n");
	}
	strcat(longer, "}\n");
	expect_listing(plain, 3, 12, 0, "x = 1");                        /* no braces in sight */
	expect_listing(longer, 1, SLOPE_LISTING_LINES, 43 - SLOPE_LISTING_LINES, "\tx = 1;");
}

static void test_no_listing_without_a_file(void **state)
{
	(void)state;
	struct slope_profile_function gone = { .file = "/no/such/file.c", .line = 3 },
		folder = { .file = "/tmp", .line = 1 }, none = { 0 };
	struct slope_listing l;

	assert_true(slope_listing_init(&l, sample_profile(), &gone) && !l.path);
	assert_true(slope_listing_init(&l, sample_profile(), &folder) && !l.path);
	assert_true(slope_listing_init(&l, sample_profile(), &none) && !l.path);
}

/* ---- memory ---- */

static size_t allocations_of(uint32_t fn, print_fn *print)
{
	struct slope_profile *p = grown_profile();
	struct slope_show_options o = options_for(fn);
	FILE *out = fopen("/dev/null", "w");
	bool whole = false;
	size_t k = 0;

	assert_non_null(out);
	fputc(' ', out);
	for (; !whole && k < 2000; k++) {
		struct slope_show s;

		failing_after(k);
		bool gathered = slope_show_init(&s, p, &o);

		whole = gathered && print(&s, out);
		failing_never();
		if (gathered)
			slope_show_fini(&s);
	}
	fclose(out);
	assert_true(whole);
	return k - 1;
}

static void test_every_allocation_may_fail(void **state)
{
	(void)state;
	assert_true(allocations_of(FN_WALK, slope_show_text) > 30);
	assert_true(allocations_of(FN_LOWER, slope_show_text) > 30);
	assert_true(allocations_of(FN_LOWER, slope_show_json) > 3);
	assert_true(allocations_of(FN_WALK, script) > 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threads_and_neighbours),
		cmocka_unit_test(test_edges_of_threads_are_one),
		cmocka_unit_test(test_guesses_asked_for),
		cmocka_unit_test(test_reference_meets_the_model),
		cmocka_unit_test(test_page_fits),
		cmocka_unit_test(test_page_of_a_curve),
		cmocka_unit_test(test_a_missing_end_is_told),
		cmocka_unit_test(test_ascii_page),
		cmocka_unit_test(test_page_says_what_is_missing),
		cmocka_unit_test(test_json_is_read_by_others),
		cmocka_unit_test(test_script_is_safe),
		cmocka_unit_test(test_pictures_by_name),
		cmocka_unit_test(test_listing_ends_with_the_function),
		cmocka_unit_test(test_no_listing_without_a_file),
		cmocka_unit_test(test_every_allocation_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
