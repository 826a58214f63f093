/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Aligned tables for terminals. Cells are filled row by row; a table that is
 * too wide for the terminal narrows the columns that allow it.
 */
#ifndef SLOPE_REPORT_TABLE_H
#define SLOPE_REPORT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum slope_table_style {
	SLOPE_STYLE_PLAIN,
	SLOPE_STYLE_DIM,
	SLOPE_STYLE_BOLD,
	SLOPE_STYLE_WARM,            /* worth a look */
	SLOPE_STYLE_HOT              /* look here first */
};

struct slope_table_column {
	const char *title;
	bool right;                  /* numbers stand at the right edge */
	unsigned least;              /* may shrink to so many columns; 0: never shrinks. The widest gives first */
};

struct slope_table_cell {
	char *text;
	enum slope_table_style style;
};

/* A line of its own before a row. */
struct slope_table_heading {
	size_t at;                   /* the cell before which it stands */
	char *text;
};

struct slope_table {
	const struct slope_table_column *column;
	size_t columns;
	struct slope_table_cell *cell;
	size_t count, capacity;      /* of cells */
	struct slope_table_heading *heading;
	size_t headings;
	bool failed;                 /* memory ran out: the table is not whole */
};

/* The columns must outlive the table. */
void slope_table_init(struct slope_table *t, const struct slope_table_column *column, size_t columns);
void slope_table_fini(struct slope_table *t);

/* The next cell of the row, or the first of the next row. */
__attribute__((format(printf, 3, 4)))
void slope_table_add(struct slope_table *t, enum slope_table_style style, const char *format, ...);

/* A heading before the next row, in bold. */
__attribute__((format(printf, 2, 3)))
void slope_table_head(struct slope_table *t, const char *format, ...);

/*
 * Prints titles and rows. With `width` 0, for files and pipes, nothing is cut:
 * a very long cell moves the rest of its line to the right instead. False when
 * memory ran out, now or in slope_table_add.
 */
bool slope_table_print(const struct slope_table *t, unsigned width, bool color, FILE *out);

/* What switches a style on and off again; "" without colour. */
const char *slope_style_on(enum slope_table_style style, bool color);
const char *slope_style_off(enum slope_table_style style, bool color);

/* At most five columns: 999, 1.23k, 12.3M, 123G. `text` holds 8 bytes at least. Rounded, for people only. */
const char *slope_table_number(uint64_t number, char *text);

/* The same for what need not be whole: 0.05, 2.5, 12.3, 1.23k; "-" for NaN. Returns `text`. */
#define SLOPE_TABLE_REAL 16u
const char *slope_table_real(double value, char text[SLOPE_TABLE_REAL]);

#endif
