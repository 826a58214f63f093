/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables of `slope show`, and its source lines. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/clip.h"
#include "report/parts.h"
#include "report/show_page.h"

#define WIDTH_PLAIN 80u
#define WIDTH_LEAST 72u
#define WIDTH_MOST 120u
#define THREADS_SHOWN 10u
#define TAB_COLUMNS 4u

unsigned slope_page_width(const struct slope_show *s)
{
	unsigned width = s->o.width ? s->o.width : WIDTH_PLAIN;

	return width < WIDTH_LEAST ? WIDTH_LEAST : width > WIDTH_MOST ? WIDTH_MOST : width;
}

static void add_tail(struct slope_table *t, const struct slope_guess *g)
{
	const char *unclear = g->low > 0 ? "still rises" : g->high < 0 ? "still falls" : "unclear";
	char level[16], least[16], most[16];

	switch (g->trend) {
	case SLOPE_TREND_FALLS:
	case SLOPE_TREND_RISES:
		slope_table_add(t, SLOPE_STYLE_PLAIN, "%s as n^%.2f (%.2f..%.2f)", slope_trend_name(g->trend),
				g->slope, g->low, g->high);
		break;
	case SLOPE_TREND_LEVELS:
		slope_table_add(t, SLOPE_STYLE_PLAIN, "levels off at %s (%s..%s)", slope_table_real(g->level, level),
				slope_table_real(g->least, least), slope_table_real(g->most, most));
		break;
	default:
		if (!isfinite(g->slope))
			slope_table_add(t, SLOPE_STYLE_PLAIN, "unclear: too short");
		else
			slope_table_add(t, SLOPE_STYLE_PLAIN, "%s (n^%.2f..%.2f)", unclear, g->low, g->high);
	}
	slope_table_add(t, g->trend == SLOPE_TREND_LEVELS ? SLOPE_STYLE_BOLD : SLOPE_STYLE_PLAIN, "%s",
			slope_trend_meaning(g->trend));
}

static bool put_guesses(const struct slope_show *s, FILE *out)
{
	size_t bins = s->guesses ? s->guess[0].count : 0, at[] = { 0, bins / 2, bins ? bins - 1 : 0 };
	char title[3][24], value[16];
	struct slope_table_column column[] = {
		{ "g(n)", false, 0 }, { title[0], true, 0 }, { title[1], true, 0 }, { title[2], true, 0 },
		{ "tail of cost / g(n)", false, 22 }, { "so g", false, 0 },
	};
	struct slope_table t;

	if (bins < 3)
		return true;
	for (size_t k = 0; k < 3; k++)
		snprintf(title[k], sizeof(title[k]), "n=%s", slope_table_real(s->guess[0].n[at[k]], value));
	slope_table_init(&t, column, 6);
	for (size_t i = 0; i < s->guesses; i++) {
		const struct slope_guess *g = &s->guess[i];
		char order[SLOPE_ORDER_TEXT];

		slope_table_add(&t, SLOPE_STYLE_PLAIN, "%s", slope_order_text(g->order, order));
		for (size_t k = 0; k < 3; k++)
			slope_table_add(&t, SLOPE_STYLE_PLAIN, "%s", slope_table_real(g->ratio[at[k]], value));
		add_tail(&t, g);
	}
	fputc('\n', out);
	bool ok = slope_table_print(&t, slope_page_width(s), s->o.color, out);

	slope_table_fini(&t);
	return ok;
}

static void add_thread(struct slope_table *t, const struct slope_show *s, const struct slope_show_thread *part)
{
	const struct slope_profile_thread *thread = &s->p->thread[part->thread];
	char text[SLOPE_SHOW_TEXT], least[16], most[16];

	if (thread->name && thread->name[0])
		slope_table_add(t, SLOPE_STYLE_PLAIN, "%" PRIu32 " %s", thread->id, thread->name);
	else
		slope_table_add(t, SLOPE_STYLE_PLAIN, "%" PRIu32, thread->id);
	slope_table_add(t, SLOPE_STYLE_PLAIN, "%s", slope_table_number(part->calls, least));
	if (!part->growth.sizes)
		slope_table_add(t, SLOPE_STYLE_PLAIN, "-");
	else
		slope_table_add(t, SLOPE_STYLE_PLAIN, "%s..%s", slope_table_real(part->growth.n_min, least),
				slope_table_real(part->growth.n_max, most));
	slope_table_add(t, SLOPE_STYLE_PLAIN, "%s", slope_table_number(part->total, least));
	slope_table_add(t, SLOPE_STYLE_PLAIN, "%s", slope_parts_part(part->total, s->total, least, sizeof(least)));
	slope_table_add(t, SLOPE_STYLE_PLAIN, "%s", slope_show_growth(&part->growth, text));
}

