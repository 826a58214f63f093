/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sources/translator/flowwork.h"

/* ---- blocks ---- */

/* By pc, with gaps; what is nearly sorted is soon done. */
static void sort_instructions(struct flow_instruction *f, size_t count)
{
	size_t gap = 1;

	while (gap < count / 3)
		gap = gap * 3 + 1;
	for (; gap; gap /= 3)
		for (size_t n = gap; n < count; n++) {
			struct flow_instruction moved = f[n];
			size_t to = n;

			for (; to >= gap && f[to - gap].pc > moved.pc; to -= gap)
				f[to] = f[to - gap];
			if (to != n)
				f[to] = moved;
		}
}

/* How many runs of instructions side by side there are; 0: they are sorted. */
static size_t count_runs(const struct flow_work *w)
{
	size_t runs = 1;
	bool sorted = true;

	for (size_t n = 1; n < w->instructions; n++) {
		const struct flow_instruction *f = &w->instruction[n];

		runs += f[-1].pc + f[-1].length != f->pc;
		sorted = sorted && f[-1].pc < f->pc;
	}
	return sorted ? 0 : runs;
}

/*
 * Sorts the instructions. They were decoded in runs, side by side: it is enough to sort those, each by its first
 * instruction, whose `jump` and `effect` say from where to where it is. Where runs overlap, little is left to do.
 */
static bool sort_runs(struct flow_work *w)
{
	size_t runs = count_runs(w), at = 0, to = 0;
	struct flow_instruction *run, *sorted;

	if (!runs)
		return true;
	run = slope_arena_alloc_any(w->arena, runs * sizeof *run);
	sorted = slope_arena_alloc_any(w->arena, w->instruction_capacity * sizeof *sorted);
	w->failed = !run || !sorted;
	for (size_t n = 0; n < w->instructions && !w->failed; n++) {
		const struct flow_instruction *f = &w->instruction[n];

		if (!n || f[-1].pc + f[-1].length != f->pc)
			run[at++] = (struct flow_instruction){ .pc = f->pc, .jump = (uint32_t)n };
		run[at - 1].effect = (uint32_t)n + 1;
	}
	sort_instructions(run, at);
	for (size_t k = 0; k < at; k++)
		for (uint32_t n = run[k].jump; n < run[k].effect; n++)
			sorted[to++] = w->instruction[n];
	slope_arena_free(w->arena, run, runs * sizeof *run);
	slope_arena_free(w->arena, w->failed ? sorted : w->instruction, w->instruction_capacity * sizeof *sorted);
	if (w->failed)
		return false;
	w->instruction = sorted;
	if (count_runs(w))
		sort_instructions(w->instruction, w->instructions);
	return true;
}

/* Instructions that overlap, as behind a jump over a prefix, are blocks of their own. */
static bool mark_overlaps(struct flow_work *w)
{
	for (size_t n = 0; n + 1 < w->instructions; n++) {
		const struct flow_instruction *f = &w->instruction[n];
		uint64_t place[2] = { f[1].pc, f->pc + f->length };

		for (unsigned k = 0; k < 2 && place[1] > place[0]; k++) {
			struct flow_chunk *c = flow_chunk_of(w, place[k]);

			if (!c)
				return false;
			c->leaders |= UINT64_C(1) << (place[k] & 63);
		}
	}
	return true;
}

static bool make_parts(struct flow_work *w)
{
	const struct flow_chunk *c = NULL;
	uint64_t chunk_number = 0;
	bool open = false;

	w->parts = 0;
	for (size_t n = 0; n < w->instructions; n++) {
		const struct flow_instruction *f = &w->instruction[n];

		if (!c || f->pc >> 6 != chunk_number) {
			c = flow_chunk_at(w, f->pc);
			chunk_number = f->pc >> 6;
		}
		if (!open || c->leaders >> (f->pc & 63) & 1 || f[-1].pc + f[-1].length != f->pc) {
			if (!FLOW_GROW(w, part, w->parts + 1))
				return false;
			w->part[w->parts++] = (struct flow_part){ .first = (uint32_t)n };
		}
		w->part[w->parts - 1].count++;
		open = f->kind == FLOW_PLAIN;
	}
	return true;
}

uint32_t flow_part_at(const struct flow_work *w, uint64_t pc)
{
	size_t low = 0, high = w->parts;

	while (low < high) {
		size_t middle = (low + high) / 2;
		uint64_t start = w->instruction[w->part[middle].first].pc;

		if (start == pc)
			return (uint32_t)middle;
		if (start < pc)
			low = middle + 1;
		else
			high = middle;
	}
	return FLOW_NONE;
}

