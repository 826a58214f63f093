/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/spark.h"

#include <string.h>

/* The mean cost of the sizes in one column; between two sizes, on the line that joins them. */
static double height(const struct slope_curve *curve, enum slope_statistic of, double from, double to, size_t *at)
{
	double sum = 0, middle = (from + to) / 2;
	size_t count = 0;

	for (; *at < curve->count && curve->point[*at].n <= to; ++*at, count++)
		sum += curve->point[*at].cost[of];
	if (count)
		return sum / (double)count;
	const struct slope_curve_point *next = &curve->point[*at], *before = next - 1;

	return before->cost[of] + (next->cost[of] - before->cost[of]) * (middle - before->n) / (next->n - before->n);
}

char *slope_spark(const struct slope_curve *curve, enum slope_statistic of, bool ascii, char text[SLOPE_SPARK_BYTES])
{
	static const char blocks[][4] = { "\u2581", "\u2582", "\u2583", "\u2584", "\u2585", "\u2586", "\u2587", "\u2588" };
	static const char plain[][4] = { "_", ".", "-", "~", "=", "+", "*", "#" };
	double value[SLOPE_SPARK_COLUMNS], most = 0;
	size_t at = 0;

	text[0] = '\0';
	if (curve->count < 2)
		return text;
	double first = curve->point[0].n, step = (curve->point[curve->count - 1].n - first) / SLOPE_SPARK_COLUMNS;

	for (unsigned i = 0; i < SLOPE_SPARK_COLUMNS; i++) {
		bool last = i + 1 == SLOPE_SPARK_COLUMNS;

		value[i] = height(curve, of, first + step * i, last ? curve->point[curve->count - 1].n : first + step * (i + 1), &at);
		most = value[i] > most ? value[i] : most;
	}
	for (unsigned i = 0; i < SLOPE_SPARK_COLUMNS; i++) {
		unsigned level = most > 0 ? (unsigned)(value[i] / most * 7.999) : 0;

		strcat(text, ascii ? plain[level] : blocks[level]);
	}
	return text;
}
