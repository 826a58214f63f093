/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A handler that changes the context: all registers, flags, the place and the
 * vector registers are what it says when it returns; and the same at random
 * times, where only a flag word is changed.
 */
#include "torture.h"

#include <ucontext.h>

static const int order[15] = {
	REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI, REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13,
	REG_R14, REG_R15, REG_RBP,
};
static uint64_t wanted[15], found[16], found_vector[2], seed;
static volatile sig_atomic_t changes;
extern const char changed_to[], spin_first[], spin_last[];

static void on_illegal(int number, siginfo_t *info, void *context)
{
	mcontext_t *m = &((ucontext_t *)context)->uc_mcontext;

	(void)number, (void)info;
	for (int i = 0; i < 15; i++)
		m->gregs[order[i]] = (greg_t)(wanted[i] = torture_random(&seed));
	m->gregs[REG_RIP] = (greg_t)changed_to;
	m->gregs[REG_EFL] = (greg_t)((m->gregs[REG_EFL] & ~0x8d5) | (wanted[0] & 0x8d5));
	memcpy(&m->fpregs->_xmm[5], wanted, 16);
}

static __attribute__((noinline)) void illegal(void)
{
	__asm__ volatile(
		"push %%rbp; push %%rbx; ud2\n"
		"changed_to: mov %%rax, %0; pushfq; pop %%rax; mov %%rax, 120+%0\n"
		"mov %%rbx, 8+%0; mov %%rcx, 16+%0; mov %%rdx, 24+%0; mov %%rsi, 32+%0; mov %%rdi, 40+%0; "
		"mov %%r8, 48+%0\n"
		"mov %%r9, 56+%0; mov %%r10, 64+%0; mov %%r11, 72+%0; mov %%r12, 80+%0; mov %%r13, 88+%0; "
		"mov %%r14, 96+%0\n"
		"mov %%r15, 104+%0; mov %%rbp, 112+%0; movdqu %%xmm5, %1; pop %%rbx; pop %%rbp"
		: "=m"(found), "=m"(found_vector) : : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13",
		"r14", "r15", "xmm5", "memory", "cc");
}

static void on_alarm(int number, siginfo_t *info, void *context)
{
	greg_t *reg = ((ucontext_t *)context)->uc_mcontext.gregs;

	(void)number, (void)info;
	if ((uint64_t)reg[REG_RIP] >= (uint64_t)spin_first && (uint64_t)reg[REG_RIP] <= (uint64_t)spin_last) {
		EXPECT(reg[REG_RBX] == 77);
		reg[REG_RBX] = 78;
		changes++;
	} else {
		torture_alarm(50);
	}
}

int main(int argc, char **argv)
{
	seed = torture_seed(argc, argv);
	torture_handle(SIGILL, on_illegal, 0);
	torture_handle(SIGALRM, on_alarm, 0);
	for (int i = 0; i < 200; i++) {
		illegal();
		EXPECT(memcmp(wanted, found, sizeof wanted) == 0);
		EXPECT((found[15] & 0x8d5) == (wanted[0] & 0x8d5));
		EXPECT(memcmp(wanted, found_vector, sizeof found_vector) == 0);
	}
	/* Only the handler ends this loop. */
	for (int i = 0; i < 100; i++) {
		uint64_t rbx = 77;

		torture_alarm(1 + (unsigned)(torture_random(&seed) % 700));
		__asm__ volatile("spin_first: cmp $77, %%rbx; jz spin_first; spin_last: nop" : "+b"(rbx) : : "cc");
		EXPECT(rbx == 78);
	}
	printf("%d changes\n", (int)changes);
	return 0;
}
