/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/disturbance.h"

#include <math.h>

#include "report/json.h"
#include "report/parts.h"
#include "report/table.h"

#define TEXT_BYTES 48u

static const char *amount(double value, bool nanoseconds, char text[TEXT_BYTES])
{
	static const char *const unit[] = { "ns", "us", "ms", "s" };
	char number[SLOPE_TABLE_REAL];
	unsigned u = 0;

	if (nanoseconds)
		for (; value >= 1000 && u < 3; u++)
			value /= 1000;
	snprintf(text, TEXT_BYTES, "%s%s%s", slope_table_real(value, number), nanoseconds && !isnan(value) ? " " : "",
		 nanoseconds && !isnan(value) ? unit[u] : "");
	return text;
}

static const char *ratio(double value, char text[TEXT_BYTES])
{
	snprintf(text, TEXT_BYTES, isfinite(value) ? "%.2f" : "-", value);
	return text;
}

static const char *range(const struct slope_disturbance_row *row, char text[TEXT_BYTES])
{
	snprintf(text, TEXT_BYTES, isfinite(row->least) && isfinite(row->most) ? "%.2f..%.2f" : "-", row->least, row->most);
	return text;
}

static void add_row(struct slope_table *t, const struct slope_disturbance_row *row, bool along)
{
	char text[TEXT_BYTES];

	slope_table_add(t, SLOPE_STYLE_PLAIN, "%s", row->name);
	slope_table_add(t, SLOPE_STYLE_PLAIN, "%s", amount(row->native, row->nanoseconds, text));
	slope_table_add(t, SLOPE_STYLE_PLAIN, "%s", amount(row->recorded, row->nanoseconds, text));
	slope_table_add(t, SLOPE_STYLE_BOLD, "%s", ratio(row->ratio, text));
	slope_table_add(t, SLOPE_STYLE_DIM, "%s", range(row, text));
	if (!along)
		return;
	slope_table_add(t, SLOPE_STYLE_PLAIN, "%s", isnan(row->paths) ? "" : amount(row->paths, row->nanoseconds, text));
	slope_table_add(t, SLOPE_STYLE_BOLD, "%s", isnan(row->paths) ? "" : ratio(row->paths_ratio, text));
}

/* Were there any metrics along paths? */
static bool any_along(const struct slope_disturbance *d)
{
	for (size_t i = 0; i < d->count; i++)
		if (!isnan(d->row[i].paths))
			return true;
	return false;
}

static void print_notes(const struct slope_disturbance *d, bool along, FILE *out)
{
	char text[16];

	fprintf(out, "\n");
	for (size_t i = 0; i < d->count; i++)
		if (d->row[i].running < 1)
			fprintf(out, "%s: its counter was shared with others and ran for %s of the time; values are scaled up.\n",
				d->row[i].name, slope_parts_percent(d->row[i].running, text, sizeof text));
	fprintf(out, "Medians of %llu rounds; ratio: recorded to native in the same round, with the range of the rounds.\n",
		(unsigned long long)d->rounds);
	if (!along)
		return;
	fprintf(out, "paths: what the profile has along all paths together, and how much that is of the native number%s.\n",
		d->path_period > 1 ? "," : "");
	if (d->path_period > 1)
		fprintf(out, "       of one activation in %llu, made up for the others", (unsigned long long)d->path_period);
	if (d->path_period > 1 && d->unmeasured > 0)
		fprintf(out, "; %s of all executions are of paths that were never measured",
			slope_parts_percent(d->unmeasured, text, sizeof text));
	if (d->path_period > 1)
		fprintf(out, ".\n");
}

bool slope_disturbance_text(const struct slope_disturbance *d, FILE *out)
{
	static const struct slope_table_column column[] = {
		{ "metric", false, 0 }, { "native", true, 0 }, { "recorded", true, 0 }, { "ratio", true, 0 }, { "range", true, 0 },
		{ "paths", true, 0 }, { "ratio", true, 0 },
	};
	bool along = any_along(d), whole;
	struct slope_table t;

	slope_table_init(&t, column, along ? 7 : 5);
	for (size_t i = 0; i < d->count; i++)
		add_row(&t, &d->row[i], along);
	whole = slope_table_print(&t, d->width, d->color, out);
	slope_table_fini(&t);
	print_notes(d, along, out);
	return whole;
}

bool slope_disturbance_json(const struct slope_disturbance *d, FILE *out)
{
	struct slope_json j;

	slope_json_init(&j, out);
	slope_json_object(&j, NULL, false);
	slope_json_string(&j, "schema", "slope-perturbation/1");
	slope_json_array(&j, "program", true);
	for (char *const *word = d->program; *word; word++)
		slope_json_string(&j, NULL, *word);
	slope_json_end(&j);
	slope_json_string(&j, "source", d->source);
	slope_json_uint(&j, "rounds", d->rounds);
	if (d->path_period)
		slope_json_uint(&j, "path_period", d->path_period);
	else
		slope_json_null(&j, "path_period");
	slope_json_real(&j, "unmeasured", d->unmeasured);
	slope_json_array(&j, "metrics", false);
	for (size_t i = 0; i < d->count; i++) {
		const struct slope_disturbance_row *row = &d->row[i];

		slope_json_object(&j, NULL, true);
		slope_json_string(&j, "name", row->name);
		slope_json_string(&j, "unit", row->nanoseconds ? "ns" : "events");
		slope_json_real(&j, "native", row->native);
		slope_json_real(&j, "recorded", row->recorded);
		slope_json_real(&j, "ratio", row->ratio);
		slope_json_real(&j, "least", row->least);
		slope_json_real(&j, "most", row->most);
		slope_json_real(&j, "along_paths", row->paths);
		slope_json_real(&j, "along_paths_ratio", row->paths_ratio);
		slope_json_real(&j, "running", row->running);
		slope_json_end(&j);
	}
	slope_json_end(&j);
	slope_json_end(&j);
	return true;
}
