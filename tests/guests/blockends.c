/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where basic blocks end: at loop and jrcxz as at any branch, taken or not. Where they do not: at instructions that may fault or
 * be tried again, however long the block is.
 */
#include "guest.h"

long by_loop(long n), by_jrcxz(long n), locked(long *p), aligned(const void *p);

__asm__(".text\n"
	".type by_loop, @function\n"
	"by_loop: mov %rdi, %rcx\n"
	"	xor %eax, %eax\n"
	"1:	add %rcx, %rax\n"
	"	loop 1b\n"
	"	ret\n"
	".size by_loop, . - by_loop\n"
	".type by_jrcxz, @function\n"
	"by_jrcxz: mov %rdi, %rcx\n"
	"	xor %eax, %eax\n"
	"1:	jrcxz 2f\n"
	"	add %rcx, %rax\n"
	"	dec %rcx\n"
	"	jmp 1b\n"
	"2:	ret\n"
	".size by_jrcxz, . - by_jrcxz\n"
	".type locked, @function\n"
	"locked: mov $5, %eax\n"
	"	lock xadd %rax, (%rdi)\n"
	"	lock incq (%rdi)\n"
	"	lock cmpxchg %rdi, (%rdi)\n"
	"	ret\n"
	".size locked, . - locked\n"
	".type aligned, @function\n"
	"aligned: pxor %xmm0, %xmm0\n"
	"	.set at, 0\n"
	"	.rept 200\n"
	"	movdqa at(%rdi), %xmm0\n"
	"	.set at, at + 16\n"
	"	.endr\n"
	"	movq %xmm0, %rax\n"
	"	ret\n"
	".size aligned, . - aligned\n");

int main(void)
{
	static const int many[800] __attribute__((aligned(16))) = { 1, 0, 3, 4 };
	long sum = 0, word = 0;

	for (long n = 1; n <= 20; n++)
		sum += by_loop(n) + by_jrcxz(n) + locked(&word) + aligned(many);
	printf("%ld\n", sum);
	return 0;
}
