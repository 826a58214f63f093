/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Loads of 32 bytes (AVX2), aligned and not, and a masked load that reads only
 * what its mask says. 512 floats are 2048 bytes: 2048 / cell cells when
 * aligned. An odd start of 4 bytes touches one cell more when a cell is larger
 * than 4. The masked load has 3 of 8 elements, at 0, 1 and 7.
 */
#include <immintrin.h>

#include "guest.h"

static float numbers[1024] __attribute__((aligned(64)));

__attribute__((noipa, target("avx2"))) float aligned_sum(const float *v)
{
	__m256 s = _mm256_setzero_ps();

	for (int i = 0; i < 512; i += 8)
		s = _mm256_add_ps(s, _mm256_load_ps(v + i));
	return s[0] + s[1] + s[2] + s[3] + s[4] + s[5] + s[6] + s[7];
}

__attribute__((noipa, target("avx2"))) float unaligned_sum(const float *v)
{
	__m256 s = _mm256_setzero_ps();

	for (int i = 0; i < 512; i += 8)
		s = _mm256_add_ps(s, _mm256_loadu_ps(v + i));
	return s[0] + s[1] + s[2] + s[3] + s[4] + s[5] + s[6] + s[7];
}

__attribute__((noipa, target("avx2"))) float masked_sum(const float *v, __m256i mask)
{
	__m256 s = _mm256_maskload_ps(v, mask);

	return s[0] + s[1] + s[7];
}

__attribute__((target("avx2"))) int main(void)
{
	for (int i = 0; i < 1024; i++)
		numbers[i] = i;
	printf("%g\n", aligned_sum(numbers));
	printf("%g\n", unaligned_sum(numbers + 1));
	printf("%g\n", masked_sum(numbers, _mm256_setr_epi32(-1, -1, 0, 0, 0, 0, 0, -1)));
	return 0;
}
