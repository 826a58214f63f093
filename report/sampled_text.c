/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table of `slope report` for a profile without input sizes, as the sampler
 * makes them: time by function, and what is known of calls.
 */
#include <inttypes.h>
#include <limits.h>

#include "report/functions.h"
#include "report/parts.h"

#define HOT_SHARE 0.20
#define WARM_SHARE 0.05
#define ROOM_FOR_PLACES 90u

static const struct slope_table_column column[] = {
	{ "total", true, 0 }, { "self", true, 0 }, { "seen", true, 0 }, { "per call", true, 0 }, { "function", false, 18 },
	{ "where", false, 12 },
};

static void put_head(const struct slope_profile *p, uint64_t cost, const struct slope_report_options *o, FILE *out)
{
	const char *unit = p->unit_name[o->unit] ? p->unit_name[o->unit] : "?";
	char number[8];

	slope_parts_run(p, o, out);
	slope_parts_label("cost", o, out);
	fprintf(out, "%s %s%s in all; sampled: there are no input sizes in it, and so no growth\n", slope_table_number(cost, number),
		unit, slope_parts_unit(unit));
}

static void add_share(struct slope_table *t, enum slope_table_style style, uint64_t part, uint64_t all)
{
	char text[16];

	slope_table_add(t, style, "%s", slope_parts_percent(slope_share_of(part, all), text, sizeof text));
}

static void add_row(struct slope_table *t, const struct slope_profile *p, const struct slope_report_rows *r,
		    const struct slope_rank_row *row, unsigned width)
{
	double self = slope_share_of(row->self, r->rank.program);
	enum slope_table_style heat = self >= HOT_SHARE ? SLOPE_STYLE_HOT : self >= WARM_SHARE ? SLOPE_STYLE_WARM : SLOPE_STYLE_PLAIN;
	char text[8];

	add_share(t, SLOPE_STYLE_PLAIN, row->total, r->rank.program);
	add_share(t, heat, row->self, r->rank.program);
	slope_table_add(t, SLOPE_STYLE_PLAIN, "%s", row->calls ? slope_table_number(row->calls, text) : "-");
	slope_table_add(t, SLOPE_STYLE_PLAIN, "%s", row->calls ? slope_table_number(row->total / row->calls, text) : "-");
	slope_table_add(t, heat, "%s", row->name);
	if (width >= ROOM_FOR_PLACES)
		slope_parts_place(t, p, &p->function[row->function], width);
}

static void put_foot(const struct slope_report_rows *r, const struct slope_report_options *o, FILE *out)
{
	size_t shown = slope_report_rows_shown(r, o);

	if (shown < r->count)
		fprintf(out, "%zu more function%s (--top=0 shows all).\n", r->count - shown, r->count - shown == 1 ? "" : "s");
	fprintf(out, "%stotal, self: share of the cost, with and without callees. seen: activations that a sample found, of which there\n"
		     "may have been more; per call: total by those, so no more than an upper bound for short calls.\n"
		     "Call paths: slope contexts; growth: slope record without --source=sampler%s\n",
		slope_style_on(SLOPE_STYLE_DIM, o->color), slope_style_off(SLOPE_STYLE_DIM, o->color));
}

bool slope_report_sampled_text(const struct slope_profile *p, const struct slope_report_options *given, FILE *out)
{
	struct slope_report_options o = *given;
	unsigned width = o.width ? o.width : UINT_MAX;
	struct slope_report_rows r;
	struct slope_table t;

	if (o.sort == SLOPE_SORT_RANK)
		o.sort = SLOPE_SORT_SELF;
	if (!slope_report_rows_init(&r, p, &o))
		return false;
	bool ok = slope_parts_program(p, &o, out);

	put_head(p, r.rank.program, &o, out);
	ok &= slope_parts_losses(p, &o, out);
	fputc('\n', out);
	slope_table_init(&t, column, sizeof column / sizeof *column - (width < ROOM_FOR_PLACES));
	for (size_t i = 0; i < slope_report_rows_shown(&r, &o); i++)
		add_row(&t, p, &r, &r.row[i], width);
	if (t.count)
		ok &= slope_table_print(&t, o.width, o.color, out);
	else
		fputs(o.filter ? "No function matches.\n" : "No sample was taken: the run was too short.\n", out);
	fputc('\n', out);
	put_foot(&r, &o, out);
	slope_table_fini(&t);
	slope_report_rows_fini(&r);
	return ok;
}
