/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One text made of many pieces. join_slowly() appends with strcat(), which looks
 * for the end of the text anew each time: n^2 in the pieces that it reads, since
 * the text is its own. join() remembers where the end is: linear.
 */
#include "growth.h"

#define MOST 8192

static char pieces[MOST][8];
static char text[8 * MOST + 1];

ALONE void join_slowly(char *out, char (*piece)[8], size_t count)
{
	*out = 0;
	for (size_t i = 0; i < count; i++)
		strcat(out, piece[i]);
}

ALONE void join(char *out, char (*piece)[8], size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (const char *from = piece[i]; *from; from++)
			*out++ = *from;
	*out = 0;
}

ALONE void fill(char (*piece)[8], size_t count, struct dice *dice)
{
	for (size_t i = 0; i < count; i++) {
		memset(piece[i], 'a' + (int)(roll(dice) % 26), 7);
		piece[i][7] = 0;
	}
}

int main(void)
{
	struct dice dice = { 6 };
	size_t length = 0;

	EACH_SIZE(n, 8, MOST) {
		fill(pieces, n, &dice);
		join_slowly(text, pieces, n);
		length += strlen(text);
		join(text, pieces, n);
		length += strlen(text);
	}
	printf("%zu\n", length);
	return 0;
}
