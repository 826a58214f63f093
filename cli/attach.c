/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "cli/attach.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "cli/datafile.h"
#include "cli/messages.h"
#include "cli/remotepaths.h"

#define NS_PER_S UINT64_C(1000000000)
#define WAIT_MS 100

struct attachment {
	struct slope_perfring ring;
	struct slope_remotewalk walk;
	struct slope_remotepaths paths;
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static void take(void *ctx, const struct slope_remote_sample *sample)
{
	struct attachment *a = ctx;

	if (a->ring.mapped) {
		a->ring.mapped = false;
		slope_remotewalk_modules(&a->walk, a->ring.pid);
	}
	slope_remotewalk_sample(&a->walk, sample);
	slope_remotepaths_add(&a->paths, &a->walk, sample);
}

/* Until the time is over, the process ends, or somebody wants us to. `*ended`: it was the process. */
static void watch(struct attachment *a, uint64_t duration_ns, bool *ended)
{
	static const int wanted[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	const struct timespec none = { 0 };
	uint64_t until = duration_ns ? now_ns() + duration_ns : UINT64_MAX;
	sigset_t set, before;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
		sigaddset(&set, wanted[i]);
	sigprocmask(SIG_BLOCK, &set, &before);
	for (*ended = false; now_ns() < until && sigtimedwait(&set, NULL, &none) < 0 && !*ended;) {
		uint64_t left = (until - now_ns()) / 1000000;

		*ended = !slope_perfring_wait(&a->ring, left < WAIT_MS ? (int)left + 1 : WAIT_MS);
		slope_perfring_read(&a->ring, take, a);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
}

/* Saves the profile; the exit status. */
static int finish(struct attachment *a, const struct slope_settings *s, struct slope_runfiles *files, bool ended)
{
	struct slope_profile *profile = slope_remotepaths_end(&a->paths, a->ring.lost);
	char error[512];

	if (!profile) {
		slope_say("memory ran out; nothing is written");
		slope_runfiles_cancel(files);
		return SLOPE_EXIT_FAILED;
	}
	profile->ended = slope_text("%s", ended ? "exit" : "running");
	if (!s->no_symbols)
		slope_datafile_symbolize(profile, NULL);
	bool good = slope_profile_save(profile, files->path, error, sizeof error);

	if (!good)
		slope_say("%s", error);
	else if (!s->quiet && !a->paths.samples)
		slope_say("no sample was taken: the process did not run, or only in the kernel, which you may not look into");
	else if (!s->quiet)
		slope_say("%llu functions, %llu samples in %s%s", (unsigned long long)slope_datafile_functions(profile),
			  (unsigned long long)a->paths.samples, s->output, a->ring.kernel ? "" : "; without the time that the kernel took");
	if (good)
		slope_runfiles_collect(files, a->ring.pid);
	else
		slope_runfiles_cancel(files);
	slope_profile_free(profile);
	return good ? 0 : SLOPE_EXIT_FAILED;
}

/* The process that was named; 0, with one line said: none. */
static pid_t read_pid(const char *text)
{
	char *end;
	long pid = strtol(text, &end, 10);

	if (end != text && !*end && pid > 0 && pid == (pid_t)pid && pid != (long)getpid())
		return (pid_t)pid;
	slope_say("--attach=%s: that is no process to look at", text);
	return 0;
}

int slope_attach(const struct slope_settings *s)
{
	struct attachment *a = calloc(1, sizeof *a);
	struct slope_runfiles files;
	pid_t pid = read_pid(s->attach);
	int result = SLOPE_EXIT_FAILED;
	bool ended;

	if (!a || !pid || !slope_runfiles_prepare(&files, s->output)) {
		free(a);
		return result;
	}
	if (!slope_perfring_open(&a->ring, pid, s->rate ? s->rate : SLOPE_ATTACH_RATE)) {
		slope_runfiles_cancel(&files);
	} else if (!slope_remotewalk_modules(&a->walk, pid) || !slope_remotepaths_begin(&a->paths, pid)) {
		slope_say("--attach=%s: its memory map cannot be read: %s", s->attach, strerror(errno));
		slope_runfiles_cancel(&files);
	} else {
		watch(a, s->duration_ns, &ended);
		result = finish(a, s, &files, ended);
	}
	slope_remotepaths_fini(&a->paths);
	slope_remotewalk_fini(&a->walk);
	slope_perfring_close(&a->ring);
	slope_runfiles_fini(&files);
	free(a);
	return result;
}
