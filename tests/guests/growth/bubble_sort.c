/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bubble_sort [reversed]: stops after a pass without an exchange. In input where
 * nothing is more than three places too far to the right it needs at most five
 * passes: linear. In reversed input it needs n: n^2.
 */
#include "growth.h"

#define MOST 16384

static int numbers[MOST];

ALONE int bubble(int *v, size_t n)
{
	int exchanged = 0;

	for (size_t i = 1; i < n; i++)
		if (v[i - 1] > v[i]) {
			int kept = v[i];

			v[i] = v[i - 1];
			v[i - 1] = kept;
			exchanged = 1;
		}
	return exchanged;
}

ALONE void bubble_sort(int *v, size_t n)
{
	while (bubble(v, n))
		;
}

ALONE void fill(int *v, size_t n, int reversed, struct dice *dice)
{
	for (size_t i = 0; i < n; i++)
		v[i] = reversed ? (int)(n - i) : (int)(i + roll(dice) % 4);
}

int main(int argc, char **argv)
{
	int reversed = argc > 1 && !strcmp(argv[1], "reversed");
	struct dice dice = { 4 };
	long sum = 0;

	EACH_SIZE(n, 8, reversed ? 1536 : MOST) {
		fill(numbers, n, reversed, &dice);
		bubble_sort(numbers, n);
		sum += numbers[0] <= numbers[n / 2] && numbers[n / 2] <= numbers[n - 1];
	}
	printf("%ld\n", sum);
	return 0;
}
