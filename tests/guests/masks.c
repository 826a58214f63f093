/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Loads and stores under a mask. short_set() sets 20 bytes by libc, which
 * stores up to 64 of them under a mask, and then reads the three numbers
 * behind; the linkage table's slot is two cells more. The others name AVX-512 themselves, and do nothing where it is not
 * there (under Valgrind); their input is what the mask leaves.
 */
#include <immintrin.h>
#include <string.h>

#include "guest.h"

#define WIDE __attribute__((noipa, target("avx512f,avx512bw,avx512vl")))

static int numbers[64] __attribute__((aligned(64)));
static char bytes[256] __attribute__((aligned(64)));
static volatile int results[2];

__attribute__((noipa)) int short_set(int *v, size_t bytes)
{
	memset(v, 0, bytes);
	return v[5] + v[6] + v[7];
}

/* Five of sixteen, and bits of the mask that no element has. */
WIDE int load_some(const int *v)
{
	return _mm512_reduce_add_epi32(_mm512_maskz_loadu_epi32(0x8107, v)) + _mm_extract_epi32(_mm_maskz_loadu_epi32(0xf0, v + 40), 0);
}

/* Bytes 3 to 34 of 64: the cells 0 to 8. */
WIDE int load_bytes(const char *from)
{
	return (int)_mm512_reduce_add_epi64(_mm512_maskz_loadu_epi8(0x7fffffff8, from));
}

/* As an operand of a sum and of a comparison: three, and two others. */
WIDE int operands(const int *v)
{
	int s;

	__asm__ volatile("kmovw %2, %%k1\n kmovw %3, %%k3\n vpxord %%zmm2, %%zmm2, %%zmm2\n vpaddd %1, %%zmm2, %%zmm2%{%%k1%}\n"
			 "vpcmpeqd %1, %%zmm2, %%k2%{%%k3%}\n kmovw %%k2, %0"
			 : "=r"(s) : "m"(*(const int (*)[16])v), "r"(0x7), "r"(0x600) : "k1", "k2", "k3", "xmm2");
	return s;
}

/* A permutation takes any element for any other: all sixteen. */
WIDE int permuted(const int *v)
{
	return _mm512_reduce_add_epi32(_mm512_maskz_permutexvar_epi32(3, _mm512_set1_epi32(9), _mm512_load_si512(v)));
}

/* Four elements, those behind one another, into the places of the mask. */
WIDE int expanded(const int *v)
{
	return _mm512_reduce_add_epi32(_mm512_maskz_expandloadu_epi32(0x1111, v));
}

/* Each of 16 bytes becomes a number: five of them, in the cells 0, 1 and 3. */
WIDE int widened(const char *from)
{
	return _mm512_reduce_add_epi32(_mm512_maskz_cvtepi8_epi32(0x8033, _mm_loadu_si128((const __m128i *)from)));
}

/* Sixteen numbers are read, but for the two that were written before. */
WIDE int store_some(int *v)
{
	int s = 0;

	_mm512_mask_storeu_epi32(v, 0x8001, _mm512_set1_epi32(3));
	for (int i = 0; i < 16; i++)
		s += *(volatile int *)(v + i);
	return s;
}

/* Three, packed, and four bytes made of numbers: the cells 0 to 2, and 9. */
WIDE int store_packed(int *v)
{
	int s = 0;

	_mm512_mask_compressstoreu_epi32(v, 0x8110, _mm512_set1_epi32(3));
	_mm512_mask_cvtepi32_storeu_epi8(v + 8, 0xf0, _mm512_set1_epi32(3));
	for (int i = 0; i < 16; i++)
		s += *(volatile int *)(v + i);
	return s;
}

/* By the mask registers that hardly anybody names, and vectors beyond the sixteenth. */
WIDE int others(const int *v)
{
	int s;

	__asm__ volatile("kmovw %2, %%k7\n vmovdqu32 %1, %%zmm26%{%%k7%}%{z%}\n vmovd %%xmm26, %0"
			 : "=r"(s) : "m"(*(const int (*)[16])v), "r"(0x15) : "k7", "xmm26");
	return s;
}

int main(void)
{
	for (int i = 0; i < 64; i++)
		numbers[i] = i;
	for (int i = 0; i < 256; i++)
		bytes[i] = (char)i;
	printf("%d\n", short_set(numbers, 20));
	if (!__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512vl"))
		return 0;
	results[0] = load_some(numbers) + load_bytes(bytes) + operands(numbers) + permuted(numbers);
	results[1] = expanded(numbers) + widened(bytes) + store_some(numbers) + store_packed(numbers) + others(numbers);
	return 0;
}
