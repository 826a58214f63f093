/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Accesses of odd sizes and places, counted in 4-byte cells: unaligned ones
 * count every cell they touch, repeated ones count once, string instructions
 * count what they move, and what a function wrote itself is no input.
 */
#include <stdint.h>

#include "guest.h"

static unsigned char bytes[4096] __attribute__((aligned(64)));
static unsigned char copy[4096] __attribute__((aligned(64)));

/* 4 bytes at 1: cells 0 and 1. */
ALONE uint32_t four_at_one(const unsigned char *p)
{
	return *(const volatile uint32_t *)(p + 1);
}

/* 8 bytes at 3: bytes 3 to 10, cells 0, 1 and 2. */
ALONE uint64_t eight_at_three(const unsigned char *p)
{
	return *(const volatile uint64_t *)(p + 3);
}

/* 2 bytes at 3: cells 0 and 1. */
ALONE uint32_t two_at_three(const unsigned char *p)
{
	return *(const volatile uint16_t *)(p + 3);
}

/* Each byte of 10: cells 0, 1 and 2. */
ALONE unsigned ten_bytes(const volatile unsigned char *p)
{
	unsigned s = 0;

	for (int i = 0; i < 10; i++)
		s += p[i];
	return s;
}

/* Reads one cell twenty times: 1. */
ALONE unsigned same_cell(const volatile unsigned char *p)
{
	unsigned s = 0;

	for (int i = 0; i < 20; i++)
		s += p[0];
	return s;
}

/* rep movsb of n bytes reads n/4 cells; the copy is its own. */
ALONE unsigned string_copy(unsigned char *to, const unsigned char *from, size_t n)
{
	unsigned char *d = to;

	__asm__ volatile("rep movsb" : "+D"(d), "+S"(from), "+c"(n) : : "memory");
	return to[0] + to[99];
}

/* rep stosq writes n * 8 bytes and then reads some: 0. */
ALONE unsigned string_fill(unsigned char *to, size_t n)
{
	unsigned char *d = to;

	__asm__ volatile("rep stosq" : "+D"(d), "+c"(n) : "a"(0x0101010101010101) : "memory");
	return to[0] + to[99];
}

/* repe cmpsb over 64 equal bytes of each: 16 + 16. */
ALONE unsigned string_compare(const unsigned char *a, const unsigned char *b)
{
	size_t n = 64;

	__asm__ volatile("repe cmpsb" : "+D"(a), "+S"(b), "+c"(n) : : "memory", "cc");
	return n;
}

/* Only what it wrote: 0. */
ALONE unsigned own_work(unsigned char *to)
{
	volatile uint32_t *w = (volatile uint32_t *)to;
	unsigned s = 0;

	for (int i = 0; i < 50; i++)
		w[i] = i;
	for (int i = 0; i < 50; i++)
		s += w[i];
	return s;
}

/* Adds 1 to each of 30 words in memory: reads each before it writes it, 30. */
ALONE void in_place(unsigned char *to)
{
	volatile uint32_t *w = (volatile uint32_t *)to;

	for (int i = 0; i < 30; i++)
		w[i]++;
}

/* A locked addition and an exchange read their cells too: 2. */
ALONE uint32_t atomics(unsigned char *to)
{
	uint32_t *w = (uint32_t *)to;

	return __atomic_fetch_add(&w[0], 1, __ATOMIC_SEQ_CST) + __atomic_exchange_n(&w[1], 5, __ATOMIC_SEQ_CST);
}

/* A compare-and-swap that succeeds and one that fails: 2. */
ALONE uint32_t swaps(unsigned char *to)
{
	uint32_t *w = (uint32_t *)to, expected = w[0], wrong = ~w[1];

	return __atomic_compare_exchange_n(&w[0], &expected, 9, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST) +
	       __atomic_compare_exchange_n(&w[1], &wrong, 9, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

int main(void)
{
	for (int i = 0; i < 4096; i++)
		bytes[i] = i * 7;
	printf("%u %lu %u\n", four_at_one(bytes), (unsigned long)eight_at_three(bytes), two_at_three(bytes));
	printf("%u %u\n", ten_bytes(bytes), same_cell(bytes));
	printf("%u\n", string_copy(copy, bytes, 400));
	printf("%u\n", string_compare(copy, bytes));
	printf("%u\n", string_fill(copy, 100));
	printf("%u\n", own_work(copy));
	in_place(copy);
	printf("%u\n", atomics(copy));
	printf("%u\n", swaps(copy));
	return 0;
}
