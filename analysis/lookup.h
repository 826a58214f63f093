/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A function by what a person types. The first of these ways that fits any
 * function counts, and all that it fits are the answer:
 *
 *   the shown name; the raw symbol; MODULE+0xOFFSET; the name without its
 *   parameters; its last part (push_back); a glob on the shown name; a part of
 *   it; a part of it in any case.
 *
 * MODULE:NAME keeps to one module (its file name, "libc" is enough for
 * libc.so.6), NAME@FILE and NAME@FILE:LINE to functions that begin there. Only
 * functions that ran are found, and never function 0.
 */
#ifndef SLOPE_ANALYSIS_LOOKUP_H
#define SLOPE_ANALYSIS_LOOKUP_H

#include "profile/profile.h"

#define SLOPE_LOOKUP_NEAR 5u

struct slope_lookup_match {
	uint32_t function;
	/* Of all its calls, with callees, in the chosen unit; its own instructions in a profile with paths only. */
	uint64_t cost;
};

struct slope_lookup {
	struct slope_lookup_match *match;  /* the most costly first */
	size_t count;
	uint32_t near[SLOPE_LOOKUP_NEAR];  /* without a match: functions with names like it, the nearest first */
	size_t nears;
};

/* False when memory runs out; `l` then holds nothing. O(functions), times the length of names without a match. */
bool slope_lookup_init(struct slope_lookup *l, const struct slope_profile *p, const char *typed, uint32_t unit);
void slope_lookup_fini(struct slope_lookup *l);

/*
 * A text that finds this function and no other, as short as the profile
 * allows: NAME, MODULE:NAME, NAME@FILE:LINE or MODULE+0xOFFSET. To be given to
 * free(); NULL when memory runs out.
 */
char *slope_lookup_handle(const struct slope_profile *p, uint32_t function);

#endif
