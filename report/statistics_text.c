/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The statistics of a run as lines with a label, for `slope info`: how many
 * functions have a curve and what the others cost, where input came from, what
 * trms adds to rms.
 */
#include <math.h>

#include "report/parts.h"
#include "report/report.h"

#define LIMITS_SHOWN 10u         /* as many as 80 columns have room for */

struct lines {
	const struct slope_statistics *s;
	int label_columns;
	FILE *out;
};

static void put_label(const struct lines *l, const char *label)
{
	fprintf(l->out, "%-*s ", l->label_columns, label);
}

/* The limits of a measure up to the last one that a function reaches. */
static const double *reached(const struct lines *l, enum slope_measure m, size_t *count)
{
	const double *limit = slope_measure_limits(m, count);

	while (*count && !slope_statistics_at_least(l->s, m, limit[*count - 1]).functions)
		--*count;
	if (*count > LIMITS_SHOWN)
		*count = LIMITS_SHOWN;
	return limit;
}

static void put_limits(const struct lines *l, const char *label, const double *limit, size_t count)
{
	char text[16];

	put_label(l, label);
	for (size_t i = 0; i < count; i++)
		fprintf(l->out, " %5s", slope_table_number((uint64_t)limit[i], text));
	fputc('\n', l->out);
}

/* Functions with at least each limit, and what part of the run's cost is theirs. */
static void put_points(const struct lines *l)
{
	struct slope_at_least rich = slope_statistics_at_least(l->s, SLOPE_MEASURE_POINTS, SLOPE_FEW_POINTS);
	size_t count;
	const double *limit = reached(l, SLOPE_MEASURE_POINTS, &count);
	char text[16];

	put_label(l, "curves");
	fprintf(l->out, "%zu of %zu functions have %u points or more; they hold %s of the cost\n", rich.functions, rich.of,
		SLOPE_FEW_POINTS, slope_parts_part(rich.self, l->s->cost, text, sizeof(text)));
	put_limits(l, "  points at least", limit, count);
	put_label(l, "  functions");
	for (size_t i = 0; i < count; i++)
		fprintf(l->out, " %5s",
			slope_table_number(slope_statistics_at_least(l->s, SLOPE_MEASURE_POINTS, limit[i]).functions, text));
	fputc('\n', l->out);
	put_label(l, "  cost in them");
	for (size_t i = 0; i < count; i++)
		fprintf(l->out, " %5s",
			slope_parts_part(slope_statistics_at_least(l->s, SLOPE_MEASURE_POINTS, limit[i]).self, l->s->cost, text,
					 sizeof(text)));
	fputc('\n', l->out);
}

/* A poor function matters where single calls of it are costly. */
static void put_poor(const struct lines *l, const char *unit)
{
	size_t count, poor = slope_statistics_at_least(l->s, SLOPE_MEASURE_POOR_COST, 0).of;
	const double *limit = reached(l, SLOPE_MEASURE_POOR_COST, &count);
	char text[16], label[24];

	if (!poor)
		return;
	put_label(l, "poor functions");
	fprintf(l->out, "%zu have fewer than %u points; those with a call this costly:\n", poor,
		SLOPE_FEW_POINTS);
	snprintf(label, sizeof(label), "  %s at least", unit);
	put_limits(l, label, limit, count);
	put_label(l, "  functions");
	for (size_t i = 0; i < count; i++) {
		struct slope_at_least found = slope_statistics_at_least(l->s, SLOPE_MEASURE_POOR_COST, limit[i]);

		fprintf(l->out, " %5s", slope_parts_part(found.functions, found.of, text, sizeof(text)));
	}
	fputc('\n', l->out);
}

static void put_input(const struct lines *l)
{
	const struct slope_statistics *s = l->s;
	char number[8], thread[16], external[16];

	put_label(l, "input");
	fprintf(l->out, "%s cells", slope_table_number(s->input, number));
	if (s->metrics & 1u << SLOPE_METRIC_TRMS)
		fprintf(l->out, ", %s from other threads, %s from outside\n",
			slope_parts_part(s->thread_input, s->input, thread, sizeof(thread)),
			slope_parts_part(s->external, s->input, external, sizeof(external)));
	else
		fputs("; where they came from was not measured (--input=rms)\n", l->out);
}

static void put_volume(const struct lines *l)
{
	struct slope_at_least found = slope_statistics_at_least(l->s, SLOPE_MEASURE_VOLUME, 0.1);
	double volume = slope_statistics_volume(l->s);
	char text[16];

	if (isnan(volume))
		return;
	put_label(l, "input volume");
	fprintf(l->out, "rms misses %s of the input of all calls", slope_parts_percent(volume, text, sizeof(text)));
	if (found.functions)
		fprintf(l->out, "; a tenth or more in %zu function%s", found.functions, found.functions == 1 ? "" : "s");
	fputc('\n', l->out);
}

static void put_richness(const struct lines *l)
{
	struct slope_at_least same = slope_statistics_at_least(l->s, SLOPE_MEASURE_RICHNESS, 0);
	size_t more = 0, twice = slope_statistics_at_least(l->s, SLOPE_MEASURE_RICHNESS, 1).functions;

	put_label(l, "richness");
	if (!same.of) {
		fputs("not known: points by both input sizes need record --input=both\n", l->out);
		return;
	}
	for (size_t i = 0; i < l->s->functions; i++)
		more += slope_measure_of(l->s, &l->s->function[i], SLOPE_MEASURE_RICHNESS) > 0;
	fprintf(l->out, "%zu function%s more points by trms than by rms (%zu twice as many), %zu fewer\n", more,
		more == 1 ? " has" : "s have", twice, same.of - same.functions);
}

void slope_statistics_text(const struct slope_statistics *s, const char *unit, unsigned label_columns, FILE *out)
{
	const struct lines l = { s, (int)label_columns, out };

	if (!s->functions)
		return;
	put_points(&l);
	put_poor(&l, unit);
	put_input(&l);
	put_volume(&l);
	put_richness(&l);
}
