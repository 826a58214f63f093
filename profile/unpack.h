/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From the records of a file to the tables of a profile. What does not fit
 * together is left out and counted, by section and by flaw; slope_unpack_end
 * turns the counts into sentences.
 *
 * The file's numbers of modules, functions, files and threads may have holes
 * where chunks are missing; in the profile they become positions.
 */
#ifndef SLOPE_PROFILE_UNPACK_H
#define SLOPE_PROFILE_UNPACK_H

#include "core/map.h"
#include "format/decode.h"
#include "format/sections.h"
#include "profile/profile.h"

/* X(id, sentence after "<section>: <count> ") */
#define SLOPE_FLAW_LIST(X)                                                             \
	X(MISSING, "left out, because what they refer to is missing")                  \
	X(ORPHAN, "kept without what they refer to, which is missing")                 \
	X(TWICE, "left out, because they come twice")                                  \
	X(RANGE, "out of range and left out")                                          \
	X(MALFORMED, "of the chunks malformed, read only up to there")                 \
	X(UNITS, "of the chunks left out, because they have another number of cost units")

enum slope_flaw {
#define X(id, text) SLOPE_FLAW_##id,
	SLOPE_FLAW_LIST(X)
#undef X
	SLOPE_FLAW_COUNT
};

/* A block or an edge of a graph, on its way there. */
struct slope_unpack_part {
	uint32_t graph, position;            /* of the graph in the profile; within the graph */
	union {
		struct slope_block_entry block;
		struct slope_arc_entry arc;
	};
};

struct slope_unpack {
	struct slope_profile *profile;
	struct slope_arena arena;            /* of the maps */
	struct slope_map module, function, file, thread, site;   /* the file's number -> position */
	struct slope_map context, variant;   /* (the file's thread, number) -> position */
	struct slope_map graph;              /* the file's number -> position, until graphs are settled */
	struct slope_unpack_part *block, *arc;
	size_t block_count, arc_count;
	uint32_t *graph_at;                  /* where graphs have settled, by position before; SLOPE_GRAPH_GONE: left out */
	char **path;                         /* source files, by position */
	size_t path_count, program_count;
	bool no_memory;                      /* everything after it is incomplete */
	bool units_known, rows_sorted, edges_sorted, graphs_settled, saw_end;
	uint64_t flaw[SLOPE_SECTION_COUNT][SLOPE_FLAW_COUNT];
	uint64_t chunks[SLOPE_SECTION_COUNT], records[SLOPE_SECTION_COUNT];       /* found */
	uint64_t chunks_said[SLOPE_SECTION_COUNT], records_said[SLOPE_SECTION_COUNT]; /* by the end mark */
};

/* False when memory runs out; slope_unpack_fini is due in any case. */
bool slope_unpack_init(struct slope_unpack *u);

/*
 * Takes one whole chunk in. All chunks of one section come before those of the
 * next, in the order of enum slope_section.
 */
void slope_unpack_chunk(struct slope_unpack *u, enum slope_section section, const void *payload, size_t bytes);

/* Where a number of the file is now. False: nowhere. Function 0 and module 0 are known even when their records are missing. */
bool slope_unpack_find_module(const struct slope_unpack *u, uint32_t number, uint32_t *position);
bool slope_unpack_find_function(const struct slope_unpack *u, uint32_t number, uint32_t *position);
bool slope_unpack_find_thread(const struct slope_unpack *u, uint32_t number, uint32_t *position);

/* One record of a chunk that holds a table: its rows go to the function's row, or to the edge, and are counted. */
enum slope_decode slope_unpack_points(struct slope_unpack *u, struct slope_cursor *c);
enum slope_decode slope_unpack_sizes(struct slope_unpack *u, struct slope_cursor *c);
enum slope_decode slope_unpack_variant_points(struct slope_unpack *u, struct slope_cursor *c);

/* Notes that the file's `number` is now at `position`. False: it comes twice, or memory ran out. */
bool slope_unpack_place(struct slope_unpack *u, enum slope_section section, struct slope_map *map, uint64_t number, size_t position);

/* One record about contexts. */
enum slope_decode slope_unpack_site(struct slope_unpack *u, struct slope_cursor *c);
enum slope_decode slope_unpack_context(struct slope_unpack *u, struct slope_cursor *c);
enum slope_decode slope_unpack_place_of_cost(struct slope_unpack *u, struct slope_cursor *c);
enum slope_decode slope_unpack_variant(struct slope_unpack *u, struct slope_cursor *c);

#define SLOPE_GRAPH_GONE UINT32_MAX

/* One record about paths, or a table of a graph's blocks or edges, whose rows are counted. */
enum slope_decode slope_unpack_graph(struct slope_unpack *u, struct slope_cursor *c);
enum slope_decode slope_unpack_blocks(struct slope_unpack *u, struct slope_cursor *c);
enum slope_decode slope_unpack_arcs(struct slope_unpack *u, struct slope_cursor *c);
enum slope_decode slope_unpack_path(struct slope_unpack *u, struct slope_cursor *c);
enum slope_decode slope_unpack_repeats(struct slope_unpack *u, struct slope_cursor *c);
enum slope_decode slope_unpack_path_size(struct slope_unpack *u, struct slope_cursor *c);

/* A name for what was measured of paths. */
void slope_unpack_path_metric(struct slope_unpack *u, struct slope_text text);

/* Is this a word that may be a key in JSON and a word in tables? */
bool slope_unpack_is_name(struct slope_text text);

/* All blocks and edges are in: gives them to their graphs, once; what is not whole or no graph is left out. */
void slope_unpack_settle_graphs(struct slope_unpack *u);

/* All is in: brings paths, repeats and sizes of paths into their order. */
void slope_unpack_sort_paths(struct slope_unpack *u);

/* A row's sums from a record; it has no points yet. */
void slope_unpack_row(struct slope_profile_row *row, const struct slope_cost_entry *entry);

/* Brings the rows into their order, once; of two for one function in one thread the later goes away. */
void slope_unpack_sort_rows(struct slope_unpack *u);

/* The same for the edges. */
void slope_unpack_sort_edges(struct slope_unpack *u);

/* And for the variants, when their points are in: positions in u->variant mean nothing any more. */
void slope_unpack_sort_variants(struct slope_unpack *u);

/*
 * All chunks are in: sorts, names functions, writes down what is missing.
 * The profile, which is the caller's from now on; NULL when memory ran out.
 */
struct slope_profile *slope_unpack_end(struct slope_unpack *u);

/* Gives back everything but a profile that slope_unpack_end has returned. */
void slope_unpack_fini(struct slope_unpack *u);

#endif
