/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What following paths adds to translated code: additions to CTX_PATH on some
 * edges, counting where paths end. Registers and flags that are dead where an edge leads
 * are used; others are kept in the context meanwhile.
 */
#include "sources/translator/following.h"

#include "sources/translator/observing.h"

#define CTX_PATH_KEPT_A CTX_PATH_KEPT
#define CTX_PATH_KEPT_B (CTX_PATH_KEPT + 8)

#define CONDITION_EQUAL 4
#define CONDITION_SIGN 8
#define SWITCH_RAX CTX_SPARE
#define SWITCH_RDX (CTX_SPARE + 8)
#define SWITCH_FLAGS (CTX_SPARE + 16)

/* What may be used where code is added. */
struct room_here {
	uint16_t live;               /* registers */
	bool flags;                  /* they are alive */
	int kept[2];                 /* registers whose values are in the context; NO_REGISTER: none */
	int taken;                   /* one that has something in it already */
};

static struct room_here room_at(uint64_t target)
{
	/* What checks may still compare is known to checks.c alone. */
	struct wanted wanted = target && !observer.on ? trace_wanted(target) : (struct wanted){ ARITHMETIC_FLAGS, UINT16_MAX };

	return (struct room_here){ wanted.registers, wanted.flags != 0, { NO_REGISTER, NO_REGISTER }, NO_REGISTER };
}

/* A register for a while, the n-th. */
static unsigned borrow(struct maker *m, struct room_here *room, unsigned n)
{
	static const uint8_t order[] = { REG_RAX, REG_RDX, REG_RCX, REG_RSI, REG_RDI, REG_R8, REG_R9, REG_R10, REG_R11 };
	unsigned reg = n ? REG_RDX : REG_RCX;

	for (unsigned i = 0; i < sizeof order; i++)
		if (!(room->live >> order[i] & 1) && order[i] != m->stamp && order[i] != m->spare) {
			room->live |= (uint16_t)(1u << order[i]);
			return order[i];
		}
	while ((int)reg == m->stamp || (int)reg == m->spare || (int)reg == room->taken || (n && (int)reg == room->kept[0]))
		reg = reg == REG_RCX ? REG_RDX : reg == REG_RDX ? REG_RSI : reg == REG_RSI ? REG_RDI : REG_R8;
	room->kept[n] = (int)reg;
	emit_save(&m->e, reg, n ? CTX_PATH_KEPT_B : CTX_PATH_KEPT_A);
	return reg;
}

static void give_back(struct maker *m, const struct room_here *room)
{
	for (unsigned n = 0; n < 2; n++)
		if (room->kept[n] != NO_REGISTER)
			emit_restore(&m->e, (unsigned)room->kept[n], n ? CTX_PATH_KEPT_B : CTX_PATH_KEPT_A);
}

static bool is_short(int64_t value)
{
	return value == (int32_t)value;
}

void pathcode_context(struct maker *m, uint32_t fn, bool flags)
{
	if (flags || fn >> 31) {
		reports_call(&m->e, (const void *)pathcontexts_enter, (const struct argument[3]){ { ARGUMENT_CONSTANT, fn } });
		return;
	}
	struct address entry = { .base = REG_RAX, .index = NO_REGISTER, .displacement = PATHS_ENTERS_AT };
	struct operand at = { &entry, true, true };
	struct cold *c = making_cold(m, COLD_CONTEXT);

	c->target = fn;
	emit_save(&m->e, REG_RAX, CTX_PATH_KEPT_A);
	emit_save(&m->e, REG_RCX, CTX_PATH_KEPT_B);
	emit_restore(&m->e, REG_RCX, CTX_PATH_CONTEXT);
	emit_bytes(&m->e, "\x48\x81\xc9", 3);                     /* or $fn, %rcx */
	emit_32(&m->e, fn);
	emit_bytes(&m->e, "\x31\xc0\xf2\x48\x0f\x38\xf1\xc1", 8); /* xor %eax, %eax; crc32 %rcx, %rax */
	emit_byte(&m->e, 0x25);                                   /* and $mask, %eax */
	emit_32(&m->e, ((1u << PATHS_ENTERS_LOG2) - 1) << 5);
	emit_memory(&m->e, 0x3b, REG_RCX, at, offsetof(struct path_enter, key));
	making_jump(m, c, CONDITION_NOT_EQUAL);
	emit_memory(&m->e, 0xff, 0, at, offsetof(struct path_enter, calls));      /* incq */
	emit_memory(&m->e, 0x8b, REG_RCX, at, offsetof(struct path_enter, context));
	emit_save(&m->e, REG_RCX, CTX_PATH_CONTEXT);
	emit_restore(&m->e, REG_RAX, CTX_PATH_KEPT_A);
	emit_restore(&m->e, REG_RCX, CTX_PATH_KEPT_B);
	c->back = m->e.at;
}

