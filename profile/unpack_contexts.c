/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Contexts out of a file: call sites, the nodes of trees and forests, and functions by context. */
#include <stdlib.h>
#include <string.h>

#include "profile/build.h"
#include "profile/unpack.h"

static uint64_t key(uint32_t thread, uint32_t number)
{
	return (uint64_t)thread << 32 | number;
}

/* ---- call sites ---- */

enum slope_decode slope_unpack_site(struct slope_unpack *u, struct slope_cursor *c)
{
	struct slope_profile *p = u->profile;
	struct slope_site_entry entry;
	enum slope_decode status = slope_decode_site(c, &entry);

	if (status != SLOPE_DECODE_OK || !slope_unpack_place(u, SLOPE_SECTION_SITES, &u->site, entry.number, p->site_count))
		return status;
	struct slope_profile_site *site = slope_build_site(p);

	if (!site) {
		u->no_memory = true;
		return status;
	}
	const uint64_t *file = entry.file ? slope_map_get(&u->file, entry.file) : NULL;

	if (!slope_unpack_find_module(u, entry.module, &site->module) || (entry.file && !file))
		u->flaw[SLOPE_SECTION_SITES][SLOPE_FLAW_ORPHAN]++;
	site->offset = entry.offset;
	site->line = entry.line;
	if (file && !slope_build_text(&site->file, slope_text_of(u->path[*file])))
		u->no_memory = true;
	return status;
}

/* ---- nodes ---- */

/* Where the node's parent is; false: it should be somewhere, but is not. */
static bool find_parent(const struct slope_unpack *u, const struct slope_context_entry *entry, uint32_t *parent)
{
	const uint64_t *at = slope_map_get(&u->context, key(entry->thread, entry->parent));
	bool root = entry->parent == SLOPE_NUMBER_NONE;

	*parent = !root && at ? (uint32_t)*at : SLOPE_CONTEXT_NONE;
	return root || at;
}

enum slope_decode slope_unpack_context(struct slope_unpack *u, struct slope_cursor *c)
{
	struct slope_profile *p = u->profile;
	struct slope_context_entry entry;
	enum slope_decode status = slope_decode_context(c, &entry);
	uint32_t function, thread, parent;

	if (status != SLOPE_DECODE_OK)
		return status;
	if (!slope_unpack_find_function(u, entry.function, &function) || !slope_unpack_find_thread(u, entry.thread, &thread) ||
	    !find_parent(u, &entry, &parent)) {
		u->flaw[SLOPE_SECTION_CONTEXTS][SLOPE_FLAW_MISSING]++;
		return status;
	}
	if (!slope_unpack_place(u, SLOPE_SECTION_CONTEXTS, &u->context, key(entry.thread, entry.number), p->context_count))
		return status;
	struct slope_profile_context *context = slope_build_context(p);

	if (!context) {
		u->no_memory = true;
		return status;
	}
	const uint64_t *site = entry.site == SLOPE_NUMBER_NONE ? NULL : slope_map_get(&u->site, entry.site);

	if (entry.site != SLOPE_NUMBER_NONE && !site)
		u->flaw[SLOPE_SECTION_CONTEXTS][SLOPE_FLAW_ORPHAN]++;
	*context = (struct slope_profile_context){
		.function = function, .thread = thread, .parent = parent, .calls = entry.calls,
		.site = site ? (uint32_t)*site : SLOPE_CONTEXT_NONE,
	};
	memcpy(context->total, entry.total, sizeof context->total);
	memcpy(context->self, entry.self, sizeof context->self);
	return status;
}

/* The parts of a context's self cost that have a place; more than it has in all are none. */
enum slope_decode slope_unpack_place_of_cost(struct slope_unpack *u, struct slope_cursor *c)
{
	struct slope_profile *p = u->profile;
	struct slope_place_entry entry;
	enum slope_decode status = slope_decode_place(c, &entry);
	struct slope_profile_place place = { 0 };

	if (status != SLOPE_DECODE_OK)
		return status;
	const uint64_t *context = slope_map_get(&u->context, key(entry.thread, entry.context));

	if (!context || !slope_unpack_find_module(u, entry.module, &place.module)) {
		u->flaw[SLOPE_SECTION_PLACES][SLOPE_FLAW_MISSING]++;
		return status;
	}
	place.context = (uint32_t)*context;
	place.offset = entry.offset;
	memcpy(place.self, entry.self, sizeof place.self);
	struct slope_profile_place *to = slope_build_place(p);

	if (to)
		*to = place;
	else
		u->no_memory = true;
	return status;
}

/* ---- functions by context ---- */

/* The callers as positions, from malloc. False when one is missing, or memory ran out. */
static bool find_callers(struct slope_unpack *u, const struct slope_variant_entry *entry, uint32_t **caller)
{
	*caller = malloc((entry->callers + 1) * sizeof **caller);
	if (!*caller) {
		u->no_memory = true;
		return false;
	}
	for (uint32_t i = 0; i < entry->callers; i++)
		if (!slope_unpack_find_function(u, entry->caller[i], &(*caller)[i]))
			return false;
	return true;
}

enum slope_decode slope_unpack_variant(struct slope_unpack *u, struct slope_cursor *c)
{
	struct slope_profile *p = u->profile;
	struct slope_variant_entry entry;
	enum slope_decode status = slope_decode_variant(c, &entry);
	uint32_t function, thread, *caller = NULL;

	if (status != SLOPE_DECODE_OK)
		return status;
	if (!slope_unpack_find_function(u, entry.cost.function, &function) ||
	    !slope_unpack_find_thread(u, entry.cost.thread, &thread) || !find_callers(u, &entry, &caller)) {
		u->flaw[SLOPE_SECTION_VARIANTS][SLOPE_FLAW_MISSING] += !u->no_memory;
		free(caller);
		return status;
	}
	struct slope_profile_variant *variant = NULL;

	if (slope_unpack_place(u, SLOPE_SECTION_VARIANTS, &u->variant, key(entry.cost.thread, entry.number), p->variant_count) &&
	    !(variant = slope_build_variant(p)))
		u->no_memory = true;
	if (!variant) {
		free(caller);
		return status;
	}
	variant->row.function = function;
	variant->row.thread = thread;
	variant->caller = caller;
	variant->callers = entry.callers;
	variant->rest = entry.rest;
	slope_unpack_row(&variant->row, &entry.cost);
	return status;
}

void slope_unpack_sort_variants(struct slope_unpack *u)
{
	struct slope_profile *p = u->profile;
	size_t kept = 0;

	if (p->variant_count)
		qsort(p->variant, p->variant_count, sizeof *p->variant, slope_build_compare_variants);
	for (size_t i = 0; i < p->variant_count; i++) {
		if (!kept || slope_build_compare_variants(&p->variant[kept - 1], &p->variant[i])) {
			p->variant[kept++] = p->variant[i];
			continue;
		}
		for (unsigned m = 0; m < SLOPE_METRICS; m++)
			free(p->variant[i].row.points[m].rows);
		free(p->variant[i].caller);
		u->flaw[SLOPE_SECTION_VARIANTS][SLOPE_FLAW_TWICE]++;
	}
	p->variant_count = kept;
}
