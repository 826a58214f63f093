/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The code cache: translated blocks side by side, found by the program's
 * address. Direct branches between blocks are linked by one store;
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
#include "sources/translator/plan.h"

struct symbols_range;

/* Where an instruction of the program begins in its block's translation. */
struct mark {
	int32_t program;             /* from the block's first instruction */
	uint16_t cache;              /* from the translation's start */
	uint16_t own;                /* where the copy of the instruction itself begins; before it is what was added */
	bool borrowed;               /* in what was added, the program's value of the spare register is at CTX_SPARE_HOME, */
	bool spared;                 /* and in the copy too */
	int8_t far;                  /* in the copy, this register's value is at CTX_FAR_HOME; < 0: none */
	bool target;                 /* in the copy, the program's rcx is in the context: the register holds where it goes */
	uint8_t instructions, blocks;    /* that come before it */
};

/* Which of the program's registers are elsewhere, and where in the block; where else than at its start it is entered. */
struct block_facts {
	uint16_t called;             /* calls of the function that begins here have nothing to be asked */
	uint16_t handed;             /* the program's value of `stamp` is at CTX_STAMP_HOME: calls that have left it there */
	uint16_t inner;              /* and the register holds the stamp: other branches that have it there */
	uint16_t stamped;            /* and it is r11: calls, which have left it there */
	bool entry;                  /* of a function: such branches may not pass its start by */
	bool doubted;                /* nobody may: doubts.c */
	bool alone;                  /* of one instruction, for who steps: entered at its start only */
	bool counts;                 /* its runs: rates.h */
	int8_t stamp, spare;         /* registers; stamp < 0: none */
	uint16_t counted;            /* from here on its costs are counted: */
	int16_t instructions, blocks;
};

/* A direct branch that is to be linked, or what comes behind a call. */
struct codecache_branch {
	uint32_t patch;              /* where the displacement lies of the jump with all registers the program's; 0: not to be linked */
	uint32_t handed;             /* the same of the one before, with that of `stamp` still borrowed; 0: there is none */
	uint32_t way;                /* CODECACHE_* */
	uint32_t from;               /* which of all blocks it is in: codecache_next */
};

#define CODECACHE_JUMP 0u        /* the topmost activation is the same as before */
#define CODECACHE_CALL 1u        /* it is another, of the function that begins there, if one does; a borrowed r11 holds its stamp */
#define CODECACHE_RETURN 2u      /* it is the one that has called; r11 is borrowed, and holds its stamp */

struct codecache_link;

struct block {
	uint64_t pc;                 /* the program's address */
	uint32_t code, code_bytes;   /* in the cache */
	uint32_t cold, cold_bytes;   /* its rarely needed part */
	uint32_t landing;            /* enters it when r11 is whatever it is, and the program's value at CTX_STAMP_HOME; 0: none does */
	struct block_facts facts;
	bool dead, landed;           /* landed: a table of landings may have it */
	uint64_t call_pc;            /* of the call that is made in it, or 0 */
	struct codecache_link *to, *from;    /* branches to it, and its own */
	uint32_t marks;
	struct mark mark[];
};

#define CODECACHE_TABLE 65536u
#define CODECACHE_RETURNS 8u              /* in one block; others are found by the program's address */
#define CODECACHE_PAGES 32u              /* a block made of more pages dies with any */

/*
 * For indirect branches and returns: a program's address, and where its
 * translation is. They lie from PLAN_TARGETS on, never change while they may be
 * found but to become nobody's, and are found by the low 16 bits of the
 * address in one of the table's halves, as distances from PLAN_TARGETS.
 */
struct codecache_target {
	uint64_t pc;
	uint32_t code;
	uint32_t fn;                 /* the function that a call of it enters, as codeplaces_function says; UINT32_MAX: not known */
	uint32_t module;             /* that it is code of, as codeplaces_module says; 0: jumps go by way of C, or have a look at it */
	uint32_t landing;            /* for jumps in that module: the program's r11 is at CTX_STAMP_HOME (struct block) */
	uint64_t begin;              /* what CTX_PATH is where it begins: following.h; 0: that is for C to say */
};

/*
 * A table that a program jumps by, and where each of its entries lands, as in struct codecache_target; 0: that is not known yet, or no
 * more. Landings lie from PLAN_LANDINGS on, and are read by translated code.
 */
struct codecache_jumps {
	struct codecache_jumps *next;
	uint64_t start;
	uint32_t bytes, entries;     /* of an entry, and how many there are */
	uint32_t module;
	uint32_t landing;            /* the address of the first */
	const struct symbols_range *code;    /* of the module */
};