static void cold_context(struct maker *m, const struct cold *c)
{
	emit_restore(&m->e, REG_RAX, CTX_PATH_KEPT_A);
	emit_restore(&m->e, REG_RCX, CTX_PATH_KEPT_B);
	reports_call(&m->e, (const void *)pathcontexts_enter, (const struct argument[3]){ { ARGUMENT_CONSTANT, c->target } });
	emit_near(&m->e, 0xe9, (uint64_t)c->back);
}

/* CTX_PATH = value */
static void set(struct maker *m, uint64_t value, struct room_here room)
{
	if (is_short((int64_t)value)) {
		emit_bytes(&m->e, "\x65\x48\xc7\x04\x25", 5);     /* movq $value, %gs:PATH */
		emit_32(&m->e, CTX_PATH);
		emit_32(&m->e, (uint32_t)value);
		return;
	}
	unsigned reg = borrow(m, &room, 0);

	emit_constant(&m->e, reg, value);
	emit_save(&m->e, reg, CTX_PATH);
	give_back(m, &room);
}

/* CTX_PATH = value, where a function begins. */
static void set_entry(struct maker *m, uint64_t pc, struct room_here room)
{
	set(m, pathplaces_begin(pc), room);
	if (observer.path_contexts && !codeplaces_in_linkage(pc))
		pathcode_context(m, codeplaces_function(pc), room.flags);
}

/* CTX_PATH += value */
static void add(struct maker *m, int64_t value, struct room_here room)
{
	if (!value)
		return;
	if (is_short(value) && !room.flags) {
		bool little = value == (int8_t)value;

		emit_bytes(&m->e, little ? "\x65\x48\x83\x04\x25" : "\x65\x48\x81\x04\x25", 5);   /* addq $value, %gs:PATH */
		emit_32(&m->e, CTX_PATH);
		emit_bytes(&m->e, &value, little ? 1 : 4);
		return;
	}
	unsigned reg = borrow(m, &room, 0);
	struct address sum = { .base = (int)reg, .index = NO_REGISTER, .displacement = value };

	room.taken = (int)reg;
	if (is_short(value)) {
		emit_restore(&m->e, reg, CTX_PATH);
	} else {
		unsigned more = borrow(m, &room, 1);

		emit_restore(&m->e, reg, CTX_PATH);
		emit_constant(&m->e, more, (uint64_t)value);
		sum.index = (int)more;
		sum.displacement = 0;
	}
	emit_address(&m->e, reg, &sum, 0);
	emit_save(&m->e, reg, CTX_PATH);
	give_back(m, &room);
}

/* CTX_PATH in a register; `loaded`: which has it already, or NO_REGISTER. */
static unsigned load(struct maker *m, struct room_here *room, int loaded)
{
	unsigned reg = loaded == NO_REGISTER ? borrow(m, room, 0) : (unsigned)loaded;

	room->live |= (uint16_t)(1u << reg);
	room->taken = (int)reg;
	if (loaded == NO_REGISTER)
		emit_restore(&m->e, reg, CTX_PATH);
	return reg;
}

/* The counter of the path that ends with this register, plus `plus`. */
static void count_in_array(struct maker *m, const struct path_graph *g, int64_t plus, struct room_here room, int loaded)
{
	unsigned reg = load(m, &room, loaded), value;
	struct address counter = {
		.base = NO_REGISTER, .index = (int)reg, .scale_log2 = 3, .displacement = (int64_t)g->counters + 8 * plus,
	};
	struct operand at = { &counter, true, true };

	if (!room.flags) {
		emit_memory(&m->e, 0xff, 0, at, 0);               /* incq */
		give_back(m, &room);
		return;
	}
	value = borrow(m, &room, 1);
	struct address one = { .base = (int)value, .index = NO_REGISTER, .displacement = 1 };

	emit_memory(&m->e, 0x8b, value, at, 0);
	emit_address(&m->e, value, &one, 0);
	emit_memory(&m->e, 0x89, value, at, 0);
	give_back(m, &room);
}

/* lea value(%reg), %reg, or the same with a third register's help. */
static void add_to(struct maker *m, unsigned reg, unsigned other, int64_t value)
{
	struct address sum = { .base = (int)reg, .index = NO_REGISTER, .displacement = value };

	if (!value)
		return;
	if (!is_short(value)) {
		emit_constant(&m->e, other, (uint64_t)value);
		sum.index = (int)other;
		sum.displacement = 0;
	}
	emit_address(&m->e, reg, &sum, 0);
}

