/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An axis of a plot: its range, whether it is logarithmic, and the numbers that
 * stand at it. Terminal plots and gnuplot pictures decide by the same rules.
 */
#ifndef SLOPE_REPORT_AXIS_H
#define SLOPE_REPORT_AXIS_H

#include <stdbool.h>
#include <stddef.h>

enum slope_axes {
	SLOPE_AXES_AUTO,             /* logarithmic where the range is wide enough for that to help */
	SLOPE_AXES_LINEAR,
	SLOPE_AXES_LOG
};

struct slope_axis {
	double low, high;            /* low < high; both above 0 where it is logarithmic */
	bool log;
};

#define SLOPE_AXIS_TICKS 16u     /* the most that slope_axis_ticks gives */
#define SLOPE_AXIS_LABEL 16u

/*
 * An axis for values from `least` to `most`, none below 0. `positive` is the
 * least of them above 0 (or 0, if there is none): a logarithmic axis begins
 * there. A linear one begins at 0 unless the values are far from it and
 * `zero` is not asked for.
 */
struct slope_axis slope_axis_of(double least, double positive, double most, enum slope_axes axes, bool zero);

/* Where a value lies: 0 at the low end, 1 at the high one. What is below a logarithmic axis lies at its low end. */
double slope_axis_place(const struct slope_axis *axis, double value);

/* The value at a place. */
double slope_axis_value(const struct slope_axis *axis, double place);

/* Round numbers (1, 2 or 5 times a power of ten) within the axis, at most `wanted` or so; returns how many. */
size_t slope_axis_ticks(const struct slope_axis *axis, size_t wanted, double tick[SLOPE_AXIS_TICKS]);

/* "0", "0.05", "20", "5k", "2.5M". Returns `text`. */
char *slope_axis_label(double value, char text[SLOPE_AXIS_LABEL]);

#endif
