/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The profile of a process that is sampled from outside: paths of addresses become contexts of functions. */
#ifndef SLOPE_CLI_REMOTEPATHS_H
#define SLOPE_CLI_REMOTEPATHS_H

#include "cli/remotewalk.h"
#include "profile/regrow.h"

struct slope_remotepaths {
	struct slope_profile *p;
	struct slope_regrow tree;
	struct slope_arena arena;
	struct slope_map module, function, site, thread, place;      /* what is known already -> position */
	struct slope_map start;              /* address in a module -> where its function begins */
	uint64_t samples, broken, kernel;    /* kernel: without registers of the program, and so in no path */
	bool no_memory;
};

/* Starts a profile of this process, and says of it what /proc knows. False when memory runs out. */
bool slope_remotepaths_begin(struct slope_remotepaths *r, pid_t pid);

/* Adds the sample that was just walked. */
void slope_remotepaths_add(struct slope_remotepaths *r, const struct slope_remotewalk *w, const struct slope_remote_sample *sample);

/* The profile, which is the caller's from now on; NULL when memory has run out. `lost`: samples that nobody could take. */
struct slope_profile *slope_remotepaths_end(struct slope_remotepaths *r, uint64_t lost);
void slope_remotepaths_fini(struct slope_remotepaths *r);

#endif