/* The same in the cache; what is not there is for C. */
static void count_in_cache(struct maker *m, const struct path_graph *g, int64_t plus, struct room_here room, int loaded)
{
	unsigned number = load(m, &room, loaded), place = borrow(m, &room, 1);
	struct address entry = { .base = (int)place, .index = NO_REGISTER, .displacement = PATHS_CACHE_AT };
	struct operand at = { &entry, true, true };
	uint8_t *other[2], *done;

	add_to(m, number, place, plus);
	if (room.flags) {
		reports_call(&m->e, (const void *)pathevents_miss, (const struct argument[3]){
			{ ARGUMENT_REGISTER, number }, { ARGUMENT_CONSTANT, g->core->number },
		});
		give_back(m, &room);
		return;
	}
	if (observer.path_contexts)
		emit_context(&m->e, 0x0b, number, CTX_PATH_CONTEXT);      /* or */
	emit_byte(&m->e, 0x40 | (place >> 3 & 1) * 5);            /* xor %place, %place */
	emit_byte(&m->e, 0x31);
	emit_byte(&m->e, 0xc0 | (place & 7) << 3 | (place & 7));
	emit_byte(&m->e, 0xf2);                                   /* crc32 %number, %place */
	emit_byte(&m->e, 0x48 | (place >> 3 & 1) << 2 | (number >> 3 & 1));
	emit_bytes(&m->e, "\x0f\x38\xf1", 3);
	emit_byte(&m->e, 0xc0 | (place & 7) << 3 | (number & 7));
	emit_byte(&m->e, 0x40 | (place >> 3 & 1));                /* and $mask, %place: it is the entry's number times its bytes */
	emit_byte(&m->e, 0x81);
	emit_byte(&m->e, 0xe0 | (place & 7));
	emit_32(&m->e, ((1u << PATHS_CACHE_LOG2) - 1) << PATHS_HIT_LOG2);
	emit_memory(&m->e, 0x3b, number, at, 0);                  /* cmp */
	other[0] = emit_jump_ahead(&m->e, CONDITION_NOT_EQUAL);
	emit_memory(&m->e, 0x81, 7, at, 8);                       /* cmpq $graph */
	emit_32(&m->e, g->core->number + 1);
	other[1] = emit_jump_ahead(&m->e, CONDITION_NOT_EQUAL);
	emit_memory(&m->e, 0xff, 0, at, 16);                      /* incq */
	done = emit_jump_ahead(&m->e, CONDITION_NONE);
	emit_land(&m->e, other[0]);
	emit_land(&m->e, other[1]);
	reports_call(&m->e, (const void *)pathevents_miss_packed, (const struct argument[3]){
		{ ARGUMENT_REGISTER, number }, { ARGUMENT_CONSTANT, g->core->number },
	});
	emit_land(&m->e, done);
	give_back(m, &room);
}

/* The running activation has taken it, too: that is for C. */
static void count_by_c(struct maker *m, const struct path_graph *g, int64_t plus, struct room_here room, int loaded)
{
	unsigned number = load(m, &room, loaded);

	add_to(m, number, is_short(plus) ? 0 : borrow(m, &room, 1), plus);
	reports_call(&m->e, (const void *)pathevents_count, (const struct argument[3]){
		{ ARGUMENT_REGISTER, number }, { ARGUMENT_CONSTANT, (uint64_t)g },
	});
	give_back(m, &room);
}

/* A path ends with this edge. */
static void count_loaded(struct maker *m, const struct path_graph *g, uint32_t edge, struct room_here room, int loaded)
{
	int64_t plus = g->core->paths.edge[edge].add - g->shift;

	if (observing_keeps_paths_apart())
		count_by_c(m, g, plus, room, loaded);
	else if (g->counters)
		count_in_array(m, g, plus, room, loaded);
	else
		count_in_cache(m, g, plus, room, loaded);
}

static void count(struct maker *m, const struct path_graph *g, uint32_t edge, struct room_here room)
{
	count_loaded(m, g, edge, room, NO_REGISTER);
}

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
static void emit_countdown(struct maker *m)
{
	emit_bytes(&m->e, "\x65\x48\xff\x0c\x25", 5);            /* decq %gs:COUNTDOWN */
	emit_32(&m->e, CTX_COUNTDOWN);
}

/* From here on flags may be changed, but rax may not be used; until the other. */
static void keep_flags(struct maker *m, struct room_here *room)
{
	emit_save(&m->e, REG_RAX, SWITCH_RAX);
	emit_bytes(&m->e, "\x9f\x0f\x90\xc0", 4);                 /* lahf; seto %al */
	room->live |= 1u << REG_RAX;
	room->flags = false;
}

