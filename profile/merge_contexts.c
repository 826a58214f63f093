/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads stay apart, and so do their nodes: they are taken over with new
 * positions. Where a run had one module twice, two children of a node may be
 * the same function afterwards; whoever adds up paths does not mind.
 */
#include <stdlib.h>
#include <string.h>

#include "profile/build.h"
#include "profile/merge.h"

static void add_site(struct slope_merge *m, const struct slope_profile_site *from)
{
	struct slope_profile_site *to = slope_build_site(m->to);

	if (!to) {
		m->no_memory = true;
		return;
	}
	*to = *from;
	to->module = m->module_at[from->module];
	if (!slope_build_text(&to->file, slope_text_of(from->file)))
		m->no_memory = true;
}

static void add_context(struct slope_merge *m, const struct slope_profile_context *from, uint32_t first_thread, size_t first,
			size_t first_site)
{
	struct slope_profile_context *to = slope_build_context(m->to);

	if (!to) {
		m->no_memory = true;
		return;
	}
	*to = *from;
	to->function = m->function_at[from->function];
	to->thread = first_thread + from->thread;
	if (from->parent != SLOPE_CONTEXT_NONE)
		to->parent = (uint32_t)first + from->parent;
	if (from->site != SLOPE_CONTEXT_NONE)
		to->site = (uint32_t)first_site + from->site;
}

static void add_place(struct slope_merge *m, const struct slope_profile_place *from, size_t first)
{
	struct slope_profile_place *to = slope_build_place(m->to);

	if (!to) {
		m->no_memory = true;
		return;
	}
	*to = *from;
	to->context = (uint32_t)first + from->context;
	to->module = m->module_at[from->module];
}

static void add_variant(struct slope_merge *m, const struct slope_profile_variant *from, uint32_t first_thread)
{
	struct slope_profile_variant *to = slope_build_variant(m->to);

	if (!to) {
		m->no_memory = true;
		return;
	}
	to->caller = malloc((from->callers + 1) * sizeof *to->caller);
	if (!to->caller) {
		m->no_memory = true;
		return;
	}
	to->rest = from->rest;
	to->callers = from->callers;
	for (uint32_t i = 0; i < from->callers; i++)
		to->caller[i] = m->function_at[from->caller[i]];
	slope_merge_copy_row(m, &to->row, &from->row, first_thread);
}

void slope_merge_contexts(struct slope_merge *m, const struct slope_profile *from, uint32_t first_thread)
{
	size_t first = m->to->context_count, first_site = m->to->site_count;

	for (size_t i = 0; i < from->site_count && !m->no_memory; i++)
		add_site(m, &from->site[i]);
	for (size_t i = 0; i < from->context_count && !m->no_memory; i++)
		add_context(m, &from->context[i], first_thread, first, first_site);
	for (size_t i = 0; i < from->place_count && !m->no_memory; i++)
		add_place(m, &from->place[i], first);
	for (size_t i = 0; i < from->variant_count && !m->no_memory; i++)
		add_variant(m, &from->variant[i], first_thread);
}

void slope_merge_unite_variants(struct slope_merge *m)
{
	struct slope_profile *p = m->to;
	size_t kept = 0;

	if (p->variant_count)
		qsort(p->variant, p->variant_count, sizeof *p->variant, slope_build_compare_variants);
	for (size_t i = 0; i < p->variant_count; i++) {
		struct slope_profile_variant *from = &p->variant[i];

		if (!kept || slope_build_compare_variants(&p->variant[kept - 1], from)) {
			p->variant[kept++] = *from;
			continue;
		}
		m->no_memory |= !slope_merge_rows(p, &p->variant[kept - 1].row, &from->row);
		for (unsigned k = 0; k < SLOPE_METRICS; k++)
			free(from->row.points[k].rows);
		free(from->caller);
	}
	p->variant_count = kept;
}
