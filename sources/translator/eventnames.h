/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names of countable events: those that `perf list` has for hardware, caches
 * and software, raw ones (r01c2, in hexadecimal), `time`, and `sim:K`, which tests
 * use. `:u` may stand behind a name: the program's own part alone, without
 * what the kernel does for it, which is all that hardware events count anyway.
 *
 * Freestanding, no state.
 */
#ifndef SLOPE_SOURCES_TRANSLATOR_EVENTNAMES_H
#define SLOPE_SOURCES_TRANSLATOR_EVENTNAMES_H

#include "core/base.h"

#define EVENT_NAME_BYTES 40u

enum event_kind {
	EVENT_HARDWARE,
	EVENT_CACHE,                 /* hardware, too */
	EVENT_RAW,                   /* as the processor's manual numbers them */
	EVENT_SOFTWARE,
	EVENT_TIME,
	EVENT_SIMULATED,
};

/* How its count is had. */
enum event_way {
	EVENT_BY_PERF,               /* perf_event_open; then rdpmc where that is allowed, or read */
	EVENT_BY_USAGE,              /* getrusage of the thread: nobody may refuse that */
	EVENT_BY_CLOCK,              /* the thread's own clock: likewise */
	EVENT_BY_TICKS,              /* the time stamp counter */
	EVENT_BY_STEP,               /* simulated: a step with every read */
};

enum event_usage { EVENT_FAULTS, EVENT_MINOR_FAULTS, EVENT_MAJOR_FAULTS, EVENT_SWITCHES };

struct event {
	char name[EVENT_NAME_BYTES]; /* as it was given */
	enum event_kind kind;
	enum event_way way;
	uint32_t type;               /* EVENT_BY_PERF: with `config` as perf_event_open takes them */
	uint64_t config;             /* EVENT_BY_USAGE: enum event_usage; EVENT_BY_STEP: the step */
	bool in_kernel;              /* the kernel's own doing: it is never the program's own part */
	bool steady;                 /* a run of the same code has the same count each time */
};

/* "hardware", "cache", ... */
const char *eventnames_kind(enum event_kind kind);

/* What this text of `length` bytes names. False: nothing. */
bool eventnames_find(const char *text, size_t length, struct event *e);

/* The nth of all events with a name, other names of the same left out. False: there are fewer. */
bool eventnames_nth(unsigned n, struct event *e);

#endif
