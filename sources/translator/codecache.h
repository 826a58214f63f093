/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The code cache: translated blocks side by side, found by the program's
 * address. Direct branches between blocks are linked by one aligned store;
 * indirect ones find their block in a table that translated code reads
 * itself, while others may be changing it: an entry is one number, that of a
 * target, and targets never change while any thread can look at them.
 *
 * When code has changed, the blocks made of it die: nobody finds them any
 * more, and all links to them and from them go. Threads may still be running in
 * them, so their memory is used again only when the whole cache is emptied,
 * which is done when it is full and all threads wait (threading.c).
 *
 * All of it needs the runtime's lock; only translated code, and
 * codecache_quick, look into the table without.
 */
#ifndef SLOPE_SOURCES_TRANSLATOR_CODECACHE_H
#define SLOPE_SOURCES_TRANSLATOR_CODECACHE_H

#include "core/map.h"

/* Where an instruction of the program begins in its block's translation. */
struct mark {
	uint16_t program, cache;     /* both from their block's start */
	uint16_t own;                /* where the copy of the instruction itself begins; before it is what was added */
};

struct codecache_link;

struct block {
	uint64_t pc;                 /* the program's address */
	uint32_t code, code_bytes;   /* in the cache */
	uint32_t target;             /* of indirect branches, or 0 */
	bool dead;
	struct codecache_link *to, *from;    /* branches to it, and its own */
	uint32_t marks;
	struct mark mark[];
};

#define CODECACHE_TABLE 65536u
#define CODECACHE_PAGES 32u              /* a block made of more pages dies with any */

/* For indirect branches: the program's address, and where its translation is. They lie from PLAN_TARGETS on. */
struct codecache_target {
	uint64_t pc, code;
};

struct codecache {
	struct slope_arena arena;
	struct slope_map by_pc;      /* 0 for a block that is dead */
	struct slope_map by_page;    /* struct codecache_use */
	struct block **block;        /* sorted by `code` */
	size_t count, capacity;
	uint8_t *next;               /* where the next block goes */
	uint32_t targets;            /* used; the first is no program's */
	uint64_t generation;         /* counts how often it was emptied */
	uint64_t page[CODECACHE_PAGES];      /* that the block in the making is made of */
	unsigned pages;
};

/* Offsets of targets, by the lowest bits of the program's address. Read by translated code; its address is below 2^31. */
extern uint32_t codecache_table[CODECACHE_TABLE];

/* False when there is no memory for it, or none that code may run in. */
bool codecache_init(struct codecache *c);

/* Throws all translations away. Not while a block is being made, nor while any thread may run in one. */
void codecache_empty(struct codecache *c);

/* Code in this range has changed or is gone. */
void codecache_changed(struct codecache *c, uint64_t start, uint64_t bytes);

/* Room for one more block? Otherwise empty it first. */
bool codecache_has_room(const struct codecache *c);

const struct block *codecache_find(const struct codecache *c, uint64_t pc);

/* Where the translation is, if indirect branches find it; 0 otherwise. */
uint64_t codecache_quick(uint64_t pc);

/* The block around an address in the cache, or NULL. O(log blocks). */
const struct block *codecache_around(const struct codecache *c, uint64_t code);

/* The block in the making depends on the code in this page. */
void codecache_made_of(struct codecache *c, uint64_t address);

/* Keeps a block that ends at `end`, with its marks. NULL when memory runs out. */
const struct block *codecache_add(struct codecache *c, uint64_t pc, const uint8_t *end, const struct mark *mark, uint32_t marks);

/* From now on indirect branches to the block find it by themselves. */
void codecache_remember(struct codecache *c, const struct block *block);

/* A direct branch, whose displacement lies at `patch`, now goes to the block. */
void codecache_link(struct codecache *c, uint32_t patch, const struct block *block);

#endif
