/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slope contexts: along which callers the cost of functions comes, as a tree or as JSON. */
#include <stdlib.h>

#include "analysis/contextmetrics.h"
#include "cli/datafile.h"
#include "cli/messages.h"
#include "cli/options.h"
#include "cli/verbs.h"
#include "cli/view.h"
#include "report/contexts_view.h"

#define ENOUGH 0.99              /* executions that were measured: nothing is said of the rest */
#define NOT_GIVEN UINT64_MAX
#define TOP_FUNCTIONS 10

struct settings {
	bool json, ascii, sites, statistics;
	uint64_t top, k;
	unsigned color, by;
	const char *unit, *function, *similar;
};

static enum slope_parsed parse(struct settings *s, int *argc, char **argv)
{
	const struct slope_option option[] = {
		{ "json", 'j', SLOPE_OPTION_FLAG, &s->json, NULL, "print JSON (schema slope-contexts/1)", 0, 0 },
		{ "function", 'f', SLOPE_OPTION_TEXT, &s->function, "NAME", "only the callers of this function", 0, 0 },
		{ "k", 'k', SLOPE_OPTION_NUMBER, &s->k, "K", "follow at most K callers (1000)", 0, UINT32_MAX - 1 },
		{ "similar", 's', SLOPE_OPTION_TEXT, &s->similar, "PERCENT",
		  "only paths with so much of what the function has in all; 0: all paths (10)", 0, 0 },
		{ "by", 'b', SLOPE_OPTION_CHOICE, &s->by, SLOPE_CALLERS_WEIGHTS, "what makes a path hot (self)", 0, 0 },
		{ "sites", 0, SLOPE_OPTION_FLAG, &s->sites, NULL, "tell calls from different lines of one function apart", 0, 0 },
		{ "statistics", 0, SLOPE_OPTION_FLAG, &s->statistics, NULL,
		  "how many contexts there are for each k, and how many of them are hot", 0, 0 },
		{ "top", 'n', SLOPE_OPTION_NUMBER, &s->top, "N",
		  "show at most N functions; 0: all (10; all with --json)", 0, UINT32_MAX },
		{ "unit", 'u', SLOPE_OPTION_TEXT, &s->unit, "NAME",
			"the cost unit, or an event of record --event (the first that was recorded)", 0, 0 },
		{ "ascii", 0, SLOPE_OPTION_FLAG, &s->ascii, NULL, "a tree of ASCII only (where the locale is not UTF-8)", 0, 0 },
		{ "color", 0, SLOPE_OPTION_CHOICE, &s->color, SLOPE_COLOR_CHOICES,
		  "colours: on a terminal unless NO_COLOR is set (auto)", 0, 0 },
		{ 0 },
	};
	const struct slope_usage usage = {
		.command = "slope contexts", .operands = "[options] [FILE]", .option = option,
		.summary = "Shows along which callers the cost of a profile (slope.data) comes, recorded with --contexts.",
	};

	return slope_options_parse(&usage, argc, argv);
}

/* A percentage, as a part of 1. */
static bool read_similar(const char *text, double *similar)
{
	char *end;
	double percent = strtod(text, &end);

	if (end != text && *end == '%')
		end++;
	if (end == text || *end || !(percent >= 0 && percent <= 100)) {
		slope_say("--similar=%s: not a percentage from 0 to 100", text);
		return false;
	}
	*similar = percent / 100;
	return true;
}

/* What the profile must have for it. */
static bool has_contexts(const struct slope_profile *p, const struct settings *s, const char *path)
{
	if (!p->context_count)
		slope_say("%s has no calling contexts; 'slope record --contexts' records them", path);
	else if (s->k != NOT_GIVEN && p->context_k && s->k > p->context_k)
		slope_say("--k=%llu: %s knows at most %u callers; record with --contexts=K or without a limit",
			  (unsigned long long)s->k, path, p->context_k);
	else if (s->sites && !p->site_count)
		slope_say("--sites: %s has no call sites; 'slope record --contexts --context-sites' records them", path);
	else
		return true;
	return false;
}

static int print(const struct slope_profile *profile, const struct slope_contexts_options *o, bool json)
{
	struct slope_contexts_view v;
	bool good = slope_contexts_view_init(&v, profile, o);

	if (good) {
		good = json ? slope_contexts_json(&v, stdout) : slope_contexts_text(&v, stdout);
		slope_contexts_view_fini(&v);
	}
	if (!good)
		slope_say("out of memory");
	return slope_flush_output() && good ? 0 : SLOPE_EXIT_WRONG;
}

/* What --event has measured is a unit like any other. */
static bool choose_unit(struct slope_profile *profile, const char *name, uint32_t *unit)
{
	int metric = name && slope_profile_unit(profile, name) < 0 ? slope_profile_path_metric(profile, name) : -1;
	double measured;

	if (metric < 0)
		return slope_view_unit(profile, name, unit);
	if (!slope_contextmetric_show(profile, (uint32_t)metric, &measured)) {
		slope_say("out of memory");
		return false;
	}
	if (measured < ENOUGH)
		slope_say("note: %s is that of %.1f%% of all executions of paths; the others were never measured "
			  "(record with a smaller --path-sample)", name, measured * 100);
	*unit = 0;
	return true;
}

static int show(struct slope_profile *profile, const char *path, const struct settings *s, double similar)
{
	struct slope_contexts_options o = {
		.report = slope_report_defaults(profile), .function = SLOPE_CALLERS_ALL, .similar = similar,
		.k = s->k == NOT_GIVEN ? SLOPE_CONTEXTS_FAR : (uint32_t)s->k, .far = s->k == NOT_GIVEN,
		.by = (enum slope_callers_weight)s->by,
		.sites = s->sites, .statistics = s->statistics,
	};

	if (!has_contexts(profile, s, path) || !choose_unit(profile, s->unit, &o.report.unit) ||
	    (s->function && !slope_view_function(profile, s->function, o.report.unit, &o.function)))
		return SLOPE_EXIT_WRONG;
	o.report.top = s->top != NOT_GIVEN ? s->top : s->json ? 0 : TOP_FUNCTIONS;
	o.report.color = slope_color_wanted(s->color, stdout);
	o.report.ascii = s->ascii || slope_view_ascii();
	o.report.width = slope_view_width();
	return print(profile, &o, s->json);
}

int slope_verb_contexts(int argc, char **argv)
{
	struct settings s = { .top = NOT_GIVEN, .k = NOT_GIVEN, .similar = "10" };
	enum slope_parsed parsed = parse(&s, &argc, argv);
	double similar;

	if (parsed != SLOPE_PARSED)
		return parsed == SLOPE_PARSED_HELP ? 0 : SLOPE_EXIT_WRONG;
	if (!read_similar(s.similar, &similar))
		return SLOPE_EXIT_WRONG;
	const char *path = slope_datafile_operand(argc, argv);
	struct slope_profile *profile = path ? slope_datafile_open(path) : NULL;

	if (!profile)
		return SLOPE_EXIT_WRONG;
	if (s.json)
		slope_datafile_say_problems(profile, path);  /* the tree shows them itself */
	int result = show(profile, path, &s, similar);

	slope_profile_free(profile);
	return result;
}
