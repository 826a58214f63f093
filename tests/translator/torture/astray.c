/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Jumps, calls and returns to where no program has memory: nowhere, beyond what any has, where the translator may lie, the
 * kernel's half. Each is a fault with an address of its own. And to the page of vsyscalls, which old programs call instead of a vdso.
 */
#include "torture.h"

#include <setjmp.h>
#include <time.h>
#include <ucontext.h>

static const uint64_t targets[] = {
	0, 8, 0x60001000, 0x70001000, 0x1000000000, 0x123456789abc, 0x7ffffffff000, 0x8000000000000000, 0xffff800000000000,
	0xffffffffff601000, -4096ul, -2ul, -1ul,
};

#define TARGETS (sizeof targets / sizeof *targets)

static sigjmp_buf back;
static volatile int code;
static volatile uint64_t address, at;

static void on_fault(int number, siginfo_t *info, void *context)
{
	const ucontext_t *uc = context;

	EXPECT(number == SIGSEGV);
	code = info->si_code;
	address = (uint64_t)info->si_addr;
	at = (uint64_t)uc->uc_mcontext.gregs[REG_RIP];
	siglongjmp(back, 1);
}

static void go(unsigned way, uint64_t to)
{
	switch (way) {
	case 0:
		((void (*)(void))to)();
		break;
	case 1:
		__asm__ volatile("sub $128, %%rsp; push %0; ret" : : "r"(to) : "memory");
		break;
	default:
		__asm__ volatile("jmp *%0" : : "r"(to) : "memory");
	}
}

/* Is there such a page? Some kernels have none. */
static int has_vsyscalls(void)
{
	char line[256];
	int found = 0;
	FILE *maps = fopen("/proc/1/maps", "r");

	while (maps && fgets(line, sizeof line, maps))
		found |= strstr(line, "[vsyscall]") != NULL;
	if (maps)
		fclose(maps);
	return found;
}

static void ask_vsyscalls(void)
{
	int (*time_of_day)(struct timeval *, void *) = (void *)0xffffffffff600000;
	time_t (*seconds)(time_t *) = (void *)0xffffffffff600400;
	int (*processor)(unsigned *, unsigned *, void *) = (void *)0xffffffffff600800;
	time_t before = time(NULL), now = 0;
	struct timeval day;
	unsigned cpu, node;

	for (int i = 0; i < 100; i++) {
		EXPECT(seconds(&now) == now && now >= before && now <= time(NULL));
		EXPECT(!time_of_day(&day, NULL) && day.tv_sec >= now);
		EXPECT(!processor(&cpu, &node, NULL) && cpu < 100000);
	}
}

/* Of addresses that no page can have the processor does not tell; the jump itself faults. Returns the fault's code. */
static __attribute__((noinline)) int try(unsigned way, uint64_t to)
{
	if (!sigsetjmp(back, 1)) {
		go(way, to);
		EXPECT(!"code was found there");
	}
	EXPECT(code == 128 ? !address : address == to && at == to);
	return code;
}

int main(int argc, char **argv)
{
	uint64_t random = torture_seed(argc, argv);

	torture_handle(SIGSEGV, on_fault, SA_NODEFER);
	for (unsigned i = 0; i < 3 * TARGETS; i++)
		printf("%d%c", try(i / TARGETS, targets[i % TARGETS]), i % TARGETS == TARGETS - 1 ? '\n' : ' ');
	for (unsigned i = 0; i < 200; i++)
		try(i % 3, targets[torture_random(&random) % TARGETS]);
	if (has_vsyscalls())
		ask_vsyscalls();
	return 0;
}
