/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A control flow graph in the making, file by file:
 *
 *   flow.c        decoding, and the finished graph
 *   flowblocks.c  blocks and edges of what is decoded
 *   flowcycles.c  cycles: which edges to cut, how often each may be taken
 *   flowstack.c   which indirect jumps are tail calls
 *   jumptables.c  where indirect jumps go
 *   jumpvalues.c  what a register holds
 *   jumpbounds.c  how big it can be
 *
 * Instructions are kept in short; what they do to registers is found out only
 * where somebody asks (struct effect).
 */
#ifndef SLOPE_SOURCES_TRANSLATOR_FLOWWORK_H
#define SLOPE_SOURCES_TRANSLATOR_FLOWWORK_H

#include "core/map.h"
#include "sources/translator/flow.h"

#define FLOW_NONE UINT32_MAX

enum flow_kind {
	FLOW_PLAIN,
	FLOW_BRANCH,
	FLOW_JUMP,
	FLOW_JUMP_INDIRECT,
	FLOW_CALL,
	FLOW_RETURN,
	FLOW_STOP,                   /* traps, or is a call that never comes back */
};

struct flow_instruction {
	uint64_t pc;
	uint64_t target;             /* of a branch, jump or call; 0: not known */
	uint32_t jump;               /* FLOW_JUMP_INDIRECT: its place among the jumps */
	uint32_t effect;             /* 1 + its place among the effects; 0: nobody has asked yet */
	uint8_t length;
	uint8_t kind;                /* enum flow_kind */
	uint8_t condition;           /* FLOW_BRANCH: the processor's number of it */
	bool stores;                 /* a register of 64 bits to memory, or to another one */
};

/* The table of a jump. */
struct flow_table {
	uint64_t start, base;        /* base: what is added to an entry */
	uint64_t first, entries;     /* the first one that counts; how many are there up to the last, 0: not known */
	bool exact;                  /* that many, by a comparison */
	bool has_sign;
	uint8_t bytes, stride;
	uint64_t end;                /* what was read of it ends there */
};

/* An indirect jump. */
struct flow_jump {
	uint64_t pc;
	uint32_t first, count;       /* among the targets */
	bool resolved;
	bool leaves;                 /* the function: it is a tail call */
	bool several;                /* tables, of which the last is kept */
	struct flow_table table;     /* its stride is 0 if there is none */
};

/* Instructions of 64 bytes of code: where they begin, and which of them begin blocks. */
struct flow_chunk {
	uint64_t starts, leaders;
};

/* What an instruction does to registers, in short. */
enum effect_kind {
	EFFECT_OTHER,
	EFFECT_CONSTANT,             /* to = value */
	EFFECT_COPY,                 /* to = the lowest `bytes` of from */
	EFFECT_ADDRESS,              /* to = base + index * scale + value */
	EFFECT_ADD,                  /* to += from */
	EFFECT_ADD_CONSTANT,
	EFFECT_ADD_LOADED,           /* to += the memory operand */
	EFFECT_SHIFT_LEFT,           /* to <<= value */
	EFFECT_SHIFT_RIGHT,          /* to >>= value */
	EFFECT_AND,                  /* to &= value */
	EFFECT_LOAD,                 /* to = `bytes` of memory */
	EFFECT_STORE,                /* `bytes` of memory = from */
	EFFECT_COMPARE,              /* the lowest `bytes` of `to` with value */
	EFFECT_COMPARE_LOADED,       /* `bytes` of memory with value */
};

struct effect {
	int64_t value;               /* a constant; with a memory operand its displacement, rip included */
	int64_t constant;            /* EFFECT_COMPARE_LOADED */
	uint16_t writes;             /* registers, one bit each */
	uint8_t kind;
	uint8_t bytes;
	uint8_t width;               /* bytes of `to` */
	uint8_t scale;
	int8_t to, from, base, index;        /* registers, or -1 */
	bool has_sign;               /* what is narrower is extended by its sign */
	bool sets_flags;
	bool compares;               /* EFFECT_ADD_CONSTANT: subtracts, and so compares with what was there before */
};

/* Blocks in the making, by address. */
struct flow_part {
	uint32_t first, count;       /* instructions */
	uint32_t edges;              /* where they begin */
	uint32_t comes_from;         /* where its predecessors begin */
	uint16_t writes;             /* registers; valid if `looked` */
	bool looked;
};

struct flow_link {
	uint64_t target;
	uint32_t from, to;           /* parts; to: SLOPE_PATH_OUT */
	uint8_t way;
	bool cut;
	uint32_t weight;
};

struct flow_work {
	const struct flow_source *source;
	struct slope_arena *arena;
	uint64_t entry, until;       /* from there to there all is inside */
	uint32_t flags;
	bool failed;                 /* memory */

	struct flow_instruction *instruction;        /* sorted once flow_shape has run */
	size_t instructions, instruction_capacity;
	struct slope_map place;      /* pc / 64 to chunk */
	struct flow_chunk *chunk;
	size_t chunks, chunk_capacity, own_chunks;   /* own: those from the entry to `until` come first */
	uint64_t *pending;           /* addresses to decode from */
	size_t pendings, pending_capacity;
	uint64_t *mark;              /* addresses that code computes relative to itself: tables begin there */
	size_t marks, mark_capacity;

