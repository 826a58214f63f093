/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/growth_json.h"

static void put_order(struct slope_json *j, const char *key, bool known, struct slope_order order)
{
	char text[SLOPE_ORDER_TEXT];

	slope_json_string(j, key, known ? slope_order_text(order, text) : NULL);
}

void slope_growth_json(struct slope_json *j, const char *key, const struct slope_growth *g)
{
	slope_json_object(j, key, true);
	slope_json_string(j, "verdict", slope_verdict_name(g->verdict));
	put_order(j, "model", g->fitted, g->model.order);
	put_order(j, "least", g->fitted, g->least);
	put_order(j, "most", g->fitted, g->most);
	slope_json_real(j, "exponent", g->exponent);
	slope_json_real(j, "low", g->low);
	slope_json_real(j, "high", g->high);
	slope_json_real(j, "r2", g->r2);
	slope_json_real(j, "error", g->error);
	slope_json_real(j, "evidence", g->evidence);
	if (g->sizes) {
		slope_json_object(j, "n", true);
		slope_json_real(j, "from", g->n_min);
		slope_json_real(j, "to", g->n_max);
		slope_json_end(j);
	} else {
		slope_json_null(j, "n");
	}
	slope_json_string(j, "reason", g->reason ? slope_reason_text(g->reason) : NULL);
	slope_json_end(j);
}

void slope_curve_json(struct slope_json *j, const char *key, const struct slope_curve *curve, enum slope_statistic of)
{
	slope_json_array(j, key, true);
	for (size_t i = 0; i < curve->count; i++) {
		slope_json_array(j, NULL, true);
		slope_json_uint(j, NULL, (uint64_t)curve->point[i].n);
		slope_json_uint(j, NULL, (uint64_t)curve->point[i].calls);
		slope_json_real(j, NULL, curve->point[i].cost[of]);
		slope_json_end(j);
	}
	slope_json_end(j);
}

const char *slope_statistic_name(enum slope_statistic of)
{
	static const char *const name[SLOPE_STATISTICS] = {
		[SLOPE_COST_MEAN] = "mean", [SLOPE_COST_MAX] = "max", [SLOPE_COST_MIN] = "min",
	};

	return name[of];
}
