/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A small compiler's front end: tokens of a program text, and a table of symbols
 * kept as a list. Each lookup() is linear in the symbols it passes, which no
 * profile of one run shows as wrong; compile() as a whole is n^2, since longer
 * texts have more symbols. next_token() is linear in the token.
 */
#include "growth.h"

#define MOST 1000                /* statements */
#define LONGEST 32               /* of a statement, in bytes */

struct token {
	const char *start;
	size_t length;
};

struct symbol {
	struct symbol *next;
	struct token name;
	long value;
};

static char text[MOST * LONGEST];

static int is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

ALONE const char *next_token(const char *at, struct token *token)
{
	while (*at == ' ' || *at == '\n')
		at++;
	token->start = at;
	if (is_letter(*at))
		while (is_letter(*at))
			at++;
	else if (*at)
		at++;
	token->length = (size_t)(at - token->start);
	return at;
}

ALONE struct symbol *lookup(struct symbol *first, const struct token *name)
{
	for (struct symbol *s = first; s; s = s->next)
		if (s->name.length == name->length && !memcmp(s->name.start, name->start, name->length))
			return s;
	return NULL;
}

ALONE struct symbol *declare(struct symbol *first, const struct token *name)
{
	struct symbol *s = malloc(sizeof(*s));

	*s = (struct symbol){ .next = first, .name = *name };
	return s;
}

ALONE void forget(struct symbol *first)
{
	for (struct symbol *next; first; first = next) {
		next = first->next;
		free(first);
	}
}

/* How many symbols the text has. */
ALONE long compile(const char *at)
{
	struct symbol *symbols = NULL;
	struct token token;
	long count = 0;

	while (at = next_token(at, &token), token.length) {
		if (!is_letter(*token.start))
			continue;
		if (!lookup(symbols, &token)) {
			symbols = declare(symbols, &token);
			count++;
		}
	}
	forget(symbols);
	return count;
}

/* Statements `name = name + name;` about one new name in each. */
ALONE void write_program(char *out, size_t statements, struct dice *dice)
{
	for (size_t i = 0; i < statements; i++)
		out += sprintf(out, "v%04zu = v%04zu + v%04zu;\n", i, (size_t)roll(dice) % (i + 1),
			       (size_t)roll(dice) % (i + 1));
}

int main(void)
{
	struct dice dice = { 15 };
	long count = 0;

	EACH_SIZE(n, 4, MOST) {
		write_program(text, n, &dice);
		count += compile(text);
	}
	printf("%ld\n", count);
	return 0;
}
