/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slope threads: what each thread cost and who was fed by others, as tables or as JSON. */
#include "cli/datafile.h"
#include "cli/messages.h"
#include "cli/options.h"
#include "cli/verbs.h"
#include "cli/view.h"
#include "report/report.h"

#define TOP_NOT_GIVEN UINT64_MAX
#define TOP_OF_A_TABLE 10        /* there are up to three */

struct settings {
	bool json;
	uint64_t top;
	unsigned color;
	const char *unit, *filter;
};

static enum slope_parsed parse(struct settings *s, int *argc, char **argv)
{
	const struct slope_option option[] = {
		{ "json", 'j', SLOPE_OPTION_FLAG, &s->json, NULL, "print JSON (schema slope-threads/1)", 0, 0 },
		{ "top", 'n', SLOPE_OPTION_NUMBER, &s->top, "N",
		  "show at most N rows of a table; 0: all (10; all with --json)", 0, UINT32_MAX },
		{ "unit", 'u', SLOPE_OPTION_TEXT, &s->unit, "NAME", "the cost unit (the first that was recorded)", 0, 0 },
		{ "filter", 'f', SLOPE_OPTION_TEXT, &s->filter, "GLOB", "only functions whose name fits", 0, 0 },
		{ "color", 0, SLOPE_OPTION_CHOICE, &s->color, SLOPE_COLOR_CHOICES,
		  "colours: on a terminal unless NO_COLOR is set (auto)", 0, 0 },
		{ 0 },
	};
	const struct slope_usage usage = {
		.command = "slope threads", .operands = "[options] [FILE]", .option = option,
		.summary = "Shows the threads of a profile (slope.data), and the functions that others feed with input.",
	};

	return slope_options_parse(&usage, argc, argv);
}

static int print(const struct slope_profile *profile, const struct settings *s)
{
	struct slope_report_options o = slope_report_defaults(profile);
	bool good;

	if (!slope_view_unit(profile, s->unit, &o.unit))
		return SLOPE_EXIT_WRONG;
	o.top = s->json ? 0 : TOP_OF_A_TABLE;
	if (s->top != TOP_NOT_GIVEN)
		o.top = s->top;
	o.filter = s->filter;
	o.color = slope_color_wanted(s->color, stdout);
	o.width = slope_view_width();
	good = s->json ? slope_threads_json(profile, &o, stdout) : slope_threads_text(profile, &o, stdout);
	if (!good)
		slope_say("out of memory");
	return slope_flush_output() && good ? 0 : SLOPE_EXIT_WRONG;
}

int slope_verb_threads(int argc, char **argv)
{
	struct settings s = { .top = TOP_NOT_GIVEN };
	enum slope_parsed parsed = parse(&s, &argc, argv);

	if (parsed != SLOPE_PARSED)
		return parsed == SLOPE_PARSED_HELP ? 0 : SLOPE_EXIT_WRONG;
	const char *path = slope_datafile_operand(argc, argv);
	struct slope_profile *profile = path ? slope_datafile_open_costs(path) : NULL;

	if (!profile)
		return SLOPE_EXIT_WRONG;
	if (s.json)
		slope_datafile_say_problems(profile, path);  /* the tables show them themselves */
	int result = print(profile, &s);

	slope_profile_free(profile);
	return result;
}
