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

Bool closing_possible(void)
{
	UInt has = cpuid(1).c, low, high;

	if (cpuid(0).a < 7 || !(has >> 27 & 1) || !(has >> 23 & 1))      /* xgetbv, popcnt */
		return False;
	__asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	has = cpuid(7).b;
	return (low & 0xe6) == 0xe6 && (has >> 8 & 1) && (has >> 16 & 1);    /* bmi2, avx512f */
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

const struct slope_log_scans closing_scans = { keep, pass };
