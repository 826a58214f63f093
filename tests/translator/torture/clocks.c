/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What programs get from the vdso, by libc and by hand: clocks go forward and
 * agree with the system calls; the processor's number; rseq is either there and right, or not there.
 */
#include "torture.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <sched.h>
#include <sys/auxv.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <time.h>

static int64_t nanoseconds(clockid_t clock, int direct)
{
	struct timespec t;

	EXPECT((direct ? (int)syscall(SYS_clock_gettime, clock, &t) : clock_gettime(clock, &t)) == 0);
	EXPECT(t.tv_nsec >= 0 && t.tv_nsec < 1000000000);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void forward(clockid_t clock)
{
	int64_t before = nanoseconds(clock, 0);

	for (int i = 0; i < 200; i++) {
		int64_t now = nanoseconds(clock, i % 2);

		EXPECT(now >= before);
		before = now;
	}
}

/* The vdso, where there is one: a whole ELF file with a symbol table. */
static void vdso(void)
{
	const Elf64_Ehdr *head = (const Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR);

	if (!head)
		return;
	EXPECT(memcmp(head->e_ident, ELFMAG, SELFMAG) == 0 && head->e_machine == EM_X86_64 && head->e_phnum > 0);
}

static void rseq_area(void)
{
	long result = syscall(SYS_rseq, (void *)16, 32, 0, 0x53053053);

	EXPECT(result == -1 && (errno == ENOSYS || errno == EINVAL || errno == EBUSY || errno == EPERM || errno == EFAULT));
	if (!__rseq_size)
		return;
	const struct rseq *area = (const struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset);

	EXPECT((int)area->cpu_id >= 0 && area->cpu_id < 4096);
}

int main(void)
{
	struct timeval t;
	unsigned cpu, node;
	time_t now;

	for (int i = 0; i < 20; i++) {
		forward(CLOCK_MONOTONIC);
		forward(CLOCK_MONOTONIC_RAW);
		forward(CLOCK_PROCESS_CPUTIME_ID);
		forward(CLOCK_THREAD_CPUTIME_ID);
	}
	EXPECT(gettimeofday(&t, NULL) == 0);
	now = time(NULL);
	/* time() knows the second of the last tick, which may be the one before. */
	EXPECT(now - t.tv_sec >= -1 && now - t.tv_sec < 20);
	EXPECT(getcpu(&cpu, &node) == 0 && sched_getcpu() >= 0);
	vdso();
	rseq_area();
	puts("clocks run");
	return 0;
}
