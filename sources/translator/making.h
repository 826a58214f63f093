/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How a trace becomes a block, file by file:
 *
 *   trace.c      which instructions, and what is known of them
 *   effects.c    what they use and overwrite, and what comes behind them wants
 *   flagreturns.c   whether flags come back from a call, which the ABI forbids
 *   outline.h    how long they are and where they lead, without decoding each
 *   templates.h  decoded instructions, without decoding each
 *   checks.c     the checks of their reads and writes: where, and what they are
 *   stalereads.c reads that most often do not pass
 *   rates.c      which these are: counted in the first translation of each block
 *   vectors.c    vector registers that are ours, and instructions that name them
 *   coldchecks.c what becomes of those that do not pass
 *   exits.c      direct ways out of the block, and its costs
 *   transfers.c  whatever else leaves it: calls, returns, jumps
 *   lookups.c    what indirect ones look up
 *   tablejumps.c, landings.c    jumps by a table, and how they need not
 *   doubts.c     code that may change without our notice
 *   blocks.c     the instructions themselves, and the order of it all
 *   reports.c    calls of plain C that keep everything
 *
 * A block that has checks borrows a register that its trace does not mention:
 * it holds the topmost activation's stamp twice, the program's value is at
 * CTX_STAMP_HOME. Loaded first, given back on the ways out, but for those that are linked to a block which
 * borrows the same one: they enter it behind the loading. Most flags that
 * checks change are dead; checks.c says what happens where they are not.
 *
 * What is rarely needed comes last and lies elsewhere: the block's cold part.
 */
#ifndef SLOPE_SOURCES_TRANSLATOR_MAKING_H
#define SLOPE_SOURCES_TRANSLATOR_MAKING_H

#include "sources/translator/emit.h"
#include "sources/translator/runtime.h"

#define COLD_MAX 512u
#define EXITS_MAX 16u
#define JUMPS_MAX 20u

/* What becomes of the path that is followed where an indirect branch leads. */
enum lookup_path {
	LOOKUP_PLAIN,                /* none is followed */
	LOOKUP_BEGINS,               /* one begins there */
	LOOKUP_KEEPS,                /* CTX_PATH is as it is to be there, */
	LOOKUP_RETURNS,              /* or as it is at the call that is returned from */
	LOOKUP_DONE,                 /* all of it is there */
};

/* CTX_PATH where code is added, as far as the code before it tells: pathcounting.c. */
struct known_path {
	bool known;                  /* it is `value` */
	bool likely;                 /* or is that as a rule: pathvalues_likely */
	int64_t value;
};

/* A read, and how its check knows. */
struct stale_read {
	struct address at;           /* the program's, */
	uint32_t read;               /* bytes */
	struct address words;        /* and what tells about it */
	uint32_t bytes;
	unsigned step;
	uint16_t taken;              /* registers that `words` are reached by, besides those of `at` */
	bool by_register;            /* by one of these alone, which nobody needs afterwards */
	bool guessed;                /* if the base is a multiple of 4 */
	uint16_t *counter;           /* of stale ones, or NULL */
	bool either;                 /* nobody can foretell whether it is stale */
	bool near;                   /* as struct access has it */
};

