/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Comb sort with gaps that shrink by 1.3: about log(n) / log(1.3) passes of n
 * steps, and one or two more at the end: n log n for random input. One pass,
 * comb(), is linear.
 */
#include "growth.h"

#define MOST 8192

static int numbers[MOST];

/* One pass: true when something was exchanged. */
ALONE int comb(int *v, size_t n, size_t gap)
{
	int exchanged = 0;

	for (size_t i = 0; i + gap < n; i++)
		if (v[i] > v[i + gap]) {
			int kept = v[i];

			v[i] = v[i + gap];
			v[i + gap] = kept;
			exchanged = 1;
		}
	return exchanged;
}

ALONE void comb_sort(int *v, size_t n)
{
	size_t gap = n;
	int exchanged = 1;

	while (gap > 1 || exchanged) {
		gap = gap * 10 / 13;
		if (!gap)
			gap = 1;
		exchanged = comb(v, n, gap);
	}
}

ALONE void fill(int *v, size_t n, struct dice *dice)
{
	for (size_t i = 0; i < n; i++)
		v[i] = (int)roll(dice);
}

int main(void)
{
	struct dice dice = { 3 };
	long sum = 0;

	EACH_SIZE(n, 8, MOST) {
		fill(numbers, n, &dice);
		comb_sort(numbers, n);
		sum += numbers[0] <= numbers[n / 2] && numbers[n / 2] <= numbers[n - 1];
	}
	printf("%ld\n", sum);
	return 0;
}
