/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ends in the way that its argument says, from within a recursion. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "work.h"

static char **arguments;

static void end(const char *how)
{
	if (!strcmp(how, "exit"))
		exit(3);
	if (!strcmp(how, "_exit"))
		_exit(4);
	if (!strcmp(how, "quick"))
		quick_exit(5);
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "term"))
		raise(SIGTERM);
	if (!strcmp(how, "fault"))
		*(volatile char *)8 = 1;
	if (!strcmp(how, "kill-self"))
		kill(getpid(), SIGINT);
	if (!strcmp(how, "exec")) {
		arguments[1] = "exit";
		execv("/proc/self/exe", arguments);
	}
	if (!strcmp(how, "bare")) {
		char *nothing[] = { NULL };

		arguments[1] = "exit";
		execve("/proc/self/exe", arguments, nothing);
	}
	if (!strcmp(how, "no-exec")) {
		execv("/nowhere/at/all", arguments);
		exit(6);
	}
	if (!strcmp(how, "thread"))
		pthread_exit(NULL);
}

APART static long down(int n, const char *how)
{
	long sum = fib(12);

	if (n == 0)
		end(how);
	else
		sum += down(n - 1, how);
	return sum + 1;
}

int main(int argc, char **argv)
{
	arguments = argv;
	fib(28);
	return down(20, argc > 1 ? argv[1] : "") & 1;
}