static void bring_flags_back(struct maker *m)
{
	emit_bytes(&m->e, "\x04\x7f\x9e", 3);                     /* add $127, %al; sahf */
	emit_restore(&m->e, REG_RAX, SWITCH_RAX);
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

static void emit_ticks(struct maker *m, uint32_t to);

static void report_timed(struct maker *m, const struct path_place *place, uint32_t edge)
{
	emit_ticks(m, CTX_TICKS_IN);
	report_edge(m, place, edge);
	emit_ticks(m, CTX_TICKS_OUT);
}

/* The same for activations that are measured; flags are dead. It comes back to c->back, which the caller sets. */
static struct cold *test_measured(struct maker *m, const struct path_place *place, uint32_t edge, bool counts_down)
{
	struct cold *c = making_cold(m, COLD_MEASURED);

	c->place = place;
	c->target = place->graph->flow.edge[edge].target;
	c->way = place->graph->core->way[edge];
	if (counts_down) {
		emit_countdown(m);
	} else {
		emit_bytes(&m->e, "\x65\x48\x83\x3c\x25", 5);    /* cmpq $0, %gs:PATH */
		emit_32(&m->e, CTX_PATH);
		emit_byte(&m->e, 0);
	}
	making_jump(m, c, CONDITION_SIGN);
	return c;
}

/* What happens between the two is not the program's time. Flags are kept. */
static void emit_ticks(struct maker *m, uint32_t to)
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
	emit_ticks(m, CTX_TICKS_IN);
	report_way(m, c->place, c->target, c->way);
	emit_ticks(m, CTX_TICKS_OUT);
	emit_near(&m->e, 0xe9, (uint64_t)c->back);
}

void pathcode_edge(struct maker *m, const struct path_place *place, uint32_t edge)
{
	const struct path_graph *g = place->graph;
	const struct slope_path_edge *e;
	struct room_here room;

	if (!pathcode_has_edge(place, edge))
		return;
	e = &g->core->paths.edge[edge];
	room = room_at(g->flow.edge[edge].target);
	if (!e->cut && e->to != SLOPE_PATH_OUT) {
		add(m, e->add, room);
		return;
	}
	bool flags = observer.measures && room.flags;

	if (flags)
		keep_flags(m, &room);
	struct cold *c = observer.measures ? test_measured(m, place, edge, true) : NULL;

	count(m, g, edge, room);
	if (e->to != SLOPE_PATH_OUT)
		set(m, path_begin(g, e->to), room);
	else if (g->core->way[edge] == SLOPE_WAY_TAIL)
		set_entry(m, g->flow.edge[edge].target, room);
	else if (g->flow.edge[edge].target)
		set(m, pathplaces_begin(g->flow.edge[edge].target), room);
	if (c)
		c->back = m->e.at;
	if (flags)
		bring_flags_back(m);
}

/* The edge that the block around the step takes to there, if the step is its last. */
static const struct path_place *ends_block(const struct step *s)
{
	const struct path_place *place = pathplaces_at(s->pc);

	return place && place->last == s->pc ? place : NULL;
}

/* Code without a graph goes on in code that has one. */
static void enter_graph(struct maker *m, const struct step *s, uint64_t target)
{
	if (!pathplaces_at(s->pc) && pathplaces_at(target))
		set_entry(m, target, room_at(target));
}

/* Where the graph says that control never goes on, and it does: C begins a path there. */
static void take_edge(struct maker *m, const struct path_place *place, enum slope_edge_way way, uint64_t target)
{
	uint32_t edge = pathplaces_edge(place, way, target);

	if (edge != UINT32_MAX && place->graph->core->way[edge] != SLOPE_WAY_NOWHERE)
		pathcode_edge(m, place, edge);
	else
		reports_call(&m->e, (const void *)pathevents_unexpected, (const struct argument[3]){
			{ ARGUMENT_CONSTANT, target }, { ARGUMENT_CONSTANT, (uint64_t)place },
		});
}

void pathcode_on(struct maker *m, const struct step *s, uint64_t next)
{
	const struct path_place *place = ends_block(s);

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
	} else {
		c = making_cold(m, COLD_WAY);
		c->step = step;
		making_jump(m, c, condition);
	}
	pathcode_on(m, s, s->next);
	if (last)
		exits_on(m, CONDITION_NONE, s->next);
}

