/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One memory, mapped twice: written at one place, run at the other. Also a file that is written with write(2). */
#include "torture.h"

#include <sys/mman.h>

typedef int (*function)(void);

static void store(unsigned char *at, int value)
{
	at[0] = 0xb8;
	memcpy(at + 1, &value, 4);
	at[5] = 0xc3;
}

int main(int argc, char **argv)
{
	uint64_t seed = torture_seed(argc, argv);
	int fd = memfd_create("aliases", 0);
	unsigned char *written, *run, code[6];

	EXPECT(fd >= 0 && ftruncate(fd, 4096) == 0);
	written = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	run = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
	EXPECT(written != MAP_FAILED && run != MAP_FAILED);
	for (int i = 0; i < 100; i++) {
		size_t at = torture_random(&seed) % 64 * 16;

		store(written + at, i);
		EXPECT(((function)(run + at))() == i);
	}
	puts("through the other mapping");
	for (int i = 0; i < 100; i++) {
		size_t at = torture_random(&seed) % 64 * 16;

		store(code, i + 1000);
		EXPECT(pwrite(fd, code, sizeof code, (off_t)at) == sizeof code);
		EXPECT(((function)(run + at))() == i + 1000);
	}
	puts("through the file");
	return 0;
}
