/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The words of `slope diff`: one sentence for each function that is news, under
 * the heading of the worst thing that can be said of it, and a few sizes with
 * both costs where the curve is another one.
 */
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/pairing.h"
#include "report/clip.h"
#include "report/diff.h"
#include "report/parts.h"

#define ROWS 8                   /* sizes of a short table */
#define IMPACT_TOLD 0.01
#define NEARLY_ALL 0.95
#define UNCLEAR_SAID 5u          /* names of functions that lost their growth */
#define NAME_COLUMNS 60u

/* In the order in which they are shown. X(id, heading, style, which differences) */
#define HEADING_LIST(X)                                                                              \
	X(WORSE, "Growth is worse", HOT, d->growth > 0)                                              \
	X(COSTLIER, "Costs more at the same size", WARM, !d->growth && d->cost > 0)                  \
	X(BETTER, "Growth is better", BOLD, d->growth < 0)                                           \
	X(CHEAPER, "Costs less at the same size", BOLD, !d->growth && d->cost < 0)                   \
	X(WORKLOAD, "Called otherwise, at the same cost", BOLD, !d->growth && !d->cost && d->workload)     \
	X(APPEARED, "New", BOLD, d->appeared)                                                        \
	X(GONE, "Gone", BOLD, d->gone)

enum heading {
#define X(id, text, style, which) HEADING_##id,
	HEADING_LIST(X)
#undef X
	HEADINGS
};

static bool belongs(const struct slope_difference *d, enum heading heading)
{
	switch (heading) {
#define X(id, text, style, which) case HEADING_##id: return which;
	HEADING_LIST(X)
#undef X
	default:
		return false;
	}
}

/* Two digits behind the point where they say something: 0.031, 0.31, 3.1, 31, 310. */
static const char *times(double ratio, char text[16])
{
	int digits = ratio >= 9.95 ? 0 : ratio >= 1.95 ? 1 : ratio >= 0.095 ? 2 : 3;

	snprintf(text, 16, ratio < 1e9 ? "%.*f" : "%.*g", digits, ratio);
	return text;
}

/* ---- a function ---- */

static bool put_name(const struct slope_diff_view *v, const struct slope_difference *d, enum slope_table_style style,
		     FILE *out)
{
	bool there = d->now.function != SLOPE_PAIRING_NONE;

	fputs("  ", out);
	if (!slope_parts_function(there ? v->now : v->old, there ? d->now.function : d->old.function, style,
				     v->color, out))
		return false;
	fputs(": ", out);
	return true;
}

static void put_ratio(const struct slope_difference *d, bool tilted, FILE *out)
{
	const struct slope_ratio *r = &d->ratio;
	char a[16], b[16], c[16];

	if (tilted && d->growth)
		fprintf(out, "%s times the cost at n = %.0f", times(r->at_to, a), r->to);
	else if (tilted)
		fprintf(out, "%s times the cost at n = %.0f, %s times at n = %.0f", times(r->at_from, a), r->from,
			times(r->at_to, b), r->to);
	else if (r->bins > 1)
		fprintf(out, "%s times the cost (%s .. %s) for n = %.0f .. %.0f", times(exp(r->level), a),
			times(exp(r->level - 1.96 * r->level_error), b),
			times(exp(r->level + 1.96 * r->level_error), c), r->from, r->to);
	else
		fprintf(out, "%s times the cost for n = %.0f", times(exp(r->level), a), r->from);
}

/* Does the ratio say more at the ends than as a whole? */
static bool is_tilted(const struct slope_difference *d, const struct slope_compare_options *o)
{
	const struct slope_ratio *r = &d->ratio;

	return d->growth || (!isnan(r->tilt) && fabs(log(r->at_to / r->at_from)) > log(o->least_factor) &&
			     fabs(r->tilt) > 3 * r->tilt_error);
}

