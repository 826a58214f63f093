/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A million calls deep, frames of megabytes, and a longjmp from the bottom of it all. */
#include "torture.h"

#include <setjmp.h>
#include <sys/resource.h>

#define DEPTH 1000000

static jmp_buf top;

static __attribute__((noinline)) uint64_t down(uint64_t n)
{
	volatile uint64_t mine = n;

	return n ? down(n - 1) + mine : 0;
}

static __attribute__((noinline)) void down_and_away(uint64_t n)
{
	volatile uint64_t mine = n;

	if (!n)
		longjmp(top, 3);
	down_and_away(n - 1);
	mine++;
}

static __attribute__((noinline)) uint64_t huge(unsigned n)
{
	volatile char frame[6 << 20];

	frame[0] = (char)n;
	frame[sizeof frame - 1] = 1;
	return n ? huge(n - 1) + (uint64_t)frame[0] + (uint64_t)frame[sizeof frame - 1] : 0;
}

/* Starts itself again with a stack that is large enough. */
static void enlarge(char **argv)
{
	struct rlimit limit;

	EXPECT(getrlimit(RLIMIT_STACK, &limit) == 0);
	if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= 400ul << 20)
		return;
	limit.rlim_cur = 400ul << 20;
	if (setrlimit(RLIMIT_STACK, &limit)) {
		puts("the stack may not grow here");
		exit(0);
	}
	fflush(stdout);
	execv("/proc/self/exe", argv);
	torture_fail("exec of itself\n");
}

int main(int argc, char **argv)
{
	(void)argc;
	enlarge(argv);
	printf("%lu\n", down(DEPTH));
	if (!setjmp(top))
		down_and_away(DEPTH);
	printf("%lu\n", huge(50));
	printf("%lu\n", down(DEPTH / 2));
	return 0;
}
