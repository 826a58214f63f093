/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "cli/perturbation.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/datafile.h"
#include "cli/messages.h"
#include "cli/scratch.h"
#include "cli/tallies.h"
#include "cli/view.h"
#include "report/disturbance.h"

enum kind { NATIVE, RECORDED, ALONG_PATHS, KINDS };

struct perturbation {
	const struct slope_settings *settings;
	struct slope_launcher *launcher;
	char **program, *file;
	char folder[512];            /* for the profiles; "" while there is none */
	int nowhere;                 /* where the program's output goes */
	off_t input_start;           /* of its input, where that is a file; -1 */
	struct slope_tallies tallies;
	double *value[KINDS];        /* by metric and round */
	int status[KINDS];           /* as from waitpid, of the last run */
	uint64_t path_period;
	double executions, unmeasured;   /* of paths */
};

static double *value(struct perturbation *p, enum kind kind, size_t metric, uint64_t round)
{
	return &p->value[kind][metric * p->settings->rounds + round];
}

/* ---- runs ---- */

/* What is read once is gone in the second run. */
static bool usable_input(struct perturbation *p)
{
	struct stat st;

	p->input_start = -1;
	if (fstat(STDIN_FILENO, &st) != 0 || S_ISCHR(st.st_mode) || S_ISDIR(st.st_mode))
		return true;
	if (S_ISREG(st.st_mode)) {
		p->input_start = lseek(STDIN_FILENO, 0, SEEK_CUR);
		return true;
	}
	slope_say("--perturbation runs the program several times, and its standard input is a pipe, which can be read only once; "
		  "keep it in a file and give that (< FILE)");
	return false;
}

static void wind_back(const struct perturbation *p)
{
	if (p->input_start >= 0)
		lseek(STDIN_FILENO, p->input_start, SEEK_SET);
}

static void note(struct perturbation *p, enum kind kind, uint64_t round, int status)
{
	p->status[kind] = status;
	for (size_t i = 0; i < p->tallies.count; i++)
		*value(p, kind, i, round) = p->tallies.tally[i].value;
}

static bool run_natively(struct perturbation *p, uint64_t round)
{
	static const struct slope_list nothing;
	pid_t pid;
	int status;

	p->launcher->native = true;
	wind_back(p);
	slope_tallies_begin(&p->tallies);
	bool ran = slope_launcher_run(p->launcher, &nothing, p->program, &pid, &status);

	slope_tallies_end(&p->tallies);
	p->launcher->native = false;
	if (ran)
		note(p, NATIVE, round, status);
	return ran;
}

/* What was measured along paths, made up for the activations that were not. */
static void add_paths(struct perturbation *p, const struct slope_profile *profile, uint64_t round)
{
	for (size_t i = 0; i < profile->path_count; i++) {
		const struct slope_profile_path *path = &profile->path[i];

		p->executions += (double)path->count;
		if (!path->samples)
			p->unmeasured += (double)path->count;
	}
	p->path_period = profile->path_period;
	for (uint32_t m = 0; m < profile->path_metrics; m++)
		for (size_t t = 0; t < p->tallies.count; t++) {
			double *sum = value(p, ALONG_PATHS, t, round);

			if (strcmp(p->tallies.tally[t].name, profile->path_metric_name[m]))
				continue;
			*sum = isnan(*sum) ? 0 : *sum;
			for (size_t i = 0; i < profile->path_count; i++)
				if (profile->path[i].samples)
					*sum += (double)profile->path[i].metric[m].sum * (double)profile->path[i].count /
						(double)profile->path[i].samples;
		}
}

static bool take_profiles(struct perturbation *p, const struct slope_list *found, uint64_t round)
{
	char error[512];

	for (size_t i = 0; i < found->count; i++) {
		struct slope_profile *profile = slope_profile_load(found->text[i], error, sizeof error);

		if (!profile) {
			slope_say("%s", error);
			return false;
		}
		add_paths(p, profile, round);
		slope_profile_free(profile);
	}
	return true;
}

static bool run_recorded(struct perturbation *p, uint64_t round)
{
	const struct slope_settings *s = p->settings;
	struct slope_recording r = { 0 };
	bool keep = round + 1 == s->rounds && strcmp(s->output, SLOPE_DEFAULT_FILE), good;
	char *data = keep ? slope_text("%s", s->output) : slope_text("%s/data.%llu", p->folder, (unsigned long long)round);

	wind_back(p);
	slope_tallies_begin(&p->tallies);
	good = slope_recording_run(&r, s, p->launcher, data, p->program, p->file);
	slope_tallies_end(&p->tallies);
	if (good) {
		bool have = slope_runfiles_collect(&r.files, r.pid);

		note(p, RECORDED, round, r.status);
		slope_toollog_repeat(&r.log, have || WIFSIGNALED(r.status) ? 0 : r.pid);
		good = have && !r.files.partial && take_profiles(p, &r.files.found, round);
		if (!have && !p->launcher->signal)
			slope_say("%s left no profile; 'slope record' without --perturbation tells more", p->program[0]);
	}
	slope_recording_fini(&r);
	free(data);
	return good;
}

