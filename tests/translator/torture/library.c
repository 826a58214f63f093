/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A library of loading.c, built several times with another VALUE. */
#ifndef VALUE
#define VALUE 0
#endif

static int called;
__thread int own = VALUE;

#if VALUE % 2
/* Another size, so that functions lie elsewhere. */
int padding(int n)
{
	for (int i = 0; i < 10; i++)
		n = n * 31 + i;
	return n;
}
#endif

int value(void)
{
	return VALUE * 100 + called++ + own++;
}
