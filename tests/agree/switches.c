/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Switches of all kinds, for functions_of: built in several ways, each of them
 * must be found again in the machine code, with all its targets.
 */
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static int work(int x)
{
	return rand() + x;
}

/* From 0 on, with a hole, a case that goes on into the next, and one that never returns. */
static int plain(int x)
{
	switch (x) {
	case 0: return work(5);
	case 1: return work(7);
	case 2: return work(99);
	case 3: return work(3) + 1;
	case 4: return work(8) * 3;
	case 5: return 17;
	case 6: work(3);         /* fall through */
	case 7: return work(x) / 3;
	case 9: abort();
	}
	return -1;
}

/* A byte, not from 0 on. */
static int letters(unsigned char c)
{
	int n = 0;

	switch (c) {
	case 'a': n += work(1); break;
	case 'b': n = work(2) * 3; break;
	case 'c': n -= work(n); break;
	case 'e': puts("x"); break;
	case 'f': n = work(77) ^ 1; break;
	case 'h': n = work(4) | 8;       /* fall through */
	case 'j': n += work(9);
	}
	return n;
}

/* In a loop, with one in it that has no bound but a mask. */
static int nested(const int *p, int count)
{
	int s = 0;

	for (int i = 0; i < count; i++)
		switch (p[i]) {
		case -3: s += work(1); continue;
		case -2: s *= work(2); break;
		case -1: s -= 3;         /* fall through */
		case 0: s += work(s); break;
		case 1: if (s > work(3)) return s; break;
		case 2: s = work(s); break;
		case 3:
			switch (p[i + 1] & 7) {
			case 0: s += work(0); break;
			case 1: s -= work(9); break;
			case 2: s += work(100); break;
			case 3: s ^= work(1); break;
			case 4: s += work(2); break;
			case 5: s &= work(3); break;
			case 6: s |= work(4); break;
			case 7: s %= work(5) | 1; break;
			}
		}
	return s;
}

enum kind { A, B, C, D, E, F, G };

/* All cases are there, and the compiler knows. */
static int complete(enum kind k)
{
	switch (k) {
	case A: return work(1) + 2;
	case B: return work(3);
	case C: return work(4) + 1;
	case D: return work(5) * 2;
	case E: return work(6) - 1;
	case F: return work(7) + 7;
	case G: return work(8) ^ 3;
	}
	__builtin_unreachable();
}

static long wide(long x)
{
	switch (x) {
	case 100: return work(1) + 2;
	case 101: return work(3);
	case 102: return work(4) + 1;
	case 103: return work(5) * 2;
	case 104: return work(6) - 1;
	case 106: return work(7) + 7;
	}
	return 0;
}

/* An interpreter by addresses, one by distances. */
static int threaded(const unsigned char *pc)
{
	static void *const place[] = { &&more, &&less, &&times, &&mix, &&end };
	int s = 0;

	goto *place[*pc++];
more:
	s += work(1);
	goto *place[*pc++];
less:
	s -= work(2);
	goto *place[*pc++];
times:
	s *= work(3);
	goto *place[*pc++];
mix:
	s ^= work(4);
	goto *place[*pc++];
end:
	return s;
}

static int distant(const int *pc)
{
	static const int place[] = { &&more - &&more, &&less - &&more, &&times - &&more, &&end - &&more };
	int s = 0;

	goto *(&&more + place[*pc++]);
more:
	s += work(1);
	goto *(&&more + place[*pc++]);
less:
	s -= work(2);
	goto *(&&more + place[*pc++]);
times:
	s *= work(3);
	goto *(&&more + place[*pc++]);
end:
	return s;
}

int main(int argc, char **argv)
{
	static const int numbers[] = { -3, -2, -1, 0, 1, 2, 3, 7 }, distances[] = { 0, 1, 2, 3 };
	static const unsigned char codes[] = { 0, 1, 2, 3, 4 };
	long sum = plain(argc) + letters((unsigned char)argv[0][0]) + nested(numbers, argc) + complete((enum kind)(argc % 7)) + wide(argc);

	printf("%ld\n", sum + threaded(codes) + distant(distances));
	return 0;
}
