/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slope diff: what changed between two profiles, in words, as JSON, or as a gate. */
#include "cli/datafile.h"
#include "cli/judging.h"
#include "cli/messages.h"
#include "cli/options.h"
#include "cli/verbs.h"
#include "report/diff.h"

#define DEFAULT_OLD SLOPE_DEFAULT_FILE ".old"
#define TOP 10u

struct settings {
	bool json, gate, points;
	uint64_t top;
	unsigned color;
	struct slope_judging judging;
};

static enum slope_parsed parse(struct settings *s, int *argc, char **argv)
{
	const struct slope_option option[] = {
		{ "json", 'j', SLOPE_OPTION_FLAG, &s->json, NULL, "print JSON (schema slope-diff/1)", 0, 0 },
		{ "gate", 'g', SLOPE_OPTION_FLAG, &s->gate, NULL,
		  "exit with 1 if a function grows faster or costs more, 3 if that is unclear", 0, 0 },
		{ "top", 'n', SLOPE_OPTION_NUMBER, &s->top, "N", "at most N functions of each kind; 0: all (10)", 0,
		  UINT32_MAX },
		{ "points", 'p', SLOPE_OPTION_FLAG, &s->points, NULL, "every point of the curves that changed", 0, 0 },
		{ "of", 0, SLOPE_OPTION_CHOICE, &s->judging.of, SLOPE_OF_CHOICES, "which cost of a size counts (mean)",
		  0, 0 },
		{ "unit", 'u', SLOPE_OPTION_TEXT, &s->judging.unit, "NAME", "the cost unit (the first that both have)",
		  0, 0 },
		{ "input", 'i', SLOPE_OPTION_CHOICE, &s->judging.input, SLOPE_VIEW_INPUTS,
		  "by which input size points count (trms where both have it)", 0, 0 },
		{ "level", 0, SLOPE_OPTION_TEXT, &s->judging.level, "PERCENT", "false alarms among all news (5)", 0,
		  0 },
		{ "min-cost", 0, SLOPE_OPTION_TEXT, &s->judging.cost, "PERCENT",
		  "a smaller change of the cost is no news (5)", 0, 0 },
		{ "min-exponent", 0, SLOPE_OPTION_TEXT, &s->judging.exponent, "X",
		  "a smaller change of the exponent is no news (0.1)", 0, 0 },
		{ "min-workload", 0, SLOPE_OPTION_TEXT, &s->judging.workload, "PERCENT",
		  "fewer calls added, gone or of other sizes are no news (10)", 0, 0 },
		{ "share", 0, SLOPE_OPTION_TEXT, &s->judging.share, "PERCENT",
		  "functions of less cost, now and at 10 times the sizes, are no news (1)", 0, 0 },
		{ "color", 0, SLOPE_OPTION_CHOICE, &s->color, SLOPE_COLOR_CHOICES,
		  "colours: on a terminal unless NO_COLOR is set (auto)", 0, 0 },
		{ 0 },
	};
	const struct slope_usage usage = {
		.command = "slope diff",
		.operands = "[options] [OLD [NEW]]",
		.option = option,
		.summary = "Says which functions grow, cost or are called otherwise than before.\n"
			   "Without files: slope.data.old and slope.data.",
	};

	return slope_options_parse(&usage, argc, argv);
}

/* A changed growth or cost for the worse; or functions of which nothing can be said any more. */
static int gate_status(const struct slope_comparison *c)
{
	if (c->worse || c->costlier)
		return SLOPE_EXIT_REGRESSION;
	return c->unclear || !c->compared ? SLOPE_EXIT_INCONCLUSIVE : 0;
}

static int print(struct slope_diff_view *v, const struct settings *s)
{
	int status = s->gate ? gate_status(v->comparison) : 0;
	bool good;

	if (s->gate)
		v->result = status == SLOPE_EXIT_REGRESSION ? "fail" : status ? "inconclusive" : "pass";
	v->top = s->top;
	v->points = s->points;
	v->color = slope_color_wanted(s->color, stdout);
	good = s->json ? slope_diff_json(v, stdout) : slope_diff_text(v, stdout);
	if (!good)
		slope_say("out of memory");
	return slope_flush_output() && good ? status : SLOPE_EXIT_WRONG;
}

static bool usable(const struct slope_profile *p, const char *path, bool gate)
{
	if (!gate)
		slope_datafile_say_problems(p, path);
	return gate ? slope_judging_usable(p, path, SLOPE_METRICS) : slope_judging_has_points(p, path, SLOPE_METRICS);
}

static int compare(struct slope_diff_view *v, const struct settings *s)
{
	struct slope_compare_options o;
	struct slope_comparison c;
	int result;

	if (!usable(v->old, v->old_path, s->gate) || !usable(v->now, v->now_path, s->gate) ||
	    !slope_judging_options(&s->judging, &o, v->old, v->now))
		return SLOPE_EXIT_WRONG;
	if (!slope_comparison_init(&c, v->old, v->now, &o)) {
		slope_say("out of memory");
		return SLOPE_EXIT_WRONG;
	}
	v->options = &o;
	v->comparison = &c;
	result = print(v, s);
	slope_comparison_fini(&c);
	return result;
}

int slope_verb_diff(int argc, char **argv)
{
	struct settings s = { .top = TOP, .judging = SLOPE_JUDGING_NONE };
	enum slope_parsed parsed = parse(&s, &argc, argv);
	struct slope_diff_view v = { 0 };
	struct slope_profile *old, *now;
	int result = SLOPE_EXIT_WRONG;

	if (parsed != SLOPE_PARSED)
		return parsed == SLOPE_PARSED_HELP ? 0 : SLOPE_EXIT_WRONG;
	if (argc > 3) {
		slope_say("two profiles are compared, and here are %d; 'slope merge' makes one of several", argc - 1);
		return SLOPE_EXIT_WRONG;
	}
	v.old_path = argc > 1 ? argv[1] : DEFAULT_OLD;
	v.now_path = argc > 2 ? argv[2] : SLOPE_DEFAULT_FILE;
	old = slope_datafile_open_costs(v.old_path);
	now = old ? slope_datafile_open_costs(v.now_path) : NULL;
	v.old = old;
	v.now = now;
	if (now)
		result = compare(&v, &s);
	slope_profile_free(old);
	slope_profile_free(now);
	return result;
}
