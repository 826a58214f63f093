/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the page's slider moves: for inputs k times as large, each k of a list,
 * the group of every function, its share then, and the order, as `slope report
 * --times=k` has them. Positions are those in the report's own list.
 */
#include <math.h>
#include <stdlib.h>

#include "report/json.h"
#include "report/page_write.h"

#define NEXT_TO_NOTHING 0.0005       /* a share that is shown as less than 0.1 % */
#define STOPS_MAX 16u

static size_t list_stops(double times, double stop[STOPS_MAX])
{
	static const double usual[] = SLOPE_PAGE_TIMES;
	size_t count = 0;
	bool there = false;

	for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++) {
		if (!there && usual[i] >= times) {
			there = true;
			if (usual[i] > times)
				stop[count++] = times;
		}
		stop[count++] = usual[i];
	}
	if (!there)
		stop[count++] = times;
	return count;
}

/* By the position in the report, whatever order the rows have now. */
static void put_by_position(struct slope_json *j, const struct slope_rank *r, const size_t *position, const size_t *row)
{
	slope_json_array(j, "group", true);
	for (size_t i = 0; i < r->count; i++)
		slope_json_uint(j, NULL, r->row[row[i]].group);
	slope_json_end(j);
	slope_json_array(j, "share", true);
	for (size_t i = 0; i < r->count; i++) {
		double later = r->row[row[i]].later;

		slope_json_real(j, NULL, later < NEXT_TO_NOTHING ? 0 : rint(later * 1e5) / 1e5);
	}
	slope_json_end(j);
	/* The rest has one order whatever k is, and comes last. */
	slope_json_array(j, "order", true);
	for (size_t i = 0; i < r->count && r->row[i].group != SLOPE_GROUP_REST; i++)
		slope_json_uint(j, NULL, position[r->row[i].function]);
	slope_json_end(j);
	slope_json_array(j, "via", true);
	for (size_t i = 0; i < r->count && r->row[i].group == SLOPE_GROUP_HURTS; i++)
		if (r->row[i].via != SLOPE_FN_NONE) {
			slope_json_array(j, NULL, true);
			slope_json_uint(j, NULL, position[r->row[i].function]);
			slope_json_uint(j, NULL, position[r->row[i].via]);
			slope_json_end(j);
		}
	slope_json_end(j);
}

static bool put_stops(struct slope_json *j, const struct slope_page *page, struct slope_rank *r, const size_t *position)
{
	double stop[STOPS_MAX];
	size_t stops = list_stops(page->o.times, stop), *row = calloc(r->count + 1, sizeof(*row));
	bool good = row;

	slope_json_array(j, "at", false);
	for (size_t i = 0; good && i < stops; i++) {
		const struct slope_rank_options o = { page->o.unit, page->o.metric, page->o.of, stop[i] };

		good = slope_rank_again(r, page->p, &o);
		for (size_t k = 0; k < r->count; k++)
			row[position[r->row[k].function]] = k;
		slope_json_object(j, NULL, false);
		slope_json_real(j, "times", stop[i]);
		put_by_position(j, r, position, row);
		slope_json_end(j);
	}
	slope_json_end(j);
	free(row);
	return good;
}

bool slope_page_ranks(const struct slope_page *page, struct slope_rank *r, FILE *out)
{
	size_t *position = calloc(page->p->function_count + 1, sizeof(*position));
	struct slope_json j;

	if (!position)
		return false;
	slope_json_init(&j, out);
	slope_json_object(&j, NULL, false);
	slope_json_array(&j, "function", true);
	for (size_t i = 0; i < r->count; i++) {
		position[r->row[i].function] = i;
		slope_json_uint(&j, NULL, r->row[i].function);
	}
	slope_json_end(&j);
	bool good = put_stops(&j, page, r, position);

	slope_json_end(&j);
	free(position);
	return good;
}
