/* SPDX-License-Identifier: GPL-3.0-or-later */
/* analysis/discord.c, and report/verify.h: what differs is found, traced to its cause, and left out only where it may be. */
#include <stdio.h>

#include "analysis/discord.h"
#include "report/verify.h"
#include "tests/unit/calls_sample.h"
#include "tests/unit/failing.h"

/* What the made program does in a run. */
struct script {
	uint64_t leaf_cost, leaf_n, chance, cpu;
	uint64_t start;              /* 0: main is the first */
	unsigned calls, cpu_calls;
	bool second_thread;
};

static const struct script plain = { .leaf_cost = 10, .leaf_n = 3, .chance = 5, .cpu = 7, .calls = 4, .cpu_calls = 1 };

/*
 * __libc_start_main may call main, which calls middle, which calls leaf; chance; and init_cpu_features, which alone calls
 * cpuid_loop. No linker: a static program.
 */
static struct slope_profile *play(const struct script *s)
{
	struct calls *c = calls_new();
	uint32_t top = calls_function(c, "main"), middle = calls_function(c, "middle"), leaf = calls_function(c, "leaf");
	uint32_t chance = calls_function(c, "chance"), cpu = calls_function(c, "init_cpu_features.constprop.0");
	uint32_t loop = calls_function(c, "cpuid_loop"), start = s->start ? calls_function(c, "__libc_start_main") : 0;

	if (s->second_thread)
		calls_next_thread(c);
	if (s->start) {
		calls_enter(c, start);
		calls_work(c, s->start);
	}
	calls_enter(c, top);
	calls_enter(c, middle);
	for (unsigned i = 0; i < s->calls; i++)
		calls_leaf(c, leaf, s->leaf_n + i, s->leaf_cost);
	calls_leave(c, 9);
	calls_leaf(c, chance, 1, s->chance);
	calls_enter(c, cpu);
	calls_work(c, s->cpu);
	for (unsigned i = 0; i < s->cpu_calls; i++)
		calls_leaf(c, loop, 0, 1);
	calls_leave(c, 0);
	calls_leave(c, 20);
	if (s->start)
		calls_leave(c, 0);
	return calls_end(c);
}

struct verdict {
	struct slope_discord_runs runs;
	struct slope_discord discord;
};

static struct verdict compare(const struct script *a, const struct script *b, const struct script *again)
{
	struct slope_profile *run[SLOPE_DISCORD_RUNS] = { play(a), play(b), again ? play(again) : NULL };
	struct verdict v;
	char error[256];

	assert_true(slope_discord_unite(&v.runs, run, error, sizeof error));
	assert_true(slope_discord_init(&v.discord, &v.runs));
	for (unsigned i = 0; i < SLOPE_DISCORD_RUNS; i++)
		slope_profile_free(run[i]);
	return v;
}

static const struct slope_discord_entry *entry(const struct verdict *v, const char *name)
{
	for (size_t i = 0; i < v->discord.count; i++)
		if (!strcmp(v->runs.profile->function[v->discord.entry[i].function].name, name))
			return &v->discord.entry[i];
	return NULL;
}

static void end(struct verdict *v)
{
	slope_discord_fini(&v->discord);
	slope_profile_free(v->runs.profile);
}

static char *text_of(const struct verdict *v, bool json)
{
	static char *const program[] = { "./made", NULL };
	const struct slope_verify_view view = {
		.profile = v->runs.profile, .discord = &v->discord, .source = { "valgrind", "translator" }, .program = program,
		.processes = { 1, 1 }, .same_output = true, .agree = !v->discord.state_count[SLOPE_DISCORD_OPEN],
	};
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	assert_true((json ? slope_verify_json : slope_verify_text)(&view, out));
	fclose(out);
	return text;
}

static void the_same_agrees(void **state)
{
	struct verdict v = compare(&plain, &plain, NULL);
	char *text = text_of(&v, false);

	(void)state;
	assert_int_equal(v.discord.count, 0);
	assert_int_equal(v.discord.functions, 6);
	assert_int_equal(v.discord.points, 9);
	assert_string_equal(text, "valgrind and translator agree: 6 functions, 9 points\n");
	free(text);
	end(&v);
}

static void threads_are_added_up(void **state)
{
	struct script other = plain;

	(void)state;
	other.second_thread = true;
	struct verdict v = compare(&plain, &other, NULL);

	assert_int_equal(v.discord.count, 0);
	end(&v);
}

static void a_cost_has_one_cause_and_its_callers_follow(void **state)
{
	struct script other = plain;

	(void)state;
	other.leaf_cost = 11;
	struct verdict v = compare(&plain, &other, NULL);
	const struct slope_discord_entry *leaf = entry(&v, "leaf"), *middle = entry(&v, "middle"), *top = entry(&v, "main");

	assert_int_equal(v.discord.count, 3);
	assert_int_equal(v.discord.state_count[SLOPE_DISCORD_OPEN], 3);
	assert_ptr_equal(leaf, &v.discord.entry[0]);
	assert_false(leaf->follows);
	assert_int_equal(leaf->what, SLOPE_DISCORD_SELF | SLOPE_DISCORD_TOTAL | SLOPE_DISCORD_POINTS);
	assert_true(middle->follows);
	assert_true(top->follows);
	char *text = text_of(&v, false);

	assert_non_null(strstr(text, "3 of 6 functions differ: 1 by themselves, 2 because of what they call"));
	assert_non_null(strstr(text, "self ir"));
	free(text);
	text = text_of(&v, true);
	assert_non_null(strstr(text, "\"agree\": false"));
	free(text);
	end(&v);
}

