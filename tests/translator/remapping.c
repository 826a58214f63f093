/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Code that goes and other code that comes to the same place; memory that grows, moves and shrinks. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int made(unsigned char value)
{
	unsigned char code[] = { 0xb8, value, 0, 0, 0, 0xc3 };
	unsigned char *p = mmap((void *)0x20000000, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	int result;

	memcpy(p, code, sizeof code);
	mprotect(p, 4096, PROT_READ | PROT_EXEC);
	result = ((int (*)(void))p)();
	mprotect(p, 4096, PROT_READ | PROT_WRITE);
	p[1]++;
	mprotect(p, 4096, PROT_READ | PROT_EXEC);
	result = result * 1000 + ((int (*)(void))p)();
	munmap(p, 4096);
	return result;
}

int main(void)
{
	char *m = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *brk = sbrk(0);

	for (int i = 0; i < 5; i++)
		printf("%d\n", made((unsigned char)(i * 3)));
	m[5] = 'm';
	m = mremap(m, 1 << 20, 64 << 20, MREMAP_MAYMOVE);
	m[(64 << 20) - 1] = 'n';
	printf("%c%c\n", m[5], m[(64 << 20) - 1]);
	m = mremap(m, 64 << 20, 4096, 0);
	printf("%c %d\n", m[5], mincore(m + (1 << 20), 4096, (unsigned char[1]){ 0 }));
	/* Large pages: there may be none, but it is for the kernel to say so. */
	m = mmap(NULL, 3 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	printf("%s, %d\n", m == MAP_FAILED ? strerror(errno) : "mapped", m == MAP_FAILED ? 0 : munmap(m, 4 << 20));
	printf("%d %d\n", sbrk(1 << 20) == brk, sbrk(-(1 << 20)) == brk + (1 << 20));
	return 0;
}
