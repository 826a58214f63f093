/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The second twin() of twins.c. */
#include "guest.h"

int other(int times);

ALONE static int twin(int x)
{
	return x * 2 + 5;
}

int other(int times)
{
	int s = 0;

	while (times--)
		s = twin(s);
	return s;
}
