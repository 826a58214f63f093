/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What `doctor` has to say about the sampler. */
#ifndef SLOPE_CLI_SAMPLERCHECK_H
#define SLOPE_CLI_SAMPLERCHECK_H

#include "cli/launch.h"
#include "cli/machine.h"

/*
 * Is it there, does the C library have what it needs, does a tiny program run
 * with it, and how often does the kernel really look at timers of processor
 * time? The last takes a tenth of a second of it.
 */
void slope_sampler_check(struct slope_checkup *c, const struct slope_launcher *launcher);

/*
 * How far apart two signals, in the median, of a timer of processor time are that is to go off
 * 1000 times a second, in nanoseconds; 0: there is no such timer. Blocks SIGRTMIN meanwhile.
 */
uint64_t slope_sampler_tick_ns(void);

#endif
