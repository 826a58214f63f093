/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads the records of one chunk, in the order in which they were written:
 *
 *	status = slope_cursor_init(&c, section, payload, bytes);
 *	while (status == SLOPE_DECODE_OK && (status = slope_decode_edge(&c, &edge)) == SLOPE_DECODE_OK)
 *		...
 *	if (status != SLOPE_DECODE_END)
 *		the rest of the chunk is unusable
 *
 * Nothing outside the payload is read, whatever it holds. Texts point into it.
 * Numbers of modules, functions and the like are whatever the file says: the
 * caller checks them.
 */
#ifndef SLOPE_FORMAT_DECODE_H
#define SLOPE_FORMAT_DECODE_H

#include "format/records.h"
#include "format/sections.h"

enum slope_decode {
	SLOPE_DECODE_OK,
	SLOPE_DECODE_END,            /* no more records (or, for rows, the table's end) */
	SLOPE_DECODE_SHORT,          /* the payload ends within a record */
	SLOPE_DECODE_RANGE,          /* a number is too large for what it stands for */
	SLOPE_DECODE_KIND,           /* a kind of value or row that this version does not know */
};

struct slope_cursor {
	const unsigned char *at, *end;
	uint32_t units;              /* costs per record; 0 in sections without costs */
	uint64_t n;                  /* of the row before */
	enum slope_decode error;     /* sticks once it is not OK */
};

/* RANGE or SHORT when the chunk's number of units is not 1..SLOPE_UNITS_MAX. */
enum slope_decode slope_cursor_init(struct slope_cursor *c, enum slope_section section, const void *payload, size_t bytes);

enum slope_decode slope_decode_meta(struct slope_cursor *c, struct slope_meta_entry *meta);
enum slope_decode slope_decode_module(struct slope_cursor *c, struct slope_module_entry *module);
enum slope_decode slope_decode_function(struct slope_cursor *c, struct slope_function_entry *function);
enum slope_decode slope_decode_file(struct slope_cursor *c, struct slope_file_entry *file);
enum slope_decode slope_decode_symbol(struct slope_cursor *c, struct slope_symbol_entry *symbol);
enum slope_decode slope_decode_thread(struct slope_cursor *c, struct slope_thread_entry *thread);
enum slope_decode slope_decode_cost(struct slope_cursor *c, struct slope_cost_entry *cost);
enum slope_decode slope_decode_edge(struct slope_cursor *c, struct slope_edge_entry *edge);
enum slope_decode slope_decode_site(struct slope_cursor *c, struct slope_site_entry *site);
enum slope_decode slope_decode_context(struct slope_cursor *c, struct slope_context_entry *context);
enum slope_decode slope_decode_place(struct slope_cursor *c, struct slope_place_entry *place);
enum slope_decode slope_decode_variant(struct slope_cursor *c, struct slope_variant_entry *variant);
enum slope_decode slope_decode_graph(struct slope_cursor *c, struct slope_graph_entry *graph);
enum slope_decode slope_decode_path(struct slope_cursor *c, struct slope_path_entry *path);
enum slope_decode slope_decode_repeats(struct slope_cursor *c, struct slope_repeats_entry *repeats);
enum slope_decode slope_decode_path_size(struct slope_cursor *c, struct slope_path_size_entry *size);
enum slope_decode slope_decode_lost(struct slope_cursor *c, struct slope_lost_entry *lost);
enum slope_decode slope_decode_end(struct slope_cursor *c, struct slope_end_entry *end);

/* The head of a table; then its rows until END. `row` has room for c->units costs. */
enum slope_decode slope_decode_points(struct slope_cursor *c, struct slope_points_entry *points);
enum slope_decode slope_decode_point_row(struct slope_cursor *c, struct slope_point *row);
enum slope_decode slope_decode_sizes(struct slope_cursor *c, struct slope_sizes_entry *sizes);
enum slope_decode slope_decode_size_row(struct slope_cursor *c, struct slope_size_entry *row);

/* The head of a table of blocks or edges of a graph; then its rows until END. */
enum slope_decode slope_decode_graph_part(struct slope_cursor *c, struct slope_graph_part *part);
enum slope_decode slope_decode_block(struct slope_cursor *c, struct slope_block_entry *block);
enum slope_decode slope_decode_arc(struct slope_cursor *c, struct slope_arc_entry *arc);

#endif
