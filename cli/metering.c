/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "cli/metering.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "analysis/words.h"
#include "cli/events.h"
#include "cli/messages.h"
#include "cli/options.h"

#define NAME_MAX_LENGTH 32u      /* as profiles have them */
#define PERIOD_MAX (UINT64_C(1) << 50)
#define HARDWARE_LEAST 1000u
#define HARDWARE_OFTEN 1000000u  /* cycles, instructions: some thousand a second */
#define HARDWARE_SELDOM 10000u   /* misses, and what else has to do with caches */
#define BYTES_DEFAULT 65536u
#define SOFTWARE(event) PERF_COUNT_SW_##event

/* What has a period of its own: the kernel's software events, and what calls of the C library tell. */
struct known {
	const char *name;
	uint64_t period, least;
	uint64_t config;             /* of a software event */
	bool calls;                  /* it is no event: functions are watched */
	bool in_kernel;              /* it happens there alone */
	const char *why;             /* it must not be more often */
};

#define TOO_OFTEN_CLOCK "a thread cannot be sampled more often than 20000 times a second"
#define TOO_OFTEN_SWITCH "the signal of each would wake the thread that has just begun to wait, again and again"

static const struct known known[] = {
	{ "task-clock", 1000000, 50000, SOFTWARE(TASK_CLOCK), false, false, TOO_OFTEN_CLOCK },
	{ "cpu-clock", 1000000, 50000, SOFTWARE(TASK_CLOCK), false, false, TOO_OFTEN_CLOCK },
	{ "page-faults", 10, 1, SOFTWARE(PAGE_FAULTS), false, false, NULL },
	{ "faults", 10, 1, SOFTWARE(PAGE_FAULTS), false, false, NULL },
	{ "minor-faults", 10, 1, SOFTWARE(PAGE_FAULTS_MIN), false, false, NULL },
	{ "major-faults", 1, 1, SOFTWARE(PAGE_FAULTS_MAJ), false, false, NULL },
	{ "context-switches", 10, 2, SOFTWARE(CONTEXT_SWITCHES), false, true, TOO_OFTEN_SWITCH },
	{ "cs", 10, 2, SOFTWARE(CONTEXT_SWITCHES), false, true, TOO_OFTEN_SWITCH },
	{ "cpu-migrations", 2, 2, SOFTWARE(CPU_MIGRATIONS), false, true, TOO_OFTEN_SWITCH },
	{ "migrations", 2, 2, SOFTWARE(CPU_MIGRATIONS), false, true, TOO_OFTEN_SWITCH },
	{ "alignment-faults", 1, 1, SOFTWARE(ALIGNMENT_FAULTS), false, false, NULL },
	{ "emulation-faults", 1, 1, SOFTWARE(EMULATION_FAULTS), false, false, NULL },
	{ "alloc-bytes", BYTES_DEFAULT, 1, 0, true, false, NULL },
	{ "live-bytes", BYTES_DEFAULT, 1, 0, true, false, NULL },
	{ "read-bytes", BYTES_DEFAULT, 1, 0, true, false, NULL },
	{ "write-bytes", BYTES_DEFAULT, 1, 0, true, false, NULL },
	{ "lock-wait", 1000, 1, 0, true, false, NULL },
};

#define KNOWN (sizeof known / sizeof *known)

struct wanted {
	char name[NAME_MAX_LENGTH + 1];
	uint64_t period;             /* 0: not given */
	const struct known *known;   /* NULL: it is none */
	uint32_t type;               /* of an event */
	uint64_t config;
	bool own;                    /* without the kernel's part */
};

struct choice {
	struct slope_launcher *launcher;
	const char *list;            /* as it was typed */
	struct wanted wanted[SLOPE_METERING_MAX];
	size_t count;
};

/* ---- the list ---- */

