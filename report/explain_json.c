/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/explain.h"
#include "report/facts.h"
#include "report/functions.h"
#include "report/growth_json.h"
#include "report/path_link.h"

const char *slope_blame_name(enum slope_blame blame)
{
	static const char *const name[] = {
		[SLOPE_BLAME_NOBODY] = "nobody", [SLOPE_BLAME_SELF] = "self", [SLOPE_BLAME_OFTEN] = "often",
		[SLOPE_BLAME_BOTH] = "both", [SLOPE_BLAME_LARGE] = "large", [SLOPE_BLAME_DEEP] = "deep",
	};

	return name[blame];
}

/* The growth in words, and the plain slope between smallest and largest sizes. */
static void put_rise(struct slope_json *j, const char *key, const struct slope_growth *g, double rise, double top)
{
	char text[SLOPE_RISE_TEXT];

	slope_json_object(j, key, true);
	slope_json_string(j, "grows_like", slope_explain_rise(g, rise, text));
	slope_json_real(j, "slope", rise);
	slope_json_real(j, "at_largest_n", top);
	slope_json_end(j);
}

static void put_part(struct slope_json *j, const struct slope_part *part, const struct slope_profile *p)
{
	bool own = part->callee == SLOPE_FN_NONE;
	char text[SLOPE_RISE_TEXT];

	slope_json_object(j, NULL, true);
	slope_json_string(j, "callee", own ? NULL : p->function[part->callee].name);
	slope_json_string(j, "symbol", own ? NULL : p->function[part->callee].raw_name);
	slope_json_real(j, "share", part->share);
	slope_json_real(j, "cost_share", part->cost_share);
	slope_json_string(j, "cost_grows_like", slope_explain_rise(&part->cost, part->cost_rise, text));
	if (own) {
		slope_json_null(j, "calls_per_activation");
		slope_json_null(j, "cost_per_call");
	} else {
		put_rise(j, "calls_per_activation", &part->calls, part->calls_rise, part->calls_top);
		put_rise(j, "cost_per_call", &part->each, part->each_rise, part->each_top);
	}
	slope_json_end(j);
}

static void put_level(struct slope_json *j, const struct slope_level *level, const struct slope_profile *p)
{
	slope_json_object(j, NULL, false);
	slope_facts_function(j, p, &p->function[level->function]);
	slope_growth_json(j, "growth", &level->growth);
	slope_json_string(j, "shares_of", level->by_growth ? "growth" : "cost");
	slope_json_bool(j, "contradicts", level->contradicts);
	slope_json_bool(j, "recursive", level->recursive);
	if (level->recursive)
		slope_json_real(j, "own_calls", level->own_calls);
	else
		slope_json_null(j, "own_calls");
	slope_json_real(j, "body_slope", level->body_rise);
	slope_json_array(j, "parts", false);
	for (size_t i = 0; i < level->parts; i++)
		put_part(j, &level->part[i], p);
	slope_json_end(j);
	slope_json_real(j, "rest", level->rest);
	slope_json_end(j);
}

bool slope_explain_json(const struct slope_explanation *e, const struct slope_profile *p,
			const struct slope_report_options *o, FILE *out)
{
	struct slope_json j;

	slope_json_init(&j, out);
	slope_json_object(&j, NULL, false);
	slope_json_string(&j, "schema", "slope-explain/1");
	slope_facts_run(&j, p);
	slope_json_string(&j, "cost_unit", p->unit_name[o->unit]);
	slope_json_string(&j, "input_metric", slope_report_metric_name(o->metric));
	slope_json_string(&j, "function", p->function[e->level[0].function].name);
	slope_json_bool(&j, "callees_known", e->known);
	slope_json_array(&j, "levels", false);
	for (size_t i = 0; i < e->levels; i++)
		put_level(&j, &e->level[i], p);
	slope_json_end(&j);
	slope_json_string(&j, "blame", slope_blame_name(e->blame));
	slope_json_string(&j, "culprit", p->function[e->culprit].name);
	slope_json_string(&j, "callee", e->callee == SLOPE_FN_NONE ? NULL : p->function[e->callee].name);
	struct slope_path_link link = { p, e->culprit, o->metric, o->unit, slope_blocklines_new(p, NULL), o->ascii };
	bool ok = link.lines && slope_path_link_json(&link, &j, "path");

	slope_blocklines_free(link.lines);
	slope_json_end(&j);
	return ok;
}
