/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/variants.h"

#define CLASSES 64u              /* of calls, by powers of two */

struct slope_variants *slope_variants_new(struct slope_session *s, struct slope_arena *arena)
{
	struct slope_variants *v = slope_arena_alloc(arena, sizeof *v);

	if (!v)
		return NULL;
	v->session = s;
	v->arena = arena;
	slope_map_init(&v->by_callers, arena);
	return v;
}

static void free_counts(struct slope_variants *v, struct slope_variant *variant)
{
	for (unsigned m = 0; m < SLOPE_METRICS; m++)
		slope_points_fini(&variant->counts->points[m]);
	slope_arena_free(v->arena, variant->counts, sizeof *variant->counts);
	variant->counts = NULL;
	v->kept -= variant->callers != 0;
	__atomic_fetch_sub(&v->session->variants, variant->callers != 0, __ATOMIC_RELAXED);
}

void slope_variants_free(struct slope_variants *v)
{
	if (!v)
		return;
	for (struct slope_variant *variant = v->first, *next; variant; variant = next) {
		next = variant->next;
		if (variant->counts)
			free_counts(v, variant);
		slope_arena_free(v->arena, variant, sizeof *variant);
	}
	slope_arena_free(v->arena, v->by_callers.entry, v->by_callers.capacity * sizeof *v->by_callers.entry);
	slope_arena_free(v->arena, v, sizeof *v);
}

/* The variant with one caller more (the function itself for NULL), made on first use. NULL when memory runs out. */
static struct slope_variant *longer(struct slope_variants *v, struct slope_variant *shorter, uint32_t fn)
{
	bool fresh;
	uint64_t *place = slope_map_put(&v->by_callers, (shorter ? (uint64_t)shorter->number + 1 : 0) << 32 | fn, &fresh);
	struct slope_variant *variant = place ? (struct slope_variant *)(uintptr_t)*place : NULL;

	if (!place || variant)
		return variant;
	variant = slope_arena_alloc(v->arena, sizeof *variant);
	if (!variant)
		return NULL;
	variant->shorter = shorter;
	variant->fn = fn;
	variant->callers = shorter ? shorter->callers + 1 : 0;
	variant->number = v->numbers++;
	if (v->newest)
		v->newest->next = variant;
	else
		v->first = variant;
	v->newest = variant;
	*place = (uint64_t)(uintptr_t)variant;
	return variant;
}

static bool make_counts(struct slope_variants *v, struct slope_variant *variant)
{
	const struct slope_config *config = &v->session->config;
	struct slope_record *r = slope_arena_alloc(v->arena, sizeof *r);

	if (!r)
		return false;
	r->fn = variant->fn;
	r->metric = slope_config_metric(config);
	slope_record_forget(r);
	for (unsigned m = 0; m < SLOPE_METRICS; m++)
		slope_points_init(&r->points[m], v->arena, config->units, config->max_points);
	variant->counts = r;
	v->kept += variant->callers != 0;
	__atomic_fetch_add(&v->session->variants, variant->callers != 0, __ATOMIC_RELAXED);
	return true;
}

static void settle_counts(const struct slope_variants *v, struct slope_record *counts)
{
	uint64_t lost = slope_record_settle(counts);

	if (lost)
		slope_session_lose(v->session, SLOPE_LOST_POINTS, lost);
}

void slope_variants_settle(const struct slope_variants *v)
{
	for (const struct slope_variant *variant = v ? v->first : NULL; variant; variant = variant->next)
		if (variant->counts)
			settle_counts(v, variant->counts);
}

/* ---- folding ---- */

/* All rows go over; those without memory are counted as lost. */
static void merge_points(struct slope_variants *v, struct slope_points *to, const struct slope_points *from)
{
	slope_points_fold(to, from->bits);
	to->residue += from->residue;
	for (size_t i = 0; i < from->count; i++)
		if (!slope_points_merge(to, slope_points_row(from, i)))
			slope_session_lose(v->session, SLOPE_LOST_POINTS, slope_points_row(from, i)->calls);
}