/* NAME:PERIOD of `length` bytes; ":u" belongs to the name. False, with a line said, when the period is none. */
static bool read_one(const struct choice *c, struct wanted *w, const char *text, size_t length)
{
	char word[128];

	if (length >= sizeof word) {
		slope_say("--event=%s: there is no event '%.*s'", c->list, (int)length, text);
		return false;
	}
	memcpy(word, text, length);
	word[length] = '\0';
	char *colon = strrchr(word, ':');

	*w = (struct wanted){ .period = 0 };
	if (colon && strcmp(colon, ":u")) {
		*colon = '\0';
		if (!slope_options_number(colon + 1, &w->period) || !w->period || w->period > PERIOD_MAX) {
			slope_say("--event=%s: '%s' is no period; give a number from 1 on: a sample comes after so many %s", c->list,
				  colon + 1, word);
			return false;
		}
	}
	if (strlen(word) > NAME_MAX_LENGTH) {
		slope_say("--event=%s: there is no event '%s'", c->list, word);
		return false;
	}
	strcpy(w->name, word);
	return true;
}

static bool read_list(struct choice *c)
{
	for (const char *at = c->list;; at++) {
		size_t length = strcspn(at, ",");

		if (c->count == SLOPE_METERING_MAX) {
			slope_say("--event=%s: the sampler measures at most %u at once", c->list, SLOPE_METERING_MAX);
			return false;
		}
		struct wanted *w = &c->wanted[c->count];

		if (!read_one(c, w, at, length))
			return false;
		for (size_t i = 0; i < c->count; i++)
			if (!strcmp(c->wanted[i].name, w->name)) {
				slope_say("--event=%s: '%s' is there twice", c->list, w->name);
				return false;
			}
		c->count++;
		at += length;
		if (!*at)
			return true;
	}
}

bool slope_metering_has(const char *list, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = list;; at++) {
		if (!strncmp(at, name, length) && strchr(",:", at[length]))
			return true;
		at += strcspn(at, ",");
		if (!*at)
			return false;
	}
}

/* ---- what each of them is ---- */

static const struct known *find_known(const char *name)
{
	size_t length = strlen(name);

	length -= length > 2 && !strcmp(name + length - 2, ":u") ? 2 : 0;
	for (size_t i = 0; i < KNOWN; i++)
		if (strlen(known[i].name) == length && !strncmp(known[i].name, name, length) &&
		    !(name[length] && (known[i].calls || known[i].in_kernel)))
			return &known[i];
	return NULL;
}

/* Misses, and all accesses of a cache, are rarer than cycles. */
static uint64_t hardware_period(const char *name, const char *kind)
{
	return strstr(name, "-misses") || !strcmp(kind, "cache") ? HARDWARE_SELDOM : HARDWARE_OFTEN;
}

static bool sensible_period(const struct choice *c, struct wanted *w, uint64_t by_itself, uint64_t least, const char *why)
{
	if (!w->period)
		w->period = by_itself;
	if (w->period >= least)
		return true;
	slope_say("--event=%s: the period of %s must be %llu or more%s%s", c->list, w->name, (unsigned long long)least, why ? ": " : "",
		  why ? why : "");
	return false;
}

/* Can it be sampled? 0, or what the kernel says. */
static int try_out(const struct wanted *w)
{
	struct perf_event_attr attr = { .size = sizeof attr, .type = w->type, .config = w->config, .sample_period = w->period,
					.disabled = 1, .exclude_kernel = w->own, .exclude_hv = 1, .wakeup_events = 1 };
	long fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return errno;
	close((int)fd);
	return 0;
}

static bool say_refused(const struct choice *c, const struct wanted *w, int error)
{
	if (error == EACCES || error == EPERM)
		slope_say("--event=%s: '%s' cannot be sampled: the kernel allows it to nobody without CAP_PERFMON "
			  "(kernel.perf_event_paranoid, or a filter of system calls as containers have)", c->list, w->name);
	else
		slope_say("--event=%s: '%s' cannot be sampled: %s", c->list, w->name, error == EOPNOTSUPP || error == ENOENT ?
			  "this machine does not count it" : strerror(error));
	return false;
}

/* As the user may: the kernel's part is left out where it is not to be had. */
static bool settle_event(const struct choice *c, struct wanted *w, bool in_kernel)
{
	int error = try_out(w);

	if (error == EACCES && !w->own && !in_kernel) {
		w->own = true;
		error = try_out(w);
	}
	return !error || say_refused(c, w, error);
}

static bool settle_software(const struct choice *c, struct wanted *w)
{
	w->type = PERF_TYPE_SOFTWARE;
	w->config = w->known->config;
	w->own = strlen(w->name) > 2 && !strcmp(w->name + strlen(w->name) - 2, ":u");
	return settle_event(c, w, w->known->in_kernel);
}

