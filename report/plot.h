/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Plots for terminals: several series over one x axis, and bars under it. Marks
 * stand in whole characters, lines in braille dots (characters of ASCII where
 * asked for), so that series differ by shape and not by colour alone.
 */
#ifndef SLOPE_REPORT_PLOT_H
#define SLOPE_REPORT_PLOT_H

#include <stdio.h>

#include "report/axis.h"
#include "report/table.h"

#define SLOPE_PLOT_MARGIN 8u     /* columns left of the plot itself: numbers and the axis */

enum slope_plot_kind {
	SLOPE_PLOT_MARKS,            /* one mark each */
	SLOPE_PLOT_LINE,             /* joined */
	SLOPE_PLOT_DASHES,
	SLOPE_PLOT_DOTS
};

struct slope_plot_series {
	const char *name;            /* in the legend */
	enum slope_plot_kind kind;
	const char *mark;            /* of one column; for lines, what the legend shows */
	char ascii;                  /* instead of mark and braille */
	enum slope_table_style style;
	const double *x, *y;         /* sorted by x where they are joined */
	size_t count;
};

struct slope_plot {
	const char *x_title, *y_title;
	struct slope_axis x, y;
	unsigned columns, rows;      /* of the plot itself, without margin and axis */
	bool ascii, color;
	bool bare;                   /* no numbers at the x axis: bars stand under it */
	const struct slope_plot_series *series;   /* what comes later covers what came before; marks cover lines */
	size_t count;
};

/* Prints title and legend, the plot, and the x axis. What lies outside is left out. False when memory runs out. */
bool slope_plot_print(const struct slope_plot *plot, FILE *out);

/*
 * Bars over the same columns, one value each (0: no bar), with the x axis
 * under them. `plot` has the x axis and the size; its y axis and series are not
 * looked at. Heights are logarithmic where the values differ much; any value
 * above 0 is seen. The title says which.
 */
bool slope_plot_bars(const struct slope_plot *plot, const double *value, FILE *out);

#endif
