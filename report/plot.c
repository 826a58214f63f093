/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/clip.h"

#define DOTS_X 2u                /* braille dots of a character */
#define DOTS_Y 4u
#define LABEL_COLUMNS 6
#define LABEL_GAP 2u             /* columns between two numbers at the x axis */
#define BAR_STEPS 8u             /* heights of a block character */
#define NOBODY 0xFFu

struct cell {
	uint8_t dots;                /* braille, as in U+2800 + dots */
	uint8_t line;                /* series that drew a dot last; NOBODY */
	uint8_t mark;                /* series whose mark stands here; NOBODY */
};

struct canvas {
	const struct slope_plot *plot;
	struct cell *cell;
};

static struct cell *cell_at(const struct canvas *c, long column, long row)
{
	if (column < 0 || row < 0 || column >= (long)c->plot->columns || row >= (long)c->plot->rows)
		return NULL;
	return &c->cell[(size_t)row * c->plot->columns + (size_t)column];
}

/* Positions in steps of a cell's part, from the upper left; the ends of an axis lie in the first and the last. */
static double spot(const struct slope_axis *axis, double value, unsigned steps, bool upward)
{
	double place = slope_axis_place(axis, value);

	return (upward ? 1 - place : place) * (steps - 1);
}

static void put_dot(struct canvas *c, long x, long y, uint8_t series)
{
	static const uint8_t bit[DOTS_Y][DOTS_X] = { { 0x01, 0x08 }, { 0x02, 0x10 }, { 0x04, 0x20 }, { 0x40, 0x80 } };
	struct cell *cell = x < 0 || y < 0 ? NULL : cell_at(c, x / (long)DOTS_X, y / (long)DOTS_Y);

	if (!cell)
		return;
	cell->dots |= bit[(size_t)y % DOTS_Y][(size_t)x % DOTS_X];
	cell->line = series;
}

static bool drawn(enum slope_plot_kind kind, unsigned long step)
{
	return kind == SLOPE_PLOT_LINE || (kind == SLOPE_PLOT_DASHES ? step % 6 < 3 : step % 4 == 0);
}

static void draw_line(struct canvas *c, uint8_t number)
{
	const struct slope_plot_series *s = &c->plot->series[number];
	unsigned wide = c->plot->columns * DOTS_X, high = c->plot->rows * DOTS_Y;
	unsigned long step = 0;

	for (size_t i = 0; i + 1 < s->count; i++) {
		double x = spot(&c->plot->x, s->x[i], wide, false), y = spot(&c->plot->y, s->y[i], high, true);
		double dx = spot(&c->plot->x, s->x[i + 1], wide, false) - x;
		double dy = spot(&c->plot->y, s->y[i + 1], high, true) - y;
		double length = fmax(fabs(dx), fabs(dy));

		if (!isfinite(length) || length > 1e6)
			continue;
		for (double at = 0; at < length; at++, step++)
			if (drawn(s->kind, step))
				put_dot(c, lround(x + dx * at / length), lround(y + dy * at / length), number);
	}
}

static void draw_marks(struct canvas *c, uint8_t number)
{
	const struct slope_plot_series *s = &c->plot->series[number];

	for (size_t i = 0; i < s->count; i++) {
		double x = spot(&c->plot->x, s->x[i], c->plot->columns, false);
		double y = spot(&c->plot->y, s->y[i], c->plot->rows, true);
		bool near = isfinite(x + y) && fabs(x) + fabs(y) < 1e6;
		struct cell *cell = near ? cell_at(c, lround(x), lround(y)) : NULL;

		if (cell)
			cell->mark = number;
	}
}

