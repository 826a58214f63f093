/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Comparisons: what has not changed is no news in nearly all of many random
 * pairs, what has changed is found, and too small changes are left alone.
 */
#define _GNU_SOURCE
#include "tests/unit/gate_sample.h"

#include "analysis/compare.h"
#include "analysis/pairing.h"

#define FUNCTIONS 12u
#define ROUNDS 250u

static const struct law laws[] = {
	{ 200, 0, 0, 0 }, { 20, 3, 1, 0 }, { 500, 4, 1, 0 }, { 10, 2, 1, 1 }, { 30, 1, 2, 0 }, { 40, 12, 0.5, 0 },
};
#define LAWS (sizeof(laws) / sizeof(*laws))

static struct slope_compare_options options(const struct slope_profile *old, const struct slope_profile *now)
{
	struct slope_compare_options o;
	char error[256];

	assert_true(slope_compare_defaults(&o, old, now, NULL, SLOPE_METRICS, error, sizeof(error)));
	return o;
}

static struct slope_comparison compared(const struct slope_profile *old, const struct slope_profile *now)
{
	struct slope_compare_options o = options(old, now);
	struct slope_comparison c;

	assert_true(slope_comparison_init(&c, old, now, &o));
	return c;
}

/* A profile of many functions: law, sizes, calls and noise by their position, numbers by the state. */
static struct slope_profile *crowd(uint64_t *state, unsigned round)
{
	static const double noise[] = { 0, 0.002, 0.02, 0.1, 0.3 };
	static const unsigned calls[] = { 1, 3, 30 }, sizes[] = { 1, 6, 12, 40, 100 };
	struct slope_profile *p = gate_profile(FUNCTIONS);

	for (unsigned i = 0; i < FUNCTIONS; i++) {
		unsigned k = i + round;
		char name[16];

		snprintf(name, sizeof(name), "f%u", i);
		gate_add(p,
			 &(struct made){ name, laws[k % LAWS], sizes[k / 2 % 5], 4, 40 * pow(10, k % 3), calls[k % 3],
					 noise[k * 7 % 5] },
			 state);
	}
	return p;
}

static void same_law_is_no_news(void **unused)
{
	uint64_t state = 11;
	size_t growth = 0, cost = 0, functions = 0, rounds = 0;

	(void)unused;
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct slope_profile *old = crowd(&state, round), *now = crowd(&state, round);
		struct slope_comparison c = compared(old, now);

		growth += c.worse + c.better;
		cost += c.costlier + c.cheaper;
		rounds += c.worse + c.better + c.costlier + c.cheaper > 0;
		functions += c.count;
		slope_comparison_fini(&c);
		slope_profile_free(old);
		slope_profile_free(now);
	}
	print_message(
		"same law: %zu functions in %u pairs of profiles; %zu said to grow otherwise, %zu to cost otherwise; "
		"%zu pairs with a false alarm\n",
		functions, ROUNDS, growth, cost, rounds);
	assert_true(growth <= 3);
	assert_true(rounds <= 25);   /* one in ten: 5 % for each of two kinds of news */
}

/* One function of `from` in the old profile and `to` in the new one, among others that stay as they are. */
static struct slope_difference changed(struct law from, struct law to, double noise, unsigned sizes, uint64_t *state)
{
	struct slope_difference found = { 0 };
	struct slope_profile *p[2];
	struct slope_comparison c;

	for (int i = 0; i < 2; i++) {
		p[i] = gate_profile(4);
		gate_add(p[i], &(struct made){ "it", i ? to : from, sizes, 4, 1000, 3, noise }, state);
		gate_add(p[i], &(struct made){ "other", laws[1], 20, 4, 500, 3, noise }, state);
		gate_add(p[i], &(struct made){ "another", laws[4], 20, 4, 100, 3, noise }, state);
	}
	c = compared(p[0], p[1]);
	for (size_t i = 0; i < c.count; i++)
		if (!strcmp(p[1]->function[c.entry[i].now.function].name, "it"))
			found = c.entry[i];
	slope_comparison_fini(&c);
	slope_profile_free(p[0]);
	slope_profile_free(p[1]);
	return found;
}

