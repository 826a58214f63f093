/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads and writes of 1 to 64 bytes at every offset around the borders of
 * cells, lines and pages, by functions that read what others wrote: what they
 * find is right, and their input sizes (by --access=call and inlined) are the same.
 */
#include "torture.h"

#include <immintrin.h>
#include <sys/mman.h>

static unsigned char *area;
static uint64_t seed, hash;

#define PLAIN(bits)                                                                                      \
	static __attribute__((noinline)) void write_##bits(size_t at, uint64_t v)                        \
	{                                                                                                \
		uint##bits##_t x = (uint##bits##_t)v;                                                    \
		memcpy(area + at, &x, sizeof x);                                                         \
	}                                                                                                \
	static __attribute__((noinline)) uint64_t read_##bits(size_t at)                                 \
	{                                                                                                \
		uint##bits##_t x;                                                                        \
		memcpy(&x, area + at, sizeof x);                                                         \
		return x;                                                                                \
	}                                                                                                \
	static __attribute__((noinline)) void both_##bits(size_t at, uint64_t v)                         \
	{                                                                                                \
		write_##bits(at, v);                                                                     \
		hash = hash * 31 + read_##bits(at + 1) + read_##bits(at);                                \
		*(volatile uint##bits##_t *)(area + at + 2) += (uint##bits##_t)hash;                     \
		hash += read_##bits(at + 3);                                                             \
	}

PLAIN(8) PLAIN(16) PLAIN(32) PLAIN(64)

static __attribute__((noinline)) void both_128(size_t at, uint64_t v)
{
	_mm_storeu_si128((__m128i *)(area + at), _mm_set1_epi64x((long long)v));
	hash += (uint64_t)_mm_cvtsi128_si64(_mm_loadu_si128((const __m128i *)(area + at + 3)));
}

__attribute__((target("avx2"))) static __attribute__((noinline)) void both_256(size_t at, uint64_t v)
{
	__m256i x = _mm256_loadu_si256((const __m256i *)(area + at + 5));

	_mm256_storeu_si256((__m256i *)(area + at), _mm256_add_epi32(x, _mm256_set1_epi64x((long long)v)));
	hash += (uint64_t)_mm256_extract_epi64(_mm256_loadu_si256((const __m256i *)(area + at + 1)), 3);
}

__attribute__((target("avx512f"))) static __attribute__((noinline)) void both_512(size_t at, uint64_t v)
{
	__m512i x = _mm512_loadu_si512(area + at + 7);

	_mm512_storeu_si512(area + at, _mm512_add_epi32(x, _mm512_set1_epi64((long long)v)));
	hash += (uint64_t)_mm512_reduce_add_epi64(_mm512_loadu_si512(area + at + 1));
}

/* x87's ten bytes, high bytes of registers, and locked ones over a border. */
static __attribute__((noinline)) void odd_sizes(size_t at)
{
	__asm__ volatile("fldt %0; "
			 "fstpt %1"
			 : : "m"(*(const char (*)[10])(area + at)), "m"(*(char (*)[10])(area + at + 11)) : "memory");
	__asm__ volatile("xor %%eax, %%eax; movb 1(%0), %%ah; movb %%ah, 5(%0); lock incw (%0); "
			 "lock xaddl %%eax, 3(%0); btsq $61, 1(%0)"
			 : : "r"(area + at) : "rax", "memory", "cc");
}

/* Bytes and pairs of bytes at some distance from a register, which may be anywhere itself; some were seen, some not, some written. */
static __attribute__((noinline)) void parts(const unsigned char *base, uint64_t which)
{
	uint64_t sum = 0;

	if (which & 1)
		sum += base[5];
	if (which & 2)
		((volatile unsigned char *)base)[9] = (unsigned char)which;
	if (which & 4)
		sum += *(const volatile uint64_t *)(base + 4);
	__asm__ volatile("movzbl 4(%1), %%eax; add %%rax, %0; movzbl 7(%1), %%eax; add %%rax, %0; movzwl 8(%1), %%eax; add %%rax, %0; "
			 "movzwl 13(%1), %%eax; add %%rax, %0; movzwl 11(%1), %%eax; add %%rax, %0; movb %%al, 18(%1); "
			 "movw %%ax, 21(%1); cmpb $1, 22(%1); adc $0, %0; movzbl 40(%1), %%eax; add %%rax, %0"
			 : "+r"(sum) : "r"(base) : "rax", "memory", "cc");
	hash += sum;
}

/* Pairs at places that are counted in bytes. */
static __attribute__((noinline)) void pairs(const unsigned char *base, size_t count)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < count; i++)
		__asm__ volatile("movzwl (%1,%2), %%eax; add %%rax, %0; movzwl -1(%1), %%eax; add %%rax, %0; "
				 "movzwl (%1,%2,2), %%eax; add %%rax, %0; movzbl 6(%1,%2), %%eax; add %%rax, %0"
				 : "+r"(sum) : "r"(base + 1), "r"(i) : "rax", "cc");
	hash += sum;
}

int main(int argc, char **argv)
{
	size_t places[] = { 0, 60, 4096 - 64, 4096 - 8, 4096, 8192 - 32 };

	seed = torture_seed(argc, argv);
	area = mmap(NULL, 5 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	EXPECT(area != MAP_FAILED);
	for (int i = 0; i < 4000; i++) {
		size_t at = places[torture_random(&seed) % 6] + torture_random(&seed) % 70;
		uint64_t v = torture_random(&seed);

		both_8(at, v);
		both_16(at, v);
		both_32(at, v);
		both_64(at, v);
		both_128(at, v);
		if (__builtin_cpu_supports("avx2"))
			both_256(at, v);
		if (__builtin_cpu_supports("avx512f"))
			both_512(at, v);
		odd_sizes(at);
		parts(area + at, v);
		pairs(area + at, v % 9);
	}
	printf("%lx %lx\n", hash, torture_hash(1, area, 5 * 4096));
	return 0;
}
