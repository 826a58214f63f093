/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "profile/inlining.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/build.h"
#include "profile/demangle.h"
#include "profile/host.h"
#include "profile/regrow.h"

#define NUMBER_BIT (UINT64_C(1) << 63)
#define FNV_START UINT64_C(0xcbf29ce484222325)
#define FNV_FACTOR UINT64_C(0x100000001b3)

/* As the sampler has it: whole paths, and all else is sums over them. */
static bool follows_from_contexts(const struct slope_profile *p)
{
	return slope_profile_is_sampled(p) && p->context_count && !p->context_k && !p->context_collapsed;
}

bool slope_inlining_begin(struct slope_inlining *i, struct slope_profile *p)
{
	*i = (struct slope_inlining){ .p = p, .sites = p->site_count };
	slope_arena_init(&i->arena, &slope_system_host);
	slope_map_init(&i->function, &i->arena);
	slope_map_init(&i->site, &i->arena);
	if (!p->place_count || !follows_from_contexts(p))
		return true;
	i->of_site = calloc(p->site_count + 1, sizeof *i->of_site);
	i->of_place = calloc(p->place_count + 1, sizeof *i->of_place);
	return i->of_site && i->of_place;
}

/* ---- what is there ---- */

/* What is being looked at; `ok` is false when memory has run out. */
struct search {
	struct slope_inlining *i;
	struct slope_lines *lines;
	size_t module;
	uint64_t address;
	struct slope_inlined_chain *chain;
};

static uint64_t hash_text(uint64_t hash, const char *text)
{
	for (const char *c = text ? text : ""; *c; c++)
		hash = (hash ^ (unsigned char)*c) * FNV_FACTOR;
	return (hash ^ 0xff) * FNV_FACTOR;
}

static uint64_t hash_number(uint64_t hash, uint64_t number)
{
	return slope_mix64(hash ^ number);
}

static bool name_function(struct slope_profile_function *f, const struct slope_inlined *inlined)
{
	char *shown = slope_demangle(inlined->name);
	bool good = shown && asprintf(&f->name, "%s [inlined]", shown) >= 0;

	if (!good)
		f->name = NULL;
	free(shown);
	return good && slope_build_text(&f->raw_name, slope_text_of(inlined->name));
}

/* The profile's function for it. SLOPE_FN_NONE when memory runs out. */
static uint32_t function_of(struct search *s, const struct slope_inlined *inlined)
{
	struct slope_profile *p = s->i->p;
	uint64_t number = hash_number(hash_text(hash_text(FNV_START, inlined->name), inlined->file), inlined->line) | NUMBER_BIT;
	bool fresh;
	uint64_t *at = slope_map_put(&s->i->function, hash_number(number, s->module), &fresh);

	if (!at)
		return SLOPE_FN_NONE;
	if (!fresh)
		return (uint32_t)*at;
	*at = p->function_count;
	struct slope_profile_function *f = slope_build_function(p);

	if (!f)
		return SLOPE_FN_NONE;
	f->module = (uint32_t)s->module;
	f->flags = SLOPE_FN_INLINED;
	f->offset = number;
	f->file = slope_lines_absolute(s->lines, s->address, inlined->file);
	f->line = f->file ? inlined->line : 0;
	return name_function(f, inlined) ? (uint32_t)*at : SLOPE_FN_NONE;
}

/* Where it is called: the line in the function around it. SLOPE_CONTEXT_NONE when memory runs out. */
static uint32_t site_of(struct search *s, const struct slope_inlined *inlined, uint32_t function)
{
	struct slope_profile *p = s->i->p;
	uint64_t key = hash_number(hash_number(hash_number(s->module, function), inlined->start), inlined->call_line);
	bool fresh;
	uint64_t *at = slope_map_put(&s->i->site, key, &fresh);

	if (!at)
		return SLOPE_CONTEXT_NONE;
	if (!fresh)
		return (uint32_t)*at;
	*at = p->site_count;
	struct slope_profile_site *site = slope_build_site(p);

	if (!site)
		return SLOPE_CONTEXT_NONE;
	site->module = (uint32_t)s->module;
	site->offset = inlined->start;
	site->file = slope_lines_absolute(s->lines, s->address, inlined->call_file);
	site->line = site->file ? inlined->call_line : 0;
	return (uint32_t)*at;
}

static bool put_frame(void *to, const struct slope_inlined *inlined)
{
	struct search *s = to;
	struct slope_inlining *i = s->i;
	struct slope_inlined_frame frame = { .function = function_of(s, inlined) };

	if (i->frames == i->frame_capacity) {
		size_t more = i->frame_capacity ? 2 * i->frame_capacity : 256;
		void *bigger = realloc(i->frame, more * sizeof *i->frame);

		if (!bigger)
			return false;
		i->frame = bigger;
		i->frame_capacity = more;
	}
	frame.site = frame.function == SLOPE_FN_NONE ? SLOPE_CONTEXT_NONE : site_of(s, inlined, frame.function);
	if (frame.site == SLOPE_CONTEXT_NONE || i->frames >= UINT32_MAX)
		return false;
	i->frame[i->frames++] = frame;
	s->chain->count++;
	return true;
}

static bool search(struct slope_inlining *i, size_t module, struct slope_lines *lines, uint64_t address, struct slope_inlined_chain *chain)
{
	struct search s = { i, lines, module, address, chain };

	*chain = (struct slope_inlined_chain){ .first = (uint32_t)i->frames };
	return slope_lines_inlined(lines, address, put_frame, &s);
}