static void other_growth_is_found(void **unused)
{
	static const struct {
		struct law from, to;
	} pair[] = {
		{ { 20, 3, 1, 0 }, { 20, 1, 2, 0 } }, { { 20, 3, 1, 0 }, { 20, 0.1, 2, 0 } },
		{ { 200, 0, 0, 0 }, { 200, 2, 1, 0 } }, { { 20, 3, 1, 0 }, { 20, 0.5, 1.5, 0 } },
		{ { 10, 2, 1, 1 }, { 10, 1, 2, 0 } }, { { 10, 1, 2, 0 }, { 10, 0.05, 3, 0 } },
	};
	static const double noise[] = { 0, 0.02, 0.1 };
	uint64_t state = 5;
	size_t worse = 0, better = 0, all = 0;

	(void)unused;
	for (unsigned round = 0; round < 20; round++)
		for (size_t i = 0; i < sizeof(pair) / sizeof(*pair); i++, all++) {
			worse += changed(pair[i].from, pair[i].to, noise[round % 3], 30, &state).growth == 1;
			better += changed(pair[i].to, pair[i].from, noise[round % 3], 30, &state).growth == -1;
		}
	print_message("other growth: %zu of %zu found worse, %zu of %zu better\n", worse, all, better, all);
	assert_true(worse * 100 >= all * 90);
	assert_true(better * 100 >= all * 90);
}

static void other_cost_is_found(void **unused)
{
	static const double noise[] = { 0, 0.02, 0.1 };
	uint64_t state = 7;
	size_t dearer = 0, cheaper = 0, growth = 0, all = 0;

	(void)unused;
	for (unsigned round = 0; round < 10; round++)
		for (size_t i = 0; i < LAWS; i++, all++) {
			struct law more = { laws[i].constant * 1.3, laws[i].factor * 1.3, laws[i].power, laws[i].logs };
			struct slope_difference up = changed(laws[i], more, noise[round % 3], 30, &state);
			struct slope_difference down = changed(more, laws[i], noise[round % 3], 30, &state);

			dearer += up.cost == 1;
			cheaper += down.cost == -1;
			growth += up.growth || down.growth;
		}
	print_message("1.3 times the cost: %zu of %zu found, back %zu; %zu said to grow otherwise\n", dearer, all,
		      cheaper, growth);
	assert_true(dearer * 100 >= all * 90);
	assert_true(cheaper * 100 >= all * 90);
	assert_true(growth <= 2);
}

static void little_is_no_news(void **unused)
{
	uint64_t state = 3;

	(void)unused;
	for (size_t i = 0; i < LAWS; i++) {
		struct law more = { laws[i].constant * 1.01, laws[i].factor * 1.01, laws[i].power, laws[i].logs };
		struct slope_difference d = changed(laws[i], more, 0, 30, &state);

		assert_int_equal(d.growth, 0);
		assert_int_equal(d.cost, 0);
	}
}

static void how_much_is_news_can_be_said(void **unused)
{
	uint64_t state = 61;
	struct slope_profile *old = gate_profile(1), *now = gate_profile(1);
	struct slope_compare_options o;
	struct slope_comparison c;

	(void)unused;
	gate_add(old, &(struct made){ "f", { 0, 50, 1, 0 }, 40, 4, 4000, 2, 0 }, &state);
	gate_add(now, &(struct made){ "f", { 0, 50, 1.07, 0 }, 40, 4, 4000, 2, 0 }, &state);
	o = options(old, now);
	assert_true(slope_comparison_init(&c, old, now, &o));
	assert_int_equal(c.worse, 0);
	assert_int_equal(c.costlier, 1);
	slope_comparison_fini(&c);
	o.least_exponent = 0.04;
	assert_true(slope_comparison_init(&c, old, now, &o));
	assert_int_equal(c.worse, 1);
	slope_comparison_fini(&c);
	o.share = 1.1;
	assert_true(slope_comparison_init(&c, old, now, &o));
	assert_int_equal(c.worse + c.costlier, 0);
	slope_comparison_fini(&c);
	slope_profile_free(old);
	slope_profile_free(now);
}

