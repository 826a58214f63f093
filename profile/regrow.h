/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The contexts of a profile, grown anew: nodes are put where they belong by
 * their parents, functions and sites, those that are the same become one, and
 * what follows from the tree (totals, rows of functions, edges) is worked out
 * again. For profiles whose rows and edges follow from their contexts, that is
 * those that were sampled.
 */
#ifndef SLOPE_PROFILE_REGROW_H
#define SLOPE_PROFILE_REGROW_H

#include "core/map.h"
#include "profile/profile.h"

struct slope_regrow {
	const struct slope_profile *p;
	struct slope_arena arena;
	struct slope_map pair, child;        /* function and site -> number; parent and that number -> node */
	struct slope_profile_context *node;  /* the new ones, parents first; to be given to free() */
	size_t count, capacity;
};

void slope_regrow_begin(struct slope_regrow *r, const struct slope_profile *p);

/*
 * The node of a function below `parent` (SLOPE_CONTEXT_NONE: a root, always a
 * new one), made on first use; SLOPE_CONTEXT_NONE when memory runs out. Whoever
 * calls adds calls and self costs there.
 */
uint32_t slope_regrow_node(struct slope_regrow *r, uint32_t parent, uint32_t thread, uint32_t function, uint32_t site);

/* The new nodes take the place of the old, with all that follows. False when memory runs out: then nothing has changed. */
bool slope_regrow_end(struct slope_regrow *r, struct slope_profile *p);

/* Gives back what is left, after _end or without. */
void slope_regrow_fini(struct slope_regrow *r);

#endif
