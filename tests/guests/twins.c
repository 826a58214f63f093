/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two static functions of one name, here and in twins_other.c, stay two: one
 * with 3 calls, one with 4.
 */
#include "guest.h"

int other(int times);

ALONE static int twin(int x)
{
	return x + 1;
}

int main(void)
{
	int s = 0;

	for (int i = 0; i < 3; i++)
		s = twin(s);
	printf("%d\n", s + other(4));
	return 0;
}
