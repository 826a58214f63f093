/* SPDX-License-Identifier: GPL-3.0-or-later */
/* analysis/contrast.c: functions that grow otherwise when others call them; and what show and report say of them. */
#define _GNU_SOURCE
#include "analysis/contrast.h"
#include "report/report.h"
#include "report/show.h"
#include "tests/unit/failing.h"
#include "tests/unit/contrast_sample.h"

static void says(const struct variant_law *law, size_t laws, uint32_t recorded, uint32_t k, const char *wanted)
{
	struct slope_profile *p = variants_profile(law, laws, recorded);
	struct slope_contrast v;
	char *text;

	assert_true(slope_contrast_init(&v, p, variant_function('f'), k, SLOPE_METRIC_TRMS, 0, true));
	text = slope_contrast_text(&v, p);
	assert_string_equal(text, wanted);
	assert_true(v.differ == (*wanted != 0));
	free(text);
	slope_contrast_fini(&v);
	slope_profile_free(p);
}

static void quadratic_from_one_caller(void **state)
{
	static const struct variant_law two[] = { { "a", 3, 2, 1, false }, { "b", 50, 1, 4, false } };
	static const struct variant_law three[] = {
		{ "a", 3, 2, 1, false }, { "b", 50, 1, 4, false }, { "c", 20, 1, 2, false },
	};

	(void)state;
	says(two, 2, 1, 0, "n^2 from a, n from b");
	says(three, 3, 1, 0, "n^2 from a, n elsewhere");
}

static void alike(void **state)
{
	static const struct variant_law law[] = { { "a", 3, 2, 1, false }, { "b", 9, 2, 4, false } };

	(void)state;
	says(law, 2, 1, 0, "");
}

/* Directly called by the same function; the difference is further up. */
static void the_caller_of_the_caller(void **state)
{
	static const struct variant_law law[] = {
		{ "ab", 3, 2, 1, false }, { "ac", 50, 1, 40, false }, { "ad", 50, 1, 2, false },
	};

	(void)state;
	says(law, 3, 2, 2, "n^2 from a <- b, n elsewhere");
	says(law, 3, 2, 0, "n^2 from a <- b, n elsewhere");
	says(law, 3, 2, 1, "");
}

static void too_little_is_known_of_one(void **state)
{
	static const struct variant_law law[] = { { "a", 3, 2, 1, false }, { "b", 50, 1, 4, false }, { "c", 7, 1, 0, false } };

	(void)state;
	says(law, 3, 1, 0, "n^2 from a, n from b");
}

static void rare_contexts_are_a_rest(void **state)
{
	static const struct variant_law law[] = { { "ab", 3, 2, 1, false }, { "a", 50, 1, 1, true }, { "", 50, 1, 3, true } };
	struct slope_profile *p = variants_profile(law, 3, 2);
	struct slope_contrast v;
	char *text;

	(void)state;
	assert_true(slope_contrast_init(&v, p, variant_function('f'), 2, SLOPE_METRIC_TRMS, 0, true));
	assert_int_equal(v.count, 3);
	assert_true(v.part[1].rest && !v.part[1].callers);
	text = slope_contrast_callers(&v.part[1], p, " <- ");
	assert_string_equal(text, "(other callers)");
	free(text);
	text = slope_contrast_callers(&v.part[2], p, " <- ");
	assert_string_equal(text, "a <- (other callers)");
	free(text);
	slope_contrast_fini(&v);
	/* By one caller, the first two are one. */
	assert_true(slope_contrast_init(&v, p, variant_function('f'), 1, SLOPE_METRIC_TRMS, 0, true));
	assert_int_equal(v.count, 2);
	assert_false(v.part[0].rest);
	assert_int_equal(v.part[0].calls, 2 * v.part[0].curve.count);
	slope_contrast_fini(&v);
	slope_profile_free(p);
}

static void not_recorded(void **state)
{
	struct slope_profile *p = variants_profile(NULL, 0, 0);
	struct slope_contrast v;

	(void)state;
	assert_true(slope_contrast_init(&v, p, variant_function('f'), 0, SLOPE_METRIC_TRMS, 0, false));
	assert_int_equal(v.count, 0);
	assert_false(v.differ);
	slope_contrast_fini(&v);
	slope_profile_free(p);
}

static void has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no\n%s\nin\n%s", part, text);
}

static char *shown(const struct slope_profile *p, bool json)
{
	struct slope_show_options o = { .function = variant_function('f'), .metric = SLOPE_METRIC_TRMS, .ascii = true };
	struct slope_show s;
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	assert_true(slope_show_init(&s, p, &o));
	assert_true(json ? slope_show_json(&s, out) : slope_show_text(&s, out));
	slope_show_fini(&s);
	fclose(out);
	return text;
}

static void show_splits_by_context(void **state)
{
	static const struct variant_law law[] = {
		{ "a", 3, 2, 1, false }, { "b", 50, 1, 4, false }, { "c", 20, 1, 2, false }, { "d", 20, 1, 1, false },
		{ "e", 20, 1, 1, false }, { "r", 20, 1, 1, false },
	};
	struct slope_profile *p = variants_profile(law, 6, 1);
	char *text = shown(p, false);

	(void)state;
	has(text, "\ncontexts  n^2 from a, n elsewhere\n");
	has(text, "mean cost (ir, log), from  o a  ^ b  # c  v ");
	has(text, ". other callers");
	has(text, "\nfrom     calls");
	has(text, "\n(start)");
	free(text);
	text = shown(p, true);
	has(text, "\"by_context\": {\n  \"k\": 1,\n  \"differ\": true,\n  \"text\": \"n^2 from a, n elsewhere\",");
	has(text, "{\"callers\": [\"a\"], \"rest\": false, \"calls\": ");
	free(text);
	slope_profile_free(p);
}

