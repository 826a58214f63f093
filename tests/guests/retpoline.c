/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Built with -mindirect-branch=thunk: indirect calls go through a return that
 * is used as a jump. target() is called ten times all the same, and what comes
 * afterwards is called by main().
 */
#include "guest.h"

ALONE int target(int x)
{
	return x + 1;
}

ALONE int afterwards(int x)
{
	return x * 3 % 1000;
}

static int (*volatile pointer)(int) = target;

int main(void)
{
	int s = 0;

	for (int i = 0; i < 10; i++)
		s = afterwards(pointer(s));
	printf("%d\n", s);
	return 0;
}
