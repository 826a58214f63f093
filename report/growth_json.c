/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/growth_json.h"

const char *slope_statistic_name(enum slope_statistic of)
{
	return of == SLOPE_COST_MAX ? "max" : of == SLOPE_COST_MIN ? "min" : "mean";
}

void slope_model_json(struct slope_json *j, const char *key, const struct slope_model *m)
{
	char text[SLOPE_ORDER_TEXT];

	slope_json_object(j, key, true);
	slope_json_string(j, "order", slope_order_text(m->order, text));
	slope_json_real(j, "constant", m->constant);
	slope_json_real(j, "linear", m->linear);
	slope_json_real(j, "factor", m->factor);
	slope_json_end(j);
}

static void put_outliers(struct slope_json *j, const struct slope_growth *g)
{
	size_t kept = g->outliers < SLOPE_OUTLIERS_KEPT ? g->outliers : SLOPE_OUTLIERS_KEPT;

	slope_json_uint(j, "outlier_count", g->outliers);
	slope_json_array(j, "outliers", true);
	for (size_t i = 0; i < kept; i++) {
		slope_json_object(j, NULL, true);
		slope_json_real(j, "n", g->outlier[i].n);
		slope_json_real(j, "cost", g->outlier[i].cost);
		slope_json_real(j, "expected", g->outlier[i].expected);
		slope_json_real(j, "weight", g->outlier[i].weight);
		slope_json_end(j);
	}
	slope_json_end(j);
}

static void put_fit(struct slope_json *j, const struct slope_growth *g)
{
	char text[SLOPE_ORDER_TEXT];

	slope_json_object(j, "range", true);
	slope_json_string(j, "least", slope_order_text(g->least, text));
	slope_json_string(j, "most", slope_order_text(g->most, text));
	slope_json_end(j);
	slope_json_real(j, "error", g->error);
	slope_json_real(j, "top_slope", g->top_slope);
	slope_json_real(j, "holdout", g->holdout);
	slope_json_object(j, "n", true);
	slope_json_real(j, "from", g->from);
	slope_json_real(j, "to", g->to);
	slope_json_end(j);
	slope_model_json(j, "coefficients", &g->model);
	if (g->broken)
		slope_model_json(j, "below", &g->below);
	else
		slope_json_null(j, "below");
}

void slope_growth_json(struct slope_json *j, const char *key, const struct slope_growth *g)
{
	bool said = g->verdict != SLOPE_VERDICT_INCONCLUSIVE;
	char text[SLOPE_ADVICE_TEXT], order[SLOPE_ORDER_TEXT], grade[2] = { g->grade, '\0' };

	slope_json_object(j, key, true);
	slope_json_string(j, "verdict", slope_verdict_name(g->verdict));
	slope_json_string(j, "text", slope_growth_text(g, text));
	slope_json_uint(j, "sizes", g->sizes);
	slope_json_uint(j, "bins", g->bins);
	slope_json_string(j, "model", said ? slope_order_text(g->model.order, order) : NULL);
	slope_json_real(j, "exponent", g->exponent);
	slope_json_real(j, "low", g->low);
	slope_json_real(j, "high", g->high);
	slope_json_real(j, "r2", g->r2);
	slope_json_string(j, "reason", said ? NULL : slope_reason_text(g->reason));
	if (g->fitted)
		put_fit(j, g);
	slope_json_real(j, "evidence", g->evidence);
	slope_json_string(j, "grade", said ? grade : NULL);
	put_outliers(j, g);
	slope_json_string(j, "advice", said ? NULL : slope_growth_advice(g, text));
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
