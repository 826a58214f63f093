/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Blocks call gate.S on the program's stack, below what the program uses
 * of it. Near a stack's end there may be no memory, or none to be written:
 * then the page is lent to gate.S, which is stepped through until it is back in
 * the block; there the page becomes again what it was, so that the program's own
 * faults are as they should be.
 */
#include "sources/translator/signals.h"

#include <linux/mman.h>

#define FAULT_WRITE 2u           /* in a page fault's error code */
#define CALL 0xe8

static bool in_gate(uint64_t rip)
{
	return rip - (uint64_t)slope_gate_first < (uint64_t)(slope_gate_last - slope_gate_first);
}

static bool in_cache(uint64_t rip)
{
	return rip >= PLAN_CACHE && rip < PLAN_CACHE_END;
}

bool lending_is_gates(uint64_t rip)
{
	int32_t distance;

	if (!in_cache(rip) || *(const uint8_t *)rip != CALL)
		return in_gate(rip);
	slope_copy(&distance, (const void *)(rip + 1), sizeof distance);
	return in_gate(rip + 5 + (uint64_t)(int64_t)distance);
}

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
