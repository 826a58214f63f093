/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table of `slope report`: a head that says what was measured and what is
 * missing from it, the functions in groups, a foot that says what is not shown
 * and what to do next.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/contrast.h"
#include "report/clip.h"
#include "report/functions.h"
#include "report/parts.h"
#include "report/path_link.h"
#include "report/spark.h"

#define HOT_SHARE 0.20           /* of the program's cost in the function itself */
#define WARM_SHARE 0.05
#define NAMELESS_SHARE 0.10      /* so much in code without symbols is worth a word */
#define ROOM_FOR_PLOTS 110       /* columns of a terminal that can show plots, calls and places as well */
#define COLUMNS_MAX 14
#define GROUP_TOP 10u            /* functions of a group, where nobody asks for another number */
#define WORTH_A_WORD 0.01        /* of the cost, in the function itself */
#define CONTEXTS_TOP 10u         /* functions of which it is said that they grow otherwise from other callers */
#define PATHS_TOP 3               /* functions whose path is named */
#define ADVICE_TOP 3u            /* unclear functions for which it is said what would settle them */

/* What the rows of one table have in common. */
struct view {
	const struct slope_profile *p;
	const struct slope_report_rows *rows;
	const struct slope_report_options *o;
	unsigned width;
	bool wide;
	struct slope_curve curve;
	char later[24];              /* title of the column of foretold shares */
};

/* ---- head ---- */

static bool put_head(const struct slope_profile *p, uint64_t cost, const struct slope_report_options *o, FILE *out)
{
	const char *unit = p->unit_name[o->unit] ? p->unit_name[o->unit] : "?";
	bool ok = slope_parts_program(p, o, out);
	char number[8];

	slope_parts_run(p, o, out);
	slope_parts_label("cost", o, out);
	fprintf(out, "%s %s%s in all; input size n by %s, cells of %" PRIu32 " byte%s\n", slope_table_number(cost, number),
		unit, slope_parts_unit(unit), slope_report_metric_name(o->metric), p->cell_bytes, p->cell_bytes == 1 ? "" : "s");
	return slope_parts_losses(p, o, out) && ok;
}

/* ---- rows ---- */

static void add_sizes(struct slope_table *t, const struct slope_rank_row *row)
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

static enum slope_table_style heat_of(const struct slope_rank_row *row, uint64_t program)
{
	double self = slope_share_of(row->self, program);

	if (row->group == SLOPE_GROUP_HURTS)
		return row->via == SLOPE_FN_NONE ? SLOPE_STYLE_HOT : SLOPE_STYLE_WARM;
	return self >= HOT_SHARE ? SLOPE_STYLE_HOT : self >= WARM_SHARE ? SLOPE_STYLE_WARM : SLOPE_STYLE_PLAIN;
}

static void add_share(struct slope_table *t, enum slope_table_style style, double share)
{
	char text[16];

	slope_table_add(t, style, "%s", isnan(share) ? "?" : slope_parts_percent(share, text, sizeof(text)));
}

static void add_growth(struct slope_table *t, enum slope_table_style style, const struct slope_growth *g)
{
	char text[SLOPE_GROWTH_TEXT], range[SLOPE_INTERVAL_TEXT];

	if (g->verdict == SLOPE_VERDICT_INCONCLUSIVE) {
		slope_table_add(t, SLOPE_STYLE_DIM, "%s", slope_reason_text(g->reason));
		slope_table_add(t, SLOPE_STYLE_DIM, "-");
		return;
	}
	slope_table_add(t, style, "%s", slope_growth_text(g, text));
	slope_growth_interval(g, range);
	slope_table_add(t, SLOPE_STYLE_PLAIN, "%s", *range ? range : "-");
}

static bool add_plot(struct slope_table *t, struct view *v, const struct slope_rank_row *row)
{
	char text[SLOPE_SPARK_BYTES];

	if (!slope_curve_load(&v->curve, v->p, row->function, SLOPE_CURVE_ALL_THREADS, v->o->metric, v->o->unit))
		return false;
	slope_table_add(t, SLOPE_STYLE_PLAIN, "%s", slope_spark(&v->curve, v->o->of, v->o->ascii, text));
	return true;
}

static void add_name(struct slope_table *t, const struct view *v, const struct slope_rank_row *row,
		     enum slope_table_style heat)
{
	const char *via = row->via == SLOPE_FN_NONE ? NULL : v->p->function[row->via].name;

	if (via)
		slope_table_add(t, heat, "%s, by %s", row->name, via);
	else
		slope_table_add(t, heat, "%s", row->name);
}

