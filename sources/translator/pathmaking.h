/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the files that add the code of paths share: pathcounting.c has what is
 * done to CTX_PATH and to counters, pathcode.c edges, calls and returns,
 * pathswitches.c indirect jumps.
 */
#ifndef SLOPE_SOURCES_TRANSLATOR_PATHMAKING_H
#define SLOPE_SOURCES_TRANSLATOR_PATHMAKING_H

#include "sources/translator/following.h"

#define CTX_PATH_KEPT_A CTX_PATH_KEPT
#define CTX_PATH_KEPT_B (CTX_PATH_KEPT + 8)

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

static inline bool pathmaking_is_short(int64_t value)
{
	return value == (int32_t)value;
}

/* ---- pathcounting.c ---- */

/* Where the program goes on at this address; 0: everything is alive. */
struct room_here pathmaking_room(uint64_t target);
/* A register that nobody needs there, or NO_REGISTER. */
int pathmaking_free(const struct maker *m, struct room_here room);
/* Is CTX_PATH known on the way that is being made, which has come to this block? By the graph, or by the code before. */
bool pathmaking_known(struct maker *m, const struct path_graph *g, uint32_t vertex, int64_t *path);
/* If not, is one value likely? Not asked where all paths have counters. */
bool pathmaking_likely(struct maker *m, struct path_graph *g, uint32_t vertex, int64_t *path);
/* CTX_PATH = value; the same where a function begins; CTX_PATH += value */
void pathmaking_set(struct maker *m, uint64_t value, struct room_here room);
void pathmaking_set_entry(struct maker *m, uint64_t pc, struct room_here room);
void pathmaking_add(struct maker *m, int64_t value, struct room_here room);
/* From here on flags may be changed, but rax may not be used; until the other. */
void pathmaking_keep_flags(struct maker *m, struct room_here *room);
void pathmaking_bring_flags_back(struct maker *m);
/* A path ends with this edge. `loaded`: the register that has CTX_PATH already. */
void pathmaking_count(struct maker *m, struct path_graph *g, uint32_t edge, struct room_here room);
void pathmaking_count_loaded(struct maker *m, struct path_graph *g, uint32_t edge, struct room_here room, int loaded);
void pathmaking_cold_context(struct maker *m, const struct cold *c);
void pathmaking_cold_unlikely(struct maker *m, const struct cold *c);
void pathmaking_cold_hit(struct maker *m, const struct cold *c);

/* ---- pathcode.c ---- */

/* Sets the sign flag when it is over. */
void pathmaking_countdown(struct maker *m);
/* The time stamp counter to CTX_TICKS_IN or CTX_TICKS_OUT. */
void pathmaking_ticks(struct maker *m, uint32_t to);
/* C takes the edge, and its time is not the program's. */
void pathmaking_report_timed(struct maker *m, const struct path_place *place, uint32_t edge);
/* The block around the step, if the step is its last. */
const struct path_place *pathmaking_ends_block(const struct step *s);

/* ---- pathswitches.c ---- */

void pathmaking_cold_case(struct maker *m, const struct cold *c);

#endif
