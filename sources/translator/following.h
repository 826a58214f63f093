/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Paths through functions, as the program takes them (core/path_number.h), file
 * by file:
 *
 *   flow.h, jumptables.c   control flow graphs of machine code
 *   pathplaces.c           which graph a piece of code belongs to
 *   pathindex.c            and where the blocks of all graphs are
 *   pathbegins.c           where paths begin; blocks that become two
 *   pathvalues.c           where the path register is known beforehand
 *   pathmaking.h           what is added to translated code: pathcode.c, pathcounting.c, pathswitches.c
 *   pathevents.c           what is left to C: edges, switches, counts
 *   pathlandings.c         and paths that are left and begun out of the ordinary
 *   pathcontexts.c         the calling contexts of paths
 *   measures.c             activations that are measured by counters.h
 *
 * The path register is a word of the context, CTX_PATH. It always fits the block of the graph
 * that the program is in; it is never 0. Every call keeps the caller's in the shadow of the
 * place where the return address lies (where input sizes have that shadow, in a second window), every return takes it back and leaves
 * 0 there: so whoever switches stacks, returns late or never, or comes from elsewhere,
 * finds the right one or none, and in the latter case C begins a path where control has come to. What is
 * not 0 in the shadow of a stack are activations that have not returned.
 *
 * A path's counter is a word of the thread's own, behind %gs or in that window, or where a graph has too many paths, an entry of a
 * cache in front of the thread's table. Both lie in the shadow of the code cache, which no program can touch.
 *
 * Code that is not an ELF file's, or may change without notice, has no graph: its activations have PATHS_NONE.
 */
#ifndef SLOPE_SOURCES_TRANSLATOR_FOLLOWING_H
#define SLOPE_SOURCES_TRANSLATOR_FOLLOWING_H

#include "core/paths.h"
#include "sources/translator/context.h"
#include "sources/translator/counters.h"
#include "sources/translator/flow.h"
#include "sources/translator/making.h"

#define PATHS_NONE 1                     /* no path is followed */
#define PATHS_FIRST 2                    /* no other register is below */
#define PATHS_MEASURED (UINT64_C(1) << 63)       /* the activation is measured: measures.c */

/*
 * With contexts, CTX_PATH_CONTEXT is 1 + the number of the calling context, in the bits from 32 on, and all registers fit
 * into the lower half: graphs have fewer paths, and no counters but those in the cache. What a call keeps, and a key of the
 * cache, are both words in one.
 */
#define PATHS_CONTEXT_SHIFT 32u
#define PATHS_REGISTER_MASK UINT64_C(0xffffffff)
#define PATHS_RANGE_MAX (UINT64_C(1) << 61)
#define PATHS_RANGE_MAX_CONTEXTS (UINT64_C(1) << 30)

#define PATHS_COUNTERS_AT 0x60000000u    /* from %gs */
#define PATHS_COUNTERS_END 0x7c000000u
#define PATHS_ARRAY_MAX (1u << 19)       /* a graph with more paths has no counters */

/*
 * The cache in front of a thread's table. All graphs share its first part; those with very many paths have entries of their own
 * behind it, as long as there are any, whose `graph` need not be looked at.
 */
struct path_hit {
	uint64_t key;                /* 1 + the path's number, and its context; 0: none */
	uint64_t graph;              /* 1 + its number */
	uint64_t count;
	uint64_t unused;
};
#define PATHS_CACHE_AT 0x7c000000u
#define PATHS_CACHE_LOG2 16u
#define PATHS_OWN_AT 0x7d200000u
#define PATHS_OWN_END 0x7ff00000u
#define PATHS_OWN_LOG2 7u                /* entries of a graph's own, at least and at most */
#define PATHS_OWN_MAX_LOG2 14u
#define PATHS_HIT_LOG2 5u
#define PATHS_HIT_OTHER (1u << PATHS_HIT_LOG2)   /* a path may be in either of two entries, whose distances differ by this bit */

/* With contexts: calls of functions from contexts, and where they lead; in front of the tree. */
struct path_enter {
	uint64_t key;                /* the context's bits of CTX_PATH, and the function */
	uint64_t context;            /* those of the context that it leads to */
	uint64_t calls;              /* that are not in the node yet */
	uint64_t unused;
};
#define PATHS_ENTERS_AT 0x7d000000u
#define PATHS_ENTERS_LOG2 15u

static inline uint32_t path_enter_at(uint64_t key)
{
	uint64_t crc = 0;

	__asm__("crc32q %1, %0" : "+r"(crc) : "r"(key));
	return (uint32_t)crc & ((1u << PATHS_ENTERS_LOG2) - 1) << 5;
}

