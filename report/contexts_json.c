/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `slope contexts --json`, schema "slope-contexts/1". Others rely on these keys:
 * new ones may come, none may go or change its meaning.
 */
#include <math.h>
#include <stdlib.h>

#include "report/contexts_view.h"
#include "report/facts.h"

static void put_recorded(struct slope_json *j, const struct slope_contexts_view *v)
{
	const struct slope_profile *p = v->p;

	slope_json_object(j, "recorded", true);
	slope_json_string(j, "kind", p->context_k ? "slabs" : "tree");
	if (p->context_k)
		slope_json_uint(j, "k", p->context_k);
	else
		slope_json_null(j, "k");
	slope_json_bool(j, "collapsed", p->context_collapsed);
	slope_json_bool(j, "sites", p->site_count != 0);
	if (p->burst_period_ns) {
		slope_json_object(j, "burst", true);
		slope_json_uint(j, "period_ns", p->burst_period_ns);
		slope_json_uint(j, "length_ns", p->burst_length_ns);
		slope_json_end(j);
	} else {
		slope_json_null(j, "burst");
	}
	slope_json_string(j, "totals", v->c.outermost ? "outermost" : "every");
	slope_json_end(j);
}

static void put_k(struct slope_json *j, uint32_t k)
{
	if (k == SLOPE_CALLERS_ALL)
		slope_json_null(j, "k");
	else
		slope_json_uint(j, "k", k);
}

static bool put_sizes(struct slope_json *j, const struct slope_contexts_view *v)
{
	struct slope_contexts_sizes sizes;
	bool failed;

	slope_json_array(j, "by_k", false);
	for (size_t i = 0; slope_contexts_sizes(v, i, &sizes, &failed); i++) {
		slope_json_object(j, NULL, true);
		put_k(j, sizes.k);
		slope_json_uint(j, "contexts", sizes.contexts.contexts);
		slope_json_uint(j, "hot_contexts", sizes.contexts.hot);
		slope_json_uint(j, "forest", sizes.forest);
		slope_json_uint(j, "pruned", sizes.pruned);
		if (sizes.slabs)
			slope_json_uint(j, "slabs", sizes.slabs);
		else
			slope_json_null(j, "slabs");
		slope_json_end(j);
	}
	slope_json_end(j);
	return !failed;
}

static bool put_similar(struct slope_json *j, const struct slope_contexts_view *v)
{
	static const double limit[] = SLOPE_CONTEXTS_LIMITS;
	bool ok = true;

	slope_json_array(j, "by_similar", false);
	for (size_t i = 0; ok && i < sizeof(limit) / sizeof(limit[0]); i++) {
		struct slope_census_similar found;

		ok = slope_census_similar(&v->c, limit[i], SLOPE_CONTEXTS_FAR, v->hot_by, &found);
		slope_json_object(j, NULL, true);
		slope_json_real(j, "similar", limit[i]);
		slope_json_uint(j, "nodes", found.nodes);
		slope_json_uint(j, "trees", found.trees);
		slope_json_real(j, "mean_depth", found.mean_depth);
		slope_json_real(j, "hot_depth", found.hot_depth);
		slope_json_end(j);
	}
	slope_json_end(j);
	return ok;
}

static bool put_statistics(struct slope_json *j, const struct slope_contexts_view *v)
{
	bool ok = true;

	slope_json_object(j, "statistics", false);
	slope_json_uint(j, "functions", v->s.functions);
	slope_json_uint(j, "edges", v->s.edges);
	slope_json_uint(j, "nodes", v->s.nodes);
	slope_json_uint(j, "roots", v->s.roots);
	slope_json_uint(j, "calls", v->s.calls);
	slope_json_uint(j, "depth", v->s.depth);
	slope_json_real(j, "mean_depth", v->s.mean_depth);
	slope_json_uint(j, "contexts", v->contexts.contexts);
	slope_json_real(j, "hot", SLOPE_CENSUS_HOT);
	slope_json_uint(j, "hot_functions", v->s.hot_functions);
	slope_json_uint(j, "hot_contexts", v->contexts.hot);
	if (v->o->statistics)
		ok = put_sizes(j, v) && put_similar(j, v);
	slope_json_end(j);
	return ok;
}

