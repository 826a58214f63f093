/* SPDX-License-Identifier: GPL-3.0-or-later */
/* profile/page.c, report/block.c and page_write.c: a page is written, and the profile comes out of it again. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profile/page.h"
#include "report/block.h"
#include "report/page_write.h"
#include "tests/unit/calls_sample.h"
#include "tests/unit/failing.h"

static struct slope_profile *squares(void)
{
	struct calls *c = calls_new();
	uint32_t main = calls_function(c, "main"), square = calls_function(c, "square"), scan = calls_function(c, "scan");

	calls_enter(c, main);
	for (uint64_t n = 4; n < 1000; n = n * 5 / 4 + 1) {
		calls_leaf(c, square, n, 50 + n * n);
		calls_leaf(c, scan, n, 30 * n);
	}
	calls_leave(c, 2000);
	return calls_end(c);
}

/* NULL when memory ran out; nothing else may go wrong. */
static char *written(const struct slope_profile *p, size_t *bytes)
{
	const struct slope_page page = { .p = p, .o = slope_report_defaults(p), .file = "squares.data" };
	char *text = NULL;
	FILE *out = open_memstream(&text, bytes);

	if (!out)
		return NULL;
	bool good = slope_page_write(&page, out) && !ferror(out);

	if (fclose(out) != 0 || !good) {
		free(text);
		return NULL;
	}
	return text;
}

static void expect_refused(const char *page, size_t bytes, const char *words)
{
	unsigned char *copy = malloc(bytes + 1);
	char error[200] = "";
	size_t inside;

	memcpy(copy, page, bytes);
	assert_null(slope_page_profile(copy, bytes, &inside, error, sizeof error));
	assert_non_null(strstr(error, words));
	free(copy);
}

static void the_profile_comes_out_of_the_page(void **state)
{
	struct slope_profile *p = squares(), *back;
	size_t bytes, inside;
	char *page = written(p, &bytes), error[200];

	(void)state;
	assert_non_null(page);
	assert_true(slope_page_begins(page, bytes));
	unsigned char *profile = slope_page_profile((unsigned char *)page, bytes, &inside, error, sizeof error);

	assert_non_null(profile);
	back = slope_profile_decode(profile, inside, error, sizeof error);
	assert_non_null(back);
	assert_int_equal(back->function_count, p->function_count);
	assert_int_equal(back->row_count, p->row_count);
	assert_int_equal(back->problem_count, 0);
	for (size_t i = 0; i < p->row_count; i++) {
		assert_int_equal(back->row[i].total[0], p->row[i].total[0]);
		assert_int_equal(back->row[i].points[0].count, p->row[i].points[0].count);
	}
	slope_profile_free(back);
	slope_profile_free(p);
	free(profile);
	free(page);
}

static void a_page_is_a_file_to_load(void **state)
{
	char path[] = "/tmp/slope-page-XXXXXX", error[300];
	struct slope_profile *p = squares(), *back;
	size_t bytes;
	char *page = written(p, &bytes);
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0 && write(fd, page, bytes) == (ssize_t)bytes && close(fd) == 0);
	back = slope_profile_load(path, error, sizeof error);
	assert_non_null(back);
	assert_int_equal(back->row_count, p->row_count);
	slope_profile_free(back);
	assert_int_equal(truncate(path, (off_t)bytes - 200), 0);
	assert_null(slope_profile_load(path, error, sizeof error));
	assert_non_null(strstr(error, "damaged or cut off"));
	unlink(path);
	slope_profile_free(p);
	free(page);
}

static void damage_is_said(void **state)
{
	struct slope_profile *p = squares();
	size_t bytes;
	char *page = written(p, &bytes), *inside = memmem(page, bytes, SLOPE_PAGE_PROFILE, strlen(SLOPE_PAGE_PROFILE));
	size_t before = (size_t)(inside - page), mark = strlen(SLOPE_PAGE_PROFILE);

	(void)state;
	expect_refused(page, before, "without its profile");
	expect_refused(page, before + mark, "damaged or cut off");
	expect_refused(page, before + mark + 40, "damaged or cut off");
	inside[mark + 60] ^= 1;
	inside[mark + 61] = 'x';
	expect_refused(page, bytes, "damaged or cut off");
	slope_profile_free(p);
	free(page);
}

static void only_pages_begin_like_pages(void **state)
{
	(void)state;
	assert_true(slope_page_begins("<!doctype html>\n", 16));
	assert_false(slope_page_begins("<!doctype html>\n<html>", 22));
	assert_false(slope_page_begins("", 0));
	assert_false(slope_page_begins("\x89SLOPE", 6));
}

/* Names are inside packed blocks: not one byte of them is HTML. */
static void names_are_not_part_of_the_page(void **state)
{
	struct slope_profile *p = squares();
	size_t bytes;

	(void)state;
	free(p->function[1].name);
	p->function[1].name = strdup("</script><script>evil()</script>");
	char *page = written(p, &bytes);

	assert_null(memmem(page, bytes, "evil", 4));
	slope_profile_free(p);
	free(page);
}

static void memory_may_run_out(void **state)
{
	struct slope_profile *p = squares();
	size_t bytes, k = 0;
	char *page = NULL;

	(void)state;
	for (; !page; k += 1 + k / 8) {
		failing_after(k);
		page = written(p, &bytes);
		failing_never();
	}
	assert_true(k > 20);
	free(page);
	slope_profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_profile_comes_out_of_the_page),
		cmocka_unit_test(a_page_is_a_file_to_load),
		cmocka_unit_test(damage_is_said),
		cmocka_unit_test(only_pages_begin_like_pages),
		cmocka_unit_test(names_are_not_part_of_the_page),
		cmocka_unit_test(memory_may_run_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