/* A graph as the translator needs it. */
struct path_graph {
	struct slope_graph *core;
	struct flow flow;            /* its blocks are the graph's vertices, its edges the graph's edges */
	int64_t shift;               /* CTX_PATH is the numbering's register plus this */
	uint64_t counters;           /* from %gs, of path 0; 0: it has none */
	uint64_t counter_count;
	uint32_t hits;               /* if not: its part of the cache, from %gs, */
	uint32_t hits_mask;          /* and what of a hash is the distance of an entry in it */
	bool hits_own;
	struct path_cases *cases;    /* of its switches */
	uint64_t lowest, span;       /* where all its code lies */
	int64_t *value;              /* pathvalues.c; NULL: nothing is known */
	int64_t *likely;             /* found when it is asked for */
	uint32_t values, likelies;   /* blocks that came later have none */
};

/* Counts a path by itself, of a graph that has no counters; several may count the same. */
struct path_counter {
	uint64_t counter;            /* from %gs */
	uint64_t number;
	const struct path_graph *graph;
};

/*
 * Where a switch leads. Paths that go on: `becomes` is what is added to CTX_PATH. Paths that end: `more` is added to their number, and
 * `becomes` is what CTX_PATH becomes.
 */
struct path_case {
	uint64_t becomes, more;
	uint64_t to;                 /* in the code cache; 0: C must look, there may be no such case */
	uint64_t ends;
};
#define PATH_CASE_LOG2 5u
struct path_cases {
	struct path_cases *next;
	uint32_t count;
	struct path_case at[];       /* by distance from the graph's lowest address */
};

/* Where in its part of the cache a path of the graph would be. */
static inline uint32_t path_hit_at(const struct path_graph *g, uint64_t key)
{
	uint64_t crc = 0;

	__asm__("crc32q %1, %0" : "+r"(crc) : "r"(key));
	return g->hits + ((uint32_t)crc & g->hits_mask);
}

/* A block of one. */
struct path_place {
	struct path_place *next;     /* in the same line of the index */
	uint64_t start, end;
	struct path_graph *graph;
	uint32_t vertex;
};

/* Where its last instruction begins. */
static inline uint64_t path_last(const struct path_place *p)
{
	return p->graph->flow.block[p->vertex].last;
}

/* ---- pathindex.c; all with the lock held ---- */

#define PATHINDEX_LINE_LOG2 7u

/* The block around this address, if there is a graph already; it may be in the middle of an instruction, or of nothing. */
const struct path_place *pathindex_find(uint64_t pc);
/* Code in this range is gone, or another. */
void pathindex_forget(uint64_t address, uint64_t bytes);
/* Adds so many blocks of the graph. False when memory runs out. */
bool pathindex_keep(struct path_graph *g, uint32_t vertex, uint32_t count);
/* A block has become two: what was known of the whole is now so of the second part, by which it is left. */
bool pathindex_cut(struct path_graph *g, uint32_t vertex, uint32_t second, uint64_t end);
/* The block is no code: what lies between functions may look like some. */
void pathindex_drop(const struct path_place *p);
/* Where the first block begins behind pc, which is in none; `end`: none does before. */
uint64_t pathindex_next(uint64_t pc, uint64_t end);

/* ---- pathplaces.c; all with the lock held ---- */

/* Instructions of a piece of code. */
struct path_steps {
	uint64_t last;               /* where the last one begins; 0: there is none */
	uint32_t count;
};

/* The block around this code, made on first use; NULL: paths are not followed there. */
const struct path_place *pathplaces_at(uint64_t pc);
/* The same as pathplaces_at for code that belongs to the function `fn` if it belongs to none yet. */
const struct path_place *pathplaces_at_for(uint64_t pc, uint32_t fn);
/* What all graphs are made of. */
struct slope_arena *pathplaces_arena(void);
/* Is it in the midst of a graph, and so no function's beginning? */
bool pathplaces_is_inner(uint64_t pc);
/* The call that would come back to there; NULL: none does. */
const struct path_place *pathplaces_call_before(uint64_t pc);
/* The graph that this counter belongs to, by its distance from %gs; NULL: none. */
const struct path_graph *pathplaces_counted(uint64_t counter);
/* A counter of this path, from %gs: its own if the graph has counters, else another one; 0: there is no room. */
uint64_t pathplaces_counter(const struct path_graph *g, uint64_t number);
/* The path that such a counter of a graph without is for; NULL: it is none. */
const struct path_counter *pathplaces_path_of(uint64_t counter);
/* Another counter, of repetitions in this block, from %gs; 0: there is no room. */
uint32_t pathplaces_repeats(const struct path_place *p);
/* The block that such a counter is for; NULL: it is none. */
const struct path_place *pathplaces_repeated(uint64_t counter);
/* Where all counters end. */
uint64_t pathplaces_counters_end(void);
/* The same for what is used of the cache. */
uint64_t pathplaces_hits_end(void);
/* Instruction by instruction from `from` on. False: none begins at `to`, or before it there is what cannot be read. */
bool pathplaces_steps(uint64_t from, uint64_t to, struct path_steps *steps);
/* How many these are; takes the lock itself. */
uint32_t pathplaces_instructions(uint64_t from, uint64_t to);

