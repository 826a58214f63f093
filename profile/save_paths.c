/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/save_paths.h"

#include <string.h>

static void save_blocks(struct slope_encoder *e, const struct slope_profile_graph *g, uint32_t number)
{
	slope_encode_blocks_begin(e, number);
	for (uint32_t v = 0; v < g->paths.vertices; v++)
		slope_encode_block(e, &(struct slope_block_entry){ .block = g->block[v], .start = g->paths.start[v] });
	slope_encode_blocks_end(e);
}

static void save_arcs(struct slope_encoder *e, const struct slope_profile_graph *g, uint32_t number)
{
	slope_encode_arcs_begin(e, number);
	for (uint32_t i = 0; i < g->paths.edges; i++) {
		const struct slope_path_edge *edge = &g->paths.edge[i];

		slope_encode_arc(e, &(struct slope_arc_entry){
			.from = edge->from, .to = edge->to, .way = g->way[i], .cut = edge->cut, .value = edge->value });
	}
	slope_encode_arcs_end(e);
}

static void save_graphs(struct slope_encoder *e, const struct slope_profile *p)
{
	for (size_t i = 0; i < p->graph_count; i++) {
		const struct slope_profile_graph *g = &p->graph[i];

		slope_encode_graph(e, &(struct slope_graph_entry){
			.number = (uint32_t)i, .function = g->function, .flags = g->flags,
			.blocks = g->paths.vertices, .edges = g->paths.edges });
	}
	for (size_t i = 0; i < p->graph_count; i++)
		save_blocks(e, &p->graph[i], (uint32_t)i);
	for (size_t i = 0; i < p->graph_count; i++)
		save_arcs(e, &p->graph[i], (uint32_t)i);
}

static void save_path(struct slope_encoder *e, const struct slope_profile *p, const struct slope_profile_path *path)
{
	struct slope_path_entry entry = {
		.thread = path->thread, .metrics = path->samples ? p->path_metrics : 0,
		.row = {
			.graph = path->graph, .context = path->context, .number = path->number, .stop = path->stop,
			.stop_instructions = path->stop_instructions, .count = path->count, .samples = path->samples,
		},
	};

	memcpy(entry.row.metric, path->metric, sizeof entry.row.metric);
	slope_encode_path(e, &entry);
}

void slope_save_paths(struct slope_encoder *e, const struct slope_profile *p)
{
	save_graphs(e, p);
	for (size_t i = 0; i < p->path_count; i++)
		save_path(e, p, &p->path[i]);
	for (size_t i = 0; i < p->repeat_count; i++) {
		const struct slope_profile_repeat *r = &p->repeat[i];

		slope_encode_repeats(e, &(struct slope_repeats_entry){ .thread = r->thread, .repeats = { r->graph, r->block, r->count } });
	}
	for (size_t i = 0; i < p->path_size_count; i++) {
		const struct slope_profile_path_size *s = &p->path_size[i];

		slope_encode_path_size(e, &(struct slope_path_size_entry){
			.thread = s->thread, .size = { s->graph, s->number, s->n, s->activations, s->executions } });
	}
}
