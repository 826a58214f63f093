/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sources/valgrind/closing.h"

struct cpuid {
	UInt a, b, c, d;
};

static struct cpuid cpuid(UInt leaf)
{
	struct cpuid id;

	__asm__("cpuid" : "=a"(id.a), "=b"(id.b), "=c"(id.c), "=d"(id.d) : "0"(leaf), "2"(0));
	return id;
}

/* Which lanes stay, by a mask of them: a byte for each of its bits, the lowest first, then any. */
#define LANE(mask, n) ((uint64_t)((mask) >> (n) & 1) * (n) << 8 * __builtin_popcount((mask) & ((1 << (n)) - 1)))
#define LANES(m) (LANE(m, 1) | LANE(m, 2) | LANE(m, 3) | LANE(m, 4) | LANE(m, 5) | LANE(m, 6) | LANE(m, 7))
#define MASKS_4(m) LANES(m), LANES((m) + 1), LANES((m) + 2), LANES((m) + 3)
#define MASKS_16(m) MASKS_4(m), MASKS_4((m) + 4), MASKS_4((m) + 8), MASKS_4((m) + 12)
#define MASKS_64(m) MASKS_16(m), MASKS_16((m) + 16), MASKS_16((m) + 32), MASKS_16((m) + 48)
static const uint64_t staying[256] = { MASKS_64(0), MASKS_64(64), MASKS_64(128), MASKS_64(192) };

UInt closing_lanes(UInt most)
{
	UInt has = cpuid(1).c, low, high;

	if (cpuid(0).a < 7 || !(has >> 27 & 1) || !(has >> 23 & 1))      /* xgetbv, popcnt */
		return 0;
	__asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	has = cpuid(7).b;
	if (!(has >> 8 & 1))             /* bmi2 */
		return 0;
	if (most >= 16 && (low & 0xe6) == 0xe6 && (has >> 16 & 1))       /* avx512f */
		return 16;
	return most >= 8 && (low & 6) == 6 && (has >> 5 & 1) ? 8 : 0;    /* avx2 */
}

size_t closing_keep_8(uint32_t *entry, size_t count, const uint32_t *stamp, const uint32_t *top, size_t *counted)
{
	uint32_t *to = entry;
	const uint32_t *from = entry;
	size_t stays, counts;

	*counted = 0;
	__asm__ volatile("vpbroadcastd %0, %%ymm1; vpbroadcastd %1, %%ymm2" : : "m"(*stamp), "m"(*top) : "xmm1", "xmm2");
	for (;; count -= 8, from += 8) {
		size_t first = count < 8 ? count : 8;

		__asm__ volatile("vmovdqu %2, %%ymm0\n\t"
				 "vpcmpgtd %%ymm0, %%ymm2, %%ymm3\n\t"
				 "vmovmskps %%ymm3, %k1\n\t"
				 "vpcmpgtd %%ymm0, %%ymm1, %%ymm3\n\t"
				 "vmovmskps %%ymm3, %k0"
				 : "=r"(stays), "=r"(counts) : "m"(*(const uint32_t (*)[8])from) : "xmm0", "xmm3");
		__asm__ volatile("vpmovzxbd %1, %%ymm3\n\t"
				 "vpermd %%ymm0, %%ymm3, %%ymm0\n\t"
				 "vmovdqu %%ymm0, %0" : "=m"(*(uint32_t (*)[8])to) : "m"(staying[stays]) : "xmm0", "xmm3");
		to += logvectors_bits((uint32_t)stays, first);
		*counted += logvectors_bits((uint32_t)counts, first);
		if (LIKELY(count <= 8))
			break;
	}
	__asm__ volatile("vzeroupper" : : : "xmm0", "xmm1", "xmm2", "xmm3");
	return (size_t)(to - entry);
}

static size_t keep(uint32_t *entry, size_t count, uint32_t stamp, uint32_t top, size_t *counted)
{
	return logvectors_keep(entry, count, &stamp, &top, counted);
}

static size_t pass(const uint32_t *entry, size_t count, uint32_t top, uint32_t from, uint32_t span, size_t *counted)
{
	return logvectors_pass(entry, count, top, from, span, counted);
}

static size_t keep_8(uint32_t *entry, size_t count, uint32_t stamp, uint32_t top, size_t *counted)
{
	return closing_keep_8(entry, count, &stamp, &top, counted);
}

static size_t pass_none(const uint32_t *entry, size_t count, uint32_t top, uint32_t from, uint32_t span, size_t *counted)
{
	return *counted = 0;
}

const struct slope_log_scans *closing_scans(UInt lanes)
{
	static const struct slope_log_scans by_16 = { keep, pass }, by_8 = { keep_8, pass_none };

	return lanes == 16 ? &by_16 : lanes == 8 ? &by_8 : NULL;
}
