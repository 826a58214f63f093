/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tail calls: first() jumps to second(), which jumps to third(). Each is an
 * activation, each jump a call from the one that jumps; third()'s return ends
 * all three, so last() is called by main() again. even() and odd() jump to each
 * other a million times: 500 001 and 500 000 calls, in bounded memory.
 */
#include "guest.h"

ALONE int third(int *v)
{
	return v[0] + v[1] + v[2];
}

ALONE int second(int *v)
{
	v[2] = v[1];
	return third(v);
}

ALONE int first(int *v)
{
	v[1] = v[0];
	return second(v);
}

ALONE int last(int x)
{
	return x + 1;
}

int odd(unsigned n);

ALONE int even(unsigned n)
{
	return n == 0 ? 1 : odd(n - 1);
}

ALONE int odd(unsigned n)
{
	return n == 0 ? 0 : even(n - 1);
}

int main(void)
{
	int v[3] = {1, 2, 3}, s = 0;

	for (int i = 0; i < 10; i++)
		s += last(first(v));
	printf("%d %d\n", s, even(1000000));
	s = last(s);
	printf("%d\n", s);
	return 0;
}
