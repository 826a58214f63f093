/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * backtracking [stars]: two ways in which matching goes back too often.
 * Without a word, k optional letters and then k letters against a text of k letters,
 * matched letter by letter: accepts() tries every choice, 2^k. The pattern is
 * an array of ints, 2k of them, and the text k.
 * With `stars`, the pattern *a*b against a text of a's: glob_matches() tries every
 * place for the first star and from each walks to the end: n^2.
 */
#include "growth.h"

#define MOST 15
#define LONGEST 2048

#define OPTIONAL 0x100

static int pattern[2 * MOST + 1], letters[MOST + 1];
static char text[LONGEST + 1];

ALONE int match(const int *p, const int *s)
{
	if (!*p)
		return !*s;
	if (*p & OPTIONAL)
		return match(p + 1, s) || (*s == (*p & 0xFF) && match(p + 1, s + 1));
	return *s == *p && match(p + 1, s + 1);
}

ALONE int accepts(const int *p, const int *s)
{
	return match(p, s);
}

ALONE int glob(const char *p, const char *s)
{
	for (; *p != '*'; p++, s++)
		if (!*p || *p != *s)
			return *p == *s;
	do {
		if (glob(p + 1, s))
			return 1;
	} while (*s++);
	return 0;
}

ALONE int glob_matches(const char *p, const char *s)
{
	return glob(p, s);
}

ALONE long count_letters(const char *s)
{
	long count = 0;

	while (*s)
		count += *s++ == 'a';
	return count;
}

static int match_all(void)
{
	int matched = 0;

	for (size_t k = 1; k <= MOST; k++) {
		for (size_t i = 0; i < k; i++) {
			pattern[i] = OPTIONAL | 'a';
			pattern[k + i] = letters[i] = 'a';
		}
		letters[k - 1] = 'b';        /* nothing matches, so nothing ends early */
		pattern[2 * k] = letters[k] = 0;
		matched += accepts(pattern, letters);
	}
	return matched;
}

int main(int argc, char **argv)
{
	long sum = 0;

	if (argc < 2 || strcmp(argv[1], "stars")) {
		sum = match_all();
	} else {
		EACH_SIZE(n, 16, LONGEST) {
			memset(text, 'a', n);
			text[n] = 0;
			sum += glob_matches("*a*b", text) + count_letters(text);
		}
	}
	printf("%ld\n", sum);
	return 0;
}
