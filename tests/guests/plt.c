/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Calls that take a detour: through the procedure linkage table into a shared
 * object, and through an ifunc. The target is called once per call, by the
 * function that wrote the call; the stub is not a function. strlen is an ifunc
 * of libc: measure() calls exactly one thing, seven times. A function that calls
 * itself through the table is called each time, be it by a call or by a jump.
 */
#include <string.h>

#include "guest.h"

int outside(int x);
int chosen(int x);
int climb(int x);
int slide(int x, int s);

ALONE int chosen_plain(int x)
{
	return x + 2;
}

static int (*choose(void))(int)
{
	return chosen_plain;
}

int chosen(int x) __attribute__((ifunc("choose")));

ALONE size_t measure(const char *text, int times)
{
	size_t s = 0;

	while (times--) {
		BARRIER();
		s += strlen(text);
	}
	return s;
}

ALONE int across(int times)
{
	int s = 0;

	while (times--)
		s += outside(times);
	return s;
}

ALONE int indirect(int times)
{
	int s = 0;

	while (times--)
		s += chosen(times);
	return s;
}

int main(int argc, char **argv)
{
	(void)argv;
	printf("%d\n", across(6 + argc));
	printf("%d\n", indirect(6 + argc));
	printf("%zu\n", measure("seven letters", 6 + argc));
	printf("%d %d\n", climb(20), slide(30, 0));
	return 0;
}
