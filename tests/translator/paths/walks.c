/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Straight lines, diamonds, loops in loops, loops with two ways in: every way through them several times. */
#include <stdio.h>

#define KEEP __attribute__((noinline, noclone))

static volatile int sink;

KEEP static int straight(int a)
{
	sink = a;
	return a * 3 + 1;
}

KEEP static int diamond(int a)
{
	if (a & 1)
		sink = 1;
	else
		sink = 2;
	return sink;
}

KEEP static int diamonds(int a)
{
	if (a & 1)
		sink = 1;
	if (a & 2)
		sink = 2;
	else
		sink = 3;
	if (a & 4 || (a & 8 && sink))
		sink = 4;
	return sink + a;
}

KEEP static int loops(int n)
{
	int s = 0;

	for (int i = 0; i < n; i++) {
		for (int j = i; j < n; j++) {
			if ((i ^ j) & 1)
				continue;
			sink = j;
			if (s > 5000)
				break;
			s += j;
		}
		do
			s++;
		while (s % 3);
	}
	return s;
}

/* Two ways into one loop: neither is its head. */
KEEP static int two_ways_in(int n, int where)
{
	int s = 0;

	if (where & 1)
		goto second;
first:
	sink = s++;
	if (s == where)
		return s;
second:
	sink = s + n;
	if (n-- > 0)
		goto first;
	return s;
}

/* Three places, each of which can go to each. */
KEEP static int triangle(unsigned seed)
{
	int s = 0;

	if (seed % 3 == 1)
		goto b;
	if (seed % 3 == 2)
		goto c;
a:
	sink = 1;
	seed = seed * 1103515245 + 12345;
	if (s++ > 40)
		return s;
	if (seed & 0x10000)
		goto c;
b:
	sink = 2;
	seed = seed * 1103515245 + 12345;
	if (s++ > 50)
		return s;
	if (seed & 0x10000)
		goto a;
c:
	sink = 3;
	seed = seed * 1103515245 + 12345;
	if (s++ > 60)
		return s;
	if (seed & 0x10000)
		goto b;
	goto a;
}

/* Calls in the middle of paths, in loops and conditions. */
KEEP static int calls(int n)
{
	int s = 0;

	for (int i = 0; i < n; i++)
		if (diamond(i) == 1 && straight(i) > 10)
			s += diamonds(i);
		else if (i % 5 == 0)
			s -= loops(i % 7);
	return s;
}

int main(void)
{
	int s = 0;

	for (int i = 0; i < 64; i++)
		s += straight(i) + diamond(i) + diamonds(i);
	for (int i = 0; i < 12; i++)
		s += loops(i) + two_ways_in(i, i % 5) + triangle((unsigned)i);
	printf("%d\n", s + calls(60));
	return 0;
}
