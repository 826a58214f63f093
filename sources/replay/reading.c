/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sources/replay/reading.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REGION_LOG2 20           /* each variable has a megabyte */
#define BLANKS " \t\r"

bool slope_read_fail(struct slope_reading *s, const char *format, ...)
{
	int n = snprintf(s->error, s->error_bytes, "%s:%u: ", s->name, s->line);
	va_list list;

	va_start(list, format);
	if (n >= 0 && (size_t)n < s->error_bytes)
		vsnprintf(s->error + n, s->error_bytes - (size_t)n, format, list);
	va_end(list);
	return false;
}

static const char *word_at(const struct slope_reading *s, int i)
{
	return i < s->words ? s->word[i] : "the end of the line";
}

bool slope_read_next(struct slope_reading *s)
{
	if (!*s->next)
		return false;
	size_t bytes = strcspn(s->next, "\n");
	const char *line = s->next;

	s->next += bytes + (s->next[bytes] == '\n');
	s->line++;
	s->words = 0;
	bytes = strcspn(line, "#\n") < bytes ? strcspn(line, "#\n") : bytes;
	if (bytes >= sizeof s->buffer)
		return slope_read_fail(s, "the line is longer than %zu characters", sizeof s->buffer - 1);
	memcpy(s->buffer, line, bytes);
	s->buffer[bytes] = '\0';
	for (char *at = s->buffer, *word; (word = strtok_r(at, BLANKS, &at));) {
		if (s->words == SLOPE_READ_WORDS)
			return slope_read_fail(s, "a line has at most %d words", SLOPE_READ_WORDS);
		s->word[s->words++] = word;
	}
	return true;
}

static bool is_name(const char *p, size_t bytes)
{
	if (!bytes || bytes >= SLOPE_READ_NAME_BYTES || !(isalpha((unsigned char)*p) || *p == '_'))
		return false;
	for (size_t i = 1; i < bytes; i++)
		if (!isalnum((unsigned char)p[i]) && p[i] != '_')
			return false;
	return true;
}

static size_t name_bytes(const char *p)
{
	size_t n = 0;

	while (isalnum((unsigned char)p[n]) || p[n] == '_')
		n++;
	return n;
}

static bool parse_term(struct slope_reading *s, const char **at, uint64_t *value)
{
	const char *p = *at;
	char *end;

	if (*p == '$') {
		size_t n = name_bytes(++p);

		*at = p + n;
		for (int i = s->loops; i-- > 0;)
			if (strlen(s->loop[i].variable) == n && !memcmp(s->loop[i].variable, p, n)) {
				*value = s->loop[i].value;
				return true;
			}
		return slope_read_fail(s, "$%.*s is not the variable of a loop around this line", (int)n, p);
	}
	*value = strtoull(p, &end, 0);
	if (!isdigit((unsigned char)*p) || end == p)
		return slope_read_fail(s, "expected a number, found '%s'", p);
	*at = end;
	return true;
}

static bool parse_product(struct slope_reading *s, const char **at, uint64_t *value)
{
	uint64_t factor;

	if (!parse_term(s, at, value))
		return false;
	while (**at == '*') {
		++*at;
		if (!parse_term(s, at, &factor))
			return false;
		*value *= factor;
	}
	return true;
}

bool slope_read_sum(struct slope_reading *s, const char **at, uint64_t *value)
{
	uint64_t summand;

	if (!parse_product(s, at, value))
		return false;
	while (**at == '+' || **at == '-') {
		bool minus = *(*at)++ == '-';

		if (!parse_product(s, at, &summand))
			return false;
		if (minus && summand > *value)
			return slope_read_fail(s, "the difference is below zero");
		*value += minus ? -summand : summand;
	}
	return true;
}

bool slope_read_number(struct slope_reading *s, int i, uint64_t *value)
{
	const char *at = word_at(s, i);

	if (!slope_read_sum(s, &at, value))
		return false;
	return *at ? slope_read_fail(s, "expected a number, found '%s'", word_at(s, i)) : true;
}

