/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The log at the end of an activation, as core/log.h says: its entries are
 * counted, and those that the caller keeps close up. Sixteen at a time with
 * AVX-512, four at a time elsewhere: how many there are nobody can foretell, and a
 * loop that goes round for each of them costs more than all of this.
 *
 * The program's vector registers are kept. Lanes behind the log's end are read
 * and written, but not counted.
 */
#ifndef SLOPE_SOURCES_TRANSLATOR_COMPACTING_H
#define SLOPE_SOURCES_TRANSLATOR_COMPACTING_H

#include "sources/translator/observing.h"

#define CTX ((struct context __seg_gs *)(intptr_t)CTX_AT)

/* Where the bytes of the lanes that stay come from, by a mask of them. */
#define LANE(n) 4 * (n), 4 * (n) + 1, 4 * (n) + 2, 4 * (n) + 3
static const uint8_t compacting_lanes[16][16] __attribute__((aligned(16))) = {
	[1] = { LANE(0) }, [2] = { LANE(1) }, [3] = { LANE(0), LANE(1) }, [4] = { LANE(2) }, [5] = { LANE(0), LANE(2) },
	[6] = { LANE(1), LANE(2) }, [7] = { LANE(0), LANE(1), LANE(2) }, [8] = { LANE(3) }, [9] = { LANE(0), LANE(3) },
	[10] = { LANE(1), LANE(3) }, [11] = { LANE(0), LANE(1), LANE(3) }, [12] = { LANE(2), LANE(3) },
	[13] = { LANE(0), LANE(2), LANE(3) }, [14] = { LANE(1), LANE(2), LANE(3) }, [15] = { LANE(0), LANE(1), LANE(2), LANE(3) },
};
#undef LANE

/* Bits of a mask among the first `left`. */
SLOPE_INLINE uint64_t compacting_bits(uint64_t mask, uint64_t left)
{
	uint64_t bits, first = left < 64 ? left : 64;             /* of this number bzhi sees one byte */

	__asm__("bzhi %2, %1, %0; popcnt %0, %0" : "=r"(bits) : "r"(mask), "r"(first) : "cc");
	return bits;
}

/* Both: the section of `f`, whose caller's stamp is *keep, up to `end`. How many of it are older than f. */
SLOPE_INLINE uint64_t compacting_by_16(const struct slope_frame *f, const uint32_t *keep, uint64_t end)
{
	uint64_t from = f->log, to = from, left = (end - from) / 4, stays, counts, k1, n = 0;

	/* The upper registers: nothing is slower because they are in use. */
	__asm__ volatile("kmovq %%k1, %0; vmovdqu64 %%zmm16, %%gs:%c1" : "=r"(k1) : "i"(CTX_VECTOR) : "memory");
	for (;;) {
		__asm__ volatile("vmovdqu32 %%gs:%c6(%2), %%zmm16\n\t"
				 "vpcmpud $1, %4%{1to16%}, %%zmm16, %%k1\n\t"
				 "kmovd %%k1, %k1\n\t"
				 "vpcmpud $1, %5%{1to16%}, %%zmm16, %%k1\n\t"
				 "vpcompressd %%zmm16, %%zmm16%{%%k1%}%{z%}\n\t"
				 "vmovdqu32 %%zmm16, %%gs:%c6(%3)\n\t"
				 "kmovd %%k1, %k0"
				 : "=&r"(stays), "=&r"(counts) : "r"(from), "r"(to), "m"(f->stamp), "m"(*keep), "i"(CTX_LOG_AT) : "memory");
		to += 4 * compacting_bits(stays, left);
		n += compacting_bits(counts, left);
		if (SLOPE_LIKELY(left <= 16))
			break;
		left -= 16;
		from += 64;
	}
	__asm__ volatile("kmovq %0, %%k1; vmovdqu64 %%gs:%c1, %%zmm16" : : "r"(k1), "i"(CTX_VECTOR) : "memory");
	CTX->log = to;
	return n;
}

SLOPE_INLINE uint64_t compacting_by_4(const struct slope_frame *f, const uint32_t *keep, uint64_t end)
{
	uint64_t from = f->log, to = from, left = (end - from) / 4, stays, counts, n = 0;

	__asm__ volatile("movups %%xmm12, %%gs:%c0; movups %%xmm13, %%gs:%c0+16\n\t"
			 "movups %%xmm14, %%gs:%c0+32; movups %%xmm15, %%gs:%c0+48\n\t"
			 "movd %1, %%xmm12; pshufd $0, %%xmm12, %%xmm12; movd %2, %%xmm13; pshufd $0, %%xmm13, %%xmm13"
			 : : "i"(CTX_VECTOR), "m"(f->stamp), "m"(*keep) : "memory");
	for (;;) {
		__asm__ volatile("movdqu %%gs:%c3(%2), %%xmm15\n\t"
				 "movdqa %%xmm12, %%xmm14; pcmpgtd %%xmm15, %%xmm14; movmskps %%xmm14, %k1\n\t"
				 "movdqa %%xmm13, %%xmm14; pcmpgtd %%xmm15, %%xmm14; movmskps %%xmm14, %k0"
				 : "=&r"(stays), "=&r"(counts) : "r"(from), "i"(CTX_LOG_AT) : "memory");
		__asm__ volatile("pshufb %0, %%xmm15; movdqu %%xmm15, %%gs:%c2(%1)"
				 : : "m"(compacting_lanes[stays]), "r"(to), "i"(CTX_LOG_AT) : "memory");
		to += 4 * compacting_bits(stays, left);
		n += compacting_bits(counts, left);
		if (left <= 4)
			break;
		left -= 4;
		from += 16;
	}
	__asm__ volatile("movups %%gs:%c0, %%xmm12; movups %%gs:%c0+16, %%xmm13\n\t"
			 "movups %%gs:%c0+32, %%xmm14; movups %%gs:%c0+48, %%xmm15" : : "i"(CTX_VECTOR) : "memory");
	CTX->log = to;
	return n;
}

/* Counts only, where that is one comparison: what the caller has no use for it leaves for the next to close up. */
SLOPE_INLINE uint64_t compacting_count_16(const struct slope_frame *f, uint64_t end)
{
	uint64_t counts, k1;

	__asm__ volatile("kmovq %%k1, %1; vmovdqu64 %%zmm16, %%gs:%c4\n\t"
			 "vpbroadcastd %3, %%zmm16\n\t"
			 "vpcmpud $6, %%gs:%c5(%2), %%zmm16, %%k1\n\t"
			 "kmovd %%k1, %k0\n\t"
			 "kmovq %1, %%k1; vmovdqu64 %%gs:%c4, %%zmm16"
			 : "=&r"(counts), "=&r"(k1) : "r"((uint64_t)f->log), "m"(f->stamp), "i"(CTX_VECTOR), "i"(CTX_LOG_AT) : "memory");
	return compacting_bits(counts, (end - f->log) / 4);
}

/* The usual one. */
SLOPE_INLINE uint64_t compacting_count(const struct slope_frame *f, const uint32_t *keep, uint64_t end)
{
	if (SLOPE_UNLIKELY(!CTX->by_16))
		return compacting_by_4(f, keep, end);
	return end - f->log <= 64 ? compacting_count_16(f, end) : compacting_by_16(f, keep, end);
}

#undef CTX

#endif
