/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `slope export --format=csv`: RFC 4180 but for its line ends, which are those
 * of the system's other text files.
 */
#include <inttypes.h>
#include <string.h>

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

static void put_line(const struct slope_profile *p, const struct slope_profile_row *row, const struct slope_point *point,
		     uint32_t metric, uint32_t unit, bool process, FILE *out)
{
	const struct slope_profile_function *f = &p->function[row->function];
	const struct slope_stat *cost = &point->cost[unit];
	char squares[40], thread[SLOPE_NAMES_THREAD_BYTES];

	put_field(f->name, out);
	fputc(',', out);
	put_field(slope_profile_module_of(p, f), out);
	fputc(',', out);
	put_field(slope_report_file(p, f), out);
	fprintf(out, ",%s,,%s,", slope_names_thread(&p->thread[row->thread], process, thread),
		slope_report_metric_name(metric));
	put_field(p->unit_name[unit], out);
	fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n",
		point->n, point->calls, cost->min, cost->max, cost->sum, slope_decimal128(cost->sq_hi, cost->sq_lo, squares),
		point->rms, point->thread, point->external);
}

bool slope_export_csv(const struct slope_profile *p, FILE *out)
{
	bool process = slope_names_many_processes(p);

	fputs("function,module,file,thread,context,metric,unit,n,calls,min,max,sum,sumsq,rms,thread_input,external_input\n",
	      out);
	for (size_t i = 0; i < p->row_count; i++)
		for (uint32_t metric = 0; metric < SLOPE_METRICS; metric++)
			for (uint32_t unit = 0; unit < p->units; unit++)
				for (size_t k = 0; k < p->row[i].points[metric].count; k++)
					put_line(p, &p->row[i], slope_profile_point(p, &p->row[i].points[metric], k), metric,
						 unit, process, out);
	return true;
}
