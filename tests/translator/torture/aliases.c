/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One memory, mapped twice: written at one place, run at the other. Also a file that is written with write(2), a mapping
 * that mremap makes a second one of, memory that a child writes and its parent runs, and a file that is cut off under its code.
 */
#include "torture.h"

#include <setjmp.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>

typedef int (*function)(void);

static void store(unsigned char *at, int value)
{
	at[0] = 0xb8;
	memcpy(at + 1, &value, 4);
	at[5] = 0xc3;
}

static void by_others(unsigned char *run)
{
	unsigned char *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned char *second = mremap(run, 0, 4096, MREMAP_MAYMOVE);

	EXPECT(shared != MAP_FAILED && second != MAP_FAILED && mprotect(second, 4096, PROT_READ | PROT_WRITE) == 0);
	for (int i = 0; i < 20; i++) {
		store(second + 32, i);
		EXPECT(((function)(run + 32))() == i);
	}
	for (int i = 0; i < 5; i++) {
		int status;
		pid_t child = fork();

		if (!child) {
			store(shared, i + 7);
			EXPECT(((function)shared)() == i + 7);
			_exit(0);
		}
		EXPECT(waitpid(child, &status, 0) == child && status == 0);
		EXPECT(((function)shared)() == i + 7);
	}
	puts("by others");
}

static sigjmp_buf back;
static unsigned char *cut_off;

static void on_fault(int number, siginfo_t *info, void *context)
{
	const greg_t *reg = ((ucontext_t *)context)->uc_mcontext.gregs;

	EXPECT(number == SIGBUS && (unsigned char *)info->si_addr == cut_off && (unsigned char *)reg[REG_RIP] == cut_off);
	EXPECT(reg[REG_RAX] == 0x1234);
	siglongjmp(back, 1);
}

/* Code that ran, and is gone. */
static void without_its_file(unsigned char *run, int fd)
{
	uint64_t result = 0;

	cut_off = run;
	torture_handle(SIGBUS, on_fault, 0);
	for (volatile int i = 0; i < 6; i++) {
		if (i == 3)
			EXPECT(ftruncate(fd, 0) == 0);
		if (!sigsetjmp(back, 1)) {
			__asm__ volatile("mov $0x1234, %%eax; call *%1" : "=&a"(result) : "b"(run) : "rcx", "rdx", "memory", "cc");
			EXPECT(i < 3 && result == 77);
		} else {
			EXPECT(i >= 3);
		}
	}
	puts("without its file");
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
	by_others(run);
	store(written, 77);
	without_its_file(run, fd);
	return 0;
}
