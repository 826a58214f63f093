/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * C++ exceptions through three frames, caught and thrown again half way up.
 * Calls after the catch come from the function that caught; destructors run
 * once per frame left.
 */
#include "guest.h"

static volatile int trace;

struct Guard {
	int id;
	ALONE ~Guard() { trace += id; }
};

ALONE void after_inner() { trace += 1; }
ALONE void after_outer() { trace += 2; }

ALONE void thrower(int i)
{
	Guard g{100};
	if (i >= 0)
		throw i;
}

ALONE void carrier(int i)
{
	Guard g{1000};
	thrower(i);
	trace -= 1;
}

ALONE void rethrower(int i)
{
	try {
		carrier(i);
	} catch (int) {
		after_inner();
		throw;
	}
	trace -= 1;
}

ALONE void passer(int i)
{
	Guard g{10000};
	rethrower(i);
	trace -= 1;
}

ALONE void catcher(int i)
{
	try {
		passer(i);
	} catch (int k) {
		trace += k;
		after_outer();
	}
}

int main()
{
	for (int i = 0; i < 8; i++)
		catcher(i);
	printf("%d\n", trace);
	return 0;
}
