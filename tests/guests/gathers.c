/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Loads with one address per element (AVX2): 64 numbers by 32-bit indices, far
 * apart, and the indices themselves, once more relative to %fs; 16 of 8 bytes by 64-bit indices; and a
 * load of which the mask leaves three of eight, with indices on both sides of 0.
 * For the other five Valgrind reads the word at the stack pointer.
 */
#include <immintrin.h>

#include <stdint.h>

#include "guest.h"

static int numbers[4096] __attribute__((aligned(64)));
static long long wide[256] __attribute__((aligned(64)));
static int places[64] __attribute__((aligned(64)));
static long long far_places[16] __attribute__((aligned(64)));

__attribute__((noipa, target("avx2"))) int spread_sum(const int *v, const int *at)
{
	__m256i s = _mm256_setzero_si256();

	for (int i = 0; i < 64; i += 8)
		s = _mm256_add_epi32(s, _mm256_i32gather_epi32(v, _mm256_load_si256((const __m256i *)(at + i)), 4));
	return _mm256_extract_epi32(s, 0) + _mm256_extract_epi32(s, 5);
}

__attribute__((noipa, target("avx2"))) int thread_sum(uint64_t from, const int *at)
{
	__m256i s = _mm256_setzero_si256();

	for (int i = 0; i < 64; i += 8) {
		__m256i mask = _mm256_set1_epi32(-1), got;

		__asm__ volatile("vpxor %0, %0, %0; vpgatherdd %1, %%fs:(%2,%3,4), %0"
				 : "=&x"(got), "+x"(mask) : "r"(from), "x"(_mm256_load_si256((const __m256i *)(at + i))) : "memory");
		s = _mm256_add_epi32(s, got);
	}
	return _mm256_extract_epi32(s, 0) + _mm256_extract_epi32(s, 5);
}

__attribute__((noipa, target("avx2"))) long long wide_sum(const long long *v, const long long *at)
{
	__m256i s = _mm256_setzero_si256();

	for (int i = 0; i < 16; i += 4)
		s = _mm256_add_epi64(s, _mm256_i64gather_epi64(v, _mm256_load_si256((const __m256i *)(at + i)), 8));
	return _mm256_extract_epi64(s, 0) + _mm256_extract_epi64(s, 3);
}

__attribute__((noipa, target("avx2"))) int masked_sum(const int *v, __m256i at, __m256i mask)
{
	__m256i s = _mm256_mask_i32gather_epi32(_mm256_setzero_si256(), v, at, mask, 4);

	return _mm256_extract_epi32(s, 0) + _mm256_extract_epi32(s, 1) + _mm256_extract_epi32(s, 7);
}

__attribute__((target("avx2"))) int main(void)
{
	for (int i = 0; i < 4096; i++)
		numbers[i] = i;
	for (int i = 0; i < 256; i++)
		wide[i] = i;
	for (int i = 0; i < 64; i++)
		places[i] = i * 61 % 4096;
	for (int i = 0; i < 16; i++)
		far_places[i] = 255 - i * 13;
	printf("%d\n", spread_sum(numbers, places));
	printf("%d\n", thread_sum((uint64_t)numbers - (uint64_t)__builtin_thread_pointer(), places));
	printf("%lld\n", wide_sum(wide, far_places));
	printf("%d\n", masked_sum(numbers + 100, _mm256_setr_epi32(-7, 20, 1, 2, 3, 4, 5, -90),
				  _mm256_setr_epi32(-1, -1, 0, 0, 0, 0, 0, -1)));
	return 0;
}