struct codecache {
	struct slope_arena arena;
	struct slope_map by_pc;      /* 0 for a block that is dead */
	struct slope_map by_page;    /* struct codecache_use */
	struct block **block;        /* sorted by `code` */
	size_t count, capacity;
	uint8_t *next;               /* where the next block goes */
	uint8_t *next_cold;          /* where its rarely needed part goes, far from all that runs often */
	struct slope_map target_by_pc;   /* distances; 0: it had one, which is gone */
	struct slope_map call_by_pc; /* where in the cache the call at this address is made */
	uint32_t targets;            /* used; the first is no program's */
	struct slope_map jumps_by_table;
	struct codecache_jumps *jumps;
	uint64_t next_landing;
	uint64_t generation;         /* counts how often it was emptied */
	void (*died)(void);          /* called when a block dies, for those who keep addresses in it; or NULL */
	uint64_t page[CODECACHE_PAGES];      /* that the block in the making is made of */
	unsigned pages;
	struct codecache_target returned[CODECACHE_RETURNS];     /* places in it that are returned to */
	unsigned returns;
};

/* Offsets of targets, by the lowest bits of the program's address. Read by translated code; its address is below 2^31. */
extern uint32_t codecache_table[2][CODECACHE_TABLE];

/* False when there is no memory for it, or none that code may run in. */
bool codecache_init(struct codecache *c);

/* Throws all translations away. Not while a block is being made, nor while any thread may run in one. */
void codecache_empty(struct codecache *c);

/* Throws those translations away that are made of this page, and are so. */
void codecache_drop_if(struct codecache *c, uint64_t page, bool (*is)(void *data, const struct block *b), void *data);

/* Code in this range has changed or is gone. */
void codecache_changed(struct codecache *c, uint64_t start, uint64_t bytes);

/* The block at this address is to be made anew, if there is one; who is in it may go on. */
void codecache_retire(struct codecache *c, uint64_t pc);

/* The block at this address is made of code that has changed since. */
void codecache_drop(struct codecache *c, uint64_t pc);

/* Room for one more block? Otherwise empty it first. */
bool codecache_has_room(const struct codecache *c);

const struct block *codecache_find(const struct codecache *c, uint64_t pc);

/* What indirect branches find for this address; NULL: nothing. */
static inline const struct codecache_target *codecache_target(uint64_t pc)
{
	for (unsigned half = 0; half < 2; half++) {
		uint32_t at = __atomic_load_n(&codecache_table[half][pc % CODECACHE_TABLE], __ATOMIC_ACQUIRE);
		const struct codecache_target *target = (const struct codecache_target *)(PLAN_TARGETS + (uint64_t)at);

		if (target->pc == pc)
			return target;
	}
	return NULL;
}

/* The block around an address in the cache, in either part, or NULL. O(log blocks). */
const struct block *codecache_around(const struct codecache *c, uint64_t code);

/* The block that the branch is in; NULL: it is gone. */
const struct block *codecache_from(const struct codecache *c, const struct codecache_branch *branch);
/* Which of all blocks will be made next. */
static inline uint32_t codecache_next(const struct codecache *c)
{
	return (uint32_t)c->count;
}

/* A block will be made now. */
void codecache_begin(struct codecache *c);
/* The block in the making will not be added; `call`: that was to be made in it, or 0. */
void codecache_abandon(struct codecache *c, uint64_t call);

/* The block in the making depends on the code in this page. */
void codecache_made_of(struct codecache *c, uint64_t address);

/* The block of the instruction there alone. */
const struct block *codecache_find_alone(const struct codecache *c, uint64_t pc);

/* Keeps a block whose parts end at `end` and `cold_end`, with its marks. NULL when memory runs out. */
const struct block *codecache_add(struct codecache *c, uint64_t pc, bool alone, const uint8_t *end, const uint8_t *cold_end,
				  const struct mark *mark, uint32_t marks);

/* From now on indirect branches and returns to the block find it by themselves; `fn`, `module` and `begin` as in its target. */
void codecache_remember(struct codecache *c, const struct block *block, uint32_t fn, uint32_t module, uint64_t begin);
/* The same for an address that was told before, if it was. */
void codecache_recall(struct codecache *c, uint64_t pc);
/*
 * Where the call instruction at this address is made, or 0; then it is made at `code` from now on. There is one such place for
 * each, so that a return finds the place that the processor expects.
 */
uint64_t codecache_call(struct codecache *c, uint64_t pc, uint64_t code);
/* Returns to this address of the program are to come to this place in the block in the making, when it is made. */
void codecache_return(struct codecache *c, uint64_t pc, uint64_t code);

/* A table that is not known yet: a copy, with room for its landings. NULL: there is none. */
struct codecache_jumps *codecache_add_jumps(struct codecache *c, const struct codecache_jumps *jumps);
/* What is known of the table at `start`; NULL: nothing. */
struct codecache_jumps *codecache_find_jumps(const struct codecache *c, uint64_t start);
/* The landings of its entries. */
static inline uint32_t *codecache_landings(const struct codecache_jumps *t)
{
	return (uint32_t *)(uint64_t)t->landing;
}

/* The branch now goes to the block, and where both borrow the same register, without giving it back. */
void codecache_link(struct codecache *c, const struct codecache_branch *branch, const struct block *block);

#endif
