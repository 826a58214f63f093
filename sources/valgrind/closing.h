/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The log of first reads (core/log.h) when an activation ends that has called
 * others: its entries are counted, and those that the caller keeps close up.
 * Sixteen at a time with AVX-512, by the core elsewhere: nobody can foretell
 * how many there are, and a loop that goes round for each of them costs more
 * than all of this.
 */
#ifndef SLOPE_SOURCES_VALGRIND_CLOSING_H
#define SLOPE_SOURCES_VALGRIND_CLOSING_H

#include "sources/valgrind/tool.h"

/* Of a mask's first `left` bits, how many are set? */
static inline UWord closing_bits(UInt mask, UWord left)
{
	UWord bits, first = left < 16 ? left : 16;

	__asm__("bzhi %2, %1, %0; popcnt %0, %0" : "=r"(bits) : "r"((UWord)mask), "r"(first) : "cc");
	return bits;
}

/*
 * The log from byte `first` on: how many entries are older than *counted; those
 * that are older than *kept close up, and the log ends behind them. Lanes
 * behind the log's end are read and written, but not counted. Neither
 * compilers nor VEX use the registers that this does.
 */
static inline UWord closing_by_16(struct read_log *log, UWord first, const uint32_t *counted, const uint32_t *kept)
{
	HChar *from = (HChar *)log->entry + first, *to = from;
	UWord left = (log->bytes - first) / sizeof log->entry[0], n = 0;
	UInt stays, counts;

	for (;;) {
		__asm__ volatile("vmovdqu32 (%2), %%zmm16\n\t"
				 "vpcmpud $1, %4%{1to16%}, %%zmm16, %%k1\n\t"
				 "kmovw %%k1, %1\n\t"
				 "vpcmpud $1, %5%{1to16%}, %%zmm16, %%k1\n\t"
				 "vpcompressd %%zmm16, %%zmm16%{%%k1%}%{z%}\n\t"
				 "vmovdqu32 %%zmm16, (%3)\n\t"
				 "kmovw %%k1, %0"
				 : "=&r"(stays), "=&r"(counts) : "r"(from), "r"(to), "m"(*counted), "m"(*kept) : "memory");
		to += 4 * closing_bits(stays, left);
		n += closing_bits(counts, left);
		if (LIKELY(left <= 16))
			break;
		left -= 16;
		from += 64;
	}
	log->bytes = (UWord)(to - (HChar *)log->entry);
	return n;
}

/* Does the processor have all that, and does the system keep it? */
static inline Bool closing_has_16(void)
{
	UInt a, b, c, d, low, high;

	__asm__("cpuid" : "=a"(a), "=b"(b), "=c"(c), "=d"(d) : "0"(0), "2"(0));
	if (a < 7)
		return False;
	__asm__("cpuid" : "=a"(a), "=b"(b), "=c"(c), "=d"(d) : "0"(1), "2"(0));
	if (!(c >> 27 & 1) || !(c >> 23 & 1))    /* xgetbv, popcnt */
		return False;
	__asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	__asm__("cpuid" : "=a"(a), "=b"(b), "=c"(c), "=d"(d) : "0"(7), "2"(0));
	return (low & 0xe6) == 0xe6 && (b >> 8 & 1) && (b >> 16 & 1);    /* bmi2, avx512f */
}

#endif
