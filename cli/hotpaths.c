/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slope paths: which ways through functions were taken, and what they cost. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/datafile.h"
#include "cli/messages.h"
#include "cli/options.h"
#include "cli/verbs.h"
#include "cli/view.h"
#include "report/paths_view.h"

#define NOT_GIVEN UINT64_MAX
#define TOP_PATHS 20

struct settings {
	bool json, ascii, blocks, graphs, context;
	uint64_t top, thread;
	unsigned color, sort;
	const char *metric, *threshold;
};

static const struct settings defaults = { .top = NOT_GIVEN, .thread = NOT_GIVEN, .threshold = "1" };

static enum slope_parsed parse(struct settings *s, int *argc, char **argv)
{
	const struct slope_option option[] = {
		{ "json", 'j', SLOPE_OPTION_FLAG, &s->json, NULL, "print JSON (schema slope-paths/1)", 0, 0 },
		{ "metric", 'm', SLOPE_OPTION_TEXT, &s->metric, "NAME",
		  "what makes a path hot: ir, or a metric that was recorded (the first of these, else ir)", 0, 0 },
		{ "threshold", 't', SLOPE_OPTION_TEXT, &s->threshold, "PERCENT", "hot: so much of the run's metric or more (1)", 0, 0 },
		{ "sort", 's', SLOPE_OPTION_CHOICE, &s->sort, SLOPE_PATHS_SORTS,
		  "order of paths; length: instructions each; ratio: metric per instruction (share)", 0, 0 },
		{ "top", 'n', SLOPE_OPTION_NUMBER, &s->top, "N", "show at most N paths; 0: all (20; all with --json)", 0, UINT32_MAX },
		{ "limit", 0, SLOPE_OPTION_NUMBER, &s->top, "N", NULL, 0, UINT32_MAX },
		{ "context", 'c', SLOPE_OPTION_FLAG, &s->context, NULL, "tell calling contexts apart, where they were recorded", 0, 0 },
		{ "thread", 0, SLOPE_OPTION_NUMBER, &s->thread, "ID", "only what this thread executed", 0, UINT32_MAX },
		{ "blocks", 0, SLOPE_OPTION_FLAG, &s->blocks, NULL, "list the blocks of each path, with addresses", 0, 0 },
		{ "graphs", 0, SLOPE_OPTION_FLAG, &s->graphs, NULL, "with --json: all graphs, and all that was counted", 0, 0 },
		{ "ascii", 0, SLOPE_OPTION_FLAG, &s->ascii, NULL, "arrows of ASCII only (where the locale is not UTF-8)", 0, 0 },
		{ "color", 0, SLOPE_OPTION_CHOICE, &s->color, SLOPE_COLOR_CHOICES,
		  "colours: on a terminal unless NO_COLOR is set (auto)", 0, 0 },
		{ 0 },
	};
	const struct slope_usage usage = {
		.command = "slope paths", .operands = "[options] [FUNCTION] [FILE]", .option = option,
		.summary = "Shows the hot paths of a profile (slope.data), or all paths of a function, recorded with --paths.",
	};

	return slope_options_parse(&usage, argc, argv);
}

/* A percentage, as a part of 1. */
static bool read_threshold(const char *text, double *threshold)
{
	char *end;
	double percent = strtod(text, &end);

	if (end != text && *end == '%')
		end++;
	if (end == text || *end || !(percent >= 0 && percent <= 100)) {
		slope_say("--threshold=%s: not a percentage from 0 to 100", text);
		return false;
	}
	*threshold = percent / 100;
	return true;
}

/* The position of a metric; without a name the first that was recorded, else instructions. */
static bool find_metric(const struct slope_profile *p, const char *name, uint32_t *metric)
{
	int position = name ? slope_profile_path_metric(p, name) : 0;
	char have[200] = "ir";

	*metric = SLOPE_PATHS_IR;
	if (name ? !strcmp(name, "ir") : !p->path_metrics)
		return true;
	if (position >= 0) {
		*metric = (uint32_t)position;
		return true;
	}
	for (uint32_t m = 0; m < p->path_metrics; m++)
		snprintf(have + strlen(have), sizeof have - strlen(have), ", %s", p->path_metric_name[m]);
	slope_say("--metric=%s: nothing of that name was measured of paths; there is %s", name, have);
	return false;
}

static bool find_thread(const struct slope_profile *p, uint64_t id, uint32_t *thread)
{
	*thread = SLOPE_PATHS_ALL;
	if (id == NOT_GIVEN)
		return true;
	for (size_t i = 0; i < p->thread_count; i++)
		if (p->thread[i].id == id) {
			*thread = (uint32_t)i;
			return true;
		}
	slope_say("--thread=%llu: there is no such thread; 'slope threads' lists them", (unsigned long long)id);
	return false;
}

