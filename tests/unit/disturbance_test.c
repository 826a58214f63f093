/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "report/disturbance.h"
#include "tests/unit/failing.h"

static char *program[] = { "./prog", "an argument", NULL };

static struct slope_disturbance_row row[] = {
	{ .name = "time", .nanoseconds = true, .native = 1.5e9, .recorded = 3e9, .ratio = 2, .least = 1.75, .most = 2.5, .paths = 1.8e9,
	  .paths_ratio = 1.2, .running = 1 },
	{ .name = "page-faults", .native = 0, .recorded = 1234, .ratio = INFINITY, .least = INFINITY, .most = INFINITY, .paths = NAN,
	  .paths_ratio = NAN, .running = 1 },
	{ .name = "cycles", .native = 2e6, .recorded = 5e6, .ratio = 2.5, .least = 2.5, .most = 2.5, .paths = NAN, .paths_ratio = NAN,
	  .running = 0.25 },
	{ .name = "sim:3", .native = NAN, .recorded = NAN, .ratio = NAN, .least = NAN, .most = NAN, .paths = 30, .paths_ratio = NAN,
	  .running = 1 },
};

static struct slope_disturbance sample(void)
{
	return (struct slope_disturbance){ .program = program, .source = "translator", .rounds = 7, .row = row, .count = 4,
					   .path_period = 64, .unmeasured = 0.125 };
}

/* What is printed; NULL when memory ran out. */
static char *printed(const struct slope_disturbance *d, bool (*print)(const struct slope_disturbance *, FILE *))
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	assert_non_null(out);
	bool whole = print(d, out);

	assert_int_equal(fclose(out), 0);
	if (whole)
		return text;
	free(text);
	return NULL;
}

static void has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no '%s' in:\n%s", part, text);
}

static void table(void **state)
{
	struct slope_disturbance d = sample();
	char *text = printed(&d, slope_disturbance_text);

	(void)state;
	assert_non_null(text);
	has(text, "metric       native  recorded  ratio       range  paths  ratio\n");
	has(text, "time          1.5 s       3 s   2.00  1.75..2.50  1.8 s   1.20\n");
	has(text, "page-faults       0     1.23k      -           -");
	has(text, "sim:3             -         -      -           -     30      -\n");
	has(text, "cycles: its counter was shared with others and ran for 25.0% of the time; values are scaled up.\n");
	has(text, "Medians of 7 rounds;");
	has(text, "of one activation in 64, made up for the others; 12.5% of all executions are of paths that were never measured.\n");
	free(text);
}

/* Without events there is nothing along paths, and no word about it. */
static void no_paths(void **state)
{
	struct slope_disturbance d = sample();

	(void)state;
	d.row = &row[1];
	d.count = 1;
	d.path_period = 0;
	d.unmeasured = NAN;
	char *text = printed(&d, slope_disturbance_text);

	assert_non_null(text);
	assert_null(strstr(text, "paths:"));
	assert_null(strstr(text, "made up"));
	free(text);
}

static void json(void **state)
{
	struct slope_disturbance d = sample();
	char *text = printed(&d, slope_disturbance_json);

	(void)state;
	assert_non_null(text);
	has(text, "\"schema\": \"slope-perturbation/1\"");
	has(text, "\"program\": [\"./prog\", \"an argument\"]");
	has(text, "\"path_period\": 64");
	has(text, "\"name\": \"time\", \"unit\": \"ns\", \"native\": 1.5e+09, \"recorded\": 3e+09, \"ratio\": 2, \"least\": 1.75, "
		  "\"most\": 2.5, \"along_paths\": 1.8e+09, \"along_paths_ratio\": 1.2, \"running\": 1}");
	has(text, "\"ratio\": null, \"least\": null");
	free(text);
}

static void no_memory(void **state)
{
	struct slope_disturbance d = sample();
	char *text = NULL;

	(void)state;
	for (size_t n = 0; !text; n++) {
		failing_after(n);
		char *buffer = NULL;
		size_t bytes = 0;
		FILE *out = open_memstream(&buffer, &bytes);
		bool whole = out && slope_disturbance_text(&d, out);

		failing_never();
		if (out)
			fclose(out);
		if (whole)
			text = buffer;
		else
			free(buffer);
		assert_in_range(n, 0, 1000);
	}
	has(text, "time          1.5 s");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table),
		cmocka_unit_test(no_paths),
		cmocka_unit_test(json),
		cmocka_unit_test(no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
