/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Instructions that a translator meets rarely, each with a known answer. */
#include "torture.h"

#include <sys/syscall.h>

static uint64_t seed;

static void tables(void)
{
	unsigned char table[256];
	uint64_t got = 0;

	for (int i = 0; i < 256; i++)
		table[i] = (unsigned char)(i * 7);
	for (unsigned i = 0; i < 256; i++) {
		got = UINT64_C(0xaabbccdd00) | i;
		__asm__ volatile("xlat" : "+a"(got) : "b"(table) : "memory");
		EXPECT(got == (UINT64_C(0xaabbccdd00) | table[i]));
	}
}

/* Operands as far below their register as can be, whose shadow no displacement reaches from there. */
static __attribute__((noinline)) void lowest(void)
{
	static uint64_t word[2];
	uint64_t got, from = (uint64_t)word + 0x80000000;

	word[0] = torture_random(&seed);
	__asm__ volatile("mov -0x80000000(%1), %0; mov %0, -0x7ffffff8(%1)" : "=&r"(got) : "r"(from) : "memory");
	EXPECT(got == word[0] && word[1] == got);
	__asm__ volatile("incq -0x80000000(%0)" : : "r"(from) : "memory", "cc");
	EXPECT(word[0] == got + 1);
}

/* Bits by register index reach far beyond their operand. */
static void bits(void)
{
	uint64_t words[64] = { 0 }, set = 0;

	for (int64_t i = -700; i < 700; i += 37) {
		__asm__ volatile("lock btsq %2, %1; setc %b0" : "+&q"(set), "+m"(words[32]) : "r"(i) : "memory", "cc");
		EXPECT((set & 1) == 0);
		int64_t bit = i + 32 * 64;

		EXPECT(words[bit / 64] >> (bit % 64) & 1);
		__asm__ volatile("btrq %2, %1; setc %b0" : "+&q"(set), "+m"(words[32]) : "r"(i) : "memory", "cc");
		EXPECT((set & 1) == 1);
		set = 0;
		__asm__ volatile("btcw %w2, %1; setc %b0" : "+&q"(set), "+m"(words[32]) : "r"(i) : "memory", "cc");
		EXPECT((set & 1) == 0);
	}
}

static void atomics(void)
{
	uint64_t pair[2] __attribute__((aligned(16))) = { 5, 6 }, a = 5, d = 6, word = 10, old = 3;
	unsigned char equal;

	__asm__ volatile("lock cmpxchg16b %0; "
			 "sete %3"
			 : "+m"(pair), "+a"(a), "+d"(d), "=q"(equal) : "b"(UINT64_C(7)), "c"(UINT64_C(8)) : "cc");
	EXPECT(equal && pair[0] == 7 && pair[1] == 8);
	__asm__ volatile("lock cmpxchg16b %0; "
			 "sete %3"
			 : "+m"(pair), "+a"(a), "+d"(d), "=q"(equal) : "b"(UINT64_C(1)), "c"(UINT64_C(1)) : "cc");
	EXPECT(!equal && a == 7 && d == 8);
	__asm__ volatile("cmpxchg8b %0; sete %1" : "+m"(pair), "=q"(equal) : "a"(7), "d"(0), "b"(9), "c"(0) : "cc");
	EXPECT(equal && pair[0] == 9);
	__asm__ volatile("lock xaddq %1, %0" : "+m"(word), "+r"(old) : : "cc");
	EXPECT(word == 13 && old == 10);
	__asm__ volatile("xchg %1, %0" : "+m"(word), "+r"(old));
	EXPECT(word == 10 && old == 13);
}

/* rcx and r11 after a system call are the next address and the flags. */
static void system_call(void)
{
	uint64_t rcx, next, r11, flags, pid;

	__asm__ volatile("lea 1f(%%rip), %1; stc; pushfq; pop %3; mov $39, %%eax; stc; syscall; "
			 "1: mov %%rcx, %0; mov %%r11, %2"
			 : "=&r"(rcx), "=&r"(next), "=&r"(r11), "=&r"(flags), "=&a"(pid) : : "rcx", "r11", "memory", "cc");
	EXPECT(rcx == next && (r11 & 1) == 1 && (r11 | 0x10) == (flags | 0x10) && pid == (uint64_t)getpid());
	__asm__ volatile("mov $100000, %%eax; syscall" : "=a"(pid) : : "rcx", "r11", "memory", "cc");
	EXPECT((int64_t)pid == -38);
}

