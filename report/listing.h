/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The source lines of a function, if its file can be found on this machine:
 * from the line that the profile names to the end of the function, as far as
 * braces tell (strings, characters and comments of the C family are skipped).
 * Where there are no braces, a fixed number of lines.
 */
#ifndef SLOPE_REPORT_LISTING_H
#define SLOPE_REPORT_LISTING_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "profile/profile.h"

#define SLOPE_LISTING_LINES 24u      /* shown at most */
#define SLOPE_LISTING_BLIND 15u      /* without braces */

struct slope_listing {
	char *path;                  /* where the file was found; NULL: nowhere, and nothing else is set */
	char *line[SLOPE_LISTING_LINES];   /* without their ends */
	size_t count;
	uint32_t first;              /* number of line[0] */
	uint32_t more;               /* lines of the function that are not here */
	time_t changed;              /* when the file was last written */
};

/* False when memory runs out; `l` then holds nothing. A file that is not there is no failure. O(file). */
bool slope_listing_init(struct slope_listing *l, const struct slope_profile *p, const struct slope_profile_function *f);
void slope_listing_fini(struct slope_listing *l);

#endif
