/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/callers.h"
#include "report/callpaths.h"

bool slope_callpaths_wanted(const struct slope_profile *p, const struct slope_export_options *o)
{
	return p->context_count && o->k;
}

void slope_callpaths_init(struct slope_callpaths *s, const struct slope_profile *p, const struct slope_export_options *o)
{
	*s = (struct slope_callpaths){ .p = p, .k = o->k };
}

void slope_callpaths_fini(struct slope_callpaths *s)
{
	free(s->function);
	*s = (struct slope_callpaths){ 0 };
}

size_t slope_callpaths_of(struct slope_callpaths *s, size_t node)
{
	const struct slope_profile_context *at = &s->p->context[node];
	size_t count = 0;

	for (;;) {
		if (count == s->capacity) {
			size_t capacity = 2 * count + 64;
			uint32_t *more = realloc(s->function, capacity * sizeof(*more));

			if (!more)
				return 0;
			s->function = more;
			s->capacity = capacity;
		}
		s->function[count++] = at->function;
		if (at->parent == SLOPE_CONTEXT_NONE || count > s->k)
			return count;
		at = &s->p->context[at->parent];
		if (at->function == SLOPE_FN_ROOT && at->parent == SLOPE_CONTEXT_NONE)
			return count;
	}
}

/* ---- contexts as functions ---- */

struct separation {
	const struct slope_profile *p;
	struct slope_profile *to;
	struct slope_callers c;
	uint32_t k;
	uint32_t *label;             /* by place: which context, a function of `to` */
	uint32_t *example;           /* by context: a place that has it */
	uint32_t count;
};

/* Members of a node are one context when it has k callers, or when nobody called the last of them. */
static bool note_context(void *to, const struct slope_callers_node *node)
{
	struct separation *s = to;
	bool any = false;

	for (uint32_t i = 0; i < node->members; i++) {
		uint32_t at = node->member[i];

		if (node->depth != s->k && s->c.place[at].depth != node->depth)
			continue;
		s->label[at] = s->count;
		s->example[s->count] = at;
		any = true;
	}
	s->count += any;
	return node->depth != s->k;
}

/* name'caller'caller */
static char *context_name(const struct separation *s, uint32_t at)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return NULL;
	fputs(slope_profile_name(&s->p->function[s->c.place[at].function]), out);
	for (uint32_t i = 0; i < s->k && s->c.place[at].parent != SLOPE_CONTEXT_NONE; i++) {
		at = s->c.place[at].parent;
		if (s->c.place[at].function != SLOPE_FN_ROOT)
			fprintf(out, "'%s", slope_profile_name(&s->p->function[s->c.place[at].function]));
	}
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

static bool fill_functions(struct separation *s)
{
	struct slope_profile *to = s->to;

	to->function = calloc((size_t)s->count + 1, sizeof(*to->function));
	to->row = calloc((size_t)s->count + 1, sizeof(*to->row));
	if (!to->function || !to->row)
		return false;
	to->function_count = to->row_count = s->count;
	for (uint32_t i = 0; i < s->count; i++) {
		to->function[i] = s->p->function[s->c.place[s->example[i]].function];
		to->function[i].name = NULL;
		to->row[i].function = i;
	}
	for (uint32_t i = 0; i < s->count; i++) {
		to->function[i].name = context_name(s, s->example[i]);
		if (!to->function[i].name)
			return false;
	}
	return true;
}

static int by_calls(const void *a, const void *b)
{
	const struct slope_profile_edge *x = a, *y = b;

	if (x->caller != y->caller)
		return x->caller > y->caller ? 1 : -1;
	return (x->callee > y->callee) - (x->callee < y->callee);
}

/*
 * An edge counts what is outermost of the callee's context. Places stand with
 * all that is below them, so a context is open up to the end of its last one.
 */
static bool fill_numbers(struct separation *s)
{
	struct slope_profile *to = s->to;
	uint32_t *open = calloc((size_t)s->count + 1, sizeof(*open));

	to->edge = calloc((size_t)s->c.count + 1, sizeof(*to->edge));
	if (!open || !to->edge) {
		free(open);
		return false;
	}
	for (uint32_t i = 0; i < s->c.count; i++) {
		const struct slope_callers_place *place = &s->c.place[i];
		const struct slope_profile_context *node = &s->p->context[place->node];
		struct slope_profile_row *row = &to->row[s->label[i]];
		bool inside = i < open[s->label[i]];

		row->calls += node->calls;
		for (uint32_t u = 0; u < s->p->units; u++) {
			row->self[u] += node->self[u];
			row->total[u] += inside ? 0 : node->total[u];
		}
		if (!inside)
			open[s->label[i]] = place->end;
		if (place->parent == SLOPE_CONTEXT_NONE)
			continue;
		struct slope_profile_edge *edge = &to->edge[to->edge_count++];

		*edge = (struct slope_profile_edge){ .caller = s->label[place->parent], .callee = s->label[i], .calls = node->calls };
		for (uint32_t u = 0; u < s->p->units && !inside; u++)
			edge->cost[u] = node->total[u];
	}
	qsort(to->edge, to->edge_count, sizeof(*to->edge), by_calls);
	free(open);
	return true;
}

static bool separate(struct separation *s)
{
	struct slope_callers_walk walk = { .function = SLOPE_CALLERS_ALL, .k = s->k, .visit = note_context, .to = s };

	s->label = calloc((size_t)s->c.count + 1, sizeof(*s->label));
	s->example = calloc((size_t)s->c.count + 1, sizeof(*s->example));
	return s->label && s->example && slope_callers_walk(&s->c, &walk) && fill_functions(s) && fill_numbers(s);
}

struct slope_profile *slope_callpaths_separate(const struct slope_profile *p, uint32_t k)
{
	struct separation s = { .p = p, .k = k, .to = malloc(sizeof(*s.to)) };

	if (!s.to)
		return NULL;
	*s.to = *p;
	s.to->function = NULL;
	s.to->row = NULL;
	s.to->edge = NULL;
	s.to->function_count = s.to->row_count = s.to->edge_count = 0;
	bool ok = slope_callers_init(&s.c, p, 0);

	if (ok) {
		ok = separate(&s);
		slope_callers_fini(&s.c);
	}
	free(s.label);
	free(s.example);
	if (ok)
		return s.to;
	slope_callpaths_unite(s.to);
	return NULL;
}

void slope_callpaths_unite(struct slope_profile *separated)
{
	if (!separated)
		return;
	for (size_t i = 0; i < separated->function_count; i++)
		free(separated->function[i].name);
	free(separated->function);
	free(separated->row);
	free(separated->edge);
	free(separated);
}
