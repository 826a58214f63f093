/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One function, linear from one caller and quadratic from another: its points by context are two curves. */
#include "tests/guests/guest.h"

#define SIZES 20

static int cells[4 * SIZES];
static volatile int sink;

/* Reads n cells, once or n times. */
static ALONE void work(const int *v, int n, int times)
{
	int sum = 0;

	for (int t = 0; t < times; t++) {
		for (int i = 0; i < n; i++)
			sum += v[i];
		BARRIER();
	}
	sink = sum;
}

static ALONE void linear(int n)
{
	work(cells, n, 1);
	BARRIER();
}

static ALONE void quadratic(int n)
{
	work(cells, n, n);
	BARRIER();
}

int main(void)
{
	for (int n = 1; n <= SIZES; n++) {
		linear(2 * n);
		quadratic(2 * n);
		quadratic(2 * n);
	}
	return 0;
}
