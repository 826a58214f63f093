/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Code that raises a signal instead of running: bytes that are no instruction or are cut off by the end of what may be
 * run, software interrupts, and addresses that no program has code at but that are ours, or nobody's. No block is made of these.
 *
 * The processor itself says which signal it is, and with what words: a copy of the bytes runs with the program's registers
 * at a place of the thread's own, right before a page that nobody may touch where they are cut off; and the addresses in the
 * signal become the program's. What the decoder does not know runs in a single step: if the processor knows it,
 * nobody can say what it has done, and the program is refused.
 */
#include "sources/translator/signals.h"
#include "sources/translator/observing.h"

#include <linux/mman.h>

#define COPY_BYTES 16u           /* one more than an instruction can have */
#define COPY_AT 64u
#define HLT 0xf4                 /* which is for the kernel alone */
#define SYSTEM_CALL_32 0x80
#define PAGE_FAULT 14
#define FAULT_PRESENT 1u         /* in its error code */

static uint64_t end_of(const struct raising *r)
{
	return (uint64_t)r->pages + SLOPE_PAGE_BYTES;
}

static bool have_pages(struct raising *r)
{
	if (r->pages)
		return true;
	r->pages = system_pages(2 * SLOPE_PAGE_BYTES, true);
	return r->pages && !system_call(__NR_mprotect, (long)r->pages, SLOPE_PAGE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC, 0, 0, 0) &&
	       !system_call(__NR_mprotect, (long)end_of(r), SLOPE_PAGE_BYTES, PROT_NONE, 0, 0, 0);
}

/* How many bytes from there on may be run, up to what is copied. */
static unsigned runnable(uint64_t pc)
{
	unsigned n = 0;

	while (n < COPY_BYTES) {
		const struct space_region *region = space_at(&runtime.space, pc + n);

		if (!region || !(region->prot & PROT_EXEC))
			break;
		n = region->end - pc < COPY_BYTES ? (unsigned)(region->end - pc) : COPY_BYTES;
	}
	return n;
}

static bool is_canonical(uint64_t address)
{
	return (uint64_t)((int64_t)(address << 16) >> 16) == address;
}

/* Would the processor find memory of ours there? */
static bool may_be_ours(uint64_t pc)
{
	return pc >= runtime.space.window || pc - PLAN_CACHE < PLAN_SELF_END - PLAN_CACHE;
}

/* The instruction at the branch has not been done: a call has pushed nothing, a return taken nothing. */
static void undo_branch(struct context *ctx, uint64_t branch)
{
	ZydisDecodedInstruction i = { 0 };

	decoder_begin(&runtime.decoder);
	if (branch)
		decoder_decode(&runtime.decoder, (const void *)branch, runnable(branch), &i);
	decoder_end(&runtime.decoder);
	if (i.mnemonic == ZYDIS_MNEMONIC_CALL)
		ctx->reg[REG_RSP] += 8;
	else if (!branch)
		ctx->reg[REG_RSP] -= 8;
}

/* There is no code. */
static uint64_t nowhere(struct context *ctx, uint64_t pc, uint64_t branch, bool branched)
{
	struct raising *r = &ctx->raising;

	if (space_at(&runtime.space, pc) || (is_canonical(pc) && !may_be_ours(pc)))
		return pc;
	r->place = end_of(r);
	if (is_canonical(pc))
		return r->place;
	/* The branch there faults, not what it leads to. */
	r->place = (uint64_t)r->pages + COPY_AT;
	*(uint8_t *)r->place = HLT;
	r->pc = branch ? branch : pc;
	if (branched)
		undo_branch(ctx, branch);
	return r->place;
}

/* It is known what these do. */
static bool is_interrupt(uint64_t pc, unsigned bytes)
{
	ZydisDecodedInstruction i;
	bool known;

	decoder_begin(&runtime.decoder);
	known = decoder_decode(&runtime.decoder, (const void *)pc, bytes, &i);
	decoder_end(&runtime.decoder);
	if (known && i.mnemonic == ZYDIS_MNEMONIC_INT && i.raw.imm[0].value.u == SYSTEM_CALL_32)
		dispatch_refuse("a 32-bit system call (int $0x80)", pc);
	return known && (i.mnemonic == ZYDIS_MNEMONIC_INT || i.mnemonic == ZYDIS_MNEMONIC_INT1);
}