bool slope_inlining_module(struct slope_inlining *i, size_t module, struct slope_lines *lines)
{
	const struct slope_profile *p = i->p;
	bool good = true;

	if (!i->of_place || !lines->unit_count)
		return true;
	/* A call is in front of the instruction that it returns to. */
	for (size_t s = 0; s < i->sites && good; s++)
		if (p->site[s].module == module)
			good = search(i, module, lines, p->site[s].offset - 1, &i->of_site[s]);
	for (size_t k = 0; k < p->place_count && good; k++)
		if (p->place[k].module == module)
			good = search(i, module, lines, p->place[k].offset, &i->of_place[k]);
	return good;
}

/* ---- frames in the tree ---- */

/* The node at the end of a chain below `node`; SLOPE_CONTEXT_NONE when memory runs out. */
static uint32_t follow(const struct slope_inlining *i, struct slope_regrow *r, uint32_t node, uint32_t thread,
		       const struct slope_inlined_chain *chain)
{
	for (uint32_t k = 0; k < chain->count && node != SLOPE_CONTEXT_NONE; k++) {
		const struct slope_inlined_frame *frame = &i->frame[chain->first + k];

		node = slope_regrow_node(r, node, thread, frame->function, frame->site);
	}
	return node;
}

/* Places by context, those of one from first[context] on, the next by `next`; 1 more than the position, 0 ends a list. */
struct places {
	uint32_t *first, *next;
};

static bool list_places(struct places *places, const struct slope_profile *p)
{
	places->first = calloc(p->context_count + 1, sizeof *places->first);
	places->next = calloc(p->place_count + 1, sizeof *places->next);
	if (!places->first || !places->next)
		return false;
	for (size_t k = p->place_count; k--;) {
		places->next[k] = places->first[p->place[k].context];
		places->first[p->place[k].context] = (uint32_t)k + 1;
	}
	return true;
}

/* A part of the cost of a node goes to another; never more than there is. */
static void move_cost(const struct slope_profile *p, struct slope_profile_context *from, struct slope_profile_context *to,
		      const uint64_t *self)
{
	for (unsigned u = 0; u < p->units; u++) {
		uint64_t part = self[u] < from->self[u] ? self[u] : from->self[u];

		from->self[u] -= part;
		to->self[u] += part;
	}
}

static bool place_node(const struct slope_inlining *i, struct slope_regrow *r, const struct places *places, uint32_t *now, size_t at)
{
	const struct slope_profile *p = i->p;
	const struct slope_profile_context *old = &p->context[at];
	uint32_t above = old->parent == SLOPE_CONTEXT_NONE ? SLOPE_CONTEXT_NONE : now[old->parent];

	if (above != SLOPE_CONTEXT_NONE && old->site != SLOPE_CONTEXT_NONE) {
		above = follow(i, r, above, old->thread, &i->of_site[old->site]);
		if (above == SLOPE_CONTEXT_NONE)
			return false;
	}
	uint32_t node = now[at] = slope_regrow_node(r, above, old->thread, old->function, old->site);

	if (node == SLOPE_CONTEXT_NONE)
		return false;
	r->node[node].calls += old->calls;
	for (unsigned u = 0; u < p->units; u++)
		r->node[node].self[u] += old->self[u];
	for (uint32_t k = places->first[at]; k; k = places->next[k - 1]) {
		uint32_t inner = follow(i, r, node, old->thread, &i->of_place[k - 1]);

		if (inner == SLOPE_CONTEXT_NONE)
			return false;
		if (inner != node)
			move_cost(p, &r->node[node], &r->node[inner], p->place[k - 1].self);
	}
	return true;
}

static bool make_frames(struct slope_inlining *i)
{
	struct slope_profile *p = i->p;
	struct slope_regrow r;
	struct places places = { 0 };
	uint32_t *now = calloc(p->context_count + 1, sizeof *now);
	bool good = now && list_places(&places, p);

	slope_regrow_begin(&r, p);
	for (size_t at = 0; at < p->context_count && good; at++)
		good = place_node(i, &r, &places, now, at);
	good = good && slope_regrow_end(&r, p);
	slope_regrow_fini(&r);
	free(now);
	free(places.first);
	free(places.next);
	return good;
}

bool slope_inlining_end(struct slope_inlining *i, bool good)
{
	struct slope_profile *p = i->p;

	if (i->frames && good)
		good = make_frames(i);
	if (good) {
		free(p->place);
		p->place = NULL;
		p->place_count = 0;
	}
	slope_arena_fini(&i->arena);
	free(i->frame);
	free(i->of_site);
	free(i->of_place);
	return good;
}

/* ---- and back ---- */

static bool has_inlined(const struct slope_profile *p)
{
	for (size_t f = 0; f < p->function_count; f++)
		if (p->function[f].flags & SLOPE_FN_INLINED)
			return true;
	return false;
}

bool slope_inlining_fold(struct slope_profile *p)
{
	struct slope_regrow r;

	if (!has_inlined(p) || !follows_from_contexts(p))
		return true;
	uint32_t *now = calloc(p->context_count, sizeof *now);
	bool good = now;

	slope_regrow_begin(&r, p);
	for (size_t at = 0; at < p->context_count && good; at++) {
		const struct slope_profile_context *old = &p->context[at];
		uint32_t above = old->parent == SLOPE_CONTEXT_NONE ? SLOPE_CONTEXT_NONE : now[old->parent];
		bool part = above != SLOPE_CONTEXT_NONE && p->function[old->function].flags & SLOPE_FN_INLINED;

		now[at] = part ? above : slope_regrow_node(&r, above, old->thread, old->function, old->site);
		good = now[at] != SLOPE_CONTEXT_NONE;
		for (unsigned u = 0; u < p->units && good; u++)
			r.node[now[at]].self[u] += old->self[u];
		if (good && !part)
			r.node[now[at]].calls += old->calls;
	}
	good = good && slope_regrow_end(&r, p);
	slope_regrow_fini(&r);
	free(now);
	return good;
}
