/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Code that moves, goes and comes back: mremap, MAP_FIXED over it, pages that
 * lose and regain the right to run (with a handler that gives it back), madvise, and read(2) into code.
 */
#include "torture.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <ucontext.h>

typedef int (*function)(void);

static unsigned char *page;
static volatile sig_atomic_t given_back;

static void on_fault(int number, siginfo_t *info, void *context)
{
	(void)number, (void)context;
	EXPECT((unsigned char *)info->si_addr >= page && (unsigned char *)info->si_addr < page + 4096);
	EXPECT(mprotect(page, 4096, PROT_READ | PROT_EXEC) == 0);
	given_back++;
}

static unsigned char *fresh(void *where, int value)
{
	unsigned char *at = mmap(where, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | (where ? MAP_FIXED : 0), -1, 0);

	EXPECT(at != MAP_FAILED);
	at[0] = 0xb8;
	memcpy(at + 1, &value, 4);
	at[5] = 0xc3;
	EXPECT(mprotect(at, 4096, PROT_READ | PROT_EXEC) == 0);
	return at;
}

static void moved(uint64_t *seed)
{
	unsigned char *a = fresh(NULL, 1), *b = fresh(NULL, 2);

	for (int i = 0; i < 40; i++) {
		int value = (int)(torture_random(seed) % 1000000);

		a = fresh(a, value);
		EXPECT(((function)a)() == value && ((function)b)() == (i ? i + 1 : 2));
		b = fresh(b, i + 2);
		EXPECT(((function)b)() == i + 2);
		EXPECT(mremap(a, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, b) == b);
		EXPECT(((function)b)() == value);
		a = fresh(NULL, value + 1);
		EXPECT(((function)a)() == value + 1);
		b = fresh(b, i + 2);
	}
	munmap(a, 4096);
	munmap(b, 4096);
	puts("moved");
}

static void taken(void)
{
	page = fresh(NULL, 77);
	for (int i = 0; i < 30; i++) {
		EXPECT(((function)page)() == 77);
		EXPECT(mprotect(page, 4096, i % 2 ? PROT_NONE : PROT_READ) == 0);
		EXPECT(((function)page)() == 77);
		EXPECT(given_back == i + 1);
	}
	puts("taken and given back");
}

static void by_the_kernel(void)
{
	unsigned char *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int ends[2];

	EXPECT(pipe(ends) == 0);
	for (int i = 0; i < 30; i++) {
		unsigned char code[6] = { 0xb8, (unsigned char)i, 0, 0, 0, 0xc3 };

		EXPECT(write(ends[1], code, 6) == 6 && read(ends[0], at, 6) == 6);
		EXPECT(((function)at)() == i);
	}
	EXPECT(madvise(at, 4096, MADV_DONTNEED) == 0 && at[0] == 0);
	memcpy(at, "\xb8\x05\0\0\0\xc3", 6);
	EXPECT(((function)at)() == 5);
	puts("by the kernel");
}

int main(int argc, char **argv)
{
	uint64_t seed = torture_seed(argc, argv);

	setvbuf(stdout, NULL, _IONBF, 0);
	torture_handle(SIGSEGV, on_fault, 0);
	moved(&seed);
	taken();
	by_the_kernel();
	return 0;
}
