/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What following paths adds to translated code: additions to CTX_PATH on some
 * edges, counting where paths end. Registers and flags that are dead where an edge leads
 * are used; others are kept in the context meanwhile.
 */
#include "sources/translator/pathmaking.h"

#include "sources/translator/observing.h"

/* ---- edges ---- */

bool pathcode_has_edge(const struct path_place *place, uint32_t edge)
{
	const struct slope_graph *g = place->graph->core;
	const struct slope_path_edge *e;

	if (edge == UINT32_MAX || g->way[edge] == SLOPE_WAY_NOWHERE)
		return false;
	e = &g->paths.edge[edge];
	return e->cut || e->to == SLOPE_PATH_OUT || e->add;
}

/* Sets the sign flag when it is over. */
void pathmaking_countdown(struct maker *m)
{
	emit_bytes(&m->e, "\x65\x48\xff\x0c\x25", 5);            /* decq %gs:COUNTDOWN */
	emit_32(&m->e, CTX_COUNTDOWN);
}

/* C takes the edge; numbers of edges may change, where they lead to does not. */
static void report_way(struct maker *m, const struct path_place *place, uint64_t target, uint32_t way)
{
	reports_call(&m->e, (const void *)pathevents_edge, (const struct argument[3]){
		{ ARGUMENT_CONSTANT, (uint64_t)place }, { ARGUMENT_CONSTANT, target }, { ARGUMENT_CONSTANT, way },
	});
}

static void report_edge(struct maker *m, const struct path_place *place, uint32_t edge)
{
	report_way(m, place, place->graph->flow.edge[edge].target, place->graph->core->way[edge]);
}

void pathmaking_report_timed(struct maker *m, const struct path_place *place, uint32_t edge)
{
	pathmaking_ticks(m, CTX_TICKS_IN);
	report_edge(m, place, edge);
	pathmaking_ticks(m, CTX_TICKS_OUT);
}

/* The same for activations that are measured; flags are dead. It comes back to c->back, which the caller sets. */
static struct cold *test_measured(struct maker *m, const struct path_place *place, uint32_t edge, bool counts_down)
{
	struct cold *c = making_cold(m, COLD_MEASURED);

	c->place = place;
	c->target = place->graph->flow.edge[edge].target;
	c->way = place->graph->core->way[edge];
	if (counts_down) {
		pathmaking_countdown(m);
	} else {
		emit_bytes(&m->e, "\x65\x48\x83\x3c\x25", 5);    /* cmpq $0, %gs:PATH */
		emit_32(&m->e, CTX_PATH);
		emit_byte(&m->e, 0);
	}
	making_jump(m, c, CONDITION_SIGN);
	return c;
}

/* What happens between the two is not the program's time. Flags are kept. */
void pathmaking_ticks(struct maker *m, uint32_t to)
{
	emit_save(&m->e, REG_RAX, CTX_PATH_KEPT_A);
	emit_save(&m->e, REG_RDX, CTX_PATH_KEPT_B);
	emit_bytes(&m->e, "\x0f\x31", 2);                         /* rdtsc */
	emit_bytes(&m->e, "\x65\x89\x04\x25", 4);                 /* mov %eax, %gs:.. */
	emit_32(&m->e, to);
	emit_bytes(&m->e, "\x65\x89\x14\x25", 4);                 /* mov %edx, %gs:.. */
	emit_32(&m->e, to + 4);
	emit_restore(&m->e, REG_RAX, CTX_PATH_KEPT_A);
	emit_restore(&m->e, REG_RDX, CTX_PATH_KEPT_B);
}

static void cold_measured(struct maker *m, const struct cold *c)
{
	pathmaking_ticks(m, CTX_TICKS_IN);
	report_way(m, c->place, c->target, c->way);
	pathmaking_ticks(m, CTX_TICKS_OUT);
	emit_near(&m->e, 0xe9, (uint64_t)c->back);
}

