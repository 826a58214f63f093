/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The code cache: translated blocks side by side, found by the program's
 * address. Direct branches between blocks are linked by one aligned store;
 * indirect ones find their block in a table that translated code reads
 * itself. When the cache is full, or code it came from has changed, all of it
 * is thrown away.
 */
#ifndef SLOPE_SOURCES_TRANSLATOR_CODECACHE_H
#define SLOPE_SOURCES_TRANSLATOR_CODECACHE_H

#include "core/map.h"

/* Where an instruction of the program begins in its block's translation. */
struct mark {
	int32_t program;             /* from the block's first instruction */
	uint16_t cache;              /* from the translation's start */
	uint16_t own;                /* where the copy of the instruction itself begins; before it is what was added */
	bool borrowed;               /* in what was added, the program's value of the spare register is at CTX_SPARE_HOME */
};

/* Which of the program's registers are elsewhere, and where in the block. */
struct block_facts {
	uint16_t inner;              /* from here to `cold`, that of `stamp` is at CTX_STAMP_HOME; loops enter here */
	uint16_t cold;
	int8_t stamp, spare;         /* registers; stamp < 0: none */
};

struct block {
	uint64_t pc;                 /* the program's address */
	uint32_t code, code_bytes;   /* in the cache */
	struct block_facts facts;
	uint32_t marks;
	struct mark mark[];
};

#define CODECACHE_TABLE 65536u

/*
 * For indirect branches and returns: a program's address, and where its
 * translation is. They lie at PLAN_TARGETS, never change while they may be
 * found, and are found by the low 16 bits of the address in one of the table's halves, as
 * distances from PLAN_TARGETS. The first one stands for none: it is zero, as
 * is its distance.
 */
struct codecache_target {
	uint64_t pc, code;
};

struct codecache {
	struct slope_arena arena;
	struct slope_map by_pc;
	struct block **block;        /* sorted by `code` */
	size_t count, capacity;
	uint8_t *next;               /* where the next block goes */
	struct slope_map target_by_pc;   /* distance from PLAN_TARGETS */
	uint32_t targets;
	uint64_t generation;         /* counts how often it was emptied */
};

/* Read by translated code; its address is below 2^31. */
extern uint32_t codecache_table[2][CODECACHE_TABLE];

/* False when there is no memory for it, or none that code may run in. */
bool codecache_init(struct codecache *c);

/* Throws all translations away. Not while a block is being made. */
void codecache_empty(struct codecache *c);

/* Room for one more block? Otherwise empty it first. */
bool codecache_has_room(const struct codecache *c);

const struct block *codecache_find(const struct codecache *c, uint64_t pc);

/* The block around an address in the cache, or NULL. O(log blocks). */
const struct block *codecache_around(const struct codecache *c, uint64_t code);

/* Keeps a block that ends at `end`, with its marks. NULL when memory runs out. */
const struct block *codecache_add(struct codecache *c, uint64_t pc, const uint8_t *end, const struct mark *mark, uint32_t marks);

/* From now on indirect branches and returns to the block find it by themselves. */
void codecache_remember(struct codecache *c, const struct block *block);
/* Returns to this address of the program are to come to this place in the cache. */
void codecache_return(struct codecache *c, uint64_t pc, uint64_t code);

/* A direct branch, whose displacement lies at `patch`, now goes to the block. */
void codecache_link(uint32_t patch, const struct block *block);

#endif
