/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slope merge: one profile of several runs or processes. */
#include <stdlib.h>

#include "cli/datafile.h"
#include "cli/messages.h"
#include "cli/options.h"
#include "cli/verbs.h"

struct settings {
	const char *output;
};

static enum slope_parsed parse(struct settings *s, int *argc, char **argv)
{
	const struct slope_option option[] = {
		{ "output", 'o', SLOPE_OPTION_TEXT, &s->output, "FILE", "the profile to write; must be given", 0, 0 },
		{ 0 },
	};
	const struct slope_usage usage = {
		.command = "slope merge", .operands = "-o OUT FILE...", .option = option,
		.summary = "Makes one profile of several: points of one size add up, threads stay apart.",
	};

	return slope_options_parse(&usage, argc, argv);
}

static int merge(struct slope_profile **profiles, size_t count, const char *output)
{
	char error[512];
	struct slope_profile *whole = slope_profile_merge(profiles, count, error, sizeof error);
	bool good = whole && slope_profile_save(whole, output, error, sizeof error);

	if (!good)
		slope_say("%s", error);
	else if (slope_profile_paths_only(whole))
		slope_say("%zu paths through %zu graphs of %zu profiles in %s", whole->path_count, whole->graph_count, count, output);
	else
		slope_say("%llu functions, %llu points of %zu profiles in %s",
			  (unsigned long long)slope_datafile_functions(whole),
			  (unsigned long long)slope_datafile_points(whole), count, output);
	slope_profile_free(whole);
	return good ? 0 : SLOPE_EXIT_WRONG;
}

static int merge_files(const char *output, char **files, size_t count)
{
	struct slope_profile **profiles = calloc(count, sizeof *profiles);
	size_t loaded = 0;
	int result = SLOPE_EXIT_WRONG;

	if (!profiles)
		slope_say("out of memory");
	for (; profiles && loaded < count; loaded++) {
		profiles[loaded] = slope_datafile_open(files[loaded]);
		if (!profiles[loaded])
			break;
		slope_datafile_say_problems(profiles[loaded], files[loaded]);
	}
	if (profiles && loaded == count)
		result = merge(profiles, count, output);
	while (loaded)
		slope_profile_free(profiles[--loaded]);
	free(profiles);
	return result;
}

int slope_verb_merge(int argc, char **argv)
{
	struct settings s = { 0 };
	enum slope_parsed parsed = parse(&s, &argc, argv);

	if (parsed == SLOPE_PARSED_HELP)
		return 0;
	if (parsed == SLOPE_PARSED && !s.output)
		slope_say("where to? Name the profile to write with -o");
	else if (parsed == SLOPE_PARSED && argc < 2)
		slope_say("which profiles? Type 'slope merge -o OUT FILE...'");
	else if (parsed == SLOPE_PARSED)
		return merge_files(s.output, argv + 1, (size_t)argc - 1);
	return SLOPE_EXIT_WRONG;
}
