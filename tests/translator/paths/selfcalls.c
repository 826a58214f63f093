/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions that call themselves and each other, with paths open at all levels; and jumps instead of calls. */
#include <stdio.h>

#define KEEP __attribute__((noinline, noclone))
#if defined __GNUC__ && !defined __clang__
#define PLAIN KEEP __attribute__((optimize("no-optimize-sibling-calls", "no-inline")))
#else
#define PLAIN KEEP
#endif

static volatile int sink;

PLAIN static int fib(int n)
{
	if (n < 2)
		return n;
	int a = fib(n - 1);

	if (a & 1)
		sink = a;
	return a + fib(n - 2);
}

PLAIN static int ackermann(int m, int n)
{
	if (!m)
		return n + 1;
	if (!n)
		return ackermann(m - 1, 1);
	return ackermann(m - 1, ackermann(m, n - 1));
}

PLAIN static int odd_one(int n);

PLAIN static int even_one(int n)
{
	if (!n)
		return 1;
	sink = n;
	return odd_one(n - 1) + (n % 3 == 0);
}

PLAIN static int odd_one(int n)
{
	return n ? even_one(n - 1) : 0;
}

/* These jump: a call in tail position. */
KEEP int red(int n, int s);
KEEP int green(int n, int s);
KEEP int blue(int n, int s);

int red(int n, int s)
{
	if (n <= 0)
		return s;
	return n % 2 ? green(n - 1, s + 1) : blue(n - 2, s + 2);
}

int green(int n, int s)
{
	sink = s;
	return n % 3 ? blue(n - 1, s * 2) : red(n - 1, s ^ 5);
}

int blue(int n, int s)
{
	for (int i = 0; i < n % 4; i++)
		sink = i;
	if (n < 0)
		return s + 1;
	return red(n - 1, s + 3);
}

/* A conditional jump to another function, as compilers make them of the last call. */
__asm__(".text\n"
	".type choose, @function\n"
	"choose:	test $1, %edi\n"
	"	jne fib_like\n"
	"	test $2, %edi\n"
	"	je other_like\n"
	"	mov $7, %eax\n"
	"	ret\n"
	".size choose, . - choose\n"
	".type fib_like, @function\n"
	"fib_like:	mov $1, %eax\n"
	"	ret\n"
	".size fib_like, . - fib_like\n"
	".type other_like, @function\n"
	"other_like:	mov $2, %eax\n"
	"	ret\n"
	".size other_like, . - other_like\n"
	/* Falls into the next function. */
	".type falls, @function\n"
	"falls:	dec %edi\n"
	".size falls, . - falls\n"
	".type into, @function\n"
	"into:	mov %edi, %eax\n"
	"	cmp $3, %edi\n"
	"	jg falls\n"
	"	ret\n"
	".size into, . - into\n");
int choose(int a);
int falls(int a);
int into(int a);

int main(void)
{
	int s = fib(11) + ackermann(2, 4);

	for (int i = 0; i < 9; i++)
		s += even_one(i) * 3 + red(17 + i, i) + choose(i) + falls(i) + into(i);
	printf("%d\n", s);
	return 0;
}
