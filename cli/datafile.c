/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/datafile.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/messages.h"
#include "profile/inlining.h"
#include "profile/symbolize.h"

#define PROBLEMS_SAID 5

static void show_progress(void *ctx, size_t done, size_t modules, const char *path)
{
	const char *slash = strrchr(path, '/');
	char text[160];

	(void)ctx;
	snprintf(text, sizeof text, "symbols %zu/%zu: %s", done + 1, modules, slash ? slash + 1 : path);
	slope_progress(text);
}

char *slope_datafile_cache(void)
{
	const char *own = getenv("SLOPE_CACHE"), *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	if (own)
		return own[0] == '/' ? slope_text("%s", own) : NULL;
	if (xdg && xdg[0] == '/')
		return slope_text("%s/slope", xdg);
	return home && home[0] == '/' ? slope_text("%s/.cache/slope", home) : NULL;
}

void slope_datafile_symbolize(struct slope_profile *profile, struct slope_elfshelf *shelf)
{
	char *cache = slope_datafile_cache();
	const struct slope_symbolize_options options = { .progress = show_progress, .cache_folder = cache, .shelf = shelf };
	bool whole = slope_profile_symbolize(profile, &options);

	free(cache);
	slope_progress("");
	if (!whole)
		slope_say("memory ran out while reading symbols; some functions are shown as module+offset");
}

void slope_datafile_say_problems(const struct slope_profile *profile, const char *path)
{
	size_t count = profile->problem_count;

	for (size_t i = 0; i < count && i < PROBLEMS_SAID; i++)
		slope_say("%s: %s", path, profile->problem[i]);
	if (count > PROBLEMS_SAID)
		slope_say("%s: %zu more; 'slope info' lists them all", path, count - PROBLEMS_SAID);
}

struct slope_profile *slope_datafile_load(const char *path)
{
	char error[512];
	struct slope_profile *profile;

	if (access(path, F_OK) != 0 && !strcmp(path, SLOPE_DEFAULT_FILE)) {
		slope_say("there is no %s here; make one with 'slope record PROGRAM', or name a profile", path);
		return NULL;
	}
	profile = slope_profile_load(path, error, sizeof error);
	if (!profile)
		slope_say("%s", error);
	return profile;
}

struct slope_profile *slope_datafile_open(const char *path)
{
	struct slope_profile *profile = slope_datafile_load(path);

	if (profile && !profile->symbolized)
		slope_datafile_symbolize(profile, NULL);
	return profile;
}

struct slope_profile *slope_datafile_open_costs(const char *path)
{
	struct slope_profile *profile = slope_datafile_open(path);

	if (!profile || !slope_profile_paths_only(profile))
		return profile;
	slope_say("%s has paths only: 'slope paths' shows them; record with --input, too, to get costs and growth of functions", path);
	slope_profile_free(profile);
	return NULL;
}

struct slope_profile *slope_datafile_fold(struct slope_profile *profile)
{
	if (!profile || slope_inlining_fold(profile))
		return profile;
	slope_say("out of memory");
	slope_profile_free(profile);
	return NULL;
}

bool slope_datafile_overwrites(const char *output, const char *input)
{
	struct stat a, b;

	if (!output || !input || stat(output, &a) != 0 || stat(input, &b) != 0 || !S_ISREG(a.st_mode) ||
	    a.st_dev != b.st_dev || a.st_ino != b.st_ino)
		return false;
	slope_say("%s is read and would be overwritten; give the output another name", output);
	return true;
}

const char *slope_datafile_operand(int argc, char **argv)
{
	if (argc > 2) {
		slope_say("one profile at a time, and here are %d; 'slope merge' makes one of several", argc - 1);
		return NULL;
	}
	return argc == 2 ? argv[1] : SLOPE_DEFAULT_FILE;
}

uint64_t slope_datafile_points(const struct slope_profile *profile)
{
	unsigned metric = profile->metrics & 1u << SLOPE_METRIC_TRMS ? SLOPE_METRIC_TRMS : SLOPE_METRIC_RMS;
	uint64_t points = 0;

	for (size_t i = 0; i < profile->row_count; i++)
		if (profile->row[i].function != SLOPE_FN_ROOT)
			points += profile->row[i].points[metric].count;
	return points;
}

static int by_number(const void *a, const void *b)
{
	const struct slope_profile_path *x = *(const struct slope_profile_path *const *)a;
	const struct slope_profile_path *y = *(const struct slope_profile_path *const *)b;

	return x->graph != y->graph ? (x->graph > y->graph) - (x->graph < y->graph) : (x->number > y->number) - (x->number < y->number);
}

uint64_t slope_datafile_paths(const struct slope_profile *profile, uint64_t *functions)
{
	const struct slope_profile_path **path = calloc(profile->path_count + 1, sizeof *path);
	uint64_t different = 0;

	if (!path)
		return 0;
	for (size_t i = 0; i < profile->path_count; i++)
		path[i] = &profile->path[i];
	qsort(path, profile->path_count, sizeof *path, by_number);
	for (size_t i = 0; i < profile->path_count; i++) {
		bool other_graph = !i || path[i]->graph != path[i - 1]->graph;

		different += other_graph || path[i]->number != path[i - 1]->number;
		*functions += other_graph && !(profile->graph[path[i]->graph].flags & SLOPE_GRAPH_PIECE);
	}
	free(path);
	return different;
}

uint64_t slope_datafile_functions(const struct slope_profile *profile)
{
	uint64_t functions = 0;

	for (size_t i = 0; i < profile->row_count; i++) {
		uint32_t fn = profile->row[i].function;

		functions += fn != SLOPE_FN_ROOT && (i == 0 || profile->row[i - 1].function != fn);
	}
	return functions;
}

uint64_t slope_datafile_samples(const struct slope_profile *profile)
{
	int unit = slope_profile_unit(profile, "samples");
	uint64_t samples = 0;

	for (size_t i = 0; unit >= 0 && i < profile->row_count; i++)
		samples += profile->row[i].self[unit];
	return samples;
}
