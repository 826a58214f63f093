/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Children that end at random times, collected in a SIGCHLD handler; a timer runs in parent and children alike. */
#include "torture.h"

#include <errno.h>
#include <sys/wait.h>

#define CHILDREN 40

static uint64_t seed;
static volatile sig_atomic_t collected, sum, ticks;

static void on_child(int number, siginfo_t *info, void *context)
{
	int status, keep = errno;
	pid_t pid;

	(void)number, (void)info, (void)context;
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		EXPECT(WIFEXITED(status) || WTERMSIG(status) == SIGTERM);
		sum += WIFEXITED(status) ? WEXITSTATUS(status) : 100;
		collected++;
	}
	errno = keep;
}

static void on_alarm(int number, siginfo_t *info, void *context)
{
	(void)number, (void)info, (void)context;
	ticks++;
	torture_alarm(1 + (unsigned)(torture_random(&seed) % 900));
}

static void child(int i)
{
	int want = 1 + i % 3;

	seed += (uint64_t)i;
	ticks = 0;
	torture_alarm(100);              /* timers are not inherited */
	while (ticks < want)
		;
	if (i % 5 == 0) {
		torture_alarm(0);
		raise(SIGTERM);
	}
	_exit(i);
}

int main(int argc, char **argv)
{
	seed = torture_seed(argc, argv);
	torture_handle(SIGCHLD, on_child, SA_RESTART | SA_NOCLDSTOP);
	torture_handle(SIGALRM, on_alarm, SA_RESTART);
	torture_alarm(200);
	for (int i = 0; i < CHILDREN; i++) {
		pid_t pid = fork();

		EXPECT(pid >= 0);
		if (!pid)
			child(i);
		if (i % 4 == 0)
			while (collected < i / 2)
				;
	}
	while (collected < CHILDREN)
		pause();
	torture_alarm(0);
	printf("%d children, sum %d\n", (int)collected, (int)sum);
	return 0;
}