/* Is it nearly the name of something that the translator does not know? Says so. */
static bool say_meant(const struct choice *c, const struct wanted *w)
{
	for (size_t i = 0; i < KNOWN; i++) {
		bool part = strlen(w->name) > 2 && strstr(known[i].name, w->name);

		if (known[i].calls && (part || slope_word_near(w->name, slope_word_distance(w->name, known[i].name)))) {
			slope_say("--event=%s: there is no event '%s'; did you mean %s?", c->list, w->name, known[i].name);
			return true;
		}
	}
	return false;
}

/* Of the processor's events the translator knows the names. */
static bool settle_hardware(const struct choice *c, struct wanted *w)
{
	struct slope_events events = { 0 };
	bool good = false;

	slope_events_ask(&events, c->launcher, w->name);
	if (events.count != 1 || events.event[0].how == SLOPE_EVENT_NOT) {
		if (!say_meant(c, w) && slope_events_check(c->launcher, w->name))
			slope_say("--event=%s: '%s' cannot be sampled: %s", c->list, w->name, events.obstacle ? events.obstacle : "");
	} else if (events.event[0].how == SLOPE_EVENT_FREE) {
		slope_say("--event=%s: '%s' cannot be sampled: it is for --paths alone", c->list, w->name);
	} else {
		w->type = events.event[0].type;
		w->config = events.event[0].config;
		w->own = true;
		good = sensible_period(c, w, hardware_period(w->name, events.event[0].kind), HARDWARE_LEAST,
				       "signals would come faster than they can be taken") && settle_event(c, w, false);
	}
	slope_events_fini(&events);
	return good;
}

static bool settle(const struct choice *c, struct wanted *w)
{
	w->known = find_known(w->name);
	if (!strcmp(w->name, "time")) {
		if (w->period)
			slope_say("--event=%s: time has no period; --rate says how often it is sampled", c->list);
		return !w->period;
	}
	if (!w->known)
		return settle_hardware(c, w);
	return sensible_period(c, w, w->known->period, w->known->least, w->known->why) && (w->known->calls || settle_software(c, w));
}

/* Both are what one sample of an allocation tells. */
static bool share_period(struct choice *c)
{
	struct wanted *one = NULL, *other = NULL;

	for (size_t i = 0; i < c->count; i++) {
		if (!strcmp(c->wanted[i].name, "alloc-bytes"))
			one = &c->wanted[i];
		if (!strcmp(c->wanted[i].name, "live-bytes"))
			other = &c->wanted[i];
	}
	if (!one || !other)
		return true;
	if (one->period && other->period && one->period != other->period) {
		slope_say("--event=%s: alloc-bytes and live-bytes are of the same samples: give one period", c->list);
		return false;
	}
	one->period = other->period = one->period ? one->period : other->period;
	return true;
}

/* One more word for the sampler, as sources/sampler/meters.h has them. */
static void add_word(char **words, const struct wanted *w)
{
	const char *before = *words ? *words : "", *comma = *words ? "," : "";
	char *more;

	if (!strcmp(w->name, "time"))
		more = slope_text("%s%stime", before, comma);
	else if (w->known && w->known->calls)
		more = slope_text("%s%s%s/%llu", before, comma, w->name, (unsigned long long)w->period);
	else
		more = slope_text("%s%sperf/%u/%llu/%llu/%d/%s", before, comma, w->type, (unsigned long long)w->config,
				  (unsigned long long)w->period, w->own, w->name);
	free(*words);
	*words = more;
}

bool slope_metering_choose(struct slope_launcher *launcher, const char *list)
{
	struct choice c = { .launcher = launcher, .list = list };

	if (!read_list(&c) || !share_period(&c))
		return false;
	for (size_t i = 0; i < c.count; i++) {
		if (!settle(&c, &c.wanted[i]))
			return false;
		launcher->calls |= c.wanted[i].known && c.wanted[i].known->calls;
		add_word(&launcher->meters, &c.wanted[i]);
	}
	if (launcher->calls && !launcher->sampler_calls)
		slope_say("--event=%s: slope-sampler-calls.so is missing beside slope-sampler.so; build it with 'make'", list);
	return !launcher->calls || launcher->sampler_calls;
}
