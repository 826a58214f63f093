/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Code that changes the page it runs on: instructions that rewrite the one
 * behind them, code that is patched while a callee runs, and data beside code.
 */
#include "torture.h"

#include <sys/mman.h>

typedef uint64_t (*function)(uint64_t);

static unsigned char *put(unsigned char *at, const void *bytes, size_t count)
{
	memcpy(at, bytes, count);
	return at + count;
}

/*
 * mov %dil, n(%rip); jmp over; mov $imm, %eax; ret: the byte that is written
 * is the immediate's. The jump is there because processors ask for it.
 */
static void next_instruction(unsigned char *code, int with_jump)
{
	unsigned char *at = code;

	at = put(at, with_jump ? "\x40\x88\x3d\x03\0\0\0" : "\x40\x88\x3d\x01\0\0\0", 7);
	if (with_jump)
		at = put(at, "\xeb\x00", 2);
	put(at, "\xb8\0\0\0\0\xc3", 6);
	for (uint64_t x = 0; x < 60; x++)
		EXPECT((((function)code)(x) & 0xff) == x);
}

/* The caller rewrites the code that its callee returns to. */
static unsigned char *patched;

static void patch_returns(void)
{
	patched[0]++;
}

static void under_a_call(unsigned char *code)
{
	/* sub $8, %rsp; movabs $f, %rax; call *%rax; mov $imm, %eax; add $8, %rsp; ret */
	void (*f)(void) = patch_returns;
	unsigned char *at = put(put(put(code, "\x48\x83\xec\x08\x48\xb8", 6), &f, 8), "\xff\xd0\xb8", 3);

	patched = at;
	put(at, "\0\0\0\0\x48\x83\xc4\x08\xc3", 9);
	for (uint64_t x = 1; x < 60; x++)
		EXPECT(((function)code)(0) == x);
}

/* Data right beside code that runs, written all the time. */
static void data_beside(unsigned char *code)
{
	volatile uint64_t *data = (uint64_t *)(code + 512);

	put(code, "\x48\x8d\x47\x01\xc3", 5);
	*data = 0;
	for (int i = 0; i < 300; i++)
		*data = ((function)code)(*data);
	EXPECT(*data == 300);
}

int main(void)
{
	unsigned char *code = mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	setvbuf(stdout, NULL, _IONBF, 0);
	EXPECT(code != MAP_FAILED);
	data_beside(code + 300);
	puts("data beside code");
	under_a_call(code + 200);
	puts("under a call");
	next_instruction(code, 1);
	next_instruction(code + 100, 0);
	/* Over the border of two pages. */
	next_instruction(code + 4096 - 9, 1);
	puts("the next instruction");
	return 0;
}
