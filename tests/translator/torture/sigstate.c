/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A timer interrupts a loop in which every register changes. The handler
 * knows from the address in its context which instructions of the round have
 * run, so it knows each register and the carry; it then spoils all it can.
 */
#include "torture.h"

#include <ucontext.h>

#define STEPS 14
#define WANTED 60

static const int order[STEPS] = {
	REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI, REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13,
	REG_R14, REG_R15,
};

extern const char round_begin[], round_end[], step_0[], step_1[], step_2[], step_3[], step_4[], step_5[], step_6[],
	step_7[], step_8[], step_9[], step_10[], step_11[], step_12[], step_13[];
static const char *const step[STEPS + 1] = {
	step_0, step_1, step_2, step_3, step_4, step_5, step_6, step_7, step_8, step_9, step_10, step_11, step_12, step_13,
	round_end,
};

static volatile sig_atomic_t caught, elsewhere;
static uint64_t seed;

/* Register i is `i * 1000` more than the round, and one more than that once its step has run. */
static void check(const greg_t *reg)
{
	uint64_t at = (uint64_t)reg[REG_RIP], round;
	unsigned done = 0;

	while (done < STEPS && at > (uint64_t)step[done])
		done++;
	round = (uint64_t)reg[order[STEPS - 1]] - (STEPS - 1) * 1000 - (done == STEPS);
	for (unsigned i = 0; i < STEPS; i++)
		EXPECT((uint64_t)reg[order[i]] == round + i * 1000 + (i < done));
	/* stc just before step 7, clc before step 0; lea touches no flag. Both are needed: dead flags may be anything. */
	EXPECT((reg[REG_EFL] & 1) == (at >= (uint64_t)step_7));
}

static void spoil(void)
{
	__asm__ volatile("std; cld; xor %%eax, %%eax; vpxor %%ymm0, %%ymm0, %%ymm0; vpxor %%ymm7, %%ymm7, %%ymm7;"
			 "vpxor %%ymm15, %%ymm15, %%ymm15; fninit; fldpi; fldpi"
			 : : : "rax"
			 , "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
			 "xmm0", "xmm7", "xmm15", "memory", "cc");
}

static void on_alarm(int number, siginfo_t *info, void *context)
{
	const ucontext_t *uc = context;
	uint64_t at = (uint64_t)uc->uc_mcontext.gregs[REG_RIP];

	EXPECT(number == SIGALRM && info->si_signo == SIGALRM);
	if (at >= (uint64_t)round_begin && at <= (uint64_t)round_end)
		check(uc->uc_mcontext.gregs);
	else
		elsewhere++;
	caught++;
	spoil();
	torture_alarm(1 + (unsigned)(torture_random(&seed) % 900));
}

/* `lea` counts without flags; jumps make blocks small. */
#define STEP(n, reg) "step_" #n ": lea 1(" reg "), " reg "\n jmp 1f\n 1:\n"

static void rounds(uint64_t count)
{
	static const uint64_t pattern[4] = { 1, 2, 3, 4 };
	uint64_t left[4];

	__asm__ volatile(
		"vmovdqu %1, %%ymm0; vmovdqu %1, %%ymm7; vmovdqu %1, %%ymm15\n"
		"push %%rbx; push %%rbp; mov %2, %%rbp\n"
		"xor %%eax, %%eax; mov $1000, %%rbx; mov $2000, %%rcx; mov $3000, %%rdx; mov $4000, %%rsi; "
		"mov $5000, %%rdi\n"
		"mov $6000, %%r8; mov $7000, %%r9; mov $8000, %%r10; mov $9000, %%r11; mov $10000, %%r12; "
		"mov $11000, %%r13\n"
		"mov $12000, %%r14; mov $13000, %%r15; clc\n"
		"round_begin:\n"
		STEP(0, "%%rax") STEP(1, "%%rbx") STEP(2, "%%rcx") STEP(3, "%%rdx") STEP(4, "%%rsi") STEP(5, "%%rdi")
		STEP(6, "%%r8") "jc 3f\n stc\n" STEP(7, "%%r9") STEP(8, "%%r10") STEP(9, "%%r11")
		STEP(10, "%%r12") STEP(11, "%%r13") STEP(12, "%%r14") STEP(13, "%%r15")
		"round_end: nop\n"
		"jnc 3f\n"
		"cmp %%rax, %%rbp; clc; jmp 1f; 1: cmp %%rax, %%rbp\n"
		"jz 2f; clc; jmp round_begin\n"
		"3: ud2\n"
		"2: pop %%rbp; pop %%rbx\n"
		"vpxor %%ymm0, %%ymm7, %%ymm1; vpxor %%ymm7, %%ymm15, %%ymm2; vpor %%ymm1, %%ymm2, %%ymm1\n"
		"vpor %%ymm1, %%ymm15, %%ymm1; vmovdqu %%ymm1, %0; vzeroupper"
		: "=m"(left) : "m"(pattern), "r"(count)
		: "rax"
		, "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0", "xmm1",
		"xmm2", "xmm7", "xmm15", "memory", "cc");
	EXPECT(memcmp(left, pattern, sizeof left) == 0);
}

int main(int argc, char **argv)
{
	seed = torture_seed(argc, argv);
	if (!__builtin_cpu_supports("avx")) {
		puts("no avx");
		return 0;
	}
	torture_handle(SIGALRM, on_alarm, SA_RESTART);
	torture_alarm(300);
	while (caught < WANTED)
		rounds(20000);
	torture_alarm(0);
	puts("registers kept");
	return 0;
}
