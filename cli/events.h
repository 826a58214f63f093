/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Events that can be counted along paths (record --event=LIST). The translator
 * counts them, so it is the translator that is asked what there is.
 */
#ifndef SLOPE_CLI_EVENTS_H
#define SLOPE_CLI_EVENTS_H

#include <stdint.h>

#include "cli/launch.h"

/* How an event is read here. */
enum slope_event_how {
	SLOPE_EVENT_RDPMC,           /* without the kernel */
	SLOPE_EVENT_READ,            /* by a system call */
	SLOPE_EVENT_FREE,            /* by one that nobody may refuse, or none at all */
	SLOPE_EVENT_NOT,
};

struct slope_event {
	char *name;
	char *kind;                  /* hardware, cache, raw, software, time, simulated */
	char *reason;                /* SLOPE_EVENT_NOT: why, in words; else NULL */
	enum slope_event_how how;
	uint32_t type;               /* as perf_event_open takes them, unless it is SLOPE_EVENT_FREE */
	uint64_t config;
};

/* Starts as zeros. */
struct slope_events {
	struct slope_event *event;
	size_t count;
	char *obstacle;              /* why nothing could be asked; NULL: it could */
};

/* Those of the list, or, with "", all that have a name. */
void slope_events_ask(struct slope_events *events, const struct slope_launcher *launcher, const char *list);
void slope_events_fini(struct slope_events *events);

/* The word for it, as JSON has it. */
const char *slope_event_how_word(enum slope_event_how how);

/* Can all of these be counted? If not, one line says which, why, and what to take instead. */
bool slope_events_check(const struct slope_launcher *launcher, const char *list);

#endif