/* Where a variable lives; it gets its place on first use. */
static bool place_of(struct slope_reading *s, const char *name, size_t bytes, uint64_t *address)
{
	size_t i = 0;

	while (i < s->variables && (strlen(s->variable[i]) != bytes || memcmp(s->variable[i], name, bytes)))
		i++;
	if (i == s->variables) {
		void *more = realloc(s->variable, (i + 1) * sizeof *s->variable);

		if (!more)
			return slope_read_fail(s, "there is no memory for another variable");
		s->variable = more;
		memcpy(s->variable[i], name, bytes);
		s->variable[i][bytes] = '\0';
		s->variables++;
	}
	*address = (uint64_t)(i + 1) << REGION_LOG2;
	return true;
}

/* [INDEX] or [FIRST..LAST] after a name. */
static bool parse_index(struct slope_reading *s, const char **at, uint64_t range[2])
{
	uint64_t first, last;

	++*at;
	if (!slope_read_sum(s, at, &first))
		return false;
	last = first;
	if (!strncmp(*at, "..", 2)) {
		*at += 2;
		if (!slope_read_sum(s, at, &last))
			return false;
		if (last < first)
			return slope_read_fail(s, "the range of cells ends before it begins");
		range[1] = (last - first + 1) * s->cell_bytes;
	}
	if (*(*at)++ != ']')
		return slope_read_fail(s, "expected ']' after an index");
	range[0] += first * s->cell_bytes;
	return true;
}

/* ADDRESS at word i; an index range also says how many bytes. */
static bool parse_place(struct slope_reading *s, int i, uint64_t range[2])
{
	const char *at = word_at(s, i);
	size_t n = name_bytes(at);
	uint64_t offset;

	range[1] = 1;
	if (i >= s->words)
		return slope_read_fail(s, "expected an address after '%s'", s->word[i - 1]);
	if (is_name(at, n)) {
		if (!place_of(s, at, n, &range[0]))
			return false;
		at += n;
		if (*at == '[' && !parse_index(s, &at, range))
			return false;
		if (*at == '+') {
			at++;
			if (!slope_read_sum(s, &at, &offset))
				return false;
			range[0] += offset;
		}
	} else if (!slope_read_sum(s, &at, &range[0])) {
		return false;
	}
	if (*at)
		return slope_read_fail(s, "expected an address, found '%s'", s->word[i]);
	return true;
}

bool slope_read_range(struct slope_reading *s, int i, uint64_t range[2])
{
	return parse_place(s, i, range) && (i + 1 >= s->words || slope_read_number(s, i + 1, &range[1]));
}

bool slope_read_address(struct slope_reading *s, int i, uint64_t *address)
{
	uint64_t range[2];

	if (!parse_place(s, i, range))
		return false;
	*address = range[0];
	return true;
}

bool slope_read_expect(struct slope_reading *s, int least, int most)
{
	if (s->words < least)
		return slope_read_fail(s, "'%s' needs more after it", s->word[s->words - 1]);
	if (s->words > most && most < SLOPE_READ_WORDS)
		return slope_read_fail(s, "'%s' is one word too many", s->word[most]);
	return true;
}

bool slope_read_for(struct slope_reading *s)
{
	struct slope_read_loop *l = &s->loop[s->loops];
	uint64_t first, last;

	if (!slope_read_expect(s, 4, 4) || !slope_read_number(s, 2, &first) || !slope_read_number(s, 3, &last))
		return false;
	if (!is_name(s->word[1], strlen(s->word[1])))
		return slope_read_fail(s, "expected a name for the loop's variable, found '%s'", s->word[1]);
	if (s->loops == SLOPE_READ_LOOPS)
		return slope_read_fail(s, "loops nest at most %d deep", SLOPE_READ_LOOPS);
	if (first > last)
		return slope_read_fail(s, "the loop ends before it begins");
	strcpy(l->variable, s->word[1]);
	l->value = first;
	l->last = last;
	l->body = s->next;
	l->body_line = s->line;
	s->loops++;
	return true;
}

bool slope_read_again(struct slope_reading *s)
{
	if (!s->loops)
		return slope_read_fail(s, "'next' without a 'for' before it");
	struct slope_read_loop *l = &s->loop[s->loops - 1];

	if (l->value == l->last) {
		s->loops--;
		return true;
	}
	l->value++;
	s->next = l->body;
	s->line = l->body_line;
	return true;
}

void slope_reading_fini(struct slope_reading *s)
{
	free(s->variable);
}
