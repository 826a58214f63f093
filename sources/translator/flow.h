/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The control flow graph of one function, out of its machine code.
 *
 * Decoding begins at the entry and goes wherever control may: along branches,
 * jumps, what comes behind calls, and the targets of switches, as far as their
 * tables can be found (jumptables.c). A block ends at every branch, jump, call,
 * return, system call and trap, and before every target; repeated string
 * instructions are ordinary. What lies in another function is left by an edge
 * TAIL, what belongs to another graph or is not known by ELSEWHERE. An indirect
 * jump with the stack as it was at the entry is a tail call to nobody knows where.
 *
 * What it gets wrong: an indirect jump has the targets that its table shows,
 * and a table without a visible bound is taken to end where its entries stop
 * being places of the function, so it may have too many. A jump may at run time
 * go elsewhere all the same; whoever uses the graph must be ready for that.
 *
 * Code is seen through flow_source alone. No state but the caller's.
 */
#ifndef SLOPE_SOURCES_TRANSLATOR_FLOW_H
#define SLOPE_SOURCES_TRANSLATOR_FLOW_H

#include "core/paths.h"
#include "sources/translator/outline.h"

#define FLOW_INSTRUCTIONS_MAX 65536u     /* of one graph; what is beyond is left by edges ELSEWHERE */
#define FLOW_NO_BLOCK UINT32_MAX

enum flow_place {
	FLOW_INSIDE,                 /* code that may belong to the function, its cold part too */
	FLOW_BORDER,                 /* another function's, or a stub's */
	FLOW_TAKEN,                  /* another graph has it */
	FLOW_NO_CODE,
};

struct flow_source {
	void *data;
	/* One instruction with its operands, ZYDIS_MAX_OPERAND_COUNT of them at most. False: there is none. */
	bool (*decode)(void *data, uint64_t pc, ZydisDecodedInstruction *i, ZydisDecodedOperand *operand);
	/* The same in outline. */
	bool (*outline)(void *data, uint64_t pc, struct outline *o);
	/* Data that never changes any more: tables of jumps, slots of functions. False where it may, or is not there. */
	bool (*read)(void *data, uint64_t address, void *to, size_t bytes);
	/*
	 * What is at pc for the function that begins at `entry`. `*until`: all places from pc to there are the same; at
	 * least pc + 1. The entry itself is always inside, whatever is said of it.
	 */
	enum flow_place (*place)(void *data, uint64_t entry, uint64_t pc, uint64_t *until);
	/* Does a call of this address come back? */
	bool (*returns)(void *data, uint64_t target);
};

struct flow_block {
	uint64_t start;
	uint64_t last;               /* of its last instruction */
	uint32_t bytes, instructions;
	uint32_t end;                /* enum slope_block_end */
};

struct flow_edge {
	uint64_t target;             /* where it goes to; 0: not known */
	uint32_t to;                 /* a block, or SLOPE_PATH_OUT */
	uint32_t weight;             /* how often it may be taken; 0: costs nothing to instrument */
	uint8_t way;                 /* enum slope_edge_way */
	bool cut;                    /* paths are to end there: see flow_make */
};

struct flow {
	uint64_t entry;
	uint32_t flags;              /* SLOPE_GRAPH_UNRESOLVED, SLOPE_GRAPH_SHORT */
	uint32_t blocks, edges, instructions;
	uint32_t switches, tail_calls, unresolved;   /* indirect jumps with known targets, that leave the function, others */
	uint32_t before;             /* blocks that lie before the entry */
	struct flow_block *block;    /* the entry is the first; the others follow by address */
	uint32_t *first;             /* blocks + 1: where a block's edges begin */
	struct flow_edge *edge;
};

/*
 * Makes the graph of the code that begins at `entry`. Two or more switches that can reach one another again and again
 * have all their edges cut: paths across several dispatches of an interpreter would be more than anybody can count.
 * False when memory runs out, or when there is no instruction at the entry; nothing is kept of `arena` then.
 * O(instructions * log(instructions)); operands are decoded where there are indirect jumps.
 */
bool flow_make(struct flow *f, struct slope_arena *arena, const struct flow_source *s, uint64_t entry);

/* Gives its memory back to the arena. */
void flow_free(struct flow *f, struct slope_arena *arena);

/* The block of the instruction that begins at this address, or FLOW_NO_BLOCK. O(log blocks). */
uint32_t flow_block_at(const struct flow *f, uint64_t pc);

/*
 * The graph for core/paths.h, its paths not numbered yet; vertices are the blocks. Addresses are those of the code less
 * `bias`. The arrays are the arena's; `number`, `function` and SLOPE_GRAPH_PIECE are the caller's matter. False when
 * memory runs out; nothing is kept then.
 */
bool flow_graph(const struct flow *f, struct slope_arena *arena, uint64_t bias, struct slope_graph *g);

/* ---- noreturn.c ---- */

/* Is that the name of a function that never comes back? Versions (`exit@GLIBC_2.2.5`) do not matter. */
bool flow_never_returns(const char *name);

#endif
