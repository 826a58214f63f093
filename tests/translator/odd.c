/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Instructions that a translator has to treat on their own. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static uint64_t counted = 40;

int main(void)
{
	uint64_t a, b, c, flags;
	char from[100], to[100] = { 0 };

	memset(from, 'a', sizeof from);
	from[60] = 'z';
	__asm__("mov $5, %%rcx; xor %0, %0; 1: inc %0; loop 1b" : "=&r"(a) : : "rcx");
	__asm__("xor %0, %0; xor %%rcx, %%rcx; jrcxz 1f; inc %0; 1:" : "=&r"(b) : : "rcx");
	__asm__("mov $1, %%ecx; xor %0, %0; jecxz 1f; inc %0; 1:" : "=&r"(c) : : "rcx");
	printf("%lu %lu %lu\n", a, b, c);
	__asm__ volatile("rep movsb" : : "S"(from), "D"(to), "c"(sizeof to) : "memory");
	__asm__("repne scasb" : "=c"(a) : "D"(to), "a"('z'), "0"(sizeof to) : "memory");
	printf("%lu %d\n", a, memcmp(from, to, sizeof to));
	__asm__("stc; call 1f; pushfq; pop %0; jmp 2f; 1: ret; 2:" : "=r"(flags) : : "memory");
	printf("%lu\n", flags & 1);
	__asm__("call 1f; jmp 2f; 1: mov (%%rsp), %0; ret; 2:" : "=r"(a) : : "memory");
	printf("%d\n", a - (uint64_t)main < 100000);
	__asm__("addq $2, %0; lock incq %0; cmpq $43, %0; sete %b1" : "+m"(counted), "=q"(b));
	printf("%lu %lu\n", counted, b & 1);
	__asm__("sub $128, %%rsp; lea 1f(%%rip), %0; push %0; call *(%%rsp); jmp 2f; 1: mov $9, %0; ret $0; 2: pop %1; sub $-128, %%rsp"
		: "=&r"(a), "=&r"(b) : : "memory");
	printf("%lu\n", a);
	return 0;
}
