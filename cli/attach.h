/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * record --attach: a program that runs is sampled from outside. The kernel
 * looks at its threads (perf_event_open), and gives us their registers and the
 * top of their stacks; which calls those are is found out here. Nothing is
 * loaded into the program, and nothing in it changes.
 *
 *   attach.c          what is asked for, the loop, the end
 *   perfring.c        the kernel's side: counters, and the samples that they leave
 *   remotewalk.c      from registers and a piece of stack to addresses
 *   remotepaths.c     from addresses to a profile
 */
#ifndef SLOPE_CLI_ATTACH_H
#define SLOPE_CLI_ATTACH_H

#include "cli/recording.h"

/* Samples per second of each thread, if nothing is said: each has to be walked outside, with all of its stack. */
#define SLOPE_ATTACH_RATE 200u
#define SLOPE_ATTACH_RATE_MAX 2000u

/* Samples the process until the time is over, it ends, or a signal comes; writes the profile. The exit status. */
int slope_attach(const struct slope_settings *s);

#endif
