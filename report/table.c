/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "report/clip.h"
#include "report/table.h"

#define GAP_NARROW 1u
#define GAP_WIDE 2u
#define RAGGED_COLUMNS 40u       /* without a width, columns that may shrink are aligned up to here */

const char *slope_style_on(enum slope_table_style style, bool color)
{
	static const char *const codes[] = {
		[SLOPE_STYLE_PLAIN] = "", [SLOPE_STYLE_DIM] = "\033[2m", [SLOPE_STYLE_BOLD] = "\033[1m",
		[SLOPE_STYLE_WARM] = "\033[33m", [SLOPE_STYLE_HOT] = "\033[1;31m",
	};

	return color ? codes[style] : "";
}

const char *slope_style_off(enum slope_table_style style, bool color)
{
	return color && style != SLOPE_STYLE_PLAIN ? "\033[0m" : "";
}

const char *slope_table_number(uint64_t number, char *text)
{
	static const char units[] = " kMGTPE";
	double value = (double)number;
	unsigned unit = 0;

	while (value >= 999.5 && unit < sizeof(units) - 2) {
		value /= 1000;
		unit++;
	}
	if (!unit)
		snprintf(text, 8, "%" PRIu64, number);
	else
		snprintf(text, 8, "%.*f%c", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value, units[unit]);
	return text;
}

const char *slope_table_real(double value, char text[SLOPE_TABLE_REAL])
{
	if (isnan(value))
		snprintf(text, SLOPE_TABLE_REAL, "-");
	else if (value >= 100 && value < 0x1p64)
		slope_table_number((uint64_t)round(value), text);
	else
		snprintf(text, SLOPE_TABLE_REAL, "%.3g", value);
	return text;
}

void slope_table_init(struct slope_table *t, const struct slope_table_column *column, size_t columns)
{
	*t = (struct slope_table){ .column = column, .columns = columns };
}

void slope_table_fini(struct slope_table *t)
{
	for (size_t i = 0; i < t->count; i++)
		free(t->cell[i].text);
	free(t->cell);
	for (size_t i = 0; i < t->headings; i++)
		free(t->heading[i].text);
	free(t->heading);
	*t = (struct slope_table){ 0 };
}

static bool make_room(struct slope_table *t)
{
	if (t->count < t->capacity)
		return true;
	size_t more = t->capacity ? t->capacity * 2 : 64;
	void *bigger = realloc(t->cell, more * sizeof(*t->cell));

	if (!bigger)
		return false;
	t->cell = bigger;
	t->capacity = more;
	return true;
}

void slope_table_add(struct slope_table *t, enum slope_table_style style, const char *format, ...)
{
	va_list args;
	char *text;

	if (t->failed || !make_room(t)) {
		t->failed = true;
		return;
	}
	va_start(args, format);
	int bytes = vasprintf(&text, format, args);
	va_end(args);
	if (bytes < 0)
		t->failed = true;
	else
		t->cell[t->count++] = (struct slope_table_cell){ text, style };
}

void slope_table_head(struct slope_table *t, const char *format, ...)
{
	struct slope_table_heading *bigger = realloc(t->heading, (t->headings + 1) * sizeof(*bigger));
	va_list args;
	char *text;

	if (!bigger) {
		t->failed = true;
		return;
	}
	t->heading = bigger;
	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		t->failed = true;
	else
		t->heading[t->headings++] = (struct slope_table_heading){ t->count, text };
	va_end(args);
}

static void measure(const struct slope_table *t, size_t *wide)
{
	for (size_t c = 0; c < t->columns; c++)
		wide[c] = strlen(t->column[c].title);
	for (size_t i = 0; i < t->count; i++) {
		size_t columns = slope_clip_columns(t->cell[i].text);

		if (columns > wide[i % t->columns])
			wide[i % t->columns] = columns;
	}
}

static size_t total_width(const struct slope_table *t, const size_t *wide, size_t gap)
{
	size_t sum = gap * (t->columns - 1);

	for (size_t c = 0; c < t->columns; c++)
		sum += wide[c];
	return sum;
}

/* The widest column that may still shrink, or `columns` if none may. */
static size_t widest(const struct slope_table *t, const size_t *wide)
{
	size_t found = t->columns;

	for (size_t c = 0; c < t->columns; c++)
		if (t->column[c].least && wide[c] > t->column[c].least && (found == t->columns || wide[c] >= wide[found]))
			found = c;
	return found;
}