static bool add_row(struct slope_table *t, struct view *v, const struct slope_rank_row *row)
{
	const struct slope_rank *rank = &v->rows->rank;
	enum slope_table_style heat = heat_of(row, rank->program);
	char text[8];
	bool ok = true;

	add_growth(t, heat, &row->growth);
	if (v->wide)
		ok = add_plot(t, v, row);
	add_share(t, SLOPE_STYLE_PLAIN, row->share);
	add_share(t, row->group == SLOPE_GROUP_HURTS ? heat : SLOPE_STYLE_PLAIN, row->later);
	if (v->wide) {
		add_share(t, SLOPE_STYLE_PLAIN, slope_share_of(row->self, rank->program));
		slope_table_add(t, SLOPE_STYLE_PLAIN, "%s", slope_table_number(row->calls, text));
	}
	add_sizes(t, row);
	if (v->rows->thread && v->wide)
		add_share(t, SLOPE_STYLE_PLAIN, slope_share_of(row->thread, row->trms));
	if (v->rows->external && v->wide)
		add_share(t, SLOPE_STYLE_PLAIN, slope_share_of(row->external, row->trms));
	slope_table_add(t, SLOPE_STYLE_PLAIN, "%c", row->growth.grade);
	add_name(t, v, row, heat);
	if (v->wide)
		slope_parts_place(t, v->p, &v->p->function[row->function], v->width);
	return ok;
}

static size_t set_columns(const struct view *v, struct slope_table_column *column)
{
	size_t count = 0;

#define COLUMN(title, right, least) column[count++] = (struct slope_table_column){ title, right, least }
	COLUMN("growth", false, 0);
	COLUMN("exponent", false, 0);
	if (v->wide)
		COLUMN("plot", false, 0);
	COLUMN("now", true, 0);
	COLUMN(v->later, true, 0);
	if (v->wide) {
		COLUMN("self", true, 0);
		COLUMN("calls", true, 0);
	}
	COLUMN("n", true, 0);
	COLUMN("points", true, 0);
	if (v->rows->thread && v->wide)
		COLUMN("thread", true, 0);
	if (v->rows->external && v->wide)
		COLUMN("extern", true, 0);
	COLUMN("ev", false, 0);
	COLUMN("function", false, 18);
	if (v->wide)
		COLUMN("where", false, 12);
#undef COLUMN
	return count;
}

/* In groups each has its own first rows; the rest is for those who ask for a function or for all. */
static size_t shown_of_group(const struct slope_report_options *o, enum slope_group group)
{
	if (group == SLOPE_GROUP_REST && o->top && !(o->filter && o->filter[0]))
		return 0;
	return !o->top ? SIZE_MAX : o->top == SLOPE_REPORT_TOP ? GROUP_TOP : o->top;
}

static void add_heading(struct slope_table *t, enum slope_group group, size_t count, size_t shown)
{
	const char *gap = t->count ? "\n" : "";

	if (shown < count)
		slope_table_head(t, "%s%s (%zu of %zu)", gap, slope_group_title(group), shown, count);
	else
		slope_table_head(t, "%s%s", gap, slope_group_title(group));
}

static bool add_groups(struct slope_table *t, struct view *v)
{
	const struct slope_report_rows *r = v->rows;
	bool ok = true;

	for (size_t i = 0, next; i < r->count; i = next) {
		enum slope_group group = r->row[i].group;

		for (next = i; next < r->count && r->row[next].group == group; next++)
			;
		size_t most = shown_of_group(v->o, group), shown = next - i < most ? next - i : most;

		if (shown)
			add_heading(t, group, next - i, shown);
		for (size_t k = i; k < i + shown; k++)
			ok &= add_row(t, v, &r->row[k]);
	}
	return ok;
}

static bool put_rows(struct view *v, FILE *out)
{
	struct slope_table_column column[COLUMNS_MAX];
	struct slope_table t;
	bool ok = true;

	slope_table_init(&t, column, set_columns(v, column));
	if (v->o->sort == SLOPE_SORT_RANK)
		ok = add_groups(&t, v);
	else
		for (size_t i = 0; i < slope_report_rows_shown(v->rows, v->o); i++)
			ok &= add_row(&t, v, &v->rows->row[i]);
	if (t.count)
		ok &= slope_table_print(&t, v->o->width, v->o->color, out);
	else
		fputs("No function stands out: none outgrows its input, none takes one percent of the cost itself.\n"
		      "slope report --top=0 shows all.\n", out);
	slope_table_fini(&t);
	return ok;
}

/* ---- foot ---- */

