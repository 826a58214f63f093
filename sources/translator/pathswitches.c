/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Indirect jumps while paths are followed. A switch whose targets are known looks them up in a table of
 * its graph: what is added to CTX_PATH there, or which path ends and which begins. Any other ends its path; where it leads, another begins.
 */
#include "sources/translator/pathmaking.h"

#include "sources/translator/observing.h"

static bool ends_path(const struct slope_path_edge *e)
{
	return e->cut || e->to == SLOPE_PATH_OUT;
}

/* What following the edge of a switch does. */
static struct path_case case_of(const struct path_graph *g, uint32_t first, uint32_t edge)
{
	const struct slope_path_edge *e = &g->core->paths.edge[edge];

	if (!ends_path(e))
		return (struct path_case){ (uint64_t)e->add << 2 | PATH_CASE, 0 };
	uint64_t begin = e->to == SLOPE_PATH_OUT ? pathplaces_begin(g->flow.edge[edge].target) : path_begin(g, e->to);

	return (struct path_case){
		begin << 2 | PATH_CASE_ENDS | PATH_CASE, (uint64_t)(e->add - g->core->paths.edge[first].add),
	};
}

/* The table's length; some targets may not be known, or lie elsewhere. */
static bool is_case(const struct path_graph *g, uint32_t edge)
{
	return g->flow.edge[edge].target - g->lowest < g->span;
}

static bool has_cases(const struct path_cases *c, const struct path_place *place)
{
	const struct path_graph *g = place->graph;
	uint32_t first = g->core->paths.first[place->vertex], end = g->core->paths.first[place->vertex + 1];

	for (uint32_t e = first; e < end; e++) {
		struct path_case wanted = case_of(g, first, e), there = { 0, 0 };

		if (!is_case(g, e))
			continue;
		there = c->at[g->flow.edge[e].target - g->lowest];
		if (wanted.becomes != there.becomes || wanted.more != there.more)
			return false;
	}
	return c->count == end - first;
}

/* By distance from the graph's lowest address; switches that are alike share one. */
static const struct path_cases *cases_of(const struct path_place *place)
{
	struct path_graph *g = place->graph;
	uint32_t first = g->core->paths.first[place->vertex], end = g->core->paths.first[place->vertex + 1];
	struct path_cases *c = g->cases;

	while (c && !has_cases(c, place))
		c = c->next;
	if (c)
		return c;
	c = system_pages(slope_page_round(sizeof *c + g->span * sizeof *c->at), true);
	if (!c)
		return NULL;
	for (uint32_t e = first; e < end; e++)
		if (is_case(g, e))
			c->at[g->flow.edge[e].target - g->lowest] = case_of(g, first, e);
	c->count = end - first;
	c->next = g->cases;
	g->cases = c;
	return c;
}

static bool wants_flags(const struct path_place *place)
{
	const struct slope_path_graph *p = &place->graph->core->paths;

	for (uint32_t e = p->first[place->vertex]; e < p->first[place->vertex + 1]; e++)
		if (effects_wanted(place->graph->flow.edge[e].target).flags)
			return true;
	return false;
}

static void by_c(struct maker *m, const struct path_place *place)
{
	reports_call(&m->e, (const void *)pathevents_switch, (const struct argument[3]){
		{ ARGUMENT_REGISTER, REG_RCX }, { ARGUMENT_CONSTANT, (uint64_t)place },
	});
}

/* rax and rdx are a case: paths that end with it. */
static void emit_case_ends(struct maker *m, const struct path_graph *g, uint32_t first)
{
	struct room_here room = { .live = UINT16_MAX, .kept = { NO_REGISTER, NO_REGISTER }, .taken = REG_RDX };

	emit_context(&m->e, 0x03, REG_RDX, CTX_PATH);             /* add %gs:PATH, %rdx */
	pathmaking_count_loaded(m, g, first, room, REG_RDX);
	emit_bytes(&m->e, "\x48\xc1\xf8\x02", 4);                 /* sar $2, %rax */
	emit_save(&m->e, REG_RAX, CTX_PATH);
}

