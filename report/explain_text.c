/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `slope explain`: for each level one sentence on how the function grows, a
 * table of its parts, and one sentence on the part that carries the growth;
 * then the culprit.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/clip.h"
#include "report/explain.h"
#include "report/functions.h"
#include "report/parts.h"
#include "report/path_link.h"

#define WORTH_A_ROW 0.005        /* of the growth; smaller parts are added up */
#define COLUMNS 7
#define NAME_COLUMNS 60

char *slope_explain_rise(const struct slope_growth *g, double rise, char text[SLOPE_RISE_TEXT])
{
	char order[SLOPE_ORDER_TEXT];

	if (g->verdict != SLOPE_VERDICT_INCONCLUSIVE)
		snprintf(text, SLOPE_RISE_TEXT, "%s", slope_order_text(g->model.order, order));
	else if (isnan(rise))
		snprintf(text, SLOPE_RISE_TEXT, "?");
	else if (fabs(rise) < 0.05)
		snprintf(text, SLOPE_RISE_TEXT, "about 1");
	else
		snprintf(text, SLOPE_RISE_TEXT, "about n^%.1f", rise);
	return text;
}

bool slope_explain_grows(const struct slope_growth *g, double rise)
{
	return g->verdict == SLOPE_VERDICT_INCONCLUSIVE ? fabs(rise) >= 0.05 : g->verdict != SLOPE_VERDICT_CONSTANT;
}

/* A name in a sentence: short, and harmless. */
static bool put_name(const struct slope_profile *p, uint32_t function, FILE *out)
{
	char *name = slope_clip_name(slope_profile_name(&p->function[function]), NAME_COLUMNS);

	if (!name)
		return false;
	fputs(name, out);
	free(name);
	return true;
}

/* ---- one level ---- */

static bool put_growth(const struct slope_level *level, const struct slope_profile *p, const struct slope_report_options *o,
		       FILE *out)
{
	const struct slope_growth *g = &level->growth;
	char text[SLOPE_GROWTH_TEXT], range[SLOPE_INTERVAL_TEXT], least[SLOPE_TABLE_REAL], most[SLOPE_TABLE_REAL];

	fputs(slope_style_on(SLOPE_STYLE_BOLD, o->color), out);
	bool ok = put_name(p, level->function, out);

	fputs(slope_style_off(SLOPE_STYLE_BOLD, o->color), out);
	if (g->verdict == SLOPE_VERDICT_INCONCLUSIVE)
		fprintf(out, ": %s", slope_reason_text(g->reason));
	else
		fprintf(out, " grows like %s", slope_growth_text(g, text));
	if (g->verdict != SLOPE_VERDICT_INCONCLUSIVE && *slope_growth_interval(g, range))
		fprintf(out, " (exponent %s)", range);
	if (g->sizes)
		fprintf(out, "; %zu size%s, n = %s", g->sizes, g->sizes == 1 ? "" : "s", slope_table_real(g->n_min, least));
	if (g->sizes > 1)
		fprintf(out, " to %s", slope_table_real(g->n_max, most));
	fputs(".\n", out);
	return ok;
}

static void add_part(struct slope_table *t, const struct slope_part *part, const struct slope_profile *p, bool first)
{
	enum slope_table_style style = first ? SLOPE_STYLE_HOT : SLOPE_STYLE_PLAIN;
	char text[SLOPE_RISE_TEXT], short_text[SLOPE_TABLE_REAL], percent[16];
	bool own = part->callee == SLOPE_FN_NONE;

	slope_table_add(t, style, "%s", slope_parts_percent(part->share, percent, sizeof(percent)));
	slope_table_add(t, SLOPE_STYLE_PLAIN, "%s", slope_explain_rise(&part->cost, part->cost_rise, text));
	slope_table_add(t, SLOPE_STYLE_PLAIN, "%s", own ? "-" : slope_table_real(part->calls_top, short_text));
	slope_table_add(t, SLOPE_STYLE_PLAIN, "%s", own ? "-" : slope_explain_rise(&part->calls, part->calls_rise, text));
	slope_table_add(t, SLOPE_STYLE_PLAIN, "%s", own ? "-" : slope_table_real(part->each_top, short_text));
	slope_table_add(t, SLOPE_STYLE_PLAIN, "%s", own ? "-" : slope_explain_rise(&part->each, part->each_rise, text));
	slope_table_add(t, style, "%s", own ? "(its own code)" : slope_profile_name(&p->function[part->callee]));
}

