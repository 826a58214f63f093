/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Accesses of which nobody can say beforehand whether they find their own
 * activation's stamp: reads and writes of every size at random places, even,
 * odd and across cells, in loops and in small functions, often enough that
 * their blocks are made anew (sources/translator/rates.h). The profile must be
 * that of plain C; what is read is added up and printed.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CELLS 1024u
#define BYTES (4 * CELLS)

static unsigned char memory[BYTES + 8] __attribute__((aligned(64)));
static unsigned char fresh[8 * BYTES];
static uint64_t state;

static uint32_t dice(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 33);
}

#define READS(name, type)                                                                       \
	static __attribute__((noinline)) uint64_t name(const unsigned char *m, uint32_t mask, uint32_t at, unsigned times) \
	{                                                                                       \
		uint64_t sum = 0;                                                               \
		for (unsigned i = 0; i < times; i++) {                                          \
			type value;                                                             \
			memcpy(&value, m + (at & mask), sizeof value);                          \
			sum += value;                                                           \
			at = at * 1103515245u + 12345u + (uint32_t)value;                       \
		}                                                                               \
		return sum;                                                                     \
	}
#define WRITES(name, type)                                                                      \
	static __attribute__((noinline)) void name(unsigned char *m, uint32_t mask, uint32_t at, unsigned times) \
	{                                                                                       \
		for (unsigned i = 0; i < times; i++) {                                          \
			type value = (type)at;                                                  \
			memcpy(m + (at & mask), &value, sizeof value);                          \
			at = at * 1103515245u + 12345u;                                         \
		}                                                                               \
	}
READS(read_1, uint8_t)
READS(read_2, uint16_t)
READS(read_4, uint32_t)
READS(read_8, uint64_t)
WRITES(write_1, uint8_t)
WRITES(write_2, uint16_t)
WRITES(write_4, uint32_t)
WRITES(write_8, uint64_t)

/* Reads and writes the same place with one instruction. */
static __attribute__((noinline)) void count(uint32_t *m, uint32_t at, unsigned times)
{
	for (unsigned i = 0; i < times; i++) {
		m[at % CELLS]++;
		at = at * 1103515245u + 12345u;
	}
}

/* Byte by byte, from anywhere, for a short or a long time. */
static __attribute__((noinline)) uint64_t walk(const unsigned char *m, unsigned times)
{
	uint64_t sum = 0;

	while (times--)
		sum = sum * 3 + *m++;
	return sum;
}

struct thing { uint8_t a, b; uint16_t c; uint32_t d; uint64_t e; };

/* One activation, five fields; those of its caller too, now and then. */
static __attribute__((noinline)) uint64_t look(const struct thing *t, unsigned twice)
{
	uint64_t sum = t->a + t->c + t->e;

	return twice ? sum + t->b + t->d : sum;
}

static uint64_t look_at_some(const struct thing *t, unsigned times)
{
	uint64_t sum = t[times % 16].e;

	for (unsigned i = 0; i < times; i++)
		sum += look(&t[dice() % 64], dice() & 1);
	return sum;
}

int main(int argc, char **argv)
{
	static const uint32_t masks[] = { BYTES - 1, BYTES - 4, 255, 252, 63 };
	uint64_t sum = 0;

	state = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	for (unsigned round = 0; round < 3000; round++) {
		uint32_t mask = masks[dice() % 5], at = dice();
		unsigned times = dice() % 24;

		sum += read_1(memory, mask, at, times) + read_2(memory, mask, at, times);
		sum += read_4(memory, mask, at, times) + read_8(memory, mask, at, times);
		write_1(memory, mask, at + 1, times);
		write_2(memory, mask, at + 2, times);
		write_4(memory, mask, at + 3, times);
		write_8(memory, mask, at + 4, times);
		count((uint32_t *)memory, at, times);
		sum += walk(memory + (at & 1023), times) + walk(fresh + round * 8, 64);
		sum += look_at_some((const struct thing *)memory, times);
	}
	printf("%llu\n", (unsigned long long)sum);
	return 0;
}
