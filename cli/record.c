/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * slope record: everything that can be wrong is looked for before the program
 * runs; afterwards the profiles of all its processes get their names. The
 * program's stdin, stdout and stderr are its own throughout.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/datafile.h"
#include "cli/launch.h"
#include "cli/list.h"
#include "cli/messages.h"
#include "cli/options.h"
#include "cli/program.h"
#include "cli/runfiles.h"
#include "cli/toollog.h"
#include "cli/verbs.h"

#define STACK_DEFAULT_BYTES (8u << 20)
#define STACK_MAX_BYTES (UINT64_C(4) << 30)
#define MAX_THREADS_DEFAULT 1000
#define SOURCE_TRANSLATOR 1u
#define SOURCE_SAMPLER 2u

static const char *const source_name[] = { "valgrind", "translator", "sampler" };
static const char *const input_name[] = { "trms", "rms", "both" };
static const char *const access_name[] = { "inline", "call" };

struct settings {
	const char *output, *cost;
	unsigned source, input, fair_sched, access;
	uint64_t cell, max_points, max_threads, stamp_limit;
	struct slope_list toggle, only, skip;
	bool no_symbols, quiet;
};

static const struct settings defaults = {
	.output = SLOPE_DEFAULT_FILE, .cost = "ir", .cell = 4, .max_points = SLOPE_POINTS_MAX_DEFAULT,
	.max_threads = MAX_THREADS_DEFAULT,
};

static enum slope_parsed parse(struct settings *s, const char *command, int *argc, char **argv)
{
	const struct slope_option option[] = {
		{ "output", 'o', SLOPE_OPTION_TEXT, &s->output, "FILE",
		  "the profile to write (slope.data); %p in it is the process id", 0, 0 },
		{ "source", 0, SLOPE_OPTION_CHOICE, &s->source, "valgrind|translator|sampler",
		  "what observes the program", 0, 0 },
		{ "cost", 0, SLOPE_OPTION_TEXT, &s->cost, "UNITS",
		  "cost units with commas between: ir instructions, bb basic blocks (ir)", 0, 0 },
		{ "input", 0, SLOPE_OPTION_CHOICE, &s->input, "trms|rms|both",
		  "input sizes with or without what threads and system calls bring in", 0, 0 },
		{ "cell", 0, SLOPE_OPTION_NUMBER, &s->cell, "BYTES", "the unit of input: 1, 2, 4, 8, 16, 32 or 64 bytes (4)",
		  1, 64 },
		{ "toggle", 0, SLOPE_OPTION_LIST, &s->toggle, "GLOB",
		  "measure only while a function of this name is active; may be repeated", 0, 0 },
		{ "only", 0, SLOPE_OPTION_LIST, &s->only, "GLOB",
		  "keep only these functions or modules; others count as part of their callers", 0, 0 },
		{ "skip", 0, SLOPE_OPTION_LIST, &s->skip, "GLOB",
		  "let these functions or modules count as part of their callers", 0, 0 },
		{ "max-points", 0, SLOPE_OPTION_NUMBER, &s->max_points, "N",
		  "sizes kept apart per function before they are folded into bins (100000)", 16, UINT32_MAX },
		{ "fair-sched", 0, SLOPE_OPTION_CHOICE, &s->fair_sched, "yes|no",
		  "let threads take turns in order", 0, 0 },
		{ "max-threads", 0, SLOPE_OPTION_NUMBER, &s->max_threads, "N",
		  "threads that may exist at one time; each takes some memory in advance (1000)", 2, 1000000 },
		{ "no-symbols", 0, SLOPE_OPTION_FLAG, &s->no_symbols, NULL,
		  "leave names, files and lines for the report to find", 0, 0 },
		{ "quiet", 'q', SLOPE_OPTION_FLAG, &s->quiet, NULL, "no closing line", 0, 0 },
		{ "stamp-limit", 0, SLOPE_OPTION_NUMBER, &s->stamp_limit, "N", NULL, 16, UINT32_MAX },
		{ "access", 0, SLOPE_OPTION_CHOICE, &s->access, "inline|call", NULL, 0, 0 },
		{ 0 },
	};
	const struct slope_usage usage = {
		.command = command, .operands = "[options] [--] PROGRAM [ARGS]", .option = option, .stop_at_operand = true,
		.summary = "Profiles a run: for every function, its cost as a function of the size of its input.",
	};

	return slope_options_parse(&usage, argc, argv);
}

static bool known_units(const char *cost)
{
	bool seen_ir = false, seen_bb = false;

	for (const char *unit = cost;; unit++) {
		size_t length = strcspn(unit, ",");
		bool ir = length == 2 && !strncmp(unit, "ir", 2), bb = length == 2 && !strncmp(unit, "bb", 2);

		if (!ir && !bb) {
			slope_say("--cost=%s: '%.*s' is no cost unit of this build; it has ir and bb", cost, (int)length, unit);
			return false;
		}
		if ((ir && seen_ir) || (bb && seen_bb)) {
			slope_say("--cost=%s: %s is there twice", cost, ir ? "ir" : "bb");
			return false;
		}
		seen_ir |= ir;
		seen_bb |= bb;
		unit += length;
		if (!*unit)
			return true;
	}
}

