/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads of addresses that no program has, between calls that read what is there: each one faults, with the registers as they
 * were, and leaves nothing behind, wherever its shadow would lie.
 */
#include "torture.h"

#include <setjmp.h>
#include <ucontext.h>

#define CELLS 4096u
#define ROUNDS 4000u
#define MARK 0x7766554433221100

static sigjmp_buf back;
static volatile uint64_t faults, tried;
static uint64_t cell[CELLS], seed, hash;

static void on_fault(int number, siginfo_t *info, void *context)
{
	const ucontext_t *uc = context;

	EXPECT(number == SIGSEGV && (uint64_t)uc->uc_mcontext.gregs[REG_RAX] == MARK && (uint64_t)uc->uc_mcontext.gregs[REG_RCX] == MARK);
	/* What is not canonical has no address. */
	EXPECT(tried >> 47 ? !info->si_addr : (uint64_t)info->si_addr == tried);
	faults++;
	siglongjmp(back, 1);
}

static __attribute__((noinline)) uint64_t sum_of(const uint64_t *from, uint64_t count)
{
	if (count == 1)
		return from[0] + *(const uint32_t *)from + *(const uint8_t *)from;
	return sum_of(from, count / 2) + sum_of(from + count / 2, count - count / 2);
}

static __attribute__((noinline)) void try(uint64_t address, unsigned bytes)
{
	uint64_t a = MARK, c = MARK;

	tried = address;
	if (bytes == 1)
		__asm__ volatile("movzbl (%2), %k0; mov %0, %1" : "+a"(a), "+c"(c) : "r"(address) : "memory");
	else if (bytes == 2)
		__asm__ volatile("movzwl (%2), %k0; mov %0, %1" : "+a"(a), "+c"(c) : "r"(address) : "memory");
	else if (bytes == 4)
		__asm__ volatile("mov (%2), %k0; mov %0, %1" : "+a"(a), "+c"(c) : "r"(address) : "memory");
	else
		__asm__ volatile("mov (%2), %0; mov %0, %1" : "+a"(a), "+c"(c) : "r"(address) : "memory");
	torture_fail("wildreads.c: a wild read came back\n");
}

static uint64_t wild(void)
{
	uint64_t r = torture_random(&seed), low = torture_random(&seed) & 0x7ffffffffff8;

	switch (r % 4) {
	case 0:
		return low % 0x10000;
	case 1:
		return 0xe000 + low % 0x2000;
	case 2:
		return UINT64_C(0x1000000000) + (low & 0xfffffffff);
	default:
		return low | UINT64_C(1) << 63 >> (r >> 8) % 8;
	}
}

int main(int argc, char **argv)
{
	uint64_t expected;

	seed = torture_seed(argc, argv);
	for (unsigned i = 0; i < CELLS; i++)
		cell[i] = torture_random(&seed) >> 8;
	expected = sum_of(cell, CELLS);
	torture_handle(SIGSEGV, on_fault, 0);
	for (volatile unsigned round = 0; round < ROUNDS; round++) {
		volatile uint64_t address = wild();

		if (!sigsetjmp(back, 1))
			try(address, 1u << round % 4);
		if (round % 64 == 0)
			EXPECT(sum_of(cell, CELLS) == expected);
		hash = torture_hash(hash, (const void *)&address, sizeof address);
	}
	EXPECT(faults == ROUNDS);
	printf("%lu faults, %lx\n", (unsigned long)faults, (unsigned long)hash);
	return 0;
}