/* Its calls count in the shorter one from now on; one that is a rest stands for contexts that have been counted already. */
static void mark_folded(struct slope_variants *v, struct slope_variant *variant)
{
	__atomic_fetch_add(&v->session->variants_folded, !variant->rest, __ATOMIC_RELAXED);
	variant->folded = true;
}

/* Gives what the variant has to the shorter one. False when memory runs out: then it stays. */
static bool fold(struct slope_variants *v, struct slope_variant *variant)
{
	struct slope_variant *to = variant->shorter;

	while (to->folded)
		to = to->shorter;
	if (!to->counts && !make_counts(v, to))
		return false;
	struct slope_record *from = variant->counts, *into = to->counts;

	settle_counts(v, from);
	settle_counts(v, into);
	for (unsigned m = 0; m < SLOPE_METRICS; m++)
		merge_points(v, &into->points[m], &from->points[m]);
	for (uint32_t u = 0; u < v->session->config.units; u++) {
		into->self[u] += from->self[u];
		into->nested[u] += from->nested[u];
	}
	to->calls += variant->calls;
	to->rest = true;
	mark_folded(v, variant);
	free_counts(v, variant);
	return true;
}

static unsigned class_of(const struct slope_variant *variant)
{
	return variant->calls ? 63u - (unsigned)__builtin_clzll(variant->calls) : 0;
}

static bool is_kept(const struct slope_variant *variant)
{
	return variant->counts && variant->callers;
}

/*
 * The half with the fewest calls, to a power of two; among those with as many,
 * the older ones. False when memory runs out. O(variants).
 */
static bool fold_half(struct slope_variants *v)
{
	uint64_t of_class[CLASSES] = { 0 }, half = (v->kept + 1) / 2, below = 0;
	unsigned class = 0;

	for (const struct slope_variant *variant = v->first; variant; variant = variant->next)
		if (is_kept(variant))
			of_class[class_of(variant)]++;
	while (class + 1 < CLASSES && below + of_class[class] <= half)
		below += of_class[class++];
	uint64_t more = half - below;

	/* A rest that comes of this may be rare, too, and later in the row: it has its turn the next time. */
	for (struct slope_variant *variant = v->first, *end = v->newest; variant; variant = variant == end ? NULL : variant->next) {
		unsigned own = is_kept(variant) ? class_of(variant) : CLASSES;

		if (own < class || (own == class && more)) {
			more -= own == class;
			if (!fold(v, variant))
				return false;
		}
	}
	return true;
}

/*
 * Until a quarter of them is gone: many a rest is new, and takes the place of
 * one that was folded. A thread with few lets them be, since each look at them
 * takes time.
 */
static void make_room(struct slope_variants *v)
{
	uint64_t few = v->session->config.variants_max / 16, goal = v->kept - (v->kept + 3) / 4;

	while (v->kept > few && v->kept > goal && fold_half(v))
		;
}

/* ---- finding ---- */

static struct slope_variant *by_path(struct slope_variants *v, const struct slope_context *node)
{
	struct slope_variant *variant = longer(v, NULL, node->fn);
	const struct slope_context *up = node->above;

	for (uint32_t i = 0; variant && up && i < v->session->config.variant_k; i++, up = up->above)
		variant = longer(v, variant, up->fn);
	return variant;
}

static bool is_full(const struct slope_variants *v)
{
	return __atomic_load_n(&v->session->variants, __ATOMIC_RELAXED) >= v->session->config.variants_max;
}

struct slope_variant *slope_variants_find(struct slope_variants *v, struct slope_context *node)
{
	struct slope_variant *variant = node->variant ? node->variant : by_path(v, node);

	if (variant && variant->callers && !variant->counts && !variant->folded && is_full(v))
		make_room(v);
	while (variant && !variant->counts) {
		/* There is no room for it, since others have it: the first call of a variant goes into its rest. */
		if (!variant->folded && variant->callers && is_full(v)) {
			mark_folded(v, variant);
			variant->shorter->rest = true;
		}
		if (variant->folded)
			variant = variant->shorter;
		else if (!make_counts(v, variant))
			return NULL;
	}
	return node->variant = variant;
}
