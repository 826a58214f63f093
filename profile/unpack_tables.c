/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables within a record: points of a function in a thread or of a variant, sizes of an edge. They count their rows. */
#include <string.h>

#include "profile/build.h"
#include "profile/unpack.h"

/* ---- points ---- */

static struct slope_profile_row *row_for(struct slope_unpack *u, const struct slope_points_entry *entry)
{
	uint32_t function, thread;

	slope_unpack_sort_rows(u);
	if (!slope_unpack_find_function(u, entry->function, &function) || !slope_unpack_find_thread(u, entry->thread, &thread))
		return NULL;
	return slope_build_find_row(u->profile, function, thread);
}

static struct slope_profile_row *variant_for(struct slope_unpack *u, const struct slope_points_entry *entry)
{
	const uint64_t *at = slope_map_get(&u->variant, (uint64_t)entry->thread << 32 | entry->function);

	return at ? &u->profile->variant[*at].row : NULL;
}

/* Where the rows of a table go; NULL: they are read and left out. */
static struct slope_profile_points *table_for(struct slope_unpack *u, const struct slope_points_entry *entry,
					      enum slope_section section)
{
	if (entry->metric >= SLOPE_METRICS) {
		u->flaw[section][SLOPE_FLAW_RANGE]++;
		return NULL;
	}
	struct slope_profile_row *row = section == SLOPE_SECTION_POINTS ? row_for(u, entry) : variant_for(u, entry);

	if (!row) {
		u->flaw[section][SLOPE_FLAW_MISSING]++;
		return NULL;
	}
	struct slope_profile_points *points = &row->points[entry->metric];

	if (points->count && points->bits != entry->bits) {
		u->flaw[section][SLOPE_FLAW_TWICE]++;
		return NULL;
	}
	points->bits = entry->bits;
	u->profile->metrics |= 1u << entry->metric;
	return points;
}

static void add_point(struct slope_unpack *u, struct slope_profile_points *points, const struct slope_point *row,
		      enum slope_section section)
{
	uint32_t stride = slope_point_bytes(u->profile->units);
	void *array = points->rows;

	if (!row->calls || slope_points_edge(row->n, points->bits) != row->n) {
		u->flaw[section][SLOPE_FLAW_RANGE]++;
		return;
	}
	if (!slope_build_room(&array, points->count, stride)) {
		u->no_memory = true;
		return;
	}
	points->rows = array;
	memcpy(points->rows + points->count++ * stride, row, stride);
}

static enum slope_decode take_table(struct slope_unpack *u, struct slope_cursor *c, enum slope_section section)
{
	_Alignas(struct slope_point) unsigned char room[sizeof(struct slope_point) +
							SLOPE_UNITS_MAX * sizeof(struct slope_stat)];
	struct slope_point *row = (struct slope_point *)room;
	struct slope_points_entry entry;
	enum slope_decode status = slope_decode_points(c, &entry);

	if (status != SLOPE_DECODE_OK)
		return status;
	struct slope_profile_points *points = table_for(u, &entry, section);

	while ((status = slope_decode_point_row(c, row)) == SLOPE_DECODE_OK && !u->no_memory) {
		u->records[section]++;
		if (points)
			add_point(u, points, row, section);
	}
	return status == SLOPE_DECODE_END ? SLOPE_DECODE_OK : status;
}

enum slope_decode slope_unpack_points(struct slope_unpack *u, struct slope_cursor *c)
{
	return take_table(u, c, SLOPE_SECTION_POINTS);
}

enum slope_decode slope_unpack_variant_points(struct slope_unpack *u, struct slope_cursor *c)
{
	return take_table(u, c, SLOPE_SECTION_VARIANT_POINTS);
}

/* ---- sizes ---- */

/* Where the rows of an edge's table go; NULL: they are read and left out. */
static struct slope_profile_sizes *sizes_for(struct slope_unpack *u, const struct slope_sizes_entry *entry)
{
	struct slope_profile_edge *edge = NULL;
	uint32_t caller, callee, thread;

	if (slope_unpack_find_function(u, entry->caller, &caller) && slope_unpack_find_function(u, entry->callee, &callee) &&
	    slope_unpack_find_thread(u, entry->thread, &thread))
		edge = slope_build_find_edge(u->profile, caller, callee, thread);
	if (!edge)
		u->flaw[SLOPE_SECTION_SIZES][SLOPE_FLAW_MISSING]++;
	else if (edge->sizes.count && edge->sizes.bits != entry->bits)
		u->flaw[SLOPE_SECTION_SIZES][SLOPE_FLAW_TWICE]++;
	else {
		edge->sizes.bits = entry->bits;
		return &edge->sizes;
	}
	return NULL;
}

static void add_size(struct slope_unpack *u, struct slope_profile_sizes *sizes, const struct slope_size_entry *entry)
{
	void *array = sizes->row;

	if (entry->calls < entry->activations || slope_points_edge(entry->n, sizes->bits) != entry->n) {
		u->flaw[SLOPE_SECTION_SIZES][SLOPE_FLAW_RANGE]++;
		return;
	}
	if (!slope_build_room(&array, sizes->count, sizeof *sizes->row)) {
		u->no_memory = true;
		return;
	}
	sizes->row = array;
	struct slope_profile_size *row = &sizes->row[sizes->count++];

	*row = (struct slope_profile_size){ .n = entry->n, .activations = entry->activations, .calls = entry->calls };
	memcpy(row->cost, entry->cost, sizeof row->cost);
}

enum slope_decode slope_unpack_sizes(struct slope_unpack *u, struct slope_cursor *c)
{
	struct slope_sizes_entry entry;
	struct slope_size_entry row;
	enum slope_decode status = slope_decode_sizes(c, &entry);

	if (status != SLOPE_DECODE_OK)
		return status;
	slope_unpack_sort_edges(u);
	struct slope_profile_sizes *sizes = sizes_for(u, &entry);

	while ((status = slope_decode_size_row(c, &row)) == SLOPE_DECODE_OK && !u->no_memory) {
		u->records[SLOPE_SECTION_SIZES]++;
		if (sizes)
			add_size(u, sizes, &row);
	}
	return status == SLOPE_DECODE_END ? SLOPE_DECODE_OK : status;
}
