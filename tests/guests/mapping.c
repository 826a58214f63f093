/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A mapped file is input from outside when it is first read: sum_file() has
 * 500 cells, all external. Anonymous memory holds nothing but zeros: sum_empty()
 * reads 500 cells, none external. A mapping that this program has filled itself
 * is its own work: sum_filled() reads 500 cells, none external. Memory keeps its
 * past when it moves: own_moved() fills a block, moves it and reads only what it
 * wrote, 0 cells; sum_moved() reads a moved mapping of the file, 500 external.
 */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest.h"

#define CELLS 500

ALONE unsigned sum_file(const unsigned *v)
{
	unsigned s = 0;

	for (int i = 0; i < CELLS; i++)
		s += v[i];
	return s;
}

ALONE unsigned sum_empty(const unsigned *v)
{
	unsigned s = 1;

	for (int i = 0; i < CELLS; i++)
		s += v[i];
	return s;
}

ALONE unsigned sum_filled(const unsigned *v)
{
	unsigned s = 2;

	for (int i = 0; i < CELLS; i++)
		s += v[i];
	return s;
}

ALONE unsigned sum_moved(const unsigned *v)
{
	unsigned s = 3;

	for (int i = 0; i < CELLS; i++)
		s += v[i];
	return s;
}

/* mremap to another place, without libc's linkage table, which would be read. */
static unsigned *move(unsigned *from, void *to)
{
	register long flags __asm__("r10") = MREMAP_MAYMOVE | MREMAP_FIXED;
	register void *target __asm__("r8") = to;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "0"(SYS_mremap), "D"(from), "S"(4096L), "d"(4096L), "r"(flags), "r"(target)
			 : "rcx", "r11", "memory");
	return (unsigned *)result;
}

ALONE unsigned own_moved(unsigned *from, void *to)
{
	unsigned s = 0;

	for (int i = 0; i < CELLS; i++)
		((volatile unsigned *)from)[i] = i;
	from = move(from, to);
	for (int i = 0; i < CELLS; i++)
		s += from[i];
	return s;
}

static unsigned *map(int flags, int fd)
{
	void *p = mmap(NULL, CELLS * sizeof(unsigned), PROT_READ | PROT_WRITE, MAP_PRIVATE | flags, fd, 0);

	if (p == MAP_FAILED)
		exit(1);
	return p;
}

int main(void)
{
	static unsigned numbers[CELLS];
	FILE *file = tmpfile();
	unsigned *filled;

	for (int i = 0; i < CELLS; i++)
		numbers[i] = i;
	if (!file || fwrite(numbers, sizeof(numbers), 1, file) != 1 || fflush(file))
		return 1;
	printf("%u\n", sum_file(map(0, fileno(file))));
	printf("%u\n", sum_empty(map(MAP_ANONYMOUS, -1)));
	filled = map(0, fileno(file));
	for (int i = 0; i < CELLS; i++)
		filled[i] = i * 2;
	printf("%u\n", sum_filled(filled));
	printf("%u\n", sum_moved(move(map(0, fileno(file)), map(MAP_ANONYMOUS, -1))));
	printf("%u\n", own_moved(map(MAP_ANONYMOUS, -1), map(MAP_ANONYMOUS, -1)));
	return 0;
}
