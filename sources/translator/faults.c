/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Faults: from a place in the code cache to the program's address and
 * registers, and writes to pages whose code has been translated.
 */
#include "sources/translator/signals.h"
#include "sources/translator/observing.h"

#include <linux/mman.h>

#define FAULT_WRITE 2u           /* in a page fault's error code */

uint64_t *faults_register(struct ucontext *uc, int number)
{
	struct sigcontext_64 *r = (struct sigcontext_64 *)(void *)&uc->uc_mcontext;
	__u64 *const list[16] = {
		&r->ax, &r->cx, &r->dx, &r->bx, &r->sp, &r->bp, &r->si, &r->di,
		&r->r8, &r->r9, &r->r10, &r->r11, &r->r12, &r->r13, &r->r14, &r->r15,
	};

	return (uint64_t *)list[number];
}

const struct block *faults_block(uint64_t rip)
{
	const struct block *block;

	if (rip < PLAN_CACHE || rip >= PLAN_CACHE_END)
		return NULL;
	lock_take(&runtime.lock);
	block = codecache_around(&runtime.cache, rip);
	lock_give(&runtime.lock);
	return block;
}

void faults_give_back(struct ucontext *uc, const struct block *block)
{
	if (block->facts.stamp >= 0)
		*faults_register(uc, block->facts.stamp) = context_here()->stamp_home;
}

/* The block ends before this instruction: what is counted behind it has not happened. */
static void correct_costs(const struct block *block, const struct mark *mark, uint64_t at)
{
	struct context *ctx = context_here();
	bool counted = at >= block->facts.counted;

	if (observer.unit_ir >= 0)
		ctx->cost[observer.unit_ir] += (uint64_t)(int64_t)(mark->instructions - (counted ? block->facts.instructions : 0));
	if (observer.unit_bb >= 0)
		ctx->cost[observer.unit_bb] += (uint64_t)(int64_t)(mark->blocks - (counted ? block->facts.blocks : 0));
}

void faults_count_trap(void)
{
	if (observer.on && observer.unit_ir >= 0)
		context_here()->cost[observer.unit_ir]++;
	if (observer.on && observer.unit_bb >= 0)
		context_here()->cost[observer.unit_bb]++;
}

/* There is no code any more where doubts.c looked for it. */
static void undo_look(struct ucontext *uc)
{
	uint64_t kept = context_here()->flags_home;          /* by lahf and seto */

	uc->uc_mcontext.rax = context_here()->rax_home;
	uc->uc_mcontext.eflags = (uc->uc_mcontext.eflags & ~UINT64_C(0x8d5)) | (kept >> 8 & 0xd5) | (kept & 1) << 11;
}

uint64_t faults_pc(struct ucontext *uc)
{
	uint64_t rip = uc->uc_mcontext.rip, at;
	const struct block *block = faults_block(rip);
	const struct mark *mark;

	if (!block)
		return rip < PLAN_CACHE || (rip >= PLAN_SELF_END && rip < runtime.space.window) ? rip : FAULTS_NOWHERE;
	if (lending_is_gates(rip))
		return FAULTS_NOWHERE;
	/* In the cold part only the program's calls fault besides, which come last. */
	at = rip - block->code < block->code_bytes ? rip - block->code : block->code_bytes;
	mark = block->mark;
	while (mark + 1 < block->mark + block->marks && mark[1].cache <= at)
		mark++;
	if (at >= mark->cache && at < mark->own) {
		if (mark->borrowed && !mark->spared)
			*faults_register(uc, block->facts.spare) = context_here()->spare_home;
		uc->uc_mcontext.rip = block->code + mark->own;
		return FAULTS_SKIPPED;
	}
	if (block->facts.doubted && at < block->facts.called)
		undo_look(uc);
	if (mark->far >= 0)
		*faults_register(uc, mark->far) = context_here()->far_home;
	if (mark->target)
		uc->uc_mcontext.rcx = context_here()->reg[REG_RCX];
	if (mark->spared)
		*faults_register(uc, block->facts.spare) = context_here()->spare_home;
	if (at >= block->facts.inner)
		faults_give_back(uc, block);
	if (observer.on)
		correct_costs(block, mark, at);
	return block->pc + (uint64_t)(int64_t)mark->program;
}

/* Is the page writable, or has it been made so by another thread meanwhile? */
static bool make_writable(uint64_t address)
{
	const struct space_region *region;
	bool good;

	lock_take(&runtime.lock);
	region = space_at(&runtime.space, address);
	good = region && region->prot & PROT_WRITE;
	/* First the blocks: once the page can be written, others write and run it. */
	if (good && space_watches(&runtime.space, address)) {
		codecache_changed(&runtime.cache, address, 1);
		space_unwatch(&runtime.space, address);
	}
	lock_give(&runtime.lock);
	return good;
}

bool faults_code_written(int number, const siginfo_t *info, struct ucontext *uc)
{
	const struct block *block;
	uint64_t pc;

	if (number != SIGSEGV || info->si_code != SEGV_ACCERR || !(uc->uc_mcontext.err & FAULT_WRITE) ||
	    !make_writable((uint64_t)info->si_addr))
		return false;
	block = faults_block(uc->uc_mcontext.rip);
	if (block && block->dead && (pc = faults_pc(uc)) != FAULTS_NOWHERE) {
		lock_take(&runtime.lock);
		space_doubt(&runtime.space, (uint64_t)info->si_addr);
		lock_give(&runtime.lock);
		signals_go_to(uc, pc);
	}
	return true;
}

/* The register that the store at rip has its address by, if it is one that stalereads.c appends to the log with. */
static int appends_by(uint64_t rip)
{
	const uint8_t *code = (const uint8_t *)rip;
	unsigned rex = 0;

	if (*code++ != 0x65)
		return NO_REGISTER;
	if (*code == 0x62)                                        /* vectors_log_entry */
		return (code[5] & 7) | (int)(!(code[1] & 0x20)) << 3;
	if ((*code & 0xf0) == 0x40)
		rex = *code++;
	if (code[0] != 0x89 || code[1] >> 6 == 3)
		return NO_REGISTER;
	return (int)((code[1] & 7) == REG_RSP ? code[2] & 7 : code[1] & 7) | (int)(rex & 1) << 3;
}

bool faults_log_full(const siginfo_t *info, struct ucontext *uc)
{
	struct context *ctx = context_here();
	const char *guard = (const char *)context_window(ctx) + CTX_LOG_PLACE + CTX_LOG_GUARD;
	int reg;

	if ((uint64_t)info->si_addr - (uint64_t)guard >= SLOPE_PAGE_BYTES || !observer.inlined ||
	    uc->uc_mcontext.rip - PLAN_CACHE >= PLAN_CACHE_END - PLAN_CACHE || (reg = appends_by(uc->uc_mcontext.rip)) == NO_REGISTER)
		return false;
	slope_log_settle(ctx->core);
	*faults_register(uc, reg) = ctx->log + (observer.vectors ? (uint64_t)CTX_LOG_AT : 0);
	return true;
}
