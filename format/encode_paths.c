/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Graphs, and how often their paths were taken. */
#include "format/encode_parts.h"

void slope_encode_graph(struct slope_encoder *e, const struct slope_graph_entry *graph)
{
	slope_put_record(e, SLOPE_SECTION_GRAPHS, 5 * SLOPE_NUMBER_ROOM);
	slope_put(e, graph->number);
	slope_put(e, graph->function);
	slope_put(e, graph->flags);
	slope_put(e, graph->blocks);
	slope_put(e, graph->edges);
}

static void begin_part(struct slope_encoder *e, enum slope_section section, uint32_t graph)
{
	e->head[0] = graph;
	e->head[1] = 0;
	slope_put_table(e, section, 2);
}

void slope_encode_blocks_begin(struct slope_encoder *e, uint32_t graph)
{
	begin_part(e, SLOPE_SECTION_BLOCKS, graph);
}

/* Its address is stored as the distance to where the block before it ends. */
void slope_encode_block(struct slope_encoder *e, const struct slope_block_entry *block)
{
	slope_put_table_row(e);
	slope_put_byte(e, block->block.end + 1);
	slope_put_signed(e, (int64_t)(block->block.address - e->n));
	slope_put(e, block->block.bytes);
	slope_put(e, block->block.instructions);
	slope_put(e, block->start);
	e->n = block->block.address + block->block.bytes;
	e->head[1]++;
}

void slope_encode_blocks_end(struct slope_encoder *e)
{
	slope_put_table_end(e);
}

void slope_encode_arcs_begin(struct slope_encoder *e, uint32_t graph)
{
	begin_part(e, SLOPE_SECTION_ARCS, graph);
}

/* Where it begins is stored as the distance to where the one before it does. */
void slope_encode_arc(struct slope_encoder *e, const struct slope_arc_entry *arc)
{
	slope_put_table_row(e);
	slope_put_byte(e, (arc->way + 1) | arc->cut << 4);
	slope_put(e, arc->from - e->n);
	slope_put(e, (uint32_t)(arc->to + 1));
	slope_put(e, arc->value);
	e->n = arc->from;
	e->head[1]++;
}

void slope_encode_arcs_end(struct slope_encoder *e)
{
	slope_put_table_end(e);
}

/* Contexts and stops are stored as the next number, 0 for none. */
void slope_encode_path(struct slope_encoder *e, const struct slope_path_entry *path)
{
	const struct slope_path_row *row = &path->row;

	slope_put_record(e, SLOPE_SECTION_PATHS, (9 + 3 * SLOPE_PATH_METRICS) * SLOPE_NUMBER_ROOM);
	slope_put(e, row->graph);
	slope_put(e, path->thread);
	slope_put(e, (uint32_t)(row->context + 1));
	slope_put(e, row->number);
	slope_put(e, (uint32_t)(row->stop + 1));
	if (row->stop != SLOPE_PATH_NOT_STOPPED)
		slope_put(e, row->stop_instructions);
	slope_put(e, row->count);
	slope_put(e, row->samples);
	slope_put(e, path->metrics);
	for (uint32_t i = 0; i < path->metrics; i++) {
		slope_put(e, row->metric[i].sum);
		slope_put(e, row->metric[i].sq_lo);
		slope_put(e, row->metric[i].sq_hi);
	}
}

void slope_encode_repeats(struct slope_encoder *e, const struct slope_repeats_entry *repeats)
{
	slope_put_record(e, SLOPE_SECTION_REPEATS, 4 * SLOPE_NUMBER_ROOM);
	slope_put(e, repeats->repeats.graph);
	slope_put(e, repeats->thread);
	slope_put(e, repeats->repeats.block);
	slope_put(e, repeats->repeats.count);
}

void slope_encode_path_size(struct slope_encoder *e, const struct slope_path_size_entry *size)
{
	slope_put_record(e, SLOPE_SECTION_PATH_SIZES, 6 * SLOPE_NUMBER_ROOM);
	slope_put(e, size->size.graph);
	slope_put(e, size->thread);
	slope_put(e, size->size.number);
	slope_put(e, size->size.n);
	slope_put(e, size->size.activations);
	slope_put(e, size->size.executions);
}
