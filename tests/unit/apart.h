/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of counters that need a process to themselves. */
#ifndef SLOPE_TESTS_APART_H
#define SLOPE_TESTS_APART_H

#include <sys/wait.h>
#include <unistd.h>

#include "sources/translator/counters.h"

/* Runs `act` in a process of its own; its exit status. */
static inline int apart(int (*act)(struct counters_thread *t), struct counters_thread *t)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(act(t));
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 200 + WTERMSIG(status);
}

#endif
