/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Forks in the middle of a recursion, of which both processes return; vfork, spawn, system. */
#define _GNU_SOURCE
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

static int is_child;

static void expect_42(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 42)
		abort();
}

APART static long split_at(int n, int depth)
{
	long sum = fib(8);

	if (n == 0) {
		pid_t pid = fork();

		if (pid < 0)
			abort();
		is_child = pid == 0;
		if (pid)
			expect_42(pid);
		return sum + fib(16);
	}
	return split_at(n - 1, depth + 1) + sum;
}

APART static int run_true(char *const *argv)
{
	pid_t pid = vfork();
	int status = -1;

	if (pid == 0) {
		execv("/bin/true", argv);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	return status;
}

int main(void)
{
	char *argv[] = { "true", NULL };
	long sum = 0;
	int bad = 0;

	for (int i = 0; i < 60; i++) {
		sum += split_at(i % 25, 0);
		if (is_child)
			_exit(42);
	}
	for (int i = 0; i < 30; i++) {
		pid_t pid;
		int status;

		sum += fib(14);
		bad += run_true(argv) != 0;
		bad += posix_spawn(&pid, "/bin/true", NULL, NULL, argv, environ) != 0;
		waitpid(pid, &status, 0);
		bad += status != 0;
	}
	bad += system("true") != 0;
	printf("%ld %d\n", sum, bad);
	return 0;
}
