/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Exports to pprof, folded stacks, speedscope and Extra-P of a profile built by
 * hand: to the letter where the format is text. tests/export/ lets the tools
 * themselves read what slope writes.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "report/report.h"
#include "tests/unit/failing.h"
#include "tests/unit/report_sample.h"

typedef bool export_fn(const struct slope_profile *p, const struct slope_export_options *o, FILE *out);

struct page {
	char *text;
	size_t bytes;
};

static struct page exported(export_fn *export, const struct slope_profile *p, const struct slope_export_options *o)
{
	struct page page;
	FILE *out = open_memstream(&page.text, &page.bytes);

	assert_non_null(out);
	assert_true(export(p, o, out));
	fclose(out);
	return page;
}

static void expect_export(export_fn *export, const struct slope_profile *p, const struct slope_export_options *o,
			  const char *wanted)
{
	struct page page = exported(export, p, o);

	assert_string_equal(page.text, wanted);
	free(page.text);
}

static void expect_bytes(const struct page *page, const char *part, size_t bytes)
{
	if (!memmem(page->text, page->bytes, part, bytes))
		fail_msg("'%s' is not in:\n%.*s", part, (int)page->bytes, page->text);
}

static void expect_contains(const struct page *page, const char *part)
{
	expect_bytes(page, part, strlen(part));
}

static bool extrap(const struct slope_profile *p, const struct slope_export_options *o, FILE *out)
{
	struct slope_extrap_notes notes;

	return slope_export_extrap(p, o, out, &notes);
}

/* ---- folded ---- */

#define PUSH_BACK "std::vector<std::pair<int, std::string>, std::allocator<std::pair<int, std::string> > >" \
	"::push_back(std::pair<int, std::string>&&)"

static void test_folded(void **state)
{
	(void)state;
	struct slope_profile *p = sample_profile();
	struct slope_export_options o = slope_export_defaults(p);

	expect_export(slope_export_folded, p, &o,
		"wf;main 205\nwf;str_tolower 650\nwf;" PUSH_BACK " 60\nlibc.so.6;libc.so.6+0x1300 50\nwf;walk 35\n");
	o.unit = 1;
	expect_export(slope_export_folded, p, &o,
		"wf;main 14\nwf;str_tolower 69\nwf;" PUSH_BACK " 8\nlibc.so.6;libc.so.6+0x1300 9\nwf;walk 2\n");
}

static void test_folded_by_thread(void **state)
{
	(void)state;
	struct slope_profile *p = sample_profile();
	struct slope_export_options o = slope_export_defaults(p);

	o.threads = true;
	p->row += 3;             /* str_tolower in both threads */
	p->row_count = 2;
	expect_export(slope_export_folded, p, &o, "thread 1 wf;wf;str_tolower 600\nthread 2;wf;str_tolower 50\n");
	p->thread[1].process = 800;
	expect_export(slope_export_folded, p, &o, "thread 700.1 wf;wf;str_tolower 600\nthread 800.2;wf;str_tolower 50\n");
	p->thread[1].process = 700;
}

static void test_folded_names_stay_on_their_line(void **state)
{
	(void)state;
	static const struct {
		char *name;
		const char *shown;
	} cases[] = {
		{ "<[T; 3] as Foo>::bar", "<[T: 3] as Foo>::bar" },
		{ "a\nb\rc\td\177e", "a b c d e" },
		{ "gr\xc3\xb6\xc3\x9f" "e\xff", "gr\xc3\xb6\xc3\x9f" "e\xef\xbf\xbd" },
		{ "", "???" },
	};
	struct slope_profile *p = sample_profile();
	struct slope_export_options o = slope_export_defaults(p);

	p->row += 3;
	p->row_count = 1;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char wanted[100];

		snprintf(wanted, sizeof(wanted), "wf;%s 600\n", cases[i].shown);
		p->function[FN_LOWER].name = cases[i].name;
		expect_export(slope_export_folded, p, &o, wanted);
	}
	p->function[FN_LOWER].name = "str_tolower";
}

