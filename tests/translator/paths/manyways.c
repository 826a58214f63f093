/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions with 2^24 paths (kept by hash) and with 2^72 (cut), some of them taken often. */
#include <stdint.h>
#include <stdio.h>

#define KEEP __attribute__((noinline, noclone))

static volatile unsigned sink;

#define TURN(n) \
	if (bits >> ((n) % 64) & 1) \
		sink = (n); \
	else \
		sink += (n);
#define TURNS(n) TURN(n) TURN(n + 1) TURN(n + 2) TURN(n + 3) TURN(n + 4) TURN(n + 5)
#define MORE_TURNS(n) TURNS(n) TURNS(n + 6) TURNS(n + 12) TURNS(n + 18)

KEEP static unsigned millions(uint64_t bits)
{
	MORE_TURNS(0)
	return sink;
}

KEEP static unsigned more_than_stars(uint64_t bits)
{
	MORE_TURNS(0) MORE_TURNS(24) MORE_TURNS(48)
	return sink;
}

KEEP static unsigned in_a_loop(uint64_t bits)
{
	for (int i = 0; i < 3; i++) {
		MORE_TURNS(0)
		bits = bits >> 3 | bits << 61;
	}
	return sink;
}

int main(void)
{
	uint64_t bits = 88172645463325252u;
	unsigned s = 0;

	for (int i = 0; i < 40; i++) {
		bits ^= bits << 13;
		bits ^= bits >> 7;
		bits ^= bits << 17;
		s += millions(i % 3 ? bits : 0x5a5a5a) + more_than_stars(i % 4 ? bits : 0) + in_a_loop(bits);
	}
	printf("%u\n", s);
	return 0;
}
