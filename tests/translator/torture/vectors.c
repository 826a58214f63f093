/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Vector registers and what reads memory by them: gathers, scatters, masks, compress and expand, all 32 of AVX-512, x87. */
#include "torture.h"

#include <immintrin.h>
#include <math.h>

#define N 1024

static int32_t table[N], out[N + 64];
static uint64_t seed, hash = 1;

__attribute__((target("avx2"))) static void gathers(void)
{
	for (int i = 0; i < 200; i++) {
		__m256i index = _mm256_set_epi32((int)(torture_random(&seed) % N), 1, 5, (int)(torture_random(&seed) % N), N - 1, 0, 9, 9);
		__m256i mask = _mm256_set_epi32(-1, 0, -1, (int)torture_random(&seed), 0, -1, -1, 0);
		__m256i all = _mm256_i32gather_epi32(table, index, 4);
		__m256i some = _mm256_mask_i32gather_epi32(_mm256_set1_epi32(i), table, index, mask, 4);
		__m128i few = _mm_set_epi32(3, 1, (int)(torture_random(&seed) % (N / 2)), 7);
		__m256d wide = _mm256_i32gather_pd((const double *)table, few, 8);

		hash = torture_hash(hash, &all, sizeof all);
		hash = torture_hash(hash, &some, sizeof some);
		hash = torture_hash(hash, &wide, sizeof wide);
		_mm256_maskstore_epi32(out + torture_random(&seed) % N, mask, some);
		all = _mm256_maskload_epi32(table + torture_random(&seed) % (N - 8), mask);
		hash = torture_hash(hash, &all, sizeof all);
	}
}

/* A mask of zeros lets a gather and a masked load touch nothing: not even a page that is not there. */
__attribute__((target("avx2"))) static void nothing(void)
{
	__m256i none = _mm256_setzero_si256();
	const int *volatile nowhere = (const int *)16;
	__m256i a = _mm256_mask_i32gather_epi32(_mm256_set1_epi32(3), nowhere, none, none, 4), b = _mm256_maskload_epi32(nowhere, none);

	hash = torture_hash(torture_hash(hash, &a, sizeof a), &b, sizeof b);
}

__attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512cd"))) static void wide(void)
{
	for (int i = 0; i < 200; i++) {
		__mmask16 k = (__mmask16)torture_random(&seed), k2 = (__mmask16)(k * 3);
		__m512i index = _mm512_and_si512(_mm512_set1_epi32((int)torture_random(&seed)), _mm512_set1_epi32(N - 1));
		__m512i x, y;

		index = _mm512_and_si512(_mm512_add_epi32(index, _mm512_mullo_epi32(_mm512_set_epi32(
			15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0), _mm512_set1_epi32(i | 1))), _mm512_set1_epi32(N - 1));
		x = _mm512_mask_i32gather_epi32(_mm512_set1_epi32(i), k, index, table, 4);
		_mm512_mask_i32scatter_epi32(out, k2, index, x, 4);
		y = _mm512_maskz_loadu_epi32(k, table + torture_random(&seed) % (N - 16));
		_mm512_mask_storeu_epi32(out + torture_random(&seed) % N, k2, y);
		_mm512_mask_compressstoreu_epi32(out + torture_random(&seed) % N, k, y);
		y = _mm512_mask_expandloadu_epi32(x, k2, table + torture_random(&seed) % (N - 16));
		y = _mm512_ternarylogic_epi32(y, x, _mm512_conflict_epi32(index), 0x96);
		k = _mm512_cmplt_epi32_mask(x, y);
		hash = torture_hash(torture_hash(hash, &y, sizeof y), &k, sizeof k);
	}
	__m512i none = _mm512_maskz_loadu_epi32(0, (const void *)16);

	hash = torture_hash(hash, &none, sizeof none);
}

/* All 32 registers and the masks live over a call, a system call, a loop and a division. */
__attribute__((target("avx512f,avx512bw"))) static void all_registers(void)
{
	uint64_t sum[8];

	__asm__ volatile(
		"sub $256, %%rsp; vpbroadcastq %1, %%zmm16; vpaddq %%zmm16, %%zmm16, %%zmm31; "
		"vpaddq %%zmm31, %%zmm16, %%zmm17\n"
		"mov $0x5a, %%eax; kmovw %%eax, %%k1; kmovw %%eax, %%k7; call 1f; jmp 2f; "
		"1: mov $39, %%eax; syscall; ret; 2:\n"
		"mov $50, %%ecx; 3: vpaddq %%zmm17, %%zmm31, %%zmm31; dec %%ecx; jnz 3b; mov $1000, %%eax; "
		"cqto; mov $7, %%ecx; div %%rcx\n"
		"vpaddq %%zmm16, %%zmm31, %%zmm31%{%%k1%}; vpsubq %%zmm17, %%zmm31, %%zmm31%{%%k7%}\n"
		"add $256, %%rsp; vmovdqu64 %%zmm31, %0; vzeroupper"
		: "=m"(sum) : "r"(seed) : "rax", "rcx", "rdx", "r11", "memory", "cc", "xmm16", "xmm17", "xmm31", "k1", "k7");
	hash = torture_hash(hash, sum, sizeof sum);
}

static void stack_of_eight(void)
{
	long double x = 1.1L + (long double)(seed % 7), y = 0;
	unsigned char packed[10], state[512] __attribute__((aligned(16)));
	uint16_t word;

	for (int i = 0; i < 100; i++) {
		x = sqrtl(x * x + 2) + sinl(y) * 1e-3L;
		y += atan2l(x, 3) + fmodl(x, 0.7L);
	}
	__asm__ volatile("fldt %2; fldpi; fldl2e; fld1; fadd %%st(1), %%st; fxch %%st(2); fmulp; fsubrp; "
			 "fxch; fstp %%st(0); fldt %2; frndint;"
			 "fbstp %0; fnstsw %1; fxsave64 %3; "
			 "fstp %%st(0)" : "=m"(packed), "=m"(word) : "m"(x), "m"(state) : "memory",
			 "st", "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)", "st(7)");
	hash = torture_hash(torture_hash(hash, packed, sizeof packed), state + 32, 10);
	hash = hash * 31 + word;
	printf("%.15Lg %.15Lg\n", x, y);
}

int main(int argc, char **argv)
{
	seed = torture_seed(argc, argv);
	for (int i = 0; i < N; i++)
		table[i] = (int32_t)torture_random(&seed);
	stack_of_eight();
	if (__builtin_cpu_supports("avx2")) {
		gathers();
		nothing();
	}
	if (__builtin_cpu_supports("avx512bw"
	) && __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512vl")) {
		wide();
		all_registers();
	}
	printf("%lx %lx\n", hash, torture_hash(1, out, sizeof out));
	return 0;
}
