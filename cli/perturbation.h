/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * slope record --perturbation: the program natively and recorded, in turn, for
 * some rounds; how much each metric moved. Both see the same input and
 * environment, and nothing that they print is shown.
 *
 * Whole processes are counted, with all that they start: time, processor time,
 * page faults and context switches, and events of perf_event_open where this
 * machine has them, which the processes inherit. What the profile's paths add
 * up to is held against the native number as well.
 */
#ifndef SLOPE_CLI_PERTURBATION_H
#define SLOPE_CLI_PERTURBATION_H

#include "cli/recording.h"

#define SLOPE_PERTURBATION_ROUNDS 5u
#define SLOPE_PERTURBATION_ROUNDS_MAX 1000u

/* Prints what was found, under the launcher's source. 0, or as record, with a line said. */
int slope_perturbation(const struct slope_settings *s, struct slope_launcher *launcher, char **program, char *file);

#endif