static void draw(struct canvas *c)
{
	for (size_t i = 0; i < (size_t)c->plot->columns * c->plot->rows; i++)
		c->cell[i] = (struct cell){ .line = NOBODY, .mark = NOBODY };
	for (size_t i = 0; i < c->plot->count; i++)
		if (c->plot->series[i].kind != SLOPE_PLOT_MARKS)
			draw_line(c, (uint8_t)i);
	for (size_t i = 0; i < c->plot->count; i++)
		if (c->plot->series[i].kind == SLOPE_PLOT_MARKS)
			draw_marks(c, (uint8_t)i);
}

/* Any character of the basic plane as UTF-8. */
static void put_utf8(unsigned code, FILE *out)
{
	fputc((int)(0xE0 | code >> 12), out);
	fputc((int)(0x80 | (code >> 6 & 0x3F)), out);
	fputc((int)(0x80 | (code & 0x3F)), out);
}

static void put_cell(const struct slope_plot *p, const struct cell *cell, FILE *out)
{
	uint8_t who = cell->mark != NOBODY ? cell->mark : cell->line;

	if (who == NOBODY) {
		fputc(' ', out);
		return;
	}
	const struct slope_plot_series *s = &p->series[who];

	fputs(slope_style_on(s->style, p->color), out);
	if (p->ascii)
		fputc(s->ascii, out);
	else if (cell->mark != NOBODY)
		fputs(s->mark, out);
	else
		put_utf8(0x2800u + cell->dots, out);
	fputs(slope_style_off(s->style, p->color), out);
}

/* Blanks at the end of a line are of no use. */
static unsigned used_columns(const struct cell *cell, unsigned columns)
{
	while (columns && cell[columns - 1].mark == NOBODY && cell[columns - 1].line == NOBODY)
		columns--;
	return columns;
}

static void put_row(const struct canvas *c, unsigned row, const char *label, FILE *out)
{
	const struct slope_plot *p = c->plot;
	const struct cell *cells = c->cell + (size_t)row * p->columns;
	unsigned used = used_columns(cells, p->columns);

	fprintf(out, "%*s %s", LABEL_COLUMNS, label, p->ascii ? (*label ? "+" : "|") : *label ? "┤" : "│");
	for (unsigned i = 0; i < used; i++)
		put_cell(p, &cells[i], out);
	fputc('\n', out);
}

static void put_legend(const struct slope_plot *p, FILE *out)
{
	size_t used = strlen(p->y_title);

	fprintf(out, "%s", p->y_title);
	for (size_t i = 0; i < p->count; i++) {
		const struct slope_plot_series *s = &p->series[i];
		char ascii[] = { s->ascii, '\0' };
		const char *mark = p->ascii ? ascii : s->mark;
		size_t more = 3 + slope_clip_columns(mark) + strlen(s->name);

		if (used + more > p->columns + SLOPE_PLOT_MARGIN) {
			fprintf(out, "\n%*s", (int)SLOPE_PLOT_MARGIN - 2, "");
			used = SLOPE_PLOT_MARGIN - 2;
		}
		fprintf(out, "  %s%s%s %s", slope_style_on(s->style, p->color), mark,
			slope_style_off(s->style, p->color), s->name);
		used += more;
	}
	fputc('\n', out);
}

/* The axis itself; `at` are the columns of its ticks. */
static void put_rule(const struct slope_plot *p, const long *at, size_t ticks, FILE *out)
{
	size_t next = 0;

	fprintf(out, "%*s %s", LABEL_COLUMNS, "", p->ascii ? "+" : "└");
	for (long i = 0; i < (long)p->columns; i++) {
		while (next < ticks && at[next] < i)
			next++;
		bool tick = next < ticks && at[next] == i;

		fputs(p->ascii ? (tick ? "+" : "-") : tick ? "┬" : "─", out);
	}
	fputc('\n', out);
}