uint32_t flow_instruction_before(const struct flow_work *w, uint64_t pc)
{
	size_t low = 0, high = w->instructions;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (w->instruction[middle].pc <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? (uint32_t)low - 1 : FLOW_NONE;
}

/* ---- edges ---- */

static void add_link(struct flow_work *w, uint32_t from, uint32_t to, enum slope_edge_way way, uint64_t target)
{
	if (FLOW_GROW(w, link, w->links + 1))
		w->link[w->links++] = (struct flow_link){ .target = target, .from = from, .to = to, .way = (uint8_t)way };
}

/* To an address, which may be a block's, or not be ours. */
static void add_way(struct flow_work *w, uint32_t from, enum slope_edge_way way, uint64_t target)
{
	uint32_t to = SLOPE_PATH_OUT;

	if (from + 1 < w->parts && w->instruction[w->part[from + 1].first].pc == target)
		to = from + 1;
	else if (flow_is_start(w, target))
		to = flow_part_at(w, target);

	if (to != SLOPE_PATH_OUT) {
		add_link(w, from, to, way, target);
		return;
	}
	switch (flow_place_of(w, target)) {
	case FLOW_BORDER:
		way = SLOPE_WAY_TAIL;
		break;
	case FLOW_TAKEN:
		way = SLOPE_WAY_ELSEWHERE;
		break;
	case FLOW_INSIDE:
		way = w->instructions >= FLOW_INSTRUCTIONS_MAX ? SLOPE_WAY_ELSEWHERE : SLOPE_WAY_NOWHERE;
		break;
	case FLOW_NO_CODE:
		way = SLOPE_WAY_NOWHERE;
		break;
	}
	add_link(w, from, SLOPE_PATH_OUT, way, target);
}

static void add_jump_links(struct flow_work *w, uint32_t from, const struct flow_jump *jump)
{
	for (uint32_t n = 0; n < jump->count; n++)
		add_way(w, from, SLOPE_WAY_TABLE, w->target[jump->first + n]);
	if (!jump->resolved)
		add_link(w, from, SLOPE_PATH_OUT, SLOPE_WAY_ELSEWHERE, 0);
}

static void link_part(struct flow_work *w, uint32_t n)
{
	const struct flow_instruction *last = &w->instruction[w->part[n].first + w->part[n].count - 1];
	uint64_t next = last->pc + last->length;

	w->part[n].edges = (uint32_t)w->links;
	switch ((enum flow_kind)last->kind) {
	case FLOW_PLAIN:
	case FLOW_CALL:
		add_way(w, n, SLOPE_WAY_NEXT, next);
		break;
	case FLOW_BRANCH:
		add_way(w, n, SLOPE_WAY_NEXT, next);
		add_way(w, n, SLOPE_WAY_TAKEN, last->target);
		break;
	case FLOW_JUMP:
		add_way(w, n, SLOPE_WAY_TAKEN, last->target);
		break;
	case FLOW_JUMP_INDIRECT:
		add_jump_links(w, n, &w->jump[last->jump]);
		break;
	case FLOW_RETURN:
		add_link(w, n, SLOPE_PATH_OUT, SLOPE_WAY_RETURN, 0);
		break;
	case FLOW_STOP:
		add_link(w, n, SLOPE_PATH_OUT, SLOPE_WAY_NOWHERE, 0);
		break;
	}
}

/* The links that lead to each part. */
static bool link_back(struct flow_work *w)
{
	uint32_t at = 0;

	if (!FLOW_GROW(w, pred, w->links) || !FLOW_GROW(w, seen, w->parts))
		return false;
	for (size_t n = 0; n < w->parts; n++)
		w->seen[n] = 0;
	for (size_t n = 0; n < w->links; n++)
		if (w->link[n].to != SLOPE_PATH_OUT)
			w->part[w->link[n].to].comes_from++;
	for (size_t n = 0; n < w->parts; n++) {
		uint32_t count = w->part[n].comes_from;

		w->part[n].comes_from = at += count;
	}
	for (size_t n = w->links; n-- > 0;)
		if (w->link[n].to != SLOPE_PATH_OUT)
			w->pred[--w->part[w->link[n].to].comes_from] = (uint32_t)n;
	w->part[w->parts].comes_from = at;
	return true;
}

bool flow_shape(struct flow_work *w)
{
	if (!sort_runs(w) || !mark_overlaps(w) || !make_parts(w) || !FLOW_GROW(w, part, w->parts + 1))
		return false;
	w->links = 0;
	for (uint32_t n = 0; n < w->parts && !w->failed; n++)
		link_part(w, n);
	/* One more, so that each part's end is where the next one's begin. */
	w->part[w->parts] = (struct flow_part){ .edges = (uint32_t)w->links };
	return !w->failed && (!w->jumps || link_back(w));
}
