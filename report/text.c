/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table of `slope report`: a head that says what was measured and what is
 * missing from it, one line for each function, a foot that says what is not
 * shown and what to do next.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "report/clip.h"
#include "report/functions.h"
#include "report/parts.h"
#include "report/table.h"

#define HOT_SHARE 0.20           /* of the program's cost in the function itself */
#define WARM_SHARE 0.05
#define NAMELESS_SHARE 0.10      /* so much in code without symbols is worth a word */
#define COLUMNS_MAX 10

/* ---- head ---- */

static void put_measure(const struct slope_profile *p, const struct slope_report_rows *r,
			const struct slope_report_options *o, FILE *out)
{
	const char *unit = p->unit_name[o->unit] ? p->unit_name[o->unit] : "?";
	char number[8];

	slope_parts_label("cost", o, out);
	fprintf(out, "%s %s%s in all; input size n by %s, cells of %" PRIu32 " byte%s\n",
		slope_table_number(r->program, number), unit, slope_parts_unit(unit), slope_report_metric_name(o->metric),
		p->cell_bytes, p->cell_bytes == 1 ? "" : "s");
}

/* ---- rows ---- */

static void add_sizes(struct slope_table *t, const struct slope_report_row *row)
{
	char least[8], most[8], points[8];

	slope_table_number(row->n_min, least);
	slope_table_number(row->n_max, most);
	if (!row->points)
		slope_table_add(t, SLOPE_STYLE_PLAIN, "-");
	else if (row->n_min == row->n_max)
		slope_table_add(t, SLOPE_STYLE_PLAIN, "%s", least);
	else
		slope_table_add(t, SLOPE_STYLE_PLAIN, "%s..%s", least, most);
	slope_table_add(t, SLOPE_STYLE_PLAIN, "%s%s", row->bits < SLOPE_POINTS_EXACT ? "~" : "",
			slope_table_number(row->points, points));
}

static enum slope_table_style heat_of(double self)
{
	return self >= HOT_SHARE ? SLOPE_STYLE_HOT : self >= WARM_SHARE ? SLOPE_STYLE_WARM : SLOPE_STYLE_PLAIN;
}

static void add_row(struct slope_table *t, const struct slope_profile *p, const struct slope_report_rows *r,
		    const struct slope_report_row *row, unsigned width)
{
	enum slope_table_style heat = heat_of(slope_report_share(row->self, r->program));
	char text[8];

	slope_table_add(t, SLOPE_STYLE_PLAIN, "%s", slope_table_number(row->total, text));
	slope_parts_share(t, SLOPE_STYLE_PLAIN, row->total, r->program);
	slope_parts_share(t, heat, row->self, r->program);
	slope_table_add(t, SLOPE_STYLE_PLAIN, "%s", slope_table_number(row->calls, text));
	add_sizes(t, row);
	if (r->thread)
		slope_parts_share(t, SLOPE_STYLE_PLAIN, row->thread, row->trms);
	if (r->external)
		slope_parts_share(t, SLOPE_STYLE_PLAIN, row->external, row->trms);
	slope_table_add(t, heat, "%s", row->name);
	slope_parts_place(t, p, &p->function[row->function], width);
}

static bool put_rows(const struct slope_profile *p, const struct slope_report_rows *r, const struct slope_report_options *o,
		     FILE *out)
{
	struct slope_table_column column[COLUMNS_MAX] = {
		{ "cost", true, 0 }, { "total", true, 0 }, { "self", true, 0 },
		{ "calls", true, 0 }, { "n", true, 0 }, { "points", true, 0 },
	};
	struct slope_table t;
	size_t columns = 6, shown = slope_report_rows_shown(r, o);

	if (r->thread)
		column[columns++] = (struct slope_table_column){ "thread", true, 0 };
	if (r->external)
		column[columns++] = (struct slope_table_column){ "extern", true, 0 };
	column[columns++] = (struct slope_table_column){ "function", false, 18 };
	column[columns++] = (struct slope_table_column){ "where", false, 12 };
	slope_table_init(&t, column, columns);
	for (size_t i = 0; i < shown; i++)
		add_row(&t, p, r, &r->row[i], o->width ? o->width : UINT_MAX);
	bool ok = slope_table_print(&t, o->width, o->color, out);

	slope_table_fini(&t);
	return ok;
}

/* ---- foot ---- */

