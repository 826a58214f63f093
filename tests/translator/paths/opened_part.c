/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The library of opened.c. */
#ifndef OTHER
#define OTHER 1
#endif

static volatile int sink;

int opened_part(int n)
{
	int s = 0;

	for (int i = 0; i < n; i++) {
		if (i % (OTHER + 1))
			sink = i;
		s += i * OTHER;
	}
	return s & 4 ? s : s + 1;
}