/* The edge by which the block is left to `target`, in this way; UINT32_MAX: there is none. */
uint32_t pathplaces_edge(const struct path_place *place, enum slope_edge_way way, uint64_t target);

static inline uint64_t path_begin(const struct path_graph *g, uint32_t vertex)
{
	return (uint64_t)(slope_path_begin(&g->core->paths, vertex) + g->shift);
}

/* ---- pathbegins.c; all with the lock held ---- */

/* What CTX_PATH is where control comes to pc from elsewhere. */
uint64_t pathbegins_at(uint64_t pc);
/* The same for one who comes by way of what the call before pc does when it has come back. */
uint64_t pathbegins_behind(uint64_t pc);

/* ---- pathvalues.c; all with the lock held ---- */

void pathvalues_find(struct path_graph *g, struct slope_arena *arena);
/* Is CTX_PATH always the same in this block? */
bool pathvalues_known(const struct path_graph *g, uint32_t vertex, int64_t *path);
/*
 * What CTX_PATH is in this block as a rule: when the path began with the last round of the loop around it. False: nothing is more
 * likely than anything else, or nobody knows.
 */
bool pathvalues_likely(struct path_graph *g, uint32_t vertex, int64_t *path);
/*
 * A path begins with this block. If nobody had expected that, translations that relied on it are made anew, and the one in the
 * making must be.
 */
void pathvalues_begin(struct path_graph *g, uint32_t vertex);
/* How often that has happened. */
uint64_t pathvalues_surprises(void);

/* ---- pathcode.c: what is added; all of them keep what is alive where they stand ---- */

/* The program takes this edge; `target`: where that leads. Nothing if it has no code. */
bool pathcode_has_edge(const struct path_place *place, uint32_t edge);
void pathcode_edge(struct maker *m, const struct path_place *place, uint32_t edge);
/* Behind a step that does not branch, before the one at `next`. */
void pathcode_on(struct maker *m, const struct step *s, uint64_t next);
/* The last step is a branch with two ways out; or it goes on along the one. */
void pathcode_branch(struct maker *m, unsigned step, bool last);
void pathcode_cold(struct maker *m, const struct cold *c);
/* Behind a call, whose return address is on the stack; target 0: not known. */
void pathcode_call(struct maker *m, const struct step *s, uint64_t target);
/* A function begins: CTX_PATH is in another context from here on. */
void pathcode_context(struct maker *m, uint32_t fn, bool flags);
/* May returns to behind the call find by themselves what it does when it has come back? */
bool pathcode_may_return(const struct step *call);
/* Does a call before pc do anything for paths when it comes back to there? */
bool pathcode_acts_behind(uint64_t pc);
/* Before a return. True: the program's rcx is in the context already, and the register may be used. */
bool pathcode_return(struct maker *m, const struct step *s);
/* Before an indirect jump: the path that ends with it. */
void pathcode_leave(struct maker *m, const struct step *s);
/* Before an indirect jump; its target is in rcx, the program's rcx in the context. How to go on. */
enum lookup_path pathcode_indirect(struct maker *m, const struct step *s);
/* A switch that C has looked at leads there: from now on without C. */
void pathcode_switch_to(struct path_case *c, uint64_t code);
/* Before a part of the linkage table. */
void pathcode_stub(struct maker *m);
/* Behind a repeated string instruction. */
void pathcode_repeated(struct maker *m, const struct step *s);

/* ---- pathevents.c ---- */

