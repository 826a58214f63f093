/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How often accesses find another activation's stamp: reads that are stale, and
 * writes that must store theirs. The first translation of a block counts how
 * often it runs and how often each of its accesses does; after so many runs it
 * is made anew, knowing that: what hardly ever happens goes to the cold
 * part, what nearly always happens stays in the block, and what nobody can
 * foretell is done without a branch (stalereads.c, checks.c). Ways out are counted, too: where most runs have left it, the
 * trace goes on the other way (trace.c). Blocks that run less often stay as they are.
 *
 * What is known is kept by the program's addresses, also when translations are
 * thrown away. If other code comes to lie there it is wrong, but does no harm: what is made is slower, and counts the same.
 * All but the counting needs the runtime's lock.
 */
#ifndef SLOPE_SOURCES_TRANSLATOR_RATES_H
#define SLOPE_SOURCES_TRANSLATOR_RATES_H

#define RATES_RUNS 16384         /* unless --block-runs says otherwise, for tests: 16 to 32768 */
#define RATES_SHARED 8           /* so many times fewer with threads: they count in the same words, which go from one to the other */

#define RATES_BACK 0             /* of struct rates_block, for gate.S */

#ifndef __ASSEMBLER__
#include <stdbool.h>
#include <stdint.h>

/* RATE_STEPS: as often as an access that goes on byte by byte, or by two, comes to another cell. */
enum rate { RATE_UNKNOWN, RATE_FRESH, RATE_STEPS, RATE_EITHER, RATE_STALE };

/* A block that counts. Its counters lie apart and close together, since every run touches them; all are within the first 2 GB. */
struct rates_block {
	uint32_t back;               /* where translated code goes on when it has run so often: in the cache */
	uint32_t pc;                 /* the program's */
	uint32_t first;              /* of all sites: its own begin there */
	uint32_t runs;               /* that it is to count, */
	uint32_t waits;              /* and how often it has been left to count a little longer */
};

/*
 * A block is about to be made of the code at pc, which has something to count and a place to do so, or not. Returns
 * its counters, or NULL if it does not count. One that takes the place of another borrows the same register, if it
 * can (blocks_translate): its neighbours do.
 */
struct rates_block *rates_begin(uint64_t pc, bool can_count, int *prefer);
/* Its runs that are left. */
uint32_t *rates_left(const struct rates_block *block);
/* Has the block that begins there been counted? */
bool rates_are_known(uint64_t pc);
/* Did those that came to the branch there take it, as a rule, and is as much known of where it leads as will ever be? */
bool rates_lead(uint64_t at, uint64_t to);
/* For the block in the making: what is known of what the instruction there reads or writes, */
enum rate rates_of(uint64_t at, bool write);
/* and where it is to be counted that it finds another's stamp; NULL: nowhere. */
uint16_t *rates_counter(uint64_t at, uint32_t bytes, bool write);
/* The same for the way out of a branch; those of a block are asked for in their order. */
uint16_t *rates_branch(uint64_t at, uint64_t to);
/* All translations are gone. */
void rates_forget(void);
/*
 * The block has run so often: it is known from now on, and nobody finds it any more; or it is left to count a little longer. Called by
 * slope_gate_counted.
 */
void rates_reached(struct rates_block *block);
#endif

#endif
