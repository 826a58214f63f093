/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/tally.h"

#define TALLIES_FIRST 128u

const struct slope_edge slope_edge_none = { .caller = UINT32_MAX };

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

static size_t edge_bytes(uint32_t rows, uint32_t units)
{
	return sizeof(struct slope_edge) + (units + (size_t)rows * (2 + units)) * sizeof(uint64_t);
}

void slope_edge_empty(struct slope_edge *e, uint32_t units)
{
	for (size_t i = 0; i < units + (size_t)e->rows * (2 + units); i++)
		e->nested[i] = 0;
}

/* An edge with rows for `bin` and for all that `old` (may be NULL) has, and old's contents. NULL when memory runs out. */
static struct slope_edge *widen(const struct slope_edge *old, uint32_t bin, struct slope_arena *arena, uint32_t units)
{
	uint32_t first = old && old->first < bin ? old->first : bin;
	uint32_t end = old && old->first + old->rows > bin ? old->first + old->rows : bin + 1;
	struct slope_edge *e = slope_arena_alloc(arena, edge_bytes(end - first, units));

	if (!e)
		return NULL;
	e->first = (uint16_t)first;
	e->rows = (uint16_t)(end - first);
	if (old) {
		slope_copy(e->nested, old->nested, units * sizeof *e->nested);
		slope_copy(slope_edge_row(e, old->first - first, units), slope_edge_row(old, 0, units),
			   edge_bytes(old->rows, units) - edge_bytes(0, units));
	}
	return e;
}

/* `e` comes between the edge, or the record, that points to the one behind it, and that one. */
static void put_at(struct slope_edge *e, struct slope_edge **at, struct slope_edge *next)
{
	e->at = at;
	*at = e;
	e->next = next;
	if (next)
		next->at = &e->next;
}

/* `e` takes the place of `old`, wherever a record knows it. */
static void replace(struct slope_record *callee, const struct slope_edge *old, struct slope_edge *e)
{
	put_at(e, old->at, old->next);
	for (unsigned i = 0; i < 2 * SLOPE_EDGE_PAIRS; i++)
		if (callee->edge[i] == old)
			callee->edge[i] = e;
}

/*
 * The edge caller -> callee with a row for `bin`, from now on one of the two at
 * hand. NULL when memory runs out; nothing is lost then. O(1), and O(rows) for a new bin.
 */
static struct slope_edge *edge_with(struct slope_thread *t, uint32_t caller, struct slope_record *callee, uint32_t bin,
				    uint32_t units)
{
	struct slope_arena *arena = &t->arena;
	struct slope_edge **pair = slope_record_pair(callee, caller);
	bool fresh;
	uint64_t *place = slope_map_put(&t->edge_by_ends, (uint64_t)caller << 32 | callee->fn, &fresh);
	struct slope_edge *old = place ? (struct slope_edge *)(uintptr_t)*place : NULL, *e = old;

	if (!place)
		return NULL;
	if (!old || bin - old->first >= old->rows) {
		e = widen(old, bin, arena, units);
		if (!e)
			return NULL;
		e->caller = caller;
		*place = (uint64_t)(uintptr_t)e;
		if (old) {
			replace(callee, old, e);
			slope_arena_free(arena, old, edge_bytes(old->rows, units));
		} else {
			put_at(e, &callee->edges, callee->edges);
		}
	}
	if (pair[0] != e && pair[SLOPE_EDGE_PAIRS] != e) {
		pair[SLOPE_EDGE_PAIRS] = pair[0];
		pair[0] = e;
	}
	return e;
}

void slope_tally_flush_any(struct slope_thread *t, const struct slope_frame *f, uint64_t n)
{
	uint32_t units = t->session->config.units, bin = slope_tally_bin(n);

	while (t->tallies > f->tally_base) {
		const struct slope_tally *tally = slope_tally_at(t, --t->tallies, units);
		struct slope_edge *e = slope_tally_known(tally->callee, f->record->fn, bin);

		if (!e)
			e = edge_with(t, f->record->fn, tally->callee, bin, units);

		if (e) {
			slope_tally_count(e, bin, tally, units);
		} else {
			slope_session_lose(t->session, SLOPE_LOST_EDGES, tally->calls);
			tally->callee->tally = tally->outer;
		}
	}
}

static __attribute__((noinline)) void flush_units(struct slope_thread *t, const struct slope_frame *f, uint64_t n, uint32_t units)
{
	if (!slope_tally_flush_known(t, f, n, units))
		slope_tally_flush_any(t, f, n);
}

/* What is rare is called last, so that the rest needs no stack. */
void slope_tally_flush(struct slope_thread *t, const struct slope_frame *f, uint64_t n, uint32_t units)
{
	if (SLOPE_UNLIKELY(units != 1))
		flush_units(t, f, n, units);
	else if (!slope_tally_flush_known(t, f, n, 1))
		slope_tally_flush_any(t, f, n);
}