void pathevents_start(struct context *ctx, uint64_t pc);
void pathevents_forked(void);
/* A path begins here, in the same context as before; with the lock held. */
void pathevents_begin_at(struct context *ctx, uint64_t pc, uint64_t measured);
/* The same where a function begins. */
void pathevents_begin_function(struct context *ctx, uint64_t pc);
void pathevents_row(struct context *ctx, const struct slope_path_row *key, uint64_t times);
/* The call, or system call, at the end of the block has come back; with the lock held. */
void pathevents_next(struct context *ctx, const struct path_place *p, uint64_t next);
/* A switch whose code is no shorter. */
void pathevents_switch(uint64_t target, const struct path_place *place, struct path_cases *cases);
/* A path's end. */
void pathevents_count(uint64_t number, const struct path_graph *g);
/* One that no counter is for. */
void pathevents_miss(uint64_t key, const struct path_graph *g);
/* The same with the context in the number. */
void pathevents_miss_packed(uint64_t key, const struct path_graph *g);
/* The system call there has been made. */
void pathevents_called(struct context *ctx, uint64_t pc, uint64_t next);
/* The stub's instructions that a call through it has executed beyond the usual. */
void pathevents_lazy(uint64_t sp, uint64_t instructions);
void pathevents_lazy_common(uint64_t sp, uint64_t instructions);
void pathevents_repeated(uint64_t kind, uint64_t left, const struct path_place *place);
/* An edge that ends a path of an activation that is measured, or that translated code leaves to us. */
void pathevents_edge(const struct path_place *place, uint64_t target, uint64_t way);
/* What a call keeps in the shadow of its return address. */
uint64_t *pathevents_kept(struct context *ctx, uint64_t sp);
/* The thread ends, at ctx->path_pc; what it has counted goes to its table. */
void pathevents_end(struct context *ctx);

/* Register and context in one, and back. */
static inline uint64_t path_packed(const struct context *ctx)
{
	return ctx->path | ctx->path_context;
}

static inline void path_unpack(struct context *ctx, uint64_t packed, bool contexts)
{
	ctx->path = contexts ? packed & (PATHS_MEASURED | PATHS_REGISTER_MASK) : packed;
	ctx->path_context = contexts ? packed & ~PATHS_REGISTER_MASK & ~PATHS_MEASURED : 0;
}
/* ---- pathlandings.c ---- */

/* A return found nothing kept at sp, or what a measured activation has kept. */
void pathevents_landed(uint64_t sp);
/* A return, in code that keeps all registers. */
void pathevents_return(uint64_t sp);
/* An indirect jump that is no tail call. */
void pathevents_jump(uint64_t target, uint64_t sp);
/* An indirect jump of a block to where its table does not lead, or a call that was not expected to come back. */
void pathevents_unexpected(uint64_t target, const struct path_place *place);
/* The call before this address has come back, and not to where that is seen; or ctx->landed: control comes there otherwise. */
void pathevents_returned(struct context *ctx, uint64_t pc);
/* A function of the unwinder begins; it returns, or goes to a landing pad, whose address lies at sp. */
void pathevents_unwinds(uint64_t sp);
void pathevents_unwound(uint64_t sp);
/* Interrupted at pc; the handler begins, with the address that it returns to at sp. */
void pathevents_handler(struct context *ctx, uint64_t pc, uint64_t interrupted_sp, uint64_t handler, uint64_t sp);
/* The system call that ends a handler; and behind it: the program goes on at pc. */
void pathevents_restorer(struct context *ctx, uint64_t next);
void pathevents_handler_ends(struct context *ctx, uint64_t pc, uint64_t sp);
/* Calls `visit` for each page of this part of the window of paths that exists. */
void pathlandings_each_page(struct context *ctx, uint64_t from, uint64_t to, void (*visit)(struct context *ctx, uint64_t at));
/* The thread ends: all its activations are left. */
void pathlandings_end(struct context *ctx);

/* ---- pathcontexts.c ---- */

/* The tree's root, for a thread or a handler. */
void pathcontexts_root(struct context *ctx, uint32_t fn);
/* Where `fn` is when it is called from, or jumped to, where ctx->path is. */
void pathcontexts_enter(uint64_t fn);
/* The same, from translated code: all registers are kept, flags are not. */
void pathcontexts_quick(uint64_t fn);
/* The number of the context, or SLOPE_PATH_CONTEXT_NONE. */
uint32_t pathcontexts_number(uint64_t path);
/* What the thread's paths have cost goes to the nodes. */
void pathcontexts_end(struct context *ctx);

/* ---- measures.c ---- */

/* Once, and for each thread, in that thread; where nothing is to be measured nothing is done. */
void measures_start(struct context *ctx);
void measures_thread(struct context *ctx);
void measures_end(struct context *ctx);
void measures_forked(struct context *ctx);
/* From translated code, when CTX_COUNTDOWN is over: a call; one whose target is for dispatch.c to be found, in ctx->guest_target. */
void measures_call(uint64_t sp);
void measures_call_target(uint64_t sp, uint64_t target);
void measures_resume(struct context *ctx, uint64_t sp);
/* A path begins of the activation on top, which is measured or not. */
void measures_went_on(struct context *ctx);
void measures_path(struct context *ctx, const struct slope_path_row *key, bool last);

#endif
