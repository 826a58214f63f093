/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/snapshot_paths.h"

#include "core/thread.h"

static void encode_blocks(struct slope_encoder *e, const struct slope_graph *g)
{
	slope_encode_blocks_begin(e, g->number);
	for (uint32_t v = 0; v < g->paths.vertices; v++)
		slope_encode_block(e, &(struct slope_block_entry){ .block = g->block[v], .start = g->paths.start[v] });
	slope_encode_blocks_end(e);
}

static void encode_arcs(struct slope_encoder *e, const struct slope_graph *g)
{
	slope_encode_arcs_begin(e, g->number);
	for (uint32_t i = 0; i < g->paths.edges; i++) {
		const struct slope_path_edge *edge = &g->paths.edge[i];

		slope_encode_arc(e, &(struct slope_arc_entry){
			.from = edge->from, .to = edge->to, .way = g->way[i], .cut = edge->cut, .value = edge->value });
	}
	slope_encode_arcs_end(e);
}

static void encode_graphs(struct slope_encoder *e, const struct slope_graphs *graphs)
{
	for (size_t i = 0; i < graphs->count; i++) {
		const struct slope_graph *g = graphs->graph[i];

		slope_encode_graph(e, &(struct slope_graph_entry){
			.number = g->number, .function = g->function, .flags = g->flags,
			.blocks = g->paths.vertices, .edges = g->paths.edges });
	}
	for (size_t i = 0; i < graphs->count && !e->failed; i++)
		encode_blocks(e, graphs->graph[i]);
	for (size_t i = 0; i < graphs->count && !e->failed; i++)
		encode_arcs(e, graphs->graph[i]);
}

/* A restart leaves rows, but nothing in them. */
static void encode_rows(struct slope_encoder *e, const struct slope_thread *t)
{
	const struct slope_path_table *table = &t->paths;

	for (size_t i = 0; i < table->rows && !e->failed; i++)
		if (table->row[i].count)
			slope_encode_path(e, &(struct slope_path_entry){
				.thread = t->id, .row = table->row[i],
				.metrics = table->row[i].samples ? t->session->path_metrics : 0 });
}

static void encode_repeats(struct slope_encoder *e, const struct slope_thread *t)
{
	for (size_t i = 0; i < t->paths.repeat_count; i++)
		if (t->paths.repeats[i].count)
			slope_encode_repeats(e, &(struct slope_repeats_entry){ .thread = t->id, .repeats = t->paths.repeats[i] });
}

static void encode_sizes(struct slope_encoder *e, const struct slope_thread *t)
{
	for (size_t i = 0; i < t->path_sizes.count; i++)
		if (t->path_sizes.size[i].activations)
			slope_encode_path_size(e, &(struct slope_path_size_entry){ .thread = t->id, .size = t->path_sizes.size[i] });
}

/* What the session has of it is added by whoever reads. */
static void encode_lost(struct slope_encoder *e, const struct slope_thread *t)
{
	if (t->paths.lost)
		slope_encode_lost(e, &(struct slope_lost_entry){
			.name = slope_text_of("paths"), .text = slope_text_of("ends of paths that could not be counted"),
			.count = t->paths.lost });
	if (t->path_sizes.lost)
		slope_encode_lost(e, &(struct slope_lost_entry){
			.name = slope_text_of("path_sizes"),
			.text = slope_text_of("ends of paths without an input size, for want of memory"),
			.count = t->path_sizes.lost });
}

static void each_thread(struct slope_encoder *e, const struct slope_session *s,
			void (*encode)(struct slope_encoder *e, const struct slope_thread *t))
{
	for (size_t i = 1; i < s->thread_count && !e->failed; i++)
		encode(e, s->thread[i]);
}

void slope_encode_session_paths(struct slope_encoder *e, const struct slope_session *s)
{
	encode_graphs(e, &s->graphs);
	each_thread(e, s, encode_rows);
	each_thread(e, s, encode_repeats);
	each_thread(e, s, encode_sizes);
	each_thread(e, s, encode_lost);
}