void pathcode_edge(struct maker *m, const struct path_place *place, uint32_t edge)
{
	struct path_graph *g = place->graph;
	const struct slope_path_edge *e;
	struct room_here room;
	int64_t path;
	bool known = pathmaking_known(m, g, place->vertex, &path);

	if (!known)
		pathmaking_likely(m, g, place->vertex, &path);
	if (!pathcode_has_edge(place, edge))
		return;
	e = &g->core->paths.edge[edge];
	room = pathmaking_room(g->flow.edge[edge].target);
	if (!e->cut && e->to != SLOPE_PATH_OUT) {
		if (known && pathmaking_is_short(path + e->add))
			pathmaking_set(m, (uint64_t)(path + e->add), room);
		else
			pathmaking_add(m, e->add, room);
		return;
	}
	bool flags = observer.measures && room.flags;

	if (flags)
		pathmaking_keep_flags(m, &room);
	struct cold *c = observer.measures ? test_measured(m, place, edge, true) : NULL;

	pathmaking_count(m, g, edge, room);
	if (e->to != SLOPE_PATH_OUT)
		pathmaking_set(m, path_begin(g, e->to), room);
	else if (g->core->way[edge] == SLOPE_WAY_TAIL)
		pathmaking_set_entry(m, g->flow.edge[edge].target, room);
	else if (g->flow.edge[edge].target)
		pathmaking_set(m, pathbegins_at(g->flow.edge[edge].target), room);
	if (c)
		c->back = m->e.at;
	if (flags)
		pathmaking_bring_flags_back(m);
}

/* The edge that the block around the step takes to there, if the step is its last. */
const struct path_place *pathmaking_ends_block(const struct step *s)
{
	const struct path_place *place = pathplaces_at(s->pc);

	return place && path_last(place) == s->pc ? place : NULL;
}

/* Code without a graph goes on in code that has one. */
static void enter_graph(struct maker *m, const struct step *s, uint64_t target)
{
	if (!pathplaces_at(s->pc) && pathplaces_at(target))
		pathmaking_set_entry(m, target, pathmaking_room(target));
}

/* Where the graph says that control never goes on, and it does: C begins a path there. */
static void take_edge(struct maker *m, const struct path_place *place, enum slope_edge_way way, uint64_t target)
{
	uint32_t edge = pathplaces_edge(place, way, target);

	if (edge != UINT32_MAX && place->graph->core->way[edge] != SLOPE_WAY_NOWHERE) {
		pathcode_edge(m, place, edge);
		return;
	}
	reports_call(&m->e, (const void *)pathevents_unexpected, (const struct argument[3]){
		{ ARGUMENT_CONSTANT, target }, { ARGUMENT_CONSTANT, (uint64_t)place },
	});
	m->path = (struct known_path){ 0 };
}

void pathcode_on(struct maker *m, const struct step *s, uint64_t next)
{
	const struct path_place *place = pathmaking_ends_block(s);

	if (place)
		take_edge(m, place, next == s->next ? SLOPE_WAY_NEXT : SLOPE_WAY_TAKEN, next);
	else
		enter_graph(m, s, next);
}

static bool is_taken_added(const struct step *s)
{
	const struct path_place *place = pathplaces_at(s->pc);
	uint64_t target = making_target(s);

	uint32_t edge = place ? pathplaces_edge(place, SLOPE_WAY_TAKEN, target) : UINT32_MAX;

	if (!place)
		return pathplaces_at(target) != NULL;
	return edge == UINT32_MAX || place->graph->core->way[edge] == SLOPE_WAY_NOWHERE || pathcode_has_edge(place, edge);
}

static void take_branch(struct maker *m, const struct step *s)
{
	const struct path_place *place = pathplaces_at(s->pc);
	uint64_t target = making_target(s);

	if (place)
		take_edge(m, place, SLOPE_WAY_TAKEN, target);
	else
		enter_graph(m, s, target);
}

void pathcode_branch(struct maker *m, unsigned step, bool last)
{
	const struct step *s = &m->trace.step[step];
	int condition = s->i.opcode & 15;
	uint64_t target = making_target(s);
	struct known_path known = m->path;
	struct cold *c;

	if (!is_taken_added(s)) {
		if (last)
			exits_on(m, condition, target);
		else
			exits_add(m, condition, target);
	} else if (last) {
		uint8_t *over = emit_jump_ahead(&m->e, condition ^ 1);

		take_branch(m, s);
		exits_on(m, CONDITION_NONE, target);
		emit_land(&m->e, over);
		m->path = known;
	} else {
		c = making_cold(m, COLD_WAY);
		c->step = step;
		c->known = known;
		making_jump(m, c, condition);
	}
	pathcode_on(m, s, s->next);
	if (last)
		exits_on(m, CONDITION_NONE, s->next);
}

static void cold_sample(struct maker *m, const struct cold *c);

void pathcode_cold(struct maker *m, const struct cold *c)
{
	const struct step *s = &m->trace.step[c->step];

	if (c->kind == COLD_MEASURED) {
		cold_measured(m, c);
		return;
	}
	if (c->kind == COLD_SAMPLE) {
		cold_sample(m, c);
		return;
	}
	if (c->kind == COLD_CASE) {
		pathmaking_cold_case(m, c);
		return;
	}
	if (c->kind == COLD_HIT) {
		pathmaking_cold_hit(m, c);
		return;
	}
	if (c->kind == COLD_UNLIKELY) {
		pathmaking_cold_unlikely(m, c);
		return;
	}
	if (c->kind == COLD_CONTEXT) {
		pathmaking_cold_context(m, c);
		return;
	}
	m->path = c->known;
	take_branch(m, s);
	exits_add(m, CONDITION_NONE, making_target(s));
}

