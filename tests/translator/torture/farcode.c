/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One piece of code at two places, one of them far above the first 2 GB: operands
 * relative to rip with every kind of prefix, with constants behind them, in
 * calls and jumps, and with hidden registers; and faults of such operands.
 */
#include "torture.h"

#include <sys/mman.h>
#include <ucontext.h>

#define PAGE 4096

/* A page of code, and a page of data that it reaches. */
__asm__(".pushsection .rodata; .balign 4096\n"
	"piece: push %rbx; push %r12; push %r13; push %r14; push %rdi\n"
	"mov d0(%rip), %rax; addl $0x12345678, d1(%rip); movb $7, d2(%rip); cmpb $7, d2(%rip); setne %r9b\n"
	"imul $100, d0+3(%rip), %rcx; xor %rcx, %rax; movzwl d2+1(%rip), %esi; add %rsi, %rax; xchg %r9b, d1+6(%rip)\n"
	"mov %rax, %r8; mov $7, %edx; divq d3(%rip); add %rdx, %r8; add %rax, %r8\n"
	"mov $1, %eax; mov $2, %edx; mov $3, %ebx; mov $4, %ecx; lock cmpxchg16b d4(%rip); add d4(%rip), %r8; add %rdx, %r8\n"
	"pushq d0(%rip); popq d5(%rip); lea d5(%rip), %r13; add (%r13), %r8;\n"
	"movdqu d0(%rip), %xmm9; pshufd $0x1b, d4(%rip), %xmm1; paddd %xmm1, %xmm9; sqrtsd d6(%rip), %xmm2; addsd %xmm2, %xmm9\n"
	"movdqu %xmm9, d5(%rip); shldq $5, %r8, d5+8(%rip); bsr d0(%rip), %r12; add %r12, %r8; adcw $-3, d1(%rip)\n"
	"call *to_leaf(%rip); jmp *to_end(%rip)\n"
	"leaf: lea 5(%r8,%r8), %r8; call leaf2; ret\n"
	"leaf2: xor d0+5(%rip), %r8; ret\n"
	"end: pop %rdi; mov %r8, (%rdi); pop %r14; pop %r13; pop %r12; pop %rbx; ret\n"
	"vectors: vmovdqu d0(%rip), %ymm9; vpaddd d4(%rip), %ymm9, %ymm1; vpermq $0x1b, d0(%rip), %ymm10; vpxor %ymm10, %ymm1, %ymm1\n"
	"vmovdqu %ymm1, d5(%rip); vpsrld $3, %xmm1, %xmm1; andn d0(%rip), %rdi, %rax; rorx $9, d5(%rip), %rdx\n"
	"add %rdx, %rax; movbe d0+1(%rip), %rdx; add %rdx, %rax\n"
	"vzeroupper; ret\n"
	"masked: vpaddd d0(%rip){1to16}, %zmm9, %zmm18; vpaddd d4(%rip), %xmm18, %xmm1; vmovdqu64 %ymm18, d5(%rip)\n"
	"vmovq %xmm1, %rax; vzeroupper; ret\n"
	"faulting: push %rbx; mov $1, %eax; mov $2, %ecx; mov $3, %edx; mov $4, %ebx; mov $5, %esi; mov $6, %edi\n"
	"touch: addq %r8, d1(%rip); mov d1(%rip), %rax; pop %rbx; ret\n"
	"faulting_call: push %rcx; mov $2, %ecx\n"
	"touch_call: call *to_leaf2(%rip); mov %rcx, %rax; pop %rcx; ret\n"
	".balign 4096\n"
	"d0: .quad 0x1234567890abcdef, 0xfedcba9876543211, 77, -5; d1: .quad 9; d2: .quad 0; d3: .quad 1000003\n"
	".balign 16; d4: .quad 1, 2, 0x55, 0x66; d5: .quad 0, 0, 0, 0; d6: .double 2.0\n"
	"to_leaf: .quad leaf - piece; to_end: .quad end - piece; to_leaf2: .quad leaf2 - piece\n"
	".balign 4096; .popsection\n");

extern const char piece[], vectors[], masked[], faulting[], touch[], faulting_call[], touch_call[], d1[], to_leaf[];

static char *now_at, *fault_at;
static int faults;

static void on_fault(int number, siginfo_t *info, void *context)
{
	greg_t *reg = ((ucontext_t *)context)->uc_mcontext.gregs;
	size_t at = (size_t)(reg[REG_RIP] - (greg_t)now_at);

	EXPECT(number == SIGSEGV && (char *)info->si_addr == fault_at);
	if (at == (size_t)(touch - piece))
		EXPECT(reg[REG_RAX] == 1 && reg[REG_RDX] == 3 && reg[REG_RBX] == 4 && reg[REG_RSI] == 5 && reg[REG_RDI] == 6);
	else
		EXPECT(at == (size_t)(touch_call - piece));
	EXPECT(reg[REG_RCX] == 2);
	EXPECT(mprotect(now_at + PAGE, PAGE, PROT_READ | PROT_WRITE) == 0);
	faults++;
}

static char *copy_to(char *at)
{
	EXPECT(at != MAP_FAILED);
	memcpy(at, piece, 2 * PAGE);
	for (int i = 0; i < 3; i++) {
		uint64_t *slot = (uint64_t *)(at + (to_leaf - piece)) + i;

		*slot += (uint64_t)at;
	}
	EXPECT(mprotect(at, PAGE, PROT_READ | PROT_EXEC) == 0);
	return at;
}

static uint64_t call(const char *what)
{
	return ((uint64_t(*)(uint64_t))(now_at + (what - piece)))(0x5555);
}

static uint64_t everything(char *at)
{
	uint64_t hash = 1, result;

	now_at = at;
	for (int i = 0; i < 20; i++) {
		((void (*)(uint64_t *))at)(&result);
		hash = torture_hash(hash, &result, sizeof result);
		if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2")) {
			result = call(vectors);
			hash = torture_hash(hash, &result, sizeof result);
		}
		if (__builtin_cpu_supports("avx512vl")) {
			result = call(masked);
			hash = torture_hash(hash, &result, sizeof result);
		}
		hash = torture_hash(hash, at + PAGE, (size_t)(to_leaf - piece) - PAGE);
	}
	for (int i = 0; i < 3; i++) {
		fault_at = at + (d1 - piece);
		EXPECT(mprotect(at + PAGE, PAGE, PROT_NONE) == 0);
		call(faulting);
		fault_at = at + (to_leaf - piece) + 16;
		EXPECT(mprotect(at + PAGE, PAGE, PROT_NONE) == 0);
		EXPECT(call(faulting_call) == 2);
	}
	return hash;
}

int main(void)
{
	const int rw = PROT_READ | PROT_WRITE, flags = MAP_PRIVATE | MAP_ANONYMOUS;
	char *near = copy_to(mmap(NULL, 2 * PAGE, rw | PROT_EXEC, flags, -1, 0));
	char *far = copy_to(mmap((void *)0x7c0000000, 2 * PAGE, rw, flags, -1, 0));
	uint64_t first, second;

	EXPECT((uint64_t)far >> 32);
	torture_handle(SIGSEGV, on_fault, 0);
	first = everything(near);
	second = everything(far);
	EXPECT(first == second && faults == 12);
	puts("near and far");
	return 0;
}
