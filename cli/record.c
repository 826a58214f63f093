/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * slope record: everything that can be wrong is looked for before the program
 * runs; afterwards the profiles of all its processes get their names. The
 * program's stdin, stdout and stderr are its own throughout.
 */
#include <ctype.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/attach.h"
#include "cli/datafile.h"
#include "cli/duration.h"
#include "cli/events.h"
#include "cli/messages.h"
#include "cli/metering.h"
#include "cli/observer.h"
#include "cli/options.h"
#include "cli/perturbation.h"
#include "cli/program.h"
#include "cli/recording.h"
#include "cli/sampled.h"
#include "cli/verbs.h"
#include "cli/verification.h"

#define MAX_THREADS_DEFAULT 1000
#define CONTEXT_K_MAX 1000000u
#define BURST_DEFAULT "2ms/0.2ms"
#define INPUT_NOT_GIVEN 3u       /* behind the choices of --input */
#define PATH_SAMPLE_DEFAULT 1000u

static const struct slope_settings defaults = {
	.output = SLOPE_DEFAULT_FILE, .cost = "ir", .cell = 4, .max_points = SLOPE_POINTS_MAX_DEFAULT,
	.max_threads = MAX_THREADS_DEFAULT, .source = SLOPE_SOURCE_ANY, .input = INPUT_NOT_GIVEN,
};

static enum slope_parsed parse(struct slope_settings *s, const char *command, int *argc, char **argv)
{
	const struct slope_option option[] = {
		{ "output", 'o', SLOPE_OPTION_TEXT, &s->output, "FILE",
		  "the profile to write (slope.data); %p in it is the process id", 0, 0 },
		{ "source", 0, SLOPE_OPTION_CHOICE, &s->source, SLOPE_SOURCE_CHOICES,
		  SLOPE_SOURCE_PREFERRED == SLOPE_SOURCE_VALGRIND ? "what observes the program (valgrind)"
			: "what observes the program (translator; valgrind where that cannot)", 0, 0 },
		{ "cost", 0, SLOPE_OPTION_TEXT, &s->cost, "UNITS",
		  "cost units with commas between: ir instructions, bb basic blocks, time (ir)", 0, 0 },
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
		{ "contexts", 0, SLOPE_OPTION_MAYBE, &s->contexts, "cct|K",
		  "keep calling contexts: whole paths (cct), or those of K callers", 0, 0 },
		{ "context-sites", 0, SLOPE_OPTION_FLAG, &s->context_sites, NULL,
		  "tell contexts apart by the places of their calls, too", 0, 0 },
		{ "context-recursion", 0, SLOPE_OPTION_CHOICE, &s->context_recursion, "keep|collapse",
		  "every depth of a recursion is a context (keep), or goes back to the first", 0, 0 },
		{ "burst", 0, SLOPE_OPTION_MAYBE, &s->burst, "PERIOD/LENGTH",
		  "keep contexts only in bursts, as in 2ms/0.2ms (the default)", 0, 0 },
		{ "context", 0, SLOPE_OPTION_NUMBER, &s->context, "K",
		  "keep points apart by the K nearest callers, too", 1, SLOPE_VARIANT_CALLERS_MAX },
		{ "max-contexts", 0, SLOPE_OPTION_NUMBER, &s->max_contexts, "N",
		  "with --context=K: so many are told apart, rare ones are folded (20000)", 1, UINT32_MAX >> 1 },
		{ "paths", 0, SLOPE_OPTION_FLAG, &s->paths, NULL,
		  "count the ways through each function; input sizes only where they are asked for, too", 0, 0 },
		{ "event", 0, SLOPE_OPTION_TEXT, &s->event, "LIST",
		  "measure paths by up to 4 of: time, cycles, cache-misses, ...; with --source=sampler, "
		  "sample by up to 3 of NAME[:PERIOD], also of alloc-bytes, live-bytes, read-bytes, write-bytes, lock-wait", 0, 0 },
		{ "path-sample", 0, SLOPE_OPTION_NUMBER, &s->path_sample, "N",
		  "with events: measure a few paths for each N calls and ends of paths (1000); 1: all of them", 1, UINT32_MAX },
		{ "perturbation", 0, SLOPE_OPTION_MAYBE, &s->perturbation, "ROUNDS",
		  "run it natively, too, in turn (5 rounds), and say how much the recording moves", 0, 0 },
		{ "fair-sched", 0, SLOPE_OPTION_CHOICE, &s->fair_sched, "yes|no",
		  "let threads take turns in order", 0, 0 },
		{ "max-threads", 0, SLOPE_OPTION_NUMBER, &s->max_threads, "N",
		  "threads that may exist at one time; each takes some memory in advance (1000)", 2, 1000000 },
		{ "window", 0, SLOPE_OPTION_NUMBER, &s->window_log2, "N",
		  "with the translator: the program has 2^N bytes of addresses (36); for those that reserve more than 48 GB", 35, 44 },
		{ "rate", 0, SLOPE_OPTION_NUMBER, &s->rate, "N",
		  "with --source=sampler: samples per second of each thread (1000)", 1, SLOPE_RATE_MAX },
		{ "clock", 0, SLOPE_OPTION_CHOICE, &s->clock, "cpu|wall",
		  "with --source=sampler: time of the processor, or time that passes (cpu)", 0, 0 },
		{ "no-trampoline", 0, SLOPE_OPTION_FLAG, &s->no_trampoline, NULL,
		  "with --source=sampler: leave return addresses alone; calls are not counted", 0, 0 },
		{ "duration", 0, SLOPE_OPTION_TEXT, &s->duration, "TIME",
		  "with --source=sampler: measure so long (10s, 500ms, 2m), then let the program go on without", 0, 0 },
		{ "delayed", 0, SLOPE_OPTION_FLAG, &s->delayed, NULL,
		  "with --source=sampler: measure nothing until 'slope ctl start' says so", 0, 0 },
		{ "attach", 0, SLOPE_OPTION_TEXT, &s->attach, "PID",
		  "sample a program that runs, from outside, until it ends, Ctrl-C, or the duration is over; calls are not counted", 0, 0 },
		{ "no-symbols", 0, SLOPE_OPTION_FLAG, &s->no_symbols, NULL,
		  "leave names, files and lines for the report to find", 0, 0 },
		{ "verify", 0, SLOPE_OPTION_FLAG, &s->verify, NULL,
		  "run it under both exact sources instead, and say where they disagree", 0, 0 },
		{ "json", 'j', SLOPE_OPTION_FLAG, &s->json, NULL,
		  "with --verify or --perturbation: print JSON (schema slope-verify/1, slope-perturbation/1)", 0, 0 },
		{ "quiet", 'q', SLOPE_OPTION_FLAG, &s->quiet, NULL, "no closing line", 0, 0 },
		{ "stamp-limit", 0, SLOPE_OPTION_NUMBER, &s->stamp_limit, "N", NULL, 16, UINT32_MAX },
		{ "block-runs", 0, SLOPE_OPTION_NUMBER, &s->block_runs, "N", NULL, 16, 32768 },
		{ "access", 0, SLOPE_OPTION_CHOICE, &s->access, "inline|call|ir|narrow", NULL, 0, 0 },
		{ 0 },
	};
	const struct slope_usage usage = {
		.command = command, .operands = "[options] [--] PROGRAM [ARGS]", .option = option, .stop_at_operand = true,
		.summary = "Profiles a run: for every function, its cost as a function of the size of its input.",
	};