static void put_growth(const struct slope_difference *d, FILE *out)
{
	char before[SLOPE_GROWTH_TEXT], after[SLOPE_GROWTH_TEXT];
	const struct slope_growth *a = &d->old.growth, *b = &d->now.growth;

	fprintf(out, "growth %s -> %s", slope_growth_text(a, before), slope_growth_text(b, after));
	if (isfinite(a->exponent) && isfinite(b->exponent))
		fprintf(out, " (exponent %.2f -> %.2f)", a->exponent, b->exponent);
}

static void put_workload(const struct slope_difference *d, const struct slope_compare_options *o, FILE *out)
{
	const struct slope_growth *a = &d->old.growth, *b = &d->now.growth;
	bool sizes = d->ratio.distance >= o->least_workload;
	char before[SLOPE_TABLE_REAL], after[SLOPE_TABLE_REAL];

	if ((double)d->old.calls * d->runs != (double)d->now.calls) {
		fprintf(out, "calls %s -> %s", slope_table_number(d->old.calls, before),
			slope_table_number(d->now.calls, after));
		fprintf(out, "%s%s", d->runs != 1 ? " in another number of runs" : "", sizes ? ", " : "");
	}
	if (!sizes)
		return;
	fprintf(out, "n %s", slope_table_real(a->n_min, before));
	fprintf(out, "..%s -> ", slope_table_real(a->n_max, before));
	fprintf(out, "%s..%s, %.0f%% of the calls have other sizes", slope_table_real(b->n_min, before), slope_table_real(b->n_max, after),
		d->ratio.distance * 100);
}

static void put_whole(const struct slope_side *s, FILE *out)
{
	char calls[8], part[16], growth[SLOPE_GROWTH_TEXT];

	fprintf(out, "%s of the cost, %s call%s", slope_parts_percent(s->share, part, sizeof(part)),
		slope_table_number(s->calls, calls), s->calls == 1 ? "" : "s");
	if (s->growth.verdict != SLOPE_VERDICT_INCONCLUSIVE)
		fprintf(out, ", growth %s", slope_growth_text(&s->growth, growth));
}

static void put_sentence(const struct slope_diff_view *v, const struct slope_difference *d, FILE *out)
{
	const char *between = "";

	if (d->appeared || d->gone) {
		put_whole(d->appeared ? &d->now : &d->old, out);
		return;
	}
	if (d->growth) {
		put_growth(d, out);
		between = ", ";
	}
	if (d->ratio.bins && (d->growth || d->cost)) {
		fputs(between, out);
		put_ratio(d, is_tilted(d, v->options), out);
		between = "; ";
	}
	if (d->rising)
		fputs(", and that rises with n", out);
	if (!isnan(d->cross))
		fprintf(out, "; curves cross at n = %.0f", d->cross);
	if ((d->growth || d->cost) && d->in_callees >= NEARLY_ALL)
		fputs("; all in what it calls", out);
	if (d->workload) {
		fputs(between, out);
		put_workload(d, v->options, out);
	}
	bool known = d->old.growth.verdict != SLOPE_VERDICT_INCONCLUSIVE &&
		     d->now.growth.verdict != SLOPE_VERDICT_INCONCLUSIVE;

	if ((d->growth || d->cost) && known && fabs(d->impact) >= IMPACT_TOLD)
		fprintf(out, "; %+.0f%% of the program's cost at 10 times the sizes", d->impact * 100);
}

/* ---- points ---- */

struct mean {
	double calls, n, cost, weight;
};

static void add_point(struct mean *m, const struct slope_curve_point *point, enum slope_statistic of)
{
	double weight = of == SLOPE_COST_MEAN ? point->calls : 1;

	m->calls += point->calls;
	m->n += point->n * weight;
	m->cost += point->cost[of] * weight;
	m->weight += weight;
}

static void add_side(struct slope_table *t, const struct mean *m)
{
	char calls[SLOPE_TABLE_REAL], cost[SLOPE_TABLE_REAL];

	if (m->weight > 0) {
		slope_table_add(t, SLOPE_STYLE_PLAIN, "%s", slope_table_real(m->calls, calls));
		slope_table_add(t, SLOPE_STYLE_PLAIN, "%s", slope_table_real(m->cost / m->weight, cost));
	} else {
		slope_table_add(t, SLOPE_STYLE_PLAIN, "-");
		slope_table_add(t, SLOPE_STYLE_PLAIN, "-");
	}
}

