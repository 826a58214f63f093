/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rules: what parses and what does not, which functions they mean, and that
 * they fail on evidence only: a law held against its own class does not fail,
 * whatever the noise; one that is clearly steeper does.
 */
#define _GNU_SOURCE
#include "tests/unit/gate_sample.h"

#include "analysis/rules.h"

static void rules_are_read(void **unused)
{
	static const struct {
		const char *text, *function;
		struct slope_order bound;
		bool strict;
	} good[] = {
		{ "f <= n", "f", { 1, 0, 0 }, false },
		{ "  str_*<=n log n ", "str_*", { 1, 1, 0 }, false },
		{ "f < n^2", "f", { 2, 0, 0 }, true },
		{ "f \xe2\x89\xa4 O(n^1.5)", "f", { 1.5, 0, 0 }, false },
		{ "std::vector<int>::push_back(int const&) <= 1",
		  "std::vector<int>::push_back(int const&)",
		  { 0, 0, 0 },
		  false },
		{ "operator<= <= log n", "operator<=", { 0, 1, 0 }, false },
		{ "operator< < quadratic", "operator<", { 2, 0, 0 }, true },
		{ "f <= 2^n", "f", { 0, 0, 2 }, false },
	};

	(void)unused;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		struct slope_rules rules = { 0 };
		char error[256];

		assert_true(slope_rules_add(&rules, good[i].text, error, sizeof(error)));
		assert_string_equal(rules.rule[0].function, good[i].function);
		assert_int_equal(slope_order_compare(rules.rule[0].bound, good[i].bound), 0);
		assert_int_equal(rules.rule[0].strict, good[i].strict);
		slope_rules_fini(&rules);
	}
}

static void wrong_rules_are_refused(void **unused)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
		{ "f", "'f' has no '<='" },          { "", "has no '<='" },
		{ "f >= n", "has no '<='" },         { "<= n", "names no function" },
		{ "f <=", "no class after '<='" },   { "f <= fast", "no class after '<='" },
		{ "f < m^2", "no class after '<'" }, { "f <= n <= n^2 x", "no class" },
	};
	struct slope_rules rules = { 0 };
	char error[256];

	(void)unused;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_false(slope_rules_add(&rules, bad[i].text, error, sizeof(error)));
		if (!strstr(error, bad[i].says))
			fail_msg("'%s' is not in: %s", bad[i].says, error);
	}
	assert_int_equal(rules.count, 0);
	slope_rules_fini(&rules);
}

static void a_file_of_rules_is_read(void **unused)
{
	struct slope_rules rules = { 0 };
	char error[256];

	(void)unused;
	assert_true(slope_rules_add_text(&rules, "r", "# all of them\n\n f <= n  # why\r\n{closure#0} <= n^2", error,
					 sizeof(error)));
	assert_int_equal(rules.count, 2);
	assert_string_equal(rules.rule[0].text, "f <= n");
	assert_string_equal(rules.rule[1].function, "{closure#0}");
	assert_false(slope_rules_add_text(&rules, "r", "g <= n\n\nh = n\n", error, sizeof(error)));
	assert_non_null(strstr(error, "r:3: 'h = n' has no '<='"));
	slope_rules_fini(&rules);
}

/* The outcome of one rule on one function. */
static enum slope_outcome outcome(struct law law, const char *bound, unsigned sizes, double to, double noise,
				  uint64_t *state)
{
	struct slope_profile *p = gate_profile(1);
	struct slope_rules rules = { 0 };
	struct slope_checks checks = { 0 };
	struct slope_rules_options o = { .metric = SLOPE_METRIC_TRMS };
	char text[64], error[256];

	snprintf(text, sizeof(text), "it <= %s", bound);
	gate_add(p, &(struct made){ "it", law, sizes, 4, to, 3, noise }, state);
	assert_true(slope_rules_add(&rules, text, error, sizeof(error)));
	assert_true(slope_checks_add_rules(&checks, &rules, p, &o));
	assert_int_equal(checks.count, 1);
	enum slope_outcome found = checks.check[0].outcome;

	assert_int_equal(checks.of[found], 1);
	assert_true(found == SLOPE_OUTCOME_INCONCLUSIVE || !checks.check[0].advice[0]);
	slope_checks_fini(&checks);
	slope_rules_fini(&rules);
	slope_profile_free(p);
	return found;
}