/* ---- speedscope ---- */

static void test_speedscope(void **state)
{
	(void)state;
	struct slope_profile *p = sample_profile();
	struct slope_export_options o = slope_export_defaults(p);
	struct page page = exported(slope_export_speedscope, p, &o);

	expect_contains(&page, "{\"name\": \"str_tolower\", \"file\": \"src/lower.c\", \"line\": 12}");
	expect_contains(&page, "{\"name\": \"libc.so.6+0x1300\", \"file\": \"/usr/lib/libc.so.6\"}");
	expect_contains(&page, "\"name\": \"ir (instructions), all threads\",\n   \"unit\": \"none\",\n   \"startValue\": 0,\n"
			       "   \"endValue\": 1000,\n   \"samples\": [[1], [2], [3], [4], [5], [2]],\n"
			       "   \"weights\": [205, 600, 60, 50, 35, 50]");
	expect_contains(&page, "\"name\": \"bb (basic blocks), thread 2\",\n   \"unit\": \"none\",\n   \"startValue\": 0,\n"
			       "   \"endValue\": 7,\n   \"samples\": [[2]],\n   \"weights\": [7]");
	expect_contains(&page, "\"name\": \"ir (instructions), thread 1 wf\"");
	free(page.text);
}

static void test_speedscope_of_one_thread(void **state)
{
	(void)state;
	struct slope_profile *p = sample_profile();
	struct slope_export_options o = slope_export_defaults(p);

	p->row += 5;             /* push_back alone */
	p->row_count = 1;
	p->thread_count = 1;
	p->units = 1;
	p->unit_name[0] = "time";
	struct page page = exported(slope_export_speedscope, p, &o);

	expect_contains(&page, "\"name\": \"time (nanoseconds)\",\n   \"unit\": \"nanoseconds\"");
	expect_contains(&page, "\"samples\": [[0]],\n   \"weights\": [60]\n  }\n ]\n}\n");
	free(page.text);
}

/* ---- Extra-P ---- */

#define LINE(n, name, unit, value) \
	"{\"params\": {\"n\": " #n "}, \"callpath\": \"" name "\", \"metric\": \"" unit "\", \"value\": " #value "}\n"

static void test_extrap_of_one_function(void **state)
{
	(void)state;
	struct slope_profile *p = sample_profile();
	struct slope_export_options o = slope_export_defaults(p);

	/* Size 1: 2 calls for 10 and one for 5; size 7: 3 for 45 and 6. */
	o.function = "str_tolower";
	expect_export(extrap, p, &o, LINE(1, "str_tolower", "ir", 5) LINE(7, "str_tolower", "ir", 15)
		LINE(46, "str_tolower", "ir", 590) LINE(1, "str_tolower", "bb", 1) LINE(7, "str_tolower", "bb", 2)
		LINE(46, "str_tolower", "bb", 60));
	o.function = "_ZNSt6vectorISt4pairIiSsE9push_back";      /* known, without points */
	expect_export(extrap, p, &o, "");
}

static void test_extrap_of_folded_sizes(void **state)
{
	(void)state;
	struct slope_profile *p = sample_profile();
	struct slope_export_options o = slope_export_defaults(p);

	/* With one digit after the first, 7 falls to 6 and 46 to 32: in the other thread too. */
	p->row[4].points[SLOPE_METRIC_TRMS].bits = 1;
	o.function = "str_tolower";
	expect_export(extrap, p, &o, LINE(1, "str_tolower", "ir", 5) LINE(6, "str_tolower", "ir", 15)
		LINE(32, "str_tolower", "ir", 590) LINE(1, "str_tolower", "bb", 1) LINE(6, "str_tolower", "bb", 2)
		LINE(32, "str_tolower", "bb", 60));
	p->row[4].points[SLOPE_METRIC_TRMS].bits = SLOPE_POINTS_EXACT;
}

