/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Signals that come while instructions fault: both handlers run, each mask is what it was afterwards, and no signal is
 * lost or stays blocked.
 */
#include "torture.h"

#include <sys/mman.h>
#include <ucontext.h>

static volatile uint64_t faults, alarms, inside;
static char *page;

static uint64_t blocked(void)
{
	sigset_t set;
	uint64_t bits = 0;

	EXPECT(sigprocmask(SIG_BLOCK, NULL, &set) == 0);
	for (int n = 1; n < 32; n++)
		bits |= (uint64_t)sigismember(&set, n) << n;
	return bits;
}

/* The page can be read again; it is taken away in the next round. */
static void on_fault(int number, siginfo_t *info, void *context)
{
	const ucontext_t *uc = context;

	EXPECT(number == SIGSEGV && (char *)info->si_addr == page + 8 && uc->uc_mcontext.gregs[REG_RAX] == 77);
	EXPECT(!sigismember(&uc->uc_sigmask, SIGALRM) && blocked() >> SIGSEGV & 1 && !(blocked() >> SIGALRM & 1));
	EXPECT(mprotect(page, 4096, PROT_READ) == 0);
	faults++;
}

static void on_alarm(int number, siginfo_t *info, void *context)
{
	(void)info;
	(void)context;
	EXPECT(number == SIGALRM && !inside && blocked() >> SIGALRM & 1);
	inside = 1;
	alarms++;
	inside = 0;
}

int main(int argc, char **argv)
{
	uint64_t seed = torture_seed(argc, argv), sum = 0;

	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	EXPECT(page != MAP_FAILED);
	page[8] = 3;
	torture_handle(SIGSEGV, on_fault, 0);
	torture_handle(SIGALRM, on_alarm, 0);
	for (uint64_t i = 0; i < 3000; i++) {
		uint64_t before = alarms, rax = 77;

		EXPECT(mprotect(page, 4096, PROT_NONE) == 0);
		torture_alarm(1 + (unsigned)(torture_random(&seed) % 12));
		/* Long without a branch, so that it often comes right before the fault. */
		__asm__ volatile(".rept 55; pause; .endr; movzbl 8(%1), %%ecx; add %%rcx, %0" : "+a"(rax) : "r"(page) : "rcx", "cc");
		sum += rax;
		EXPECT(faults == i + 1 && blocked() == 0);
		while (alarms == before)
			;
	}
	EXPECT(alarms == 3000);
	printf("%lu faults, %lu\n", (unsigned long)faults, (unsigned long)sum);
	return 0;
}