/* Waves on a curve, a little higher in the second run: at some height there is no verdict any more, but no harm. */
static void a_verdict_may_go_without_harm(void **unused)
{
	uint64_t state = 67;
	size_t lost = 0, unclear = 0;

	(void)unused;
	for (int i = 0; i < 150; i++) {
		const struct made f = { "f", { 0, 90, 1 + 0.5 * (i % 3), 0 }, 60, 4, 4000, 3, 0.01 };
		double wave = 0.02 * (i / 3);
		struct slope_profile *old = gate_profile(1), *now = gate_profile(1);
		struct slope_comparison c;

		gate_add_waves(old, &f, wave, &state);
		gate_add_waves(now, &f, wave + 0.02, &state);
		c = compared(old, now);
		lost += c.entry[0].old.growth.verdict != SLOPE_VERDICT_INCONCLUSIVE &&
			c.entry[0].now.growth.verdict == SLOPE_VERDICT_INCONCLUSIVE;
		unclear += c.unclear;
		slope_comparison_fini(&c);
		slope_profile_free(old);
		slope_profile_free(now);
	}
	print_message("verdicts lost to waves: %zu, %zu of them unclear\n", lost, unclear);
	assert_true(lost > 0);
	assert_int_equal(unclear, 0);
}

/* Adds factor * n^2 to what each call of a function cost. */
static void add_squares(struct slope_profile *p, uint32_t function, double factor)
{
	struct slope_profile_points *points = &p->row[function].points[SLOPE_METRIC_TRMS];

	for (size_t i = 0; i < points->count; i++) {
		struct slope_point *point = (struct slope_point *)(points->rows + i * slope_point_bytes(1));
		uint64_t more = (uint64_t)(factor * (double)point->n * (double)point->n), n = point->calls;
		struct slope_stat *s = &point->cost[0];

		s->sq_lo += 2 * more * s->sum + n * more * more;
		s->sum += n * more;
		s->min += more;
		s->max += more;
		p->row[function].total[0] += n * more;
	}
}

/* A quadratic part that has begun to show at the last sizes; a larger factor of the same law. */
static void what_begins_to_show_is_rising(void **unused)
{
	uint64_t state = 71;
	struct slope_profile *old = gate_profile(2), *now = gate_profile(2);
	struct slope_comparison c;

	(void)unused;
	gate_add(old, &(struct made){ "part", { 100, 10, 1, 0 }, 40, 10, 1000, 3, 0.005 }, &state);
	gate_add(now, &(struct made){ "part", { 100, 10, 1, 0 }, 40, 10, 1000, 3, 0.005 }, &state);
	gate_add(old, &(struct made){ "factor", { 100, 10, 1, 0 }, 40, 10, 1000, 3, 0.005 }, &state);
	gate_add(now, &(struct made){ "factor", { 100, 14, 1, 0 }, 40, 10, 1000, 3, 0.005 }, &state);
	add_squares(now, 1, 0.003);
	c = compared(old, now);
	for (size_t i = 0; i < c.count; i++) {
		bool part = c.entry[i].now.function == 1;

		assert_int_equal(c.entry[i].cost, 1);
		assert_int_equal(c.entry[i].rising || c.entry[i].growth > 0, part);
	}
	slope_comparison_fini(&c);
	slope_profile_free(old);
	slope_profile_free(now);
}

/* A constant part that went away bends the curve on log-log axes; the growth is what it was. */
static void a_smaller_constant_is_no_growth(void **unused)
{
	uint64_t state = 9;
	struct slope_difference d =
		changed((struct law){ 1000, 3, 1, 0 }, (struct law){ 10, 3, 1, 0 }, 0.01, 40, &state);

	(void)unused;
	assert_int_equal(d.growth, 0);
	assert_int_equal(d.cost, -1);
	assert_true(d.ratio.at_from < 0.3);
}

static void crossing_is_where_the_laws_cross(void **unused)
{
	uint64_t state = 13;
	struct slope_difference d = changed((struct law){ 0, 100, 1, 0 }, (struct law){ 0, 2, 2, 0 }, 0, 40, &state);

	(void)unused;
	assert_int_equal(d.growth, 1);
	assert_true(fabs(d.cross - 50) < 2.5);
	assert_true(d.ratio.at_to > 15);
	assert_true(d.impact > 0.5);
}