/* ---- calls and returns ---- */

static void keep_apart(struct maker *m)
{
	struct address top = { .base = REG_RSP, .index = REG_R10 };

	emit_save(&m->e, REG_R11, CTX_PATH_KEPT_A);
	emit_save(&m->e, REG_R10, CTX_PATH_KEPT_B);
	emit_restore(&m->e, REG_R11, CTX_PATH);
	emit_restore(&m->e, REG_R10, CTX_PATH_WINDOW);
	emit_memory(&m->e, 0x89, REG_R11, (struct operand){ &top, OPERAND_ITSELF, true }, 0);
	emit_restore(&m->e, REG_R11, CTX_PATH_KEPT_A);
	emit_restore(&m->e, REG_R10, CTX_PATH_KEPT_B);
}

/* r11 has the register: the context, too. */
static void add_context(struct maker *m)
{
	struct address both = { .base = REG_R11, .index = REG_R10 };

	emit_save(&m->e, REG_R10, CTX_PATH_KEPT_B);
	emit_restore(&m->e, REG_R10, CTX_PATH_CONTEXT);
	emit_address(&m->e, REG_R11, &both, 0);                   /* lea */
	emit_restore(&m->e, REG_R10, CTX_PATH_KEPT_B);
}

/* CTX_PATH, to where the return address lies. */
static bool keep_known(struct maker *m, const struct step *s)
{
	const struct path_place *place = pathmaking_ends_block(s);
	int64_t path;

	if (!place || !pathmaking_known(m, place->graph, place->vertex, &path) || !pathmaking_is_short(path))
		return false;
	emit_bytes(&m->e, "\x65\x48\xc7\x84\x24", 5);            /* movq $path, %gs:-GS_PLACE(%rsp) */
	emit_32(&m->e, (uint32_t)-GS_PLACE);
	emit_32(&m->e, (uint32_t)path);
	return true;
}

void pathcode_call(struct maker *m, const struct step *s, uint64_t target)
{
	struct address top = { .base = REG_RSP, .index = NO_REGISTER };

	if (observing_keeps_paths_apart()) {
		keep_apart(m);
	} else if (!keep_known(m, s)) {
		int free = target && !observer.path_contexts ? pathmaking_free(m, pathmaking_room(target)) : NO_REGISTER;
		unsigned reg = free == NO_REGISTER ? REG_R11 : (unsigned)free;

		if (free == NO_REGISTER)
			emit_save(&m->e, reg, CTX_PATH_KEPT_A);
		emit_restore(&m->e, reg, CTX_PATH);
		if (observer.path_contexts)
			add_context(m);
		emit_memory(&m->e, 0x89, reg, (struct operand){ &top, OPERAND_IN_WINDOW, true }, 0);
		if (free == NO_REGISTER)
			emit_restore(&m->e, reg, CTX_PATH_KEPT_A);
	}
	if (target) {
		struct room_here room = pathmaking_room(0);

		room.flags = runtime.flags_cross_calls;
		pathmaking_set_entry(m, target, room);
	}
	if (!observer.measures || runtime.flags_cross_calls)
		return;
	struct cold *c = making_cold(m, COLD_SAMPLE);

	c->target = target;
	pathmaking_countdown(m);
	making_jump(m, c, CONDITION_SIGN);
	c->back = m->e.at;
}

/* A target that is not known yet, or a stub's, is for dispatch.c, so that the one that begins there is the one that is measured. */
static void cold_sample(struct maker *m, const struct cold *c)
{
	bool known = c->target && !codeplaces_in_linkage(c->target);

	pathmaking_ticks(m, CTX_TICKS_IN);
	reports_call(&m->e, known ? (const void *)measures_call : (const void *)measures_call_target, (const struct argument[3]){
		{ ARGUMENT_REGISTER, REG_RSP }, { c->target ? ARGUMENT_CONSTANT : ARGUMENT_REGISTER, c->target ? c->target : REG_RCX },
	});
	if (known) {
		pathmaking_ticks(m, CTX_TICKS_OUT);
		emit_near(&m->e, 0xe9, (uint64_t)c->back);
		return;
	}
	if (!c->target)
		emit_restore(&m->e, REG_RCX, CTX_REG(REG_RCX));
	exits_site(m, SITE_INDIRECT, 0, NULL);
}

