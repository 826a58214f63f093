/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/axis.h"

#include <math.h>
#include <stdio.h>

#define LOG_HELPS 32.0           /* highest over lowest value */
#define FAR_FROM_ZERO 0.5        /* lowest over highest value */
#define DECADES_FINE 1.3         /* narrower logarithmic axes have ticks at 1, 2 and 5 */
#define NEARLY 1e-9

struct slope_axis slope_axis_of(double least, double positive, double most, enum slope_axes axes, bool zero)
{
	struct slope_axis a = { .low = least, .high = most };

	a.log = positive > 0 && (axes == SLOPE_AXES_LOG || (axes == SLOPE_AXES_AUTO && most > LOG_HELPS * positive));
	if (a.log)
		a.low = positive;
	else if (zero || least < FAR_FROM_ZERO * most)
		a.low = 0;
	if (a.high <= a.low) {       /* one value: it stands in the middle, or on the ground */
		a.high = a.log ? a.low * 2 : a.low ? a.low * 1.5 : 1;
		a.low = a.log || a.low ? a.low / 2 : 0;
	}
	return a;
}

double slope_axis_place(const struct slope_axis *axis, double value)
{
	if (!axis->log)
		return (value - axis->low) / (axis->high - axis->low);
	return value <= axis->low ? 0 : log(value / axis->low) / log(axis->high / axis->low);
}

double slope_axis_value(const struct slope_axis *axis, double place)
{
	if (!axis->log)
		return axis->low + place * (axis->high - axis->low);
	return axis->low * pow(axis->high / axis->low, place);
}

static size_t linear_ticks(const struct slope_axis *axis, size_t wanted, double *tick)
{
	double beyond = axis->high * (1 + NEARLY), rough = (axis->high - axis->low) / (double)(wanted ? wanted : 1),
		unit = pow(10, floor(log10(rough)));
	double step = unit * (rough <= unit ? 1 : rough <= 2 * unit ? 2 : rough <= 5 * unit ? 5 : 10);
	size_t count = 0;

	for (double k = ceil(axis->low / step - NEARLY); k * step <= beyond && count < SLOPE_AXIS_TICKS; k++)
		tick[count++] = k * step + 0.0;      /* no -0 */
	return count;
}

static size_t log_ticks(const struct slope_axis *axis, size_t wanted, double *tick)
{
	static const double fine[] = { 1, 2, 5 };
	double decades = log10(axis->high / axis->low), beyond = axis->high * (1 + NEARLY);
	size_t per_decade = decades < DECADES_FINE || decades * 3 <= (double)wanted ? 3 : 1, count = 0;
	double step = per_decade > 1 ? 1 : ceil(decades / (double)(wanted ? wanted : 1));

	for (double d = floor(log10(axis->low)); pow(10, d) <= axis->high; d += step)
		for (size_t i = 0; i < per_decade; i++) {
			double value = fine[i] * pow(10, d);

			if (value >= axis->low * (1 - NEARLY) && value <= beyond && count < SLOPE_AXIS_TICKS)
				tick[count++] = value;
		}
	return count;
}

size_t slope_axis_ticks(const struct slope_axis *axis, size_t wanted, double tick[SLOPE_AXIS_TICKS])
{
	size_t most = wanted < SLOPE_AXIS_TICKS ? wanted : SLOPE_AXIS_TICKS - 1;
	size_t count = axis->log ? log_ticks(axis, most, tick) : linear_ticks(axis, most, tick);

	if (count >= 2 || !axis->log)
		return count;
	return linear_ticks(axis, most, tick);     /* a narrow range between two round numbers */
}

char *slope_axis_label(double value, char text[SLOPE_AXIS_LABEL])
{
	static const char units[] = " kMGTPE";
	unsigned unit = 0;

	while (fabs(value) >= 999.5 && unit < sizeof(units) - 2) {
		value /= 1000;
		unit++;
	}
	snprintf(text, SLOPE_AXIS_LABEL, unit ? "%.3g%c" : "%.3g", value, units[unit]);
	return text;
}
