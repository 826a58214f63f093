/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The page of vsyscalls, which the kernel has for old programs. The processor is not sent there: it would go on without us.
 * Functions of the program's own do the same.
 */
#include "sources/translator/runtime.h"

#include <linux/mman.h>

#define VSYSCALLS 0xffffffffff600000ul   /* gettimeofday, time and getcpu, so far from each other: */
#define VSYSCALL_BYTES 0x400u
#define ENTRY_BYTES 8u

static const uint16_t vsyscall[] = { __NR_gettimeofday, __NR_time, __NR_getcpu };

#define VSYSCALL_COUNT (sizeof vsyscall / sizeof *vsyscall)

/* Those functions, where the program could have them. With the lock held; 0: no memory. */
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

uint64_t vsyscalls_instead(uint64_t pc)
{
	uint64_t number = (pc - VSYSCALLS) / VSYSCALL_BYTES, functions;

	if (pc < VSYSCALLS || pc % VSYSCALL_BYTES || number >= VSYSCALL_COUNT)
		return pc;
	lock_take(&runtime.lock);
	functions = vsyscall_functions();
	lock_give(&runtime.lock);
	return functions ? functions + number * ENTRY_BYTES : pc;
}
