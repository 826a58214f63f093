/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Inlined functions as frames of their own. A sampled profile has call sites
 * and, until it is symbolized, the places of its samples; the debug information
 * says which functions were inlined there. They become functions with
 * SLOPE_FN_INLINED and a name that says so, between the function that they are
 * part of and what they call, with the cost that arose in them. Nobody counts
 * their calls: those are 0.
 *
 * An inlined function is told from others by its name and where it is written;
 * instead of an offset it has a number made of these, with the highest bit set.
 *
 * Part of slope_profile_symbolize; a profile without places stays as it is.
 */
#ifndef SLOPE_PROFILE_INLINING_H
#define SLOPE_PROFILE_INLINING_H

#include "core/map.h"
#include "profile/elflines.h"
#include "profile/profile.h"

/* An inlined function, called at a site of the profile. */
struct slope_inlined_frame {
	uint32_t function, site;
};

/* The frames at an address, the outermost first: so many from `first` on. */
struct slope_inlined_chain {
	uint32_t first, count;
};

struct slope_inlining {
	struct slope_profile *p;
	struct slope_arena arena;
	struct slope_map function, site;             /* by what tells them apart -> position in the profile */
	struct slope_inlined_frame *frame;
	size_t frames, frame_capacity;
	struct slope_inlined_chain *of_site, *of_place;   /* NULL: there is nothing to do */
	size_t sites;                                /* that the profile had before */
};

/* False when memory runs out; to be followed by _end in any case. */
bool slope_inlining_begin(struct slope_inlining *i, struct slope_profile *p);

/* Looks for what was inlined at the sites and places of a module. False when memory runs out. */
bool slope_inlining_module(struct slope_inlining *i, size_t module, struct slope_lines *lines);

/* Makes frames of it, unless not all is `good`; places are no longer needed. False when memory runs out; contexts are then as before. */
bool slope_inlining_end(struct slope_inlining *i, bool good);

/*
 * The way back: inlined functions count as part of the functions that they are
 * in, as if there were no debug information. False when memory runs out; the
 * profile is then as before.
 */
bool slope_inlining_fold(struct slope_profile *p);

#endif
