/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of merging share; slope_profile_merge itself is in profile/profile.h. */
#ifndef SLOPE_PROFILE_MERGE_H
#define SLOPE_PROFILE_MERGE_H

#include "core/map.h"
#include "profile/profile.h"

struct slope_merge {
	struct slope_profile *to;
	struct slope_arena arena;
	struct slope_map module, function, graph;  /* hash -> position; a second one of the same hash takes the next key */
	uint32_t *module_at, *function_at;       /* positions of the profile being added */
	bool no_memory;
};

/* The row with its points, for a thread in `to`. False when memory runs out; `to` can be freed then. */
bool slope_merge_copy_row(struct slope_merge *m, struct slope_profile_row *to, const struct slope_profile_row *from,
			  uint32_t first_thread);

/* Adds `from`, which stays, to `to`. False when memory runs out. */
bool slope_merge_rows(const struct slope_profile *p, struct slope_profile_row *to, const struct slope_profile_row *from);

/* Adds the call sites, the nodes and the variants of `from`. */
void slope_merge_contexts(struct slope_merge *m, const struct slope_profile *from, uint32_t first_thread);

/* Adds graphs and paths; those graphs that are there already are not added. Contexts are there from `first_context` on. */
void slope_merge_paths(struct slope_merge *m, const struct slope_profile *from, uint32_t first_thread, size_t first_context);

/* All profiles are in: rows of the same path become one. */
void slope_merge_unite_paths(struct slope_merge *m);

/*
 * Graphs of one function with the same blocks and edges become one, and their rows with them: a library that was closed
 * and opened again has each twice. False when memory runs out; nothing has changed then.
 */
bool slope_merge_unite_graphs(struct slope_profile *p);

/* All profiles are in: variants of the same function and callers become one. */
void slope_merge_unite_variants(struct slope_merge *m);

#endif
