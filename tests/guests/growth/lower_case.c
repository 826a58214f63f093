/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Lower-casing with strlen() in the condition of the loop: n^2, although one
 * strlen() is linear and fast. lower_once() takes the length once: linear.
 */
#include "growth.h"

#define MOST 16384

static char text[MOST + 1];

static char lower_of(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c;
}

ALONE void lower_slowly(char *s)
{
	for (size_t i = 0; i < strlen(s); i++)
		s[i] = lower_of(s[i]);
}

ALONE void lower_once(char *s)
{
	size_t length = strlen(s);

	for (size_t i = 0; i < length; i++)
		s[i] = lower_of(s[i]);
}

ALONE void fill(char *s, size_t n, struct dice *dice)
{
	for (size_t i = 0; i < n; i++)
		s[i] = (char)((roll(dice) % 2 ? 'A' : 'a') + (int)(roll(dice) % 26));
	s[n] = 0;
}

int main(void)
{
	struct dice dice = { 7 };
	unsigned sum = 0;

	EACH_SIZE(n, 32, MOST) {
		fill(text, n, &dice);
		lower_once(text);
		sum += (unsigned char)text[n / 2];
		fill(text, n, &dice);
		lower_slowly(text);
		sum += (unsigned char)text[n / 2];
	}
	printf("%u\n", sum);
	return 0;
}
