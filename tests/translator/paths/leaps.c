/* SPDX-License-Identifier: GPL-3.0-or-later */
/* longjmp out of loops and deep stacks, and back into the middle of loops. */
#include <setjmp.h>
#include <stdio.h>

#define KEEP __attribute__((noinline, noclone))

static jmp_buf out, again;
jmp_buf meeting;
volatile int sink;

KEEP static int deep(int n, int how)
{
	for (int i = 0; i < 3; i++) {
		sink = i;
		if (n == 0 && i == how % 3)
			longjmp(out, how + 1);
	}
	if (n & 1)
		return deep(n - 1, how) + 1;
	int s = deep(n - 1, how);

	return s * 2;
}

KEEP static int catch_in_loop(int rounds)
{
	volatile int s = 0;

	for (volatile int i = 0; i < rounds; i++) {
		int came = setjmp(out);

		if (came) {
			s += came;
			if (came % 2)
				continue;
			sink = came;
		} else {
			s += deep(i % 4, i);
		}
		s++;
	}
	return s;
}

KEEP static void back(int n)
{
	if (n & 2)
		sink = n;
	longjmp(again, n);
}

/* Jumps back into itself: the rounds of the loop are made by longjmp. */
KEEP static int round_and_round(int n)
{
	volatile int left = n, s = 0;

	for (volatile int i = 0; i < 2; i++) {
		if (setjmp(again) > 3)
			s += 100;
		s += 1;
		if (left-- > 0)
			back(left);
		left = n / 2;
	}
	return s;
}

/*
 * Where setjmp comes back to is also jumped to: one of the two ways there has something to add. It jumps back twice if `how`
 * has bit 1.
 */
__asm__(".text\n"
	".type meets, @function\n"
	"meets:	push %rbx\n"
	"	mov %edi, %ebx\n"
	"	mov $7, %eax\n"
	"	test $1, %bl\n"
	"	jne 1f\n"
	"	movl $2, sink(%rip)\n"
	"1:	test $2, %bl\n"
	"	je 2f\n"
	"	test $8, %bl\n"
	"	jne 2f\n"
	"	lea meeting(%rip), %rdi\n"
	"	call _setjmp\n"
	"2:	test $4, %bl\n"
	"	je 3f\n"
	"	movl $3, sink(%rip)\n"
	"3:	cmp $2, %eax\n"
	"	jge 4f\n"
	"	lea 1(%rax), %esi\n"
	"	lea meeting(%rip), %rdi\n"
	"	call longjmp\n"
	"4:	pop %rbx\n"
	"	ret\n"
	".size meets, . - meets\n");
int meets(int how);

int main(void)
{
	int s = 0;

	for (int i = 0; i < 16; i++)
		s += meets(i);
	printf("%d %d %d\n", catch_in_loop(13), round_and_round(9), s);
	return 0;
}
