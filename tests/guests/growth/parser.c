/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A recursive parser for nested lists of numbers and words, after JSON. It looks at
 * each byte a bounded number of times: parse_value() and parse_list() are linear,
 * at whatever depth they run; so is parse().
 */
#include "growth.h"

#define MOST 40000

static char text[2 * MOST];

struct parser {
	const char *at;
	long values, sum;
};

ALONE void skip_blanks(struct parser *p)
{
	while (*p->at == ' ')
		p->at++;
}

ALONE void parse_number(struct parser *p)
{
	long number = 0;

	while (*p->at >= '0' && *p->at <= '9')
		number = 10 * number + (*p->at++ - '0');
	p->sum += number;
}

ALONE void parse_word(struct parser *p)
{
	p->at++;
	while (*p->at && *p->at != '"')
		p->at++;
	if (*p->at)
		p->at++;
}

void parse_value(struct parser *p);

ALONE void parse_list(struct parser *p)
{
	p->at++;
	skip_blanks(p);
	while (*p->at && *p->at != ']') {
		parse_value(p);
		skip_blanks(p);
		if (*p->at == ',') {
			p->at++;
			skip_blanks(p);
		}
	}
	if (*p->at)
		p->at++;
}

ALONE void parse_value(struct parser *p)
{
	p->values++;
	if (*p->at == '[')
		parse_list(p);
	else if (*p->at == '"')
		parse_word(p);
	else
		parse_number(p);
}

ALONE long parse(const char *from)
{
	struct parser p = { .at = from };

	skip_blanks(&p);
	parse_value(&p);
	return p.values + p.sum;
}

/* A value of about `size` bytes. */
static char *write_value(char *out, size_t size, struct dice *dice)
{
	if (size < 12) {
		if (roll(dice) % 2)
			return out + sprintf(out, "%u", roll(dice) % 100000);
		return out + sprintf(out, "\"%.*s\"", (int)(roll(dice) % 8), "abcdefgh");
	}

	size_t parts = 2 + roll(dice) % 6;

	*out++ = '[';
	for (size_t i = 0; i < parts; i++) {
		if (i)
			out += sprintf(out, ", ");
		out = write_value(out, (size - 2) / parts, dice);
	}
	*out++ = ']';
	*out = 0;
	return out;
}

int main(void)
{
	struct dice dice = { 16 };
	long sum = 0;

	EACH_SIZE(n, 32, MOST) {
		write_value(text, n, &dice);
		sum += parse(text);
	}
	printf("%ld\n", sum);
	return 0;
}