static void other_input_is_workload(void **unused)
{
	uint64_t state = 17;
	struct slope_profile *old = gate_profile(3), *now = gate_profile(3);
	struct slope_comparison c;

	(void)unused;
	gate_add(old, &(struct made){ "more", laws[1], 30, 4, 400, 5, 0.01 }, &state);
	gate_add(now, &(struct made){ "more", laws[1], 30, 4, 400, 50, 0.01 }, &state);
	gate_add(old, &(struct made){ "larger", laws[1], 30, 4, 100, 5, 0.01 }, &state);
	gate_add(now, &(struct made){ "larger", laws[1], 30, 40, 1000, 5, 0.01 }, &state);
	gate_add(old, &(struct made){ "went", laws[1], 30, 4, 400, 5, 0.01 }, &state);
	gate_add(now, &(struct made){ "came", laws[1], 30, 4, 400, 5, 0.01 }, &state);
	c = compared(old, now);
	assert_int_equal(c.workload, 2);
	assert_int_equal(c.appeared, 1);
	assert_int_equal(c.gone, 1);
	assert_int_equal(c.worse + c.better + c.costlier + c.cheaper, 0);
	slope_comparison_fini(&c);
	slope_profile_free(old);
	slope_profile_free(now);
}

static void the_same_profile_has_no_news(void **unused)
{
	uint64_t state = 19;
	struct slope_profile *p = crowd(&state, 4);
	struct slope_comparison c = compared(p, p);

	(void)unused;
	assert_int_equal(c.count, FUNCTIONS);
	for (size_t i = 0; i < c.count; i++) {
		assert_false(slope_difference_is_news(&c.entry[i]));
		assert_false(c.entry[i].unclear);
	}
	slope_comparison_fini(&c);
	slope_profile_free(p);
}

static void units_cells_and_sizes_must_agree(void **unused)
{
	struct slope_profile *old = gate_profile(1), *now = gate_profile(1);
	struct slope_compare_options o;
	char error[256];

	(void)unused;
	assert_false(slope_compare_defaults(&o, old, now, "bb", SLOPE_METRICS, error, sizeof(error)));
	assert_non_null(strstr(error, "--unit=bb"));
	assert_false(slope_compare_defaults(&o, old, now, NULL, SLOPE_METRIC_RMS, error, sizeof(error)));
	assert_non_null(strstr(error, "by rms"));
	now->metrics = 1u << SLOPE_METRIC_RMS;
	assert_false(slope_compare_defaults(&o, old, now, NULL, SLOPE_METRICS, error, sizeof(error)));
	now->metrics = old->metrics;
	now->cell_bytes = 8;
	assert_false(slope_compare_defaults(&o, old, now, NULL, SLOPE_METRICS, error, sizeof(error)));
	assert_non_null(strstr(error, "4 and 8 bytes"));
	strcpy(now->unit_name[0], "bb");
	assert_false(slope_compare_defaults(&o, old, now, NULL, SLOPE_METRICS, error, sizeof(error)));
	assert_non_null(strstr(error, "ir and bb"));
	slope_profile_free(old);
	slope_profile_free(now);
}

static void rename_function(struct slope_profile *p, uint32_t at, const char *name, const char *file, uint32_t line)
{
	free(p->function[at].name);
	p->function[at].name = gate_text(name);
	p->function[at].file = file ? gate_text(file) : NULL;
	p->function[at].line = line;
}

static uint32_t partner(const struct slope_pairing *pairing, uint32_t old)
{
	for (size_t i = 0; i < pairing->count; i++)
		if (pairing->pair[i].old == old)
			return pairing->pair[i].now;
	fail_msg("function %u is in no pair", old);
	return 0;
}

/* Another build: other offsets, another path of the program, another hash, another number of a clone. */
static void functions_are_found_in_another_build(void **unused)
{
	static const struct made any = { "plain", { 1, 1, 1, 0 }, 3, 1, 9, 1, 0 };
	struct slope_profile *old = gate_profile(6), *now = gate_profile(6);
	struct slope_pairing pairing;
	uint64_t state = 1;

	(void)unused;
	for (unsigned i = 0; i < 6; i++) {
		gate_add(old, &any, &state);
		gate_add(now, &any, &state);
	}
	strcpy(now->module[1].path, "/tmp/m2");
	strcpy(now->program[0], "./m2");
	rename_function(old, 1, "core::sort::h0123456789abcdef", NULL, 0);
	rename_function(now, 3, "core::sort::hfedcba9876543210", NULL, 0);
	rename_function(old, 2, "walk.constprop.0", NULL, 0);
	rename_function(now, 2, "walk.constprop.1", NULL, 0);
	rename_function(old, 3, "twin", "/a/first.c", 30);
	rename_function(old, 4, "twin", "/a/second.c", 9);
	rename_function(now, 4, "twin", "/b/second.c", 11);
	rename_function(now, 5, "twin", "/b/first.c", 35);
	rename_function(old, 5, "made+0x50", NULL, 0);
	rename_function(now, 6, "made+0x50", NULL, 0);
	free(old->function[5].raw_name);
	free(now->function[6].raw_name);
	old->function[5].raw_name = now->function[6].raw_name = NULL;
	assert_true(slope_pairing_init(&pairing, old, now));
	assert_int_equal(partner(&pairing, 1), 3);
	assert_int_equal(partner(&pairing, 2), 2);
	assert_int_equal(partner(&pairing, 3), 5);
	assert_int_equal(partner(&pairing, 4), 4);
	assert_int_equal(partner(&pairing, 5), SLOPE_PAIRING_NONE);
	assert_int_equal(partner(&pairing, 6), 1);
	assert_int_equal(pairing.nameless, 2);
	slope_pairing_fini(&pairing);

	/* The same build: offsets are names. */
	old->module[1].build_id_bytes = now->module[1].build_id_bytes = 4;
	assert_true(slope_pairing_init(&pairing, old, now));
	assert_int_equal(partner(&pairing, 5), 6);
	assert_int_equal(pairing.nameless, 0);
	slope_pairing_fini(&pairing);
	slope_profile_free(old);
	slope_profile_free(now);
}

