/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the children of this process do between two points, by several metrics
 * at once. Children that are still there at the end are not in it.
 */
#ifndef SLOPE_CLI_TALLIES_H
#define SLOPE_CLI_TALLIES_H

#include "cli/events.h"

enum slope_tally_way {
	SLOPE_TALLY_TIME,            /* that passes */
	SLOPE_TALLY_PROCESSOR,       /* user and system time */
	SLOPE_TALLY_FAULTS,
	SLOPE_TALLY_MINOR_FAULTS,
	SLOPE_TALLY_MAJOR_FAULTS,
	SLOPE_TALLY_SWITCHES,
	SLOPE_TALLY_EVENT,           /* perf_event_open, inherited */
	SLOPE_TALLY_NONE,            /* a simulated event: nobody else counts it */
};

struct slope_tally {
	char *name;
	enum slope_tally_way way;
	bool nanoseconds, in_kernel;
	uint32_t type;
	uint64_t config;
	int fd;                      /* -1: none */
	double value;                /* of the last stretch; NaN: not known */
	double running;              /* the least part of the time for which it was counted: 1, or it was scaled */
};

/* Starts as zeros. */
struct slope_tallies {
	struct slope_tally *tally;
	size_t count;
	uint64_t before[SLOPE_TALLY_EVENT];
};

/* Those that are always there, the usual ones of the processor where this machine has them, and those of `list` (NULL: none). */
void slope_tallies_choose(struct slope_tallies *tallies, const struct slope_launcher *launcher, const char *list);
void slope_tallies_begin(struct slope_tallies *tallies);
void slope_tallies_end(struct slope_tallies *tallies);
void slope_tallies_fini(struct slope_tallies *tallies);

#endif