static bool put_parts(const struct slope_level *level, const struct slope_profile *p, const struct slope_report_options *o,
		      FILE *out)
{
	const struct slope_table_column column[COLUMNS] = {
		{ level->by_growth ? "of growth" : "of cost", true, 0 }, { "grows like", false, 0 },
		{ "calls", true, 0 }, { "grow like", false, 0 }, { "each", true, 0 }, { "grows like", false, 0 },
		{ "part", false, 18 },
	};
	double rest = level->rest;
	struct slope_table t;
	char percent[16];

	slope_table_init(&t, column, COLUMNS);
	for (size_t i = 0; i < level->parts; i++)
		if (!i || level->part[i].share >= WORTH_A_ROW)
			add_part(&t, &level->part[i], p, !i);
		else
			rest += level->part[i].share;
	bool ok = slope_table_print(&t, o->width, o->color, out);

	slope_table_fini(&t);
	if (rest >= 0.0005)
		fprintf(out, "and %s in smaller parts.\n", slope_parts_percent(rest, percent, sizeof(percent)));
	return ok;
}

static void put_recursion(const struct slope_level *level, FILE *out)
{
	char text[SLOPE_TABLE_REAL];

	if (!level->recursive)
		return;
	fprintf(out, "It calls itself, %s times an activation on average; the parts are those of one activation without these calls",
		slope_table_real(level->own_calls, text));
	if (!isnan(level->body_rise))
		fprintf(out, ",\nwhich take %s%.1f", fabs(level->body_rise) < 0.05 ? "about the same at any n: n^" : "about n^",
			level->body_rise);
	fputs(".\n", out);
}

/* "n times", "once", "2.50 times": a number where there is no growth to speak of. */
static void put_calls(const struct slope_part *part, FILE *out)
{
	char text[SLOPE_RISE_TEXT], short_text[SLOPE_TABLE_REAL];

	if (slope_explain_grows(&part->calls, part->calls_rise))
		fprintf(out, " is called %s times", slope_explain_rise(&part->calls, part->calls_rise, text));
	else if (part->calls_top == 1)
		fputs(" is called once", out);
	else
		fprintf(out, " is called %s times", slope_table_real(part->calls_top, short_text));
	if (slope_explain_grows(&part->each, part->each_rise))
		fprintf(out, " at %s each", slope_explain_rise(&part->each, part->each_rise, text));
	else
		fprintf(out, " at %s each", slope_table_real(part->each_top, short_text));
}

/* "strlen is called n times at n each: 97 % of the growth." */
static bool put_main_part(const struct slope_level *level, const struct slope_profile *p, FILE *out)
{
	const struct slope_part *part = &level->part[0];
	char cost[SLOPE_RISE_TEXT], percent[16];
	bool ok = true;

	if (part->callee != SLOPE_FN_NONE) {
		ok = put_name(p, part->callee, out);
		put_calls(part, out);
	} else if (slope_explain_grows(&part->cost, part->cost_rise)) {
		fprintf(out, "Its own code grows like %s", slope_explain_rise(&part->cost, part->cost_rise, cost));
	} else {
		fputs("Its own code", out);
	}
	fprintf(out, ": %s of the %s.\n", slope_parts_percent(part->share, percent, sizeof(percent)),
		level->by_growth ? "growth" : "cost");
	return ok;
}

