/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Traps and faults of a program's own while timers fire: each is told once, in its place, and no signal is lost or stays blocked.
 */
#include "torture.h"

#include <ucontext.h>

#define ROUNDS 20000u

__asm__(".text; breakpoint: mov $7, %eax; int3; add $1, %eax; ret\n"
	"long_breakpoint: mov $7, %eax; int $3; add $1, %eax; ret\n"
	"int1_trap: mov $7, %eax; .byte 0xf1; int1_behind: add $1, %eax; ret\n"
	"overflow: mov $7, %eax; int $4; add $1, %eax; ret\n"
	"interrupt: mov $7, %eax; int $0x42; add $1, %eax; ret\n"
	"nonsense: mov $7, %eax; .byte 0x06, 0x06; add $1, %eax; ret\n");
extern int breakpoint(void), long_breakpoint(void), int1_trap(void), overflow(void), interrupt(void), nonsense(void);
extern char int1_behind[];

static volatile uint64_t alarms, traps, inner;
static volatile int in_trap;
static volatile sig_atomic_t alarm_set;

static void on_alarm(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	(void)context;
	alarms++;
	inner += (uint64_t)in_trap;
	alarm_set = 0;
}

static void on_trap(int number, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;
	greg_t *reg = uc->uc_mcontext.gregs;
	sigset_t empty;

	in_trap = 1;
	(void)info;
	sigemptyset(&empty);
	EXPECT(!memcmp(&uc->uc_sigmask, &empty, 8) && reg[REG_RAX] == 7 && !(reg[REG_EFL] & 0x100));
	if (reg[REG_TRAPNO] == 1)
		reg[REG_RIP] = (greg_t)int1_behind;
	else if (number == SIGILL || reg[REG_TRAPNO] == 13)
		reg[REG_RIP] += 2;
	traps++;
	in_trap = 0;
}

/* Flags that are kept and given back, until the alarm comes: no trap flag of a translator is ever seen in them, nor lost with them. */
static void flags_until_alarm(void)
{
	uint64_t flags;

	while (alarm_set) {
		__asm__ volatile("sub $128, %%rsp; pushfq; pop %0; pushfq; popfq;"
				 "pushfq; orq $1, (%%rsp); popfq; pushfq; popfq; add $128, %%rsp"
				 : "=r"(flags) : : "memory", "cc");
		EXPECT(!(flags & 0x100));
	}
}

int main(int argc, char **argv)
{
	static int (*const trap[])(void) = { breakpoint, long_breakpoint, int1_trap, overflow, interrupt, nonsense };
	uint64_t seed = torture_seed(argc, argv), set = 0;
	sigset_t mask, empty;

	torture_handle(SIGALRM, on_alarm, 0);
	torture_handle(SIGTRAP, on_trap, 0);
	torture_handle(SIGSEGV, on_trap, 0);
	torture_handle(SIGILL, on_trap, 0);
	sigemptyset(&empty);
	for (unsigned i = 0; i < ROUNDS; i++) {
		if (!alarm_set) {
			alarm_set = 1;
			set++;
			torture_alarm(1 + (unsigned)(torture_random(&seed) % 60));
		}
		EXPECT(trap[torture_random(&seed) % 6]() == 8);
	}
	flags_until_alarm();
	for (unsigned i = 0; i < 300; i++) {
		alarm_set = 1;
		set++;
		torture_alarm(1 + (unsigned)(torture_random(&seed) % 200));
		flags_until_alarm();
	}
	EXPECT(traps == ROUNDS && alarms == set);
	EXPECT(sigprocmask(SIG_BLOCK, NULL, &mask) == 0 && !memcmp(&mask, &empty, 8));
	puts("trapped");
	return 0;
}