bool pathcode_acts_behind(uint64_t pc)
{
	const struct path_place *call = pathplaces_call_before(pc);

	return call && pathcode_has_edge(call, pathplaces_edge(call, SLOPE_WAY_NEXT, pc));
}

/* Does a switch lead there? */
static bool is_in_table(const struct path_graph *g, uint64_t pc)
{
	for (uint32_t e = 0; e < g->core->paths.edges; e++)
		if (g->core->way[e] == SLOPE_WAY_TABLE && g->flow.edge[e].target == pc)
			return true;
	return false;
}

/*
 * What is behind a call that does not come back may be a landing pad. And a switch, whose path is already the one that goes on there, may
 * not come by way of what the call does.
 */
bool pathcode_may_return(const struct step *call)
{
	const struct path_place *p = pathplaces_at(call->pc);

	if (!p)
		return true;
	return p->graph->core->block[p->vertex].end == SLOPE_BLOCK_CALLS &&
	       !(pathcode_acts_behind(call->next) && is_in_table(p->graph, call->next));
}

bool pathcode_return(struct maker *m, const struct step *s)
{
	const struct path_place *place = pathmaking_ends_block(s);
	struct room_here room = pathmaking_room(0);
	int64_t path;
	bool known = place && pathmaking_known(m, place->graph, place->vertex, &path);
	bool saves = place && place->graph->counters && !known && !observer.on && !observer.path_contexts && !runtime.flags_cross_calls;

	room.flags = runtime.flags_cross_calls;
	uint32_t edge = place ? pathplaces_edge(place, SLOPE_WAY_RETURN, 0) : UINT32_MAX;

	if (edge == UINT32_MAX)
		return false;
	bool flags = observer.measures && room.flags;

	if (flags)
		pathmaking_keep_flags(m, &room);
	struct cold *c = observer.measures ? test_measured(m, place, edge, false) : NULL;

	/* The gate would save them first of all. */
	if (saves) {
		room.live = (uint16_t)~(1u << REG_RCX);
		emit_save(&m->e, REG_RCX, CTX_REG(REG_RCX));
	}
	pathmaking_count(m, place->graph, edge, room);
	/* C has counted already, and the register is the program's. */
	if (saves && c) {
		uint8_t *over = emit_jump_ahead(&m->e, CONDITION_NONE);

		c->back = m->e.at;
		emit_save(&m->e, REG_RCX, CTX_REG(REG_RCX));
		emit_land(&m->e, over);
	} else if (c) {
		c->back = m->e.at;
	}
	if (flags)
		pathmaking_bring_flags_back(m);
	return saves;
}

/* ---- stubs of the linkage table ---- */

/* The part that looks the function up for the first time pushes one word, and then the common part another. */
void pathcode_stub(struct maker *m)
{
	const struct trace *t = &m->trace;
	unsigned push = 0;

	while (push < t->steps && t->step[push].i.mnemonic != ZYDIS_MNEMONIC_PUSH)
		push++;
	if (push == t->steps)
		return;
	bool common = !t->step[push].i.raw.imm[0].size;

	reports_call(&m->e, (const void *)(common ? pathevents_lazy_common : pathevents_lazy), (const struct argument[3]){
		{ ARGUMENT_REGISTER, REG_RSP }, { ARGUMENT_CONSTANT, t->steps },
	});
}

/* ---- repeated string instructions ---- */

/* It has run until rcx was 0, as often as the rcx before says. Flags are kept. */
static void count_repeats(struct emit *e, uint32_t counter)
{
	struct address sum = { .base = REG_RAX, .index = REG_RCX };

	emit_save(e, REG_RAX, CTX_PATH_KEPT_A);
	emit_restore(e, REG_RCX, CTX_SPARE);
	emit_in_window(e, 0x8b, REG_RAX, counter);
	emit_address(e, REG_RAX, &sum, 0);                        /* lea */
	emit_in_window(e, 0x89, REG_RAX, counter);
	emit_restore(e, REG_RAX, CTX_PATH_KEPT_A);
	emit_constant(e, REG_RCX, 0);
}

void pathcode_repeated(struct maker *m, const struct step *s)
{
	const struct path_place *place = pathplaces_at(s->pc);
	uint32_t counter = place && !observer.on && strings_run_out(&s->i) ? pathplaces_repeats(place) : 0;

	if (counter)
		count_repeats(&m->e, counter);
	else if (place)
		strings_count(&m->e, &s->i, (const void *)pathevents_repeated, place);
}
