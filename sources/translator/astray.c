/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Jumps to where the program has no memory and can have none: beyond its
 * window, and where the translator lies. The processor is not sent there, as it
 * is to other places without code: it would find what is ours, or, on the page
 * of vsyscalls that the kernel has for old programs, go on without us.
 */
#include "sources/translator/signals.h"

#include <linux/mman.h>

#define VSYSCALLS 0xffffffffff600000ul   /* gettimeofday, time and getcpu, so far from each other: */
#define VSYSCALL_BYTES 0x400u
#define ENTRY_BYTES 8u
#define PAGE_FAULT 14u
#define PROTECTION_FAULT 13u             /* of addresses that no page can have */
#define FETCH_ERROR 0x14u                /* by the program, of an instruction */
#define HALF_BYTES (UINT64_C(1) << 47)

static const uint16_t vsyscall[] = { __NR_gettimeofday, __NR_time, __NR_getcpu };

#define VSYSCALL_COUNT (sizeof vsyscall / sizeof *vsyscall)

/* Functions that do the same, where the program could have them. With the lock held; 0: no memory. */
static uint64_t vsyscall_functions(void)
{
	static uint64_t made;
	long page;

	if (made)
		return made;
	page = space_mmap(&runtime.space, 0, SLOPE_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	if (system_failed(page))
		return 0;
	for (size_t i = 0; i < VSYSCALL_COUNT; i++) {
		/* mov eax; syscall; ret */
		const uint8_t code[ENTRY_BYTES] = { 0xb8, (uint8_t)vsyscall[i], (uint8_t)(vsyscall[i] >> 8), 0, 0, 0x0f, 0x05, 0xc3 };

		memcpy((char *)page + i * ENTRY_BYTES, code, sizeof code);
	}
	space_mprotect(&runtime.space, (uint64_t)page, SLOPE_PAGE_BYTES, PROT_READ | PROT_EXEC);
	made = (uint64_t)page;
	return made;
}

bool astray_is(uint64_t pc)
{
	return pc >= runtime.space.window || (pc >= PLAN_CACHE && pc < PLAN_SELF_END);
}

uint64_t astray_instead(uint64_t pc)
{
	uint64_t number = (pc - VSYSCALLS) / VSYSCALL_BYTES, functions;

	if (pc < VSYSCALLS || pc % VSYSCALL_BYTES || number >= VSYSCALL_COUNT)
		return pc;
	lock_take(&runtime.lock);
	functions = vsyscall_functions();
	lock_give(&runtime.lock);
	return functions ? functions + number * ENTRY_BYTES : pc;
}

uint64_t astray_at(struct context *ctx, uint64_t pc)
{
	if (!astray_is(pc))
		return pc;
	ctx->astray = pc;
	return (uint64_t)slope_gate_astray;
}

uint64_t astray_fault(const struct context *ctx, siginfo_t *info, struct ucontext *uc)
{
	bool possible = ctx->astray + HALF_BYTES < HALF_BYTES || ctx->astray < HALF_BYTES;

	info->si_code = possible ? SEGV_MAPERR : SI_KERNEL;
	info->si_addr = (void *)(possible ? ctx->astray : 0);
	uc->uc_mcontext.rip = ctx->astray;
	uc->uc_mcontext.trapno = possible ? PAGE_FAULT : PROTECTION_FAULT;
	uc->uc_mcontext.err = possible ? FETCH_ERROR : 0;
	if (possible)
		uc->uc_mcontext.cr2 = ctx->astray;
	return ctx->astray;
}
