/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Flags that live long: results in the carry, set by a callee and tested by its
 * caller; all six over direct and indirect jumps, calls, returns, loads and
 * stores; add-with-carry chains over loops; flags that only pushf, setcc or a branch much later reads.
 */
#include "torture.h"

#define FLAGS 0x8d5u

static uint64_t seed;

/* Carry: is the argument even? Overflow and zero come along. */
__asm__(".text; even_in_carry: endbr64; test $1, %dil; jnz 1f; stc; ret; 1: clc; ret\n"
	"compare_only: cmp %rsi, %rdi; ret\n"
	"through_call: call compare_only; jmp 1f; 1: ret\n"
	"through_table: lea 2f(%rip), %rax; mov %rax, -8(%rsp); cmp %rsi, %rdi; jmp *-8(%rsp); 2: ret\n"
	"through_register: lea 2f(%rip), %rax; cmp %rsi, %rdi; jmp *%rax; 2: mov %rdi, -16(%rsp); "
	"mov -16(%rsp), %rdi; ret\n"
	"through_push: cmp %rsi, %rdi; push %rdi; push %rsi; pop %rsi; pop %rdi; lea 2f(%rip), %rax; "
	"push %rax; ret; 2: ret\n"
	"through_moves: cmp %rsi, %rdi; mov %rdi, -8(%rsp); mov -8(%rsp), %rax; movaps %xmm0, %xmm1; "
	"movq %xmm0, -24(%rsp);"
	" lea 5(%rax), %rax; not %rax; xchg %rax, -8(%rsp); bswap %rax; jrcxz 1f; 1: mov $0, %ecx; "
	"jrcxz 2f; ud2; 2: ret\n");
extern char even_in_carry[], compare_only[], through_call[], through_table[], through_register[], through_push[],
	through_moves[];

static uint64_t flags_of(const void *f, uint64_t a, uint64_t b)
{
	uint64_t flags;

	__asm__ volatile("sub $256, %%rsp; call *%3; pushfq; pop %0; add $256, %%rsp"
			 : "=r"(flags), "+D"(a), "+S"(b) : "r"(f) : "rax", "rcx", "memory", "cc", "xmm1");
	return flags & FLAGS;
}

static unsigned parity(uint64_t x)
{
	return !(__builtin_popcountll(x & 0xff) & 1);
}

static uint64_t flags_meant(uint64_t a, uint64_t b)
{
	uint64_t d = a - b;

	return (a < b) | parity(d) << 2 | ((a ^ b ^ d) & 0x10) | (uint64_t)(d == 0) << 6 | d >> 63 << 7 |
	       ((a ^ b) & (a ^ d)) >> 63 << 11;
}

static void compares(void)
{
	const void *const way[] = { compare_only, through_call, through_table, through_register, through_push, through_moves };
	uint64_t a = torture_random(&seed), b = torture_random(&seed) % 3 ? torture_random(&seed) : a;

	a >>= torture_random(&seed) % 64;
	for (unsigned i = 0; i < sizeof way / sizeof *way; i++)
		EXPECT(flags_of(way[i], a, b) == flags_meant(a, b));
}

static void carries(void)
{
	uint64_t x = torture_random(&seed), got = 7, other = 7;

	__asm__ volatile("sub $128, %%rsp; call even_in_carry; setc %b0; "
			 "sub $-128, %%rsp" : "+&r"(got) : "D"(x) : "rax", "memory", "cc");
	EXPECT((got & 0xff) == !(x & 1));
	__asm__ volatile("sub $128, %%rsp; lea even_in_carry(%%rip), %%rax; call *%%rax; jc 1f; "
			 "mov $0, %0; jmp 2f; 1: mov $1, %0; 2: sub $-128, %%rsp"
			 : "+&r"(other) : "D"(x) : "rax", "memory", "cc");
	EXPECT(other == !(x & 1));
}

/* A long addition: the carry lives around the loop, over a load, a store and a count by lea or dec. */
static void long_addition(void)
{
	uint64_t a[20], b[20], sum[20], carry = 0, n = 1 + torture_random(&seed) % 20, i = 0, left = n;

	for (int k = 0; k < 20; k++) {
		a[k] = torture_random(&seed) % 4 ? torture_random(&seed) : ~UINT64_C(0);
		b[k] = torture_random(&seed) % 4 ? torture_random(&seed) : 0;
	}
	__asm__ volatile("clc; 1: mov (%3, %0, 8), %%rax; adc (%4, %0, 8), %%rax; mov %%rax, (%5, %0, 8); "
			 "lea 1(%0), %0; dec %1; jnz 1b;"
			 "setc %b2"
			 : "+&r"(i), "+&r"(left), "+&q"(carry) : "r"(a), "r"(b), "r"(sum) : "rax", "memory", "cc");
	for (uint64_t k = 0, c = 0; k < n; k++) {
		unsigned __int128 wide = (unsigned __int128)a[k] + b[k] + c;

		EXPECT(sum[k] == (uint64_t)wide);
		c = (uint64_t)(wide >> 64);
		EXPECT(k + 1 < n || carry == c);
	}
}

/* inc and dec keep the carry; shifts by zero keep all; adcx and adox keep the others apart. */
static void kept(void)
{
	uint64_t flags, c = 0, x = torture_random(&seed), y = x, zero = 0;

	__asm__ volatile("stc; inc %0; dec %0; setc %b1" : "+r"(x), "+q"(c) : : "cc");
	EXPECT(c == 1 && x == y);
	__asm__ volatile("cmp %1, %1; stc; mov %2, %%rcx; shl %%cl, %3; pushfq; pop %0"
			 : "=r"(flags) : "r"(x), "r"(zero), "r"(y) : "rcx", "cc", "memory");
	EXPECT((flags & 0x41) == 0x41);
	__asm__ volatile("mov $0x5, %%ah; sahf; mov %1, -8(%%rsp); lahf; movzbl %%ah, %%eax; mov %%rax, %0"
			 : "=r"(flags) : "r"(x) : "rax", "cc", "memory");
	EXPECT((flags & 0xd5) == 5);
	__asm__ volatile("pushfq; orq $0x8d5, (%%rsp); popfq; mov %1, -8(%%rsp); jmp 1f; 1: pushfq; pop %0"
			 : "=r"(flags) : "r"(x) : "cc", "memory");
	EXPECT((flags & FLAGS) == FLAGS);
	__asm__ volatile("pushfq; orq $0x400, (%%rsp); popfq; jmp 1f; 1: pushfq; pop %0; "
			 "cld" : "=r"(flags) : : "cc", "memory");
	EXPECT(flags & 0x400);
}

int main(int argc, char **argv)
{
	seed = torture_seed(argc, argv);
	for (int i = 0; i < 1500; i++) {
		compares();
		carries();
		long_addition();
		kept();
	}
	puts("flags kept");
	return 0;
}
