/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where handlers run and what is blocked in them: an alternate stack, also one that is disarmed while it is used, handlers
 * that interrupt themselves (SA_NODEFER) and each other, masks in the context and in the kernel, SA_RESETHAND.
 */
#include "torture.h"

#include <errno.h>
#include <sys/mman.h>
#include <ucontext.h>

#define ALTERNATE_BYTES (256 << 10)
#define DEPTH 6
#define DISARMING (1u << 31)     /* SS_AUTODISARM */

static char *alternate;
static uint64_t seed;
static volatile int depth, deepest, caught, other;

static int on_alternate(const void *p)
{
	return (const char *)p >= alternate && (const char *)p < alternate + ALTERNATE_BYTES;
}

static int blocked(int number)
{
	sigset_t now;

	EXPECT(sigprocmask(SIG_SETMASK, NULL, &now) == 0);
	return sigismember(&now, number);
}

static void on_self(int number, siginfo_t *info, void *context)
{
	const ucontext_t *uc = context;
	stack_t now;
	char here;

	EXPECT(info->si_signo == number && info->si_pid == getpid());
	EXPECT(on_alternate(&here));
	EXPECT(sigaltstack(NULL, &now) == 0 && now.ss_flags == SS_ONSTACK && now.ss_sp == alternate);
	EXPECT(uc->uc_stack.ss_sp == alternate && uc->uc_stack.ss_size == ALTERNATE_BYTES);
	EXPECT(!blocked(SIGUSR1) && blocked(SIGUSR2));
	EXPECT(sigismember(&uc->uc_sigmask, SIGUSR2) == (depth > 0));
	EXPECT(on_alternate((void *)uc->uc_mcontext.gregs[REG_RSP]) == (depth > 0));
	depth++;
	if (depth > deepest)
		deepest = depth;
	if (depth < DEPTH)
		raise(SIGUSR1);
	depth--;
	caught++;
}

static void on_other(int number, siginfo_t *info, void *context)
{
	char here;

	(void)number, (void)info, (void)context;
	EXPECT(!on_alternate(&here));
	EXPECT(blocked(SIGUSR2));
	other++;
	if (other % 3)
		raise(SIGUSR2);          /* waits until this handler has ended */
	EXPECT(blocked(SIGUSR2));
}

static void on_once(int number, siginfo_t *info, void *context)
{
	struct sigaction now;

	(void)info, (void)context;
	EXPECT(sigaction(number, NULL, &now) == 0 && now.sa_handler == SIG_DFL);
	other = -1;
}

/* Its stack is free for others while it runs, and again its own afterwards. */
static void on_disarming(int number, siginfo_t *info, void *context)
{
	const ucontext_t *uc = context;
	stack_t now, mine = { .ss_sp = alternate, .ss_size = ALTERNATE_BYTES / 2 };
	char here;

	(void)info;
	EXPECT(on_alternate(&here));
	EXPECT(sigaltstack(NULL, &now) == 0 && now.ss_flags == SS_DISABLE && !now.ss_size);
	EXPECT(uc->uc_stack.ss_sp == alternate || depth);
	EXPECT(sigaltstack(&mine, NULL) == 0);
	mine.ss_flags = SS_DISABLE;
	EXPECT(sigaltstack(&mine, NULL) == 0);
	if (depth++ < DEPTH)
		raise(number);
	depth--;
	caught++;
}

static void disarm(void)
{
	stack_t own = { .ss_sp = alternate, .ss_size = ALTERNATE_BYTES, .ss_flags = (int)DISARMING }, now;

	torture_handle(SIGUSR1, on_disarming, SA_ONSTACK | SA_NODEFER);
	EXPECT(sigaltstack(&own, NULL) == 0);
	for (int i = 0; i < 10; i++) {
		raise(SIGUSR1);
		EXPECT(sigaltstack(NULL, &now) == 0 && now.ss_sp == alternate && now.ss_flags == (int)DISARMING);
	}
	own.ss_flags = 64;
	EXPECT(sigaltstack(&own, NULL) == -1 && errno == EINVAL);
}

/* A timer comes at random while all of this goes on; it must not run while it is blocked. */
static void on_alarm(int number, siginfo_t *info, void *context)
{
	const ucontext_t *uc = context;

	(void)info;
	EXPECT(blocked(number) && !sigismember(&uc->uc_sigmask, number));
	torture_alarm(1 + (unsigned)(torture_random(&seed) % 500));
}

int main(int argc, char **argv)
{
	stack_t own = { .ss_size = ALTERNATE_BYTES };
	struct sigaction a = { .sa_sigaction = on_self, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER };
	struct sigaction was;

	seed = torture_seed(argc, argv);
	own.ss_sp = alternate = mmap(NULL, ALTERNATE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	EXPECT(sigaltstack(&own, NULL) == 0);
	sigaddset(&a.sa_mask, SIGUSR2);
	EXPECT(sigaction(SIGUSR1, &a, NULL) == 0);
	EXPECT(sigaction(SIGUSR1, NULL, &was) == 0 && was.sa_sigaction == on_self && sigismember(&was.sa_mask, SIGUSR2));
	torture_handle(SIGUSR2, on_other, 0);
	torture_handle(SIGALRM, on_alarm, SA_RESTART);
	torture_alarm(100);
	for (int i = 0; i < 40; i++) {
		int before = other, want = 3 - (before % 3);

		raise(SIGUSR1);
		raise(SIGUSR2);
		EXPECT(other == before + want && depth == 0 && deepest == DEPTH);
	}
	disarm();
	torture_alarm(0);
	torture_handle(SIGUSR2, on_once, SA_RESETHAND);
	raise(SIGUSR2);
	EXPECT(other == -1);
	own.ss_flags = SS_DISABLE;
	EXPECT(sigaltstack(&own, NULL) == 0);
	printf("caught %d, deepest %d\n", caught, deepest);
	fflush(stdout);
	raise(SIGUSR2);                  /* the default again: the end */
	return 0;
}