static size_t narrowest_total(const struct slope_table *t, const size_t *wide, size_t gap)
{
	size_t sum = total_width(t, wide, gap);

	for (size_t c = 0; c < t->columns; c++)
		if (t->column[c].least && wide[c] > t->column[c].least)
			sum -= wide[c] - t->column[c].least;
	return sum;
}

/* Names are cut where their syntax allows it: what that leaves over is given back. */
static bool tighten(const struct slope_table *t, size_t *wide, size_t c)
{
	size_t most = strlen(t->column[c].title);

	for (size_t i = c; i < t->count; i += t->columns) {
		char *text = slope_clip_name(t->cell[i].text, wide[c]);

		if (!text)
			return false;
		size_t columns = slope_clip_columns(text);

		most = columns > most ? columns : most;
		free(text);
	}
	wide[c] = most < wide[c] ? most : wide[c];
	return true;
}

/* Makes the columns fit where that is possible, with the gap between them. False when memory runs out. */
static bool fit(const struct slope_table *t, size_t *wide, unsigned width, size_t *gap)
{
	bool ok = true;

	for (size_t c = 0; !width && c < t->columns; c++)
		if (t->column[c].least && wide[c] > RAGGED_COLUMNS)
			wide[c] = RAGGED_COLUMNS;
	*gap = width && narrowest_total(t, wide, GAP_WIDE) > width ? GAP_NARROW : GAP_WIDE;
	while (width && total_width(t, wide, *gap) > width && widest(t, wide) < t->columns)
		wide[widest(t, wide)]--;
	for (size_t c = 0; width && c < t->columns; c++)
		if (t->column[c].least)
			ok &= tighten(t, wide, c);
	return ok;
}

/* `most` is where a cell is cut, `wide` is how far it is filled up with blanks. */
static bool print_cell(const struct slope_table *t, size_t c, const struct slope_table_cell *cell, size_t most, size_t wide,
		       bool color, FILE *out)
{
	char *text = slope_clip_name(cell->text, most);

	if (!text)
		return false;
	size_t columns = slope_clip_columns(text), pad = wide > columns ? wide - columns : 0;
	size_t before = t->column[c].right ? pad : 0, after = c + 1 < t->columns ? pad - before : 0;

	fprintf(out, "%*s%s%s%s%*s", (int)before, "", slope_style_on(cell->style, color), text,
		slope_style_off(cell->style, color), (int)after, "");
	free(text);
	return true;
}

static bool print_row(const struct slope_table *t, const struct slope_table_cell *cells, const size_t *wide, size_t gap,
		      bool cut, bool color, FILE *out)
{
	bool ok = true;

	for (size_t c = 0; c < t->columns; c++) {
		fprintf(out, "%*s", c ? (int)gap : 0, "");
		ok &= print_cell(t, c, &cells[c], cut ? wide[c] : SIZE_MAX, wide[c], color, out);
	}
	fputc('\n', out);
	return ok;
}

static size_t print_headings(const struct slope_table *t, size_t next, size_t at, bool color, FILE *out)
{
	for (; next < t->headings && t->heading[next].at <= at; next++)
		fprintf(out, "%s%s%s\n", slope_style_on(SLOPE_STYLE_BOLD, color), t->heading[next].text,
			slope_style_off(SLOPE_STYLE_BOLD, color));
	return next;
}

bool slope_table_print(const struct slope_table *t, unsigned width, bool color, FILE *out)
{
	size_t *wide = calloc(t->columns, sizeof(*wide));
	struct slope_table_cell *titles = calloc(t->columns, sizeof(*titles));
	bool ok = wide && titles && !t->failed;

	if (wide && titles) {
		measure(t, wide);
		size_t gap;

		ok &= fit(t, wide, width, &gap);
		for (size_t c = 0; c < t->columns; c++)
			titles[c] = (struct slope_table_cell){ (char *)t->column[c].title, SLOPE_STYLE_BOLD };
		ok &= print_row(t, titles, wide, gap, width, color, out);
		size_t heading = 0;

		for (size_t i = 0; i + t->columns <= t->count; i += t->columns) {
			heading = print_headings(t, heading, i, color, out);
			ok &= print_row(t, t->cell + i, wide, gap, width, color, out);
		}
	}
	free(wide);
	free(titles);
	return ok;
}