static void emit_case(struct maker *m, const struct path_place *place)
{
	const struct path_graph *g = place->graph;
	const struct slope_path_graph *p = &g->core->paths;
	uint32_t first = p->first[place->vertex];
	bool ends = false, goes_on = false;
	uint8_t *whole = NULL, *done = NULL;

	for (uint32_t e = first; e < p->first[place->vertex + 1]; e++) {
		ends |= ends_path(&p->edge[e]);
		goes_on |= !ends_path(&p->edge[e]);
	}
	if (ends && goes_on) {
		emit_bytes(&m->e, "\xa8\x02", 2);                 /* test $PATH_CASE_ENDS, %al */
		whole = emit_jump_ahead(&m->e, CONDITION_EQUAL);
	}
	if (ends)
		emit_case_ends(m, g, first);
	if (ends && goes_on) {
		done = emit_jump_ahead(&m->e, CONDITION_NONE);
		emit_land(&m->e, whole);
	}
	if (goes_on) {
		emit_bytes(&m->e, "\x48\xc1\xf8\x02", 4);
		emit_context(&m->e, 0x01, REG_RAX, CTX_PATH);     /* add %rax, %gs:PATH */
	}
	if (done)
		emit_land(&m->e, done);
}

/* Registers and flags are the program's again. */
static void end_switch(struct maker *m, bool flags)
{
	struct emit *e = &m->e;

	if (flags) {
		emit_restore(e, REG_RAX, SWITCH_FLAGS);
		emit_bytes(e, "\x04\x7f\x9e", 3);                 /* add $127, %al; sahf */
	}
	emit_restore(e, REG_RDX, SWITCH_RDX);
	emit_restore(e, REG_RAX, SWITCH_RAX);
	emit_restore(e, REG_RCX, CTX_REG(REG_RCX));
}

/* The other half of the table, and C. */
void pathmaking_cold_case(struct maker *m, const struct cold *c)
{
	uint8_t *missed = transfers_probe(&m->e, 1, false);

	emit_near(&m->e, 0xe9, (uint64_t)c->back);
	emit_land(&m->e, missed);
	end_switch(m, c->keep_flags);
	exits_site(m, SITE_CASE, 0, NULL);
}

static bool emit_switch(struct maker *m, const struct path_place *place)
{
	const struct path_graph *g = place->graph;
	struct emit *e = &m->e;
	const struct path_cases *cases = cases_of(place);
	struct address distance = { .base = REG_RCX, .index = NO_REGISTER, .displacement = -(int64_t)g->lowest };
	struct address at = { .base = REG_RDX, .index = REG_RAX, .scale_log2 = 3 };
	struct operand value = { &at, false, true };
	uint8_t *outside, *unknown, *done, *measured = NULL;
	bool flags = wants_flags(place);

	if (!cases || !pathmaking_is_short((int64_t)g->lowest) || !pathmaking_is_short((int64_t)g->span)) {
		by_c(m, place);
		return false;
	}
	emit_save(e, REG_RAX, SWITCH_RAX);
	emit_save(e, REG_RDX, SWITCH_RDX);
	if (flags) {
		emit_bytes(e, "\x9f\x0f\x90\xc0", 4);             /* lahf; seto %al */
		emit_save(e, REG_RAX, SWITCH_FLAGS);
	}
	if (observer.measures) {
		pathmaking_countdown(m);
		measured = emit_jump_ahead(e, CONDITION_SIGN);
	}
	emit_address(e, REG_RAX, &distance, 0);
	emit_bytes(e, "\x48\x3d", 2);                             /* cmp $span, %rax */
	emit_32(e, (uint32_t)g->span);
	outside = emit_jump_ahead(e, CONDITION_NOT_BELOW);
	emit_constant(e, REG_RDX, (uint64_t)cases->at);
	emit_bytes(e, "\x01\xc0", 2);                             /* add %eax, %eax */
	emit_memory(e, 0x8d, REG_RDX, value, 0);                  /* lea */
	at.index = NO_REGISTER;
	emit_memory(e, 0x8b, REG_RAX, value, 0);
	emit_memory(e, 0x8b, REG_RDX, value, 8);
	emit_bytes(e, "\xa8\x01", 2);                             /* test $PATH_CASE, %al */
	unknown = emit_jump_ahead(e, CONDITION_EQUAL);
	emit_case(m, place);
	done = emit_jump_ahead(e, CONDITION_NONE);
	emit_land(e, outside);
	emit_land(e, unknown);
	if (measured) {
		emit_land(e, measured);
		pathmaking_ticks(m, CTX_TICKS_IN);
	}
	by_c(m, place);
	if (measured)
		pathmaking_ticks(m, CTX_TICKS_OUT);
	emit_land(e, done);
	struct cold *c = making_cold(m, COLD_CASE);

	c->keep_flags = flags;
	emit_save(e, REG_RCX, CTX_GUEST_TARGET);
	c->jump[c->jumps++] = transfers_probe(e, 0, false);
	c->back = e->at;
	emit_bytes(e, "\x48\x8b\x80", 3);                         /* mov TARGETS+8(%rax), %rax */
	emit_32(e, PLAN_TARGETS + 8);
	emit_save(e, REG_RAX, CTX_TARGET);
	end_switch(m, flags);
	emit_bytes(e, "\x65\xff\x24\x25", 4);                     /* jmp *%gs:TARGET */
	emit_32(e, CTX_TARGET);
	return true;
}

