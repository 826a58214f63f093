/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "cli/tallies.h"

#include <linux/perf_event.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cli/messages.h"

#define USUAL "cycles,instructions,cache-misses,branch-misses"

static const struct { const char *name; enum slope_tally_way way; bool nanoseconds, always; } known[] = {
	{ "time", SLOPE_TALLY_TIME, true, true },
	{ "task-clock", SLOPE_TALLY_PROCESSOR, true, true },
	{ "page-faults", SLOPE_TALLY_FAULTS, false, true },
	{ "context-switches", SLOPE_TALLY_SWITCHES, false, true },
	{ "cpu-clock", SLOPE_TALLY_PROCESSOR, true, false },
	{ "faults", SLOPE_TALLY_FAULTS, false, false },
	{ "minor-faults", SLOPE_TALLY_MINOR_FAULTS, false, false },
	{ "major-faults", SLOPE_TALLY_MAJOR_FAULTS, false, false },
	{ "cs", SLOPE_TALLY_SWITCHES, false, false },
};

#define KNOWN (sizeof known / sizeof *known)

/* ---- which ---- */

static struct slope_tally *add(struct slope_tallies *t, const char *name)
{
	struct slope_tally *more = realloc(t->tally, (t->count + 1) * sizeof *more);

	if (!more)
		return NULL;
	t->tally = more;
	more[t->count] = (struct slope_tally){
		.name = slope_text("%s", name), .way = SLOPE_TALLY_NONE, .fd = -1, .value = NAN, .running = 1,
	};
	return &more[t->count++];
}

static bool has(const struct slope_tallies *t, const char *name)
{
	for (size_t i = 0; i < t->count; i++)
		if (!strcmp(t->tally[i].name, name))
			return true;
	return false;
}

static void take_event(struct slope_tallies *t, const struct slope_event *e)
{
	struct slope_tally *tally = has(t, e->name) || e->how == SLOPE_EVENT_NOT ? NULL : add(t, e->name);

	if (!tally)
		return;
	tally->type = e->type;
	tally->config = e->config;
	if (e->how != SLOPE_EVENT_FREE)
		tally->way = SLOPE_TALLY_EVENT;
	/* The kernel's own doing is never part of the program's. */
	tally->in_kernel = e->type == PERF_TYPE_SOFTWARE && e->config == PERF_COUNT_SW_CPU_MIGRATIONS;
	for (size_t i = 0; e->how == SLOPE_EVENT_FREE && i < KNOWN; i++)
		if (!strcmp(known[i].name, e->name)) {
			tally->way = known[i].way;
			tally->nanoseconds = known[i].nanoseconds;
		}
}

static void take_list(struct slope_tallies *t, const struct slope_launcher *launcher, const char *list)
{
	struct slope_events events = { 0 };

	slope_events_ask(&events, launcher, list);
	for (size_t i = 0; i < events.count; i++)
		take_event(t, &events.event[i]);
	slope_events_fini(&events);
}

void slope_tallies_choose(struct slope_tallies *t, const struct slope_launcher *launcher, const char *list)
{
	for (size_t i = 0; i < KNOWN; i++) {
		struct slope_tally *tally = known[i].always ? add(t, known[i].name) : NULL;

		if (tally) {
			tally->way = known[i].way;
			tally->nanoseconds = known[i].nanoseconds;
		}
	}
	if (list)
		take_list(t, launcher, list);
	take_list(t, launcher, USUAL);
}

/* ---- counting ---- */

/* Children inherit it, and it begins with their exec: what happens here before that is not in it. */
static int open_event(const struct slope_tally *tally)
{
	struct perf_event_attr attr = {
		.size = sizeof attr, .type = tally->type, .config = tally->config, .exclude_kernel = !tally->in_kernel,
		.exclude_hv = !tally->in_kernel, .disabled = 1, .inherit = 1, .enable_on_exec = 1,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
	};

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static void close_event(struct slope_tally *tally)
{
	struct { uint64_t value, enabled, running; } now;

	tally->value = NAN;
	if (tally->fd < 0)
		return;
	if (read(tally->fd, &now, sizeof now) == sizeof now && now.running) {
		double part = (double)now.running / (double)now.enabled;

		tally->value = (double)now.value / part;
		tally->running = part < tally->running ? part : tally->running;
	}
	close(tally->fd);
	tally->fd = -1;
}

static uint64_t nanoseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t of_timeval(struct timeval t)
{
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_usec * 1000u;
}

static void look(uint64_t now[SLOPE_TALLY_EVENT])
{
	struct rusage u;

	getrusage(RUSAGE_CHILDREN, &u);
	now[SLOPE_TALLY_TIME] = nanoseconds();
	now[SLOPE_TALLY_PROCESSOR] = of_timeval(u.ru_utime) + of_timeval(u.ru_stime);
	now[SLOPE_TALLY_MINOR_FAULTS] = (uint64_t)u.ru_minflt;
	now[SLOPE_TALLY_MAJOR_FAULTS] = (uint64_t)u.ru_majflt;
	now[SLOPE_TALLY_FAULTS] = (uint64_t)(u.ru_minflt + u.ru_majflt);
	now[SLOPE_TALLY_SWITCHES] = (uint64_t)(u.ru_nvcsw + u.ru_nivcsw);
}

void slope_tallies_begin(struct slope_tallies *t)
{
	for (size_t i = 0; i < t->count; i++)
		if (t->tally[i].way == SLOPE_TALLY_EVENT)
			t->tally[i].fd = open_event(&t->tally[i]);
	look(t->before);
}

void slope_tallies_end(struct slope_tallies *t)
{
	uint64_t now[SLOPE_TALLY_EVENT];

	look(now);
	for (size_t i = 0; i < t->count; i++) {
		struct slope_tally *tally = &t->tally[i];

		if (tally->way == SLOPE_TALLY_EVENT)
			close_event(tally);
		else if (tally->way != SLOPE_TALLY_NONE)
			tally->value = (double)(now[tally->way] - t->before[tally->way]);
	}
}

void slope_tallies_fini(struct slope_tallies *t)
{
	for (size_t i = 0; i < t->count; i++)
		free(t->tally[i].name);
	free(t->tally);
}
