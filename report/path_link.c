/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "report/path_link.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/pathgrowth.h"
#include "report/explain.h"
#include "report/parts.h"
#include "report/path_steps.h"
#include "report/paths_view.h"

static char *path_text(const struct slope_path_link *l, const struct slope_pathgrowth *g)
{
	const struct slope_profile_graph *graph = &l->p->graph[g->graph];
	struct slope_path_steps s;

	if (!slope_path_steps_init(&s, l->p, graph, g->number, SLOPE_PATH_NOT_STOPPED, l->lines))
		return NULL;
	char *text = slope_path_steps_text(&s, l->p->function[graph->function].file, l->ascii);

	slope_path_steps_fini(&s);
	return text;
}

/* "n times a call"; a number where there is no growth to speak of. */
static void times_text(const struct slope_pathgrowth *g, char text[64])
{
	char grows[SLOPE_RISE_TEXT], number[SLOPE_TABLE_REAL];
	double times = g->by_size ? g->top : g->per_call;

	if (g->by_size && slope_explain_grows(&g->growth, g->rise))
		snprintf(text, 64, "%s times a call", slope_explain_rise(&g->growth, g->rise, grows));
	else if (isnan(times))
		snprintf(text, 64, "some of the time");
	else
		snprintf(text, 64, "%s times a call", slope_table_real(times, number));
}

char *slope_path_link_text(const struct slope_path_link *l)
{
	struct slope_pathgrowth g;
	char percent[16], times[64], *text = NULL;

	if (!slope_pathgrowth_of(&g, l->p, l->function, l->metric, l->unit))
		return NULL;
	if (!g.found)
		return calloc(1, 1);
	char *path = path_text(l, &g);

	times_text(&g, times);
	slope_parts_percent(g.by_size ? g.of_growth : g.share, percent, sizeof(percent));
	if (path && asprintf(&text, g.by_size ?
			     "%s of the growth of its own instructions is on a path that is taken %s: %s" :
			     "%s of its own instructions are on a path that is taken %s: %s", percent, times, path) < 0)
		text = NULL;
	free(path);
	return text;
}

static void put_growth(struct slope_json *j, const struct slope_pathgrowth *g)
{
	char grows[SLOPE_RISE_TEXT];

	if (!g->by_size) {
		slope_json_null(j, "by_size");
		return;
	}
	slope_json_object(j, "by_size", true);
	slope_json_real(j, "of_growth", g->of_growth);
	slope_json_string(j, "grows_like", slope_explain_rise(&g->growth, g->rise, grows));
	slope_json_real(j, "slope", g->rise);
	slope_json_real(j, "at_largest_n", g->top);
	slope_json_end(j);
}

bool slope_path_link_json(const struct slope_path_link *l, struct slope_json *j, const char *key)
{
	struct slope_pathgrowth g;

	if (!slope_pathgrowth_of(&g, l->p, l->function, l->metric, l->unit))
		return false;
	if (!g.found) {
		slope_json_null(j, key);
		return true;
	}
	char *path = path_text(l, &g);

	slope_json_object(j, key, true);
	slope_json_uint(j, "graph", g.graph);
	slope_paths_json_number(j, "number", g.number);
	slope_json_string(j, "text", path);
	slope_json_uint(j, "instructions_each", g.each);
	slope_json_real(j, "instructions_share", g.share);
	slope_json_real(j, "executions_per_call", g.per_call);
	put_growth(j, &g);
	slope_json_end(j);
	free(path);
	return path;
}
