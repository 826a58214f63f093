/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/judging.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cli/messages.h"

/* A decimal number, or a percentage with its % or without; `value` stays as it is where nothing was given. */
static bool take(const char *option, const char *text, double most, bool percent, double *value)
{
	char *end;

	if (!text)
		return true;
	double number = strtod(text, &end);

	if (percent && *end == '%')
		end++;
	if (!isdigit((unsigned char)text[0]) || *end || !(number <= most)) {
		slope_say("--%s=%s: give a number from 0 to %g", option, text, most);
		return false;
	}
	*value = percent ? number / 100 : number;
	return true;
}

static bool take_thresholds(const struct slope_judging *given, struct slope_compare_options *o)
{
	double factor = o->least_factor - 1;

	if (!take("level", given->level, 100, true, &o->level) ||
	    !take("min-cost", given->cost, 10000, true, &factor) ||
	    !take("min-exponent", given->exponent, 10, false, &o->least_exponent) ||
	    !take("min-workload", given->workload, 100, true, &o->least_workload) ||
	    !take("share", given->share, 100, true, &o->share))
		return false;
	o->least_factor = 1 + factor;
	return true;
}

bool slope_judging_sensible(const struct slope_judging *given)
{
	struct slope_compare_options unused = { 0 };

	return take_thresholds(given, &unused);
}

bool slope_judging_options(const struct slope_judging *given, struct slope_compare_options *o,
			   const struct slope_profile *old, const struct slope_profile *now)
{
	char error[256];

	if (!slope_compare_defaults(o, old, now, given->unit, given->input, error, sizeof error)) {
		slope_say("%s", error);
		return false;
	}
	o->of = (enum slope_statistic)given->of;
	return take_thresholds(given, o);
}

static bool has_points(const struct slope_profile *p, uint32_t metric)
{
	for (size_t i = 0; i < p->row_count; i++)
		for (uint32_t m = 0; m < SLOPE_METRICS; m++)
			if (p->row[i].function != SLOPE_FN_ROOT && (m == metric || metric == SLOPE_METRICS) &&
			    p->row[i].points[m].count)
				return true;
	return false;
}

bool slope_judging_has_points(const struct slope_profile *p, const char *path, uint32_t metric)
{
	if (has_points(p, metric))
		return true;
	if (slope_profile_is_sampled(p)) {
		slope_say("%s was sampled: it has no input sizes and so no growth; record without --source=sampler", path);
		return false;
	}
	slope_say("%s has no points: the run called no function, or --toggle, --only and --skip left none", path);
	return false;
}

bool slope_judging_usable(const struct slope_profile *p, const char *path, uint32_t metric)
{
	if (p->complete && !p->problem_count)
		return slope_judging_has_points(p, path, metric);
	slope_say("%s is damaged or cut off, so nothing can be concluded from it: %s", path,
		  p->problem_count ? p->problem[0] : "it has no end mark");
	return false;
}