static void add_row(struct slope_table *t, const struct mean *a, const struct mean *b)
{
	const struct mean *size = b->weight > 0 ? b : a;
	double before = a->cost / a->weight, after = b->cost / b->weight;
	char text[16];

	if (!(a->weight > 0) && !(b->weight > 0))
		return;
	slope_table_add(t, SLOPE_STYLE_PLAIN, "%s", "");
	slope_table_add(t, SLOPE_STYLE_PLAIN, "%.0f", size->n / size->weight);
	add_side(t, a);
	add_side(t, b);
	if (a->weight > 0 && b->weight > 0 && before > 0)
		slope_table_add(t, SLOPE_STYLE_PLAIN, "%s", times(after / before, text));
	else
		slope_table_add(t, SLOPE_STYLE_PLAIN, "-");
}

/* Sizes up to `edge` that are not taken yet, as one row. */
static void add_up_to(struct slope_table *t, struct slope_curve *const curve[2], size_t at[2], double edge,
		      enum slope_statistic of)
{
	struct mean side[2] = { { 0 } };

	for (int s = 0; s < 2; s++)
		for (; at[s] < curve[s]->count && curve[s]->point[at[s]].n <= edge; at[s]++)
			add_point(&side[s], &curve[s]->point[at[s]], of);
	add_row(t, &side[0], &side[1]);
}

static void add_points(struct slope_table *t, struct slope_curve *const curve[2], bool all, enum slope_statistic of)
{
	size_t at[2] = { 0, 0 };
	double least = INFINITY, most = 0;

	for (int s = 0; s < 2; s++)
		if (curve[s]->count) {
			least = fmin(least, curve[s]->point[0].n);
			most = fmax(most, curve[s]->point[curve[s]->count - 1].n);
		}
	for (int i = 1; !all && i <= ROWS; i++)
		add_up_to(t, curve, at,
			  i == ROWS ? most : (least + 1) * pow((most + 1) / (least + 1), (double)i / ROWS) - 1, of);
	while (at[0] < curve[0]->count || at[1] < curve[1]->count) {
		double edge = INFINITY;

		for (int s = 0; s < 2; s++)
			if (at[s] < curve[s]->count)
				edge = fmin(edge, curve[s]->point[at[s]].n);
		add_up_to(t, curve, at, edge, of);
	}
}

static bool put_points(const struct slope_diff_view *v, const struct slope_difference *d, FILE *out)
{
	static const struct slope_table_column column[] = {
		{ "   ", false, 0 }, { "n", true, 0 }, { "calls", true, 0 }, { "old cost", true, 0 },
		{ "calls", true, 0 }, { "new cost", true, 0 }, { "ratio", true, 0 },
	};
	const struct slope_compare_options *o = v->options;
	struct slope_curve old = slope_curve_none(), now = slope_curve_none(), *const both[2] = { &old, &now };
	struct slope_table t;
	bool good = slope_curve_load(&old, v->old, d->old.function, SLOPE_CURVE_ALL_THREADS, o->metric, o->old_unit) &&
		    slope_curve_load(&now, v->now, d->now.function, SLOPE_CURVE_ALL_THREADS, o->metric, o->now_unit);

	slope_table_init(&t, column, sizeof(column) / sizeof(*column));
	if (good)
		add_points(&t, both, v->points, o->of);
	good = good && slope_table_print(&t, 0, v->color, out);
	slope_table_fini(&t);
	slope_curve_fini(&old);
	slope_curve_fini(&now);
	return good;
}

/* ---- the page ---- */

