/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A function that changes no flag, called between a comparison and its branch, which comes a few instructions behind the
 * call: as Go clears memory. Also into its middle. Nothing else here passes flags across calls, so that these show it.
 */
#include "torture.h"

static uint64_t area[8];

__asm__(".pushsection .text\n"
	".type keeper, @function\n"
	"keeper: movups %xmm0, (%rdi); lea 16(%rdi), %rdi\n"
	"keeper_middle: movups %xmm0, (%rdi); lea 16(%rdi), %rdi\n"
	"movups %xmm0, (%rdi); ret\n"
	".size keeper, . - keeper\n"
	".popsection");

/* Is a above b, by flags that live through the call? */
#define ABOVE(function) \
static __attribute__((noinline)) int above_##function(uint64_t a, uint64_t b) \
{ \
	uint64_t *to = area; \
	int above = 0; \
	\
	__asm__ volatile("sub $136, %%rsp; pxor %%xmm0, %%xmm0; cmp %3, %2; call " #function "; lea 136(%%rsp), %%rsp\n" \
			 "mov %1, %%rcx; mov (%4), %%rcx; jbe 1f; mov $1, %0; 1:" \
			 : "+r"(above), "+D"(to) : "r"(a), "r"(b), "r"(area) : "rcx", "xmm0", "memory", "cc"); \
	return above; \
}
ABOVE(keeper)
ABOVE(keeper_middle)

int main(int argc, char **argv)
{
	uint64_t seed = torture_seed(argc, argv), count = 0;

	for (int i = 0; i < 1000; i++) {
		uint64_t a = torture_random(&seed) % 8, b = torture_random(&seed) % 8;

		memset(area, 1, sizeof area);
		EXPECT(above_keeper(a, b) == (a > b));
		EXPECT(area[0] == 0 && area[5] == 0 && area[6] != 0);
		EXPECT(above_keeper_middle(b, a) == (b > a));
		count += a > b;
	}
	printf("%lu above\n", (unsigned long)count);
	return 0;
}
