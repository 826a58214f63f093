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

/* Which cases lead to translated code at once. */
static struct {
	struct slope_arena arena;
	struct path_case **known;
	size_t count, capacity;
	bool ready;
} cases;

/* Nobody knows which of them led to the block. */
static void forget_cases(void)
{
	while (cases.count)
		__atomic_store_n(&cases.known[--cases.count]->to, 0, __ATOMIC_RELAXED);
}

void pathcode_switch_to(struct path_case *c, uint64_t code)
{
	if (!cases.ready) {
		slope_arena_init(&cases.arena, &system_host);
		runtime.cache.died = forget_cases;
		cases.ready = true;
	}
	if (c->to || !slope_arena_grow(&cases.arena, (void **)&cases.known, &cases.capacity, cases.count + 1, sizeof *cases.known))
		return;
	cases.known[cases.count++] = c;
	__atomic_store_n(&c->to, code, __ATOMIC_RELEASE);
}

/* What following the edge of a switch does. */
static struct path_case case_of(const struct path_graph *g, uint32_t first, uint32_t edge)
{
	const struct slope_path_edge *e = &g->core->paths.edge[edge];

	if (!ends_path(e))
		return (struct path_case){ .becomes = (uint64_t)e->add };
	uint64_t begin = e->to == SLOPE_PATH_OUT ? pathbegins_at(g->flow.edge[edge].target) : path_begin(g, e->to);

	return (struct path_case){ .becomes = begin, .more = (uint64_t)(e->add - g->core->paths.edge[first].add), .ends = 1 };
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
		struct path_case wanted = case_of(g, first, e);
		const struct path_case *there = &c->at[g->flow.edge[e].target - g->lowest];

		if (is_case(g, e) && (wanted.becomes != there->becomes || wanted.more != there->more || wanted.ends != there->ends))
			return false;
	}
	return c->count == end - first;
}

/* By distance from the graph's lowest address; switches that are alike share one. */
static struct path_cases *cases_of(const struct path_place *place)
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

static void by_c(struct maker *m, const struct path_place *place, struct path_cases *known)
{
	reports_call(&m->e, (const void *)pathevents_switch, (const struct argument[3]){
		{ ARGUMENT_REGISTER, REG_RCX }, { ARGUMENT_CONSTANT, (uint64_t)place }, { ARGUMENT_CONSTANT, (uint64_t)known },
	});
}

/* rax is where the case is: paths that end with it. rcx is free, its value is in the context. */
static void emit_case_ends(struct maker *m, struct path_graph *g, uint32_t first)
{
	struct address at = { .base = REG_RAX, .index = NO_REGISTER };
	struct operand value = { &at, OPERAND_ITSELF, true };
	struct room_here room = { .live = (uint16_t)~(1u << REG_RCX), .kept = { NO_REGISTER, NO_REGISTER }, .taken = REG_RDX };

	emit_memory(&m->e, 0x8b, REG_RDX, value, offsetof(struct path_case, more));
	emit_context(&m->e, 0x03, REG_RDX, CTX_PATH);             /* add %gs:PATH, %rdx */
	emit_memory(&m->e, 0x8b, REG_RAX, value, offsetof(struct path_case, becomes));
	pathmaking_count_loaded(m, g, first, room, REG_RDX);
	emit_save(&m->e, REG_RAX, CTX_PATH);
}

static void emit_case(struct maker *m, const struct path_place *place)
{
	struct path_graph *g = place->graph;
	const struct slope_path_graph *p = &g->core->paths;
	struct address at = { .base = REG_RAX, .index = NO_REGISTER };
	struct operand value = { &at, OPERAND_ITSELF, true };
	uint32_t first = p->first[place->vertex];
	bool ends = false, goes_on = false;
	uint8_t *whole = NULL, *done = NULL;

	for (uint32_t e = first; e < p->first[place->vertex + 1]; e++) {
		ends |= ends_path(&p->edge[e]);
		goes_on |= !ends_path(&p->edge[e]);
	}
	if (ends && goes_on) {
		emit_memory(&m->e, 0x83, 7, value, offsetof(struct path_case, ends));     /* cmpq $0 */
		emit_byte(&m->e, 0);
		whole = emit_jump_ahead(&m->e, CONDITION_EQUAL);
	}
	if (ends)
		emit_case_ends(m, g, first);
	if (ends && goes_on) {
		done = emit_jump_ahead(&m->e, CONDITION_NONE);
		emit_land(&m->e, whole);
	}
	if (goes_on) {
		emit_memory(&m->e, 0x8b, REG_RAX, value, offsetof(struct path_case, becomes));
		emit_context(&m->e, 0x01, REG_RAX, CTX_PATH);     /* add %rax, %gs:PATH */
	}
	if (done)
		emit_land(&m->e, done);
}

