/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Code that changes the page it runs on: instructions that rewrite the one
 * behind them, code that is patched while a callee runs, data beside code, and code beside the stack.
 */
#include "torture.h"

#include <sys/mman.h>
#include <sys/uio.h>

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
	for (int i = 0; i < 3000; i++)
		*data = ((function)code)(*data);
	EXPECT(*data == 3000);
}

/* The instruction lies on one page and writes to another, to which the code jumps next. */
static void next_page(unsigned char *code)
{
	unsigned char *at = code + 4096 - 12;

	at = put(at, "\x40\x88\x3d\x06\0\0\0", 7);             /* mov %dil, the immediate's first byte */
	put(at, "\xe9\0\0\0\0\xb8\0\0\0\0\xc3", 11);
	for (uint64_t x = 0; x < 60; x++)
		EXPECT((((function)(code + 4096 - 12))(x) & 0xff) == x);
}

/* A loop that counts in its own immediate: addl $1, imm(%rip); mov $imm, %eax; cmp %edi, %eax; jne. */
static void own_loop(unsigned char *code)
{
	put(code, "\x83\x05\x01\0\0\0\x01\xb8\0\0\0\0\x39\xf8\x75\xf0\xc3", 17);
	EXPECT(((function)code)(2000) == 2000);
}

/* Flags that are set before a write into the code, and looked at behind: cmp $30, %edi; mov %dil, imm(%rip); jb to xor. */
static void flags_over_a_write(unsigned char *code)
{
	put(code, "\x83\xff\x1e\x40\x88\x3d\x03\0\0\0\x72\x06\xb8\0\0\0\0\xc3\x31\xc0\xc3", 21);
	for (uint64_t x = 0; x < 60; x++)
		EXPECT((((function)code)(x) & 0xff) == (x < 30 ? 0 : x));
}

/* Functions on the stack, one below the other, each the caller's data beside it. */
static uint64_t on_the_stack(uint64_t depth)
{
	unsigned char code[32];
	volatile uint64_t sum = depth;

	put(code, "\x48\x8d\x87\0\0\0\0\xc3", 8);               /* lea n(%rdi), %rax; ret */
	code[3] = (unsigned char)depth;
	for (int i = 0; i < 5; i++)
		sum = ((function)code)(sum);
	return depth ? sum + on_the_stack(depth - 1) : sum;
}

static void with_a_stack_of_code(void)
{
	unsigned char *here = (unsigned char *)((uint64_t)&here & ~UINT64_C(4095)) - 3 * 4096;

	EXPECT(mprotect(here, 4 * 4096, PROT_READ | PROT_WRITE | PROT_EXEC) == 0);
	for (int i = 0; i < 20; i++)
		EXPECT(on_the_stack(30) == 6 * 465);
	EXPECT(mprotect(here, 4 * 4096, PROT_READ | PROT_WRITE) == 0);
}

#define READ_PAGES 16

/* What the kernel writes over pages with code that has run it writes whole, and the code is the new one. */
static void read_over(void)
{
	static unsigned char image[READ_PAGES * 4096];
	unsigned char *code = mmap(NULL, sizeof image, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	FILE *file = tmpfile();
	int end[2];

	EXPECT(code != MAP_FAILED && file && !pipe(end));
	for (unsigned n = 0; n < 5; n++) {
		struct iovec pieces[2] = { { code + 4000, 100 }, { code + 2 * 4096, sizeof image - 2 * 4096 } };
		ssize_t want = (ssize_t)sizeof image - 4096;

		for (unsigned page = 0; page < READ_PAGES; page++)
			put(put(put(image + page * 4096, "\xb8", 1), (unsigned char[]){ (unsigned char)(n + 100), 0, 0, 0 }, 4), "\xc3", 1);
		EXPECT(pwrite(fileno(file), image, sizeof image, 0) == (ssize_t)sizeof image && !lseek(fileno(file), 0, SEEK_SET));
		if (n == 0)
			EXPECT(read(fileno(file), code, sizeof image) == (ssize_t)sizeof image);
		else if (n == 1)
			EXPECT(pread(fileno(file), code + 4096, (size_t)want, 4096) == want);
		else if (n == 2)
			EXPECT(read(fileno(file), code + 4096, (size_t)want) == want);
		else if (n == 3)
			EXPECT(preadv(fileno(file), pieces, 2, 2 * 4096 - 100) == want - 4096 + 100);
		else
			EXPECT(write(end[1], image, 4 * 4096) == 4 * 4096 && read(end[0], code + 3 * 4096, 4 * 4096) == 4 * 4096);
		EXPECT(((function)(code + 4 * 4096))(0) == n + 100 && ((function)(code + 6 * 4096))(0) == n + 100);
	}
	munmap(code, sizeof image);
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
	next_page(code);
	own_loop(code + 1000);
	flags_over_a_write(code + 1100);
	with_a_stack_of_code();
	puts("the next page, a loop, a stack");
	read_over();
	puts("reads over code");
	return 0;
}
