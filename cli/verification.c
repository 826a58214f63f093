/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "cli/verification.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/datafile.h"
#include "cli/messages.h"
#include "cli/observer.h"
#include "cli/program.h"
#include "cli/scratch.h"
#include "cli/view.h"
#include "report/verify.h"

#define VALGRIND 0u              /* the runs */
#define TRANSLATOR 1u
#define AGAIN 2u                 /* under the translator */
#define REFUSED 70               /* the translator's status for what it cannot do */

static const char *const source_name[] = { "valgrind", "translator" };

struct verification {
	struct slope_settings settings;
	struct slope_launcher launcher;
	char **program, *file;
	bool keep;                   /* the profiles, under the name that -o gives */
	char folder[512];            /* for what the runs leave; "" while there is none */
	int input;                   /* the program's; -1: none to keep */
	off_t input_start;
	struct slope_profile *run[SLOPE_DISCORD_RUNS];
	char *output[SLOPE_DISCORD_RUNS];
	size_t processes[SLOPE_DISCORD_RUNS];
	int status[SLOPE_DISCORD_RUNS];  /* as from waitpid */
};

static int shell_status(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* ---- the scratch folder ---- */

/* A new file in it, or -1 after a line. */
static int new_file(const struct verification *v, const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);

	if (fd < 0)
		slope_say("cannot write in %s: %s", v->folder, strerror(errno));
	return fd;
}

/* ---- what goes in, and what comes out ---- */

static bool copy_all(int from, int to)
{
	char block[65536];
	ssize_t got;

	while ((got = read(from, block, sizeof block)) > 0)
		if (write(to, block, (size_t)got) != got)
			return false;
	return got == 0;
}