/* A piece of the cold part, entered by jumps and, where it comes back, left by one. */
struct cold {
	/* Those of checks.c, those of transfers.c. */
	enum {
		COLD_READ, COLD_STALE_READ, COLD_WRITE, COLD_ODD_STACK, COLD_COUNTED,
		COLD_BRANCH, COLD_STACK, COLD_FAR, COLD_AWAY, COLD_OTHER_TABLE, COLD_UNKNOWN_LANDING,
		COLD_MISS, COLD_STUB, COLD_STALE, COLD_CHANGED, COLD_RETURN,
		/* and of pathcode.c */
		COLD_WAY, COLD_CASE, COLD_HIT, COLD_UNLIKELY, COLD_MEASURED, COLD_SAMPLE, COLD_CONTEXT,
	} kind;
	unsigned jumps;
	const uint8_t *back;
	struct address at;           /* with the registers as they are at the check */
	uint32_t bytes;
	uint16_t live;               /* registers that somebody needs there */
	bool far;                    /* COLD_WRITE: no operand reaches it */
	int kept[2];                 /* COLD_STALE_READ: registers of the program that stalereads.c has kept, or NO_REGISTER */
	bool alike;                  /* COLD_READ, COLD_STALE_READ: the words are not alike, but may be fresh all the same */
	bool borrowed;               /* COLD_ODD_STACK: the spare register is in use */
	bool keep_flags;             /* COLD_MISS, COLD_AWAY: as the first look did; others: the program's are at CTX_FLAGS_HOME */
	enum lookup_path path;       /* COLD_MISS */
	uint8_t *none;               /* COLD_MISS: a jump to where nothing was found; or NULL */
	const struct path_place *place;      /* COLD_MEASURED: the edge that is taken; COLD_CASE: the switch */
	struct path_cases *cases;    /* COLD_CASE */
	const struct path_graph *graph;      /* COLD_HIT: whose path is not in the cache; COLD_UNLIKELY: or is another than usual, */
	uint32_t edge;               /* and ends with this edge */
	uint8_t number, entry;       /* COLD_HIT: the registers that have its key, and where it is not */
	uint32_t way;                /* enum slope_edge_way */
	uint64_t target;             /* COLD_MEASURED; COLD_SAMPLE: of the call; 0: in rcx */
	const struct symbols_range *code;    /* COLD_FAR, COLD_AWAY: the module's */
	uint32_t module;             /* COLD_AWAY: codeplaces_module */
	struct known_path known;     /* COLD_WAY */
	unsigned step;               /* COLD_BRANCH and COLD_STACK: the one that left; COLD_ODD_STACK: the one before which */
	/* From here on nothing is there until it is set. */
	struct stale_read stale;     /* COLD_READ */
	uint8_t *jump[JUMPS_MAX];    /* displacements of the jumps that come here */
};

/* A way out that is to be linked: the jump's displacement, and the program's address. */
struct exit {
	uint64_t target;
	uint8_t *patch;
	int handed;                  /* this register is still borrowed for the stamp; NO_REGISTER: none is */
	uint32_t way;                /* of struct codecache_branch */
};

struct maker {
	struct emit e;
	uint8_t *start;              /* in the cache */
	struct trace trace;
	bool checked_writes;         /* others may have seen what is written: C decides about words that are not the thread's own */
	int stamp, spare;            /* registers; stamp: NO_REGISTER when the block has no checks */
	struct block_facts facts;
	bool counts;                 /* costs are counted, */
	unsigned counted_at;         /* the step before which the main way counts its costs; steps: behind the last one */
	struct {
		uint16_t access, step;   /* before which step */
		bool called;             /* by plain C */
		bool kept;               /* flags are alive there */
	} check[TRACE_ACCESSES];
	unsigned checks;
	bool loops;                  /* the trace comes back to itself */
	struct cold cold[COLD_MAX];
	unsigned colds;
	struct exit exit[EXITS_MAX];
	unsigned exits;
	struct mark mark[TRACE_STEPS];
	uint32_t marks;
	unsigned borrow_from, borrow_to;     /* from the checks of the one step to those of the other the spare register is borrowed */
	uint64_t call_pc;            /* of the call that is made here, 0: none, or one that is made elsewhere */
	struct rates_block *counted; /* its runs and stale reads are counted; NULL: they are not */
	struct codecache_jumps *jumps;       /* the table that it jumps by at its end, and how; NULL: none that has landings */
	struct table_use use;
	struct known_path path;      /* CTX_PATH on the way that is being made */
	uint16_t stack_origin;       /* of a stack pointer that is known to be a multiple of 4, 0: none */
	int32_t stack_plus;
};

static inline struct cold *making_cold(struct maker *m, unsigned kind)
{
	struct cold *c = &m->cold[m->colds++];

	__builtin_memset(c, 0, offsetof(struct cold, stale));
	c->kind = kind;
	return c;
}

/* A conditional jump to a piece of the cold part. */
static inline void making_jump(struct maker *m, struct cold *c, int condition)
{
	c->jump[c->jumps++] = emit_jump_ahead(&m->e, condition);
}

/* Whoever wants into this piece comes here. */
static inline void making_land(struct maker *m, const struct cold *c)
{
	for (unsigned i = 0; i < c->jumps; i++)
		emit_land(&m->e, c->jump[i]);
}

/* Is the program's value of the spare register at CTX_SPARE_HOME while the step itself runs? */
static inline bool making_is_spared(const struct maker *m, unsigned step)
{
	return step >= m->borrow_from && step < m->borrow_to;
}

/* The last step is a branch behind which nothing is left to do, on neither way: it has been counted. */
static inline bool making_branches_last(const struct maker *m)
{
	return !m->trace.next && m->trace.step[m->trace.steps - 1].kind == STEP_BRANCH && (!m->counts || m->counted_at < m->trace.steps);
}

/* ---- checks.c ---- */