static void segments(void)
{
	uint64_t self, base, direct, sel = 99;

	__asm__ volatile("mov %%fs:0, %0; mov %%fs, %w1; movzwl %w1, %k1" : "=&r"(self), "+r"(sel) : : "memory");
	EXPECT(self == (uint64_t)__builtin_thread_pointer() && sel == 0);
	__asm__ volatile("mov $0, %%esi; .byte 0x64; lodsq" : "=a"(direct) : : "rsi", "memory");
	EXPECT(direct == self);
	__asm__ volatile("mov $-8, %%ecx; addr32 mov %%fs:8(%%ecx), %0" : "=r"(direct) : : "rcx", "memory");
	EXPECT(direct == self);
	EXPECT(syscall(SYS_arch_prctl, 0x1003, &base) == 0 && base == self);
}

static void numbers(void)
{
	uint64_t x = torture_random(&seed), y = torture_random(&seed), low, high, q, r;

	__asm__ volatile("mul %3" : "=a"(low), "=d"(high) : "0"(x), "r"(y) : "cc");
	EXPECT(low == x * y && high == (uint64_t)((unsigned __int128)x * y >> 64));
	__asm__ volatile("div %4" : "=a"(q), "=d"(r) : "0"(x), "1"(y % 1000), "r"(y | UINT64_C(1) << 63) : "cc");
	EXPECT((unsigned __int128)q * (y | UINT64_C(1) << 63) + r == ((unsigned __int128)(y % 1000) << 64 | x));
	__asm__ volatile("mov %1, %%rax; movb %%ah, %%bl; xchg %%al, %%ah; movzbl %%bh, %%ecx; "
			 "mov %%ax, %w0" : "=r"(q) : "r"(x) : "rax", "rbx", "rcx");
	EXPECT((q & 0xffff) == ((x >> 8 & 0xff) | (x & 0xff) << 8));
	__asm__ volatile("shld $13, %2, %0; shrd $7, %2, %1" : "+r"(low), "+r"(high) : "r"(x) : "cc");
	EXPECT(low == (x * y << 13 | x >> 51));
	__asm__ volatile("movbe %1, %0" : "=r"(q) : "m"(x));
	EXPECT(q == __builtin_bswap64(x));
	__asm__ volatile("cqto; xor %%rdx, %%rax; sub %%rdx, %%rax" : "+a"(x) : : "rdx", "cc");
	EXPECT((int64_t)x >= 0 || x == UINT64_C(1) << 63);
}

/* What finds nothing leaves its result as it was; what is read before that must not have used its register. */
#define LEAVES(code, from)                                                                                       \
	do {                                                                                                    \
		uint64_t kept = torture_random(&seed), got = kept;                                              \
		__asm__ volatile("mov (%1), %%r8; mov 40(%1), %%r9; mov 1000(%1,%2,2), %%r10; mov 100(%1,%2), %%r11; " code \
				 : "+a"(got) : "r"(table), "r"((uint64_t)(from)) : "r8", "r9", "r10", "r11", "cc");   \
		EXPECT(got == kept);                                                                            \
	} while (0)

static void nothing_found(void)
{
	static uint64_t table[200];

	LEAVES("bsf %2, %%rax", 0);
	LEAVES("bsr %2, %%rax", 0);
	LEAVES("rdsspq %%rax", 8);
}

static void state(void)
{
	static unsigned char area[8192] __attribute__((aligned(64))), data[32] __attribute__((aligned(16))), target[32];
	uint32_t a, d;
	uint64_t x;

	memset(data, 0x81, sizeof data);
	__asm__ volatile("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
	EXPECT(a & 2);
	__asm__ volatile("movdqa %2, %%xmm3; mov $7, %%eax; xor %%edx, %%edx; xsave64 %0; "
			 "pxor %%xmm3, %%xmm3; xrstor64 %0; movdqa %%xmm3, %%xmm4;"
			 "lea %1, %%rdi; maskmovdqu %%xmm3, %%xmm4; movntdq %%xmm4, %2; mfence"
			 : "+m"(area), "=m"(target), "+m"(data) : : "rax", "rdx", "rdi", "xmm3", "xmm4", "memory");
	EXPECT(target[0] == 0x81 && target[15] == 0x81 && target[16] == 0);
	__asm__ volatile("rdtsc; shl $32, %%rdx; or %%rdx, %%rax" : "=a"(x) : : "rdx", "cc");
	EXPECT(x > 0);
	__asm__ volatile("prefetcht0 (%0); prefetchw (%0); clflush (%0); pause; "
			 ".byte 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0; lock addl $0, (%%rsp)"
			 : : "r"(area) : "memory", "cc");
	__asm__ volatile("cpuid" : "=a"(a), "=d"(d) : "0"(0) : "rbx", "rcx");
	EXPECT(a >= 7);
}

int main(int argc, char **argv)
{
	seed = torture_seed(argc, argv);
	for (int i = 0; i < 200; i++) {
		tables();
		lowest();
		bits();
		atomics();
		system_call();
		segments();
		numbers();
		nothing_found();
		state();
	}
	puts("as known");
	return 0;
}