/* Two static functions of one name, of which the first is gone: the other one is still itself. */
static void a_twin_goes(void **unused)
{
	static const struct made any = { "twin", { 1, 1, 1, 0 }, 3, 1, 9, 1, 0 };
	struct slope_profile *old = gate_profile(2), *now = gate_profile(1);
	struct slope_pairing pairing;
	uint64_t state = 1;

	(void)unused;
	gate_add(old, &any, &state);
	gate_add(old, &any, &state);
	gate_add(now, &any, &state);
	rename_function(old, 1, "twin", "first.c", 30);
	rename_function(old, 2, "twin", "second.c", 9);
	rename_function(now, 1, "twin", "second.c", 9);
	assert_true(slope_pairing_init(&pairing, old, now));
	assert_int_equal(pairing.count, 2);
	assert_int_equal(partner(&pairing, 1), SLOPE_PAIRING_NONE);
	assert_int_equal(partner(&pairing, 2), 1);
	slope_pairing_fini(&pairing);
	slope_profile_free(old);
	slope_profile_free(now);
}

static void discoveries_are_corrected(void **unused)
{
	double p[] = { 0.04, NAN, 0.001, 0.03, 0.5 }, none[] = { 0.02, 0.9, 0.8 };

	(void)unused;
	assert_true(slope_ratio_discoveries(p, 5, 0.05) == 0.001);
	assert_true(slope_ratio_discoveries(none, 3, 0.05) == -1);
	double all[] = { 0.04, 0.03, 0.02 };

	assert_true(slope_ratio_discoveries(all, 3, 0.05) == 0.04);
	assert_true(slope_ratio_discoveries(all, 0, 0.05) == -1);
}

static void memory_may_run_out(void **unused)
{
	uint64_t state = 23;
	struct slope_profile *p = crowd(&state, 1);
	struct slope_compare_options o = options(p, p);
	struct slope_comparison c;
	size_t allowed = 0;
	bool good = false;

	(void)unused;
	for (; !good; allowed++) {
		failing_after(allowed);
		good = slope_comparison_init(&c, p, p, &o);
		failing_never();
		if (!good)
			assert_null(c.entry);
	}
	assert_true(allowed > 5);
	slope_comparison_fini(&c);
	slope_profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_law_is_no_news),
		cmocka_unit_test(other_growth_is_found),
		cmocka_unit_test(other_cost_is_found),
		cmocka_unit_test(little_is_no_news),
		cmocka_unit_test(how_much_is_news_can_be_said),
		cmocka_unit_test(a_verdict_may_go_without_harm),
		cmocka_unit_test(what_begins_to_show_is_rising),
		cmocka_unit_test(a_smaller_constant_is_no_growth),
		cmocka_unit_test(crossing_is_where_the_laws_cross),
		cmocka_unit_test(other_input_is_workload),
		cmocka_unit_test(the_same_profile_has_no_news),
		cmocka_unit_test(units_cells_and_sizes_must_agree),
		cmocka_unit_test(functions_are_found_in_another_build),
		cmocka_unit_test(a_twin_goes),
		cmocka_unit_test(discoveries_are_corrected),
		cmocka_unit_test(memory_may_run_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
