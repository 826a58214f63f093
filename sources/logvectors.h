/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The log of first reads (core/log.h), sixteen entries at a time with AVX-512.
 * Nobody can foretell how many entries there are, and a loop that goes
 * round for each of them costs more than all of this.
 *
 * For sources that have looked for AVX-512F and BMI2 and are themselves
 * compiled without the former: zmm16 and k1 are changed, and who needs them keeps them.
 */
#ifndef SLOPE_SOURCES_LOGVECTORS_H
#define SLOPE_SOURCES_LOGVECTORS_H

#include "core/log.h"

#define LOGVECTORS_LANES 16u

/* Of a mask's first `count` bits, how many are set? */
SLOPE_INLINE uint64_t logvectors_bits(uint32_t mask, uint64_t count)
{
	uint64_t bits, first = count < LOGVECTORS_LANES ? count : LOGVECTORS_LANES;       /* of this number bzhi sees one byte */

	__asm__("bzhi %2, %1, %0; popcnt %0, %0" : "=r"(bits) : "r"((uint64_t)mask), "r"(first) : "cc");
	return bits;
}

/* Which of sixteen entries are older than a stamp? They stay in zmm16. */
SLOPE_INLINE uint32_t logvectors_older(const uint32_t *entry, const uint32_t *stamp)
{
	uint32_t older;

	__asm__ volatile("vmovdqu32 %1, %%zmm16\n\t"
			 "vpcmpud $1, %2%{1to16%}, %%zmm16, %%k1\n\t"
			 "kmovw %%k1, %0"
			 : "=r"(older) : "m"(*(const uint32_t (*)[LOGVECTORS_LANES])entry), "m"(*stamp));
	return older;
}

/* As slope_log_scans.keep. */
SLOPE_INLINE size_t logvectors_keep(uint32_t *entry, size_t count, const uint32_t *stamp, const uint32_t *top, size_t *counted)
{
	uint32_t *to = entry;
	const uint32_t *from = entry;

	for (*counted = 0;; count -= LOGVECTORS_LANES, from += LOGVECTORS_LANES) {
		uint32_t counts = logvectors_older(from, top), stays;

		__asm__ volatile("vpcmpud $1, %2%{1to16%}, %%zmm16, %%k1\n\t"
				 "vpcompressd %%zmm16, %%zmm16%{%%k1%}%{z%}\n\t"
				 "vmovdqu32 %%zmm16, %1\n\t"
				 "kmovw %%k1, %0"
				 : "=&r"(stays), "=m"(*(uint32_t (*)[LOGVECTORS_LANES])to) : "m"(*stamp));
		to += logvectors_bits(stays, count);
		*counted += logvectors_bits(counts, count);
		if (SLOPE_LIKELY(count <= LOGVECTORS_LANES))
			return (size_t)(to - entry);
	}
}

/* As slope_log_scans.pass. */
SLOPE_INLINE size_t logvectors_pass(const uint32_t *entry, size_t count, uint32_t top, uint32_t from, uint32_t span, size_t *counted)
{
	*counted = 0;
	for (size_t i = 0; i < count; i += LOGVECTORS_LANES) {
		uint32_t older = logvectors_older(&entry[i], &top), within;

		__asm__ volatile("vpsubd %1%{1to16%}, %%zmm16, %%zmm16\n\t"
				 "vpcmpud $1, %2%{1to16%}, %%zmm16, %%k1\n\t"
				 "kmovw %%k1, %0"
				 : "=r"(within) : "m"(from), "m"(span));
		if (logvectors_bits(older & ~within, count - i))
			return i;
		*counted += logvectors_bits(older, count - i);
	}
	return count;
}

#endif
