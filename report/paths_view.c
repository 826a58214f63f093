/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/paths_view.h"

#include <inttypes.h>
#include <string.h>

#define DOUBLE_EXACT (UINT64_C(1) << 53)

bool slope_paths_view_init(struct slope_paths_view *v, const struct slope_profile *p, const struct slope_paths_options *o)
{
	*v = (struct slope_paths_view){ .p = p, .o = o };
	if (!slope_pathcosts_init(&v->c, p, &o->costs))
		return false;
	v->lines = slope_blocklines_new(p, o->debug_path);
	if (!v->lines) {
		slope_paths_view_fini(v);
		return false;
	}
	slope_pathcosts_sort(&v->c, o->sort);
	size_t hot = 0;

	/* Hot ones first, in the order that was asked for. */
	for (size_t i = 0; i < v->c.rows; i++)
		if (o->costs.function != SLOPE_PATHS_ALL || v->c.row[i].kind != SLOPE_PATH_COLD) {
			struct slope_pathcosts_row row = v->c.row[i];

			memmove(v->c.row + hot + 1, v->c.row + hot, (i - hot) * sizeof(row));
			v->c.row[hot++] = row;
		}
	v->of = hot;
	v->shown = o->report.top && o->report.top < hot ? o->report.top : hot;
	return true;
}

void slope_paths_view_fini(struct slope_paths_view *v)
{
	slope_pathcosts_fini(&v->c);
	slope_blocklines_free(v->lines);
	v->lines = NULL;
}

const char *slope_path_kind_name(enum slope_path_kind kind)
{
	static const char *const name[SLOPE_PATH_KINDS] = { "cold", "hot", "dense", "sparse" };

	return name[kind];
}

const char *slope_paths_metric_name(const struct slope_paths_view *v)
{
	return v->c.o.metric == SLOPE_PATHS_IR ? "ir" : v->p->path_metric_name[v->c.o.metric];
}

uint32_t slope_paths_callers(const struct slope_profile *p, uint32_t context, uint32_t *caller, uint32_t max)
{
	uint32_t count = 0;

	if (context == SLOPE_CONTEXT_NONE)
		return 0;
	for (context = p->context[context].parent; context != SLOPE_CONTEXT_NONE; context = p->context[context].parent) {
		if (count < max)
			caller[count] = p->context[context].function;
		count++;
	}
	return count;
}

void slope_paths_json_number(struct slope_json *j, const char *key, uint64_t number)
{
	char text[24];

	if (number <= DOUBLE_EXACT) {
		slope_json_uint(j, key, number);
		return;
	}
	snprintf(text, sizeof(text), "%" PRIu64, number);
	slope_json_string(j, key, text);
}
