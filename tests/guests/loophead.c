/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A function whose loop begins at its first instruction: the jump back is no
 * call. countdown() is called 3 times, whatever n is; so is strided(), whose
 * loop reads n cells.
 */
#include "guest.h"

int countdown(int n);
int strided(const int *v, const int *end);

__asm__(".text\n"
	".globl countdown\n"
	".type countdown, @function\n"
	"countdown:\n"
	"	decl %edi\n"
	"	jnz countdown\n"
	"	movl %edi, %eax\n"
	"	ret\n"
	".size countdown, . - countdown\n"
	".globl strided\n"
	".type strided, @function\n"
	"strided:\n"
	"	movl (%rdi), %eax\n"
	"	addq $4, %rdi\n"
	"	cmpq %rsi, %rdi\n"
	"	jne strided\n"
	"	ret\n"
	".size strided, . - strided\n");

int main(void)
{
	static int v[100];

	for (int i = 0; i < 100; i++)
		v[i] = i;
	for (int i = 10; i <= 100; i *= 10)
		printf("%d %d\n", countdown(i), strided(v, v + i));
	printf("%d %d\n", countdown(50), strided(v, v + 50));
	return 0;
}
