/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `slope check --json`, schema "slope-check/1". Others rely on these keys: new
 * ones may come, none may go or change its meaning.
 */
#include "report/diff.h"
#include "report/facts.h"
#include "report/functions.h"
#include "report/growth_json.h"

static void put_bound(struct slope_json *j, const struct slope_rule *rule)
{
	char text[SLOPE_ORDER_TEXT];

	slope_json_string(j, "rule", rule ? rule->text : NULL);
	slope_json_string(j, "bound", rule ? slope_order_text(rule->bound, text) : NULL);
}

static void put_check(struct slope_json *j, const struct slope_profile *p, const struct slope_check *check)
{
	const struct slope_profile_function *f = &p->function[check->function];

	slope_json_object(j, NULL, true);
	put_bound(j, check->rule);
	slope_json_string(j, "outcome", slope_outcome_json(check->outcome));
	if (check->outcome == SLOPE_OUTCOME_MISSING) {
		slope_json_null(j, "function");
	} else {
		slope_json_object(j, "function", true);
		slope_facts_function(j, p, f);
		slope_json_end(j);
		slope_growth_json(j, "growth", &check->growth);
	}
	slope_json_string(j, "why", check->why);
	slope_json_string(j, "advice", check->advice[0] ? check->advice : NULL);
	slope_json_end(j);
}

bool slope_check_json(const struct slope_check_view *v, FILE *out)
{
	const struct slope_checks *c = v->checks;
	struct slope_json j;

	slope_json_init(&j, out);
	slope_json_object(&j, NULL, false);
	slope_json_string(&j, "schema", "slope-check/1");
	slope_json_string(&j, "result", v->result);
	slope_json_string(&j, "profile", v->path);
	slope_json_string(&j, "baseline", v->baseline);
	slope_json_string(&j, "cost_unit", v->profile->unit_name[v->options->unit]);
	slope_json_string(&j, "input_metric", slope_report_metric_name(v->options->metric));
	slope_json_string(&j, "of", slope_statistic_name(v->options->of));
	slope_facts_run(&j, v->profile);
	slope_json_object(&j, "counts", true);
	for (int i = 0; i < SLOPE_OUTCOMES; i++)
		slope_json_uint(&j, slope_outcome_json((enum slope_outcome)i), c->of[i]);
	slope_json_uint(&j, "unjudged", c->unjudged);
	slope_json_uint(&j, "unclear", c->unclear);
	slope_json_end(&j);
	slope_json_array(&j, "checks", false);
	for (size_t i = 0; i < c->count; i++)
		put_check(&j, v->profile, &c->check[i]);
	slope_json_end(&j);
	slope_json_end(&j);
	return true;
}
