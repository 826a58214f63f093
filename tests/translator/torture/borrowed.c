/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Faults between accesses of single bytes, for which the translator borrows
 * registers: a handler sees the program's own in all of them, gives a good
 * address, and the instruction runs anew.
 */
#include "torture.h"

#include <stdbool.h>
#include <sys/mman.h>
#include <ucontext.h>

#define BYTES 4096
#define ROUNDS 60

static char *good, *bad;
static unsigned faults;
static uint64_t marker;                  /* in r8 to r15, each time another */

static void on_fault(int number, siginfo_t *info, void *context)
{
	static const int order[] = { REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15 };
	greg_t *reg = ((ucontext_t *)context)->uc_mcontext.gregs;

	(void)number, (void)info;
	for (unsigned i = 0; i < 8; i++)
		EXPECT((uint64_t)reg[order[i]] == marker + i);
	faults++;
	reg[REG_RSI] = (greg_t)good;
}

#define SET_REGISTERS                                                                                                  \
	"mov %[marker], %%r8; lea 1(%%r8), %%r9; lea 2(%%r8), %%r10; lea 3(%%r8), %%r11; lea 4(%%r8), %%r12; "          \
	"lea 5(%%r8), %%r13; lea 6(%%r8), %%r14; lea 7(%%r8), %%r15; jmp 8f; 8: "
#define SUM_REGISTERS                                                                                                  \
	"; jmp 9f; 9: lea (%%r8, %%r9), %%rax; add %%r10, %%rax; add %%r11, %%rax; add %%r12, %%rax; add %%r13, %%rax; " \
	"add %%r14, %%rax; add %%r15, %%rax"
#define ALL_REGISTERS "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "memory", "cc"

/* One way through, with branches between the accesses. */
static uint64_t straight(char *to, char *from)
{
	uint64_t sum;

	__asm__ volatile(SET_REGISTERS
		"movzbl (%%rdi), %%edx; movb %%dl, 3(%%rdi); movb 1(%%rdi), %%cl; cmpb $9, (%%rdi); je 1f; "
		"movb (%%rsi), %%dl; movb %%cl, (%%rsi); cmpb $3, 5(%%rsi); jne 2f; movb $1, 7(%%rdi); "
		"2: movzwl 8(%%rdi), %%ecx; movb %%cl, 9(%%rdi); 1: " SUM_REGISTERS
		: "=&a"(sum), "+D"(to), "+S"(from) : [marker] "m"(marker) : ALL_REGISTERS);
	return sum;
}

/* A loop whose destination is its index. */
static uint64_t loop(char *to, char *from, char *end)
{
	uint64_t sum;

	__asm__ volatile(SET_REGISTERS
		"1: movzbl (%%rdi), %%edx; movzbl (%%rsi, %%rdx), %%edx; movb %%dl, 1(%%rdi); add $1, %%rdi; cmp %[end], %%rdi; jne 1b"
		SUM_REGISTERS
		: "=&a"(sum), "+D"(to), "+S"(from) : [marker] "m"(marker), [end] "b"(end) : ALL_REGISTERS);
	return sum;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1, sum = 0;
	unsigned wanted = 0;

	EXPECT(sigaction(SIGSEGV, &action, NULL) == 0);
	good = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	bad = mmap(NULL, BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	EXPECT(good != MAP_FAILED && bad != MAP_FAILED);
	for (unsigned i = 0; i < BYTES; i++)
		good[i] = (char)(torture_random(&seed) % 9);
	for (unsigned i = 0; i < ROUNDS; i++) {
		bool first = torture_random(&seed) % 3 == 0, second = torture_random(&seed) % 3 == 0;

		marker = torture_random(&seed) >> 8;
		EXPECT(straight(good + i, first ? bad : good + 100) == 8 * marker + 28);
		EXPECT(loop(good + i, second ? bad : good + 200, good + i + 20) == 8 * marker + 28);
		wanted += first + second;
		EXPECT(faults == wanted);
	}
	for (unsigned i = 0; i < BYTES; i++)
		sum = sum * 31 + (unsigned char)good[i];
	printf("%u faults, %llx\n", faults, (unsigned long long)sum);
	return 0;
}
