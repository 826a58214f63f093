/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/contexts_view.h"

bool slope_contexts_view_init(struct slope_contexts_view *v, const struct slope_profile *p,
			      const struct slope_contexts_options *o)
{
	struct slope_forest_options wanted = {
		.function = o->function, .k = o->k, .sites = o->sites, .similar = o->similar, .by = o->by,
	};
	uint64_t outside;

	*v = (struct slope_contexts_view){
		.p = p, .o = o, .cost = slope_program_cost(p, o->report.unit, &outside),
		.hot_by = o->by == SLOPE_WEIGHT_TOTAL ? SLOPE_WEIGHT_SELF : o->by,
	};
	if (!slope_callers_init(&v->c, p, o->report.unit) || !slope_forest_init(&v->f, &v->c, &wanted) ||
	    !slope_census_init(&v->s, &v->c, v->hot_by, o->statistics ? SLOPE_CONTEXTS_FAR : 1)) {
		slope_contexts_view_fini(v);
		return false;
	}
	if (p->context_k && !slope_census_contexts(&v->c, SLOPE_CALLERS_ALL, v->hot_by, &v->contexts)) {
		slope_contexts_view_fini(v);
		return false;
	}
	if (!p->context_k)
		v->contexts = (struct slope_census_contexts){ v->s.nodes, v->s.hot_nodes };
	if (!v->cost)
		v->cost = v->c.self;     /* paths alone were recorded: functions have no costs of their own */
	v->whole = slope_callers_weight(o->by, v->c.calls, v->c.self, v->cost);
	for (uint32_t i = v->f.root; i != SLOPE_CONTEXT_NONE; i = v->f.node[i].sibling)
		v->functions += slope_forest_weight(&v->f.node[i], o->by) != 0;
	return true;
}

void slope_contexts_view_fini(struct slope_contexts_view *v)
{
	slope_callers_fini(&v->c);
	slope_forest_fini(&v->f);
	slope_census_fini(&v->s);
}

bool slope_contexts_sizes(const struct slope_contexts_view *v, size_t nth, struct slope_contexts_sizes *sizes, bool *failed)
{
	static const uint32_t list[] = { 0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 30, 40, 50, 100, 200, 500 };
	size_t count = 0;

	*failed = false;
	while (count < sizeof(list) / sizeof(list[0]) && list[count] + 1 < v->s.levels)
		count++;
	if (nth > count || !v->s.levels)
		return false;
	sizes->k = nth < count ? list[nth] : v->s.depth > SLOPE_CONTEXTS_FAR ? v->s.levels - 1 : v->c.k;
	sizes->forest = slope_census_size(&v->s, v->s.forest, sizes->k);
	sizes->pruned = slope_census_size(&v->s, v->s.pruned, sizes->k);
	*failed = !slope_census_contexts(&v->c, sizes->k, v->hot_by, &sizes->contexts) ||
		  !slope_census_slabs(&v->c, sizes->k == SLOPE_CALLERS_ALL ? v->s.depth + 1 : sizes->k, &sizes->slabs);
	return !*failed;
}
