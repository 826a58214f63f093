/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What `record --source=sampler --event=NAME[:PERIOD],...` is to measure: time,
 * events that the kernel counts (cli/events.h), and what the program asks the C
 * library for: memory, bytes from and to files, locks.
 */
#ifndef SLOPE_CLI_METERING_H
#define SLOPE_CLI_METERING_H

#include "cli/launch.h"

/* Of which so many can be measured in one run: the profile also has a column of samples. */
#define SLOPE_METERING_MAX 3u

/* Is `name` one of the list? Names alone count, whatever their periods are. */
bool slope_metering_has(const char *list, const char *name);

/*
 * Sets the launcher's `meters` to what the sampler reads, and `calls` where the
 * C library's functions are to be watched. Each event is tried out. False, with
 * one line said, when something cannot be measured here, or makes no sense.
 */
bool slope_metering_choose(struct slope_launcher *launcher, const char *list);

#endif