/* In every other round the recorded run comes first: what happens to the machine meanwhile happens to both. */
static bool run_all(struct perturbation *p)
{
	bool good = true;

	for (uint64_t round = 0; good && round < p->settings->rounds; round++) {
		char *words = slope_text("round %llu of %llu", (unsigned long long)round + 1, (unsigned long long)p->settings->rounds);

		slope_progress(words);
		free(words);
		good = round & 1 ? run_recorded(p, round) && run_natively(p, round) : run_natively(p, round) && run_recorded(p, round);
		if (p->launcher->signal) {
			slope_say("interrupted by signal %d (%s); nothing is compared", p->launcher->signal,
				  strsignal(p->launcher->signal));
			good = false;
		}
		slope_progress("");
	}
	return good;
}

/* ---- the table ---- */

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sorts them. NaN where one is. */
static double median(double *values, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		if (isnan(values[i]))
			return NAN;
	qsort(values, count, sizeof *values, by_size);
	return count & 1 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static bool summarize(struct perturbation *p, size_t metric, struct slope_disturbance_row *row)
{
	const struct slope_tally *tally = &p->tallies.tally[metric];
	uint64_t rounds = p->settings->rounds;
	double *each = calloc(rounds, sizeof *each);

	if (!each)
		return false;
	for (uint64_t i = 0; i < rounds; i++)
		each[i] = *value(p, RECORDED, metric, i) / *value(p, NATIVE, metric, i);
	*row = (struct slope_disturbance_row){ .name = tally->name, .nanoseconds = tally->nanoseconds, .running = tally->running };
	row->ratio = median(each, rounds);
	row->least = isnan(row->ratio) ? NAN : each[0];
	row->most = isnan(row->ratio) ? NAN : each[rounds - 1];
	row->native = median(value(p, NATIVE, metric, 0), rounds);
	row->recorded = median(value(p, RECORDED, metric, 0), rounds);
	row->paths = median(value(p, ALONG_PATHS, metric, 0), rounds);
	row->paths_ratio = row->paths / row->native;
	free(each);
	return true;
}

static int shell_status(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int print(struct perturbation *p)
{
	const struct slope_settings *s = p->settings;
	struct slope_disturbance_row *row = calloc(p->tallies.count, sizeof *row);
	struct slope_disturbance d = {
		.program = p->program, .source = p->launcher->translated ? "translator" : "valgrind", .rounds = s->rounds, .row = row,
		.count = p->tallies.count, .path_period = s->event ? p->path_period : 0,
		.unmeasured = p->executions > 0 && s->event ? p->unmeasured / p->executions : NAN,
		.color = slope_color_wanted(SLOPE_COLOR_AUTO, stdout), .width = slope_view_width(),
	};
	bool whole = row;

	for (size_t i = 0; whole && i < p->tallies.count; i++)
		whole = summarize(p, i, &row[i]);
	whole = whole && (s->json ? slope_disturbance_json : slope_disturbance_text)(&d, stdout);
	free(row);
	if (!whole)
		slope_say("memory ran out");
	else if (p->status[NATIVE] != p->status[RECORDED])
		slope_say("%s ended with status %d natively and %d when it was recorded", p->program[0],
			  shell_status(p->status[NATIVE]), shell_status(p->status[RECORDED]));
	return whole && slope_flush_output() ? 0 : SLOPE_EXIT_FAILED;
}

static bool prepare(struct perturbation *p)
{
	size_t cells;

	p->nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	p->launcher->stdio[1] = p->launcher->stdio[2] = p->nowhere;
	slope_tallies_choose(&p->tallies, p->launcher, p->settings->event);
	cells = p->tallies.count * p->settings->rounds;
	for (int kind = 0; kind < KINDS; kind++) {
		p->value[kind] = calloc(cells, sizeof *p->value[kind]);
		if (!p->value[kind]) {
			slope_say("memory ran out");
			return false;
		}
		for (size_t i = 0; i < cells; i++)
			p->value[kind][i] = NAN;
	}
	return slope_scratch_make(p->folder, sizeof p->folder, "slope-perturbation");
}

int slope_perturbation(const struct slope_settings *s, struct slope_launcher *launcher, char **program, char *file)
{
	struct perturbation p = { .settings = s, .launcher = launcher, .program = program, .file = file, .nowhere = -1 };
	int result = SLOPE_EXIT_FAILED;

	if (usable_input(&p) && prepare(&p) && run_all(&p))
		result = print(&p);
	if (launcher->signal)
		result = 128 + launcher->signal;
	slope_scratch_remove(p.folder);
	slope_tallies_fini(&p.tallies);
	for (int kind = 0; kind < KINDS; kind++)
		free(p.value[kind]);
	if (p.nowhere >= 0)
		close(p.nowhere);
	return result;
}
