/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Times as people type them: 0.2ms, 10s, 2m, 1h. */
#ifndef SLOPE_CLI_DURATION_H
#define SLOPE_CLI_DURATION_H

#include <stdint.h>

/*
 * The nanoseconds that `*text` begins with, a number and a unit; it then points
 * behind them. 0: it is no time, or none that can be counted.
 */
uint64_t slope_duration_read(const char **text);

/* The whole text is one, or a plain number of seconds; 0: it is not. */
uint64_t slope_duration_of(const char *text);

#endif
