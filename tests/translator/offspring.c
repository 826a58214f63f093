/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Children by fork, vfork and posix_spawn, and an exec that fails. */
#define _GNU_SOURCE
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int ended(pid_t pid)
{
	int status = -1;

	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

int main(void)
{
	char *const words[] = { "echo", "from a child", NULL };
	pid_t pid = fork();

	setvbuf(stdout, NULL, _IONBF, 0);
	if (!pid)
		_exit(5);
	printf("fork %d\n", ended(pid));
	pid = vfork();
	if (!pid) {
		execv("/bin/echo", words);
		_exit(6);
	}
	printf("vfork %d\n", ended(pid));
	pid = vfork();
	if (!pid) {
		execv("/nowhere", words);
		_exit(7);
	}
	printf("failed exec %d\n", ended(pid));
	posix_spawn(&pid, "/bin/echo", NULL, NULL, words, environ);
	printf("spawn %d\n", ended(pid));
	return 0;
}