/* Every run must find the same: a file is wound back, what comes only once is kept, a terminal or device stays what it is. */
static bool keep_input(struct verification *v)
{
	struct stat st;

	v->input = -1;
	/* A file of ours would become its input where there is none. */
	if (fstat(STDIN_FILENO, &st) != 0)
		return (v->input = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0;
	if (S_ISCHR(st.st_mode) || S_ISDIR(st.st_mode))
		return true;
	if (S_ISREG(st.st_mode)) {
		v->input = dup(STDIN_FILENO);
		v->input_start = lseek(STDIN_FILENO, 0, SEEK_CUR);
		return true;
	}
	char *path = slope_text("%s/input", v->folder);

	v->input = new_file(v, path);
	free(path);
	if (v->input < 0)
		return false;
	v->input_start = 0;
	if (copy_all(STDIN_FILENO, v->input))
		return true;
	slope_say("cannot keep the program's input in %s: %s", v->folder, strerror(errno));
	return false;
}

static bool same_files(const char *left, const char *right)
{
	FILE *a = fopen(left, "r"), *b = fopen(right, "r");
	bool same = a && b;
	int x = 0, y = 0;

	while (same && x != EOF) {
		x = getc(a);
		y = getc(b);
		same = x == y;
	}
	if (a)
		fclose(a);
	if (b)
		fclose(b);
	return same;
}

/* ---- a run ---- */

/* All processes of the run as one profile. */
static bool load_run(struct verification *v, unsigned run, const struct slope_list *found)
{
	struct slope_profile **each = calloc(found->count + 1, sizeof *each);
	size_t loaded = 0;
	char error[512] = "memory ran out";

	while (each && loaded < found->count && (each[loaded] = slope_profile_load(found->text[loaded], error, sizeof error)))
		loaded++;
	if (loaded == found->count && loaded == 1)
		v->run[run] = each[0];
	else if (each && loaded == found->count)
		v->run[run] = slope_profile_merge(each, loaded, error, sizeof error);
	if (!v->run[run])
		slope_say("%s", error);
	for (size_t i = 0; i < loaded; i++)
		if (each[i] != v->run[run])
			slope_profile_free(each[i]);
	free(each);
	v->processes[run] = loaded;
	return v->run[run] != NULL;
}

static bool collect(struct verification *v, unsigned run, struct slope_recording *r)
{
	bool have_main = slope_runfiles_collect(&r->files, r->pid);

	slope_toollog_repeat(&r->log, have_main || WIFSIGNALED(r->status) ? 0 : r->pid);
	v->status[run] = r->status;
	if (v->launcher.signal) {
		slope_say("interrupted by signal %d (%s); nothing is compared", v->launcher.signal, strsignal(v->launcher.signal));
		return false;
	}
	if (!have_main || r->files.partial) {
		slope_say("%s ended with status %d under %s and left no whole profile; nothing is compared", v->program[0],
			  shell_status(r->status), source_name[run != VALGRIND]);
		return false;
	}
	if (run != VALGRIND && shell_status(r->status) == REFUSED && shell_status(v->status[VALGRIND]) != REFUSED) {
		slope_say("the translator did not run %s to its end; nothing is compared", v->program[0]);
		return false;
	}
	return load_run(v, run, &r->files.found);
}

static bool run_once(struct verification *v, unsigned run)
{
	struct slope_recording r = { 0 };
	bool translated = run != VALGRIND, good = false;
	char *words = slope_text("verifying: %s under %s", v->program[0], source_name[translated]);
	char *errors = slope_text("%s/errors.%u", v->folder, run);
	char *data = v->keep && run != AGAIN ? slope_text("%s.%s", v->settings.output, source_name[translated])
					     : slope_text("%s/data.%u", v->folder, run);

	v->output[run] = slope_text("%s/output.%u", v->folder, run);
	v->launcher.translated = translated;
	v->launcher.stdio[0] = v->input;
	v->launcher.stdio[1] = new_file(v, v->output[run]);
	v->launcher.stdio[2] = new_file(v, errors);
	if (v->input >= 0)
		lseek(v->input, v->input_start, SEEK_SET);
	slope_progress(words);
	if (v->launcher.stdio[1] >= 0 && v->launcher.stdio[2] >= 0)
		good = slope_recording_run(&r, &v->settings, &v->launcher, data, v->program, v->file) && collect(v, run, &r);
	slope_progress("");
	slope_recording_fini(&r);
	close(v->launcher.stdio[1]);
	close(v->launcher.stdio[2]);
	free(words);
	free(errors);
	free(data);
	return good;
}

/* ---- the comparison ---- */

static bool same_run(const struct verification *v, unsigned a, unsigned b)
{
	return v->status[a] == v->status[b] && v->processes[a] == v->processes[b] && same_files(v->output[a], v->output[b]);
}

static int print(const struct verification *v, const struct slope_discord_runs *runs, const struct slope_discord *d)
{
	bool repeated = v->run[AGAIN] != NULL;
	/* What is not the same twice under one source is no difference between two. */
	bool around = same_run(v, VALGRIND, TRANSLATOR) || (repeated && !same_run(v, TRANSLATOR, AGAIN));
	const struct slope_verify_view view = {
		.profile = runs->profile, .discord = d, .source = { source_name[0], source_name[1] }, .program = v->program,
		.status = { shell_status(v->status[0]), shell_status(v->status[1]) },
		.processes = { v->processes[0], v->processes[1] }, .repeated = repeated,
		.same_output = around || same_files(v->output[VALGRIND], v->output[TRANSLATOR]),
		.agree = around && !d->state_count[SLOPE_DISCORD_OPEN],
		.color = slope_color_wanted(SLOPE_COLOR_AUTO, stdout), .width = slope_view_width(),
	};

	if (d->functions == d->count && d->count) {
		slope_say("every function of %s differs from run to run; nothing can be compared", v->program[0]);
		return SLOPE_EXIT_FAILED;
	}
	if (!(v->settings.json ? slope_verify_json : slope_verify_text)(&view, stdout)) {
		slope_say("memory ran out");
		return SLOPE_EXIT_FAILED;
	}
	return !slope_flush_output() ? SLOPE_EXIT_FAILED : view.agree ? 0 : 1;
}

/* True when there is nothing to ask a third run about. */
static bool settled(const struct verification *v, const struct slope_discord *d)
{
	return v->run[AGAIN] || (!d->state_count[SLOPE_DISCORD_OPEN] && same_run(v, VALGRIND, TRANSLATOR));
}

static int compare(struct verification *v)
{
	struct slope_discord_runs runs = { 0 };
	struct slope_discord discord;
	char error[512];
	int result = SLOPE_EXIT_FAILED;

	if (!slope_discord_unite(&runs, v->run, error, sizeof error)) {
		slope_say("the profiles of the two runs do not fit together: %s", error);
		return SLOPE_EXIT_FAILED;
	}
	slope_datafile_symbolize(runs.profile, NULL);
	if (!slope_discord_init(&discord, &runs)) {
		slope_say("memory ran out");
	} else {
		if (settled(v, &discord))
			result = print(v, &runs, &discord);
		else if (run_once(v, AGAIN))
			result = compare(v);
		slope_discord_fini(&discord);
	}
	slope_profile_free(runs.profile);
	return result;
}

/* Both units and both sizes, unless something else than the default was asked for. */
static void ask_for_all(struct slope_settings *s)
{
	if (!strcmp(s->cost, "ir"))
		s->cost = "ir,bb";
	if (s->input == 0)
		s->input = 2;
}

static bool ready(struct verification *v)
{
	char *obstacle = slope_observer_obstacle(&v->launcher, v->file, v->settings.cell);

	if (obstacle)
		slope_say("--verify needs both exact sources, and the translator cannot run this: %s", obstacle);
	free(obstacle);
	return !obstacle && slope_launcher_check(&v->launcher) &&
	       slope_scratch_make(v->folder, sizeof v->folder, "slope-verify") && keep_input(v);
}

int slope_verify(const struct slope_settings *s, char **program)
{
	struct verification v = { .settings = *s, .program = program, .keep = strcmp(s->output, SLOPE_DEFAULT_FILE) != 0, .input = -1 };
	int result = slope_program_check(program[0], &v.file);

	slope_launcher_find(&v.launcher);
	v.launcher.alike = true;
	ask_for_all(&v.settings);
	if (result == 0) {
		result = SLOPE_EXIT_FAILED;
		program[0] = v.file;     /* the sources differ in what they show a program of its name */
		if (ready(&v) && run_once(&v, VALGRIND) && run_once(&v, TRANSLATOR))
			result = compare(&v);
	}
	if (v.launcher.signal)
		result = 128 + v.launcher.signal;
	if (v.input >= 0)
		close(v.input);
	slope_scratch_remove(v.folder);
	for (unsigned run = 0; run < SLOPE_DISCORD_RUNS; run++) {
		slope_profile_free(v.run[run]);
		free(v.output[run]);
	}
	slope_launcher_fini(&v.launcher);
	free(v.file);
	return result;
}