static void test_extrap_names(void **state)
{
	(void)state;
	struct slope_profile *p = sample_profile();
	struct slope_export_options o = slope_export_defaults(p);

	p->function[FN_WALK].name = "T::operator->()";
	p->function[FN_IDLE].name = "T::operator->()";
	o.function = "walk";
	struct page page = exported(extrap, p, &o);

	expect_contains(&page, "\"callpath\": \"T::operator- >() (wf+0x1400)\"");
	free(page.text);
	p->function[FN_IDLE].name = "never_called";
	page = exported(extrap, p, &o);
	expect_contains(&page, "\"callpath\": \"T::operator- >()\"");
	free(page.text);
	p->function[FN_WALK].name = "walk";
}

static void test_extrap_notes(void **state)
{
	(void)state;
	struct slope_profile *p = sample_profile();
	struct slope_export_options o = slope_export_defaults(p);
	struct slope_extrap_notes notes;
	FILE *out = fopen("/dev/null", "w");

	assert_true(slope_export_extrap(p, &o, out, &notes));
	assert_int_equal(notes.functions, 4);
	assert_true(notes.sizes_differ);
	o.function = "walk";
	assert_true(slope_export_extrap(p, &o, out, &notes));
	assert_int_equal(notes.functions, 1);
	assert_false(notes.sizes_differ);
	o.function = "never_called";
	assert_true(slope_export_extrap(p, &o, out, &notes));
	assert_int_equal(notes.functions, 0);
	o.function = NULL;
	o.metric = SLOPE_METRIC_RMS;             /* was not recorded */
	assert_true(slope_export_extrap(p, &o, out, &notes));
	assert_int_equal(notes.functions, 0);
	fclose(out);
}

static void test_extrap_functions_of_the_same_sizes(void **state)
{
	(void)state;
	struct slope_profile *p = sample_profile();
	struct slope_export_options o = slope_export_defaults(p);
	struct slope_profile_points own = p->row[7].points[SLOPE_METRIC_TRMS];
	struct slope_extrap_notes notes;
	FILE *out = fopen("/dev/null", "w");

	p->row[7].points[SLOPE_METRIC_TRMS] = p->row[3].points[SLOPE_METRIC_TRMS];
	p->row[4].points[SLOPE_METRIC_TRMS].count = 0;
	p->row[6].points[SLOPE_METRIC_TRMS].count = 0;
	p->row += 3;
	p->row_count -= 3;
	assert_true(slope_export_extrap(p, &o, out, &notes));
	assert_int_equal(notes.functions, 2);
	assert_false(notes.sizes_differ);
	p = sample_profile();
	p->row[7].points[SLOPE_METRIC_TRMS] = own;
	p->row[4].points[SLOPE_METRIC_TRMS].count = 2;
	p->row[6].points[SLOPE_METRIC_TRMS].count = 1;
	fclose(out);
}

/* ---- pprof ---- */

/* The file without its compression. */
static struct page unzipped(struct page from)
{
	struct page to = { .text = malloc(1 << 20) };
	z_stream z = { .next_in = (unsigned char *)from.text, .avail_in = (unsigned)from.bytes,
		       .next_out = (unsigned char *)to.text, .avail_out = 1 << 20 };

	assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	to.bytes = z.total_out;
	inflateEnd(&z);
	free(from.text);
	return to;
}

