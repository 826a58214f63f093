/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The trap flag, set by the program itself, as debuggers in a program and those who look for debuggers do it: by popf, and by a handler
 * in what it returns to. Each instruction is then told once, in its place, and the flag is where programs look for it.
 */
#include "torture.h"

#include <ucontext.h>

#define STEPS_MAX 4096u
#define TRAP_FLAG 0x100u

static volatile struct {
	uint64_t hash, count, first, last;
	int clear_at, wrong;             /* the handler clears the flag at this step */
} seen;

static uint64_t base;

static void on_step(int number, siginfo_t *info, void *context)
{
	greg_t *reg = ((ucontext_t *)context)->uc_mcontext.gregs;
	uint64_t rip = (uint64_t)reg[REG_RIP], rax = (uint64_t)reg[REG_RAX], rcx = (uint64_t)reg[REG_RCX], flags = (uint64_t)reg[REG_EFL];
	uint64_t at[4] = { rip - base, rax & 0xfff, rcx & 0xfff, flags & TRAP_FLAG };       /* addresses lie anywhere */

	seen.wrong |= number != SIGTRAP || info->si_code != TRAP_TRACE || (uint64_t)info->si_addr != rip || reg[REG_TRAPNO] != 1;
	seen.wrong |= !!(__builtin_ia32_readeflags_u64() & TRAP_FLAG);
	if (!seen.count)
		seen.first = rip - base;
	seen.last = rip - base;
	seen.hash = torture_hash(seen.hash, at, sizeof at);
	if ((int)++seen.count == seen.clear_at)
		reg[REG_EFL] &= ~(greg_t)TRAP_FLAG;
}

static void on_start(int number, siginfo_t *info, void *context)
{
	greg_t *reg = ((ucontext_t *)context)->uc_mcontext.gregs;

	(void)number;
	(void)info;
	reg[REG_RIP] += 2;               /* behind ud2 */
	reg[REG_EFL] |= TRAP_FLAG;
}

static void told(const char *what)
{
	printf("%s: %lu steps from %lx to %lx%s, %lx\n", what, (unsigned long)seen.count, (unsigned long)seen.first,
	       (unsigned long)seen.last, seen.wrong ? ", wrong" : "", (unsigned long)seen.hash);
	seen.hash = seen.count = seen.first = seen.last = 0;
	seen.clear_at = seen.wrong = 0;
}

#define SET "pushfq; orl $0x100, (%%rsp); popfq;"
#define CLEAR "pushfq; andl $~0x100, (%%rsp); popfq;"
#define STEPPED(what, code)                                                                                       \
	do {                                                                                                      \
		__asm__ volatile("sub $128, %%rsp; xor %%eax, %%eax; mov $5, %%ecx; lea 9f(%%rip), %%rdx; mov %%rdx, %0;" \
				 SET "9:" code CLEAR "nop; add $128, %%rsp"                                       \
				 : "=m"(base) : : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r11", "memory", "cc");  \
		told(what);                                                                                       \
	} while (0)

__asm__(".text; stepped_function: add $3, %eax; push %rax; pop %rcx; ret\n"
	"stepped_loop: mov $20, %ecx; 1: add $2, %eax; dec %ecx; jnz 1b; ret\n");

int main(int argc, char **argv)
{
	static char from[64], to[64];
	uint64_t seed = torture_seed(argc, argv), flags, r11;

	setvbuf(stdout, NULL, _IONBF, 0);
	torture_handle(SIGTRAP, on_step, 0);
	torture_handle(SIGILL, on_start, 0);
	for (unsigned round = 0; round < 3 + seed % 3; round++) {
		STEPPED("nothing", "");
		STEPPED("plain", "inc %%eax; add $7, %%eax; nop; lea 3(%%rax), %%eax;");
		STEPPED("jumps", "cmp $1, %%eax; je 1f; add $1, %%eax; jmp 2f; 1: nop; 2: nop;");
		STEPPED("loop", "1: add $5, %%eax; dec %%ecx; jnz 1b; jmp 3f; 3:");
		STEPPED("calls", "call stepped_function; lea stepped_loop(%%rip), %%rax; call *%%rax; xor %%eax, %%eax;");
		STEPPED("system call", "mov $102, %%eax; syscall; xor %%eax, %%eax; mov %%eax, %%ecx; nop;"
			"mov $102, %%eax; syscall; xor %%ecx, %%ecx; mov $1, %%eax; nop;");
		STEPPED("memory", "sub $64, %%rsp; mov %%rsp, %%rdi; mov %%rcx, (%%rdi); movq $7, 8(%%rdi);"
			"add (%%rdi), %%rax; xchg %%rax, 8(%%rdi); add $64, %%rsp; xor %%eax, %%eax;");
		seen.clear_at = 4;
		STEPPED("cleared by the handler", "nop; inc %%eax; inc %%eax; inc %%eax; inc %%eax; inc %%eax;");
		/* Set by another handler, in what it returns to. */
		__asm__ volatile("lea 9f(%%rip), %%rdx; mov %%rdx, %0; xor %%eax, %%eax; xor %%ecx, %%ecx;"
				 "ud2; 9: inc %%eax; inc %%eax; " CLEAR "nop"
				 : "=m"(base) : : "rax", "rcx", "rdx", "memory", "cc");
		told("by a handler");
		__asm__ volatile("sub $128, %%rsp; xor %%eax, %%eax; xor %%ecx, %%ecx; lea 9f(%%rip), %%rdx; mov %%rdx, %0;"
				 SET "9: pushfq; pop %%r8;" CLEAR "pushfq; pop %1; add $128, %%rsp; mov %%r8, %2"
				 : "=m"(base), "=&r"(flags), "=&r"(r11) : : "rax", "rcx", "rdx", "r8", "memory", "cc");
		printf("flags: %lx, %lx\n", (unsigned long)(r11 & TRAP_FLAG), (unsigned long)(flags & TRAP_FLAG));
		told("flags");
		/* Through much more: what the library does. */
		memset(from, 'x', sizeof from);
		__asm__ volatile("pushfq; orl $0x100, (%%rsp); popfq" : : : "memory", "cc");
		memcpy(to, from, (size_t)(40 + seed % 20));
		__asm__ volatile("pushfq; andl $~0x100, (%%rsp); popfq; nop" : : : "memory", "cc");
		printf("%s, %d\n", seen.count ? "stepped" : "not stepped", seen.wrong);
		seen.hash = seen.count = seen.first = seen.last = 0;
	}
	return 0;
}