static bool put_threads(const struct slope_show *s, FILE *out)
{
	static const struct slope_table_column column[] = {
		{ "thread", false, 8 }, { "calls", true, 0 }, { "n", true, 0 },
		{ "cost", true, 0 }, { "share", true, 0 }, { "growth", false, 12 },
	};
	size_t shown = s->threads < THREADS_SHOWN ? s->threads : THREADS_SHOWN;
	struct slope_table t;

	if (s->threads < 2)
		return true;
	slope_table_init(&t, column, 6);
	for (size_t i = 0; i < shown; i++)
		add_thread(&t, s, &s->thread[i]);
	fputc('\n', out);
	bool ok = slope_table_print(&t, slope_page_width(s), s->o.color, out);

	if (shown < s->threads)
		fprintf(out, "%zu more threads, each of less cost\n", s->threads - shown);
	slope_table_fini(&t);
	return ok;
}

static void add_neighbour(struct slope_table *t, const struct slope_show *s, const struct slope_show_neighbour *n)
{
	const char *name = s->p->function[n->function].name;
	bool inner = n->function == s->o.function;
	char text[16];

	slope_table_add(t, SLOPE_STYLE_PLAIN, "%s", slope_table_number(n->calls, text));
	if (inner) {                 /* costs nothing that the outermost call has not */
		slope_table_add(t, SLOPE_STYLE_PLAIN, "-");
		slope_table_add(t, SLOPE_STYLE_PLAIN, "-");
	} else {
		slope_table_add(t, SLOPE_STYLE_PLAIN, "%s", slope_table_number(n->cost, text));
		slope_table_add(t, SLOPE_STYLE_PLAIN, "%s", slope_parts_part(n->cost, s->total, text, sizeof(text)));
	}
	slope_table_add(t, SLOPE_STYLE_PLAIN, "%s%s", name ? name : "?", inner ? " (recursion)" : "");
}

static bool put_neighbours(const struct slope_show *s, const char *title, const struct slope_show_neighbour *list,
			   size_t count, bool own, FILE *out)
{
	const struct slope_table_column column[] = {
		{ "calls", true, 0 }, { "cost", true, 0 }, { "share", true, 0 }, { title, false, 18 },
	};
	size_t shown = count < SLOPE_SHOW_NEIGHBOURS ? count : SLOPE_SHOW_NEIGHBOURS;
	struct slope_table t;
	char text[16];

	if (!count)
		return true;
	slope_table_init(&t, column, 4);
	for (size_t i = 0; i < shown; i++)
		add_neighbour(&t, s, &list[i]);
	if (own) {
		slope_table_add(&t, SLOPE_STYLE_PLAIN, "-");
		slope_table_add(&t, SLOPE_STYLE_PLAIN, "%s", slope_table_number(s->self, text));
		slope_table_add(&t, SLOPE_STYLE_PLAIN, "%s", slope_parts_part(s->self, s->total, text, sizeof(text)));
		slope_table_add(&t, SLOPE_STYLE_DIM, "(its own code)");
	}
	fputc('\n', out);
	bool ok = slope_table_print(&t, slope_page_width(s), s->o.color, out);

	if (shown < count)
		fprintf(out, "%zu more, each of less cost\n", count - shown);
	slope_table_fini(&t);
	return ok;
}

bool slope_page_tables(const struct slope_show *s, FILE *out)
{
	return put_guesses(s, out) && slope_page_contexts(s, out) && put_threads(s, out) &&
	       put_neighbours(s, "called by", s->caller, s->callers, false, out) &&
	       put_neighbours(s, "calls", s->callee, s->callees, true, out);
}

/* ---- source ---- */

/* A line with its tabs as blanks, within the page. */
static bool put_source_line(const struct slope_show *s, uint32_t number, const char *line, FILE *out)
{
	size_t length = 0, at = 0;
	char *wide = malloc(strlen(line) * TAB_COLUMNS + 1);

	if (!wide)
		return false;
	for (; line[at]; at++) {
		if (line[at] != '\t') {
			wide[length++] = line[at];
			continue;
		}
		do
			wide[length++] = ' ';
		while (length % TAB_COLUMNS);
	}
	wide[length] = '\0';
	char *safe = slope_clip_middle(wide, slope_page_width(s) - 7);

	free(wide);
	if (safe)
		fprintf(out, "%s%5" PRIu32 "%s%s%s\n", slope_style_on(SLOPE_STYLE_DIM, s->o.color), number,
			slope_style_off(SLOPE_STYLE_DIM, s->o.color), *safe ? "  " : "", safe);
	free(safe);
	return safe != NULL;
}

bool slope_page_source(const struct slope_show *s, FILE *out)
{
	const struct slope_listing *l = &s->listing;

	if (!l->path)
		return true;
	bool newer = s->o.recorded && l->changed > s->o.recorded, ok = true;
	char *path = slope_clip_middle(l->path, slope_page_width(s) - (newer ? 36 : 8));

	if (path)
		fprintf(out, "\n%s%s%s%s\n", slope_style_on(SLOPE_STYLE_BOLD, s->o.color), path,
			slope_style_off(SLOPE_STYLE_BOLD, s->o.color),
			newer ? " (changed since the profile was made)" : "");
	ok = path != NULL;
	free(path);
	for (size_t i = 0; i < l->count; i++)
		ok &= put_source_line(s, l->first + (uint32_t)i, l->line[i], out);
	if (l->more)
		fprintf(out, "  ... %" PRIu32 " more line%s\n", l->more, l->more == 1 ? "" : "s");
	return ok;
}
