/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A tiny compiler that rewrites functions in a loop, on pages that stay writable and on pages that flip. */
#include "torture.h"

#include <sys/mman.h>

typedef uint64_t (*function)(uint64_t);

static uint64_t seed;

struct step {
	unsigned op;
	uint32_t value;
};

static uint64_t meant(const struct step *step, int count, uint64_t x)
{
	for (int i = 0; i < count; i++) {
		switch (step[i].op) {
		case 0:
			x += step[i].value;
			break;
		case 1:
			x ^= step[i].value;
			break;
		case 2:
			x *= 5;
			break;
		default:
			x = x << 7 | x >> 57;
			break;
		}
	}
	return x;
}

static unsigned char *put(unsigned char *at, const void *bytes, size_t count)
{
	memcpy(at, bytes, count);
	return at + count;
}

/* rax = rdi; then the steps; ret. */
static void compile(unsigned char *at, const struct step *step, int count)
{
	at = put(at, "\x48\x89\xf8", 3);
	for (int i = 0; i < count; i++) {
		switch (step[i].op) {
		case 0:
			at = put(put(at, "\x48\x05", 2), &step[i].value, 4);
			break;
		case 1:
			at = put(put(at, "\x48\x35", 2), &step[i].value, 4);
			break;
		case 2:
			at = put(at, "\x48\x8d\x04\x80", 4);
			break;
		default:
			at = put(at, "\x48\xc1\xc0\x07", 4);
			break;
		}
	}
	put(at, "\xc3", 1);
}

static uint64_t tiny_compiler(unsigned char *code, int flip, int rounds)
{
	uint64_t hash = 1;

	for (int i = 0; i < rounds; i++) {
		struct step step[40];
		int count = 1 + (int)(torture_random(&seed) % 40);
		unsigned char *at = code + torture_random(&seed) % 3000;

		for (int k = 0; k < count; k++)
			step[k] = (struct step){ torture_random(&seed) % 4, (uint32_t)torture_random(&seed) & 0x7fffffff };
		if (flip)
			EXPECT(mprotect(code, 4096, PROT_READ | PROT_WRITE) == 0);
		compile(at, step, count);
		if (flip)
			EXPECT(mprotect(code, 4096, PROT_READ | PROT_EXEC) == 0);
		for (uint64_t x = 0; x < 5; x++) {
			uint64_t got = ((function)at)(x * hash);

			EXPECT(got == meant(step, count, x * hash));
			hash = hash * 31 + got;
		}
	}
	return hash;
}

int main(int argc, char **argv)
{
	unsigned char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	seed = torture_seed(argc, argv);
	EXPECT(code != MAP_FAILED);
	printf("open %lx\n", tiny_compiler(code, 0, 150));
	printf("flipped %lx\n", tiny_compiler(code, 1, 150));
	return 0;
}