static void test_pprof(void **state)
{
	(void)state;
	struct slope_profile *p = sample_profile();
	struct slope_export_options o = slope_export_defaults(p);
	struct page page = unzipped(exported(slope_export_pprof, p, &o));

	/*
	 * str_tolower in thread 2: location 3; calls, calls_by_n, and by_n, total and self, of bb and then of ir; the label
	 * thread (text 8) with its number, text 17, behind 10 fixed ones, 6 of units and that of thread 1.
	 */
	static const char sample_2[] = "\x12\x13" "\x0a\x01\x03" "\x12\x08\x04\x00\x00\x07\x07\x00\x32\x32"
				       "\x1a\x04\x08\x08\x10\x11";
	/* Its point with n 7: 3 calls for 6 bb and 45 ir; the label n (text 6) in cells (text 7). */
	static const char sample_2_7[] = "\x12\x1b" "\x0a\x01\x03" "\x12\x08\x00\x03\x06\x00\x00\x2d\x00\x00"
					 "\x1a\x04\x08\x08\x10\x11" "\x1a\x06\x08\x06\x18\x07\x20\x07";

	expect_bytes(&page, sample_2, sizeof(sample_2) - 1);
	expect_bytes(&page, sample_2_7, sizeof(sample_2_7) - 1);
	expect_contains(&page, "command: ./wf a b.txt\nslope 0.1, source valgrind, n: trms, cells of 4 bytes\n"
			       "lost: 3 calls without a frame, for want of memory\nproblem: points: 1 of 9 chunks missing");
	expect_contains(&page, "\x32\x04" "ab01");
	expect_contains(&page, "\x32\x0bsrc/lower.c");
	free(page.text);
}

static void test_pprof_is_the_same_every_time(void **state)
{
	(void)state;
	struct slope_profile *p = sample_profile();
	struct slope_export_options o = slope_export_defaults(p);
	struct page one = exported(slope_export_pprof, p, &o), two = exported(slope_export_pprof, p, &o);

	assert_int_equal(one.bytes, two.bytes);
	assert_memory_equal(one.text, two.text, one.bytes);
	free(one.text);
	free(two.text);
}

/* ---- all ---- */

static void test_an_empty_profile(void **state)
{
	(void)state;
	static export_fn *const all[] = { slope_export_pprof, slope_export_folded, slope_export_speedscope, extrap };
	struct slope_profile *p = sample_profile();
	struct slope_export_options o = slope_export_defaults(p);

	p->row_count = p->thread_count = p->edge_count = 0;
	p->function_count = p->module_count = 1;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		free(exported(all[i], p, &o).text);
}

/* With the k-th allocation failing, for all k: no crash, and false until there is enough. How many it takes. */
static size_t allocations_of(export_fn *export)
{
	struct slope_profile *p = sample_profile();
	struct slope_export_options o = slope_export_defaults(p);
	FILE *out = fopen("/dev/null", "w");
	bool whole = false;
	size_t k = 0;

	assert_non_null(out);
	for (; !whole && k < 200; k++) {
		failing_after(k);
		whole = export(p, &o, out);
		failing_never();
	}
	fclose(out);
	assert_true(whole);
	return k - 1;
}

static void test_every_allocation_may_fail(void **state)
{
	(void)state;
	assert_int_equal(allocations_of(slope_export_folded), 0);
	assert_int_equal(allocations_of(slope_export_speedscope), 5);
	assert_true(allocations_of(slope_export_pprof) > 1);
	/* Twins and their names, two curves, and a callpath for each of five. */
	assert_int_equal(allocations_of(extrap), 9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_folded),
		cmocka_unit_test(test_folded_by_thread),
		cmocka_unit_test(test_folded_names_stay_on_their_line),
		cmocka_unit_test(test_speedscope),
		cmocka_unit_test(test_speedscope_of_one_thread),
		cmocka_unit_test(test_extrap_of_one_function),
		cmocka_unit_test(test_extrap_of_folded_sizes),
		cmocka_unit_test(test_extrap_names),
		cmocka_unit_test(test_extrap_notes),
		cmocka_unit_test(test_extrap_functions_of_the_same_sizes),
		cmocka_unit_test(test_pprof),
		cmocka_unit_test(test_pprof_is_the_same_every_time),
		cmocka_unit_test(test_an_empty_profile),
		cmocka_unit_test(test_every_allocation_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