/* These are the program's again. */
static void end_switch(struct maker *m, bool flags)
{
	struct emit *e = &m->e;

	if (flags) {
		emit_restore(e, REG_RAX, SWITCH_FLAGS);
		emit_bytes(e, "\x04\x7f\x9e", 3);                 /* add $127, %al; sahf */
	}
	emit_restore(e, REG_RDX, SWITCH_RDX);
	emit_restore(e, REG_RAX, SWITCH_RAX);
}

/* It leads to where it has not led yet, or where nobody has expected it to; or the activation is measured. */
void pathmaking_cold_case(struct maker *m, const struct cold *c)
{
	end_switch(m, c->keep_flags);
	emit_save(&m->e, REG_RCX, CTX_GUEST_TARGET);
	if (observer.measures)
		pathmaking_ticks(m, CTX_TICKS_IN);
	by_c(m, c->place, c->cases);
	if (observer.measures)
		pathmaking_ticks(m, CTX_TICKS_OUT);
	emit_restore(&m->e, REG_RCX, CTX_REG(REG_RCX));
	exits_site(m, SITE_CASE, 0, NULL);
}

static bool emit_switch(struct maker *m, const struct path_place *place)
{
	const struct path_graph *g = place->graph;
	struct emit *e = &m->e;
	struct path_cases *known = cases_of(place);
	struct address distance = { .base = REG_RCX, .index = NO_REGISTER, .displacement = -(int64_t)g->lowest };
	struct address at = { .base = REG_RAX, .index = REG_RDX };
	struct operand value = { &at, OPERAND_ITSELF, true };
	bool flags = wants_flags(place);

	if (!known || !pathmaking_is_short((int64_t)g->lowest) || g->span >> (31 - PATH_CASE_LOG2)) {
		by_c(m, place, NULL);
		return false;
	}
	struct cold *c = making_cold(m, COLD_CASE);

	c->place = place;
	c->cases = known;
	c->keep_flags = flags;
	emit_save(e, REG_RAX, SWITCH_RAX);
	emit_save(e, REG_RDX, SWITCH_RDX);
	if (flags) {
		emit_bytes(e, "\x9f\x0f\x90\xc0", 4);             /* lahf; seto %al */
		emit_save(e, REG_RAX, SWITCH_FLAGS);
	}
	if (observer.measures) {
		pathmaking_countdown(m);
		making_jump(m, c, CONDITION_SIGN);
	}
	emit_address(e, REG_RAX, &distance, 0);
	emit_bytes(e, "\x48\x3d", 2);                             /* cmp $span, %rax */
	emit_32(e, (uint32_t)g->span);
	making_jump(m, c, CONDITION_NOT_BELOW);
	emit_constant(e, REG_RDX, (uint64_t)known->at);
	emit_bytes(e, "\xc1\xe0", 2);                             /* shl $PATH_CASE_LOG2, %eax */
	emit_byte(e, PATH_CASE_LOG2);
	emit_memory(e, 0x8d, REG_RAX, value, 0);                  /* lea */
	at.index = NO_REGISTER;
	emit_memory(e, 0x8b, REG_RDX, value, offsetof(struct path_case, to));
	emit_bytes(e, "\x48\x85\xd2", 3);                         /* test %rdx, %rdx */
	making_jump(m, c, CONDITION_EQUAL);
	emit_save(e, REG_RDX, CTX_TARGET);
	emit_case(m, place);
	end_switch(m, flags);
	emit_restore(e, REG_RCX, CTX_REG(REG_RCX));
	emit_bytes(e, "\x65\xff\x24\x25", 4);                     /* jmp *%gs:TARGET */
	emit_32(e, CTX_TARGET);
	return true;
}

/* A tail call leaves what is kept for the return where it is; anything else is for C. */
static void emit_anywhere(struct maker *m)
{
	struct address top = { .base = REG_RSP, .index = NO_REGISTER };
	struct operand kept = { &top, observing_keeps_paths_apart() ? OPERAND_ITSELF : OPERAND_IN_WINDOW, true };
	uint8_t *tail;

	emit_save(&m->e, REG_RCX, CTX_GUEST_TARGET);
	if (observing_keeps_paths_apart()) {
		top.index = REG_RCX;
		emit_restore(&m->e, REG_RCX, CTX_PATH_WINDOW);
	}
	emit_memory(&m->e, 0x8b, REG_RCX, kept, 0);
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
