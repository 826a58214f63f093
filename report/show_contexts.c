/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One function by its callers, for `slope show`: a plot with a mark for each context, and how each of them grows. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/clip.h"
#include "report/parts.h"
#include "report/show_page.h"

#define MARKS 4u                 /* contexts that a plot tells apart; the others share one */
#define LEGEND_COLUMNS 24u
#define CONTEXTS_SHOWN 10u

/* ---- plot ---- */

struct marks {
	double *n, *cost;            /* of all contexts, one after the other */
	char *name[MARKS + 1];
	struct slope_plot_series series[MARKS + 1];
	size_t count;
};

static bool add_series(struct marks *m, const struct slope_show *s, size_t first, size_t count, size_t *used)
{
	static const struct {
		const char *mark;
		char ascii;
		enum slope_table_style style;
	} look[MARKS + 1] = {
		{ "●", 'o', SLOPE_STYLE_BOLD }, { "△", '^', SLOPE_STYLE_HOT }, { "◆", '#', SLOPE_STYLE_WARM },
		{ "▽", 'v', SLOPE_STYLE_PLAIN }, { "·", '.', SLOPE_STYLE_DIM },
	};
	size_t begin = *used, at = m->count;
	char *callers = at < MARKS ? slope_contrast_callers(&s->contrast.part[first], s->p, s->o.ascii ? " <- " : " ← ") :
				     strdup("other callers");

	m->name[at] = callers ? slope_clip_middle(callers, LEGEND_COLUMNS) : NULL;
	free(callers);
	if (!m->name[at])
		return false;
	for (size_t i = first; i < first + count; i++) {
		const struct slope_curve *curve = &s->contrast.part[i].curve;

		for (size_t k = 0; k < curve->count; k++, ++*used) {
			m->n[*used] = curve->point[k].n;
			m->cost[*used] = curve->point[k].cost[SLOPE_COST_MEAN];
		}
	}
	m->series[m->count++] = (struct slope_plot_series){
		m->name[at], SLOPE_PLOT_MARKS, look[at].mark, look[at].ascii, look[at].style, m->n + begin, m->cost + begin,
		*used - begin,
	};
	return true;
}

static bool gather(struct marks *m, const struct slope_show *s)
{
	size_t points = 0, used = 0, shown = s->contrast.count < MARKS ? s->contrast.count : MARKS;
	bool ok = true;

	for (size_t i = 0; i < s->contrast.count; i++)
		points += s->contrast.part[i].curve.count;
	m->n = malloc((points + 1) * sizeof(*m->n));
	m->cost = malloc((points + 1) * sizeof(*m->cost));
	if (!m->n || !m->cost)
		return false;
	for (size_t i = 0; ok && i < shown; i++)
		ok = add_series(m, s, i, 1, &used);
	return ok && (shown == s->contrast.count || add_series(m, s, shown, s->contrast.count - shown, &used));
}

bool slope_page_split(const struct slope_show *s, struct slope_plot *plot, FILE *out)
{
	struct marks m = { 0 };
	const char *unit = s->p->unit_name[s->o.unit] ? s->p->unit_name[s->o.unit] : "?";
	char title[64];
	bool ok = gather(&m, s);

	snprintf(title, sizeof(title), "mean cost (%s%s), from", unit, plot->y.log ? ", log" : "");
	plot->y_title = title;
	plot->series = m.series;
	plot->count = m.count;
	ok = ok && slope_plot_print(plot, out);
	for (size_t i = 0; i <= MARKS; i++)
		free(m.name[i]);
	free(m.n);
	free(m.cost);
	return ok;
}

/* ---- table ---- */

static bool add_context(struct slope_table *t, const struct slope_show *s, const struct slope_contrast_part *v)
{
	char *callers = slope_contrast_callers(v, s->p, s->o.ascii ? " <- " : " ← ");
	char text[SLOPE_SHOW_TEXT], low[SLOPE_TABLE_REAL], high[SLOPE_TABLE_REAL];
	bool steep = s->contrast.differ && slope_contrast_is_steep(&s->contrast, v);

	if (!callers)
		return false;
	slope_table_add(t, steep ? SLOPE_STYLE_HOT : SLOPE_STYLE_PLAIN, "%s", callers);
	free(callers);
	slope_table_add(t, SLOPE_STYLE_PLAIN, "%s", slope_table_number(v->calls, low));
	if (!v->growth.sizes)
		slope_table_add(t, SLOPE_STYLE_PLAIN, "-");
	else
		slope_table_add(t, SLOPE_STYLE_PLAIN, "%s..%s", slope_table_real(v->growth.n_min, low),
				slope_table_real(v->growth.n_max, high));
	slope_table_add(t, SLOPE_STYLE_PLAIN, "%s", slope_table_number(v->total, low));
	slope_table_add(t, SLOPE_STYLE_PLAIN, "%s", slope_parts_part(v->total, s->total, low, sizeof(low)));
	slope_table_add(t, steep ? SLOPE_STYLE_HOT : SLOPE_STYLE_PLAIN, "%s", slope_show_growth(&v->growth, text));
	return true;
}

bool slope_page_contexts(const struct slope_show *s, FILE *out)
{
	static const struct slope_table_column column[] = {
		{ "from", false, 12 }, { "calls", true, 0 }, { "n", true, 0 }, { "cost", true, 0 }, { "share", true, 0 },
		{ "growth", false, 12 },
	};
	const struct slope_contrast *v = &s->contrast;
	size_t shown = v->count < CONTEXTS_SHOWN ? v->count : CONTEXTS_SHOWN;
	struct slope_table t;
	bool ok = true;

	if (!v->count)
		return true;
	slope_table_init(&t, column, 6);
	for (size_t i = 0; ok && i < shown; i++)
		ok = add_context(&t, s, &v->part[i]);
	fputc('\n', out);
	ok = ok && slope_table_print(&t, slope_page_width(s), s->o.color, out);
	slope_table_fini(&t);
	if (shown < v->count)
		fprintf(out, "%zu more contexts, each of less cost\n", v->count - shown);
	return ok;
}
