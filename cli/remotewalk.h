/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The calls that are under way in a thread of another process, from its registers and the top of its stack. */
#ifndef SLOPE_CLI_REMOTEWALK_H
#define SLOPE_CLI_REMOTEWALK_H

#include <elfutils/libdwfl.h>

#include "cli/perfring.h"

#define SLOPE_REMOTE_DEPTH 4096u

struct slope_remotewalk {
	pid_t pid;
	Dwfl *dwfl;
	Dwfl_Callbacks callbacks;
	const struct slope_remote_sample *sample;    /* being walked */
	uint64_t address[SLOPE_REMOTE_DEPTH];        /* from the inside out: where it is; of calls, their last byte */
	size_t count;
	bool whole;                          /* the last one is the beginning of the stack */
};

/* Which code the process has; again after it has mapped more. False: it cannot be read (errno says why): then as before. */
bool slope_remotewalk_modules(struct slope_remotewalk *w, pid_t pid);
void slope_remotewalk_fini(struct slope_remotewalk *w);

/* Fills `address`. There is at least one, if the sample has registers. */
void slope_remotewalk_sample(struct slope_remotewalk *w, const struct slope_remote_sample *sample);

#endif
