/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What following paths does to CTX_PATH, to counters and to the calling context, as instructions. */
#include "sources/translator/pathmaking.h"

#include "sources/translator/observing.h"

struct room_here pathmaking_room(uint64_t target)
{
	/* What checks may still compare is known to checks.c alone. */
	struct wanted all = { .flags = ARITHMETIC_FLAGS, .registers = UINT16_MAX };
	struct wanted wanted = target && !observer.on ? effects_wanted(target) : all;

	return (struct room_here){ wanted.registers, wanted.flags != 0, { NO_REGISTER, NO_REGISTER }, NO_REGISTER };
}

int pathmaking_free(const struct maker *m, struct room_here room)
{
	static const uint8_t order[] = { REG_RAX, REG_RDX, REG_RCX, REG_RSI, REG_RDI, REG_R8, REG_R9, REG_R10, REG_R11 };

	for (unsigned i = 0; i < sizeof order; i++)
		if (!(room.live >> order[i] & 1) && order[i] != m->stamp && order[i] != m->spare)
			return order[i];
	return NO_REGISTER;
}

/* A register for a while, the n-th. */
static unsigned borrow(struct maker *m, struct room_here *room, unsigned n)
{
	unsigned reg = n ? REG_RDX : REG_RCX;
	int free = pathmaking_free(m, *room);

	if (free != NO_REGISTER) {
		room->live |= (uint16_t)(1u << free);
		return (unsigned)free;
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

void pathcode_context(struct maker *m, uint32_t fn, bool flags)
{
	if (flags || fn >> 31) {
		reports_call(&m->e, (const void *)pathcontexts_enter, (const struct argument[3]){ { ARGUMENT_CONSTANT, fn } });
		return;
	}
	struct address entry = { .base = REG_RAX, .index = NO_REGISTER, .displacement = PATHS_ENTERS_AT };
	struct operand at = { &entry, OPERAND_IN_WINDOW, true };
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

void pathmaking_cold_context(struct maker *m, const struct cold *c)
{
	emit_restore(&m->e, REG_RAX, CTX_PATH_KEPT_A);
	emit_restore(&m->e, REG_RCX, CTX_PATH_KEPT_B);
	reports_call(&m->e, (const void *)pathcontexts_enter, (const struct argument[3]){ { ARGUMENT_CONSTANT, c->target } });
	emit_near(&m->e, 0xe9, (uint64_t)c->back);
}

bool pathmaking_known(struct maker *m, const struct path_graph *g, uint32_t vertex, int64_t *path)
{
	if (!m->path.known && pathvalues_known(g, vertex, path))
		m->path = (struct known_path){ .known = true, .value = *path };
	*path = m->path.value;
	return m->path.known;
}

bool pathmaking_likely(struct maker *m, struct path_graph *g, uint32_t vertex, int64_t *path)
{
	if (!m->path.likely && !g->counters && pathvalues_likely(g, vertex, path))
		m->path = (struct known_path){ .likely = true, .value = *path };
	*path = m->path.value;
	return m->path.likely;
}

/* Nobody else changes it before the end of the block, unless it is measured. */
static void note(struct maker *m, uint64_t value)
{
	m->path = (struct known_path){ .known = !observer.on && !observer.measures && !observer.path_contexts, .value = (int64_t)value };
}

/* CTX_PATH = value */
void pathmaking_set(struct maker *m, uint64_t value, struct room_here room)
{
	if (m->path.known && m->path.value == (int64_t)value)
		return;
	note(m, value);
	if (pathmaking_is_short((int64_t)value)) {
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
void pathmaking_set_entry(struct maker *m, uint64_t pc, struct room_here room)
{
	pathmaking_set(m, pathbegins_at(pc), room);
	if (observer.path_contexts && !codeplaces_in_linkage(pc))
		pathcode_context(m, codeplaces_function(pc), room.flags);
}

/* CTX_PATH += value */
void pathmaking_add(struct maker *m, int64_t value, struct room_here room)
{
	if (!value)
		return;
	m->path.value += value;
	if (pathmaking_is_short(value) && !room.flags) {
		bool little = value == (int8_t)value;

		emit_bytes(&m->e, little ? "\x65\x48\x83\x04\x25" : "\x65\x48\x81\x04\x25", 5);   /* addq $value, %gs:PATH */
		emit_32(&m->e, CTX_PATH);
		emit_bytes(&m->e, &value, little ? 1 : 4);
		return;
	}
	unsigned reg = borrow(m, &room, 0);
	struct address sum = { .base = (int)reg, .index = NO_REGISTER, .displacement = value };

	room.taken = (int)reg;
	if (pathmaking_is_short(value)) {
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
	struct operand at = { &counter, OPERAND_IN_WINDOW, true };

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

/* The counter there. */
static void count_known(struct maker *m, uint64_t counter, struct room_here room)
{
	unsigned value;

	if (!room.flags) {
		emit_in_window(&m->e, 0xff, 0, (uint32_t)counter);        /* incq */
		return;
	}
	value = borrow(m, &room, 0);
	struct address one = { .base = (int)value, .index = NO_REGISTER, .displacement = 1 };

	emit_in_window(&m->e, 0x8b, value, (uint32_t)counter);
	emit_address(&m->e, value, &one, 0);
	emit_in_window(&m->e, 0x89, value, (uint32_t)counter);
	give_back(m, &room);
}

/* lea value(%reg), %reg, or the same with a third register's help. */
static void add_to(struct maker *m, unsigned reg, unsigned other, int64_t value)
{
	struct address sum = { .base = (int)reg, .index = NO_REGISTER, .displacement = value };

	if (!value)
		return;
	if (!pathmaking_is_short(value)) {
		emit_constant(&m->e, other, (uint64_t)value);
		sum.index = (int)other;
		sum.displacement = 0;
	}
	emit_address(&m->e, reg, &sum, 0);
}

static void compare_graph(struct maker *m, const struct path_graph *g, struct operand at)
{
	emit_memory(&m->e, 0x81, 7, at, offsetof(struct path_hit, graph));        /* cmpq $graph */
	emit_32(&m->e, g->core->number + 1);
}

/* The same in the cache; what is not there is for C. */
static void count_in_cache(struct maker *m, const struct path_graph *g, int64_t plus, struct room_here room, int loaded)
{
	unsigned number = load(m, &room, loaded), place = borrow(m, &room, 1);
	struct address entry = { .base = (int)place, .index = NO_REGISTER, .displacement = g->hits };
	struct operand at = { &entry, OPERAND_IN_WINDOW, true };

	add_to(m, number, place, plus + 1);
	struct cold *c = making_cold(m, COLD_HIT);

	c->graph = g;
	c->number = (uint8_t)number;
	c->entry = (uint8_t)place;
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
	emit_32(&m->e, g->hits_mask);
	emit_memory(&m->e, 0x3b, number, at, offsetof(struct path_hit, key));     /* cmp */
	making_jump(m, c, CONDITION_NOT_EQUAL);
	if (!g->hits_own) {
		compare_graph(m, g, at);
		making_jump(m, c, CONDITION_NOT_EQUAL);
	}
	emit_memory(&m->e, 0xff, 0, at, offsetof(struct path_hit, count));        /* incq */
	c->back = m->e.at;
	give_back(m, &room);
}

/* It may be in the other entry. */
void pathmaking_cold_hit(struct maker *m, const struct cold *c)
{
	struct address entry = { .base = c->entry, .index = NO_REGISTER, .displacement = c->graph->hits };
	struct operand at = { &entry, OPERAND_IN_WINDOW, true };
	uint8_t *missed[2] = { NULL, NULL };

	emit_byte(&m->e, 0x40 | (c->entry >> 3 & 1));             /* xor $PATHS_HIT_OTHER, %entry */
	emit_byte(&m->e, 0x83);
	emit_byte(&m->e, 0xf0 | (c->entry & 7));
	emit_byte(&m->e, PATHS_HIT_OTHER);
	emit_memory(&m->e, 0x3b, c->number, at, offsetof(struct path_hit, key));
	missed[0] = emit_jump_ahead(&m->e, CONDITION_NOT_EQUAL);
	if (!c->graph->hits_own) {
		compare_graph(m, c->graph, at);
		missed[1] = emit_jump_ahead(&m->e, CONDITION_NOT_EQUAL);
	}
	emit_memory(&m->e, 0xff, 0, at, offsetof(struct path_hit, count));
	emit_near(&m->e, 0xe9, (uint64_t)c->back);
	emit_land(&m->e, missed[0]);
	if (missed[1])
		emit_land(&m->e, missed[1]);
	reports_call(&m->e, (const void *)pathevents_miss_packed, (const struct argument[3]){
		{ ARGUMENT_REGISTER, c->number }, { ARGUMENT_CONSTANT, (uint64_t)c->graph },
	});
	emit_near(&m->e, 0xe9, (uint64_t)c->back);
}

void pathmaking_keep_flags(struct maker *m, struct room_here *room)
{
	emit_save(&m->e, REG_RAX, SWITCH_RAX);
	emit_bytes(&m->e, "\x9f\x0f\x90\xc0", 4);                 /* lahf; seto %al */
	room->live |= 1u << REG_RAX;
	room->flags = false;
}

void pathmaking_bring_flags_back(struct maker *m)
{
	emit_bytes(&m->e, "\x04\x7f\x9e", 3);                     /* add $127, %al; sahf */
	emit_restore(&m->e, REG_RAX, SWITCH_RAX);
}

static void count_keeping_flags(struct maker *m, const struct path_graph *g, int64_t plus, struct room_here room, int loaded)
{
	pathmaking_keep_flags(m, &room);
	count_in_cache(m, g, plus, room, loaded);
	pathmaking_bring_flags_back(m);
}

/*
 * The same where one path is more likely than all others that come by here, since they begin anew with every round of a loop: it
 * has a counter, the others are cold. False: none is.
 */
static bool count_likely(struct maker *m, struct path_graph *g, uint32_t edge, int64_t plus, struct room_here room)
{
	int64_t path;
	uint64_t counter;

	if (!pathmaking_likely(m, g, g->core->paths.edge[edge].from, &path) || !pathmaking_is_short(path) ||
	    !(counter = pathplaces_counter(g, (uint64_t)(path + plus))))
		return false;
	struct cold *c = making_cold(m, COLD_UNLIKELY);

	c->graph = g;
	c->edge = edge;
	c->live = room.live;
	emit_bytes(&m->e, "\x65\x48\x81\x3c\x25", 5);            /* cmpq $path, %gs:PATH */
	emit_32(&m->e, CTX_PATH);
	emit_32(&m->e, (uint32_t)path);
	making_jump(m, c, CONDITION_NOT_EQUAL);
	count_known(m, counter, room);
	c->back = m->e.at;
	return true;
}

void pathmaking_cold_unlikely(struct maker *m, const struct cold *c)
{
	int64_t plus = c->graph->core->paths.edge[c->edge].add - c->graph->shift;
	struct room_here room = { c->live, false, { NO_REGISTER, NO_REGISTER }, NO_REGISTER };
	const uint8_t *back = c->back;

	count_in_cache(m, c->graph, plus, room, NO_REGISTER);
	emit_near(&m->e, 0xe9, (uint64_t)back);
}

/* The running activation has taken it, too: that is for C. */
static void count_by_c(struct maker *m, const struct path_graph *g, int64_t plus, struct room_here room, int loaded)
{
	unsigned number = load(m, &room, loaded);

	add_to(m, number, pathmaking_is_short(plus) ? 0 : borrow(m, &room, 1), plus);
	reports_call(&m->e, (const void *)pathevents_count, (const struct argument[3]){
		{ ARGUMENT_REGISTER, number }, { ARGUMENT_CONSTANT, (uint64_t)g },
	});
	give_back(m, &room);
}

/* A path ends with this edge. */
void pathmaking_count_loaded(struct maker *m, struct path_graph *g, uint32_t edge, struct room_here room, int loaded)
{
	int64_t plus = g->core->paths.edge[edge].add - g->shift;

	int64_t path;
	uint64_t counter;

	if (observing_keeps_paths_apart())
		count_by_c(m, g, plus, room, loaded);
	else if (loaded == NO_REGISTER && pathmaking_known(m, g, g->core->paths.edge[edge].from, &path) &&
		 (counter = pathplaces_counter(g, (uint64_t)(path + plus))))
		count_known(m, counter, room);
	else if (g->counters)
		count_in_array(m, g, plus, room, loaded);
	else if (room.flags)
		count_keeping_flags(m, g, plus, room, loaded);
	else if (loaded != NO_REGISTER || !count_likely(m, g, edge, plus, room))
		count_in_cache(m, g, plus, room, loaded);
}

void pathmaking_count(struct maker *m, struct path_graph *g, uint32_t edge, struct room_here room)
{
	pathmaking_count_loaded(m, g, edge, room, NO_REGISTER);
}
