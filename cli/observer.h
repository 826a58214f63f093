/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which source observes a program: the one that was asked for, or else the
 * preferred one where it can, and Valgrind where it cannot.
 */
#ifndef SLOPE_CLI_OBSERVER_H
#define SLOPE_CLI_OBSERVER_H

#include <stdint.h>

#include "cli/launch.h"

/* In the order of SLOPE_SOURCE_CHOICES; ANY is what an option that was not given leaves. */
#define SLOPE_SOURCE_CHOICES "valgrind|translator|sampler"
enum slope_source { SLOPE_SOURCE_VALGRIND, SLOPE_SOURCE_TRANSLATOR, SLOPE_SOURCE_SAMPLER, SLOPE_SOURCE_ANY };

/* What `record` takes without --source. */
#define SLOPE_SOURCE_PREFERRED SLOPE_SOURCE_TRANSLATOR

/* What the translator is asked about where no program is meant. */
#define SLOPE_SMALLEST_PROGRAM "/bin/true"

/*
 * What keeps the translator from running this file, in cells of so many bytes:
 * one line without an end, which the caller frees; NULL: nothing. The
 * translator itself is asked, which takes a millisecond or two. `file` NULL
 * asks about the machine alone.
 */
char *slope_observer_obstacle(const struct slope_launcher *launcher, const char *file, uint64_t cell_bytes);

/*
 * Sets `launcher->translated` and `launcher->sampled`. When the translator was asked for and cannot,
 * false, with a line that names Valgrind; when it is only preferred, Valgrind
 * takes over, and a line says so (nothing where this build has no translator).
 * The sampler is only taken when it was asked for.
 */
bool slope_observer_choose(struct slope_launcher *launcher, enum slope_source wanted, const char *file, uint64_t cell_bytes);

#endif
