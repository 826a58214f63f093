/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The log of first reads (core/log.h), sixteen entries at a time with AVX-512,
 * or eight with AVX2: at the end of an activation that has called others, and the scans of the
 * core. Nobody can foretell how many entries there are, and a loop that goes
 * round for each of them costs more than all of this.
 *
 * Neither compilers nor VEX use the registers of AVX-512, and VEX not the upper
 * halves of AVX's.
 */
#ifndef SLOPE_SOURCES_VALGRIND_CLOSING_H
#define SLOPE_SOURCES_VALGRIND_CLOSING_H

#include "sources/valgrind/tool.h"

#define CLOSING_LANES 16u

/* How many at once, with what the processor has and the system keeps: 16, 8, or 0 for none of this. Not more than `most`. */
UInt closing_lanes(UInt most);
/* For as many at once; NULL for 0. */
const struct slope_log_scans *closing_scans(UInt lanes);

/* Of a mask's first `count` bits, how many are set? */
static inline UWord closing_bits(UInt mask, UWord count)
{
	UWord bits, first = count < CLOSING_LANES ? count : CLOSING_LANES;

	__asm__("bzhi %2, %1, %0; popcnt %0, %0" : "=r"(bits) : "r"((UWord)mask), "r"(first) : "cc");
	return bits;
}

/* Which of sixteen entries are older than a stamp? */
static inline UInt closing_older(const uint32_t *entry, const uint32_t *stamp)
{
	UInt older;

	__asm__ volatile("vmovdqu32 %1, %%zmm16\n\t"
			 "vpcmpud $1, %2%{1to16%}, %%zmm16, %%k1\n\t"
			 "kmovw %%k1, %0"
			 : "=r"(older) : "m"(*(const uint32_t (*)[CLOSING_LANES])entry), "m"(*stamp));
	return older;
}

/*
 * `count` entries from `entry` on: those that are older than *stamp close up there, and how many that were is returned; *counted:
 * how many are older than *top. Up to 16 entries behind them are read and written.
 */
static inline UWord closing_keep(uint32_t *entry, UWord count, const uint32_t *stamp, const uint32_t *top, UWord *counted)
{
	uint32_t *to = entry;
	const uint32_t *from = entry;

	for (*counted = 0;; count -= CLOSING_LANES, from += CLOSING_LANES) {
		UInt counts = closing_older(from, top), stays;

		/* The sixteen are still in zmm16. */
		__asm__ volatile("vpcmpud $1, %2%{1to16%}, %%zmm16, %%k1\n\t"
				 "vpcompressd %%zmm16, %%zmm16%{%%k1%}%{z%}\n\t"
				 "vmovdqu32 %%zmm16, %1\n\t"
				 "kmovw %%k1, %0"
				 : "=&r"(stays), "=m"(*(uint32_t (*)[CLOSING_LANES])to) : "m"(*stamp));
		to += closing_bits(stays, count);
		*counted += closing_bits(counts, count);
		if (LIKELY(count <= CLOSING_LANES))
			return (UWord)(to - entry);
	}
}

/* The same by eight. */
UWord closing_keep_8(uint32_t *entry, UWord count, const uint32_t *stamp, const uint32_t *top, UWord *counted);

#endif