static void put_numbers(struct slope_json *j, const struct slope_contexts_view *v, const struct slope_forest_node *n,
			const struct slope_forest_node *root)
{
	uint64_t weight = slope_forest_weight(n, v->o->by);

	slope_json_uint(j, "calls", n->calls);
	slope_json_object(j, "cost", true);
	slope_json_uint(j, "total", n->total);
	slope_json_uint(j, "self", n->self);
	slope_json_end(j);
	slope_json_real(j, "share", slope_share_of(weight, v->whole));
	if (n != root)
		slope_json_real(j, "part", slope_share_of(weight, slope_forest_weight(root, v->o->by)));
}

/* `path` has the nodes from the root's child down to this one. */
static void put_context(struct slope_json *j, const struct slope_contexts_view *v, const uint32_t *path, uint32_t callers)
{
	const struct slope_forest_node *n = &v->f.node[path[callers]];

	slope_json_object(j, NULL, true);
	slope_json_uint(j, "k", callers);
	slope_json_array(j, "callers", true);
	for (uint32_t i = 1; i <= callers; i++)
		slope_json_string(j, NULL, slope_profile_name(&v->p->function[v->f.node[path[i]].function]));
	slope_json_end(j);
	if (v->o->sites) {
		slope_json_array(j, "sites", true);
		for (uint32_t i = 1; i <= callers; i++) {
			uint32_t at = v->f.node[path[i]].site;
			const struct slope_profile_site *site = at == SLOPE_CONTEXT_NONE ? NULL : &v->p->site[at];

			slope_json_object(j, NULL, true);
			slope_json_string(j, "file", site ? site->file : NULL);
			slope_json_uint(j, "line", site ? site->line : 0);
			slope_json_uint(j, "offset", site ? site->offset : 0);
			slope_json_end(j);
		}
		slope_json_end(j);
	}
	put_numbers(j, v, n, &v->f.node[path[0]]);
	slope_json_uint(j, "whole_stack", n->ended);
	slope_json_bool(j, "longest", n->child == SLOPE_CONTEXT_NONE);
	slope_json_end(j);
}

static bool put_contexts(struct slope_json *j, const struct slope_contexts_view *v, uint32_t root)
{
	size_t capacity = (v->c.depth < v->o->k ? v->c.depth : v->o->k) + (size_t)2;
	uint32_t *path = calloc(capacity, sizeof(*path)), depth = 0;

	if (!path)
		return false;
	path[0] = root;
	slope_json_array(j, "contexts", false);
	for (uint32_t next = v->f.node[root].child; next != SLOPE_CONTEXT_NONE;) {
		path[++depth] = next;
		put_context(j, v, path, depth);
		next = v->f.node[next].child;
		while (next == SLOPE_CONTEXT_NONE && depth)
			next = v->f.node[path[depth--]].sibling;
	}
	slope_json_end(j);
	free(path);
	return true;
}

static bool put_functions(struct slope_json *j, const struct slope_contexts_view *v)
{
	size_t shown = 0, top = v->o->report.top;
	bool ok = true;

	slope_json_uint(j, "function_count", v->functions);
	slope_json_array(j, "functions", false);
	for (uint32_t i = v->f.root; ok && i != SLOPE_CONTEXT_NONE && shown < v->functions; i = v->f.node[i].sibling) {
		if (top && shown++ == top)
			break;
		slope_json_object(j, NULL, false);
		slope_facts_function(j, v->p, &v->p->function[v->f.node[i].function]);
		put_numbers(j, v, &v->f.node[i], &v->f.node[i]);
		slope_json_uint(j, "whole_stack", v->f.node[i].ended);
		ok = put_contexts(j, v, i);
		slope_json_end(j);
	}
	slope_json_end(j);
	return ok;
}

bool slope_contexts_json(const struct slope_contexts_view *v, FILE *out)
{
	static const char *const weight[] = { "self", "total", "calls" };
	struct slope_json j;
	bool ok;

	slope_json_init(&j, out);
	slope_json_object(&j, NULL, false);
	slope_json_string(&j, "schema", "slope-contexts/1");
	slope_facts_run(&j, v->p);
	slope_json_string(&j, "cost_unit", v->p->unit_name[v->o->report.unit]);
	slope_json_string(&j, "by", weight[v->o->by]);
	slope_json_real(&j, "similar", v->o->similar);
	put_k(&j, v->o->k);
	put_recorded(&j, v);
	ok = put_statistics(&j, v) && put_functions(&j, v);
	slope_json_end(&j);
	return ok;
}