static bool put_section(const struct slope_diff_view *v, enum heading heading, FILE *out)
{
	static const struct {
		const char *text;
		enum slope_table_style style;
	} look[] = {
#define X(id, text, style, which) { text, SLOPE_STYLE_##style },
		HEADING_LIST(X)
#undef X
	};
	size_t shown = 0, more = 0;

	for (size_t i = 0; i < v->comparison->count; i++) {
		const struct slope_difference *d = &v->comparison->entry[i];

		if (!belongs(d, heading))
			continue;
		if (v->top && shown == v->top) {
			more++;
			continue;
		}
		if (!shown++)
			fprintf(out, "\n%s:\n", look[heading].text);
		if (!put_name(v, d, look[heading].style, out))
			return false;
		put_sentence(v, d, out);
		fputc('\n', out);
		if ((d->growth || (v->points && d->cost)) && !put_points(v, d, out))
			return false;
	}
	if (more)
		fprintf(out, "  %zu more (--top=0 shows all)\n", more);
	return true;
}

static bool put_side(const char *label, const struct slope_diff_view *v, bool now, FILE *out)
{
	const struct slope_comparison *c = v->comparison;
	char cost[8], *path = slope_clip_middle(now ? v->now_path : v->old_path, SIZE_MAX), text[16];

	if (!path)
		return false;
	uint64_t runs = now ? v->now->runs : v->old->runs;
	double times_more = fmax((double)v->now->runs, 1) / fmax((double)v->old->runs, 1);

	fprintf(out, "%s%s%s  %s: %s %s in all", slope_style_on(SLOPE_STYLE_BOLD, v->color), label,
		slope_style_off(SLOPE_STYLE_BOLD, v->color), path,
		slope_table_number(now ? c->now_program : c->old_program, cost),
		v->now->unit_name[v->options->now_unit]);
	if (runs > 1)
		fprintf(out, " of %" PRIu64 " runs", runs);
	if (now && c->old_program && c->now_program)
		fprintf(out, ", %s times the old cost%s",
			times((double)c->now_program / (double)c->old_program / times_more, text),
			times_more != 1 ? " of a run" : "");
	fputc('\n', out);
	free(path);
	return true;
}

/* A gate that cannot decide must say whom to look at. */
static bool put_unclear_names(const struct slope_diff_view *v, FILE *out)
{
	const struct slope_comparison *c = v->comparison;
	size_t said = 0;

	for (size_t i = 0; i < c->count && said < UNCLEAR_SAID; i++) {
		if (!c->entry[i].unclear)
			continue;
		char *name = slope_clip_name(v->now->function[c->entry[i].now.function].name, NAME_COLUMNS);

		if (!name)
			return false;
		fprintf(out, "%s%s", said++ ? ", " : ": ", name);
		free(name);
	}
	fputs(said < c->unclear ? ", ...\n" : "\n", out);
	return true;
}

static bool put_unclear(const struct slope_diff_view *v, FILE *out)
{
	const struct slope_comparison *c = v->comparison;
	bool good = true;

	if (c->unclear) {
		fprintf(out, "%zu function%s had a growth in the old profile and %s none in the new one", c->unclear,
			c->unclear == 1 ? "" : "s", c->unclear == 1 ? "has" : "have");
		good = put_unclear_names(v, out);
	}
	if (c->nameless)
		fprintf(out, "%zu function%s without symbols cannot be recognized in the other build.\n", c->nameless,
			c->nameless == 1 ? "" : "s");
	return good;
}

bool slope_diff_text(const struct slope_diff_view *v, FILE *out)
{
	const struct slope_comparison *c = v->comparison;
	size_t news = 0;
	bool good = put_side("old", v, false, out) && put_side("new", v, true, out);

	for (size_t i = 0; i < c->count; i++)
		news += slope_difference_is_news(&c->entry[i]);
	if (!news)
		fprintf(out, "\nNothing changed.\n");
	for (int h = 0; good && h < HEADINGS; h++)
		good = put_section(v, (enum heading)h, out);
	fprintf(out,
		"\n%zu function%s, %zu with sizes enough to compare their growth; below %g%% of the cost is no news.\n",
		c->count, c->count == 1 ? "" : "s", c->compared, v->options->share * 100);
	good = good && put_unclear(v, out);
	if (v->result)
		fprintf(out, "gate: %s\n", v->result);
	return good;
}