static bool put_advice(const struct slope_report_rows *r, const struct slope_report_options *o, FILE *out)
{
	size_t most = shown_of_group(o, SLOPE_GROUP_UNCLEAR), said = 0;
	char text[SLOPE_ADVICE_TEXT];

	for (size_t i = 0; i < r->count && said < most && said < ADVICE_TOP && o->sort == SLOPE_SORT_RANK; i++) {
		if (r->row[i].group != SLOPE_GROUP_UNCLEAR)
			continue;
		char *name = slope_clip_name(r->row[i].name, 32);

		if (!name)
			return false;
		fprintf(out, "To settle %s: %s.\n", name, slope_growth_advice(&r->row[i].growth, text));
		said++;
		free(name);
	}
	return true;
}

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
	if (slope_share_of(all, r->rank.program) < NAMELESS_SHARE)
		return;
	fprintf(out, "%s of the cost is in code without symbols",
		slope_parts_part(all, r->rank.program, text, sizeof(text)));
	char *module = most == SLOPE_MODULE_NONE ? NULL : slope_clip_middle(p->module[most].path, SIZE_MAX);

	if (module)
		fprintf(out, ", most of it in %s:\nits debug symbols, or DEBUGINFOD_URLS set while recording, give names",
			module);
	fputs(".\n", out);
	free(module);
}

/* Each call is as steep as its row says; all of them together are steeper, where the structure is one that grows. */
static bool put_ramps(const struct slope_report_rows *r, FILE *out)
{
	unsigned said = 0;

	for (size_t i = 0; i < r->count && said < ADVICE_TOP; i++) {
		const struct slope_rank_row *row = &r->row[i];
		char text[SLOPE_ORDER_TEXT], number[8];
		struct slope_order order = row->growth.model.order;

		if (!row->ramp || order.base || slope_share_of(row->self, r->rank.program) < WORTH_A_WORD)
			continue;
		char *name = slope_clip_name(row->name, 32);

		if (!name)
			return false;
		order.power++;
		fprintf(out, "%s has every n up to %s: if that is one structure that grows, all its calls together take %s.\n", name,
			slope_table_number(row->n_max, number), slope_order_text(order, text));
		free(name);
		said++;
	}
	return true;
}

/* Without contexts: functions worth a row of which calls of the same size grow otherwise, and which have several callers. */
static bool put_mixtures(const struct slope_profile *p, const struct slope_report_rows *r, const struct slope_report_options *o,
			 FILE *out)
{
	struct slope_curve curve = slope_curve_none();
	bool ok = true;

	for (size_t i = 0, said = 0; ok && i < r->count && said < ADVICE_TOP; i++) {
		const struct slope_rank_row *row = &r->row[i];
		char low[SLOPE_GROWTH_TEXT], high[SLOPE_GROWTH_TEXT];
		struct slope_growth best, worst;

		if (row->group == SLOPE_GROUP_REST)
			continue;
		ok = slope_curve_load(&curve, p, row->function, SLOPE_CURVE_ALL_THREADS, o->metric, o->unit);
		if (!ok || !slope_contrast_mixed(&curve, &best, &worst) || slope_contrast_callers_of(p, row->function) < 2)
			continue;
		char *name = slope_clip_name(row->name, 32);

		ok = name;
		if (ok)
			fprintf(out, "%s is a mixture: calls of the same n grow like %s at best, like %s at worst;\n"
				     "record --context=1 tells its callers apart.\n", name, slope_growth_text(&best, low),
				slope_growth_text(&worst, high));
		free(name);
		said++;
	}
	slope_curve_fini(&curve);
	return ok;
}

/* Functions worth a row whose growth differs between callers, and what was too rare to be told apart. */
static bool put_contexts(const struct slope_profile *p, const struct slope_report_rows *r, const struct slope_report_options *o,
			 FILE *out)
{
	bool ok = true;
	char number[8];

	if (!p->variant_count)
		return put_mixtures(p, r, o, out);
	for (size_t i = 0, said = 0; ok && i < r->count && said < CONTEXTS_TOP; i++) {
		struct slope_contrast v;

		if (r->row[i].group == SLOPE_GROUP_REST)
			continue;
		if (!slope_contrast_init(&v, p, r->row[i].function, 0, o->metric, o->unit, false))
			return false;
		char *text = slope_contrast_text(&v, p), *name = slope_clip_name(r->row[i].name, 32);
		char *safe = text ? slope_clip_middle(text, SIZE_MAX) : NULL;

		ok = name && safe;
		if (ok && *safe) {
			fprintf(out, "%s grows otherwise from other callers: %s.\n", name, safe);
			said++;
		}
		slope_contrast_fini(&v);
		free(text);
		free(name);
		free(safe);
	}
	if (p->variants_folded)
		fprintf(out, "%s contexts were too rare to be told apart; they count with fewer callers.\n",
			slope_table_number(p->variants_folded, number));
	return ok;
}

