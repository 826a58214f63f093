/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Becomes itself again and again, by every function that does that, also from a thread while others run and block signals. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "work.h"

static char self[4096];

static void *busy(void *arg)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	for (;;)
		fib(10);
	return arg;
}

static void *become(void *step)
{
	char number[16], *argv[] = { self, number, NULL };
	int n = *(int *)step;

	snprintf(number, sizeof number, "%d", n + 1);
	switch (n % 6) {
	case 0: execv(self, argv); break;
	case 1: execve(self, argv, environ); break;
	case 2: execl(self, self, number, (char *)NULL); break;
	case 3: execle(self, self, number, (char *)NULL, environ); break;
	case 4: fexecve(open(self, O_RDONLY | O_CLOEXEC), argv, environ); break;
	case 5: execvp(self, argv); break;
	}
	abort();
}

int main(int argc, char **argv)
{
	int step = argc > 1 ? atoi(argv[1]) : 0;
	pthread_t thread[2];

	snprintf(self, sizeof self, "%s", argv[0]);
	printf("%d %ld\n", step, fib(18));
	fflush(stdout);
	if (step == 12)
		return 7;
	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, busy, NULL);
	if (step % 2)
		pthread_create(&thread[0], NULL, become, &step);
	else
		become(&step);
	pause();
	return 1;
}
