/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every string instruction in every width, direction and with every prefix, against what C says it does. */
#include "torture.h"

#define ROOM 512

struct state {
	uint64_t rax, rcx, rsi, rdi, flags;
};

static unsigned char area[2 * ROOM], expected[2 * ROOM];
static uint64_t seed;

#define RUN(name, code)                                                                                  \
	static void name(struct state *s, int backwards)                                                 \
	{                                                                                                \
		__asm__ volatile("test %5, %5; jz 1f; std; 1: cmp %%rax, %%rax; " code "; pushfq; cld; pop %4"   \
				 : "+a"(s->rax), "+c"(s->rcx), "+S"(s->rsi), "+D"(s->rdi), "=&r"(s->flags) \
				 : "r"(backwards) : "memory", "cc");                                     \
	}
#define WIDTHS(op)                                                                                       \
	RUN(op##_1, #op "b") RUN(op##_2, #op "w") RUN(op##_4, #op "l") RUN(op##_8, #op "q")                 \
	RUN(rep_##op##_1, "rep " #op "b") RUN(rep_##op##_2, "rep " #op "w") RUN(rep_##op##_4, "rep " #op "l")  \
	RUN(rep_##op##_8, "rep " #op "q") RUN(repne_##op##_1, "repne " #op "b") RUN(repne_##op##_2, "repne " #op "w") \
	RUN(repne_##op##_4, "repne " #op "l") RUN(repne_##op##_8, "repne " #op "q")
#define NAMES(op)                                                                                        \
	{                                                                                                \
		{ op##_1, op##_2, op##_4, op##_8 }, { rep_##op##_1, rep_##op##_2, rep_##op##_4, rep_##op##_8 },    \
		{ repne_##op##_1, repne_##op##_2, repne_##op##_4, repne_##op##_8 },                      \
	}

WIDTHS(movs) WIDTHS(stos) WIDTHS(lods) WIDTHS(scas) WIDTHS(cmps)

enum op { MOVS, STOS, LODS, SCAS, CMPS, OPS };
static void (*const run[OPS][3][4])(struct state *, int) = {
	NAMES(movs), NAMES(stos), NAMES(lods), NAMES(scas), NAMES(cmps),
};

static uint64_t load(const unsigned char *memory, uint64_t at, unsigned width)
{
	uint64_t value = 0;

	memcpy(&value, memory + (at - (uint64_t)area), width);
	return value;
}

/* Once; returns whether the two values are the same. */
static int once(enum op op, struct state *s, unsigned width, int64_t step)
{
	uint64_t mask = width == 8 ? ~UINT64_C(0) : (UINT64_C(1) << 8 * width) - 1, a = 0, b = 0, value;

	switch (op) {
	case MOVS:
		value = load(expected, s->rsi, width);
		memcpy(expected + (s->rdi - (uint64_t)area), &value, width);
		break;
	case STOS:
		memcpy(expected + (s->rdi - (uint64_t)area), &s->rax, width);
		break;
	case LODS:
		value = load(expected, s->rsi, width);
		s->rax = width == 4 ? value : (s->rax & ~mask) | value;
		break;
	case SCAS:
		a = s->rax & mask;
		b = load(expected, s->rdi, width);
		break;
	default:
		a = load(expected, s->rsi, width);
		b = load(expected, s->rdi, width);
		break;
	}
	s->rsi += op == MOVS || op == LODS || op == CMPS ? (uint64_t)step : 0;
	s->rdi += op != LODS ? (uint64_t)step : 0;
	return a == b;
}

static void model(enum op op, int prefix, struct state *s, unsigned width, int64_t step)
{
	int zero = 1;

	if (!prefix) {
		zero = once(op, s, width, step);
	} else {
		while (s->rcx) {
			s->rcx--;
			zero = once(op, s, width, step);
			if (op >= SCAS && zero != (prefix == 1))
				break;
		}
	}
	s->flags = (uint64_t)zero << 6;
}

static void compare(enum op op, int prefix, int width_log2, int backwards)
{
	unsigned width = 1u << width_log2;
	uint64_t from = torture_random(&seed) % 100 + ROOM / 2, to = torture_random(&seed) % 100 + ROOM;
	struct state s = { torture_random(&seed) % 3 * UINT64_C(0x0101010101010101), torture_random(&seed) % 20,
			   (uint64_t)area + from, (uint64_t)area + to, 0 }, want = s;

	for (int i = 0; i < 2 * ROOM; i++)
		area[i] = (unsigned char)(torture_random(&seed) % 8 ? 1 : torture_random(&seed) % 3);
	memcpy(expected, area, sizeof area);
	model(op, prefix, &want, width, backwards ? -(int64_t)width : (int64_t)width);
	run[op][prefix][width_log2](&s, backwards);
	s.flags &= 0x40;
	EXPECT(memcmp(area, expected, sizeof area) == 0);
	EXPECT(s.rax == want.rax);
	EXPECT(s.rcx == want.rcx);
	EXPECT(s.rsi == want.rsi && s.rdi == want.rdi);
	EXPECT(op < SCAS || s.flags == want.flags);
}

/* Several in one block, each where the one before has left the registers: their profile is what it is about. */
static __attribute__((noinline)) void in_a_row(unsigned char *at)
{
	unsigned char *si = at, *di = at + ROOM;

	__asm__ volatile("scasl; scasb; cmpsl; cmpsb; lodsw; stosb; scasw; lodsb; cmpsq; movsb; cmpsw; scasq; lodsl; stosq; cmpsb"
			 : "+S"(si), "+D"(di) : : "rax", "memory", "cc");
	EXPECT(si == at + 24 && di == at + ROOM + 41);
	memcpy(expected, area, sizeof area);
}

int main(int argc, char **argv)
{
	seed = torture_seed(argc, argv);
	for (int at = 0; at < 64; at++)
		in_a_row(area + at);
	for (int round = 0; round < 20; round++)
		for (int kind = 0; kind < OPS * 3 * 4 * 2; kind++)
			compare((enum op)(kind / 24), kind / 8 % 3, kind / 2 % 4, kind % 2);
	puts("as meant");
	return 0;
}
