/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slope report: the table of functions, or the same facts as JSON. */
#include "report/report.h"

#include "cli/datafile.h"
#include "cli/messages.h"
#include "cli/options.h"
#include "cli/verbs.h"
#include "cli/view.h"

#define TOP_NOT_GIVEN UINT64_MAX

/* The order of the choices is that of enum slope_report_sort and enum slope_statistic. */
#define SORT_CHOICES "growth|total|self|calls|name"
#define OF_CHOICES "mean|max|min"

struct settings {
	bool json, no_inline;
	uint64_t top, times;
	unsigned sort, input, color, of;
	const char *unit, *filter;
};

static const struct settings defaults = { .top = TOP_NOT_GIVEN, .times = 10, .input = SLOPE_VIEW_INPUT_NOT_GIVEN };

static enum slope_parsed parse(struct settings *s, int *argc, char **argv)
{
	const struct slope_option option[] = {
		{ "json", 'j', SLOPE_OPTION_FLAG, &s->json, NULL, "print JSON (schema slope-report/1)", 0, 0 },
		{ "top", 'n', SLOPE_OPTION_NUMBER, &s->top, "N",
		  "show at most N functions, of each group; 0: all (10 of a group, 25 in all; all with --json)", 0, UINT32_MAX },
		{ "sort", 's', SLOPE_OPTION_CHOICE, &s->sort, SORT_CHOICES, "what comes first (growth: in groups)", 0, 0 },
		{ "times", 'k', SLOPE_OPTION_NUMBER, &s->times, "K", "foretell shares for inputs K times as large (10)", 2, 1000000 },
		{ "of", 0, SLOPE_OPTION_CHOICE, &s->of, OF_CHOICES, "which cost of a size makes the curve (mean)", 0, 0 },
		{ "unit", 'u', SLOPE_OPTION_TEXT, &s->unit, "NAME", "the cost unit (the first that was recorded)", 0, 0 },
		{ "input", 'i', SLOPE_OPTION_CHOICE, &s->input, SLOPE_VIEW_INPUTS,
		  "by which input size points count (trms where it was recorded)", 0, 0 },
		{ "filter", 'f', SLOPE_OPTION_TEXT, &s->filter, "GLOB", "only functions whose name fits", 0, 0 },
		{ "no-inline", 0, SLOPE_OPTION_FLAG, &s->no_inline, NULL,
		  "let inlined functions of a sampled profile count as part of those that they are in", 0, 0 },
		{ "color", 0, SLOPE_OPTION_CHOICE, &s->color, SLOPE_COLOR_CHOICES,
		  "colours: on a terminal unless NO_COLOR is set (auto)", 0, 0 },
		{ 0 },
	};
	const struct slope_usage usage = {
		.command = "slope report", .operands = "[options] [FILE]", .option = option,
		.summary = "Shows the functions of a profile (slope.data), those first whose growth will hurt.",
	};

	return slope_options_parse(&usage, argc, argv);
}

static int print(const struct slope_profile *profile, const struct settings *s)
{
	struct slope_report_options o = slope_report_defaults(profile);
	bool good;

	if (!slope_view_unit(profile, s->unit, &o.unit) || !slope_view_metric(profile, s->input, &o.metric))
		return SLOPE_EXIT_WRONG;
	if (s->json)
		o.top = 0;
	if (s->top != TOP_NOT_GIVEN)
		o.top = s->top;
	o.sort = (enum slope_report_sort)s->sort;
	o.filter = s->filter;
	o.of = (enum slope_statistic)s->of;
	o.times = (double)s->times;
	o.ascii = slope_view_ascii();
	o.color = slope_color_wanted(s->color, stdout);
	o.width = slope_view_width();
	good = s->json ? slope_report_json(profile, &o, stdout) : slope_report_text(profile, &o, stdout);
	if (!good)
		slope_say("out of memory");
	return slope_flush_output() && good ? 0 : SLOPE_EXIT_WRONG;
}

static int report(const char *path, const struct settings *s)
{
	struct slope_profile *profile = path ? slope_datafile_open_costs(path) : NULL;
	int result = SLOPE_EXIT_WRONG;

	if (s->no_inline)
		profile = slope_datafile_fold(profile);
	if (profile && s->json)
		slope_datafile_say_problems(profile, path);  /* the table shows them itself */
	if (profile)
		result = print(profile, s);
	slope_profile_free(profile);
	return result;
}

/* What was recorded is shown: paths, where there is nothing else. */
int slope_report_profile_at(const char *path)
{
	struct slope_profile *profile = slope_datafile_load(path);
	bool paths = profile && slope_profile_paths_only(profile);

	slope_profile_free(profile);
	if (!profile)
		return SLOPE_EXIT_WRONG;
	return paths ? slope_paths_profile_at(path) : report(path, &defaults);
}

int slope_verb_report(int argc, char **argv)
{
	struct settings s = defaults;
	enum slope_parsed parsed = parse(&s, &argc, argv);

	if (parsed != SLOPE_PARSED)
		return parsed == SLOPE_PARSED_HELP ? 0 : SLOPE_EXIT_WRONG;
	return report(slope_datafile_operand(argc, argv), &s);
}
