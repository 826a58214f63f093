/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Blocks call gate.S and misses.S on the program's stack, below what it uses
 * of it. Near a stack's end there may be no memory, or none to be written.
 *
 * A read or write that was to be told to misses.S is told here instead, and the
 * block goes on behind the call: the stack pointer may be anything there, for
 * code that uses it as one more register.
 *
 * Calls and returns use the stack themselves. There the page is lent to gate.S, which is stepped through until it is back in
 * the block; then the page becomes again what it was, so that the program's own
 * faults are as they should be.
 */
#include "sources/translator/signals.h"
#include "sources/translator/observing.h"

#include <linux/mman.h>

#define FAULT_WRITE 2u           /* in a page fault's error code */
#define CALL 0xe8
#define CALL_BYTES 5u
#define ADDITION_BYTES 4u        /* to the stack pointer, behind the call: checkparts.h */
#define RED_ZONE 128u

static bool in_gate(uint64_t rip)
{
	return rip - (uint64_t)slope_gate_first < (uint64_t)(slope_gate_last - slope_gate_first);
}

static bool in_cache(uint64_t rip)
{
	return rip >= PLAN_CACHE && rip < PLAN_CACHE_END;
}

/* What the instruction there in the cache calls; 0: it is no call. */
static uint64_t called_by(uint64_t rip)
{
	int32_t distance;

	if (!in_cache(rip) || *(const uint8_t *)rip != CALL)
		return 0;
	slope_copy(&distance, (const void *)(rip + 1), sizeof distance);
	return rip + CALL_BYTES + (uint64_t)(int64_t)distance;
}

bool lending_is_gates(uint64_t rip)
{
	return in_gate(rip) || in_gate(called_by(rip));
}

/* ---- reads and writes ---- */

static bool is_read(uint64_t routine, int stamp, unsigned log2)
{
	for (unsigned kind = 0; kind < GATE_KINDS; kind++)
		if (routine == (uint64_t)slope_gate_reads[observer.vectors][kind][stamp][log2])
			return true;
	return false;
}

bool lending_tell(struct ucontext *uc)
{
	uint64_t rip = uc->uc_mcontext.rip, routine = called_by(rip), *stamp;
	const struct block *block = in_gate(routine) ? faults_block(rip) : NULL;

	if (!block || block->facts.stamp < 0)
		return false;
	stamp = faults_register(uc, block->facts.stamp);
	for (unsigned log2 = 0; log2 < 4; log2++) {
		if (is_read(routine, block->facts.stamp, log2))
			reports_read(*stamp, UINT64_C(1) << log2);
		else if (routine == (uint64_t)slope_gate_writes[block->facts.stamp][log2])
			reports_write(*stamp, UINT64_C(1) << log2);
		else
			continue;
		*stamp = context_here()->top;
		uc->uc_mcontext.rsp += RED_ZONE;
		uc->uc_mcontext.rip = rip + CALL_BYTES + ADDITION_BYTES;
		return true;
	}
	return false;
}

/* ---- calls and returns ---- */

static bool protect(uint64_t page, int prot)
{
	return !system_call(__NR_mprotect, (long)page, SLOPE_PAGE_BYTES, prot, 0, 0, 0);
}

/* With the lock held. What was in the page, if there was one, is kept. */
static bool lend(struct lent *l, uint64_t page)
{
	const struct space_region *region = space_at(&runtime.space, page);

	if (!l->was && !(l->was = system_pages(SLOPE_PAGE_BYTES, false)))
		return false;
	if (region && !protect(page, PROT_READ | PROT_WRITE))
		return false;
	if (!region && system_call(__NR_mmap, (long)page, SLOPE_PAGE_BYTES, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != (long)page)
		return false;
	l->page = page;
	l->new = !region;
	if (region)
		slope_copy(l->was, (const void *)page, SLOPE_PAGE_BYTES);
	return true;
}

bool lending_begin(struct context *ctx, const siginfo_t *info, const struct ucontext *uc)
{
	uint64_t page = (uint64_t)info->si_addr & ~(uint64_t)(SLOPE_PAGE_BYTES - 1);
	struct lent *l = ctx->lent[0].page ? &ctx->lent[1] : &ctx->lent[0];
	bool done;

	if (!(uc->uc_mcontext.err & FAULT_WRITE) || page < PLAN_LOWEST || page >= runtime.space.window || l->page ||
	    !lending_is_gates(uc->uc_mcontext.rip))
		return false;
	lock_take(&runtime.lock);
	done = lend(l, page);
	lock_give(&runtime.lock);
	return done;
}

/* Another thread may have done something about the page meanwhile. */
static void take_back(struct lent *l)
{
	const struct space_region *region = space_at(&runtime.space, l->page);

	if (region && !l->new) {
		slope_copy((void *)l->page, l->was, SLOPE_PAGE_BYTES);
		protect(l->page, region->prot);
	} else if (!region) {
		system_call(__NR_munmap, (long)l->page, SLOPE_PAGE_BYTES, 0, 0, 0, 0);
	}
	l->page = 0;
}

void lending_end(struct context *ctx, uint64_t rip)
{
	if (!ctx->lent[0].page || !in_cache(rip))
		return;
	lock_take(&runtime.lock);
	for (unsigned i = 0; i < CONTEXT_LENT && ctx->lent[i].page; i++)
		take_back(&ctx->lent[i]);
	lock_give(&runtime.lock);
}
