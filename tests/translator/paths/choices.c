/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Indirect jumps: a switch with a table, an interpreter with computed goto, and one that no table explains. */
#include <stdint.h>
#include <stdio.h>

#define KEEP __attribute__((noinline, noclone))

static volatile int sink;

KEEP static int of_eight(int a)
{
	switch (a) {
	case 0: sink = 5; break;
	case 1: sink = 3; /* fall through */
	case 2: sink = 8; break;
	case 3: sink = 1; return 7;
	case 4: sink = 9; break;
	case 6: sink = a; sink = 2; break;
	case 7: sink = 4; break;
	default: sink = 0; break;
	}
	return sink + 1;
}

KEEP static int in_loop(const unsigned char *text)
{
	int s = 0;

	for (; *text; text++) {
		switch (*text) {
		case 'a': s += 1; break;
		case 'b': s *= 2; sink = s; break;
		case 'c': s -= 7; break;
		case 'd': if (s & 1) s++; break;
		case 'e': sink = s; continue;
		case 'f': s ^= 5; break;
		case 'g': if (s > 1000) return s; break;
		default: break;
		}
		s += 3;
	}
	return s;
}

KEEP static int interpret(const unsigned char *code)
{
	static const void *const place[] = { &&stop, &&inc, &&dbl, &&dec, &&again };
	int a = 1, left = 9;
	const unsigned char *pc = code;

	goto *place[*pc++];
inc:
	a += 1;
	goto *place[*pc++];
dbl:
	a *= 2;
	sink = a;
	goto *place[*pc++];
dec:
	a -= 3;
	goto *place[*pc++];
again:
	if (left-- > 0)
		pc = code;
	goto *place[*pc++];
stop:
	return a;
}

/* Where it goes is computed: 8 bytes for each case, no table anywhere. Nor is it a tail call: there is something on the stack. */
KEEP static long computed(unsigned long which)
{
	long result;

	__asm__ volatile("	lea -256(%%rsp), %%rsp\n"
			 "	lea 1f(%%rip), %%rdx\n"
			 "	lea (%%rdx,%1,8), %%rdx\n"
			 "	jmp *%%rdx\n"
			 "	.p2align 3\n"
			 "1:	mov $10, %k0\n	jmp 2f\n	.p2align 3\n"
			 "	mov $20, %k0\n	jmp 2f\n	.p2align 3\n"
			 "	mov $30, %k0\n	jmp 2f\n	.p2align 3\n"
			 "	mov $40, %k0\n"
			 "2:	add $1, %0\n"
			 "	lea 256(%%rsp), %%rsp\n"
			 : "=&r"(result) : "r"(which) : "rdx", "cc");
	return result;
}

static int one(int a) { sink = a; return 1; }
static int two(int a) { return a & 1 ? 2 : 3; }
static int three(int a) { return of_eight(a & 7); }

static int (*const volatile function[])(int) = { one, two, three };

KEEP static int by_pointer(int a)
{
	int s = function[a % 3](a);

	return s > 2 ? s + 1 : s;
}

/* A jump through a pointer, to another function. */
KEEP static int tail_by_pointer(int a)
{
	if (a & 4)
		sink = 3;
	return function[a % 3](a + 1);
}

int main(void)
{
	static const unsigned char code[] = { 1, 2, 2, 3, 1, 4, 2, 0 };
	int s = interpret(code);

	for (int i = -2; i < 30; i++)
		s += of_eight(i % 11);
	s += in_loop((const unsigned char *)"abcdefgabzcadeffgbbbbbbbbbgabcg");
	for (unsigned long i = 0; i < 22; i++)
		s += (int)computed(i * i % 4) + by_pointer((int)i) + tail_by_pointer((int)i);
	printf("%d\n", s);
	return 0;
}
