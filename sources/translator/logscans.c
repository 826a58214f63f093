/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The scans of the log that core/log.h leaves to its source, sixteen entries
 * at a time with AVX-512. The program's vector and mask registers are kept
 * here, not in the context: the one who reads, and so fills the log, may be keeping its own there (taking.h).
 */
#include "sources/translator/observing.h"

#include "sources/translator/compacting.h"

#define LANES 16u

struct kept {
	uint64_t zmm16[8], k1;
};

static void keep_registers(struct kept *k)
{
	__asm__ volatile("kmovq %%k1, %0; vmovdqu64 %%zmm16, %1" : "=r"(k->k1), "=m"(k->zmm16));
}

static void bring_registers(const struct kept *k)
{
	__asm__ volatile("kmovq %0, %%k1; vmovdqu64 %1, %%zmm16" : : "r"(k->k1), "m"(k->zmm16));
}

/* Lanes from there on: `count` of them at most. */
static uint32_t lanes(size_t count)
{
	return count < LANES ? (1u << count) - 1 : 0xffff;
}

static size_t keep(uint32_t *entry, size_t count, uint32_t stamp, uint32_t top, size_t *counted)
{
	uint32_t *to = entry;
	struct kept kept;

	*counted = 0;
	keep_registers(&kept);
	for (size_t n = 0; n < count; n += LANES) {
		uint32_t here = lanes(count - n), counts, stays;

		__asm__ volatile("vmovdqu32 %2, %%zmm16\n\t"
				 "vpcmpud $1, %4%{1to16%}, %%zmm16, %%k1\n\t"
				 "kmovd %%k1, %1\n\t"
				 "vpcmpud $1, %3%{1to16%}, %%zmm16, %%k1\n\t"
				 "kmovd %%k1, %0\n\t"
				 "vpcompressd %%zmm16, %%zmm16%{%%k1%}%{z%}"
				 : "=&r"(stays), "=&r"(counts)
				 : "m"(*(const uint32_t (*)[LANES])(entry + n)), "m"(stamp), "m"(top));
		__asm__ volatile("vmovdqu32 %%zmm16, %0" : "=m"(*(uint32_t (*)[LANES])to));
		to += compacting_bits(stays & here, LANES);
		*counted += compacting_bits(counts & here, LANES);
	}
	bring_registers(&kept);
	return (size_t)(to - entry);
}

static size_t pass(const uint32_t *entry, size_t count, uint32_t top, uint32_t from, uint32_t span, size_t *counted)
{
	struct kept kept;
	size_t n;

	*counted = 0;
	keep_registers(&kept);
	for (n = 0; n < count; n += LANES) {
		uint32_t here = lanes(count - n), older, within;

		__asm__ volatile("vmovdqu32 %2, %%zmm16\n\t"
				 "vpcmpud $1, %3%{1to16%}, %%zmm16, %%k1\n\t"
				 "kmovd %%k1, %0\n\t"
				 "vpsubd %4%{1to16%}, %%zmm16, %%zmm16\n\t"
				 "vpcmpud $1, %5%{1to16%}, %%zmm16, %%k1\n\t"
				 "kmovd %%k1, %1"
				 : "=&r"(older), "=&r"(within)
				 : "m"(*(const uint32_t (*)[LANES])(entry + n)), "m"(top), "m"(from), "m"(span));
		older &= here;
		if (older & ~within)
			break;
		*counted += compacting_bits(older, LANES);
	}
	bring_registers(&kept);
	return n < count ? n : count;
}

const struct slope_log_scans logscans_by_16 = { keep, pass };
