/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program that asks the processor to fault at odd addresses, as some do to
 * learn what it is: a handler of ours begins with that, too. Many places in the
 * code, so that each sample finds another one.
 */
#include <stdio.h>

#include "work.h"

#define ROUNDS 20000

APART static unsigned long strict(unsigned long n)
{
	unsigned long sum = 0;

	__asm__ volatile("lea -128(%%rsp), %%rsp\n pushfq\n orq $0x40000, (%%rsp)\n popfq\n"
			 "1:\n .rept 4096\n add $3, %0\n .endr\n dec %1\n jne 1b\n"
			 "pushfq\n andq $~0x40000, (%%rsp)\n popfq\n lea 128(%%rsp), %%rsp"
			 : "+r"(sum), "+r"(n) : : "cc", "memory");
	return sum;
}

int main(void)
{
	printf("%lu %ld\n", strict(ROUNDS), fib(24));
	return 0;
}
