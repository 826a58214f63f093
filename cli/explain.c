/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slope explain: which part of a function carries its growth, level by level. */
#include <stdlib.h>

#include "cli/datafile.h"
#include "cli/messages.h"
#include "cli/options.h"
#include "cli/verbs.h"
#include "cli/view.h"
#include "report/explain.h"

struct settings {
	bool json;
	unsigned color;
	const char *unit;
};

static enum slope_parsed parse(struct settings *s, int *argc, char **argv)
{
	const struct slope_option option[] = {
		{ "json", 'j', SLOPE_OPTION_FLAG, &s->json, NULL, "print JSON (schema slope-explain/1)", 0, 0 },
		{ "unit", 'u', SLOPE_OPTION_TEXT, &s->unit, "NAME", "the cost unit (the first that was recorded)", 0, 0 },
		{ "color", 0, SLOPE_OPTION_CHOICE, &s->color, SLOPE_COLOR_CHOICES,
		  "colours: on a terminal unless NO_COLOR is set (auto)", 0, 0 },
		{ 0 },
	};
	const struct slope_usage usage = {
		.command = "slope explain", .operands = "[options] FUNCTION [FILE]", .option = option,
		.summary = "Says what makes a function of a profile (slope.data) grow: its own code or a callee, down to the culprit.",
	};

	return slope_options_parse(&usage, argc, argv);
}

static int explain(const struct slope_profile *profile, const char *typed, const struct settings *s)
{
	struct slope_report_options o = slope_report_defaults(profile);
	struct slope_explanation *e;
	uint32_t function;

	if (!slope_view_unit(profile, s->unit, &o.unit) || !slope_view_function(profile, typed, o.unit, &function))
		return SLOPE_EXIT_WRONG;
	o.color = slope_color_wanted(s->color, stdout);
	o.width = slope_view_width();
	o.ascii = slope_view_ascii();
	e = malloc(sizeof(*e));
	bool good = e && slope_explain(e, profile, function, o.metric, o.unit) &&
		    (s->json ? slope_explain_json(e, profile, &o, stdout) : slope_explain_text(e, profile, &o, stdout));

	free(e);
	if (!good)
		slope_say("out of memory");
	return slope_flush_output() && good ? 0 : SLOPE_EXIT_WRONG;
}

int slope_verb_explain(int argc, char **argv)
{
	struct settings s = { 0 };
	enum slope_parsed parsed = parse(&s, &argc, argv);

	if (parsed != SLOPE_PARSED)
		return parsed == SLOPE_PARSED_HELP ? 0 : SLOPE_EXIT_WRONG;
	if (argc < 2 || argc > 3) {
		slope_say(argc < 2 ? "which function? 'slope explain FUNCTION [FILE]'; 'slope report' lists the functions" :
			  "one function of one profile at a time, and here are %d words", argc - 1);
		return SLOPE_EXIT_WRONG;
	}
	const char *path = slope_datafile_operand(argc - 1, argv + 1);
	struct slope_profile *profile = path ? slope_datafile_open_costs(path) : NULL;
	int result = SLOPE_EXIT_WRONG;

	if (profile && slope_profile_is_sampled(profile)) {
		slope_say("%s was sampled: it has no input sizes and so no growth; record without --source=sampler", path);
	} else if (profile) {
		slope_datafile_say_problems(profile, path);
		result = explain(profile, argv[1], &s);
	}
	slope_profile_free(profile);
	return result;
}
