/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/export_contexts.h"
#include "report/facts.h"

static void put_position(struct slope_json *j, const char *key, uint32_t position)
{
	if (position == SLOPE_CONTEXT_NONE)
		slope_json_null(j, key);
	else
		slope_json_uint(j, key, position);
}

static void put_sites(struct slope_json *j, const struct slope_profile *p)
{
	slope_json_array(j, "sites", false);
	for (size_t i = 0; i < p->site_count; i++) {
		slope_json_object(j, NULL, true);
		slope_json_uint(j, "module", p->site[i].module);
		slope_json_uint(j, "offset", p->site[i].offset);
		slope_json_string(j, "file", p->site[i].file);
		slope_json_uint(j, "line", p->site[i].line);
		slope_json_end(j);
	}
	slope_json_end(j);
}

static void put_nodes(struct slope_json *j, const struct slope_profile *p)
{
	slope_json_array(j, "nodes", false);
	for (size_t i = 0; i < p->context_count; i++) {
		const struct slope_profile_context *node = &p->context[i];

		slope_json_object(j, NULL, true);
		slope_json_uint(j, "function", node->function);
		slope_json_uint(j, "thread", node->thread);
		put_position(j, "parent", node->parent);
		put_position(j, "site", node->site);
		slope_json_uint(j, "calls", node->calls);
		slope_facts_costs(j, "total", p, node->total);
		slope_facts_costs(j, "self", p, node->self);
		slope_json_end(j);
	}
	slope_json_end(j);
}

static void put_contexts(struct slope_json *j, const struct slope_profile *p)
{
	slope_json_object(j, "contexts", false);
	slope_json_uint(j, "k", p->context_k);
	slope_json_bool(j, "collapsed", p->context_collapsed);
	slope_json_uint(j, "burst_period_ns", p->burst_period_ns);
	slope_json_uint(j, "burst_length_ns", p->burst_length_ns);
	put_sites(j, p);
	put_nodes(j, p);
	slope_json_end(j);
}

static void put_variants(struct slope_json *j, const struct slope_profile *p)
{
	slope_json_object(j, "variants", false);
	slope_json_uint(j, "k", p->variant_k);
	slope_json_uint(j, "folded", p->variants_folded);
	slope_json_array(j, "rows", false);
	for (size_t i = 0; i < p->variant_count; i++) {
		const struct slope_profile_variant *variant = &p->variant[i];

		slope_json_object(j, NULL, false);
		slope_json_array(j, "callers", true);
		for (uint32_t c = 0; c < variant->callers; c++)
			slope_json_uint(j, NULL, variant->caller[c]);
		slope_json_end(j);
		slope_json_bool(j, "rest", variant->rest);
		slope_export_row(j, p, &variant->row);
		slope_json_end(j);
	}
	slope_json_end(j);
	slope_json_end(j);
}

void slope_export_contexts(struct slope_json *j, const struct slope_profile *p)
{
	if (p->context_count)
		put_contexts(j, p);
	else
		slope_json_null(j, "contexts");
	if (p->variant_k)
		put_variants(j, p);
	else
		slope_json_null(j, "variants");
}