/* What the profile must have for it. */
static bool has_paths(const struct slope_profile *p, const struct settings *s, const char *path)
{
	bool contexts = false;

	for (size_t i = 0; i < p->path_count && !contexts; i++)
		contexts = p->path[i].context != SLOPE_CONTEXT_NONE;
	if (!p->graph_count)
		slope_say("%s has no paths; 'slope record --paths' records them", path);
	else if (s->context && !contexts)
		slope_say("--context: %s has no paths by calling context; 'slope record --paths --contexts' records them", path);
	else
		return true;
	return false;
}

static int print(const struct slope_profile *profile, const struct slope_paths_options *o, bool json)
{
	struct slope_paths_view v;
	bool good = slope_paths_view_init(&v, profile, o);

	if (good) {
		good = json ? slope_paths_json(&v, stdout) : slope_paths_text(&v, stdout);
		slope_paths_view_fini(&v);
	}
	if (!good)
		slope_say("out of memory");
	return slope_flush_output() && good ? 0 : SLOPE_EXIT_WRONG;
}

static int show(const struct slope_profile *profile, const char *path, const char *function, const struct settings *s,
		double threshold)
{
	struct slope_paths_options o = {
		.report = slope_report_defaults(profile), .sort = (enum slope_paths_sort)s->sort,
		.costs = { .function = SLOPE_PATHS_ALL, .contexts = s->context, .threshold = threshold },
		.blocks = s->blocks, .graphs = s->graphs,
	};

	if (!has_paths(profile, s, path) || !find_metric(profile, s->metric, &o.costs.metric) ||
	    !find_thread(profile, s->thread, &o.costs.thread) ||
	    (function && !slope_view_function(profile, function, o.report.unit, &o.costs.function)))
		return SLOPE_EXIT_WRONG;
	o.report.top = s->top != NOT_GIVEN ? s->top : s->json ? 0 : TOP_PATHS;
	o.report.color = slope_color_wanted(s->color, stdout);
	o.report.ascii = s->ascii || slope_view_ascii();
	o.report.width = slope_view_width();
	return print(profile, &o, s->json);
}

/* Does the file begin as a profile does? */
static bool looks_like_profile(const char *path)
{
	char head[6];
	FILE *file = fopen(path, "r");
	size_t got = file ? fread(head, 1, sizeof head, file) : 0;

	if (file)
		fclose(file);
	return got == sizeof head && !memcmp(head, "\x89SLOPE", sizeof head);
}

/* One operand may be a function or a file. It is a file if it is a profile, or could not be a function of the usual one. */
static bool take_operands(int argc, char **argv, const char **function, const char **path)
{
	bool usual = access(SLOPE_DEFAULT_FILE, F_OK) == 0, there = argc == 2 && access(argv[1], F_OK) == 0;
	bool is_file = argc == 2 && (strchr(argv[1], '/') || looks_like_profile(argv[1]) || (there && !usual));

	if (argc > 3) {
		slope_say("one function of one profile at a time, and here are %d words", argc - 1);
		return false;
	}
	if (argc == 2 && !is_file && !usual) {
		slope_say("%s: there is no such file, and no %s here with a function of that name", argv[1], SLOPE_DEFAULT_FILE);
		return false;
	}
	*function = argc == 3 || (argc == 2 && !is_file) ? argv[1] : NULL;
	*path = argc == 3 ? argv[2] : is_file ? argv[1] : SLOPE_DEFAULT_FILE;
	return true;
}

static int show_file(const char *path, const char *function, const struct settings *s, double threshold)
{
	struct slope_profile *profile = slope_datafile_open(path);
	int result = SLOPE_EXIT_WRONG;

	if (profile && s->json)
		slope_datafile_say_problems(profile, path);  /* the pages show them themselves */
	if (profile)
		result = show(profile, path, function, s, threshold);
	slope_profile_free(profile);
	return result;
}

int slope_paths_profile_at(const char *path)
{
	return show_file(path, NULL, &defaults, 0.01);
}

int slope_verb_paths(int argc, char **argv)
{
	struct settings s = defaults;
	enum slope_parsed parsed = parse(&s, &argc, argv);
	const char *function, *path;
	double threshold;

	if (parsed != SLOPE_PARSED)
		return parsed == SLOPE_PARSED_HELP ? 0 : SLOPE_EXIT_WRONG;
	if (!read_threshold(s.threshold, &threshold) || !take_operands(argc, argv, &function, &path))
		return SLOPE_EXIT_WRONG;
	if (s.graphs && !s.json) {
		slope_say("--graphs: graphs are printed as JSON; add --json");
		return SLOPE_EXIT_WRONG;
	}
	return show_file(path, function, &s, threshold);
}