static void csv_has_contexts(void **state)
{
	static const struct variant_law law[] = { { "ab", 3, 2, 1, false }, { "b", 50, 1, 4, true } };
	struct slope_profile *p = variants_profile(law, 2, 2);
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	(void)state;
	assert_true(slope_export_csv(p, out));
	fclose(out);
	has(text, "\nf,made,,1,a <- b,trms,ir,10,1,300,300,300,90000,");
	has(text, "\nf,made,,1,b <- (other callers),trms,ir,10,4,500,500,2000,1000000,");
	assert_null(strstr(text, "\nf,made,,1,,"));
	free(text);
	slope_profile_free(p);
}

static void report_says_who_is_steep(void **state)
{
	static const struct variant_law law[] = { { "a", 3, 2, 1, false }, { "b", 50, 1, 4, false } };
	struct slope_profile *p = variants_profile(law, 2, 1);
	struct slope_report_options o = slope_report_defaults(p);
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	(void)state;
	p->variants_folded = 17;
	assert_true(slope_report_text(p, &o, out));
	assert_true(slope_report_json(p, &o, out));
	fclose(out);
	has(text, "f grows otherwise from other callers: n^2 from a, n from b.\n");
	has(text, "17 contexts were too rare to be told apart");
	has(text, "\"by_context\": {\"k\": 1, \"differ\": true, \"text\": \"n^2 from a, n from b\"}");
	free(text);
	slope_profile_free(p);
}

/* The same calls without contexts: the curve knows that it is a mixture. The sample plays all of them from the thread. */
static void mixtures_are_said(void **state)
{
	static const struct variant_law law[] = { { "a", 3, 2, 1, false }, { "b", 50, 1, 4, false } };
	struct slope_profile *p = variants_profile(law, 2, 1);
	struct slope_curve curve = slope_curve_none();
	struct slope_growth best, worst;
	char *text;

	(void)state;
	assert_true(slope_curve_load(&curve, p, variant_function('f'), SLOPE_CURVE_ALL_THREADS, SLOPE_METRIC_TRMS, 0));
	assert_true(slope_contrast_mixed(&curve, &best, &worst));
	assert_int_equal(best.verdict, SLOPE_VERDICT_LINEAR);
	assert_int_equal(worst.verdict, SLOPE_VERDICT_SUPERLINEAR);
	for (size_t i = 0; i < p->variant_count; i++) {
		free(p->variant[i].row.points[SLOPE_METRIC_TRMS].rows);
		free(p->variant[i].caller);
	}
	p->variant_count = 0;
	text = shown(p, false);
	has(text, "\nmixture   calls of the same n grow like n at best and like n^2 at worst");
	free(text);
	assert_int_equal(slope_contrast_callers_of(p, variant_function('f')), 1);
	slope_curve_fini(&curve);
	slope_profile_free(p);
}

static void no_mixture(void **state)
{
	static const struct variant_law law[] = { { "a", 3, 2, 1, false }, { "b", 50, 2, 4, false } };
	struct slope_profile *p = variants_profile(law, 2, 1);
	struct slope_curve curve = slope_curve_none();
	struct slope_growth best, worst;

	(void)state;
	assert_true(slope_curve_load(&curve, p, variant_function('f'), SLOPE_CURVE_ALL_THREADS, SLOPE_METRIC_TRMS, 0));
	assert_false(slope_contrast_mixed(&curve, &best, &worst));
	slope_curve_fini(&curve);
	slope_profile_free(p);
}

static void memory_may_run_out(void **state)
{
	static const struct variant_law law[] = { { "ab", 3, 2, 1, false }, { "ac", 50, 1, 40, false } };
	struct slope_profile *p = variants_profile(law, 2, 2);
	size_t failures = 0;
	bool good = false;

	(void)state;
	for (; !good; failures++) {
		struct slope_contrast v;

		failing_after(failures);
		good = slope_contrast_init(&v, p, variant_function('f'), 0, SLOPE_METRIC_TRMS, 0, false);
		failing_never();
		assert_true(good || (!v.part && !v.count));
		slope_contrast_fini(&v);
	}
	/* One caller: two tables, a variant's rows and curve. Two callers: the same with two variants; a list and a curve. */
	assert_int_equal(failures, 1 + (2 + 2) + (2 + 4) + 2);
	slope_profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quadratic_from_one_caller),
		cmocka_unit_test(alike),
		cmocka_unit_test(the_caller_of_the_caller),
		cmocka_unit_test(too_little_is_known_of_one),
		cmocka_unit_test(rare_contexts_are_a_rest),
		cmocka_unit_test(not_recorded),
		cmocka_unit_test(show_splits_by_context),
		cmocka_unit_test(csv_has_contexts),
		cmocka_unit_test(report_says_who_is_steep),
		cmocka_unit_test(mixtures_are_said),
		cmocka_unit_test(no_mixture),
		cmocka_unit_test(memory_may_run_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