static uint64_t place_for(struct context *ctx, uint64_t pc, uint64_t branch, bool branched, uint64_t *flags)
{
	struct raising *r = &ctx->raising;
	unsigned bytes = runnable(pc);

	if (!have_pages(r))
		system_stop("no memory in which a signal can be raised", NULL);
	r->pc = r->limit = pc;
	r->tried = false;
	if (!bytes)
		return nowhere(ctx, pc, branch, branched);
	r->place = bytes < COPY_BYTES ? end_of(r) - bytes : (uint64_t)r->pages + COPY_AT;
	r->limit = pc + bytes;
	slope_copy((void *)r->place, (const void *)pc, bytes);
	r->tried = !is_interrupt(pc, bytes);
	if (r->tried)
		*flags |= TRAP_FLAG;
	return r->place;
}

uint64_t raising_place(uint64_t pc, uint64_t *flags)
{
	uint64_t place;

	lock_take(&runtime.lock);
	place = place_for(context_here(), pc, 0, false, flags);
	lock_give(&runtime.lock);
	return place;
}

uint64_t raising_branched(struct context *ctx, uint64_t pc, uint64_t branch)
{
	uint64_t place;

	lock_take(&runtime.lock);
	place = place_for(ctx, pc, branch, true, &ctx->flags);
	lock_give(&runtime.lock);
	return place;
}

void raising_ends(struct context *ctx)
{
	if (ctx->raising.pages)
		system_release(ctx->raising.pages, 2 * SLOPE_PAGE_BYTES);
	ctx->raising.pages = NULL;
}

/* ---- the signal ---- */

static bool is_there(const struct raising *r, uint64_t rip)
{
	return r->pages && rip - (uint64_t)r->pages <= SLOPE_PAGE_BYTES;
}

bool raising_is_trap(const siginfo_t *info, uint64_t rip)
{
	const struct raising *r = &context_here()->raising;

	return info->si_code == TRAP_BRKPT && is_there(r, rip) && !r->tried;
}

bool raising_tries(uint64_t rip)
{
	const struct raising *r = &context_here()->raising;

	if (!r->tried)
		return false;
	if (rip != r->place && (rip < (uint64_t)slope_gate_first || rip >= (uint64_t)slope_gate_last))
		dispatch_refuse("an instruction that the decoder does not know", r->pc);
	return true;
}

/* The page behind the copy stands for what is behind the code. */
static void tell_page_fault(const struct raising *r, siginfo_t *info, struct ucontext *uc)
{
	const struct space_region *region;

	lock_take(&runtime.lock);
	region = space_at(&runtime.space, r->limit);
	info->si_code = region ? SEGV_ACCERR : SEGV_MAPERR;
	if ((region && region->prot != PROT_NONE) || r->limit >> 63)
		uc->uc_mcontext.err |= FAULT_PRESENT;
	lock_give(&runtime.lock);
	info->si_addr = (void *)r->limit;
	uc->uc_mcontext.cr2 = r->limit;
}

bool raising_has(int number, siginfo_t *info, struct ucontext *uc, uint64_t *pc)
{
	struct raising *r = &context_here()->raising;
	uint64_t behind = uc->uc_mcontext.rip - r->place;

	if (!is_there(r, uc->uc_mcontext.rip))
		return false;
	r->tried = false;
	if (number == SIGSEGV && uc->uc_mcontext.trapno == PAGE_FAULT && (uint64_t)info->si_addr == end_of(r))
		tell_page_fault(r, info, uc);
	else if ((uint64_t)info->si_addr - r->place < COPY_BYTES)
		info->si_addr = (char *)info->si_addr + (r->pc - r->place);
	if (behind)
		faults_count_trap();
	*pc = r->pc + behind;
	return true;
}
