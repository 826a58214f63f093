/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes a profile file as a stream of chunks, without memory of its own: the
 * caller holds the encoder (about 70 KB, not for a small stack) and a writer
 * that takes the bytes. Records go in section by section:
 *
 *	e->writer = writer;
 *	slope_encode_begin(e, units);
 *	slope_encode_facts(e, &facts);
 *	slope_encode_module(e, &module); ...
 *	ok = slope_encode_end(e);
 *
 * The first failing write stops everything: later calls do nothing and
 * slope_encode_end returns false. Changing to another section closes the open
 * chunk; going back to an earlier one is allowed.
 */
#ifndef SLOPE_FORMAT_ENCODE_H
#define SLOPE_FORMAT_ENCODE_H

#include "core/session.h"
#include "format/crc32c.h"
#include "format/records.h"
#include "format/sections.h"

/* Takes all `count` bytes, or returns false. */
struct slope_writer {
	bool (*write)(void *ctx, const void *bytes, size_t count);
	void *ctx;
};

struct slope_encoder {
	struct slope_writer writer;
	struct slope_crc32c crc;
	bool failed;
	uint32_t units;
	enum slope_section section;      /* of the open chunk; SLOPE_SECTION_COUNT: none is open */
	size_t used;                     /* bytes of `chunk`, its header included */
	bool in_table;                   /* between a table's begin and its end */
	uint32_t head[4];                /* of that table */
	unsigned heads;                  /* so many of them are used */
	uint64_t n;                      /* of the row before, in the same chunk */
	uint64_t texts_cut;
	uint64_t chunks[SLOPE_SECTION_COUNT], records[SLOPE_SECTION_COUNT];
	unsigned char chunk[SLOPE_CHUNK_HEADER_BYTES + SLOPE_PAYLOAD_MAX];
};

/*
 * Writes the header to e->writer, which the caller has set. `units`
 * (1..SLOPE_UNITS_MAX) is how many costs every record has.
 */
void slope_encode_begin(struct slope_encoder *e, uint32_t units);

/* Writes what is open, a note on strings that had to be cut, and the end mark. True if all has been written. */
bool slope_encode_end(struct slope_encoder *e);

void slope_encode_facts(struct slope_encoder *e, const struct slope_facts *facts);
void slope_encode_module(struct slope_encoder *e, const struct slope_module_entry *module);
void slope_encode_function(struct slope_encoder *e, const struct slope_function_entry *function);
void slope_encode_file(struct slope_encoder *e, const struct slope_file_entry *file);
void slope_encode_symbol(struct slope_encoder *e, const struct slope_symbol_entry *symbol);
void slope_encode_thread(struct slope_encoder *e, const struct slope_thread_entry *thread);
void slope_encode_cost(struct slope_encoder *e, const struct slope_cost_entry *cost);
void slope_encode_edge(struct slope_encoder *e, const struct slope_edge_entry *edge);
void slope_encode_site(struct slope_encoder *e, const struct slope_site_entry *site);
void slope_encode_context(struct slope_encoder *e, const struct slope_context_entry *context);
void slope_encode_place(struct slope_encoder *e, const struct slope_place_entry *place);
void slope_encode_variant(struct slope_encoder *e, const struct slope_variant_entry *variant);
void slope_encode_graph(struct slope_encoder *e, const struct slope_graph_entry *graph);
void slope_encode_path(struct slope_encoder *e, const struct slope_path_entry *path);
void slope_encode_repeats(struct slope_encoder *e, const struct slope_repeats_entry *repeats);
void slope_encode_path_size(struct slope_encoder *e, const struct slope_path_size_entry *size);
void slope_encode_lost(struct slope_encoder *e, const struct slope_lost_entry *lost);

/* A table of points: its head, any number of rows, its end. A long one spreads over chunks by itself. */
void slope_encode_points_begin(struct slope_encoder *e, const struct slope_points_entry *points);
/* The same for those of a variant: its number stands for the function. */
void slope_encode_variant_points_begin(struct slope_encoder *e, const struct slope_points_entry *points);
void slope_encode_point_row(struct slope_encoder *e, const struct slope_point *row);
void slope_encode_points_end(struct slope_encoder *e);

/* The same for the sizes of an edge. */
void slope_encode_sizes_begin(struct slope_encoder *e, const struct slope_sizes_entry *sizes);
void slope_encode_size_row(struct slope_encoder *e, const struct slope_size_entry *row);
void slope_encode_sizes_end(struct slope_encoder *e);

/* The same for the blocks and the edges of a graph, in order, all of them. */
void slope_encode_blocks_begin(struct slope_encoder *e, uint32_t graph);
void slope_encode_block(struct slope_encoder *e, const struct slope_block_entry *block);
void slope_encode_blocks_end(struct slope_encoder *e);
void slope_encode_arcs_begin(struct slope_encoder *e, uint32_t graph);
void slope_encode_arc(struct slope_encoder *e, const struct slope_arc_entry *arc);
void slope_encode_arcs_end(struct slope_encoder *e);

/* What a source knows of a run besides the session; any text may be NULL. */
struct slope_run_info {
	const char *source;              /* "valgrind", "replay", ... */
	const char *created_by;          /* slope's version */
	size_t argc;
	const char *const *argv;         /* the program and its arguments */
	const char *directory;
	uint64_t process, parent_process;
	int64_t exit_code;               /* -1: not known */
	int64_t exit_signal;             /* 0: none */
	const char *ended;               /* "exit", "signal", "exec", "running" */
	const char *unit_name[SLOPE_UNITS_MAX];
	const char *const *problem;      /* sentences that whoever reads the profile must know */
	size_t problem_count;
};

/*
 * A whole file from a live session, to e->writer. Allocates nothing, changes nothing in the
 * session; activations that are still pending are not in it, so end threads
 * before. False when a write failed.
 */
bool slope_encode_session(struct slope_encoder *e, const struct slope_session *s, const struct slope_run_info *run);

#endif