static void put_x_axis(const struct slope_plot *p, FILE *out)
{
	double tick[SLOPE_AXIS_TICKS];
	long at[SLOPE_AXIS_TICKS], used = -(long)LABEL_GAP;
	size_t ticks = slope_axis_ticks(&p->x, p->columns / 9, tick);
	char text[SLOPE_AXIS_LABEL];
	long end = (long)p->columns - (long)strlen(p->x_title) - (long)LABEL_GAP;

	for (size_t i = 0; i < ticks; i++)
		at[i] = lround(spot(&p->x, tick[i], p->columns, false));
	put_rule(p, at, ticks, out);
	if (p->bare)
		return;
	fprintf(out, "%*s", (int)SLOPE_PLOT_MARGIN, "");
	long column = 0;

	for (size_t i = 0; i < ticks; i++) {
		long length = (long)strlen(slope_axis_label(tick[i], text)), begin = at[i] - (length - 1) / 2;

		begin = begin < 0 ? 0 : begin;
		if (begin < used + (long)LABEL_GAP || begin + length > end)
			continue;
		fprintf(out, "%*s%s", (int)(begin - column), "", text);
		column = used = begin + length;
	}
	fprintf(out, "%*s\n", (int)(p->columns - (unsigned)column), p->x_title);
}

bool slope_plot_print(const struct slope_plot *plot, FILE *out)
{
	struct canvas c = { .plot = plot, .cell = malloc((size_t)plot->columns * plot->rows * sizeof(*c.cell)) };
	double tick[SLOPE_AXIS_TICKS];
	size_t ticks = slope_axis_ticks(&plot->y, plot->rows / 3, tick);

	if (!c.cell)
		return false;
	draw(&c);
	put_legend(plot, out);
	for (unsigned row = 0; row < plot->rows; row++) {
		char label[SLOPE_AXIS_LABEL] = "";

		for (size_t i = 0; i < ticks && !*label; i++)
			if (lround(spot(&plot->y, tick[i], plot->rows, true)) == (long)row)
				slope_axis_label(tick[i], label);
		put_row(&c, row, label, out);
	}
	put_x_axis(plot, out);
	free(c.cell);
	return true;
}

/* ---- bars ---- */

static void put_bar(const struct slope_plot *p, double height, unsigned row, FILE *out)
{
	double here = height - (double)(p->rows - 1 - row);     /* in rows; what this row has of it */
	unsigned steps = here >= 1 ? BAR_STEPS : here <= 0 ? 0 : (unsigned)ceil(here * BAR_STEPS);

	if (!steps)
		fputc(' ', out);
	else if (p->ascii)
		fputc(steps > BAR_STEPS / 2 ? '#' : '.', out);
	else
		put_utf8(0x2580u + steps, out);
}

bool slope_plot_bars(const struct slope_plot *plot, const double *value, FILE *out)
{
	double most = 0, least = INFINITY, *height = malloc(plot->columns * sizeof(*height));
	char label[SLOPE_AXIS_LABEL];

	if (!height)
		return false;
	for (unsigned i = 0; i < plot->columns; i++) {
		most = fmax(most, value[i]);
		least = value[i] > 0 ? fmin(least, value[i]) : least;
	}
	bool log = most > 0 && slope_axis_of(least, least, most, SLOPE_AXES_AUTO, true).log;

	for (unsigned i = 0; i < plot->columns; i++)
		height[i] = value[i] <= 0 ? 0 : plot->rows * (log ? log1p(value[i]) / log1p(most) : value[i] / most);
	fprintf(out, "%s%s\n", plot->y_title, log ? " (log)" : "");
	for (unsigned row = 0; row < plot->rows; row++) {
		unsigned used = plot->columns;
		bool top = row == 0;

		while (used && height[used - 1] <= (double)(plot->rows - 1 - row))
			used--;
		fprintf(out, "%*s %s", LABEL_COLUMNS, top ? slope_axis_label(most, label) : "",
			plot->ascii ? (top ? "+" : "|") : top ? "┤" : "│");
		for (unsigned i = 0; i < used; i++)
			put_bar(plot, height[i], row, out);
		fputc('\n', out);
	}
	put_x_axis(plot, out);
	free(height);
	return true;
}