static bool sensible(const struct settings *s)
{
	if (s->source == SOURCE_SAMPLER) {
		slope_say("--source=%s: this build has no %s; leave the option out", source_name[s->source],
			  source_name[s->source]);
		return false;
	}
	if (s->cell & (s->cell - 1)) {
		slope_say("--cell=%llu: give a power of two from 1 to 64", (unsigned long long)s->cell);
		return false;
	}
	if (!*s->output) {
		slope_say("-o needs a file name");
		return false;
	}
	return known_units(s->cost);
}

/* A main stack larger than Valgrind's own idea of it, where the user allows one. */
static void add_stack_size(struct slope_list *options)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur <= STACK_DEFAULT_BYTES)
		return;
	uint64_t bytes = limit.rlim_cur < STACK_MAX_BYTES ? limit.rlim_cur : STACK_MAX_BYTES;

	slope_list_add(options, "--main-stacksize=%llu", (unsigned long long)bytes);
}

static void add_globs(struct slope_list *options, const char *name, const struct slope_list *globs)
{
	for (size_t i = 0; i < globs->count; i++)
		slope_list_add(options, "--%s=%s", name, globs->text[i]);
}

/* Valgrind's own. */
static void valgrind_options(struct slope_list *options, const struct settings *s)
{
	slope_list_add(options, "-q");
	slope_list_add(options, "--tool=slope");
	slope_list_add(options, "--fair-sched=%s", s->fair_sched ? "no" : "yes");
	slope_list_add(options, "--trace-children=yes");
	slope_list_add(options, "--vgdb=no");
	slope_list_add(options, "--max-threads=%llu", (unsigned long long)s->max_threads);
	add_stack_size(options);
}

static void tool_options(struct slope_list *options, const struct settings *s, const char *path)
{
	if (s->source != SOURCE_TRANSLATOR)
		valgrind_options(options, s);
	slope_list_add(options, "--slope-out=%s", path);
	slope_list_add(options, "--cell=%llu", (unsigned long long)s->cell);
	slope_list_add(options, "--input=%s", input_name[s->input]);
	slope_list_add(options, "--cost=%s", s->cost);
	slope_list_add(options, "--max-points=%llu", (unsigned long long)s->max_points);
	add_globs(options, "toggle", &s->toggle);
	add_globs(options, "only", &s->only);
	add_globs(options, "skip", &s->skip);
	if (s->stamp_limit)
		slope_list_add(options, "--stamp-limit=%llu", (unsigned long long)s->stamp_limit);
	if (s->access)
		slope_list_add(options, "--access=%s", access_name[s->access]);
}

static int exit_status(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

struct totals {
	uint64_t functions, points;
};

/* Saves the profile with its names; the raw one stays when that fails. */
static void save_named(const struct slope_profile *profile, const char *path)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, before;
	char error[512];

	sigaction(SIGXFSZ, &ignore, &before);
	if (!slope_profile_save(profile, path, error, sizeof error))
		slope_say("the profile is whole, but names could not be added to it: %s", error);
	sigaction(SIGXFSZ, &before, NULL);
}

/* We know best how the main process ended: a source does not see what kills it. */
static void note_end(struct slope_profile *profile, int status)
{
	profile->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	profile->exit_signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	free(profile->ended);
	profile->ended = slope_text("%s", WIFSIGNALED(status) ? "signal" : "exit");
}

/* `status` is the main process's; NULL for other processes. */
static bool finish_profile(const struct settings *s, const char *path, bool partial, const int *status, struct totals *totals)
{
	char error[512];
	struct slope_profile *profile = slope_profile_load(path, error, sizeof error);

	if (!profile) {
		slope_say("%s", error);
		return false;
	}
	if (status)
		note_end(profile, *status);
	if (!partial)
		slope_datafile_say_problems(profile, path);
	if (!s->no_symbols && !partial)
		slope_datafile_symbolize(profile);
	if (!partial)
		save_named(profile, path);
	totals->functions += slope_datafile_functions(profile);
	totals->points += slope_datafile_points(profile);
	slope_profile_free(profile);
	return true;
}

/* How a person would type the path: without the current folder. */
static const char *shown(const char *path)
{
	char *here = getcwd(NULL, 0);
	size_t length = here ? strlen(here) : 0;
	bool inside = length > 1 && !strncmp(path, here, length) && path[length] == '/';

	free(here);
	return inside ? path + length + 1 : path;
}

/* An empty profile has a reason, and now is the time to say it. */
static const char *why_empty(const struct settings *s)
{
	if (s->toggle.count)
		return "no function that fits --toggle was called (one that was inlined has no name of its own)";
	if (s->only.count)
		return "no function or module that ran fits --only";
	return s->skip.count ? "everything that ran fits --skip" : "the program ran none, or had stopped the collecting";
}

