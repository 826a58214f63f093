/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fork: the child has a profile of its own that begins at the fork, so
 * before() is only in the parent's, in_child() only in the child's, shared()
 * three times in the one and four times in the other.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"

static volatile int x;

ALONE void before(void)
{
	x++;
}

ALONE void shared(void)
{
	x++;
}

ALONE void in_child(void)
{
	for (int i = 0; i < 4; i++)
		shared();
}

ALONE void in_parent(void)
{
	for (int i = 0; i < 3; i++)
		shared();
}

int main(void)
{
	int status = 0;
	pid_t child;

	before();
	child = fork();
	if (child == 0) {
		in_child();
		_exit(x);
	}
	waitpid(child, &status, 0);
	in_parent();
	printf("%d %d\n", x, WEXITSTATUS(status));
	return 0;
}