	return slope_options_parse(&usage, argc, argv);
}

static bool known_units(const char *cost, bool *time)
{
	static const char *const known[] = { "ir", "bb", "time" };
	unsigned seen = 0;

	for (const char *unit = cost;; unit++) {
		size_t length = strcspn(unit, ","), n = 0;

		while (n < 3 && (strlen(known[n]) != length || strncmp(unit, known[n], length)))
			n++;
		if (n == 3) {
			slope_say("--cost=%s: '%.*s' is no cost unit; there are ir, bb and time", cost, (int)length, unit);
			return false;
		}
		if (seen & 1u << n) {
			slope_say("--cost=%s: %s is there twice", cost, known[n]);
			return false;
		}
		seen |= 1u << n;
		unit += length;
		if (!*unit)
			break;
	}
	*time = seen & 4;
	return true;
}

/* Only the translator lets a program run at a speed that says something about time. */
static bool sensible_time(struct slope_settings *s)
{
	if (s->source == SLOPE_SOURCE_VALGRIND || s->verify) {
		slope_say("--cost=%s: %s", s->cost, s->verify ? "no two runs take the same time; --verify compares ir and bb" :
			  "Valgrind does not measure time; use --source=translator");
		return false;
	}
	s->source = SLOPE_SOURCE_TRANSLATOR;
	return true;
}