/* Of functions that will hurt, the path to look at. */
static bool put_paths(const struct slope_profile *p, const struct slope_report_rows *r, const struct slope_report_options *o,
		      FILE *out)
{
	struct slope_path_link link = { p, 0, o->metric, o->unit, NULL, o->ascii };
	bool ok = true;

	if (!p->path_count)
		return true;
	link.lines = slope_blocklines_new(p, NULL);
	if (!link.lines)
		return false;
	for (size_t i = 0, said = 0; ok && i < r->count && said < PATHS_TOP; i++) {
		if (r->row[i].group != SLOPE_GROUP_HURTS)
			continue;
		link.function = r->row[i].function;
		char *text = slope_path_link_text(&link), *name = slope_clip_name(r->row[i].name, 32);
		char *safe = text ? slope_clip_middle(text, SIZE_MAX) : NULL;

		ok = name && safe;
		if (ok && *safe) {
			fprintf(out, "%s: %s.\n", name, safe);
			said++;
		}
		free(text);
		free(name);
		free(safe);
	}
	slope_blocklines_free(link.lines);
	return ok;
}

static void put_folded(const struct slope_profile *p, const struct slope_report_rows *r, FILE *out)
{
	size_t folded = 0;

	for (size_t i = 0; i < r->count; i++)
		folded += r->row[i].bits < SLOPE_POINTS_EXACT;
	if (folded)
		fprintf(out, "~ above %" PRIu32 " sizes: near ones share a point (record --max-points=N for more).\n",
			p->max_points ? p->max_points : SLOPE_POINTS_MAX_DEFAULT);
}

static void put_rest(const struct slope_report_rows *r, const struct slope_report_options *o, FILE *out)
{
	size_t rest = 0, shown = slope_report_rows_shown(r, o);

	if (o->sort != SLOPE_SORT_RANK)
		rest = r->count - shown;
	else
		for (size_t i = 0; i < r->count && !shown_of_group(o, SLOPE_GROUP_REST); i++)
			rest += r->row[i].group == SLOPE_GROUP_REST;
	if (rest)
		fprintf(out, "%zu more function%s%s (--top=0 shows all).\n", rest, rest == 1 ? "" : "s",
			o->sort == SLOPE_SORT_RANK ? ", none steep or above 1% of the cost itself" : "");
}

static void put_legend(const struct view *v, FILE *out)
{
	fputs(slope_style_on(SLOPE_STYLE_DIM, v->o->color), out);
	fprintf(out, "growth of the %s cost with n, the size of the input; exponent: 95%% interval; ev: evidence, A to D.\n"
		     "now: share of the cost, with callees; %s: the same if the inputs n of its calls were %g times as large.\n",
		v->o->of == SLOPE_COST_MAX ? "greatest" : v->o->of == SLOPE_COST_MIN ? "least" : "mean", v->later, v->o->times);
	if (v->rows->thread && v->wide)
		fprintf(out, "thread: part of the input that other threads%s have written.\n",
			slope_report_coroutines(v->p) ? " or coroutines" : "");
	if (v->rows->external && v->wide)
		fputs("extern: part of the input that came from outside (files, network, devices).\n", out);
	fputs("One function, its plot and its evidence: slope show NAME; what makes it grow: slope explain NAME", out);
	fprintf(out, "%s\n", slope_style_off(SLOPE_STYLE_DIM, v->o->color));
}

static void put_nothing(const struct slope_report_options *o, FILE *out)
{
	if (o->filter && o->filter[0])
		fprintf(out, "No function matches '%s'. Without * or ? a filter may stand anywhere in the name;\n"
			     "a function that the compiler inlined is part of its callers.\n", o->filter);
	else
		fputs("No function was recorded: the program ran none, or --toggle, --only and --skip left none.\n", out);
}

bool slope_report_text(const struct slope_profile *p, const struct slope_report_options *o, FILE *out)
{
	struct slope_report_rows r;
	unsigned width = o->width ? o->width : UINT_MAX;

	if (slope_profile_is_sampled(p))
		return slope_report_sampled_text(p, o, out);
	if (!slope_report_rows_init(&r, p, o))
		return false;
	struct view v = { .p = p, .rows = &r, .o = o, .width = width, .wide = width >= ROOM_FOR_PLOTS,
			  .curve = slope_curve_none() };
	bool ok = put_head(p, r.rank.program, o, out);

	snprintf(v.later, sizeof(v.later), "at %gx", o->times);
	fputc('\n', out);
	if (r.count) {
		ok &= put_rows(&v, out);
		fputc('\n', out);
		put_rest(&r, o, out);
		ok &= put_contexts(p, &r, o, out);
		ok &= put_paths(p, &r, o, out);
		ok &= put_ramps(&r, out);
		ok &= put_advice(&r, o, out);
		put_folded(p, &r, out);
		put_nameless(p, &r, out);
		put_legend(&v, out);
	} else {
		put_nothing(o, out);
	}
	slope_curve_fini(&v.curve);
	slope_report_rows_fini(&r);
	return ok;
}