/* Finds out which checks are needed, and where they can be. */
void checks_place(struct maker *m);
/* Finds out for which of them the spare register is needed; both are chosen. */
void checks_borrow(struct maker *m);
/* Are there reads whose rates are worth to be known, and is there a place to count the block's runs? */
bool checks_can_count(const struct maker *m);
/* Those that come before this step. */
void checks_emit(struct maker *m, unsigned step);
void checks_cold(struct maker *m, struct cold *c);
/* The function's first instruction: somebody may have jumped here. */
void checks_entry(struct maker *m, uint32_t fn);

/* ---- exits.c ---- */

/* Adds to the costs. */
void exits_count(struct maker *m, int32_t instructions, int32_t blocks, bool keep_flags);
/* The same while the block's registers are the program's. */
void exits_count_apart(struct maker *m, int32_t instructions, int32_t blocks, bool keep_flags);
/* What a branch has to add to the costs on its way out. */
struct exit_costs {
	int32_t instructions, blocks;
};
struct exit_costs exits_costs(const struct maker *m, unsigned step);
/* The program's registers come back. */
void exits_give_back(struct maker *m);
/* To the program's address, on a condition or without (CONDITION_NONE), the stamp's register still borrowed; linked later. */
void exits_add(struct maker *m, int condition, uint64_t target);
/* The same with all registers the program's. */
void exits_add_plain(struct maker *m, uint64_t target);
/* The same into a function that is on top now. */
void exits_add_call(struct maker *m, uint64_t target);
/* Behind a call that has come back, with r11 borrowed as usual.S leaves it. */
void exits_add_return(struct maker *m, uint64_t target);
/* As exits_add, to where the program goes on: a jump to the block's own start stays inside. */
void exits_on(struct maker *m, int condition, uint64_t target);
/* The way out of a conditional branch. */
void exits_branch(struct maker *m, unsigned step);
/* Behind everything: the ways to C that exits take until they are linked. */
void exits_finish(struct maker *m);
/* Our stack, and the call that brings the site's record to slope_dispatch. */
void exits_site(struct maker *m, uint32_t kind, uint64_t target, const struct codecache_branch *branch);

/* Where a direct branch goes. */
static inline uint64_t making_target(const struct step *s)
{
	return s->next + (uint64_t)s->i.raw.imm[0].value.s;
}

/* ---- transfers.c ---- */

/* The last step, STEP_LAST: a call, a return, a jump or anything that C does. */
void transfers_last(struct maker *m, const struct step *s);
/*
 * Before the checks of a call that is seen through the linkage table: frames at or below its return address were left
 * without a return that we saw, and the stub's read of its slot is not theirs.
 */
void transfers_before_stub(struct maker *m, unsigned step);
/* Conditional branches and moves of the stack on their way out. */
void transfers_cold(struct maker *m, struct cold *c);

/* ---- lookups.c ---- */

/* The operand of an indirect call or jump into rcx; the program's rcx goes to the context. */
void lookups_load(struct maker *m, const struct step *s);
/* The program's address is in rcx, its own rcx in the context: find the translation and go there. */
void lookups_go(struct maker *m, bool keep_flags, enum lookup_path path);
/* A jump to the address in rcx. Out of a stub it ends in a function; elsewhere it does if it leaves the module. */
void lookups_observe(struct maker *m, const struct step *s);
/* Is the jump one that may stay in its module, so that all of it is lookups_stay's? */
bool lookups_may_stay(const struct maker *m, const struct step *s);
/* The jump itself, with the block's register still borrowed; C is asked where it does leave the module. */
void lookups_stay(struct maker *m, const struct step *s);
void lookups_cold(struct maker *m, struct cold *c);

/* ---- landings.c ---- */

/* Does the trace end with a jump by a table that can have landings? m->jumps is what is known of it then. */
void landings_find(struct maker *m);
/* Before the step m->use.step: the landing into r11. */
void landings_read(struct maker *m);
/* The jump at the end. */
void landings_jump(struct maker *m, const struct step *s);
void landings_cold(struct maker *m, struct cold *c);

/* ---- doubts.c ---- */

/* First of all, if the code is doubted: is it still what the trace was made of? */
void doubts_emit(struct maker *m);
void doubts_cold(struct maker *m, const struct cold *c);

/* ---- blocks.c ---- */

/* A copy of the step's instruction that reaches the same operand. */
void blocks_copy(struct maker *m, const struct step *s);
/* A displacement for what the original reaches from `next`, now from the end of emission + `behind`. Not for `far` ones. */
void blocks_displacement(struct maker *m, int64_t displacement, uint64_t next, unsigned behind);

#endif
