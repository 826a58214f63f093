/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Memory that a register's value selects beside the operand's address: bits of 40 words, on both sides of what the operand names, looked at
 * and changed, and 64 bytes of a table by xlat, which Valgrind does not know.
 */
#include <stdlib.h>
#include <string.h>

#include "guest.h"

#define WORDS 40

static unsigned words[3][WORDS];
static unsigned char table[256] __attribute__((aligned(64)));

__attribute__((noipa)) int bit_sum(const unsigned *middle)
{
	int sum = 0;

	for (int i = -WORDS / 2; i < WORDS / 2; i++) {
		unsigned char set;

		__asm__ volatile("btl %2, (%1); setc %0" : "=q"(set) : "r"(middle), "r"(i * 32 + 3) : "memory", "cc");
		sum += set;
	}
	return sum;
}

__attribute__((noipa)) void set_bits(unsigned *middle)
{
	for (long i = -WORDS / 2; i < WORDS / 2; i++)
		__asm__ volatile("lock btsl %k1, 8(%0,%2,4)" : : "r"(middle - 12), "r"(i * 32 + 5), "r"(10l) : "memory", "cc");
}

/* What it only writes itself is no input. */
__attribute__((noipa)) int clear_own(unsigned *middle)
{
	for (int i = -WORDS / 2; i < WORDS / 2; i++)
		__asm__ volatile("movl $8, %0" : "=m"(middle[i]));
	for (int i = -WORDS / 2; i < WORDS / 2; i++)
		__asm__ volatile("btrl %1, (%0)" : : "r"(middle), "r"(i * 32 + 3) : "memory", "cc");
	return bit_sum(middle);
}

__attribute__((noipa)) int xlat_sum(const unsigned char *from, int plain)
{
	int sum = 0;

	for (unsigned i = 0; i < 64; i++) {
		unsigned long got = 0x1234567800 | (i + 100);

		if (plain)
			got = from[i + 100];
		else
			__asm__ volatile("xlat" : "+a"(got) : "b"(from) : "memory");
		sum += (int)(got & 0xff);
	}
	return sum;
}

int main(void)
{
	const char *preloaded = getenv("LD_PRELOAD");

	for (int i = 0; i < WORDS; i++)
		words[0][i] = words[1][i] = (unsigned)(8 * i);
	for (int i = 0; i < 256; i++)
		table[i] = (unsigned char)(7 * i);
	printf("%d\n", bit_sum(words[0] + WORDS / 2));
	set_bits(words[1] + WORDS / 2);
	printf("%d\n", clear_own(words[2] + WORDS / 2));
	printf("%d\n", xlat_sum(table, preloaded && strstr(preloaded, "vgpreload")));
	return (int)words[1][7] & 1;
}
