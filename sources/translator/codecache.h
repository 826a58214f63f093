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
	uint16_t program, cache;     /* both from their block's start */
	uint16_t own;                /* where the copy of the instruction itself begins; before it is what was added */
};

struct block {
	uint64_t pc;                 /* the program's address */
	uint32_t code, code_bytes;   /* in the cache */
	uint32_t marks;
	struct mark mark[];
};

#define CODECACHE_TABLE 65536u

/* For indirect branches: minus the program's address, and where its translation is. */
struct codecache_entry {
	uint64_t minus_pc, code;
};

struct codecache {
	struct slope_arena arena;
	struct slope_map by_pc;
	struct block **block;        /* sorted by `code` */
	size_t count, capacity;
	uint8_t *next;               /* where the next block goes */
	uint64_t generation;         /* counts how often it was emptied */
};

/* Read by translated code; its address is below 2^31. */
extern struct codecache_entry codecache_table[CODECACHE_TABLE];

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

/* From now on indirect branches to the block find it by themselves. */
void codecache_remember(const struct block *block);

/* A direct branch, whose displacement lies at `patch`, now goes to the block. */
void codecache_link(uint32_t patch, const struct block *block);

#endif
