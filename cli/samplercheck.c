/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "cli/samplercheck.h"

#include <gnu/libc-version.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/messages.h"
#include "cli/observer.h"
#include "cli/program.h"
#include "cli/sampled.h"

#define NS_PER_S UINT64_C(1000000000)
#define PERIOD_NS 1000000
#define ENOUGH_NS 100000000u             /* of processor time */
#define GAPS 100u
#define GLIBC_MINOR 35                   /* that has _dl_find_object */

static uint64_t spent_ns(void)
{
	struct timespec now = { 0 };

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

uint64_t slope_sampler_tick_ns(void)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN };
	const struct itimerspec every = { { 0, PERIOD_NS }, { 0, PERIOD_NS } };
	uint64_t gap[GAPS], start = spent_ns(), last = start, now;
	size_t gaps = 0;
	sigset_t ours, before;
	timer_t timer;

	if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) != 0)
		return 0;
	sigemptyset(&ours);
	sigaddset(&ours, SIGRTMIN);
	sigprocmask(SIG_BLOCK, &ours, &before);
	timer_settime(timer, 0, &every, NULL);
	while ((now = spent_ns()) - start < ENOUGH_NS && gaps < GAPS) {
		if (sigtimedwait(&ours, NULL, &(struct timespec){ 0 }) <= 0)
			continue;
		gap[gaps++] = now - last;
		last = now;
	}
	timer_delete(timer);
	while (sigtimedwait(&ours, NULL, &(struct timespec){ 0 }) > 0)
		;
	sigprocmask(SIG_SETMASK, &before, NULL);
	qsort(gap, gaps, sizeof *gap, by_size);
	return gaps ? gap[gaps / 2] : 0;
}

static bool old_library(void)
{
	int major = 0, minor = 0;

	return sscanf(gnu_get_libc_version(), "%d.%d", &major, &minor) != 2 || major < 2 || (major == 2 && minor < GLIBC_MINOR);
}

/* A tiny program with it: what it says when that does not go well, to be given to free(); NULL: it does. */
static char *try_run(void)
{
	char folder[512], line[256], self[] = "/proc/self/exe";
	const char *tmp = getenv("TMPDIR");

	snprintf(folder, sizeof folder, "%s/slope-doctor-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(folder))
		return slope_text("no temporary folder to try it in");
	char *file = slope_text("%s/slope.data", folder);
	char *argv[] = { self, "record", "--source=sampler", "--quiet", "-o", file, (char *)SLOPE_SMALLEST_PROGRAM, NULL };
	int status = slope_program_ask(argv, line, sizeof line);
	bool good = status == 0 && access(file, R_OK) == 0;

	unlink(file);
	rmdir(folder);
	free(file);
	return good ? NULL : slope_text("a run of %s with it fails: %s", SLOPE_SMALLEST_PROGRAM, *line ? line : "no profile");
}

static int paranoid(void)
{
	FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "r");
	int value = 0;

	if (!file)
		return 4;                /* no perf_event at all */
	if (fscanf(file, "%d", &value) != 1)
		value = 4;
	fclose(file);
	return value;
}

static const char *whose_events(int value)
{
	return value >= 3 ? "none but for root" : value == 2 ? "of programs' own code" : "of programs and the kernel";
}

static void judge(struct slope_checkup *c, const struct slope_launcher *launcher)
{
	uint64_t tick = slope_sampler_tick_ns();
	int level = paranoid();

	if (!tick) {
		c->health = SLOPE_HEALTH_LESS;
		c->found = slope_text("no timers of processor time on this kernel");
		c->advice = slope_text("'slope record --source=sampler --clock=wall' does without");
		return;
	}
	c->found = slope_text("%s, glibc %s; up to %llu looks a second at processor time (a tick of %.1f ms), %u at time that passes; "
			      "perf_event_paranoid %d: events %s%s", launcher->sampler, gnu_get_libc_version(),
			      (unsigned long long)((NS_PER_S + tick / 2) / tick), (double)tick / 1e6, SLOPE_RATE_MAX, level,
			      geteuid() == 0 ? "of programs and the kernel, as root" : whose_events(level),
			      slope_machine_processor_has("user_shstk") ?
			      "; shadow stacks: programs that have one are walked in full, without counts of calls" : "");
}

void slope_sampler_check(struct slope_checkup *c, const struct slope_launcher *launcher)
{
	char *obstacle;

	*c = (struct slope_checkup){ .name = "sampler", .health = SLOPE_HEALTH_GOOD };
	if (!launcher->sampler) {
		c->health = SLOPE_HEALTH_LESS;
		c->found = slope_text("slope-sampler.so is missing %s",
				      getenv("SLOPE_LIBEXEC") ? "in SLOPE_LIBEXEC" : "beside the slope command");
		c->advice = slope_text("'slope record --source=sampler' needs it: build it with 'make', for x86-64 and glibc 2.%d or later",
				       GLIBC_MINOR);
	} else if (old_library()) {
		c->health = SLOPE_HEALTH_LESS;
		c->found = slope_text("glibc %s is too old for it", gnu_get_libc_version());
		c->advice = slope_text("'slope record --source=sampler' needs glibc 2.%d or later; other sources do not", GLIBC_MINOR);
	} else if ((obstacle = try_run())) {
		c->health = SLOPE_HEALTH_LESS;
		c->found = obstacle;
		c->advice = slope_text("only 'slope record --source=sampler' needs it");
	} else {
		judge(c, launcher);
	}
}
