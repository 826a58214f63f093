/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/tally.h"

#define TALLIES_FIRST 128u

static size_t stack_bytes(const struct slope_thread *t, uint32_t tallies)
{
	return slope_page_round(tallies * (sizeof(struct slope_tally) + t->session->config.units * sizeof(uint64_t)));
}

bool slope_tally_grow(struct slope_thread *t)
{
	const struct slope_host *host = t->session->host;
	uint32_t capacity = t->tally_capacity ? t->tally_capacity * 2 : TALLIES_FIRST;
	unsigned char *tally = capacity ? host->pages(host->ctx, stack_bytes(t, capacity)) : NULL;

	if (!tally)
		return false;
	if (t->tally_capacity) {
		slope_copy(tally, t->tally, stack_bytes(t, t->tally_capacity));
		host->release(host->ctx, t->tally, stack_bytes(t, t->tally_capacity));
	}
	t->tally = tally;
	t->tally_capacity = capacity;
	return true;
}

void slope_tally_release(struct slope_thread *t)
{
	const struct slope_host *host = t->session->host;

	if (t->tally_capacity)
		host->release(host->ctx, t->tally, stack_bytes(t, t->tally_capacity));
	t->tally = NULL;
	t->tallies = t->tally_capacity = 0;
}

struct slope_edge *slope_tally_edge(struct slope_thread *t, struct slope_record *callee, uint32_t caller)
{
	bool fresh;
	uint64_t *place = slope_map_put(&t->edge_by_ends, (uint64_t)caller << 32 | callee->fn, &fresh);

	if (!place)
		return NULL;
	/* Fresh, or left empty by a lack of memory. */
	if (!*place) {
		struct slope_edge *e = slope_arena_alloc(&t->session->arena, sizeof *e);

		if (!e)
			return NULL;
		e->caller = caller;
		slope_points_init_bins(&e->sizes, &t->session->arena, t->session->config.units, SLOPE_EDGE_BITS);
		e->next = callee->edges;
		callee->edges = e;
		*place = (uint64_t)(uintptr_t)e;
	}
	callee->edge[1] = callee->edge[0];
	return callee->edge[0] = (struct slope_edge *)(uintptr_t)*place;
}
