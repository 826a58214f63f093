/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is kept comes back; what is broken, foreign or old is as if it were not there. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "profile/linecache.h"
#include "tests/unit/failing.h"

static char scratch[] = "/tmp/slope-linecache-XXXXXX";
static char folder[128], debug_file[128];
static const uint8_t id[2] = { 0xab, 0x01 };

static void put(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static void sh(const char *words)
{
	char *command;

	assert_true(asprintf(&command, "cd %s && { %s; }", scratch, words) >= 0);
	assert_int_equal(system(command), 0);
	free(command);
}

static int begin(void **state)
{
	(void)state;
	snprintf(folder, sizeof folder, "%s/a/b", scratch);
	snprintf(debug_file, sizeof debug_file, "%s/debug", scratch);
	put(debug_file, "x");
	return 0;
}

static int end(void **state)
{
	(void)state;
	sh("rm -rf a debug");
	return 0;
}

static void keep_two(void)
{
	struct slope_linecache c;

	slope_linecache_open(&c, folder, id, sizeof id, debug_file);
	slope_linecache_add(&c, 0x40, NULL, 0);
	slope_linecache_add(&c, 0x10, "/src/a file.c", 7);
	slope_linecache_close(&c);
}

/* How many of the two are known. */
static unsigned known(void)
{
	struct slope_linecache c;
	const char *name = "";
	uint32_t line = 0;
	unsigned count = 0;

	slope_linecache_open(&c, folder, id, sizeof id, debug_file);
	if (slope_linecache_find(&c, 0x10, &name, &line)) {
		assert_string_equal(name, "/src/a file.c");
		assert_int_equal(line, 7);
		count++;
	}
	if (slope_linecache_find(&c, 0x40, &name, &line)) {
		assert_null(name);
		count++;
	}
	assert_false(slope_linecache_find(&c, 0x20, &name, &line));
	slope_linecache_close(&c);
	return count;
}

static void test_what_is_kept_comes_back(void **state)
{
	struct slope_linecache c;
	const char *name;
	uint32_t line;

	(void)state;
	assert_int_equal(known(), 0);
	keep_two();
	assert_int_equal(known(), 2);
	slope_linecache_open(&c, folder, id, sizeof id, debug_file);
	slope_linecache_add(&c, 0x8, "b.c", 1);
	slope_linecache_add(&c, 0x10, "other.c", 9);   /* asked for twice: either will do, one stays */
	slope_linecache_close(&c);
	slope_linecache_open(&c, folder, id, sizeof id, debug_file);
	assert_true(slope_linecache_find(&c, 0x8, &name, &line));
	assert_string_equal(name, "b.c");
	assert_true(slope_linecache_find(&c, 0x40, &name, &line));
	slope_linecache_close(&c);
}

static void test_another_debug_file_has_other_lines(void **state)
{
	(void)state;
	keep_two();
	put(debug_file, "longer");
	assert_int_equal(known(), 0);
}

static void test_broken_files_are_not_used(void **state)
{
	static const char *const harm[] = {
		"truncate -s -3 a/b/ab01", "sed -i '$d' a/b/ab01", "sed -i 2d a/b/ab01", "sed -i 's/^10 7/10 x/' a/b/ab01",
		"sed -i 's/lines 1/lines 2/' a/b/ab01", "echo more >>a/b/ab01", ": >a/b/ab01", "printf '\\0' >>a/b/ab01",
		"sed -i '2{h;d};3G' a/b/ab01", "truncate -s 5M a/b/ab01", "mv a/b/ab01 x; ln -s ../../x a/b/ab01",
		"rm a/b/ab01; mkdir a/b/ab01",
	};

	(void)state;
	for (size_t i = 0; i < sizeof harm / sizeof *harm; i++) {
		keep_two();
		assert_int_equal(known(), 2);
		sh(harm[i]);
		if (known())
			fail_msg("used after: %s", harm[i]);
		sh("rm -rf a x");
	}
}

static void test_no_folder_no_id_no_debug_file(void **state)
{
	struct slope_linecache c;

	(void)state;
	slope_linecache_open(&c, NULL, id, sizeof id, debug_file);
	slope_linecache_add(&c, 1, "x", 1);
	slope_linecache_close(&c);
	slope_linecache_open(&c, folder, id, 0, debug_file);
	slope_linecache_add(&c, 1, "x", 1);
	slope_linecache_close(&c);
	slope_linecache_open(&c, folder, id, sizeof id, NULL);
	slope_linecache_add(&c, 1, "x", 1);
	slope_linecache_close(&c);
	assert_int_not_equal(access(folder, F_OK), 0);
	slope_linecache_open(&c, "/dev/null/x", id, sizeof id, debug_file);
	slope_linecache_add(&c, 1, "x", 1);
	slope_linecache_close(&c);
}

static void test_the_oldest_go(void **state)
{
	char words[256];

	(void)state;
	keep_two();
	snprintf(words, sizeof words, "for i in $(seq %u); do : >a/b/$i; done; touch -d 2001-01-01 a/b/17 a/b/.new-x; rm a/b/ab01",
		 SLOPE_LINECACHE_FILES);
	sh(words);
	keep_two();
	assert_int_equal(known(), 2);
	sh("[ ! -e a/b/17 ] && [ ! -e a/b/.new-x ] && [ -e a/b/16 ]");
	snprintf(words, sizeof words, "[ $(ls a/b | wc -l) = %u ]", SLOPE_LINECACHE_FILES);
	sh(words);
}

static void test_every_allocation_may_fail(void **state)
{
	(void)state;
	for (size_t k = 0; k < 40; k++) {
		failing_after(k);
		keep_two();
		failing_never();
		assert_in_range(known(), 0, 2);
	}
	assert_int_equal(known(), 2);
	for (size_t k = 0; k < 10; k++) {
		failing_after(k);
		known();
		failing_never();
	}
	assert_int_equal(known(), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_what_is_kept_comes_back, begin, end),
		cmocka_unit_test_setup_teardown(test_another_debug_file_has_other_lines, begin, end),
		cmocka_unit_test_setup_teardown(test_broken_files_are_not_used, begin, end),
		cmocka_unit_test_setup_teardown(test_no_folder_no_id_no_debug_file, begin, end),
		cmocka_unit_test_setup_teardown(test_the_oldest_go, begin, end),
		cmocka_unit_test_setup_teardown(test_every_allocation_may_fail, begin, end),
	};

	if (!mkdtemp(scratch))
		return 1;
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	rmdir(scratch);
	return failed;
}
