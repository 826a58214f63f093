/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/clip.h"
#include "report/json.h"

void slope_json_init(struct slope_json *j, FILE *out)
{
	*j = (struct slope_json){ .out = out };
}

static void put_text(FILE *out, const char *text)
{
	unsigned bytes;

	fputc('"', out);
	for (; *text; text += bytes) {
		uint32_t c = slope_utf8_next(text, &bytes);

		if (c == 0xFFFD)
			fputs("\\ufffd", out);
		else if (c == '"' || c == '\\')
			fprintf(out, "\\%c", (char)c);
		else if (c == '\n')
			fputs("\\n", out);
		else if (c == '\t')
			fputs("\\t", out);
		else if (c < 0x20 || c == 0x7F)
			fprintf(out, "\\u%04x", (unsigned)c);
		else
			fwrite(text, 1, bytes, out);
	}
	fputc('"', out);
}

static void put_break(struct slope_json *j)
{
	if (j->tight[j->depth - 1])
		return;
	fputc('\n', j->out);
	for (unsigned i = 0; i < j->depth; i++)
		fputc(' ', j->out);
}

/* What stands before any value: comma, line, key. */
static void before_value(struct slope_json *j, const char *key)
{
	if (j->depth) {
		if (j->filled[j->depth - 1])
			fputs(j->tight[j->depth - 1] ? ", " : ",", j->out);
		j->filled[j->depth - 1] = true;
		put_break(j);
	}
	if (key) {
		put_text(j->out, key);
		fputs(": ", j->out);
	}
}

static void open_level(struct slope_json *j, const char *key, bool tight, char opening, char closing)
{
	assert(j->depth < SLOPE_JSON_DEPTH);
	before_value(j, key);
	fputc(opening, j->out);
	j->filled[j->depth] = false;
	j->tight[j->depth] = tight || (j->depth && j->tight[j->depth - 1]);
	j->closing[j->depth++] = closing;
}

void slope_json_object(struct slope_json *j, const char *key, bool tight)
{
	open_level(j, key, tight, '{', '}');
}

void slope_json_array(struct slope_json *j, const char *key, bool tight)
{
	open_level(j, key, tight, '[', ']');
}

void slope_json_end(struct slope_json *j)
{
	assert(j->depth);
	j->depth--;
	if (j->filled[j->depth] && !j->tight[j->depth]) {
		fputc('\n', j->out);
		for (unsigned i = 0; i < j->depth; i++)
			fputc(' ', j->out);
	}
	fputc(j->closing[j->depth], j->out);
	if (!j->depth)
		fputc('\n', j->out);
}

void slope_json_string(struct slope_json *j, const char *key, const char *text)
{
	before_value(j, key);
	if (text)
		put_text(j->out, text);
	else
		fputs("null", j->out);
}

void slope_json_uint(struct slope_json *j, const char *key, uint64_t number)
{
	before_value(j, key);
	fprintf(j->out, "%" PRIu64, number);
}

void slope_json_int(struct slope_json *j, const char *key, int64_t number)
{
	before_value(j, key);
	fprintf(j->out, "%" PRId64, number);
}

void slope_json_uint128(struct slope_json *j, const char *key, uint64_t high, uint64_t low)
{
	char text[40];

	before_value(j, key);
	fputs(slope_decimal128(high, low, text), j->out);
}

static void put_real(struct slope_json *j, const char *key, double number, int digits)
{
	char text[40];

	before_value(j, key);
	snprintf(text, sizeof(text), "%.*g", digits, number);
	/* printf writes the locale's point, JSON has its own. */
	char *point = strpbrk(text, ",");

	if (point)
		*point = '.';
	fputs(isfinite(number) ? text : "null", j->out);
}

void slope_json_real(struct slope_json *j, const char *key, double number)
{
	put_real(j, key, number, 6);
}

/* 15 digits are always good, 17 always enough. */
void slope_json_double(struct slope_json *j, const char *key, double number)
{
	char text[40];
	int digits = DBL_DIG;

	for (; digits < DBL_DECIMAL_DIG; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, number);
		if (strtod(text, NULL) == number)
			break;
	}
	put_real(j, key, number, digits);
}

void slope_json_bool(struct slope_json *j, const char *key, bool value)
{
	before_value(j, key);
	fputs(value ? "true" : "false", j->out);
}

void slope_json_null(struct slope_json *j, const char *key)
{
	slope_json_string(j, key, NULL);
}

const char *slope_decimal128(uint64_t high, uint64_t low, char *text)
{
	unsigned __int128 number = (unsigned __int128)high << 64 | low;
	char digits[40], *d = digits + sizeof(digits);

	*--d = 0;
	do {
		*--d = (char)('0' + (int)(number % 10));
		number /= 10;
	} while (number);
	memcpy(text, d, (size_t)(digits + sizeof(digits) - d));
	return text;
}
