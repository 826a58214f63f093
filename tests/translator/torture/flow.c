/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Control flow that compilers do not make, or only for some processors:
 * retpolines, push and ret, call and pop, calls that never return, jumps into
 * the middle of instructions, ret with a count, prefixes on branches, the stack pointer as an operand, loops by loop.
 */
#include "torture.h"

static uint64_t seed;

__asm__(".text\n"
	"add_one: endbr64; lea 1(%rax), %rax; ret\n"
	"retpoline: call 1f; 2: pause; lfence; jmp 2b; 1: mov %rdx, (%rsp); ret\n"
	"push_ret: lea 3f(%rip), %rdx; push %rdx; rep ret; 3: add $2, %rax; bnd ret\n"
	"call_pop: call 1f; 1: pop %rdx; lea 2f-1b(%rdx), %rdx; notrack jmp *%rdx; ud2; 2: add $4, %rax; ret\n"
	"clean_up: add 8(%rsp), %rax; add 16(%rsp), %rax; ret $16\n"
	"no_return: add $8, %rax; jmp *8(%rsp)\n"
	/* The immediate of the first instruction is the second's code: add $16, %rax; ret. */
	"middle: xor %edx, %edx; jmp .Lmiddle+2; .Lmiddle: movabs $0x9090c310c0834890, %rdx; ud2\n"
	".pushsection .data.rel; thunk_table: .quad add_one, push_ret, call_pop; .popsection\n");

static uint64_t through(uint64_t rax, const void *f)
{
	__asm__ volatile("sub $256, %%rsp; call *%1; add $256, %%rsp" : "+a"(rax) : "r"(f) : "rdx", "memory", "cc");
	return rax;
}

extern char add_one[], push_ret[], call_pop[], middle[];

static void calls(uint64_t x)
{
	uint64_t a = x;

	EXPECT(through(x, add_one) == x + 1 && through(x, push_ret) == x + 2 && through(x, call_pop) == x + 4);
	EXPECT(through(x, middle) == x + 16);
	__asm__ volatile("sub $256, %%rsp; lea add_one(%%rip), %%rdx; call retpoline; "
			 "add $256, %%rsp" : "+a"(a) : : "rdx", "memory", "cc");
	EXPECT(a == x + 1);
	__asm__ volatile("sub $256, %%rsp; mov %%rsp, %%rcx; pushq $3; pushq $5; call clean_up; "
			 "cmp %%rsp, %%rcx; jz 1f; ud2; 1: add $256, %%rsp"
			 : "+a"(a) : : "rcx", "memory", "cc");
	EXPECT(a == x + 9);
	__asm__ volatile("sub $256, %%rsp; lea 1f(%%rip), %%rdx; push %%rdx; call no_return; ud2; 1: add $272, %%rsp"
			 : "+a"(a) : : "rdx", "memory", "cc");
	EXPECT(a == x + 17);
	/* Through memory: rip-relative, indexed, by the stack pointer. */
	__asm__ volatile("sub $256, %%rsp; call *thunk_table(%%rip); mov $1, %%ecx; "
			 "lea thunk_table(%%rip), %%rdx; call *(%%rdx, %%rcx, 8);"
			 "lea call_pop(%%rip), %%rdx; push %%rdx; call *(%%rsp); pop %%rdx; add $256, %%rsp"
			 : "+a"(a) : : "rcx", "rdx", "memory", "cc");
	EXPECT(a == x + 24);
}

static void stack_pointer(uint64_t x)
{
	uint64_t got, sp, after;

	__asm__ volatile("sub $128, %%rsp; mov %%rsp, %1; push %%rsp; pop %0; mov %%rsp, %2; sub $-128, %%rsp"
			 : "=&r"(got), "=&r"(sp), "=&r"(after) : : "memory", "cc");
	EXPECT(got == sp && after == sp);
	__asm__ volatile("sub $128, %%rsp; mov %%rsp, %1; lea -16(%%rsp), %0; push %0; pop %%rsp; "
			 "mov %%rsp, %0; mov %1, %%rsp; sub $-128, %%rsp"
			 : "=&r"(got), "=&r"(sp) : : "memory", "cc");
	EXPECT(got == sp - 16);
	/* pop into memory that the stack pointer names counts with the new one. */
	__asm__ volatile("sub $128, %%rsp; push $0; push %2; popq (%%rsp); pop %0; push %2; pushq (%%rsp); "
			 "pop %1; add $136, %%rsp"
			 : "=&r"(got), "=&r"(after) : "r"(x) : "memory", "cc");
	EXPECT(got == x && after == x);
	__asm__ volatile("sub $128, %%rsp; mov %%rsp, %1; push %%rbp; enter $32, $0; mov %2, -32(%%rbp); "
			 "mov -32(%%rbp), %0; leave; pop %%rbp;"
			 "sub %%rsp, %1; sub $-128, %%rsp" : "=&D"(got), "=&a"(sp) : "S"(x) : "memory", "cc");
	EXPECT(got == x && sp == 0);
	__asm__ volatile("mov %%rsp, %1; xchg %%rsp, %2; mov %%rsp, %0; xchg %%rsp, %2; sub %%rsp, %1"
			 : "=&r"(got), "=&r"(sp), "+r"(x) : : "memory", "cc");
	EXPECT(got == x && sp == 0);
	__asm__ volatile("sub $128, %%rsp; pushw %w1; pushw $5; popw %%ax; movzwl %%ax, %%eax; popw %w0; "
			 "movzwl %w0, %k0; sub $-128, %%rsp"
			 : "=&r"(got) : "r"(x) : "rax", "memory", "cc");
	EXPECT(got == (x & 0xffff));
}

static void loops(void)
{
	uint64_t n = 0, m = 0, k = 0;

	__asm__ volatile("mov $9, %%ecx; 1: inc %0; cmp $4, %0; loopne 1b" : "+r"(n) : : "rcx", "cc");
	__asm__ volatile("mov $9, %%ecx; 1: inc %0; test %%rcx, %%rcx; cmp %%eax, %%eax; "
			 "loope 1b" : "+r"(m) : : "rcx", "cc");
	__asm__ volatile("movabs $0x100000003, %%rcx; 1: inc %0; .byte 0x67; loop 1b" : "+r"(k) : : "rcx", "cc");
	EXPECT(n == 4 && m == 9 && k == 3);
	/* A branch that is a whole block, in a circle of one, and one of 64 instructions and more. */
	__asm__ volatile("mov $1000, %%ecx; 1: dec %%ecx; jnz 1b; .rept 150; nop; .endr; .rept 100; "
			 "jmp 1f; 1:; .endr" : : : "rcx", "cc");
}

int main(int argc, char **argv)
{
	seed = torture_seed(argc, argv);
	for (int i = 0; i < 3000; i++) {
		calls(torture_random(&seed));
		stack_pointer(torture_random(&seed));
		loops();
	}
	puts("found the way");
	return 0;
}