static void a_size_is_a_difference_of_points(void **state)
{
	struct script other = plain;
	struct slope_discord_point at;

	(void)state;
	other.leaf_n = 4;
	struct verdict v = compare(&plain, &other, NULL);
	const struct slope_discord_entry *leaf = entry(&v, "leaf");

	assert_int_equal(v.discord.count, 1);
	assert_int_equal(leaf->what, SLOPE_DISCORD_INPUT | SLOPE_DISCORD_POINTS);
	assert_true(slope_discord_point(v.runs.profile, leaf, &at));
	assert_int_equal(at.n, 3);
	assert_non_null(at.point[0]);
	assert_null(at.point[1]);
	char *text = text_of(&v, false);

	assert_non_null(strstr(text, "calls at trms=3"));
	free(text);
	end(&v);
}

static void what_only_one_run_has_differs(void **state)
{
	struct script other = plain;

	(void)state;
	other.calls = 0;
	struct verdict v = compare(&other, &plain, NULL);

	assert_null(entry(&v, "leaf")->row[0]);
	assert_int_equal(entry(&v, "leaf")->state, SLOPE_DISCORD_OPEN);
	char *text = text_of(&v, true);

	assert_non_null(strstr(text, "\"valgrind\": null"));
	free(text);
	end(&v);
}

static void chance_is_left_out(void **state)
{
	struct script other = plain, again = plain;

	(void)state;
	other.chance = 6;
	again.chance = 8;
	struct verdict v = compare(&plain, &other, &again);

	assert_int_equal(v.discord.state_count[SLOPE_DISCORD_UNSTEADY], 2);
	assert_int_equal(v.discord.state_count[SLOPE_DISCORD_OPEN], 0);
	assert_int_equal(entry(&v, "main")->state, SLOPE_DISCORD_UNSTEADY);
	end(&v);
	/* The same twice is no chance. */
	v = compare(&plain, &other, &other);
	assert_int_equal(v.discord.state_count[SLOPE_DISCORD_OPEN], 2);
	end(&v);
}

static void the_processor_is_known_and_hides_nothing_else(void **state)
{
	struct script other = plain;

	(void)state;
	other.cpu = 100;
	other.cpu_calls = 5;
	struct verdict v = compare(&plain, &other, NULL);

	assert_int_equal(v.discord.state_count[SLOPE_DISCORD_KNOWN], 3);
	assert_int_equal(entry(&v, "cpuid_loop")->state, SLOPE_DISCORD_KNOWN);
	assert_true(entry(&v, "main")->follows);
	end(&v);
	other.leaf_cost = 11;
	v = compare(&plain, &other, NULL);
	assert_int_equal(entry(&v, "main")->state, SLOPE_DISCORD_OPEN);
	assert_int_equal(entry(&v, "leaf")->state, SLOPE_DISCORD_OPEN);
	assert_int_equal(entry(&v, "init_cpu_features.constprop.0")->state, SLOPE_DISCORD_KNOWN);
	end(&v);
}

/* What asks the processor may have become part of a static program's start, which calls all the rest. */
static void a_static_start_is_known_and_what_it_calls_is_not(void **state)
{
	struct script one = plain, other = plain;

	(void)state;
	one.start = 30;
	other.start = 39;
	struct verdict v = compare(&one, &other, NULL);

	assert_int_equal(v.discord.count, 1);
	assert_int_equal(entry(&v, "__libc_start_main")->state, SLOPE_DISCORD_KNOWN);
	end(&v);
	other.leaf_cost = 11;
	v = compare(&one, &other, NULL);
	assert_int_equal(entry(&v, "__libc_start_main")->state, SLOPE_DISCORD_KNOWN);
	assert_int_equal(entry(&v, "main")->state, SLOPE_DISCORD_OPEN);
	assert_int_equal(entry(&v, "leaf")->state, SLOPE_DISCORD_OPEN);
	end(&v);
}

static void memory_runs_out(void **state)
{
	struct script other = plain;
	bool good = false;

	(void)state;
	other.leaf_cost = 11;
	for (size_t allocations = 0; !good; allocations++) {
		struct slope_profile *run[SLOPE_DISCORD_RUNS] = { play(&plain), play(&other), NULL };
		struct verdict v;
		char error[256];

		failing_after(allocations);
		bool united = slope_discord_unite(&v.runs, run, error, sizeof error);

		good = united && slope_discord_init(&v.discord, &v.runs);
		failing_never();
		if (good)
			assert_int_equal(v.discord.count, 3);
		if (good)
			slope_discord_fini(&v.discord);
		if (united)
			slope_profile_free(v.runs.profile);
		slope_profile_free(run[0]);
		slope_profile_free(run[1]);
		assert_true(allocations < 1000);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_agrees),
		cmocka_unit_test(threads_are_added_up),
		cmocka_unit_test(a_cost_has_one_cause_and_its_callers_follow),
		cmocka_unit_test(a_size_is_a_difference_of_points),
		cmocka_unit_test(what_only_one_run_has_differs),
		cmocka_unit_test(chance_is_left_out),
		cmocka_unit_test(the_processor_is_known_and_hides_nothing_else),
		cmocka_unit_test(a_static_start_is_known_and_what_it_calls_is_not),
		cmocka_unit_test(memory_runs_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
