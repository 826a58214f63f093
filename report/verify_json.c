/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `slope record --verify --json`: every function that differs, with what both runs have of it. */
#include "report/facts.h"
#include "report/functions.h"
#include "report/verify.h"

static const char *const state_word[] = { "open", "known", "unsteady" };

static void put_side(struct slope_json *j, const char *key, const struct slope_profile *p, const struct slope_profile_row *row)
{
	size_t points = 0;

	if (!row) {
		slope_json_null(j, key);
		return;
	}
	for (unsigned k = 0; k < SLOPE_METRICS; k++)
		points += row->points[k].count;
	slope_json_object(j, key, true);
	slope_json_uint(j, "calls", row->calls);
	slope_facts_costs(j, "self", p, row->self);
	slope_facts_costs(j, "total", p, row->total);
	slope_facts_input(j, row->rms, row->trms, row->thread_input, row->external);
	slope_json_uint(j, "points", points);
	slope_json_end(j);
}

static void put_point_side(struct slope_json *j, const char *key, const struct slope_profile *p, const struct slope_point *point)
{
	uint64_t sum[SLOPE_UNITS_MAX];

	if (!point) {
		slope_json_null(j, key);
		return;
	}
	for (uint32_t u = 0; u < p->units; u++)
		sum[u] = point->cost[u].sum;
	slope_json_object(j, key, true);
	slope_json_uint(j, "calls", point->calls);
	slope_facts_costs(j, "cost", p, sum);
	slope_json_uint(j, "rms", point->rms);
	slope_json_uint(j, "thread", point->thread);
	slope_json_uint(j, "external", point->external);
	slope_json_end(j);
}

static void put_first_point(struct slope_json *j, const struct slope_verify_view *v, const struct slope_discord_entry *e)
{
	struct slope_discord_point at;

	if (!slope_discord_point(v->profile, e, &at)) {
		slope_json_null(j, "first_point");
		return;
	}
	slope_json_object(j, "first_point", false);
	slope_json_string(j, "metric", slope_report_metric_name(at.metric));
	slope_json_uint(j, "n", at.n);
	for (unsigned side = 0; side < 2; side++)
		put_point_side(j, v->source[side], v->profile, at.point[side]);
	slope_json_end(j);
}

static void put_entry(struct slope_json *j, const struct slope_verify_view *v, const struct slope_discord_entry *e)
{
	slope_json_object(j, NULL, false);
	slope_facts_function(j, v->profile, &v->profile->function[e->function]);
	slope_json_string(j, "state", state_word[e->state]);
	slope_json_bool(j, "follows", e->follows);
	slope_json_array(j, "what", true);
	for (unsigned bit = SLOPE_DISCORD_CALLS; bit <= SLOPE_DISCORD_POINTS; bit <<= 1)
		if (e->what & bit)
			slope_json_string(j, NULL, slope_discord_word((enum slope_discord_what)bit));
	slope_json_end(j);
	for (unsigned side = 0; side < 2; side++)
		put_side(j, v->source[side], v->profile, e->row[side]);
	put_first_point(j, v, e);
	slope_json_end(j);
}

static void put_runs(struct slope_json *j, const struct slope_verify_view *v)
{
	slope_json_array(j, "runs", false);
	for (unsigned side = 0; side < 2; side++) {
		slope_json_object(j, NULL, true);
		slope_json_string(j, "source", v->source[side]);
		slope_json_int(j, "status", v->status[side]);
		slope_json_uint(j, "processes", v->processes[side]);
		slope_json_end(j);
	}
	slope_json_end(j);
}

bool slope_verify_json(const struct slope_verify_view *v, FILE *out)
{
	const struct slope_discord *d = v->discord;
	struct slope_json j;

	slope_json_init(&j, out);
	slope_json_object(&j, NULL, false);
	slope_json_string(&j, "schema", "slope-verify/1");
	slope_json_bool(&j, "agree", v->agree);
	slope_json_array(&j, "program", true);
	for (char *const *word = v->program; *word; word++)
		slope_json_string(&j, NULL, *word);
	slope_json_end(&j);
	put_runs(&j, v);
	slope_json_bool(&j, "same_output", v->same_output);
	slope_json_bool(&j, "repeated", v->repeated);
	slope_json_uint(&j, "function_count", d->functions);
	slope_json_uint(&j, "points", d->points);
	slope_json_object(&j, "states", true);
	for (unsigned state = 0; state < 3; state++)
		slope_json_uint(&j, state_word[state], d->state_count[state]);
	slope_json_end(&j);
	slope_json_array(&j, "differences", false);
	for (size_t i = 0; i < d->count; i++)
		put_entry(&j, v, &d->entry[i]);
	slope_json_end(&j);
	slope_json_end(&j);
	return true;
}