/* The module that has most of the cost in code without a name, if that is much. */
static void put_nameless(const struct slope_profile *p, const struct slope_report_rows *r, FILE *out)
{
	uint64_t *cost = calloc(p->module_count + 1, sizeof(*cost)), all = 0;
	size_t most = SLOPE_MODULE_NONE;
	char text[16];

	for (size_t i = 0; cost && i < r->count; i++) {
		const struct slope_profile_function *f = &p->function[r->row[i].function];

		if (f->raw_name && f->raw_name[0])
			continue;
		all += r->row[i].self;
		cost[f->module] += r->row[i].self;
		if (cost[f->module] > cost[most])
			most = f->module;
	}
	free(cost);
	if (slope_report_share(all, r->program) < NAMELESS_SHARE)
		return;
	fprintf(out, "%s of the cost is in code without symbols",
		slope_parts_percent(slope_report_share(all, r->program), text, sizeof(text)));
	char *module = most == SLOPE_MODULE_NONE ? NULL : slope_clip_middle(p->module[most].path, SIZE_MAX);

	if (module)
		fprintf(out, ", most of it in %s:\nits debug symbols, or DEBUGINFOD_URLS set while recording, give names",
			module);
	fputs(".\n", out);
	free(module);
}

static void put_folded(const struct slope_profile *p, const struct slope_report_rows *r, size_t shown, FILE *out)
{
	size_t folded = 0;

	for (size_t i = 0; i < shown; i++)
		folded += r->row[i].bits < SLOPE_POINTS_EXACT;
	if (folded)
		fprintf(out, "~ above %" PRIu32 " sizes: near ones share a point (record --max-points=N for more).\n",
			p->max_points ? p->max_points : SLOPE_POINTS_MAX_DEFAULT);
}

static void put_rest(const struct slope_report_rows *r, const struct slope_report_options *o, size_t shown, FILE *out)
{
	char text[16];

	if (shown == r->count)
		return;
	fprintf(out, "%zu more function%s", r->count - shown, r->count - shown == 1 ? "" : "s");
	if (o->sort == SLOPE_SORT_TOTAL)
		fprintf(out, ", none above %s of the cost",
			slope_parts_percent(slope_report_share(r->row[shown].total, r->program), text, sizeof(text)));
	else if (o->sort == SLOPE_SORT_SELF)
		fprintf(out, ", none above %s of the cost itself",
			slope_parts_percent(slope_report_share(r->row[shown].self, r->program), text, sizeof(text)));
	fputs(" (--top=0 shows all).\n", out);
}

static void put_foot(const struct slope_profile *p, const struct slope_report_rows *r, const struct slope_report_options *o,
		     FILE *out)
{
	size_t shown = slope_report_rows_shown(r, o);

	fputc('\n', out);
	put_rest(r, o, shown, out);
	put_folded(p, r, shown, out);
	put_nameless(p, r, out);
	fputs(slope_style_on(SLOPE_STYLE_DIM, o->color), out);
	fputs("cost, total: with callees; self: without. n: input sizes; points: how many.\n", out);
	if (r->thread)
		fprintf(out, "thread: part of the input that other threads%s have written.\n",
			slope_report_coroutines(p) ? " or coroutines" : "");
	if (r->external)
		fputs("extern: part of the input that came from outside (files, network, devices).\n", out);
	fputs("One function: slope report --filter=NAME; all points: slope export --format=csv", out);
	fprintf(out, "%s\n", slope_style_off(SLOPE_STYLE_DIM, o->color));
}

bool slope_report_text(const struct slope_profile *p, const struct slope_report_options *o, FILE *out)
{
	struct slope_report_rows r;

	if (!slope_report_rows_init(&r, p, o))
		return false;
	bool ok = slope_parts_program(p, o, out);

	slope_parts_run(p, o, out);
	put_measure(p, &r, o, out);
	ok &= slope_parts_losses(p, o, out);
	fputc('\n', out);
	if (r.count) {
		ok &= put_rows(p, &r, o, out);
		put_foot(p, &r, o, out);
	} else if (o->filter && o->filter[0]) {
		fprintf(out, "No function matches '%s'. Without * or ? a filter may stand anywhere in the name;\n"
			     "a function that the compiler inlined is part of its callers.\n", o->filter);
	} else {
		fputs("No function was recorded: the program ran none, or --toggle, --only and --skip left none.\n", out);
	}
	slope_report_rows_fini(&r);
	return ok;
}
