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

/* Which lanes stay, by a mask of them: those of its bits, then any. */
static UChar staying[256][8];

static void fill_staying(void)
{
	for (UInt mask = 0; mask < 256; mask++)
		for (UInt lane = 0, to = 0; lane < 8; lane++)
			if (mask >> lane & 1)
				staying[mask][to++] = (UChar)lane;
}

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
	fill_staying();
	return most >= 8 && (low & 6) == 6 && (has >> 5 & 1) ? 8 : 0;    /* avx2 */
}

UWord closing_keep_8(uint32_t *entry, UWord count, const uint32_t *stamp, const uint32_t *top, UWord *counted)
{
	uint32_t *to = entry;
	const uint32_t *from = entry;
	UWord stays, counts;

	*counted = 0;
	__asm__ volatile("vpbroadcastd %0, %%ymm1; vpbroadcastd %1, %%ymm2" : : "m"(*stamp), "m"(*top) : "xmm1", "xmm2");
	for (;; count -= 8, from += 8) {
		UWord first = count < 8 ? count : 8;

		__asm__ volatile("vmovdqu %2, %%ymm0\n\t"
				 "vpcmpgtd %%ymm0, %%ymm2, %%ymm3\n\t"
				 "vmovmskps %%ymm3, %k1\n\t"
				 "vpcmpgtd %%ymm0, %%ymm1, %%ymm3\n\t"
				 "vmovmskps %%ymm3, %k0"
				 : "=r"(stays), "=r"(counts) : "m"(*(const uint32_t (*)[8])from) : "xmm0", "xmm3");
		__asm__ volatile("vpmovzxbd %1, %%ymm3\n\t"
				 "vpermd %%ymm0, %%ymm3, %%ymm0\n\t"
				 "vmovdqu %%ymm0, %0" : "=m"(*(uint32_t (*)[8])to) : "m"(staying[stays]) : "xmm0", "xmm3");
		to += closing_bits((UInt)stays, first);
		*counted += closing_bits((UInt)counts, first);
		if (LIKELY(count <= 8))
			break;
	}
	__asm__ volatile("vzeroupper" : : : "xmm0", "xmm1", "xmm2", "xmm3");
	return (UWord)(to - entry);
}

static size_t keep(uint32_t *entry, size_t count, uint32_t stamp, uint32_t top, size_t *counted)
{
	return closing_keep(entry, count, &stamp, &top, counted);
}

static size_t pass(const uint32_t *entry, size_t count, uint32_t top, uint32_t from, uint32_t span, size_t *counted)
{
	size_t i;

	*counted = 0;
	for (i = 0; i < count; i += CLOSING_LANES) {
		UInt older = closing_older(&entry[i], &top), within;

		__asm__ volatile("vpsubd %1%{1to16%}, %%zmm16, %%zmm16\n\t"
				 "vpcmpud $1, %2%{1to16%}, %%zmm16, %%k1\n\t"
				 "kmovw %%k1, %0"
				 : "=r"(within) : "m"(from), "m"(span));
		if (closing_bits(older & ~within, count - i))
			break;
		*counted += closing_bits(older, count - i);
	}
	return i < count ? i : count;
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
