/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The trap flag. Ours takes the processor to where a signal can be delivered; the program may set it, too, and is then told of
 * each of its instructions. It steps through blocks of one instruction each, to the start of whatever block comes next: there
 * signals.c tells it.
 *
 * What pushf shows of the flag and popf makes of it is the program's, whatever we have set: one is corrected, the other done here.
 */
#include "sources/translator/signals.h"
#include "sources/translator/observing.h"
#include "sources/translator/vectors.h"

#include <linux/mman.h>

#define PUSHF 0x9c
#define POPF 0x9d
#define POPPED_FLAGS UINT64_C(0x244cd5)  /* but for the trap flag; and the interrupt flag, which no program changes */

/* The opcode of the instruction there in the cache, behind prefixes that pushf and popf may have; `*bytes` with it. */
static uint8_t opcode_at(uint64_t rip, unsigned *bytes)
{
	const uint8_t *code = (const uint8_t *)rip;

	for (*bytes = 1; *code == 0x66 || (*code & 0xf0) == 0x40; code++)
		++*bytes;
	return *code;
}

static bool is_in_cache(uint64_t rip)
{
	return rip >= PLAN_CACHE && rip < PLAN_CACHE_END;
}

/* popf is done here, since the processor would take our trap flag away: the program's is noted. */
static void pop_flags(struct ucontext *uc, unsigned bytes)
{
	uint64_t sp = uc->uc_mcontext.rsp, value = 0, may = POPPED_FLAGS, size = *(const uint8_t *)uc->uc_mcontext.rip == 0x66 ? 2 : 8;

	if (!space_allows(&runtime.space, sp, size, PROT_READ))
		return;
	slope_copy(&value, (const void *)sp, size);
	if (size == 2)
		may &= 0xffff;
	uc->uc_mcontext.eflags = (uc->uc_mcontext.eflags & ~may) | (value & may);
	uc->uc_mcontext.rsp += size;
	uc->uc_mcontext.rip += bytes;
	context_here()->stepping = value & TRAP_FLAG;
}

void stepping_mind_flags(struct ucontext *uc)
{
	struct context *ctx = context_here();
	uint64_t rip = uc->uc_mcontext.rip;
	unsigned bytes;
	uint8_t opcode;

	if (ctx->pushed_at && rip == ctx->pushed_at && !ctx->stepping)
		*(uint8_t *)(uc->uc_mcontext.rsp + 1) &= (uint8_t)~(TRAP_FLAG >> 8);
	ctx->pushed_at = 0;
	if (!is_in_cache(rip))
		return;
	opcode = opcode_at(rip, &bytes);
	if (opcode == PUSHF)
		ctx->pushed_at = rip + bytes;
	else if (opcode == POPF)
		pop_flags(uc, bytes);
}

bool stepping_has_popped(uint64_t rip)
{
	const uint8_t *behind = (const uint8_t *)rip;

	return is_in_cache(rip) && behind[-1] == SIGNALS_BEHIND_POPF && behind[-2] == POPF;
}

void stepping_go_on(struct context *ctx, bool system_call)
{
	if (system_call)
		ctx->step_due = false;
	ctx->asked = 1;
	ctx->flags |= TRAP_FLAG;
}

void stepping_begin(struct ucontext *uc, uint64_t pc)
{
	struct context *ctx = context_here();
	const struct block *block;

	if (observer.paths)
		dispatch_refuse("the trap flag, while paths are followed", pc);
	block = dispatch_alone(pc);
	if (!block) {
		signals_go_to(uc, pc);
		return;
	}
	ctx->step_due = true;
	ctx->asked = 1;
	uc->uc_mcontext.rip = block->code;
	uc->uc_mcontext.eflags |= TRAP_FLAG;
	stepping_mind_flags(uc);
	if (observer.vectors)
		vectors_sums_go(ctx, uc);
}
