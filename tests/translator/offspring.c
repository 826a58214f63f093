/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Children by fork, vfork and posix_spawn, and an exec that fails. */
#define _GNU_SOURCE
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int ended(pid_t pid)
{
	int status = -1;

	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static void *rest(void *nothing)
{
	for (;;)
		pause();
	return nothing;
}

/* Descriptors that a child closes, or has in mind for itself, are no reason for its parent to go on before it has run another program. */
static void spawn_closing(int numbers)
{
	char *const words[] = { "nowhere", NULL };
	posix_spawn_file_actions_t actions;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	if (numbers)
		for (int number = 3; number < 1200; number++)
			posix_spawn_file_actions_adddup2(&actions, 2, number);
	posix_spawn_file_actions_addclosefrom_np(&actions, 3);
	for (int number = 3; number < 1200 && !numbers; number++)
		posix_spawn_file_actions_addclose(&actions, number);
	printf("spawn of what is not there: %s\n", strerror(posix_spawn(&pid, "/nowhere", &actions, NULL, words, environ)));
	posix_spawn_file_actions_destroy(&actions);
}

static void with_threads(void)
{
	pthread_t thread;
	int done[2];
	pid_t pid;
	char byte;

	pthread_create(&thread, NULL, rest, NULL);
	spawn_closing(0);
	spawn_closing(1);
	if (pipe(done))
		return;
	pid = vfork();
	if (!pid) {
		if (!fork()) {
			close(done[1]);
			_exit(read(done[0], &byte, 1) == 1);
		}
		_exit(8);
	}
	/* It has ended, and the one that it has left behind waits for us. */
	printf("vfork with a child of its own %d\n", ended(pid));
	if (write(done[1], "", 1) != 1)
		return;
	pthread_cancel(thread);
	pthread_join(thread, NULL);
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
	with_threads();
	return 0;
}
