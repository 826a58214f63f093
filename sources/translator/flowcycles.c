/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What of a graph lies on cycles. Parts that reach one another are a component
 * (Tarjan's algorithm, without recursion). One with several switches is an
 * interpreter: paths that go through one dispatch after another are too many to
 * be of use, so they end at each.
 *
 * Weights are guesses: ten times as often for each loop around, half of it for
 * each way of a branch, hardly ever where the program ends. What code before
 * another jumps back over is taken for a loop, as compilers lay code out.
 */
#include "sources/translator/flowwork.h"

#define WEIGHT 16u
#define DEPTH_MAX 5u

struct cycles {
	uint32_t *order;             /* 1 + when the part was reached; 0: not yet */
	uint32_t *low;               /* the earliest that it is known to reach back to */
	uint32_t *component;         /* 1 + number; 0: still open */
	uint32_t *next;              /* the link to look at next */
	uint32_t *way, *open;        /* stacks: the way from the root; what has no component yet */
	uint32_t *switches;          /* by component */
	uint32_t count, components, way_length, open_length;
};

#define ARRAYS 7u

static void reach(const struct flow_work *w, struct cycles *c, uint32_t part)
{
	c->order[part] = c->low[part] = ++c->count;
	c->next[part] = w->part[part].edges;
	c->way[c->way_length++] = part;
	c->open[c->open_length++] = part;
}

/* All that the part reaches has been looked at. */
static void leave(struct cycles *c, uint32_t part)
{
	uint32_t member;

	c->way_length--;
	if (c->way_length) {
		uint32_t *low = &c->low[c->way[c->way_length - 1]];

		*low = c->low[part] < *low ? c->low[part] : *low;
	}
	if (c->low[part] != c->order[part])
		return;
	c->components++;
	do {
		member = c->open[--c->open_length];
		c->component[member] = c->components;
	} while (member != part);
}

static void find_components(const struct flow_work *w, struct cycles *c)
{
	for (uint32_t root = 0; root < w->parts; root++) {
		if (!c->order[root])
			reach(w, c, root);
		while (c->way_length) {
			uint32_t part = c->way[c->way_length - 1];

			if (c->next[part] == w->part[part + 1].edges) {
				leave(c, part);
				continue;
			}
			uint32_t to = w->link[c->next[part]++].to;

			if (to == SLOPE_PATH_OUT)
				continue;
			if (!c->order[to])
				reach(w, c, to);
			else if (!c->component[to] && c->order[to] < c->low[part])
				c->low[part] = c->order[to];
		}
	}
}

static bool is_switch(const struct flow_work *w, uint32_t part)
{
	const struct flow_instruction *last = &w->instruction[w->part[part].first + w->part[part].count - 1];

	return last->kind == FLOW_JUMP_INDIRECT && w->jump[last->jump].resolved;
}

static void cut_dispatches(struct flow_work *w, struct cycles *c)
{
	for (uint32_t n = 0; n < w->parts; n++)
		c->switches[c->component[n] - 1] += is_switch(w, n);
	for (uint32_t n = 0; n < w->parts; n++)
		for (uint32_t k = w->part[n].edges; k < w->part[n + 1].edges; k++)
			w->link[k].cut = w->link[k].way == SLOPE_WAY_TABLE && c->switches[c->component[n] - 1] > 1;
}

static bool stops(const struct flow_work *w, uint32_t part)
{
	return part != SLOPE_PATH_OUT && w->instruction[w->part[part].first + w->part[part].count - 1].kind == FLOW_STOP;
}

static void weigh_part(struct flow_work *w, uint32_t part, uint32_t weight)
{
	struct flow_link *l = &w->link[w->part[part].edges];
	uint32_t ways = w->part[part + 1].edges - w->part[part].edges;

	for (uint32_t n = 0; n < ways; n++) {
		bool free = l[n].to == SLOPE_PATH_OUT || l[n].way == SLOPE_WAY_TABLE;

		l[n].weight = free ? 0 : stops(w, l[n].to) ? 1 : ways == 2 && !stops(w, l[1 - n].to) ? weight / 2 : weight;
	}
}

/* `last`: for each part, the last one that jumps back to it. */
static void weigh_parts(struct flow_work *w, uint32_t *last, uint32_t *ending)
{
	uint32_t depth = 0;

	for (size_t n = 0; n < w->links; n++) {
		const struct flow_link *l = &w->link[n];

		if (l->to != SLOPE_PATH_OUT && l->to <= l->from && !l->cut && last[l->to] <= l->from)
			last[l->to] = l->from + 1;
	}
	for (uint32_t n = 0; n < w->parts; n++) {
		uint32_t weight = WEIGHT;

		if (last[n]) {
			depth++;
			ending[last[n] - 1]++;
		}
		for (uint32_t k = 0; k < depth && k < DEPTH_MAX; k++)
			weight *= 10;
		weigh_part(w, n, weight);
		depth -= ending[n];
	}
}

static void zero(uint32_t *array, size_t count)
{
	for (size_t n = 0; n < count; n++)
		array[n] = 0;
}

bool flowcycles_weigh(struct flow_work *w)
{
	size_t parts = w->parts;
	uint32_t *all = slope_arena_alloc(w->arena, parts * ARRAYS * sizeof *all), resolved = 0;

	if (!all)
		return false;
	struct cycles c = {
		.order = all, .low = all + parts, .component = all + parts * 2, .next = all + parts * 3, .way = all + parts * 4,
		.open = all + parts * 5, .switches = all + parts * 6,
	};

	for (size_t n = 0; n < w->jumps; n++)
		resolved += w->jump[n].resolved;
	if (resolved > 1) {
		find_components(w, &c);
		cut_dispatches(w, &c);
		zero(all, parts * 2);
	}
	weigh_parts(w, all, all + parts);
	slope_arena_free(w->arena, all, parts * ARRAYS * sizeof *all);
	return true;
}
