/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ends in the middle of everything: exit deep down, in a loop, in a handler of atexit; abort; or becomes another program. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEEP __attribute__((noinline, noclone))

static volatile int sink;
static char **arguments;

KEEP static void finish(void)
{
	if (!strcmp(arguments[1], "exec")) {
		arguments[1] = "exit";
		execv(arguments[0], arguments);
	}
	if (!strcmp(arguments[1], "abort"))
		abort();
	if (!strcmp(arguments[1], "quick"))
		_exit(4);
	exit(3);
}

KEEP static int down(int n)
{
	int s = 0;

	for (int i = 0; i < 4; i++) {
		sink = i;
		if (i & 1)
			s += 3;
		if (n == 0 && i == 2)
			finish();
		if (i == n % 3 && n > 0)
			s += down(n - 1);
	}
	return s * 2;
}

static void at_end(void)
{
	for (int i = 0; i < 5; i++)
		if (i == 3)
			_exit(sink + 5);
}

int main(int argc, char **argv)
{
	(void)argc;
	arguments = argv;
	atexit(at_end);
	printf("begins\n");
	fflush(stdout);
	return down(7);
}