static void say_closing(const struct slope_runfiles *files, const struct totals *totals, bool report_follows)
{
	const char *path = shown(files->found.text[0]);
	bool by_default = !strcmp(path, SLOPE_DEFAULT_FILE);
	size_t others = files->found.count - 1;
	char *more = others ? slope_text(" and %zu more of its processes (%s%s; 'slope merge' adds them up)", others,
					 shown(files->found.text[1]), others > 1 ? ", ..." : "") : slope_text("%s", "");
	char *next = report_follows ? slope_text("%s", "") : slope_text("; see it with 'slope report%s%s'",
									 by_default ? "" : " ", by_default ? "" : path);

	slope_say("%llu functions, %llu points in %s%s%s", (unsigned long long)totals->functions,
		  (unsigned long long)totals->points, path, more, next);
	free(more);
	free(next);
}

/* The main process left no profile. What its end tells about the reason. */
static int say_nothing_left(const struct slope_runfiles *files, const char *program, int status)
{
	const char *kept = files->old_inode ? "; the earlier profile is untouched" : "";

	if (WIFSIGNALED(status)) {
		slope_say("%s was killed by signal %d (%s) before its profile could be written%s", program,
			  WTERMSIG(status), strsignal(WTERMSIG(status)), kept);
		return exit_status(status);
	}
	slope_say("%s ended with status %d but its profile could not be written; "
		  "look for the reason above, or ask 'slope doctor'%s", program, WEXITSTATUS(status), kept);
	return SLOPE_EXIT_FAILED;
}

/* Names for all profiles, the closing line, and the exit status. `*profile` becomes the main process's file. */
static int finish(const struct settings *s, struct slope_runfiles *files, const char *program, pid_t pid, int status,
		  const struct slope_toollog *log, char **profile)
{
	bool have_main = slope_runfiles_collect(files, pid);
	struct totals totals = { 0 };
	bool good = true;

	slope_toollog_repeat(log, have_main || WIFSIGNALED(status) ? 0 : pid);
	for (size_t i = 0; i < files->found.count; i++)
		good &= finish_profile(s, files->found.text[i], files->partial && i == 0,
				       have_main && i == 0 ? &status : NULL, &totals);
	if (!have_main)
		return say_nothing_left(files, program, status);
	if (files->partial)
		slope_say("the profile could not be written to its end (a full disk?); the part that is whole is kept in %s",
			  shown(files->found.text[0]));
	if (!good)
		return SLOPE_EXIT_FAILED;
	if (!s->quiet && !totals.functions)
		slope_say("no function is in %s: %s", shown(files->found.text[0]), why_empty(s));
	else if (!s->quiet)
		say_closing(files, &totals, profile != NULL);
	if (profile)
		*profile = slope_text("%s", files->found.text[0]);
	return exit_status(status);
}

static int record(const struct settings *s, char **program, char **profile)
{
	struct slope_launcher launcher;
	struct slope_runfiles files = { 0 };
	struct slope_list options = { 0 };
	struct slope_toollog log = { 0 };
	char *file = NULL;
	int result = slope_program_check(program[0], &file), status;
	pid_t pid;

	slope_launcher_find(&launcher);
	launcher.translated = s->source == SOURCE_TRANSLATOR;
	if (result)
		goto free_all;
	result = SLOPE_EXIT_FAILED;
	if (!slope_launcher_check(&launcher) || !slope_runfiles_prepare(&files, s->output))
		goto free_all;
	tool_options(&options, s, files.path);
	if (program[0][0] == '-')
		program[0] = file;   /* or Valgrind would take it for an option */
	if (slope_toollog_open(&log, &options) && slope_launcher_run(&launcher, &options, program, &pid, &status))
		result = finish(s, &files, program[0], pid, status, &log, profile);
	else
		slope_runfiles_cancel(&files);
	slope_toollog_close(&log);
free_all:
	slope_list_fini(&options);
	slope_runfiles_fini(&files);
	slope_launcher_fini(&launcher);
	free(file);
	return result;
}

static int run(const char *command, int argc, char **argv, char **profile)
{
	struct settings s = defaults;
	enum slope_parsed parsed = parse(&s, command, &argc, argv);
	int result = SLOPE_EXIT_FAILED;

	if (parsed == SLOPE_PARSED_HELP)
		result = 0;
	else if (parsed == SLOPE_PARSED && argc < 2)
		slope_say("which program? Type '%s [options] PROGRAM [ARGS]'", command);
	else if (parsed == SLOPE_PARSED && sensible(&s))
		result = record(&s, argv + 1, profile);
	slope_list_fini(&s.toggle);
	slope_list_fini(&s.only);
	slope_list_fini(&s.skip);
	return result;
}

int slope_verb_record(int argc, char **argv)
{
	return run("slope record", argc, argv, NULL);
}

int slope_record_and_report(int argc, char **argv)
{
	char *profile = NULL;
	int result = run("slope", argc, argv, &profile);

	if (profile && slope_report_profile_at(profile) != 0 && result == 0)
		result = SLOPE_EXIT_FAILED;
	free(profile);
	return result;
}