static void a_law_passes_its_own_class(void **unused)
{
	static const struct {
		struct law law;
		const char *bound;
	} own[] = {
		{ { 200, 0, 0, 0 }, "1" },        { { 20, 3, 1, 0 }, "n" },     { { 500, 4, 1, 0 }, "n" },
		{ { 10, 2, 1, 1 }, "n log n" },   { { 10, 2, 1, 1 }, "n^1.2" }, { { 30, 1, 2, 0 }, "n^2" },
		{ { 40, 12, 0.5, 0 }, "sqrt n" }, { { 5, 90, 0, 1 }, "log n" },
	};
	static const double noise[] = { 0, 0.005, 0.02, 0.1, 0.3 };
	static const unsigned sizes[] = { 8, 20, 60 };
	size_t count[SLOPE_OUTCOMES] = { 0 }, all = 0;
	uint64_t state = 31;

	(void)unused;
	for (unsigned round = 0; round < 75; round++)
		for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++, all++)
			count[outcome(own[i].law, own[i].bound, sizes[round % 3], round % 2 ? 300 : 3000,
				      noise[round % 5], &state)]++;
	print_message("own class: %zu curves, %zu pass, %zu inconclusive, %zu fail\n", all, count[SLOPE_OUTCOME_PASS],
		      count[SLOPE_OUTCOME_INCONCLUSIVE], count[SLOPE_OUTCOME_FAIL]);
	assert_true(count[SLOPE_OUTCOME_FAIL] * 100 <= all);
	assert_true(count[SLOPE_OUTCOME_PASS] * 100 >= all * 60);
}

static void a_steeper_law_fails(void **unused)
{
	static const struct {
		struct law law;
		const char *bound;
	} steep[] = {
		{ { 20, 3, 1, 0 }, "1" },       { { 20, 3, 1, 0 }, "sqrt n" },  { { 20, 1, 2, 0 }, "n" },
		{ { 20, 1, 2, 0 }, "n log n" }, { { 30, 0.2, 2, 0 }, "n^1.5" }, { { 30, 1, 3, 0 }, "n^2" },
		{ { 10, 1, 1.5, 0 }, "n" },
	};
	static const double noise[] = { 0, 0.02, 0.1 };
	size_t fail = 0, pass = 0, all = 0;
	uint64_t state = 37;

	(void)unused;
	for (unsigned round = 0; round < 30; round++)
		for (size_t i = 0; i < sizeof(steep) / sizeof(*steep); i++, all++) {
			enum slope_outcome found =
				outcome(steep[i].law, steep[i].bound, 30, 1000, noise[round % 3], &state);

			fail += found == SLOPE_OUTCOME_FAIL;
			pass += found == SLOPE_OUTCOME_PASS;
		}
	print_message("steeper: %zu curves, %zu fail, %zu pass\n", all, fail, pass);
	assert_true(fail * 100 >= all * 90);
	assert_int_equal(pass, 0);
}

static void little_evidence_is_inconclusive(void **unused)
{
	uint64_t state = 41;

	(void)unused;
	assert_int_equal(outcome((struct law){ 1, 1, 2, 0 }, "n", 1, 4, 0, &state), SLOPE_OUTCOME_INCONCLUSIVE);
	assert_int_equal(outcome((struct law){ 1, 1, 2, 0 }, "n", 3, 1000, 0, &state), SLOPE_OUTCOME_INCONCLUSIVE);
	assert_int_equal(outcome((struct law){ 1, 1, 2, 0 }, "n", 8, 9, 0, &state), SLOPE_OUTCOME_INCONCLUSIVE);
}

static void less_than_excludes_the_bound(void **unused)
{
	struct slope_check check = { 0 };
	struct slope_rule rule = { .bound = { 1, 0, 0 }, .strict = true };

	(void)unused;
	check.growth = (struct slope_growth){ .verdict = SLOPE_VERDICT_LINEAR,
					      .fitted = true,
					      .least = { 1, 0, 0 },
					      .most = { 1, 0, 0 },
					      .exponent = 1,
					      .low = 0.98,
					      .high = 1.01,
					      .from = 4,
					      .to = 400 };
	slope_check_judge(&check, &rule);
	assert_int_equal(check.outcome, SLOPE_OUTCOME_FAIL);
	rule.strict = false;
	slope_check_judge(&check, &rule);
	assert_int_equal(check.outcome, SLOPE_OUTCOME_PASS);
	check.growth.least = (struct slope_order){ 0.5, 0, 0 };
	check.growth.low = 0.5;
	rule.strict = true;
	slope_check_judge(&check, &rule);
	assert_int_equal(check.outcome, SLOPE_OUTCOME_INCONCLUSIVE);
	check.growth.most = (struct slope_order){ 0.5, 0, 0 };
	check.growth.high = 0.5;
	slope_check_judge(&check, &rule);
	assert_int_equal(check.outcome, SLOPE_OUTCOME_PASS);
}

static void globs_mean_many_and_names_may_be_missing(void **unused)
{
	static const char *const name[] = { "str_lower", "str_upper", "hash", "hash" };
	struct slope_profile *p = gate_profile(4);
	struct slope_rules rules = { 0 };
	struct slope_checks checks = { 0 };
	struct slope_rules_options o = { .metric = SLOPE_METRIC_TRMS };
	uint64_t state = 43;
	char error[256];

	(void)unused;
	for (int i = 0; i < 4; i++)
		gate_add(p, &(struct made){ name[i], { 10, i + 1, 1, 0 }, 20, 4, 400, 2, 0 }, &state);
	assert_true(slope_rules_add(&rules, "str_* <= n", error, sizeof(error)));
	assert_true(slope_rules_add(&rules, "nobody <= n", error, sizeof(error)));
	assert_true(slope_rules_add(&rules, "hash <= n", error, sizeof(error)));
	assert_true(slope_checks_add_rules(&checks, &rules, p, &o));
	assert_int_equal(checks.count, 5);
	assert_int_equal(checks.of[SLOPE_OUTCOME_PASS], 4);
	assert_int_equal(checks.of[SLOPE_OUTCOME_MISSING], 1);
	assert_ptr_equal(checks.check[2].rule, &rules.rule[1]);
	assert_int_not_equal(checks.check[3].function, checks.check[4].function);  /* two static ones of one name */
	slope_checks_fini(&checks);
	slope_rules_fini(&rules);
	slope_profile_free(p);
}