static bool put_level(const struct slope_level *level, const struct slope_profile *p, const struct slope_report_options *o,
		      FILE *out)
{
	bool ok = put_growth(level, p, o, out);

	if (!level->parts) {
		fputs("No call of it has ended with points by this input size: nothing is known of its parts.\n", out);
		return ok;
	}
	if (!level->by_growth)
		fputs("Its sizes do not show any growth: the parts are parts of its cost.\n", out);
	if (level->contradicts)
		fputs("Its callees cost more than all of it: the profile contradicts itself, and so do the shares.\n", out);
	fputc('\n', out);
	ok &= put_parts(level, p, o, out);
	fputc('\n', out);
	put_recursion(level, out);
	return put_main_part(level, p, out) && ok;
}

/* ---- the end ---- */

/* X calls Y ... */
static bool put_pair(const struct slope_explanation *e, const struct slope_profile *p, const char *verb, const char *end,
		     FILE *out)
{
	bool ok = slope_parts_function(p, e->culprit, SLOPE_STYLE_PLAIN, false, out);

	fprintf(out, " %s ", verb);
	ok = ok && put_name(p, e->callee, out);
	fprintf(out, "%s\n", end);
	return ok;
}

static bool put_culprit(const struct slope_explanation *e, const struct slope_profile *p,
			const struct slope_report_options *o, FILE *out)
{
	fprintf(out, "\n%sculprit%s  ", slope_style_on(SLOPE_STYLE_BOLD, o->color), slope_style_off(SLOPE_STYLE_BOLD, o->color));
	switch (e->blame) {
	case SLOPE_BLAME_OFTEN:
		return put_pair(e, p, "calls", " more and more often.", out);
	case SLOPE_BLAME_BOTH:
		return put_pair(e, p, "calls", " more and more often, and each call has more to do.", out);
	case SLOPE_BLAME_LARGE:
		return put_pair(e, p, "gives", " ever more to do, which is as far as it can be followed.", out);
	case SLOPE_BLAME_SELF:
	case SLOPE_BLAME_DEEP: {
		bool ok = slope_parts_function(p, e->culprit, SLOPE_STYLE_PLAIN, false, out);

		fputs(e->blame == SLOPE_BLAME_SELF ? ", in its own code.\n" : ": it calls itself, and every time does as much again.\n",
		      out);
		return ok;
	}
	default:
		fputs("none: nothing grows.\n", out);
		return true;
	}
}

/* The path of the culprit's own code that grows, or has the most of it. */
static bool put_path(const struct slope_explanation *e, const struct slope_profile *p, const struct slope_report_options *o,
		     FILE *out)
{
	struct slope_path_link link = { p, e->culprit, o->metric, o->unit, NULL, o->ascii };

	if (!p->path_count || e->blame == SLOPE_BLAME_NOBODY)
		return true;
	link.lines = slope_blocklines_new(p, NULL);
	char *text = link.lines ? slope_path_link_text(&link) : NULL, *safe = text ? slope_clip_middle(text, SIZE_MAX) : NULL;

	if (safe && *safe)
		fprintf(out, "%spath%s     %s\n", slope_style_on(SLOPE_STYLE_BOLD, o->color),
			slope_style_off(SLOPE_STYLE_BOLD, o->color), safe);
	slope_blocklines_free(link.lines);
	free(text);
	free(safe);
	return safe;
}

bool slope_explain_text(const struct slope_explanation *e, const struct slope_profile *p,
			const struct slope_report_options *o, FILE *out)
{
	bool ok = true;

	for (size_t i = 0; i < e->levels; i++) {
		if (i)
			fputc('\n', out);
		ok &= put_level(&e->level[i], p, o, out);
	}
	if (!e->known)
		fputs("The profile has no callees by size: it was recorded by an older version, or no function called another.\n", out);
	return put_culprit(e, p, o, out) && put_path(e, p, o, out) && ok;
}