	struct flow_jump *jump;
	size_t jumps, jump_capacity;
	uint64_t *target;
	size_t targets, target_capacity;

	struct flow_part *part;
	size_t parts, part_capacity;
	struct flow_link *link;      /* grouped by part */
	size_t links, link_capacity;
	uint32_t *pred;              /* links, grouped by where they go to */
	size_t pred_capacity;
	struct effect *effect;
	size_t effects, effect_capacity;
	uint32_t *seen;              /* one for each part: the number of the last search that was there */
	size_t seen_capacity;
	uint32_t searches;
	uint32_t *stack;             /* of one search: parts to look at */
	size_t stack_capacity;
	/* The word of the stack that was asked for last, when there were so many instructions, and what it holds. */
	int64_t slot_place;
	size_t slot_instructions;
	uint64_t slot;
	int slot_base;
	bool slot_known;
};

/*
 * Room for so many of an array of the work, with anything in it; false, and the work has failed, when memory runs out.
 */
#define FLOW_GROW(w, name, need) flow_grow(w, (void **)&(w)->name, &(w)->name##_capacity, need, sizeof *(w)->name)

static inline bool flow_grow(struct flow_work *w, void **array, size_t *capacity, size_t need, size_t size)
{
	size_t wider = *capacity ? *capacity * 2 : 4;
	void *bigger;

	if (SLOPE_LIKELY(need <= *capacity))
		return !w->failed;
	wider = wider < need ? need : wider;
	if (!(bigger = slope_arena_alloc_any(w->arena, wider * size))) {
		w->failed = true;
		return false;
	}
	slope_copy(bigger, *array, *capacity * size);
	slope_arena_free(w->arena, *array, *capacity * size);
	*array = bigger;
	*capacity = wider;
	return !w->failed;
}

/* ---- flow.c ---- */

/* That of a pc's 64 bytes, made on first use, or NULL when memory runs out; the same, or NULL if it is not there. */
struct flow_chunk *flow_chunk_of(struct flow_work *w, uint64_t pc);
const struct flow_chunk *flow_chunk_at(const struct flow_work *w, uint64_t pc);
/* Is an instruction known that begins there? */
bool flow_is_start(const struct flow_work *w, uint64_t pc);
/* The place of an address; the entry is inside. */
enum flow_place flow_place_of(struct flow_work *w, uint64_t pc);

/* ---- flowblocks.c ---- */

/* Sorts the instructions, makes parts and links of them, and finds each part's predecessors. False when memory runs out. */
bool flow_shape(struct flow_work *w);
/* The part that begins at an address, or FLOW_NONE. */
uint32_t flow_part_at(const struct flow_work *w, uint64_t pc);
/* The last instruction that begins at or before an address, or FLOW_NONE. */
uint32_t flow_instruction_before(const struct flow_work *w, uint64_t pc);

/* ---- jumptables.c ---- */

/* Looks for the targets of a jump, and adds them to the work's; false: not all can be told, or memory has run out. */
bool jumptables_resolve(struct flow_work *w, struct flow_jump *jump);
/* Has a table without a sure end been read into another one, which only code has shown that was found later? */
bool jumptables_overrun(const struct flow_work *w);

/* ---- jumpvalues.c ---- */

struct effect effect_of(struct flow_work *w, uint32_t instruction);
/* Do both have the same memory operand, by its registers? */
bool effect_same_operand(const struct effect *a, const struct effect *b);
/* Is it a word of the function's own stack? */
bool effect_is_slot(const struct effect *e);

/* What a register holds: a constant, plus what `kind` says. */
enum value_kind {
	VALUE_OPAQUE,                /* a register's value at a place, times scale */
	VALUE_CONSTANT,
	VALUE_LOADED,                /* what an instruction reads from memory */
};

struct value {
	uint64_t constant;
	uint8_t kind;
	uint8_t scale;               /* 0: not known at all */
	int8_t reg;
	bool has_sign;               /* VALUE_LOADED */
	uint8_t bytes;               /* VALUE_LOADED */
	uint32_t part, at;           /* VALUE_OPAQUE: before this instruction of that part; VALUE_LOADED: the instruction */
};

/* That of a register before an instruction of a part. `at` may be the one behind the part's last. */
struct value value_before(struct flow_work *w, int reg, uint32_t part, uint32_t at, unsigned depth);
/* The instruction of the part, before `at`, that writes the register last; FLOW_NONE. */
uint32_t value_definition(struct flow_work *w, int reg, uint32_t part, uint32_t at);
/* The address of the instruction's memory operand; with one register at most. */
struct value value_address(struct flow_work *w, const struct effect *e, uint32_t part, uint32_t at, unsigned depth);

/* ---- jumpbounds.c ---- */

/*
 * The register is less than this before the instruction, by comparisons, masks and widths; 0: nothing is known.
 * `*exact`: a comparison says so, and the register is not below `*least`.
 */
uint64_t bound_of(struct flow_work *w, int reg, uint32_t part, uint32_t at, uint64_t *least, bool *exact);

/* ---- flowstack.c ---- */

/* Finds the jumps of unknown target that leave the function. False when memory runs out. */
bool flowstack_find_tails(struct flow_work *w);

/* ---- flowcycles.c ---- */

/* Cuts and weighs the links. False when memory runs out. */
bool flowcycles_weigh(struct flow_work *w);

#endif