static bool sensible_burst(struct slope_settings *s)
{
	const char *at = s->burst && *s->burst ? s->burst : BURST_DEFAULT;

	if (!s->burst)
		return true;
	if (!s->contexts || s->context || s->context_sites || s->context_recursion) {
		slope_say("--burst goes with --contexts, without call sites, collapsed recursion or --context");
		return false;
	}
	s->burst_period_ns = slope_duration_read(&at);
	s->burst_length_ns = s->burst_period_ns && *at++ == '/' ? slope_duration_read(&at) : 0;
	if (*at || !s->burst_length_ns || s->burst_length_ns > s->burst_period_ns) {
		slope_say("--burst=%s: give a period and a shorter length, as in 2ms/0.2ms; there are s, ms, us and ns", s->burst);
		return false;
	}
	return true;
}

/* What --contexts and its company say. */
static bool sensible_contexts(struct slope_settings *s)
{
	char *end = NULL;

	if (!s->contexts && (s->context_sites || s->context_recursion)) {
		slope_say("%s goes with --contexts", s->context_sites ? "--context-sites" : "--context-recursion");
		return false;
	}
	if (s->max_contexts && !s->context) {
		slope_say("--max-contexts goes with --context");
		return false;
	}
	if (!s->max_contexts)
		s->max_contexts = SLOPE_VARIANTS_MAX_DEFAULT;
	if (!sensible_burst(s))
		return false;
	if (s->context && !s->contexts) {
		s->contexts = "";
		s->context_k = s->context;
	} else if (!s->contexts) {
		return true;
	} else if (*s->contexts && strcmp(s->contexts, "cct")) {
		s->context_k = isdigit((unsigned char)*s->contexts) ? strtoull(s->contexts, &end, 10) : 0;
		if (!s->context_k || *end || s->context_k > CONTEXT_K_MAX) {
			slope_say("--contexts=%s: give cct, or a number of callers from 1 to %u", s->contexts, CONTEXT_K_MAX);
			return false;
		}
	}
	if (s->context_k && s->context_k < s->context) {
		slope_say("--context=%llu needs as many callers in --contexts", (unsigned long long)s->context);
		return false;
	}
	if ((s->context_k || s->context) && s->context_recursion) {
		slope_say("--context-recursion=collapse is for --contexts=cct alone");
		return false;
	}
	if (s->verify) {
		slope_say("--verify compares functions: leave %s out", s->context ? "--context" : "--contexts");
		return false;
	}
	return true;
}

/* Only the translator sees single branches. */
static bool sensible_source_for_paths(struct slope_settings *s)
{
	const char *option = s->event ? "--event" : "--paths";

	if (s->verify) {
		slope_say("--verify compares functions: leave %s out", option);
		return false;
	}
	if (s->source == SLOPE_SOURCE_VALGRIND) {
		slope_say("%s needs the translator: leave --source=valgrind out", option);
		return false;
	}
	s->source = SLOPE_SOURCE_TRANSLATOR;
	return true;
}

/* What --paths and --event say; after --contexts has its meaning. */
static bool sensible_paths(struct slope_settings *s)
{
	if (s->path_sample && !s->event) {
		slope_say("--path-sample goes with --event: how often a path is taken is counted each time");
		return false;
	}
	if (!s->path_sample)
		s->path_sample = PATH_SAMPLE_DEFAULT;
	if (!s->paths && !s->event)
		return true;
	if (s->context || s->context_k || s->burst) {
		slope_say("%s goes with --contexts=cct, not with %s", s->paths ? "--paths" : "--event",
			  s->burst ? "--burst" : s->context ? "--context" : "contexts of K callers");
		return false;
	}
	s->paths = true;
	if (s->paths && s->event && s->input_given) {
		slope_say("--event does not measure paths while input sizes are taken: leave --input out, and record these in another run");
		return false;
	}
	return sensible_source_for_paths(s);
}

static bool sensible_rounds(struct slope_settings *s)
{
	char *end = NULL;

	s->rounds = *s->perturbation ? strtoull(s->perturbation, &end, 10) : SLOPE_PERTURBATION_ROUNDS;
	if (end && (!isdigit((unsigned char)*s->perturbation) || *end || !s->rounds || s->rounds > SLOPE_PERTURBATION_ROUNDS_MAX)) {
		slope_say("--perturbation=%s: give a number of rounds from 1 to %u", s->perturbation, SLOPE_PERTURBATION_ROUNDS_MAX);
		return false;
	}
	if (s->verify)
		slope_say("--verify and --perturbation are two questions: ask them one after the other");
	return !s->verify;
}