/* A function whose points are of another metric only: nothing is known of it. */
static void no_points_are_inconclusive(void **unused)
{
	struct slope_profile *p = gate_profile(1);
	struct slope_rules rules = { 0 };
	struct slope_checks checks = { 0 };
	struct slope_rules_options o = { .metric = SLOPE_METRIC_RMS };
	uint64_t state = 47;
	char error[256];

	(void)unused;
	gate_add(p, &(struct made){ "f", { 1, 1, 1, 0 }, 20, 4, 400, 1, 0 }, &state);
	assert_true(slope_rules_add(&rules, "f <= n", error, sizeof(error)));
	assert_true(slope_checks_add_rules(&checks, &rules, p, &o));
	assert_int_equal(checks.check[0].outcome, SLOPE_OUTCOME_INCONCLUSIVE);
	assert_non_null(strstr(checks.check[0].why, "no points"));
	slope_checks_fini(&checks);
	slope_rules_fini(&rules);
	slope_profile_free(p);
}

static void baseline(struct law was, struct law is, unsigned sizes, enum slope_outcome expected)
{
	struct slope_profile *old = gate_profile(2), *now = gate_profile(2);
	struct slope_compare_options o;
	struct slope_comparison c;
	struct slope_checks checks = { 0 };
	uint64_t state = 53;
	char error[256];

	gate_add(old, &(struct made){ "f", was, 30, 4, 1000, 2, 0.01 }, &state);
	gate_add(now, &(struct made){ "f", is, sizes, 4, 1000, 2, 0.01 }, &state);
	gate_add(old, &(struct made){ "once", { 9e5, 0, 0, 0 }, 1, 7, 7, 1, 0 }, &state);
	gate_add(now, &(struct made){ "once", { 9e5, 0, 0, 0 }, 1, 7, 7, 1, 0 }, &state);
	assert_true(slope_compare_defaults(&o, old, now, NULL, SLOPE_METRICS, error, sizeof(error)));
	assert_true(slope_comparison_init(&c, old, now, &o));
	assert_true(slope_checks_add_baseline(&checks, &c));
	assert_int_equal(checks.count, 1);
	assert_int_equal(checks.unjudged, 1);
	assert_int_equal(checks.check[0].outcome, expected);
	slope_checks_fini(&checks);
	slope_comparison_fini(&c);
	slope_profile_free(old);
	slope_profile_free(now);
}

static void a_baseline_is_a_rule(void **unused)
{
	const struct law linear = { 10, 3, 1, 0 }, dear = { 10, 30, 1, 0 }, steep = { 10, 1, 2, 0 };

	(void)unused;
	baseline(linear, linear, 30, SLOPE_OUTCOME_PASS);
	baseline(linear, dear, 30, SLOPE_OUTCOME_PASS);  /* a factor is no growth */
	baseline(steep, linear, 30, SLOPE_OUTCOME_PASS);
	baseline(linear, steep, 30, SLOPE_OUTCOME_FAIL);
	baseline(linear, steep, 2, SLOPE_OUTCOME_INCONCLUSIVE);
}

static void memory_may_run_out(void **unused)
{
	struct slope_profile *p = gate_profile(1);
	struct slope_rules_options o = { .metric = SLOPE_METRIC_TRMS };
	uint64_t state = 59;
	size_t allowed = 0;
	bool good = false;
	char error[256];

	(void)unused;
	gate_add(p, &(struct made){ "f", { 1, 1, 1, 0 }, 20, 4, 400, 1, 0 }, &state);
	for (; !good; allowed++) {
		struct slope_rules rules = { 0 };
		struct slope_checks checks = { 0 };

		failing_after(allowed);
		good = slope_rules_add_text(&rules, "r", "f <= n\n", error, sizeof(error)) &&
		       slope_checks_add_rules(&checks, &rules, p, &o);
		failing_never();
		slope_checks_fini(&checks);
		slope_rules_fini(&rules);
	}
	assert_true(allowed > 2);
	slope_profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_are_read),
		cmocka_unit_test(wrong_rules_are_refused),
		cmocka_unit_test(a_file_of_rules_is_read),
		cmocka_unit_test(a_law_passes_its_own_class),
		cmocka_unit_test(a_steeper_law_fails),
		cmocka_unit_test(little_evidence_is_inconclusive),
		cmocka_unit_test(less_than_excludes_the_bound),
		cmocka_unit_test(globs_mean_many_and_names_may_be_missing),
		cmocka_unit_test(no_points_are_inconclusive),
		cmocka_unit_test(a_baseline_is_a_rule),
		cmocka_unit_test(memory_may_run_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
