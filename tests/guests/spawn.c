/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * New programs: by vfork and exec, by posix_spawn, and by exec in place of
 * this one ("again"). Each program image has its own profile; count() in the
 * profile of each says how often that image called it: 1 for each of the two
 * children, 5 before the last exec, 2 after it.
 */
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"

extern char **environ;
static volatile int x;

ALONE void count(void)
{
	x++;
}

static int wait_for(pid_t child)
{
	int status = 0;

	waitpid(child, &status, 0);
	return WEXITSTATUS(status);
}

static int by_vfork(char *self)
{
	pid_t child = vfork();

	if (child == 0) {
		execl(self, self, "child", (char *)NULL);
		_exit(99);
	}
	return wait_for(child);
}

static int by_spawn(char *self)
{
	char *argv[] = { self, "child", NULL };
	pid_t child;

	if (posix_spawn(&child, self, NULL, NULL, argv, environ))
		return 99;
	return wait_for(child);
}

static void count_times(int n)
{
	while (n--)
		count();
}

int main(int argc, char **argv)
{
	(void)argc;
	if (argv[1] && strcmp(argv[1], "child") == 0) {
		count();
		return 7;
	}
	if (argv[1] && strcmp(argv[1], "again") == 0) {
		count_times(2);
		printf("again\n");
		return 3;
	}
	count_times(5);
	printf("%d %d\n", by_vfork(argv[0]), by_spawn(argv[0]));
	fflush(stdout);
	execl(argv[0], argv[0], "again", (char *)NULL);
	return 98;
}