static bool sensible(struct slope_settings *s)
{
	bool time = false;

	s->input_given = s->input != INPUT_NOT_GIVEN;
	if (!s->input_given)
		s->input = 0;
	if (!slope_sampled_sensible(s))
		return false;
	if (s->duration && !(s->duration_ns = slope_duration_of(s->duration))) {
		slope_say("--duration=%s: give a time, as in 10s, 500ms or 2m", s->duration);
		return false;
	}
	if (s->verify && s->source != SLOPE_SOURCE_ANY) {
		slope_say("--verify runs the program under both exact sources; leave --source out");
		return false;
	}
	if (s->perturbation && !sensible_rounds(s))
		return false;
	if (s->json && !s->verify && !s->perturbation) {
		slope_say("--json goes with --verify and --perturbation; of a profile, 'slope report --json' has it");
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
	if (s->source == SLOPE_SOURCE_SAMPLER)
		return true;
	return known_units(s->cost, &time) && (!time || sensible_time(s)) && sensible_contexts(s) && sensible_paths(s);
}

static int exit_status(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

struct totals {
	uint64_t functions, points, samples;
	uint64_t paths, path_functions;
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

/* We know best how the main process ended: a source does not see what kills it. True: the profile says something else now. */
static bool note_end(struct slope_profile *profile, int status)
{
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1, number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	const char *ended = number ? "signal" : "exit";
	bool same = profile->exit_code == code && profile->exit_signal == number && profile->ended && !strcmp(profile->ended, ended);

	profile->exit_code = code;
	profile->exit_signal = number;
	free(profile->ended);
	profile->ended = slope_text("%s", ended);
	return !same;
}

/* `status` is the main process's; NULL for other processes. */
static bool finish_profile(const struct slope_settings *s, const char *path, bool partial, const int *status, struct totals *totals,
			   struct slope_elfshelf *shelf)
{
	char error[512];
	struct slope_profile *profile = slope_profile_load(path, error, sizeof error);

	if (!profile) {
		slope_say("%s", error);
		return false;
	}
	bool changed = status && note_end(profile, *status);

	if (!partial)
		slope_datafile_say_problems(profile, path);
	if (!s->no_symbols && !partial)
		slope_datafile_symbolize(profile, shelf);
	if (!partial && (!s->no_symbols || changed))
		save_named(profile, path);
	totals->functions += slope_datafile_functions(profile);
	totals->points += slope_datafile_points(profile);
	totals->samples += slope_datafile_samples(profile);
	totals->paths += slope_datafile_paths(profile, &totals->path_functions);
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
static const char *why_empty(const struct slope_settings *s)
{
	if (s->toggle.count)
		return "no function that fits --toggle was called (one that was inlined has no name of its own)";
	if (s->only.count)
		return "no function or module that ran fits --only";
	if (s->delayed)
		return "nothing was measured; 'slope ctl start' begins, while the program runs";
	if (s->source == SLOPE_SOURCE_SAMPLER)
		return s->event ? "there was less of what was measured than a sample stands for; use a longer run, or a smaller period"
				: "it took less time than there is between two samples; use a longer run";
	return s->skip.count ? "everything that ran fits --skip" : "the program ran none, or had stopped the collecting";
}

/* What there is, and the verb that shows it. */
static char *contents(const struct totals *totals, const char **verb)
{
	unsigned long long paths = totals->paths;

	*verb = totals->functions ? "report" : "paths";
	if (!totals->functions)
		return slope_text("%llu paths through %llu functions", paths, (unsigned long long)totals->path_functions);
	if (totals->samples)
		return slope_text("%llu functions, %llu samples", (unsigned long long)totals->functions,
				  (unsigned long long)totals->samples);
	return slope_text(paths ? "%llu functions, %llu points, %llu paths" : "%llu functions, %llu points",
			  (unsigned long long)totals->functions, (unsigned long long)totals->points, paths);
}

static void say_closing(const struct slope_runfiles *files, const struct totals *totals, bool report_follows)
{
	const char *path = shown(files->found.text[0]), *verb;
	bool by_default = !strcmp(path, SLOPE_DEFAULT_FILE);
	size_t others = files->found.count - 1;
	char *what = contents(totals, &verb);
	char *more = others ? slope_text(" and %zu more of its processes (%s%s; 'slope merge' adds them up)", others,
					 shown(files->found.text[1]), others > 1 ? ", ..." : "") : slope_text("%s", "");
	char *next = report_follows ? slope_text("%s", "") : slope_text("; see it with 'slope %s%s%s'", verb,
									 by_default ? "" : " ", by_default ? "" : path);

	slope_say("%s in %s%s%s", what, path, more, next);
	free(what);
	free(more);
	free(next);
}

/* The main process left no profile. What its end tells about the reason. */
static int say_nothing_left(const struct slope_runfiles *files, const char *program, int status, bool sampled)
{
	const char *kept = files->old_inode ? "; the earlier profile is untouched" : "";

	if (WIFSIGNALED(status)) {
		slope_say("%s was killed by signal %d (%s) before its profile could be written%s", program,
			  WTERMSIG(status), strsignal(WTERMSIG(status)), kept);
		return exit_status(status);
	}
	if (sampled && files->found.count)
		slope_say("%s has become another program by exec that cannot be sampled, and ended with status %d; "
			  "what was sampled before is in %s%s", program, WEXITSTATUS(status), shown(files->found.text[0]), kept);
	else
		slope_say("%s ended with status %d but its profile could not be written; "
			  "look for the reason above, or ask 'slope doctor'%s", program, WEXITSTATUS(status), kept);
	return SLOPE_EXIT_FAILED;
}

/* Names for all profiles, the closing line, and the exit status. `*profile` becomes the main process's file. */
static int finish(const struct slope_settings *s, struct slope_recording *r, const char *program, char **profile)
{
	struct slope_runfiles *files = &r->files;
	bool have_main = slope_runfiles_collect(files, r->pid);
	int status = r->status;
	struct totals totals = { 0 };
	struct slope_elfshelf shelf = { 0 };
	bool good = true;

	slope_toollog_repeat(&r->log, have_main || WIFSIGNALED(status) ? 0 : r->pid);
	for (size_t i = 0; i < files->found.count; i++)
		good &= finish_profile(s, files->found.text[i], files->partial && i == 0,
				       have_main && i == 0 ? &status : NULL, &totals, &shelf);
	slope_elfshelf_fini(&shelf);
	if (!have_main)
		return say_nothing_left(files, program, status, s->source == SLOPE_SOURCE_SAMPLER);
	if (files->partial)
		slope_say("the profile could not be written to its end (a full disk?); the part that is whole is kept in %s",
			  shown(files->found.text[0]));
	if (!good)
		return SLOPE_EXIT_FAILED;
	if (!s->quiet && !totals.functions && !totals.paths)
		slope_say("no function is in %s: %s", shown(files->found.text[0]), why_empty(s));
	else if (!s->quiet)
		say_closing(files, &totals, profile != NULL);
	if (profile)
		*profile = slope_text("%s", files->found.text[0]);
	return exit_status(status);
}

/* Paths come from the translator alone: there is nobody to take over. */
static bool ready(const struct slope_settings *s, struct slope_launcher *launcher, const char *file)
{
	bool sampled = s->source == SLOPE_SOURCE_SAMPLER;

	if (sampled || (!s->paths && !s->event))
		return slope_observer_choose(launcher, s->source, file, s->cell) && slope_launcher_check(launcher) &&
		       (!sampled || !s->event || slope_metering_choose(launcher, s->event));
	char *obstacle = slope_observer_obstacle(launcher, file, s->cell);

	if (obstacle)
		slope_say("%s needs the translator: %s", s->paths ? "--paths" : "--event", obstacle);
	launcher->translated = !obstacle;
	free(obstacle);
	return launcher->translated && (!s->event || slope_events_check(launcher, s->event));
}

static int record(const struct slope_settings *s, char **program, char **profile)
{
	struct slope_launcher launcher;
	struct slope_recording r = { 0 };
	char *file = NULL;
	int result = slope_program_check(program[0], &file);

	slope_launcher_find(&launcher);
	if (result == 0) {
		result = SLOPE_EXIT_FAILED;
		if (!ready(s, &launcher, file))
			result = SLOPE_EXIT_FAILED;
		else if (s->perturbation)
			result = slope_perturbation(s, &launcher, program, file);
		else if (slope_recording_run(&r, s, &launcher, s->output, program, file))
			result = finish(s, &r, program[0], profile);
	}
	slope_recording_fini(&r);
	slope_launcher_fini(&launcher);
	free(file);
	return result;
}

static int run(const char *command, int argc, char **argv, char **profile)
{
	struct slope_settings s = defaults;
	enum slope_parsed parsed = parse(&s, command, &argc, argv);
	int result = SLOPE_EXIT_FAILED;

	if (parsed == SLOPE_PARSED_HELP)
		result = 0;
	else if (parsed == SLOPE_PARSED && s.attach)
		result = slope_sampled_attachable(&s, argc > 1) && sensible(&s) ? slope_attach(&s) : SLOPE_EXIT_FAILED;
	else if (parsed == SLOPE_PARSED && argc < 2)
		slope_say("which program? Type '%s [options] PROGRAM [ARGS]'", command);
	else if (parsed == SLOPE_PARSED && sensible(&s))
		result = s.verify ? slope_verify(&s, argv + 1) : record(&s, argv + 1, profile);
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