/* A tail call leaves what is kept for the return where it is; anything else is for C. */
static void emit_anywhere(struct maker *m)
{
	struct address top = { .base = REG_RSP, .index = NO_REGISTER };
	uint8_t *tail;

	emit_save(&m->e, REG_RCX, CTX_GUEST_TARGET);
	if (observing_keeps_paths_apart()) {
		top.index = REG_RCX;
		emit_restore(&m->e, REG_RCX, CTX_PATH_WINDOW);
	}
	emit_memory(&m->e, 0x8b, REG_RCX, (struct operand){ &top, !observing_keeps_paths_apart(), true }, 0);
	emit_bytes(&m->e, "\xe3\x05", 2);                         /* jrcxz over the next */
	tail = emit_jump_ahead(&m->e, CONDITION_NONE);
	emit_restore(&m->e, REG_RCX, CTX_GUEST_TARGET);
	reports_call(&m->e, (const void *)pathevents_jump, (const struct argument[3]){
		{ ARGUMENT_REGISTER, REG_RCX }, { ARGUMENT_REGISTER, REG_RSP },
	});
	emit_restore(&m->e, REG_RCX, CTX_REG(REG_RCX));
	exits_site(m, SITE_RETURN, 0, NULL);
	emit_land(&m->e, tail);
	emit_restore(&m->e, REG_RCX, CTX_GUEST_TARGET);
}

void pathcode_leave(struct maker *m, const struct step *s)
{
	const struct path_place *place = pathmaking_ends_block(s);

	if (!place || codeplaces_in_linkage(m->trace.start) || place->graph->core->block[place->vertex].end == SLOPE_BLOCK_SWITCHES)
		return;
	if (observer.measures)
		pathmaking_report_timed(m, place, place->graph->core->paths.first[place->vertex]);
	else
		pathmaking_count(m, place->graph, place->graph->core->paths.first[place->vertex], pathmaking_room(0));
}

enum lookup_path pathcode_indirect(struct maker *m, const struct step *s)
{
	const struct path_place *place = pathmaking_ends_block(s);

	if (codeplaces_in_linkage(m->trace.start))
		return LOOKUP_BEGINS;
	if (place && place->graph->core->block[place->vertex].end == SLOPE_BLOCK_SWITCHES) {
		return emit_switch(m, place) ? LOOKUP_DONE : LOOKUP_KEEPS;
	}
	emit_anywhere(m);
	return LOOKUP_BEGINS;
}
