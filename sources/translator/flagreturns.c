/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Do flags come back from a call? By the ABI never, and no compiler makes such
 * code; what is written by hand does, within one module. But behind a call that never
 * returns compilers put anything, also what others jump to with flags of their
 * own, and programs must not be taken for the former because of the latter.
 */
#include "sources/translator/trace.h"

#include <linux/mman.h>

#include "sources/translator/runtime.h"

#define INSTRUCTIONS_MAX 4000u           /* that are looked at for one call */
#define FUNCTIONS_MAX 64u
#define DEPTH_MAX 8u
#define WAYS_MAX 32u
#define RUNS_MAX 128u

/* A function that has been looked at, or is being. */
struct looked_at {
	uint64_t pc;
	bool returns;                /* in doubt, also while it is being looked at */
};

struct search {
	struct looked_at function[FUNCTIONS_MAX];
	unsigned functions, left;    /* left: instructions that may still be looked at */
};

/* The ways through a function that are still to be gone, and where those began that have been. */
struct ways {
	uint64_t open[WAYS_MAX], begun[RUNS_MAX];
	unsigned opens, runs;
};

enum way_end { END_NONE, END_HERE, END_RETURN };

/* Where a jump or call by way of a word at a fixed place leads now; 0: nobody knows. */
static uint64_t by_slot(const struct outline *o, uint64_t next)
{
	uint64_t slot = next + (uint64_t)o->distance, target = 0;

	if (o->fixed && space_allows(&runtime.space, slot, sizeof target, PROT_READ))
		slope_copy(&target, (const void *)slot, sizeof target);
	return target;
}

static uint64_t target_of(const struct outline *o, uint64_t next)
{
	return o->relative ? next + (uint64_t)o->distance : by_slot(o, next);
}

static bool is_branch(const struct outline *o)
{
	return o->category == ZYDIS_CATEGORY_CALL || o->category == ZYDIS_CATEGORY_UNCOND_BR || o->category == ZYDIS_CATEGORY_COND_BR;
}

static bool see(uint64_t pc, struct outline *o)
{
	size_t bytes = effects_ahead(pc);

	return bytes && effects_outline((const void *)pc, bytes, o);
}

static bool is_end(const struct outline *o)
{
	switch (o->mnemonic) {
	case ZYDIS_MNEMONIC_HLT:
	case ZYDIS_MNEMONIC_INT3:
	case ZYDIS_MNEMONIC_UD0:
	case ZYDIS_MNEMONIC_UD1:
	case ZYDIS_MNEMONIC_UD2:
		return true;
	default:
		return false;
	}
}

/* False: it has been begun before. When there is no room it is begun again, until nothing is left. */
static bool begin_run(struct ways *w, uint64_t pc)
{
	for (unsigned n = 0; n < w->runs; n++)
		if (w->begun[n] == pc)
			return false;
	if (w->runs < RUNS_MAX)
		w->begun[w->runs++] = pc;
	return true;
}

static bool may_return(struct search *s, uint64_t function, unsigned depth);

/* One instruction; *pc: the next. */
static enum way_end step_on(struct search *s, struct ways *w, uint64_t *pc, unsigned depth)
{
	struct outline o;

	if (!s->left || !see(*pc, &o))
		return END_RETURN;       /* who knows? */
	s->left--;
	*pc += o.length;
	uint64_t target = is_branch(&o) ? target_of(&o, *pc) : 0;

	switch (o.category) {
	case ZYDIS_CATEGORY_RET:
		return END_RETURN;
	case ZYDIS_CATEGORY_CALL:
		return target && !may_return(s, target, depth + 1) ? END_HERE : END_NONE;
	case ZYDIS_CATEGORY_UNCOND_BR:
		*pc = target;
		return !target ? END_RETURN : begin_run(w, target) ? END_NONE : END_HERE;
	case ZYDIS_CATEGORY_COND_BR:
		if (w->opens == WAYS_MAX)
			return END_RETURN;
		w->open[w->opens++] = target;
		return END_NONE;
	default:
		return is_end(&o) ? END_HERE : END_NONE;
	}
}

/* Does a way through the function lead to a return? In doubt it does. */
static bool goes_home(struct search *s, uint64_t function, unsigned depth)
{
	struct ways w = { .open = { function }, .opens = 1 };
	enum way_end end;

	while (w.opens) {
		uint64_t pc = w.open[--w.opens];

		if (!begin_run(&w, pc))
			continue;
		do
			end = step_on(s, &w, &pc, depth);
		while (end == END_NONE);
		if (end == END_RETURN)
			return true;
	}
	return false;
}

static bool may_return(struct search *s, uint64_t function, unsigned depth)
{
	for (unsigned n = 0; n < s->functions; n++)
		if (s->function[n].pc == function)
			return s->function[n].returns;
	if (s->functions == FUNCTIONS_MAX || depth == DEPTH_MAX)
		return true;
	struct looked_at *f = &s->function[s->functions++];

	*f = (struct looked_at){ function, true };
	f->returns = goes_home(s, function, depth);
	return f->returns;
}

/* Behind the stub of a linkage table, if there is one. */
static uint64_t behind_stub(uint64_t function)
{
	struct outline o;
	uint64_t pc = function, target;

	if (see(pc, &o) && o.mnemonic == ZYDIS_MNEMONIC_ENDBR64)
		pc += o.length;
	if (!see(pc, &o) || o.mnemonic != ZYDIS_MNEMONIC_JMP)
		return function;
	target = by_slot(&o, pc + o.length);
	return target ? target : function;
}

static bool in_other_modules(uint64_t a, uint64_t b)
{
	const struct space_region *one = space_at(&runtime.space, a);
	const char *path = one ? one->path : NULL;
	const struct space_region *other = space_at(&runtime.space, b);

	return path && other && other->path && !system_same(path, other->path);
}

bool flagreturns_may(const struct step *call)
{
	struct outline o = outline_of(&call->i);
	uint64_t target = target_of(&o, call->next);
	struct search s = { .left = INSTRUCTIONS_MAX };

	if (!target)
		return true;
	target = behind_stub(target);
	return !in_other_modules(call->pc, target) && may_return(&s, target, 0);
}
