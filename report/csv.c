/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `slope export --format=csv`: RFC 4180 but for its line ends, which are those
 * of the system's other text files. Where points were recorded by context, a row
 * of the profile is printed as its variants: these add up to the row.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/contrast.h"
#include "report/functions.h"
#include "report/json.h"
#include "report/names.h"

static void put_field(const char *text, FILE *out)
{
	if (!text)
		return;
	if (!text[strcspn(text, ",\"\r\n")]) {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

/* What the lines of a table have in common. */
struct sheet {
	const struct slope_profile *p;
	bool process;                /* threads are of several */
	FILE *out;
};

static void put_line(const struct sheet *s, const struct slope_profile_row *row, const char *context,
		     const struct slope_point *point, uint32_t metric, uint32_t unit)
{
	const struct slope_profile *p = s->p;
	FILE *out = s->out;

	const struct slope_profile_function *f = &p->function[row->function];
	const struct slope_stat *cost = &point->cost[unit];
	char squares[40], thread[SLOPE_NAMES_THREAD_BYTES];

	put_field(f->name, out);
	fputc(',', out);
	put_field(slope_profile_module_of(p, f), out);
	fputc(',', out);
	put_field(slope_report_file(p, f), out);
	fprintf(out, ",%s,", slope_names_thread(&p->thread[row->thread], s->process, thread));
	put_field(context, out);
	fprintf(out, ",%s,", slope_report_metric_name(metric));
	put_field(p->unit_name[unit], out);
	fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n",
		point->n, point->calls, cost->min, cost->max, cost->sum, slope_decimal128(cost->sq_hi, cost->sq_lo, squares),
		point->rms, point->thread, point->external);
}

static void put_row(const struct sheet *s, const struct slope_profile_row *row, const char *context)
{
	for (uint32_t metric = 0; metric < SLOPE_METRICS; metric++)
		for (uint32_t unit = 0; unit < s->p->units; unit++)
			for (size_t k = 0; k < row->points[metric].count; k++)
				put_line(s, row, context, slope_profile_point(s->p, &row->points[metric], k), metric, unit);
}

static bool put_variant(const struct sheet *s, const struct slope_profile_variant *variant)
{
	const struct slope_contrast_part named = { .caller = variant->caller, .callers = variant->callers, .rest = variant->rest };
	char *context = slope_contrast_callers(&named, s->p, " <- ");

	if (context)
		put_row(s, &variant->row, context);
	free(context);
	return context;
}

static bool is_before(const struct slope_profile_row *a, const struct slope_profile_row *b)
{
	return a->function != b->function ? a->function < b->function : a->thread < b->thread;
}

bool slope_export_csv(const struct slope_profile *p, FILE *out)
{
	const struct sheet s = { p, slope_names_many_processes(p), out };
	size_t at = 0;
	bool ok = true;

	fputs("function,module,file,thread,context,metric,unit,n,calls,min,max,sum,sumsq,rms,thread_input,external_input\n",
	      out);
	for (size_t i = 0; i < p->row_count; i++) {
		const struct slope_profile_row *row = &p->row[i];
		bool any = false;

		while (at < p->variant_count && is_before(&p->variant[at].row, row))
			at++;
		for (; at < p->variant_count && !is_before(row, &p->variant[at].row); at++, any = true)
			ok &= put_variant(&s, &p->variant[at]);
		if (!any)
			put_row(&s, row, NULL);
	}
	return ok;
}
