/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The blocks of all graphs, by address: in lists, one for each line of 128 bytes. */
#include "sources/translator/following.h"

#include "core/map.h"

#define NEAR_BYTES (UINT64_C(1) << 31)   /* nearly all code is below: plan.h */

static struct {
	struct slope_arena arena;
	uint64_t *near;              /* by line: the first place that touches it, for code below NEAR_BYTES */
	struct slope_map far;        /* the same for all other */
	const struct path_place *found;      /* last */
	uint64_t lowest, highest;    /* all places lie between */
	bool ready;
} index;

static void start(void)
{
	if (index.ready)
		return;
	slope_arena_init(&index.arena, &system_host);
	slope_map_init(&index.far, &index.arena);
	index.near = system_pages(NEAR_BYTES >> PATHINDEX_LINE_LOG2 << 3, true);
	index.lowest = UINT64_MAX;
	index.ready = true;
}

static bool is_near(uint64_t line)
{
	return index.near && line < NEAR_BYTES >> PATHINDEX_LINE_LOG2;
}

/* The first place that touches the line, or NULL. */
static struct path_place *first_of(uint64_t line)
{
	const uint64_t *first = is_near(line) ? &index.near[line] : slope_map_get(&index.far, line);

	return first ? (struct path_place *)*first : NULL;
}

static uint64_t *first_to_set(uint64_t line)
{
	bool fresh;

	return is_near(line) ? &index.near[line] : slope_map_put(&index.far, line, &fresh);
}

const struct path_place *pathindex_find(uint64_t pc)
{
	start();
	if (index.found && pc >= index.found->start && pc < index.found->end)
		return index.found;
	for (const struct path_place *p = first_of(pc >> PATHINDEX_LINE_LOG2); p; p = p->next)
		if (pc >= p->start && pc < p->end)
			return index.found = p;
	return NULL;
}

uint64_t pathindex_next(uint64_t pc, uint64_t end)
{
	for (uint64_t line = pc >> PATHINDEX_LINE_LOG2; line << PATHINDEX_LINE_LOG2 < end; line++) {
		uint64_t first = end;

		for (const struct path_place *p = first_of(line); p; p = p->next)
			if (p->start > pc && p->start < first)
				first = p->start;
		if (first < end)
			return first;
	}
	return end;
}

/* The first and the last line that a block touches. How many. */
static uint64_t lines_of(const struct flow_block *b, uint64_t *first)
{
	*first = b->start >> PATHINDEX_LINE_LOG2;
	return ((b->start + b->bytes - 1) >> PATHINDEX_LINE_LOG2) - *first + 1;
}

/* Makes the places that lie at `p`, one for each line of the block. */
static bool keep(struct path_place *p, struct path_graph *g, uint32_t vertex)
{
	const struct flow_block *b = &g->flow.block[vertex];
	uint64_t first, lines = lines_of(b, &first);

	if (b->start < index.lowest)
		index.lowest = b->start;
	if (b->start + b->bytes > index.highest)
		index.highest = b->start + b->bytes;
	for (uint64_t line = first; line < first + lines; line++, p++) {
		uint64_t *at = first_to_set(line);

		if (!at)
			return false;
		*p = (struct path_place){ (struct path_place *)*at, b->start, b->start + b->bytes, g, vertex };
		*at = (uint64_t)p;
	}
	return true;
}

bool pathindex_keep(struct path_graph *g, uint32_t vertex, uint32_t count)
{
	uint64_t first, lines = 0;
	struct path_place *p;

	start();
	for (uint32_t v = vertex; v < vertex + count; v++)
		lines += lines_of(&g->flow.block[v], &first);
	p = slope_arena_alloc(&index.arena, lines * sizeof *p);
	for (uint32_t v = vertex; p && v < vertex + count; v++) {
		if (!keep(p, g, v))
			return false;
		p += lines_of(&g->flow.block[v], &first);
	}
	return p != NULL;
}

bool pathindex_cut(struct path_graph *g, uint32_t vertex, uint32_t second, uint64_t end)
{
	const struct flow_block *b = &g->flow.block[vertex];

	for (uint64_t line = b->start >> PATHINDEX_LINE_LOG2; line <= (end - 1) >> PATHINDEX_LINE_LOG2; line++) {
		for (struct path_place *p = first_of(line); p; p = p->next)
			if (p->graph == g && p->vertex == vertex) {
				p->start = b->start + b->bytes;
				p->vertex = second;
			}
	}
	return pathindex_keep(g, vertex, 1);
}

void pathindex_drop(const struct path_place *p)
{
	const struct path_graph *g = p->graph;
	uint64_t last = (p->end - 1) >> PATHINDEX_LINE_LOG2;
	uint32_t vertex = p->vertex;

	index.found = NULL;
	for (uint64_t line = p->start >> PATHINDEX_LINE_LOG2; line <= last; line++) {
		struct path_place **at = (struct path_place **)first_to_set(line);

		while (at && *at)
			if ((*at)->graph == g && (*at)->vertex == vertex)
				*at = (*at)->next;
			else
				at = &(*at)->next;
	}
}

/* A block that touches the line and the range, or NULL. */
static const struct path_place *touching(uint64_t line, uint64_t start, uint64_t end)
{
	for (const struct path_place *p = first_of(line); p; p = p->next)
		if (p->start < end && p->end > start)
			return p;
	return NULL;
}

void pathindex_forget(uint64_t address, uint64_t bytes)
{
	uint64_t start = address > index.lowest ? address : index.lowest;
	uint64_t end = address + bytes < index.highest ? address + bytes : index.highest;
	const struct path_place *p;

	if (!index.ready || start >= end)
		return;
	for (uint64_t line = start >> PATHINDEX_LINE_LOG2; line <= (end - 1) >> PATHINDEX_LINE_LOG2; line++)
		while ((p = touching(line, start, end)))
			pathindex_drop(p);
}