static void cold_sample(struct maker *m, const struct cold *c);
static void cold_case(struct maker *m, const struct cold *c);

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
		cold_case(m, c);
		return;
	}
	if (c->kind == COLD_CONTEXT) {
		cold_context(m, c);
		return;
	}
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
	emit_memory(&m->e, 0x89, REG_R11, (struct operand){ &top, false, true }, 0);
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

void pathcode_call(struct maker *m, uint64_t target)
{
	struct address top = { .base = REG_RSP, .index = NO_REGISTER };

	if (observing_keeps_paths_apart()) {
		keep_apart(m);
	} else {
		emit_save(&m->e, REG_R11, CTX_PATH_KEPT_A);
		emit_restore(&m->e, REG_R11, CTX_PATH);
		if (observer.path_contexts)
			add_context(m);
		emit_memory(&m->e, 0x89, REG_R11, (struct operand){ &top, true, true }, 0);
		emit_restore(&m->e, REG_R11, CTX_PATH_KEPT_A);
	}
	if (target) {
		struct room_here room = room_at(0);

		room.flags = runtime.flags_cross_calls;
		set_entry(m, target, room);
	}
	if (!observer.measures || runtime.flags_cross_calls)
		return;
	struct cold *c = making_cold(m, COLD_SAMPLE);

	c->target = target;
	emit_countdown(m);
	making_jump(m, c, CONDITION_SIGN);
	c->back = m->e.at;
}

/* A target that is not known yet, or a stub's, is for dispatch.c, so that the one that begins there is the one that is measured. */
static void cold_sample(struct maker *m, const struct cold *c)
{
	bool known = c->target && !codeplaces_in_linkage(c->target);

	emit_ticks(m, CTX_TICKS_IN);
	reports_call(&m->e, known ? (const void *)measures_call : (const void *)measures_call_target, (const struct argument[3]){
		{ ARGUMENT_REGISTER, REG_RSP }, { c->target ? ARGUMENT_CONSTANT : ARGUMENT_REGISTER, c->target ? c->target : REG_RCX },
	});
	if (known) {
		emit_ticks(m, CTX_TICKS_OUT);
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
	const struct path_place *place = ends_block(s);
	struct room_here room = room_at(0);
	bool saves = place && place->graph->counters && !observer.on && !observer.path_contexts && !runtime.flags_cross_calls;

	room.flags = runtime.flags_cross_calls;
	uint32_t edge = place ? pathplaces_edge(place, SLOPE_WAY_RETURN, 0) : UINT32_MAX;

	if (edge == UINT32_MAX)
		return false;
	bool flags = observer.measures && room.flags;

	if (flags)
		keep_flags(m, &room);
	struct cold *c = observer.measures ? test_measured(m, place, edge, false) : NULL;

	/* The gate would save them first of all. */
	if (saves) {
		room.live = (uint16_t)~(1u << REG_RCX);
		emit_save(&m->e, REG_RCX, CTX_REG(REG_RCX));
	}
	count(m, place->graph, edge, room);
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
		bring_flags_back(m);
	return saves;
}

/* ---- indirect jumps ---- */

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
		if (trace_wanted(place->graph->flow.edge[e].target).flags)
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
	count_loaded(m, g, first, room, REG_RDX);
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
static void cold_case(struct maker *m, const struct cold *c)
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

	if (!cases || !is_short((int64_t)g->lowest) || !is_short((int64_t)g->span)) {
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
		emit_countdown(m);
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
		emit_ticks(m, CTX_TICKS_IN);
	}
	by_c(m, place);
	if (measured)
		emit_ticks(m, CTX_TICKS_OUT);
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
	const struct path_place *place = ends_block(s);

	if (!place || codeplaces_in_linkage(m->trace.start) || place->graph->core->block[place->vertex].end == SLOPE_BLOCK_SWITCHES)
		return;
	if (observer.measures)
		report_timed(m, place, place->graph->core->paths.first[place->vertex]);
	else
		count(m, place->graph, place->graph->core->paths.first[place->vertex], room_at(0));
}

enum lookup_path pathcode_indirect(struct maker *m, const struct step *s)
{
	const struct path_place *place = ends_block(s);

	if (codeplaces_in_linkage(m->trace.start))
		return LOOKUP_BEGINS;
	if (place && place->graph->core->block[place->vertex].end == SLOPE_BLOCK_SWITCHES) {
		return emit_switch(m, place) ? LOOKUP_DONE : LOOKUP_KEEPS;
	}
	emit_anywhere(m);
	return LOOKUP_BEGINS;
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

void pathcode_repeated(struct maker *m, const struct step *s)
{
	const struct path_place *place = pathplaces_at(s->pc);

	if (place)
		strings_count(&m->e, &s->i, (const void *)pathevents_repeated, place);
}
