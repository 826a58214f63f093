/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Handlers compute as a program does that has just begun: rounding, exceptions and vector registers are the initial ones,
 * whatever the program has made of them. When a handler returns they are the program's again; when it leaves by a jump they
 * stay its own. By kill, by fault, and at random times.
 */
#include "torture.h"

#include <fenv.h>
#include <setjmp.h>

struct floats {
	uint32_t csr;
	uint16_t control, status;
	uint64_t vector[2];
};

static const struct floats fresh = { .csr = 0x1f80, .control = 0x37f };
static struct floats seen;
static sigjmp_buf away;
static volatile int handled, leaves;

static struct floats state(void)
{
	struct floats f;

	__asm__ volatile("movdqu %%xmm13, %0; stmxcsr %1; fnstcw %2; fnstsw %3"
			 : "=m"(f.vector), "=m"(f.csr), "=m"(f.control), "=m"(f.status));
	return f;
}

static int same(const struct floats *a, const struct floats *b)
{
	return a->csr == b->csr && a->control == b->control && a->status == b->status && !memcmp(a->vector, b->vector, sizeof a->vector);
}

static void handle(int number, siginfo_t *info, void *context)
{
	static volatile double zero = 0;

	(void)number, (void)info, (void)context;
	seen = state();
	EXPECT(1 / zero > 0);            /* no exception, though the program has asked for them */
	__asm__ volatile("pcmpeqd %%xmm13, %%xmm13" : : : "xmm13");
	fesetround(FE_TOWARDZERO);
	handled++;
	if (leaves)
		siglongjmp(away, 1);
}

/* What a program might have made of it; the same in both units. */
static void spoil(uint64_t *seed)
{
	static const int round[] = { FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO };

	feclearexcept(FE_ALL_EXCEPT);
	fesetround(round[torture_random(seed) % 4]);
	feenableexcept(FE_DIVBYZERO | FE_INVALID);
}

static void come_back(uint64_t *seed)
{
	uint64_t vector[2] = { torture_random(seed), torture_random(seed) };
	struct floats before, after;
	int count = handled, how = (int)(torture_random(seed) % 3);

	spoil(seed);
	if (how == 0)
		torture_alarm(1 + (unsigned)(torture_random(seed) % 300));
	__asm__ volatile("movdqu %0, %%xmm13" : : "m"(vector) : "xmm13");
	before = state();
	if (how == 0)
		__asm__ volatile("1: cmp %0, %1; jz 1b" : : "m"(handled), "r"(count) : "cc");
	else if (how == 1)
		__asm__ volatile("syscall" : : "a"(62L), "D"((long)getpid()), "S"((long)SIGUSR1) : "rcx", "r11", "memory");
	else
		__asm__ volatile("int3" : : : "memory");
	after = state();
	EXPECT(handled == count + 1);
	EXPECT(same(&seen, &fresh));
	EXPECT(same(&before, &after) || how == 1);      /* C may have used the register on its way to the call */
	EXPECT(before.csr == after.csr && before.control == after.control);
}

static void jump_away(uint64_t *seed)
{
	spoil(seed);
	leaves = 1;
	if (!sigsetjmp(away, 1))
		raise(SIGUSR1);
	leaves = 0;
	EXPECT(same(&seen, &fresh));
	EXPECT(fegetround() == FE_TOWARDZERO && fegetexcept() == 0);
}

int main(int argc, char **argv)
{
	uint64_t seed = torture_seed(argc, argv);

	torture_handle(SIGUSR1, handle, 0);
	torture_handle(SIGTRAP, handle, 0);
	torture_handle(SIGALRM, handle, 0);
	for (int i = 0; i < 300; i++) {
		come_back(&seed);
		jump_away(&seed);
	}
	printf("%d handlers\n", handled);
	return 0;
}
