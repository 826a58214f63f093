/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A program that clears memory by one repeated instruction and makes system calls: each signal comes through, and none stops it. */
#include "torture.h"

#include <sys/syscall.h>

static char area[4096];
static volatile int handled;

static void on_alarm(int number, siginfo_t *info, void *context)
{
	(void)number, (void)info, (void)context;
	handled++;
}

int main(int argc, char **argv)
{
	uint64_t seed = torture_seed(argc, argv);

	torture_handle(SIGALRM, on_alarm, 0);
	for (int i = 0; i < 50; i++) {
		torture_alarm(1 + (unsigned)(torture_random(&seed) % 500));
		while (handled == i) {
			char *to = area;
			size_t count = sizeof area;

			__asm__ volatile("rep stosb" : "+D"(to), "+c"(count) : "a"(i) : "memory");
			EXPECT(count == 0 && area[0] == i && area[sizeof area - 1] == i);
			syscall(SYS_getpid);
		}
	}
	printf("%d signals\n", handled);
	return 0;
}
