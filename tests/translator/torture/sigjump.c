/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Handlers that never return: siglongjmp at random times out of loops, calls and system calls, with and without the mask. */
#include "torture.h"

#include <setjmp.h>
#include <time.h>

#define WANTED 150

static sigjmp_buf back;
static volatile sig_atomic_t jumps;
static uint64_t seed;

static void on_alarm(int number)
{
	sigset_t none;

	jumps++;
	if (jumps % 2) {
		/* By hand what sigsetjmp(.., 0) leaves alone. */
		sigemptyset(&none);
		sigaddset(&none, number);
		sigprocmask(SIG_UNBLOCK, &none, NULL);
	}
	siglongjmp(back, jumps);
}

static __attribute__((noinline)) uint64_t climb(unsigned n)
{
	volatile uint64_t here = n;

	return n ? climb(n - 1) + here : 0;
}

static void work(int kind)
{
	static char from[40000], to[40000];
	struct timespec nap = { 0, 2000000 };

	for (;;) {
		switch (kind % 4) {
		case 0:
			EXPECT(climb(300) == 300 * 301 / 2);
			break;
		case 1:
			memcpy(to, from, sizeof to);
			break;
		case 2:
			nanosleep(&nap, NULL);
			break;
		default:
			getppid();
			break;
		}
	}
}

int main(int argc, char **argv)
{
	sigset_t now;
	volatile double held = 0.1;

	seed = torture_seed(argc, argv);
	signal(SIGALRM, on_alarm);
	for (volatile int i = 0; i < WANTED; i++) {
		int how = sigsetjmp(back, i % 2);

		if (!how) {
			torture_alarm(1 + (unsigned)(torture_random(&seed) % 3000));
			work(i);
		}
		EXPECT(how == i + 1);
		sigprocmask(SIG_SETMASK, NULL, &now);
		EXPECT(!sigismember(&now, SIGALRM));
		held = held * 1.5 + i;
		held = held > 1e9 ? 0.1 : held;
	}
	printf("%d jumps %.6f\n", (int)jumps, held);
	return 0;
}
