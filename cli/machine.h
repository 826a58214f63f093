/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What `doctor` looks at: each check finds out one thing about this machine
 * and says what to do where it falls short.
 */
#ifndef SLOPE_CLI_MACHINE_H
#define SLOPE_CLI_MACHINE_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/events.h"

enum slope_health {
	SLOPE_HEALTH_GOOD,
	SLOPE_HEALTH_LESS,           /* works, with something to gain */
	SLOPE_HEALTH_BAD,            /* slope record does not work like this */
};

struct slope_checkup {
	const char *name;
	enum slope_health health;
	char *found;                 /* what is there; owned */
	char *advice;                /* what to do; NULL: nothing; owned */
};

#define SLOPE_CHECKUPS_MAX 16

/*
 * Runs every check, the last one a real run of a tiny program. How many were filled in. `events`, which starts as zeros,
 * becomes what can be counted here, and is to be given to slope_events_fini.
 */
size_t slope_machine_check(struct slope_checkup checkup[SLOPE_CHECKUPS_MAX], struct slope_events *events);

/* The word for it: "ok", "note", "missing". */
const char *slope_health_word(enum slope_health health);

/* Does the first processor in /proc/cpuinfo have this flag? */
bool slope_machine_processor_has(const char *flag);

void slope_checkups_free(struct slope_checkup *checkup, size_t count);

#endif
